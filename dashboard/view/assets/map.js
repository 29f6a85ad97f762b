// The map: one point for each node or graph of a data set, with a legend.

import { bytesOf, make, mix, mountWith, pairsOf, readTheme } from "./base.js";
import { boundsOf, nearestPoint, towards } from "./camera.js";
import { Raster } from "./raster.js";
import { Stage } from "./stage.js";
import "./gestures.js";

const FEW_EDGES = 1500; // as many are drawn anew in every frame; of more, a bitmap is moved along until the camera rests
const REST_MILLISECONDS = 120;
const EDGES_A_STROKE = 250; // one path with all of them takes many times as long

function readPoints(data) {
  const sixteen = (text) => Float32Array.from(new Uint16Array(bytesOf(text).buffer), (value) => value / 65535);
  const xs = sixteen(data.x), ys = sixteen(data.y).map((y) => 1 - y); // on a screen y grows downwards
  return {
    ids: data.ids, xs, ys, tips: data.tips, legend: data.legend,
    colourOf: bytesOf(data.colour_of),
    squares: data.squares ? bytesOf(data.squares) : null,
    edges: pairsOf(data.edges, data.ids.length),
    bounds: boundsOf(xs, ys),
  };
}

class MapView {
  constructor(root) {
    this.root = root;
    this.clickable = true;
    this.lit = null; // place in the legend of the one class that is not dimmed
    this.stage = new Stage(this, { margin: 18, largest: Infinity, stretch: 2.2 });
    this.raster = new Raster();
    this.legend = make("div", "legend");
    const foot = make("div", "foot");
    foot.append(this.legend, this.stage.tools);
    root.append(this.stage.element, foot);
  }

  update(data) {
    this.key = data.key;
    const text = JSON.stringify(data.points);
    if (text !== this.pointsText) {
      Object.assign(this, { pointsText: text, points: readPoints(data.points), lit: null });
      this.fillLegend();
    }
    const chosen = new Set(data.selected);
    this.selected = [...this.points.ids.keys()].filter((point) => chosen.has(this.points.ids[point]));
    this.theme = readTheme(this.root);
    this.layer = null;
    this.stage.canvas.style.height = `${data.height}px`;
    this.stage.canvas.setAttribute("aria-label", `Map: ${this.points.ids.length} points, ${data.selected.length} selected`);
    this.stage.look(`${data.key}/${data.points.signature}`, this.points.bounds);
  }

  // ---- legend ----

  fillLegend() {
    this.legend.replaceChildren(...this.points.legend.map(([name, colour], place) => {
      const button = make("button", "entry");
      const swatch = make("span", "swatch");
      swatch.style.background = colour;
      button.type = "button";
      button.append(swatch, make("span", "", name));
      button.addEventListener("click", () => this.light(this.lit === place ? null : place));
      return button;
    }));
    this.light(this.lit);
  }

  light(place) {
    this.lit = place;
    this.layer = null;
    [...this.legend.children].forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === place));
      button.classList.toggle("dimmed", place !== null && i !== place);
    });
    this.stage.requestDraw();
  }

  // ---- drawing ----

  draw(context, projection) {
    // Whole pixels: while one pans, all points step together instead of shimmering.
    const { canvas, ratio } = this.stage;
    projection.shiftX = Math.round(projection.shiftX * ratio) / ratio;
    projection.shiftY = Math.round(projection.shiftY * ratio) / ratio;
    if (this.points.edges.length) this.drawEdges(context, projection);
    const size = this.radius(projection.zoom);
    this.raster.clear(canvas.width, canvas.height);
    if (this.lit !== null) this.stampPoints(projection, size, true);
    this.stampPoints(projection, size, false);
    this.raster.show(context);
    this.drawMarks(context, projection, size);
  }

  radius(zoom) {
    const crowd = Math.min(5, Math.max(2.4, 4 * (600 / this.points.ids.length) ** 0.2));
    return Math.min(11, crowd * zoom ** 0.4);
  }

  // In the order of the data, so that no class covers another; the dimmed ones first.
  stampPoints(projection, size, dimmed) {
    const { xs, ys, colourOf, squares, legend } = this.points, { lit, stage: { ratio } } = this;
    const stamps = legend.map(([, colour]) => [false, true].map((square) => this.stamp(colour, square, size * ratio, dimmed)));
    for (let point = 0; point < xs.length; point++) {
      if (lit !== null && (colourOf[point] === lit) === dimmed) continue;
      const x = projection.x(xs[point]), y = projection.y(ys[point]);
      if (projection.shows(x, y, size + 2)) this.raster.put(stamps[colourOf[point]][squares?.[point] ?? 0], x * ratio, y * ratio);
    }
  }

  stamp(colour, square, radius, dimmed) {
    const { ground } = this.theme, even = Math.round(radius * 4) / 4; // few sizes, so that stamps are used again
    if (dimmed) return this.raster.stampOf(mix(colour, ground, 0.25), null, square, even);
    return this.raster.stampOf(colour, mix(ground, colour, 0.75), square, even); // a rim tells points in a crowd apart
  }

  drawMarks(context, projection, size) {
    const { xs, ys } = this.points, { focus } = this.stage.camera;
    const ring = (point, radius, colour, width) => {
      context.beginPath();
      context.arc(projection.x(xs[point]), projection.y(ys[point]), radius, 0, 2 * Math.PI);
      Object.assign(context, { strokeStyle: colour, lineWidth: width }).stroke();
    };
    for (const point of [...this.selected, focus].filter((place) => place !== null)) {
      const width = point === focus ? 2 : 2.6, radius = size + (point === focus && this.selected.includes(point) ? 8 : 4);
      ring(point, radius, this.theme.ground, width + 3);
      ring(point, radius, point === focus ? this.theme.accent : this.theme.text, width);
    }
  }

  // ---- edges ----

  drawEdges(context, projection) {
    if (this.points.edges.length <= 2 * FEW_EDGES) return this.strokeEdges(context, projection);
    const { layer } = this, { ratio } = this.stage, still = layer && sameView(layer.projection, projection);
    clearTimeout(this.rest);
    if (!layer) this.renderLayer(projection);
    else if (!still) this.rest = setTimeout(() => { this.layer = null; this.stage.requestDraw(); }, REST_MILLISECONDS);
    const { canvas, projection: then } = this.layer, growX = projection.scaleX / then.scaleX, growY = projection.scaleY / then.scaleY;
    context.imageSmoothingEnabled = growX !== 1; // a moved bitmap needs none, and is copied faster
    context.drawImage(canvas, projection.shiftX - then.shiftX * growX, projection.shiftY - then.shiftY * growY, (canvas.width / ratio) * growX, (canvas.height / ratio) * growY);
  }

  renderLayer(projection) {
    const { ratio, canvas: { width, height } } = this.stage, canvas = Object.assign(make("canvas"), { width, height });
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.strokeEdges(context, projection);
    this.layer = { canvas, projection };
  }

  strokeEdges(context, projection) {
    const { xs, ys, edges } = this.points, { width, height } = projection;
    const share = (edges.length > 2 * FEW_EDGES ? 0.13 : 0.22) * (this.lit === null ? 1 : 0.5); // the more lines, the fainter
    Object.assign(context, { strokeStyle: mix(this.theme.text, this.theme.ground, share), lineWidth: 1 });
    let count = 0;
    context.beginPath();
    for (let i = 0; i < edges.length; i += 2) {
      const ax = projection.x(xs[edges[i]]), ay = projection.y(ys[edges[i]]), bx = projection.x(xs[edges[i + 1]]), by = projection.y(ys[edges[i + 1]]);
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
      if (++count % EDGES_A_STROKE === 0) { context.stroke(); context.beginPath(); }
    }
    context.stroke();
  }

  // ---- what the stage asks ----

  count() { return this.points.ids.length; }
  idOf(point) { return this.points.ids[point]; }
  tipOf({ node }) { return this.points.tips[node]; }
  pointFor(point) { return { x: this.points.xs[point], y: this.points.ys[point] }; }
  choose(point) { this.send(this.idOf(point)); }

  hitAt(x, y, reach) {
    const node = nearestPoint(this.points.xs, this.points.ys, this.stage.projection(), x, y, reach);
    return node === null ? null : { node };
  }

  step(focus, direction) {
    const { xs, ys } = this.points, projection = this.stage.projection();
    if (focus !== null) return towards(xs, ys, focus, xs.keys(), direction);
    return this.selected[0] ?? nearestPoint(xs, ys, projection, projection.width / 2, projection.height / 2, Infinity);
  }

  // ---- for tests ----

  get draws() { return this.stage.draws; }
  camera() {
    const { x, y, zoom } = this.stage.camera;
    return { x, y, zoom };
  }
  pointOf(id) {
    const point = this.points.ids.indexOf(id), projection = this.stage.projection();
    const box = this.stage.canvas.getBoundingClientRect(), px = projection.x(this.points.xs[point]), py = projection.y(this.points.ys[point]);
    return { x: box.left + px, y: box.top + py, onTop: this.hitAt(px, py, 10)?.node === point };
  }

  destroy() {
    clearTimeout(this.rest);
    this.stage.destroy();
  }
}

function sameView(a, b) {
  return ["scaleX", "scaleY", "shiftX", "shiftY", "width", "height"].every((name) => a[name] === b[name]);
}

export default mountWith(MapView);
