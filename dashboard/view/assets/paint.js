// Paints one panel of a network on a canvas context. Knows nothing of pages, pointers or time. What it looks like is
// decided in style.js and, in Python, in scene.py: a file is the same picture.
//
// picture: the columns of a Picture (see network.js). look: how this panel weighs it:
//   { weights: Uint8Array or null, kept, keptNodes, unstable: Sets, forming: whether an earlier step of the mask is shown }

import { mix } from "./base.js";
import { paintLabels } from "./labels.js";
import { paintMolecule } from "./molecule.js";
import { STYLE } from "./style.js";

export function paintPanel(context, projection, picture, look, theme, focus) {
  const brush = new Brush(context, projection, picture, look, theme);
  context.lineCap = context.lineJoin = "round";
  if (focus !== null) brush.paintFocus(focus);
  if (picture.bonds) paintMolecule(brush);
  else paintGraph(brush);
  brush.paintRings();
}

function growth(projection) {
  const [least, most] = STYLE.growth;
  return Math.min(most, Math.max(least, Math.sqrt(projection.scale)));
}

export function nodeRadius(projection) {
  return STYLE.node.radius * growth(projection);
}

class Brush {
  constructor(context, projection, picture, look, theme) {
    Object.assign(this, { context, projection, picture, look, theme });
    this.grow = growth(projection);
    this.radius = nodeRadius(projection);
    this.px = picture.xs.map((x) => projection.x(x));
    this.py = picture.ys.map((y) => projection.y(y));
  }

  weight(edge) { return this.look.weights ? this.look.weights[edge] / 255 : 0; }
  role(edge) {
    const { weights, forming, kept } = this.look;
    if (!weights) return "plain";
    return forming ? "forming" : kept.has(edge) ? "kept" : "dropped";
  }
  isFaded(node) {
    const { weights, forming, keptNodes } = this.look;
    return Boolean(weights) && !forming && !keptNodes.has(node) && !this.picture.targetSet.has(node);
  }
  reach() { return this.picture.bonds ? STYLE.atom.reach * this.grow : this.radius; }

  // The heaviest last, on top; what is kept over all that is not.
  byWeight() {
    const { weights } = this.look, all = [...Array(this.picture.edges.length / 2).keys()];
    const rank = (edge) => weights[edge] + (this.role(edge) === "kept" ? 256 : 0);
    return weights ? all.sort((a, b) => rank(a) - rank(b)) : all;
  }

  // Width and colour of an edge by one of the rules in style.js.
  styleBy(rule, edge) {
    const weight = this.weight(edge), linear = ([from, by]) => from + by * weight;
    const colour = mix(this.theme[rule.over], this.theme[rule.under], linear(rule.share));
    return { width: linear(rule.width) * Math.min(this.grow, rule.growth), colour, arrow: weight >= rule.arrow };
  }

  // Both ends of an edge on the canvas, drawn in by `gap` from the nodes.
  segment(edge, gap = 0) {
    const a = this.picture.edges[2 * edge], b = this.picture.edges[2 * edge + 1];
    let ax = this.px[a], ay = this.py[a], bx = this.px[b], by = this.py[b];
    const length = Math.hypot(bx - ax, by - ay) || 1, ux = (bx - ax) / length, uy = (by - ay) / length;
    const inset = Math.min(gap, length * STYLE.line.inset);
    const aside = this.picture.twins.has(edge) ? STYLE.line.twin * this.grow : 0; // a to b and b to a, side by side
    ax += ux * inset - uy * aside; ay += uy * inset + ux * aside;
    bx -= ux * inset + uy * aside; by -= uy * inset - ux * aside;
    return { a, b, ax, ay, bx, by, ux, uy, length };
  }

  line(ax, ay, bx, by) {
    this.context.beginPath();
    this.context.moveTo(ax, ay);
    this.context.lineTo(bx, by);
    this.context.stroke();
  }

  strokeEdge(edge, { width, colour }, dotGap) {
    const { a, b, ax, ay, bx, by } = this.segment(edge), { context, look } = this;
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    // Round dots as wide as the line: an edge that some starts keep and others drop.
    if (look.unstable.has(edge) && !look.forming) context.setLineDash([0.01, Math.max(STYLE.dots.least_px, width * dotGap)]);
    if (a !== b) this.line(ax, ay, bx, by);
    else this.circle(ax, ay - STYLE.line.loop_rise * this.radius, this.radius).stroke(); // from a node to itself
    context.setLineDash([]);
  }

  circle(x, y, radius) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    return this.context;
  }

  // Dashes on both sides of an edge: they frame its weight instead of covering it.
  paintTruth(edge, width) {
    const { context, theme, picture, grow } = this, { truth } = STYLE;
    const { a, b, ax, ay, bx, by, ux, uy } = this.segment(edge, picture.bonds ? 0 : this.radius + truth.gap);
    if (a === b) return;
    const aside = width / 2 + truth.aside * grow;
    const strokeStyle = mix(theme[truth.over], theme.ground, truth.share);
    Object.assign(context, { strokeStyle, lineWidth: truth.width * grow, lineCap: "butt" });
    context.setLineDash(truth.dash.map((length) => length * grow));
    for (const side of [aside, -aside]) this.line(ax - uy * side, ay + ux * side, bx - uy * side, by + ux * side);
    context.setLineDash([]);
    context.lineCap = "round";
  }

  paintFocus(node) {
    this.context.fillStyle = mix(this.theme.accent, this.theme.ground, 0.35);
    this.circle(this.px[node], this.py[node], this.reach() + 7).fill();
  }

  paintRings() {
    const { context, theme } = this, { gap, halo, width } = STYLE.ring;
    for (const node of this.picture.targets)
      for (const [strokeStyle, thick] of [[theme.ground, halo], [theme.text, width]]) {
        this.circle(this.px[node], this.py[node], this.reach() + gap * this.grow);
        Object.assign(context, { strokeStyle, lineWidth: thick * this.grow }).stroke();
      }
  }

  // Letters around a point, with a halo in the colour of the ground: readable over lines.
  text(words, x, y, { size, weight, colour, halo }) {
    const { context, theme } = this, under = Math.round(y + STYLE.baseline * size); // where letters stand: on whole pixels they are crisp
    Object.assign(context, { font: `${weight} ${size}px ${theme.font}`, textAlign: "center", textBaseline: "alphabetic" });
    Object.assign(context, { strokeStyle: theme.ground, lineWidth: halo, fillStyle: colour });
    context.strokeText(words, x, under);
    context.fillText(words, x, under);
  }
}

// ---- networks -------------------------------------------------------------------------------------------------

function paintGraph(brush) {
  const { picture } = brush, styleOf = (edge) => brush.styleBy(STYLE.edge[brush.role(edge)], edge);
  for (const edge of brush.byWeight()) {
    const style = styleOf(edge);
    brush.strokeEdge(edge, style, STYLE.dots.gap);
    if (picture.directed && style.arrow) paintArrow(brush, edge, style);
  }
  for (const edge of picture.truth) brush.paintTruth(edge, styleOf(edge).width);
  const nodes = [...Array(picture.xs.length).keys()];
  for (const node of nodes) if (brush.isFaded(node)) paintNode(brush, node);
  for (const node of nodes) if (!brush.isFaded(node)) paintNode(brush, node);
  paintLabels(brush);
}

function paintArrow(brush, edge, { width, colour }) {
  const { arrow } = STYLE, { context } = brush, { a, b, bx, by, ux, uy, length } = brush.segment(edge, brush.radius + arrow.gap);
  const size = arrow.size * brush.grow + arrow.by_width * width, half = size * arrow.spread;
  if (a === b || length < 2 * brush.radius + size) return; // no room
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(bx, by);
  context.lineTo(bx - ux * size - uy * half, by - uy * size + ux * half);
  context.lineTo(bx - ux * size + uy * half, by - uy * size - ux * half);
  context.fill();
}

function paintNode(brush, node) {
  const { context, picture, theme, radius } = brush, { square, rim, faded } = STYLE.node;
  const x = brush.px[node], y = brush.py[node], half = square * radius, colour = picture.colours[node];
  context.fillStyle = brush.isFaded(node) ? mix(colour, theme.ground, faded) : colour;
  Object.assign(context, { strokeStyle: theme.ground, lineWidth: rim * brush.grow });
  context.beginPath();
  if (picture.squares?.[node]) context.rect(x - half, y - half, 2 * half, 2 * half);
  else context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke(); // a rim of ground sets the node off from its edges
  context.fill();
}
