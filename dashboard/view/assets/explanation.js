// The explanation: its headline, the picture, the legend, and the track of sizes. While a size is only looked at, nothing is sent.

import { inflate, make, mountWith, setText } from "./base.js";
import { makeLegend, showLegend } from "./legend.js";
import { NetworkView, unrolled } from "./network.js";
import { setTerms } from "./terms.js";
import { Track } from "./track.js";

const PATIENCE = 5000; // milliseconds in which the answer to a size that was chosen may come

const STARTS = "9 other starts agree."; // about as much as is said of them later

const readSize = ([kept, keptNodes, alone, without, keeps, icon, word, headline, sentence]) =>
  ({ kept: new Set(kept), keptNodes: new Set(keptNodes), alone, without, keeps: Boolean(keeps), icon, word, headline, sentence });

class ExplanationView {
  constructor(root) {
    Object.assign(this, { root, rows: {} });
    root.classList.add("explanation");
    this.headline = make("h2", "headline");
    this.verdict = make("p", "verdict");
    this.badge = make("span", "badge");
    this.sentence = make("span", "sentence");
    this.starts = make("span", "starts");
    this.verdict.append(this.badge, " ", this.sentence, " ", this.starts);
    const picture = make("div", "picture");
    this.network = new NetworkView(picture);
    this.legend = makeLegend();
    this.track = new Track({ look: (size) => this.lookAt(size), choose: (size) => this.choose(size) });
    this.figures = make("p", "figures");
    this.said = make("div", "said");
    this.said.append(this.headline, this.verdict);
    root.append(this.said, picture, this.legend, this.track.element, this.figures);
    this.observer = new ResizeObserver(() => { this.reserve(); this.level(); });
    this.observer.observe(root);
  }

  update(data) {
    const { explained } = data;
    if (globalThis.graphViewHerald) globalThis.graphViewHerald.textContent = ""; // it spoke while there was nothing here
    this.root.classList.remove("waiting");
    this.data = data;
    this.sizes = explained.sizes.map(readSize);
    this.network.send = (id) => this.send(id);
    const shown = this.sizes[explained.chosen - 1], panel = data.panels[0];
    this.network.update({ ...data, panels: [{ ...panel, title: shown.headline, lines: [shown.sentence, ...panel.lines] }] });
    this.theme = this.network.theme;
    for (const name of ["weights", "labels"]) this.readRows(name, explained[name]);
    showLegend(this.legend, explained.legend);
    setTerms(this.figures, explained.figures.join(" · "));
    this.track.update({ ...explained, sizes: this.sizes }, this.theme);
    const late = this.awaited && explained.chosen !== this.awaited.size && performance.now() < this.awaited.until;
    if (late) return this.track.go(this.awaited.size); // an answer from before the choice
    this.awaited = null;
    this.say(explained.chosen);
    this.reserve();
  }

  // As much room above the picture as the longest words of any size need, so that nothing moves while one drags.
  reserve() {
    const width = this.root.clientWidth;
    if (!width || !this.sizes) return;
    const longest = (name) => this.sizes.reduce((most, { [name]: words }) => (words.length > most.length ? words : most), "");
    const { icon, word } = this.sizes[this.data.explained.chosen - 1], starts = this.data.explained.starts || STARTS;
    const wanted = JSON.stringify([width, longest("headline"), longest("sentence"), `${icon} ${word}`, starts]);
    if (wanted === this.reserved?.wanted) return;
    const twin = make("div", "said"), said = make("div", "verdict");
    said.append(make("span", "badge", `${icon} ${word}`), ` ${longest("sentence")} ${starts}`);
    twin.append(make("div", "headline", longest("headline")), said);
    this.root.prepend(twin);
    // at the same width it never shrinks: the next answer would move the picture
    const before = this.reserved?.width === width ? this.reserved.height : 0, height = Math.max(before, twin.offsetHeight);
    twin.remove();
    this.reserved = { wanted, width, height };
    this.said.style.minHeight = `${height}px`;
  }

  // The surroundings, where they stand beside the picture and not below it, begin at its height.
  level() {
    const other = globalThis.graphViews?.[this.data?.level_with];
    if (!other) return;
    const [own, its] = [this.network, other].map((view) => view.panelViews.values().next().value.stage.canvas.getBoundingClientRect());
    const lowered = parseFloat(other.root.style.marginTop) || 0, beside = its.left >= own.right;
    other.root.style.marginTop = `${beside ? Math.max(0, own.top - its.top + lowered) : 0}px`;
  }

  // One row a size, of the weights of edges or of the places of names; null where all sizes have the panel's own.
  async readRows(name, text) {
    if (this.rows[name]?.text === text) return;
    const rows = (this.rows[name] = { text, at: null }), count = this.sizes.length;
    if (text === null) return;
    const values = unrolled(await inflate(text), count), wide = values.length / count;
    rows.at = (size) => values.subarray((size - 1) * wide, size * wide);
  }

  // Another target is being explained: what stands here is of the one before.
  wait(token, words) {
    if (this.data.explained.token === token) return;
    this.awaited = null;
    this.root.classList.add("waiting");
    setText(this.headline, words);
    setText(this.sentence, "");
    setTerms(this.starts, "");
    this.badge.hidden = true;
  }

  lookAt(size) {
    const { kept, keptNodes } = this.sizes[size - 1], look = { kept, keptNodes };
    for (const [name, { at }] of Object.entries(this.rows)) if (at) look[name] = at(size);
    this.panel.preview(size === this.data.explained.chosen ? null : look);
    this.say(size);
  }

  say(size) {
    const { icon, word, headline, sentence } = this.sizes[size - 1], settled = size === this.data.explained.chosen;
    setText(this.headline, headline);
    setText(this.badge, `${icon} ${word}`);
    this.badge.hidden = false;
    setText(this.sentence, sentence);
    setTerms(this.starts, settled ? this.data.explained.starts : "");
    this.figures.classList.toggle("of-before", !settled); // they were measured at the size that is settled
    this.root.dataset.size = size;
  }

  choose(size) {
    const { explained } = this.data;
    if (size === "auto" ? explained.is_auto : size === explained.chosen) return;
    this.awaited = { size: size === "auto" ? explained.auto : size, until: performance.now() + PATIENCE };
    this.sendSize(size);
  }

  get panel() { return this.network.panelViews.values().next().value; }

  // For tests.
  get picture() { return this.network.picture; }
  get panels() { return this.network.panels; }
  get draws() { return this.network.draws; }
  camera() { return this.network.camera(); }

  destroy() {
    this.observer.disconnect();
    this.track.destroy();
    this.network.destroy();
  }
}

export default mountWith(ExplanationView);
