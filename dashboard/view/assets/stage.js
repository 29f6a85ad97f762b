// A stage: one canvas with its camera, mouse, touch, keys, tooltip and spoken status. What is drawn, what lies under the
// pointer and where the arrow keys lead is asked of its owner, so networks and maps behave alike.

import { make, makeButton, registry, setText } from "./base.js";
import { Projection, ZOOM_RANGE, cameraFor, fitCamera, moveCamera } from "./camera.js";
import { STYLE } from "./style.js";

export const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
export const PAGES = { PageDown: 1, PageUp: -1 };
export const DRAG_BEGINS = 4; // pixels a hand may tremble in a click
const HELP = "Arrow keys walk, Page Up and Page Down step through all, Enter chooses, plus and minus zoom, 0 shows everything.";

export class Stage {
  // owner: clickable, count(), draw(context, projection), hitAt(x, y, reach) -> {node} or {edge} or null, tipOf(hit),
  // step(focus, direction) -> node (with no focus: where a walk begins), choose(node), pointFor(node), idOf(node)
  constructor(owner, { margin = STYLE.fit.margin, largest = STYLE.fit.largest, stretch = 1 } = {}) {
    this.owner = owner;
    this.frame = { margin, largest, stretch };
    this.draws = 0;
    this.element = make("div", "stage");
    this.canvas = make("canvas");
    Object.assign(this.canvas, { tabIndex: 0 });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-description", HELP);
    this.context = this.canvas.getContext("2d");
    this.tooltip = make("div", "tooltip");
    this.tooltip.hidden = true;
    this.status = make("div", "spoken");
    this.status.setAttribute("role", "status");
    this.tools = make("div", "tools");
    this.element.append(this.canvas, this.tooltip, this.status); // the owner places the tools: over the canvas they would hide nodes
    this.addTools();
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
    document.fonts?.ready.then(() => this.requestDraw()); // letters measured in a fallback font are drawn anew
    registry.stages.add(this);
  }

  addTools() {
    this.tools.append(
      makeButton("tool", "−", "Zoom out", () => this.zoomBy(1 / 1.4)),
      makeButton("tool", "+", "Zoom in", () => this.zoomBy(1.4)),
      makeButton("tool", "Fit", "Show everything", () => this.fit()),
    );
    for (const button of this.tools.children) button.tabIndex = -1; // the keys +, - and 0 do the same
  }

  look(name, bounds) {
    if (this.camera?.name !== name) this.hideTip();
    this.camera = cameraFor(name, bounds);
    this.requestDraw();
  }

  projection(size = this) {
    return new Projection(this.camera, { width: size.width, height: size.height, ...this.frame });
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas, ratio = globalThis.devicePixelRatio || 1;
    Object.assign(this, { width: clientWidth, height: clientHeight, ratio });
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.draw(); // at once: a resized canvas is blank
  }

  requestDraw() {
    this.pending ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.pending);
    this.pending = null;
    if (!this.width || !this.camera) return; // in a closed tab or expander
    if (this.ratio !== (globalThis.devicePixelRatio || 1)) return this.resize(); // moved to another screen
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.owner.draw(this.context, this.projection());
    this.draws++;
  }

  peers() {
    return [...registry.stages].filter((stage) => stage.camera === this.camera);
  }

  drawAll() {
    for (const stage of this.peers()) stage.requestDraw();
  }

  // ---- camera moves, for all that share it ----

  fit() {
    fitCamera(this.camera);
    this.hideTip();
    this.drawAll();
  }

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const { camera } = this, before = this.projection(), under = [before.backX(x), before.backY(y)];
    camera.zoom = Math.min(ZOOM_RANGE[1], Math.max(ZOOM_RANGE[0], camera.zoom * factor));
    const { scaleX, scaleY } = this.projection();
    moveCamera(camera, under[0] - (x - this.width / 2) / scaleX, under[1] - (y - this.height / 2) / scaleY);
    this.drawAll();
  }

  panBy(dx, dy) {
    const { scaleX, scaleY } = this.projection();
    moveCamera(this.camera, this.camera.x - dx / scaleX, this.camera.y - dy / scaleY);
    this.drawAll();
  }

  // ---- focus: the node under the pointer or the keys, marked in all panels that share the camera ----

  setFocus(index) {
    if (this.camera.focus === index) return;
    this.camera.focus = index;
    this.drawAll();
  }

  focusByKey(index) {
    if (index === null) return;
    this.setFocus(index);
    const { x, y } = this.owner.pointFor(index), projection = this.projection();
    if (!projection.shows(projection.x(x), projection.y(y), -12)) {
      moveCamera(this.camera, x, y);
      this.drawAll();
    }
    const now = this.projection(), tip = this.owner.tipOf({ node: index });
    this.canvas.dataset.focus = this.owner.idOf(index);
    this.showTip(tip, now.x(x), now.y(y));
    setText(this.status, tip);
  }

  showTip(text, x, y) {
    this.tooltip.hidden = !text;
    setText(this.tooltip, text);
    const { offsetWidth, offsetHeight } = this.tooltip;
    const left = x + 14 + offsetWidth > this.width ? x - 14 - offsetWidth : x + 14;
    const top = y + 14 + offsetHeight > this.height ? y - 10 - offsetHeight : y + 14;
    Object.assign(this.tooltip.style, { left: `${Math.max(0, left)}px`, top: `${Math.max(0, top)}px` });
  }

  hideTip() {
    this.tooltip.hidden = true;
  }

  destroy() {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
    registry.stages.delete(this);
  }
}
