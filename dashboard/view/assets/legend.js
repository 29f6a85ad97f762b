// The legend: what every mark in a picture means, as a list of [mark, words, colour].

import { make } from "./base.js";
import { setTerms } from "./terms.js";

export function makeLegend() {
  const legend = make("ul", "keys");
  legend.setAttribute("aria-label", "Legend");
  return legend;
}

export function showLegend(legend, entries) {
  const text = JSON.stringify(entries);
  if (text === legend.entries) return;
  legend.entries = text;
  legend.hidden = !entries.length;
  legend.replaceChildren(...entries.map(([mark, words, colour]) => {
    const item = make("li"), sign = make("i", `mark ${mark}`), said = make("span");
    if (colour) sign.style.background = colour;
    setTerms(said, words);
    item.append(sign, said);
    return item;
  }));
}
