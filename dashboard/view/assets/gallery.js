// The gallery: small pictures to choose one from. Cards are plain buttons, so keys and screen readers need no help.

import { make, mountWith } from "./base.js";

// Shapes and text only: whatever could run, load or link is not in the list.
const DRAWN = new Set("svg g defs title desc path line polyline polygon circle ellipse rect text tspan marker clipPath linearGradient radialGradient stop".split(" "));

function readSvg(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") return null; // not well formed: the parser answers with an error page
  for (const element of [root, ...root.querySelectorAll("*")]) {
    if (!DRAWN.has(element.localName)) element.remove();
    for (const { name, value } of [...element.attributes])
      if (/^on/i.test(name) || /href$/i.test(name) || /url\(\s*["']?(?!#)|javascript:/i.test(value)) element.removeAttribute(name);
  }
  root.setAttribute("aria-hidden", "true"); // the title and the note beside it say what it is
  return document.importNode(root, true);
}

class GalleryView {
  constructor(root) {
    this.grid = make("div", "gallery");
    root.append(this.grid);
    this.draws = 0;
  }

  update(data) {
    const text = JSON.stringify(data.thumbnails);
    if (text !== this.text) {
      this.text = text;
      this.cards = data.thumbnails.map((thumbnail) => this.card(thumbnail));
      this.grid.replaceChildren(...this.cards);
      this.draws++;
    }
    for (const card of this.cards) card.setAttribute("aria-pressed", String(card.dataset.id === String(data.selected)));
  }

  card([id, title, note, svg]) {
    const card = make("button", "card");
    card.type = "button";
    card.dataset.id = id;
    const drawing = readSvg(svg);
    if (drawing) card.append(drawing);
    card.append(make("span", "title", title), make("span", "note", note));
    card.addEventListener("click", () => this.send(id));
    return card;
  }

  destroy() {}
}

export default mountWith(GalleryView);
