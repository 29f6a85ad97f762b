// Paints a molecule as chemists do: bonds as one, two or three lines, atoms as letters. What the explanation keeps is
// marked by a band of the accent under the bonds, as with a text marker. Which lines a bond has, Python says.

import { mix } from "./base.js";
import { STYLE } from "./style.js";

export function paintMolecule(brush) {
  const { picture, grow } = brush, order = brush.byWeight();
  const bandOf = (bond) => STYLE.band[brush.role(bond)] && brush.styleBy(STYLE.band[brush.role(bond)], bond);
  for (const bond of order) if (bandOf(bond)) brush.strokeEdge(bond, bandOf(bond), STYLE.dots.band_gap);
  for (const bond of picture.truth) brush.paintTruth(bond, bandOf(bond)?.width ?? STYLE.truth.bare_bond * grow);
  for (const bond of order) paintBond(brush, bond);
  for (const [atom, letters] of picture.labels.entries()) if (letters) paintAtom(brush, atom, letters);
}

function paintBond(brush, bond) {
  const { context, picture, theme, grow } = brush, style = STYLE.bond;
  const { a, b, ax, ay, bx, by, ux, uy, length } = brush.segment(bond);
  const share = brush.isFaded(a) || brush.isFaded(b) ? style.faded : style.share;
  Object.assign(context, { strokeStyle: mix(theme[style.over], theme.ground, share), lineWidth: style.width * grow });
  for (const [, first, last, apart, shorter] of picture.bondLines[bond]) {
    const drawnIn = (inset) => Math.min(inset * grow, length * style.inset) + length * shorter, aside = apart * grow;
    const from = drawnIn(first), to = drawnIn(last);
    brush.line(ax + ux * from - uy * aside, ay + uy * from + ux * aside, bx - ux * to - uy * aside, by - uy * to + ux * aside);
  }
}

function paintAtom(brush, atom, letters) {
  const { picture, theme, px, py, grow } = brush, { size, least_px, weight, down, halo, faded } = STYLE.atom;
  const colour = brush.isFaded(atom) ? mix(picture.colours[atom], theme.ground, faded) : picture.colours[atom];
  const style = { size: Math.round(Math.max(least_px, size * grow)), weight, colour, halo: halo * grow };
  brush.text(letters, px[atom], py[atom] + down * grow, style);
}
