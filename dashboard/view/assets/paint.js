// Draws one panel of a network on a canvas context. Knows nothing of pages, pointers or time.
//
// picture: the columns of a Picture (see network.js). look: how this panel weighs it:
//   { weights: Uint8Array or null, kept, keptNodes, flips: Sets, forming: whether an earlier step of the mask is shown }

import { brightness, mix } from "./base.js";
import { paintLabels } from "./labels.js";
import { paintMolecule } from "./molecule.js";

export function paintPanel(context, projection, picture, look, theme, focus) {
  const brush = new Brush(context, projection, picture, look, theme);
  context.lineCap = context.lineJoin = "round";
  if (focus !== null) brush.paintFocus(focus);
  if (picture.bonds) paintMolecule(brush);
  else paintGraph(brush);
  brush.paintRings();
}

// Nodes and lines grow more slowly than distances: a crowd stays readable, a close look is not all discs.
function growth(projection) {
  return Math.min(1.9, Math.max(0.62, Math.sqrt(projection.scale)));
}

export function nodeRadius(projection) {
  return 6 * growth(projection);
}

class Brush {
  constructor(context, projection, picture, look, theme) {
    Object.assign(this, { context, projection, picture, look, theme });
    this.grow = growth(projection);
    this.radius = nodeRadius(projection);
    this.px = picture.xs.map((x) => projection.x(x));
    this.py = picture.ys.map((y) => projection.y(y));
  }

  weight(edge) { return this.look.weights[edge] / 255; }
  isKept(edge) { return this.look.kept.has(edge); }
  isFaded(node) {
    const { weights, forming, keptNodes } = this.look;
    return Boolean(weights) && !forming && !keptNodes.has(node) && !this.picture.targetSet.has(node);
  }
  reach(node) { return this.picture.bonds ? 11 * this.grow : this.radius; }

  // Both ends of an edge on the canvas, drawn in by `gap` from the nodes.
  segment(edge, gap = 0) {
    const a = this.picture.edges[2 * edge], b = this.picture.edges[2 * edge + 1];
    let ax = this.px[a], ay = this.py[a], bx = this.px[b], by = this.py[b];
    const length = Math.hypot(bx - ax, by - ay) || 1, ux = (bx - ax) / length, uy = (by - ay) / length;
    const inset = Math.min(gap, length * 0.45);
    const aside = this.picture.twins.has(edge) ? 3 * this.grow : 0; // a to b and b to a, side by side
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

  traceEdge(edge) {
    const { a, b, ax, ay, bx, by } = this.segment(edge);
    if (a !== b) return this.line(ax, ay, bx, by);
    this.context.beginPath(); // an edge from a node to itself
    this.context.arc(ax, ay - 1.6 * this.radius, this.radius, 0, 2 * Math.PI);
    this.context.stroke();
  }

  // Dashes on both sides of an edge: they frame its weight instead of covering it.
  paintTruth(edge, width) {
    const { context, theme, picture } = this;
    const { a, b, ax, ay, bx, by, ux, uy } = this.segment(edge, picture.bonds ? 0 : this.radius + 1);
    if (a === b) return;
    const aside = width / 2 + 2.2 * this.grow, dash = 3.5 * this.grow;
    Object.assign(context, { strokeStyle: theme.strong, lineWidth: 1.25 * this.grow, lineCap: "butt" });
    context.setLineDash([dash, dash * 0.8]);
    for (const side of [aside, -aside]) this.line(ax - uy * side, ay + ux * side, bx - uy * side, by + ux * side);
    context.setLineDash([]);
    context.lineCap = "round";
  }

  // Round dots as wide as the line: an edge that some starts keep and others drop.
  dotted(edge, width) {
    this.context.setLineDash(this.look.flips.has(edge) && !this.look.forming ? [0.01, Math.max(4, width * 1.9)] : []);
  }

  paintFocus(node) {
    const { context } = this;
    context.fillStyle = mix(this.theme.accent, this.theme.ground, 0.35);
    context.beginPath();
    context.arc(this.px[node], this.py[node], this.reach(node) + 7, 0, 2 * Math.PI);
    context.fill();
  }

  paintRings() {
    const { context, theme } = this;
    for (const node of this.picture.targets) {
      const radius = this.reach(node) + 3.5 * this.grow;
      for (const [colour, width] of [[theme.ground, 6], [theme.text, 2.6]]) {
        context.beginPath();
        context.arc(this.px[node], this.py[node], radius, 0, 2 * Math.PI);
        Object.assign(context, { strokeStyle: colour, lineWidth: width * this.grow }).stroke();
      }
    }
  }

  font(size, weight = 500) {
    this.context.font = `${weight} ${size}px ${this.theme.font}`;
  }

  // Letters with a halo in the colour of the ground: readable over lines.
  text(words, x, y, colour, halo = 3.5) {
    const { context, theme } = this;
    Object.assign(context, { strokeStyle: theme.ground, lineWidth: halo, fillStyle: colour });
    context.strokeText(words, x, y);
    context.fillText(words, x, y);
  }
}

// ---- networks -------------------------------------------------------------------------------------------------

function paintGraph(brush) {
  const { picture, look } = brush, count = picture.edges.length / 2;
  const all = [...Array(count).keys()];
  const rank = (edge) => (look.weights ? look.weights[edge] + (brush.isKept(edge) && !look.forming ? 256 : 0) : 0);
  if (look.weights) all.sort((a, b) => rank(a) - rank(b)); // the heaviest on top
  for (const edge of all) paintEdge(brush, edge);
  for (const edge of picture.truth) brush.paintTruth(edge, edgeStyle(brush, edge).width);
  const nodes = [...Array(picture.xs.length).keys()];
  for (const node of nodes) if (brush.isFaded(node)) paintNode(brush, node);
  for (const node of nodes) if (!brush.isFaded(node)) paintNode(brush, node);
  paintLabels(brush);
}

function edgeStyle(brush, edge) {
  const { look, theme, grow } = brush;
  if (!look.weights) return { width: 1.3 * grow, colour: theme.edge };
  const weight = brush.weight(edge), thin = Math.min(grow, 1.4);
  if (look.forming) return { width: (0.8 + 5.7 * weight) * thin, colour: mix(theme.accent, theme.faint, weight), strong: weight > 0.5 };
  // what is kept is seen at a glance, however little of the mask it holds
  if (brush.isKept(edge)) return { width: (2.6 + 3.9 * weight) * thin, colour: mix(theme.accent, theme.ground, 0.6 + 0.4 * weight), strong: true };
  return { width: (0.8 + 1.8 * weight) * thin, colour: theme.faint };
}

function paintEdge(brush, edge) {
  const { context, picture } = brush, { width, colour, strong } = edgeStyle(brush, edge);
  Object.assign(context, { strokeStyle: colour, lineWidth: width });
  brush.dotted(edge, width);
  brush.traceEdge(edge);
  context.setLineDash([]);
  if (picture.directed && (strong || !brush.look.weights)) paintArrow(brush, edge, width, colour);
}

function paintArrow(brush, edge, width, colour) {
  const { context } = brush, { a, b, bx, by, ux, uy, length } = brush.segment(edge, brush.radius + 1);
  const size = 4.5 * brush.grow + 1.4 * width;
  if (a === b || length < 2 * brush.radius + size) return; // no room
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(bx, by);
  context.lineTo(bx - ux * size - uy * size * 0.6, by - uy * size + ux * size * 0.6);
  context.lineTo(bx - ux * size + uy * size * 0.6, by - uy * size - ux * size * 0.6);
  context.fill();
}

function paintNode(brush, node) {
  const { context, picture, theme, radius, px, py } = brush;
  const full = visible(picture.colours[node], theme, 0.1);
  context.beginPath();
  if (picture.squares?.[node]) context.rect(px[node] - radius * 0.9, py[node] - radius * 0.9, radius * 1.8, radius * 1.8);
  else context.arc(px[node], py[node], radius, 0, 2 * Math.PI);
  context.fillStyle = brush.isFaded(node) ? mix(full, theme.ground, 0.3) : full;
  Object.assign(context, { strokeStyle: theme.ground, lineWidth: 1.5 * brush.grow });
  context.stroke(); // a rim of ground sets the node off from its edges
  context.fill();
}

// A colour that the ground would swallow moves towards the colour of the text.
export function visible(colour, theme, least) {
  return Math.abs(brightness(colour) - brightness(theme.ground)) < least ? mix(colour, theme.text, 0.68) : colour;
}
