// How a stage listens: mouse, touch, wheel and keys.

import { ARROWS, DRAG_BEGINS, PAGES, Stage } from "./stage.js";

Object.assign(Stage.prototype, {
  listen() {
    this.pointers = new Map(); // pressed ones: one drags, two pinch
    const on = (name, action, options) => this.canvas.addEventListener(name, (event) => action.call(this, event), options);
    on("pointerdown", this.onPress);
    on("pointermove", this.onMove);
    on("pointerup", this.onRelease);
    on("pointercancel", this.onCancel);
    on("pointerleave", this.onLeave);
    on("wheel", this.onWheel, { passive: false });
    on("dblclick", this.onDoubleClick);
    on("keydown", this.onKey);
    on("blur", this.onBlur);
  },

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  },

  onPress(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.wheelZooms = true; // see onWheel
    this.pressed = this.pointers.size === 1 ? this.place(event) : null;
    this.dragged = this.pointers.size > 1;
  },

  onMove(event) {
    const here = this.place(event), before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(here, event.pointerType === "touch" ? 18 : 10);
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, here);
    else this.drag(before, here);
  },

  drag(before, here) {
    if (!this.dragged && this.pressed && Math.hypot(here.x - this.pressed.x, here.y - this.pressed.y) < DRAG_BEGINS) return;
    this.dragged = true;
    this.hideTip();
    this.canvas.style.cursor = "grabbing";
    this.panBy(here.x - before.x, here.y - before.y);
    for (const id of this.pointers.keys()) this.pointers.set(id, here);
  },

  pinch(id, before, here) {
    const other = [...this.pointers].find(([otherId]) => otherId !== id)[1];
    const apart = (point) => Math.max(8, Math.hypot(point.x - other.x, point.y - other.y));
    this.pointers.set(id, here);
    this.panBy((here.x - before.x) / 2, (here.y - before.y) / 2);
    this.zoomBy(apart(here) / apart(before), (here.x + other.x) / 2, (here.y + other.y) / 2);
  },

  onRelease(event) {
    const pressed = this.pointers.delete(event.pointerId);
    this.canvas.style.cursor = "";
    if (!pressed || this.dragged || this.pointers.size) return; // a drag is not a click
    const here = this.place(event), hit = this.owner.hitAt(here.x, here.y, event.pointerType === "touch" ? 18 : 10);
    this.hover(here, 10);
    if (hit?.node !== undefined) this.owner.choose(hit.node);
    else if (hit && this.owner.joins) this.owner.chooseEdge(hit.edge);
  },

  onCancel(event) {
    this.pointers.delete(event.pointerId);
    this.dragged = true;
  },

  onLeave() {
    this.wheelZooms = false;
    if (this.pointers.size) return;
    this.hideTip();
    this.setFocus(null);
  },

  onBlur() {
    this.wheelZooms = false;
    this.hideTip();
    this.setFocus(null);
  },

  hover({ x, y }, reach) {
    const hit = this.owner.hitAt(x, y, reach);
    const takes = hit?.node !== undefined ? this.owner.clickable : Boolean(hit && this.owner.joins);
    this.canvas.style.cursor = takes ? "pointer" : "";
    this.setFocus(hit?.node ?? null);
    if (hit) this.showTip(this.owner.tipOf(hit), x, y);
    else this.hideTip();
  },

  // The wheel belongs to the page, unless Ctrl is held (which is also how a trackpad tells of a pinch) or the canvas was
  // pressed and the pointer has not left it since.
  onWheel(event) {
    const pinching = event.ctrlKey || event.metaKey;
    if (!pinching && !this.wheelZooms) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1, { x, y } = this.place(event);
    const turn = Math.max(-120, Math.min(120, event.deltaY * lines));
    this.hideTip();
    this.zoomBy(Math.exp(-turn * (pinching && Math.abs(turn) < 40 ? 0.01 : 0.0025)), x, y);
  },

  onDoubleClick(event) {
    const { x, y } = this.place(event);
    if (this.owner.hitAt(x, y, 10)?.node === undefined) this.fit(); // on a node it was two clicks
  },

  turn(focus, by) {
    const count = this.owner.count();
    if (focus === null) return this.owner.step(null);
    return (focus + by + count) % count;
  },

  onKey(event) {
    const { focus } = this.camera, { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own zoom
    if (key in ARROWS) this.focusByKey(this.owner.step(focus, ARROWS[key]));
    else if (key in PAGES) this.focusByKey(this.turn(focus, PAGES[key]));
    else if ((key === "Enter" || key === " ") && focus !== null) this.owner.choose(focus);
    else if (key === "+" || key === "=") this.zoomBy(1.25);
    else if (key === "-") this.zoomBy(1 / 1.25);
    else if (key === "0") this.fit();
    else if (key === "Escape") this.onBlur();
    else return;
    event.preventDefault(); // the page stays where it is
  },
});
