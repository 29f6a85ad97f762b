// Draws a molecule as chemists do: bonds as one, two or three lines, atoms as letters. What the explanation keeps is
// marked by a band of the accent under the bonds, as with a text marker.

import { mix } from "./base.js";
import { visible } from "./paint.js";

export function paintMolecule(brush) {
  const { picture, look } = brush;
  const bonds = [...picture.bonds.keys()];
  if (look.weights) {
    bonds.sort((a, b) => look.weights[a] - look.weights[b]);
    for (const bond of bonds) paintBand(brush, bond);
  }
  for (const bond of picture.truth) brush.paintTruth(bond, bandStyle(brush, bond)?.width ?? 13 * brush.grow);
  for (const bond of bonds) paintBond(brush, bond);
  for (const [atom, letters] of picture.labels.entries()) if (letters) paintAtom(brush, atom, letters);
}

function bandStyle(brush, bond) {
  const { look, theme, grow } = brush;
  if (!look.weights || (!look.forming && !brush.isKept(bond))) return null;
  const weight = brush.weight(bond);
  // Opaque: where bands meet at an atom, transparent ones would show as blots.
  return { width: (look.forming ? 2 + 17 * weight : 9 + 10 * weight) * grow, colour: mix(theme.accent, theme.ground, (look.forming ? 0.05 : 0.25) + 0.3 * weight) };
}

function paintBand(brush, bond) {
  const style = bandStyle(brush, bond);
  if (!style) return;
  Object.assign(brush.context, { strokeStyle: style.colour, lineWidth: style.width });
  brush.dotted(bond, style.width * 0.6);
  brush.traceEdge(bond);
  brush.context.setLineDash([]);
}

function paintBond(brush, bond) {
  const { context, picture, theme, grow } = brush;
  const { a, b, ax, ay, bx, by, ux, uy, length } = brush.segment(bond);
  const inset = (atom) => (picture.labels[atom] ? Math.min(10 * grow, length * 0.3) : 0); // room for the letters
  const faded = brush.isFaded(a) || brush.isFaded(b);
  Object.assign(context, { strokeStyle: faded ? mix(theme.text, theme.ground, 0.55) : theme.strong, lineWidth: 1.8 * grow });
  const draw = (aside, trim = 0) => {
    const from = inset(a) + trim, to = inset(b) + trim;
    brush.line(ax + ux * from - uy * aside, ay + uy * from + ux * aside, bx - ux * to - uy * aside, by - uy * to + ux * aside);
  };
  const apart = 3.6 * grow, side = innerSide(brush, bond);
  if (picture.bonds[bond] === 1) return draw(0);
  if (picture.bonds[bond] === 3) return [-1.2 * apart, 0, 1.2 * apart].forEach((aside) => draw(aside));
  if (!side) return [-apart / 2, apart / 2].forEach((aside) => draw(aside));
  draw(0);
  draw(side * apart * 1.15, length * 0.09); // in a ring: the second line inside, a little shorter
}

// On which side of a bond most neighbours lie: 1, -1, or 0 where neither (the end of a chain).
function innerSide(brush, bond) {
  const { picture, px, py } = brush, { a, b, ux, uy } = brush.segment(bond);
  if (picture.neighbours[a].length < 2 || picture.neighbours[b].length < 2) return 0;
  let sum = 0;
  for (const [end, other] of [[a, b], [b, a]])
    for (const next of picture.neighbours[end])
      if (next !== other) sum += Math.sign((px[next] - px[end]) * -uy + (py[next] - py[end]) * ux);
  return Math.sign(sum);
}

function paintAtom(brush, atom, letters) {
  const { context, picture, theme, px, py, grow } = brush;
  Object.assign(context, { textAlign: "center", textBaseline: "middle" });
  brush.font(Math.round(Math.max(11, 15 * grow)), 600);
  const colour = visible(picture.colours[atom], theme, 0.3);
  brush.text(letters, px[atom], py[atom] + grow, brush.isFaded(atom) ? mix(colour, theme.ground, 0.55) : colour, 4 * grow);
}
