"""Marks that SVG pictures of molecules are made of: bonds with the bands of their weights, and atoms as letters."""

import math
from collections import defaultdict
from dataclasses import replace

from dashboard.view.picture import Panel, Picture
from dashboard.view.svg_shapes import (
    EITHER,
    Pen,
    bold_nodes,
    colour_only,
    edge_ends,
    escaped,
    haloed_text,
    kept_weights,
    lettering,
    number,
    outlines,
    point,
    rings,
    tag,
)

LETTER = 16  # of an atom, in the units of a Picture


def molecule_marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    """Bonds as chemists draw them. A kept bond has a band of the accent under it, so that its lines stay legible."""
    kept, flips = kept_weights(panel), set() if panel.weights is None else set(panel.flips)
    out = outlines(picture, pen, {i: _band_width(kept.get(i, 0.2), pen) for i in picture.truth})
    for i in sorted((i for i in kept if picture.bonds[i]), key=lambda i: (kept[i], i)):  # a bond left out has no band
        out += _band(picture, i, kept[i], i in flips, pen)
    sides = _inner_sides(picture)
    for chosen in (False, True):
        d = "".join(_bond(picture, i, sides[i], pen.grow) for i in range(len(sides)) if (i in kept) == chosen)
        look = {"stroke": pen.theme.text, "stroke_width": 1.8 * pen.grow, "stroke_linecap": "round"}
        opacity = None if chosen or panel.weights is None else "0.55"
        out += [tag("path", cls="gx-line", fill="none", stroke_opacity=opacity, d=d, **look)] if d else []
    bold = bold_nodes(picture, panel)
    atoms = [_atom(picture, i, i in bold, pen) for i in range(len(picture.nodes))]
    return [*out, tag("g", "".join(atoms), **lettering(LETTER, pen)), *rings(picture, pen)]


def _band(picture: Picture, i: int, weight: float, flips: bool, pen: Pen) -> list[str]:
    """A translucent line over one in the ground's colour: bands that meet must not add up to a weight neither has."""
    bare = pen.theme is EITHER  # no ground and no halo: the band stops short of letters, or they could not be read
    x1, y1, x2, y2 = _between_letters(picture, i, pen.grow) if bare else edge_ends(picture, i)
    width = _band_width(weight, pen)
    dots = f"0 {number(1.25 * width)}" if flips else None
    cap = "butt" if bare and not flips else "round"
    line = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke_width": width, "stroke_linecap": cap}
    tip = f"<title>weight {weight:.2f}</title>" if pen.tips else ""
    opacity = f"{(0.05 if pen.forming else 0.25) + 0.3 * weight:.2f}"
    under = [] if bare else [tag("line", cls="gx-casing", stroke=pen.theme.ground, stroke_dasharray=dots, **line)]
    look = {"stroke": pen.theme.accent, "stroke_opacity": opacity, "stroke_dasharray": dots}
    return [*under, tag("line", tip, cls="gx-weight", **look, **line)]


def _bond(picture: Picture, i: int, side: int, grow: float) -> str:
    """One, two or three parallel lines; in a ring the second of two lies inside, a little shorter."""
    x1, y1, x2, y2 = _between_letters(picture, i, grow)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    lines, gap, out = picture.bonds[i], 4.6 * grow, []
    for k in range(lines):
        inner = lines == 2 and side != 0
        aside = gap * (side * k if inner else k - (lines - 1) / 2)
        less = min(0.6 * gap * k, length / 6) if inner else 0
        first, last = (0 if picture.labels[n] else less for n in picture.edges[i])
        start = point(x1 - uy * aside + ux * first, y1 + ux * aside + uy * first)
        end = point(x2 - uy * aside - ux * last, y2 + ux * aside - uy * last)
        out.append(f"M{start}L{end}")
    return "".join(out)


def _inner_sides(picture: Picture) -> list[int]:
    """On which side of each bond the molecule goes on: 1 or -1; 0 where neither, or where the bond ends a branch."""
    near = defaultdict(list)
    for start, end in picture.edges:
        near[start].append(end)
        near[end].append(start)
    out = []
    for i, (start, end) in enumerate(picture.edges):
        x1, y1, x2, y2 = edge_ends(picture, i)
        # Atoms at the end of a branch do not count: a ring's hydrogens would outweigh the ring.
        on = [n for n in near[start] + near[end] if n not in (start, end) and len(near[n]) > 1]
        lean = sum((x2 - x1) * (picture.y[n] - y1) - (y2 - y1) * (picture.x[n] - x1) for n in on)
        ends_here = min(len(near[start]), len(near[end])) == 1
        out.append(0 if ends_here or abs(lean) < 1 else 1 if lean > 0 else -1)
    return out


def _between_letters(picture: Picture, i: int, grow: float) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = edge_ends(picture, i)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    letters = [len(picture.labels[n]) for n in picture.edges[i]]
    first, last = (min(1 / 3, (6 + 3.5 * n) * grow / length) if n else 0 for n in letters)
    return x1 + (x2 - x1) * first, y1 + (y2 - y1) * first, x2 - (x2 - x1) * last, y2 - (y2 - y1) * last


def _atom(picture: Picture, i: int, bold: bool, pen: Pen) -> str:
    x, y, label, mark = picture.x[i], picture.y[i], picture.labels[i], ""
    if label:
        middle = y + 0.36 * LETTER * pen.grow
        mark = haloed_text(label, x, middle, colour_only(picture.colours[i]), "gx-casing", pen)
    if pen.tips and picture.tips[i]:  # a clear disc to point at: letters are small, and a carbon may have none
        mark = tag("circle", cx=x, cy=y, r=11 * pen.grow, fill_opacity="0") + mark
        mark = f"<title>{escaped(picture.tips[i])}</title>{mark}"
    return tag("g", mark, opacity=None if bold else "0.55") if mark else ""


def without_hydrogen(picture: Picture) -> Picture:
    """The skeleton that chemists sketch: carbons are bare corners, and hydrogens go without saying."""
    bare = {"C", "H"} if "C" in picture.labels else set()
    labels = tuple("" if label in bare else label for label in picture.labels)
    ends = [{picture.labels[a], picture.labels[b]} for a, b in picture.edges]
    bonds = tuple(0 if bare and "H" in pair else lines for lines, pair in zip(picture.bonds, ends, strict=True))
    return replace(picture, labels=labels, bonds=bonds)


def _band_width(weight: float, pen: Pen) -> float:
    return (2 + 17 * weight if pen.forming else 9 + 10 * weight) * pen.grow
