// The clickable network: a grid of panels that colour one picture, with one camera.

import { bytesOf, inflate, make, makeButton, mountWith, pairsOf, readTheme, saveAs, setText } from "./base.js";
import { boundsOf, distanceToSegment, nearestPoint, towards } from "./camera.js";
import { nodeRadius, paintPanel } from "./paint.js";
import { makeLegend, showLegend } from "./legend.js";
import { Replay } from "./replay.js";
import { Stage } from "./stage.js";
import { setTerms } from "./terms.js";
import "./gestures.js";

const EXPORT_SCALE = 2;

// The columns Python sent, unpacked, with what drawing and walking need looked up once.
export function readPicture(data) {
  const count = data.nodes.length, edges = pairsOf(data.edges, count), neighbours = data.nodes.map(() => []);
  for (let i = 0; i < edges.length; i += 2) {
    neighbours[edges[i]].push(edges[i + 1]);
    if (edges[i] !== edges[i + 1]) neighbours[edges[i + 1]].push(edges[i]);
  }
  const bondLines = Array.from({ length: edges.length / 2 }, () => []);
  for (const line of data.drawing.lines.bonds ?? []) bondLines[line[0]].push(line);
  const xs = Float32Array.from(data.x, (x) => x / data.unit), ys = Float32Array.from(data.y, (y) => y / data.unit);
  return {
    nodes: data.nodes, xs, ys, edges, neighbours, bondLines, drawing: data.drawing, twins: new Set(data.drawing.twins),
    colours: data.colours.map((place) => data.palette[place]),
    labels: data.labels, tips: data.tips.rows.map((row) => row.map((line) => data.tips.lines[line]).join("\n")), targets: data.targets, targetSet: new Set(data.targets),
    truth: data.truth, truthSet: new Set(data.truth), directed: data.directed,
    squares: data.squares ? bytesOf(data.squares) : null,
    molecule: data.molecule,
    bounds: boundsOf(xs, ys),
  };
}

// Frames arrive edge by edge, as differences from one frame to the next, which pack well; they are drawn frame by frame.
export function unrolled(changes, count) {
  const size = changes.length / count, frames = new Uint8Array(changes.length);
  for (let edge = 0; edge < size; edge++)
    for (let frame = 0, level = 0; frame < count; frame++) {
      level += changes[edge * count + frame];
      frames[frame * size + edge] = level; // a byte wraps around, as it did on the way here
    }
  return frames;
}

export class NetworkView {
  constructor(root) {
    this.root = root;
    this.grid = make("div", "grid");
    this.legend = makeLegend();
    root.append(this.grid, this.legend);
    this.panelViews = new Map();
  }

  update(data) {
    this.data = data;
    const text = JSON.stringify(data.picture);
    if (text !== this.pictureText) Object.assign(this, { pictureText: text, picture: readPicture(data.picture) });
    this.theme = readTheme(this.root);
    this.root.classList.toggle("in-window", Boolean(data.in_window));
    const columns = Math.max(1, Math.min(data.columns, data.panels.length));
    this.grid.style.setProperty("--columns", columns);
    this.grid.style.setProperty("--fewer", Math.min(columns, 2));
    showLegend(this.legend, data.legend);
    const names = new Set(data.panels.map(({ name }) => name));
    for (const [name, panel] of this.panelViews) if (!names.has(name)) this.drop(name, panel);
    for (const panel of data.panels) {
      if (!this.panelViews.has(panel.name)) this.panelViews.set(panel.name, new PanelView(this, panel.name));
      this.panelViews.get(panel.name).update(panel);
    }
    const inOrder = data.panels.map(({ name }) => this.panelViews.get(name).element);
    if (inOrder.some((element, place) => this.grid.children[place] !== element)) this.grid.append(...inOrder);
  }

  drop(name, panel) {
    panel.destroy();
    this.panelViews.delete(name);
  }

  // For tests.
  get panels() { return Object.fromEntries(this.panelViews); }
  get draws() { return [...this.panelViews.values()].reduce((sum, panel) => sum + panel.stage.draws, 0); }
  camera() {
    const { x, y, zoom } = this.panelViews.values().next().value.stage.camera;
    return { x, y, zoom };
  }

  destroy() {
    for (const panel of this.panelViews.values()) panel.destroy();
  }
}

class PanelView {
  constructor(view, name) {
    Object.assign(this, { view, name, picked: null });
    this.element = make("section", "panel");
    this.head = make("header");
    this.title = make("div", "title");
    this.lines = make("div", "lines");
    const top = make("div", "top");
    this.head.append(top, this.lines);
    this.stage = new Stage(this);
    this.stage.tools.append(makeButton("tool", "PNG", "Save this panel as a picture", () => this.savePng()));
    top.append(this.title, this.stage.tools);
    this.foot = make("footer");
    this.element.append(this.head, this.stage.element, this.foot);
  }

  update(panel) {
    const { data, picture } = this.view;
    this.panel = panel;
    setText(this.title, panel.title);
    if (JSON.stringify(panel.lines) !== this.linesShown) {
      this.linesShown = JSON.stringify(panel.lines);
      this.lines.replaceChildren(...panel.lines.map((line) => { const row = make("div"); setTerms(row, line); return row; }));
    }
    this.final = {
      weights: panel.weights === null ? null : bytesOf(panel.weights),
      kept: new Set(panel.kept), keptNodes: new Set(panel.kept_nodes), unstable: new Set(panel.unstable), shared: new Set(panel.shared), cut: new Set(panel.cut), added: new Set(panel.added), labels: bytesOf(panel.labels), forming: false,
    };
    if (!this.replay || this.replay.frame === this.replay.last) this.look = this.final;
    this.clickable = data.clickable;
    this.joins = data.joins;
    if (!this.joins || JSON.stringify(picture.nodes) !== this.nodesShown) this.picked = null;
    this.nodesShown = JSON.stringify(picture.nodes);
    this.stage.canvas.style.height = `${data.height}px`;
    const [nodes, edges] = picture.molecule ? ["atoms", "bonds"] : ["nodes", "edges"];
    const counts = `${picture.nodes.length} ${nodes}, ${picture.edges.length / 2} ${edges}`;
    this.stage.canvas.setAttribute("aria-label", `${panel.title}: ${counts}${panel.weights === null ? "" : `, ${panel.kept.length} kept`}`);
    this.stage.look(`${data.group || data.key}/${data.picture.signature}`, picture.bounds);
    this.updateReplay(panel);
  }

  updateReplay(panel) {
    if (!panel.frames) {
      this.replay?.destroy();
      this.replay = null;
      this.foot.replaceChildren();
      this.look = this.final;
      return;
    }
    if (!this.replay) {
      this.replay = new Replay((frame, isLast) => this.showFrame(frame, isLast));
      this.foot.append(this.replay.element);
    }
    if (panel.frames.weights !== this.framesText) this.readFrames(panel.frames);
    this.replay.update(panel, this.view.theme);
  }

  async readFrames({ weights: text, steps }) {
    Object.assign(this, { framesText: text, frames: null });
    const frames = unrolled(await inflate(text), steps.length);
    if (!this.replay || this.framesText !== text) return; // other data came meanwhile
    this.frames = frames;
    this.showFrame(this.replay.frame, this.replay.frame === this.replay.last);
  }

  showFrame(frame, isLast) {
    const size = this.final.weights.length;
    const weights = isLast ? null : this.frames?.subarray(frame * size, (frame + 1) * size);
    this.look = weights ? { ...this.final, weights, forming: true } : this.final;
    this.element.dataset.frame = frame;
    this.stage.requestDraw();
  }

  // Another part in place of the one that is kept, while it is only looked at; null: back to that.
  preview(look) {
    if (this.look.forming) return; // an earlier step of the mask is shown
    this.look = look ? { ...this.final, ...look } : this.final;
    this.stage.requestDraw();
  }

  // ---- what the stage asks ----

  draw(context, projection) {
    paintPanel(context, projection, this.view.picture, this.look, this.view.theme, this.stage.camera.focus, this.picked);
  }

  count() { return this.view.picture.nodes.length; }
  idOf(node) { return this.view.picture.nodes[node]; }
  pointFor(node) { return { x: this.view.picture.xs[node], y: this.view.picture.ys[node] }; }

  // A node if the pointer is on it; else the edge under the pointer, which short edges would otherwise never be; else
  // the nearest node within reach. A finger (which reaches far) always means a node.
  hitAt(x, y, reach) {
    const { picture } = this.view, projection = this.stage.projection();
    const nodeWithin = (distance) => nearestPoint(picture.xs, picture.ys, projection, x, y, distance);
    const on = nodeWithin(reach > 10 ? reach : nodeRadius(projection, picture.drawing) + 3);
    if (on !== null) return { node: on };
    const edge = this.edgeAt(x, y, projection);
    if (edge !== null) return { edge };
    const near = nodeWithin(reach);
    return near === null ? null : { node: near };
  }

  edgeAt(x, y, projection) {
    const { xs, ys, edges } = this.view.picture;
    let best = null, nearest = 5;
    for (let i = 0; i < edges.length; i += 2) {
      const [a, b] = [edges[i], edges[i + 1]];
      const away = distanceToSegment(x, y, projection.x(xs[a]), projection.y(ys[a]), projection.x(xs[b]), projection.y(ys[b]));
      if (away < nearest) { best = i / 2; nearest = away; }
    }
    return best;
  }

  tipOf({ node, edge }) {
    const { picture } = this.view;
    if (node !== undefined) return this.joins ? `${picture.tips[node]}\n${this.invitation(node)}` : picture.tips[node];
    const name = (end) => picture.tips[picture.edges[2 * edge + end]].split("\n")[0];
    const lines = [`${name(0)} ${picture.directed ? "→" : "–"} ${name(1)}`];
    if (this.look.weights) lines[0] += `: weight ${(this.look.weights[edge] / 255).toFixed(2)}`;
    if (this.look.shared.has(edge)) lines.push("in both parts (dot)");
    if (picture.truthSet.has(edge)) lines.push("ground truth (dashed)");
    if (this.look.weights && this.look.unstable.has(edge)) lines.push("some starts keep it, others drop it (dotted)");
    if (this.joins) lines.push(this.look.cut.has(edge) ? "click to restore it" : this.look.added.has(edge) ? "click to take it away again" : "click to cut it");
    return lines.join("\n");
  }

  invitation(node) {
    if (this.picked === null) return "choose it, then another: joined, or parted";
    return this.picked === node ? "choose it again to put it down" : "choose it: joined to the first, or parted";
  }

  step(focus, direction) {
    const { picture } = this.view;
    if (focus === null) return picture.targets[0] ?? this.panel.kept_nodes[0] ?? (picture.nodes.length ? 0 : null);
    return towards(picture.xs, picture.ys, focus, picture.neighbours[focus], direction);
  }

  choose(node) {
    if (this.joins) this.join(node);
    else if (this.clickable) this.view.send(this.idOf(node));
  }

  // Where edges are edited a first node is taken in hand, and a second one is joined to it, or parted from it.
  join(node) {
    const first = this.picked;
    this.picked = first === null ? node : null;
    if (first !== null && first !== node) this.view.sendPair([this.idOf(first), this.idOf(node)]);
    this.stage.requestDraw();
  }

  chooseEdge(edge) {
    const { edges } = this.view.picture;
    this.picked = null;
    this.view.sendPair([this.idOf(edges[2 * edge]), this.idOf(edges[2 * edge + 1])]);
  }

  // For tests: where to press for a node, and whether nothing else takes the press there.
  pointOf(id) {
    const node = this.view.picture.nodes.indexOf(id), projection = this.stage.projection(), { x, y } = this.pointFor(node);
    const box = this.stage.canvas.getBoundingClientRect(), px = projection.x(x), py = projection.y(y);
    return { x: box.left + px, y: box.top + py, onTop: this.hitAt(px, py, 10)?.node === node };
  }

  // ---- a picture for slides ----

  // As in the SVG: first of what it is, then the panel's title and its lines.
  heading() {
    const { subject } = this.view.data, { title, lines } = this.panel;
    return [subject, title, ...lines].filter(Boolean);
  }

  async savePng() {
    const { width, height } = this.stage, { theme } = this.view, [first, ...lines] = this.heading(), head = 44 + 18 * lines.length;
    const canvas = Object.assign(make("canvas"), { width: width * EXPORT_SCALE, height: (height + head) * EXPORT_SCALE });
    const context = canvas.getContext("2d");
    context.scale(EXPORT_SCALE, EXPORT_SCALE);
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, height + head);
    context.fillStyle = theme.text;
    context.font = `650 17px ${theme.font}`;
    context.fillText(first ?? "", 16, 30, width - 32);
    context.font = `400 14px ${theme.font}`;
    lines.forEach((line, i) => context.fillText(line, 16, 50 + 18 * i, width - 32));
    context.translate(0, head);
    paintPanel(context, this.stage.projection(), this.view.picture, this.look, theme, null);
    const name = [this.view.data.subject, this.name].filter(Boolean).join(" ");
    saveAs(`${name}.png`, await new Promise((done) => canvas.toBlob(done, "image/png")));
  }

  destroy() {
    this.replay?.destroy();
    this.stage.destroy();
    this.element.remove();
  }
}

export default mountWith(NetworkView);
