// The track of sizes: the probability over K_M as a slider, with a handle, by pointer and by keys.

import { make, makeButton, setText } from "./base.js";
import { setTerms } from "./terms.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 92, TOP = 24, BOTTOM = 70, SIDE = 14; // pixels; words stand above the highest a line can be
const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity };
const AFTER_KEYS = 300; // milliseconds without a key, then the size is chosen

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export class Track {
  // owner: look(size) while the handle moves, choose(size or "auto") when it is let go
  constructor(owner) {
    this.owner = owner;
    this.element = make("div", "track");
    this.slider = make("div", "sizes");
    this.slider.tabIndex = 0;
    this.slider.setAttribute("role", "slider");
    this.svg = draw("svg", { "aria-hidden": "true" });
    this.slider.append(this.svg);
    this.name = make("span", "name");
    setTerms(this.name, "size K_M");
    this.label = make("output", "size");
    this.auto = makeButton("auto", "auto", "Find the size: the smallest part that is nearly as good as any", () => this.chooseAuto());
    this.about = make("span", "about");
    const foot = make("div", "row");
    foot.append(this.name, this.label, this.auto, this.about);
    this.element.append(this.slider, foot);
    this.listen();
    this.observer = new ResizeObserver(() => this.paint());
    this.observer.observe(this.slider);
  }

  listen() {
    const { slider } = this;
    slider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      slider.setPointerCapture(event.pointerId);
      this.held = true;
      this.go(this.sizeAt(event));
    });
    slider.addEventListener("pointermove", (event) => { if (this.held) this.go(this.sizeAt(event)); });
    slider.addEventListener("pointerup", () => { if (this.held) this.letGo(); });
    slider.addEventListener("pointercancel", () => { this.held = false; this.go(this.data.chosen); });
    slider.addEventListener("dblclick", () => this.chooseAuto());
    slider.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.go(this.size + KEYS[event.key]);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.letGo(), AFTER_KEYS);
    });
  }

  update(data, theme) {
    Object.assign(this, { data, theme });
    this.slider.setAttribute("aria-label", `Size of the explanation, K_M, in ${data.unit}`);
    setTerms(this.about, `line: the probability of “${data.class_name}” from it alone (sufficiency); thin: without it (necessity)`);
    this.auto.setAttribute("aria-pressed", data.is_auto);
    this.slider.setAttribute("aria-valuemin", 1);
    this.slider.setAttribute("aria-valuemax", data.sizes.length);
    if (!this.held && !this.timer) this.size = data.chosen;
    this.size = Math.min(this.size, data.sizes.length);
    this.say();
    this.paint();
  }

  go(size) {
    const within = Math.min(this.data.sizes.length, Math.max(1, size));
    if (within === this.size) return;
    this.size = within;
    this.say();
    this.place();
    this.owner.look(within);
  }

  letGo() {
    clearTimeout(this.timer);
    Object.assign(this, { held: false, timer: null });
    this.owner.choose(this.size);
  }

  chooseAuto() {
    clearTimeout(this.timer);
    this.timer = null;
    this.go(this.data.auto);
    this.owner.choose("auto");
  }

  say() {
    const { unit, sizes } = this.data, { headline, sentence } = sizes[this.size - 1];
    const words = `${this.size} ${this.size === 1 ? unit.replace(/s$/, "") : unit}`;
    setText(this.label, words);
    this.slider.setAttribute("aria-valuenow", this.size);
    this.slider.setAttribute("aria-valuetext", `${words}: ${headline}. ${sentence}`);
  }

  x(size) {
    const last = this.data.sizes.length;
    return last === 1 ? this.width / 2 : SIDE + ((size - 1) / (last - 1)) * (this.width - 2 * SIDE);
  }
  y(share) { return BOTTOM - share * (BOTTOM - TOP); }
  sizeAt({ clientX }) {
    const { left } = this.slider.getBoundingClientRect(), last = this.data.sizes.length;
    return Math.round(1 + ((clientX - left - SIDE) / (this.width - 2 * SIDE)) * (last - 1));
  }

  paint() {
    this.width = this.slider.clientWidth;
    if (!this.width || !this.data) return;
    const { sizes, full, auto } = this.data, { width } = this, left = this.x(1), right = this.x(sizes.length);
    Object.entries({ width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` }).forEach(([name, value]) => this.svg.setAttribute(name, value));
    const line = (name) => sizes.map((size, i) => `${i ? "L" : "M"}${this.x(i + 1).toFixed(1)} ${this.y(size[name]).toFixed(1)}`).join("");
    const text = (words, x, y, anchor, kind) => Object.assign(draw("text", { x, y, "text-anchor": anchor, class: kind }), { textContent: words });
    this.handle = draw("circle", { class: "handle", r: 9 });
    this.stem = draw("line", { class: "stem", y2: BOTTOM });
    this.svg.replaceChildren(
      draw("path", { class: "area", d: `${line("alone")}L${right} ${BOTTOM}L${left} ${BOTTOM}Z` }),
      draw("line", { class: "ground", x1: left, x2: right, y1: BOTTOM, y2: BOTTOM }),
      draw("line", { class: "full", x1: left, x2: right, y1: this.y(full), y2: this.y(full) }),
      text(`╌ everything: ${percent(full)}`, right, 13, "end", "words"),
      draw("path", { class: "without", d: line("without") }),
      draw("path", { class: "alone", d: line("alone") }),
      draw("line", { class: "auto-mark", x1: this.x(auto), x2: this.x(auto), y1: BOTTOM, y2: BOTTOM + 6 }),
      text("auto", this.x(auto), BOTTOM + 20, "middle", "words"),
      ...(auto > 2 || sizes.length < 2 ? [text("1", left, BOTTOM + 20, "middle", "words")] : []),
      ...(auto < sizes.length - 2 ? [text(String(sizes.length), right, BOTTOM + 20, "middle", "words")] : []),
      this.stem,
      this.handle,
    );
    this.place();
  }

  place() {
    if (!this.handle) return;
    const x = this.x(this.size), y = this.y(this.data.sizes[this.size - 1].alone);
    Object.entries({ cx: x, cy: y }).forEach(([name, value]) => this.handle.setAttribute(name, value));
    Object.entries({ x1: x, x2: x, y1: y }).forEach(([name, value]) => this.stem.setAttribute(name, value));
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
  }
}
