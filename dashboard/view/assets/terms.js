// Words with a definition: a text in which each can be pointed at, tapped or reached by keyboard, and says what it means.

import { make } from "./base.js";
import { DEFINITIONS } from "./definitions.js";

const escaped = (term) => term.replace(/[+]/g, "\\$&");
const TERMS = new RegExp(`(?<!\\p{L})(${Object.keys(DEFINITIONS).map(escaped).join("|")})(?!\\p{L})`, "u");

// Like setText: nothing is touched while the words stay the same.
export function setTerms(element, text) {
  if (element.words === text) return;
  element.words = text;
  // of a split by one group, every other piece is a term
  element.replaceChildren(...text.split(TERMS).map((piece, place) => (place % 2 ? termOf(piece) : piece)));
}

function termOf(name) {
  const [sentence, formula] = DEFINITIONS[name], term = make("button", "term", name);
  term.type = "button";
  term.setAttribute("aria-description", `${sentence} ${formula}`);
  const show = () => showAt(term, sentence, formula), hide = () => tipOf(term)?.remove();
  term.addEventListener("mouseenter", show);
  term.addEventListener("focus", show);
  term.addEventListener("click", show); // a tap
  term.addEventListener("mouseleave", hide);
  term.addEventListener("blur", hide);
  term.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  return term;
}

const tipOf = (term) => term.closest(".graph-view")?.querySelector(".definition");

function showAt(term, sentence, formula) {
  tipOf(term)?.remove();
  const view = term.closest(".graph-view"), tip = make("div", "definition");
  tip.setAttribute("role", "tooltip");
  tip.append(make("span", "", sentence), make("code", "", formula));
  view.append(tip);
  const frame = view.getBoundingClientRect(), at = term.getBoundingClientRect();
  const left = Math.max(0, Math.min(at.left - frame.left, frame.width - tip.offsetWidth));
  const over = at.top - tip.offsetHeight - 6;
  Object.assign(tip.style, { left: `${left}px`, top: `${(over > 0 ? over : at.bottom + 6) - frame.top}px` });
}
