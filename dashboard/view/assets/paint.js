// Paints one panel of a network on a canvas context. Knows nothing of pages, pointers or time. Which shapes there are and
// where their points lie, drawing.py says, the same for files; here they are brought to pixels and get their style.
//
// picture: the columns of a Picture (see network.js). look: how this panel weighs it:
//   { weights: Uint8Array or null, kept, keptNodes, unstable, shared, cut, added: Sets, labels, forming: whether an earlier step of the mask is shown }

import { mix } from "./base.js";
import { STYLE } from "./style.js";

const FOCUS = 7; // pixels around a node

export function paintPanel(context, projection, picture, look, theme, focus, picked = null) {
  const brush = new Brush(context, projection, picture, look, theme);
  context.lineCap = context.lineJoin = "round";
  for (const node of [focus, picked]) if (node !== null) brush.focus(node);
  for (const layer of picture.drawing.layers) brush[layer]();
}

function growth(projection) {
  const [least, most] = STYLE.growth;
  return Math.min(most, Math.max(least, Math.sqrt(projection.scale)));
}

export function nodeRadius(projection, drawing) {
  return drawing.radius * growth(projection);
}

class Brush {
  constructor(context, projection, picture, look, theme) {
    Object.assign(this, { context, projection, picture, look, theme, drawing: picture.drawing });
    this.grow = growth(projection);
    this.px = picture.xs.map((x) => projection.x(x));
    this.py = picture.ys.map((y) => projection.y(y));
  }

  // ---- where: the drawing in pixels ----

  frame(edge) {
    const a = this.picture.edges[2 * edge], b = this.picture.edges[2 * edge + 1];
    const dx = this.px[b] - this.px[a], dy = this.py[b] - this.py[a], length = Math.hypot(dx, dy) || 1, ux = dx / length, uy = dy / length;
    const aside = this.picture.twins.has(edge) ? this.drawing.twin_aside * this.grow : 0;
    const x = -uy * aside, y = ux * aside;
    return { a, b, ax: this.px[a] + x, ay: this.py[a] + y, bx: this.px[b] + x, by: this.py[b] + y, ux, uy, length };
  }

  // A line along an edge: both ends drawn in, moved to its right; `width` is that of the edge it keeps clear of.
  line([edge, first, last, aside, widths, shorter], width = 0) {
    const { ax, ay, bx, by, ux, uy, length } = this.frame(edge), { context, grow } = this;
    const drawnIn = (inset) => Math.min(inset * grow, length * this.drawing.inset) + length * shorter;
    const from = drawnIn(first), to = drawnIn(last), away = aside * grow + widths * width;
    context.beginPath();
    context.moveTo(ax + ux * from - uy * away, ay + uy * from + ux * away);
    context.lineTo(bx - ux * to - uy * away, by - uy * to + ux * away);
    context.stroke();
  }

  circle(x, y, radius) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    return this.context;
  }

  // Letters at a point, with a halo in the colour of the ground: readable over lines.
  text(words, x, y, { size, weight, colour, halo, align = "center" }) {
    const { context, theme } = this, under = Math.round(y + STYLE.baseline * size); // where letters stand: on whole pixels they are crisp
    Object.assign(context, { font: `${weight} ${size}px ${theme.font}`, textAlign: align, textBaseline: "alphabetic" });
    Object.assign(context, { strokeStyle: theme.ground, lineWidth: halo, fillStyle: colour });
    context.strokeText(words, x, under);
    context.fillText(words, x, under);
  }

  // ---- how: style by weight and role ----

  weight(edge) { return this.look.weights ? this.look.weights[edge] / 255 : 0; }
  role(edge) {
    const { weights, forming, kept, cut, added } = this.look;
    if (cut.has(edge)) return "cut";
    if (added.has(edge) && !kept.has(edge)) return "added";
    if (!weights) return "plain";
    return forming ? "forming" : kept.has(edge) ? "kept" : "dropped";
  }
  isFaded(node) {
    const { weights, forming, keptNodes } = this.look;
    return Boolean(weights) && !forming && !keptNodes.has(node) && !this.picture.targetSet.has(node);
  }
  // 2 for what is explained, 1 for what the explanation keeps, 0 for the rest.
  importance(node) {
    if (this.picture.targetSet.has(node)) return 2;
    return Number(Boolean(this.look.weights) && this.look.keptNodes.has(node));
  }

  // Of an edge or of the band under a bond; null where a bond has no band.
  stroke(edge, kind) {
    const rule = STYLE[kind][this.role(edge)], weight = this.weight(edge);
    if (!rule) return null;
    const [width, share] = [this.width(rule, weight), rule.share[0] + rule.share[1] * weight];
    return { width, colour: mix(this.theme[rule.over], this.theme[rule.under], share), arrow: weight >= rule.arrow };
  }
  width({ width: [from, by], growth: most }, weight) { return (from + by * weight) * Math.min(this.grow, most); }

  // The heaviest last, on top; what is kept over all that is not.
  order() {
    const { weights } = this.look, all = [...Array(this.picture.edges.length / 2).keys()];
    const rank = (edge) => weights[edge] + (this.role(edge) === "kept" ? 256 : 0);
    return weights ? all.sort((a, b) => rank(a) - rank(b)) : all;
  }

  // ---- layers ----

  edges() { this.along("edges", "edge"); }
  bands() { this.along("bands", "band"); }

  along(layer, kind) {
    const { context, look, drawing } = this, lines = drawing.lines[layer] && new Map(drawing.lines[layer].map((line) => [line[0], line]));
    for (const edge of this.order()) {
      const stroke = this.stroke(edge, kind), { a, b } = this.frame(edge), line = lines ? lines.get(edge) : [edge, 0, 0, 0, 0, 0];
      if (!stroke || !line) continue;
      Object.assign(context, { strokeStyle: stroke.colour, lineWidth: stroke.width });
      // Round dots as wide as the line: an edge that some starts keep and others drop.
      const isDotted = look.unstable.has(edge) && !look.forming;
      if (isDotted) context.setLineDash([0.01, Math.max(STYLE.dots.least_px, stroke.width * STYLE.dots[kind])]);
      if (a !== b) this.line(line);
      else this.circle(this.px[a], this.py[a] - drawing.loop * this.grow, drawing.radius * this.grow).stroke();
      if (isDotted) context.setLineDash([]);
    }
  }

  heads() {
    const { context, grow, drawing: { head: [corners, room, roomWidths] } } = this;
    for (const edge of this.order()) {
      const { width, colour, arrow } = this.stroke(edge, "edge"), { a, b, bx, by, ux, uy, length } = this.frame(edge);
      if (!arrow || a === b || length < room * grow + roomWidths * width) continue;
      context.fillStyle = colour;
      context.beginPath();
      for (const [backGrown, backWidths, asideGrown, asideWidths] of corners) {
        const back = backGrown * grow + backWidths * width, aside = asideGrown * grow + asideWidths * width;
        context.lineTo(bx - ux * back - uy * aside, by - uy * back + ux * aside);
      }
      context.fill();
    }
  }

  truth() {
    const { context, theme, picture, grow } = this, { width, dash, over, share } = STYLE.truth;
    Object.assign(context, { strokeStyle: mix(theme[over], theme.ground, share), lineWidth: width * grow, lineCap: "butt" });
    context.setLineDash(dash.map((length) => length * grow));
    for (const line of this.drawing.lines.truth) {
      const beside = this.stroke(line[0], picture.molecule ? "band" : "edge");
      this.line(line, beside?.width ?? this.width(STYLE.bare_bond, 0));
    }
    context.setLineDash([]);
    context.lineCap = "round";
  }

  bonds() {
    const { context, theme, grow, picture: { bondLines, edges } } = this, { width, over, share, faded, cut } = STYLE.bond;
    for (const edge of this.order()) {
      const isFaded = this.isFaded(edges[2 * edge]) || this.isFaded(edges[2 * edge + 1]);
      const ink = this.look.cut.has(edge) ? cut : isFaded ? faded : share;
      Object.assign(context, { strokeStyle: mix(theme[over], theme.ground, ink), lineWidth: width * grow });
      for (const line of bondLines[edge]) this.line(line);
    }
  }

  nodes() {
    const { context, picture, theme, grow, drawing } = this, nodes = [...picture.xs.keys()];
    const half = drawing.half * grow, radius = drawing.radius * grow;
    for (const node of [...nodes.filter((each) => this.isFaded(each)), ...nodes.filter((each) => !this.isFaded(each))]) {
      const x = this.px[node], y = this.py[node], colour = picture.colours[node];
      context.fillStyle = this.isFaded(node) ? mix(colour, theme.ground, STYLE.node.faded) : colour;
      Object.assign(context, { strokeStyle: theme.ground, lineWidth: STYLE.node.rim * grow });
      context.beginPath();
      if (picture.squares?.[node]) context.rect(x - half, y - half, 2 * half, 2 * half);
      else context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke(); // a rim of ground sets the node off from its edges
      context.fill();
    }
  }

  letters() {
    const { picture, theme, grow } = this, { size, least_px, weight, halo, faded, own } = STYLE.atom;
    for (const [atom, letters] of picture.labels.entries()) {
      if (!letters) continue;
      const toned = mix(picture.colours[atom], theme.text, own), colour = this.isFaded(atom) ? mix(toned, theme.ground, faded) : toned;
      const style = { size: Math.round(Math.max(least_px, size * grow)), weight, colour, halo: halo * grow };
      this.text(letters, this.px[atom], this.py[atom] + this.drawing.letters_down * grow, style);
    }
  }

  // Names have their places; all that depends on the zoom is whether one is written yet.
  labels() {
    const { picture, theme, projection, grow, drawing } = this, style = STYLE.label, [least, most] = style.range_px;
    const size = Math.round(Math.min(most, Math.max(least, style.size * grow)));
    for (const node of picture.labels.keys()) {
      const from = drawing.zooms[this.look.labels[2 * node]];
      if (from === undefined || projection.scale < from) continue; // no name, or not yet
      const [right, down, heights, anchor] = drawing.places[this.look.labels[2 * node + 1]], rank = this.importance(node);
      const share = rank ? 1 : this.isFaded(node) ? style.faded : style.share;
      const look = { size, weight: style.weights[rank], colour: mix(theme.text, theme.ground, share), halo: style.halo_px };
      const align = anchor === "middle" ? "center" : anchor;
      this.text(picture.labels[node], this.px[node] + right * grow, this.py[node] + down * grow + heights * size, { ...look, align });
    }
  }

  // In the middle of an edge: a cross where it was cut, a plus where it was added, a dot where another panel keeps it too.
  marks() {
    const { look, context, theme, grow } = this, { reach, dot, lines } = STYLE.mark, arm = reach * grow;
    const signs = [[look.cut, [[-1, -1, 1, 1], [-1, 1, 1, -1]]], [look.added, [[-1, 0, 1, 0], [0, -1, 0, 1]]]];
    const at = (edge) => { const { ax, ay, bx, by } = this.frame(edge); return [(ax + bx) / 2, (ay + by) / 2]; };
    for (const [name, width] of lines) {
      Object.assign(context, { strokeStyle: theme[name], fillStyle: theme[name], lineWidth: width * grow });
      for (const [edges, strokes] of signs)
        for (const edge of edges)
          for (const [x1, y1, x2, y2] of strokes) {
            const [x, y] = at(edge);
            context.beginPath();
            context.moveTo(x + x1 * arm, y + y1 * arm);
            context.lineTo(x + x2 * arm, y + y2 * arm);
            context.stroke();
          }
      for (const edge of look.shared) this.circle(...at(edge), dot * grow + (name === "ground" ? width * grow * 0.3 : 0)).fill();
    }
  }

  rings() {
    for (const node of this.picture.targets)
      for (const [name, width] of STYLE.ring) {
        this.circle(this.px[node], this.py[node], this.drawing.ring * this.grow);
        Object.assign(this.context, { strokeStyle: this.theme[name], lineWidth: width * this.grow }).stroke();
      }
  }

  focus(node) {
    this.context.fillStyle = mix(this.theme.accent, this.theme.ground, 0.35);
    this.circle(this.px[node], this.py[node], this.drawing.reach * this.grow + FOCUS).fill();
  }
}
