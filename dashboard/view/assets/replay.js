// How the mask formed: a play button, a slider over the steps and the loss terms under it on the same axis, all in the browser.

import { make, makeButton, mix } from "./base.js";

const PLAY_MILLISECONDS = 4000;
const STILLS = 6, STILL_MILLISECONDS = 800; // for eyes that want no motion
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 7], [2, 7]]; // terms are told apart by them: colours are for classes
const LETTERS = 14, SAMPLE = 16; // pixels
const TOTAL = "total";
const THUMB = 15; // pixels, as in view.css: the middle of the thumb goes from half of it to half of it before the end

export class Replay {
  // show(frame, isLast) is called whenever another frame is to be drawn
  constructor(show) {
    this.show = show;
    this.element = make("div", "replay");
    this.button = makeButton("play", "", "Play how the mask formed", () => (this.playing ? this.stop() : this.play()));
    this.slider = Object.assign(make("input"), { type: "range", step: 1 });
    this.slider.setAttribute("aria-label", "Step of the optimisation");
    this.slider.addEventListener("input", () => { this.stop(); this.go(this.frameAt(Number(this.slider.value))); });
    this.slider.addEventListener("keydown", (event) => this.onKey(event));
    this.step = make("output", "step");
    this.chart = make("canvas", "curves");
    this.chart.setAttribute("role", "img");
    this.element.append(this.button, this.slider, this.step, this.chart);
    this.observer = new ResizeObserver(() => this.place());
    this.observer.observe(this.slider);
  }

  update({ frames, curves }, theme) {
    this.theme = theme;
    this.terms = withTotal(curves);
    this.chart.hidden = !this.terms.length;
    this.chart.setAttribute("aria-label", "Loss over the steps: " + this.terms.map(([name]) => name).join(", "));
    const signature = frames.steps.join() + frames.weights;
    if (signature === this.signature) return this.place();
    this.stop(); // new data while playing
    this.signature = signature;
    this.steps = frames.steps;
    this.last = this.steps.length - 1;
    Object.assign(this.slider, { min: this.steps[0], max: this.steps[this.last] });
    this.go(this.last);
  }

  // The frame nearest to a step: masks were kept of some steps only.
  frameAt(step) {
    let best = 0;
    this.steps.forEach((each, frame) => { if (Math.abs(each - step) < Math.abs(this.steps[best] - step)) best = frame; });
    return best;
  }

  // A key goes to the next frame, however many steps away it is.
  onKey(event) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.stop();
    this.go(Math.min(this.last, Math.max(0, this.frame + by)));
  }

  // Where a step lies in the chart, and the middle of the thumb above it.
  xOf(step) {
    const first = this.steps[0], share = (step - first) / (this.steps[this.last] - first || 1);
    return THUMB / 2 + share * (this.slider.clientWidth - THUMB);
  }

  go(frame) {
    this.frame = frame;
    this.slider.value = this.steps[frame];
    const words = `step ${this.steps[frame]} of ${this.steps[this.last]}`;
    this.step.value = words;
    this.slider.setAttribute("aria-valuetext", words);
    this.element.dataset.frame = frame;
    this.show(frame, frame === this.last);
    this.place();
  }

  place() {
    if (this.frame === undefined) return;
    this.slider.style.setProperty("--done", `${this.xOf(this.steps[this.frame])}px`);
    this.drawCurves();
  }

  play() {
    this.setPlaying(true);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begin = performance.now(), from = this.frame === this.last ? 0 : this.frame;
    const shown = calm ? STILLS : this.steps.length, time = calm ? STILLS * STILL_MILLISECONDS : PLAY_MILLISECONDS;
    const tick = () => {
      if (!this.playing) return;
      const part = Math.min(1, Math.floor(((performance.now() - begin) / time) * shown) / Math.max(1, shown - 1));
      const frame = Math.max(from, Math.round(part * this.last));
      if (frame !== this.frame) this.go(frame);
      if (frame === this.last) this.stop();
      else requestAnimationFrame(tick);
    };
    this.go(from);
    requestAnimationFrame(tick);
  }

  stop() {
    if (this.playing) this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playing = playing;
    this.button.classList.toggle("pause", playing);
    this.button.title = playing ? "Pause" : "Play how the mask formed";
    this.button.setAttribute("aria-label", this.button.title);
  }

  // One scale for all terms, since they are summed: the eye sees which of them matters.
  drawCurves() {
    const { clientWidth: width, clientHeight: height } = this.chart, ratio = globalThis.devicePixelRatio || 1;
    if (!width || !this.terms?.length || this.frame === undefined) return;
    Object.assign(this.chart, { width: width * ratio, height: height * ratio });
    const context = this.chart.getContext("2d");
    context.scale(ratio, ratio);
    const values = this.terms.flatMap(([, curve]) => curve), low = Math.min(0, ...values), high = Math.max(...values, low + 1e-9);
    const box = { left: this.xOf(this.steps[0]), right: this.xOf(this.steps[this.last]), top: 8, bottom: height - 8 };
    const x = (step) => this.xOf(Math.min(this.steps[this.last], Math.max(this.steps[0], step)));
    const y = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
    this.drawAxis(context, box, y(0));
    const ends = this.terms.map(([name, curve], place) => {
      const look = lookOf(name, place, this.theme);
      drawCurve(context, curve.map((value, before) => [x(before + 1), y(value)]), look);
      return { name, look, y: y(curve.at(-1)) };
    });
    drawNames(context, ends, box, height, this.theme);
  }

  drawAxis(context, { left, right, top, bottom }, zero) {
    const at = this.xOf(this.steps[this.frame]);
    for (const [colour, width, line] of [
      [this.theme.faint, 1, [left, zero, right, zero]],
      [this.theme.strong, 1.5, [at, top - 6, at, bottom + 6]],
    ]) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width });
      context.beginPath();
      context.moveTo(line[0], line[1]);
      context.lineTo(line[2], line[3]);
      context.stroke();
    }
  }

  destroy() {
    this.stop();
    this.observer.disconnect();
  }
}

// [name, values] of every term, and of their sum unless it was sent.
function withTotal(curves) {
  const terms = Object.entries(curves).filter(([, curve]) => curve.length);
  if (terms.length < 2 || curves[TOTAL]) return terms;
  return [...terms, [TOTAL, terms[0][1].map((_, step) => terms.reduce((sum, [, curve]) => sum + (curve[step] ?? 0), 0))]];
}

function lookOf(name, place, theme) {
  if (name === TOTAL) return { colour: theme.text, width: 2.4, dash: [] };
  return { colour: mix(theme.text, theme.ground, 0.72), width: 1.6, dash: DASHES[place % DASHES.length] };
}

function drawCurve(context, points, { colour, width, dash }) {
  Object.assign(context, { strokeStyle: colour, lineWidth: width, lineJoin: "round" });
  context.setLineDash(dash);
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
  context.setLineDash([]);
}

// Each name at the end of its line, with a bit of it; names that would overlap are moved apart.
function drawNames(context, ends, { right }, height, { text, font }) {
  const gap = Math.min(LETTERS + 2, (height - 2) / ends.length), from = right + 8;
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => { end.y = Math.max(end.y, i ? ends[i - 1].y + gap : gap / 2); });
  for (let i = ends.length - 1, most = height - gap / 2; i >= 0; i--, most -= gap) ends[i].y = Math.min(ends[i].y, most);
  context.textBaseline = "middle";
  for (const { name, look, y } of ends) {
    drawCurve(context, [[from, y], [from + SAMPLE, y]], look);
    context.fillStyle = text;
    context.font = `${name === TOTAL ? 700 : 400} ${LETTERS}px ${font}`;
    context.fillText(name, from + SAMPLE + 5, y);
  }
}
