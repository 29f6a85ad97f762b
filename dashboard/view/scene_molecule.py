"""The shapes of a molecule: bonds as chemists draw them, on the bands of their weights, and atoms as letters."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from dashboard.view.picture import Picture
from dashboard.view.scene import Circle, Line, Scene, Shape, Stroke, Words, truth_lines
from dashboard.view.style import STYLE, Ink

APART = 3.6  # the two lines of a double bond
THIRD = 1.2 * APART  # how far the outer lines of a triple bond lie from its middle one
INNER, SHORTER = 1.15 * APART, 0.09  # in a ring the second line lies inside, so much of the length shorter at each end
LETTERS = 10  # room for an atom's letters


class BondLine(NamedTuple):
    """One line of a bond, for every painter: the canvas is sent these, too."""

    edge: int
    first: float  # drawn in so much at its ends, for letters
    last: float
    aside: float
    shorter: float  # share of the length


def bond_lines(picture: Picture) -> list[BondLine]:
    sides, out = _inner_sides(picture), []
    for edge, (lines, side) in enumerate(zip(picture.bonds, sides, strict=True)):
        first, last = (LETTERS if picture.labels[end] else 0 for end in picture.edges[edge])
        asides = {1: (0.0,), 3: (-THIRD, 0.0, THIRD)}.get(lines, (-APART / 2, APART / 2) if not side else (0.0,))
        if lines:
            out += [BondLine(edge, first, last, aside, 0) for aside in asides]
        if lines == 2 and side:
            out.append(BondLine(edge, first, last, side * INNER, SHORTER))
    return out


def _inner_sides(picture: Picture) -> list[int]:
    """On which side of each bond the molecule goes on: 1 or -1; 0 where neither, or where the bond ends a branch."""
    near = defaultdict(list)
    for start, end in picture.edges:
        near[start].append(end)
        near[end].append(start)
    out = []
    for start, end in picture.edges:
        x, y = picture.x[start], picture.y[start]
        dx, dy = picture.x[end] - x, picture.y[end] - y
        # Atoms at the end of a branch do not count: a ring's hydrogens would outweigh the ring.
        on = [n for n in near[start] + near[end] if n not in (start, end) and len(near[n]) > 1]
        lean = sum(dx * (picture.y[n] - y) - dy * (picture.x[n] - x) for n in on)
        ends_here = min(len(near[start]), len(near[end])) == 1
        out.append(0 if ends_here or abs(lean) < 1 else 1 if lean > 0 else -1)
    return out


def molecule_shapes(scene: Scene, *, bare: bool = False) -> Iterator[Shape]:
    """What the explanation keeps has a band of the accent under its bonds, as with a text marker.

    On a `bare` ground letters have no halo: bands stop short of them, or they could not be read.
    """
    order = scene.by_weight()
    for edge in order:
        if (stroke := _band(scene, edge)) is not None and scene.picture.bonds[edge]:
            yield _bare_band(scene, edge, stroke) if bare else scene.traced(edge, stroke, scene.tip(edge))
    for edge in scene.picture.truth:
        band = _band(scene, edge)
        yield from truth_lines(scene, edge, band.width if band else STYLE["truth"]["bare_bond"] * scene.grow)
    lines = defaultdict(list)
    for line in bond_lines(scene.picture):
        lines[line.edge].append(line)
    for edge in order:
        yield from (_bond_line(scene, line) for line in lines[edge])
    yield from (_letters(scene, atom) for atom, label in enumerate(scene.picture.labels) if label)
    reach = STYLE["atom"]["reach"] * scene.grow
    for x, y, tip in zip(scene.x, scene.y, scene.picture.tips, strict=True):
        if tip:  # a clear disc to point at: letters are small, and a carbon may have none
            yield Circle(x, y, reach, tip=tip)


def _band(scene: Scene, edge: int) -> Stroke | None:
    rule = STYLE["band"].get(scene.role(edge))
    return scene.stroke(edge, rule, STYLE["dots"]["band_gap"]) if rule else None


def _bare_band(scene: Scene, edge: int, stroke: Stroke) -> Line:
    at, room = scene.segment(edge), LETTERS * scene.grow
    ends = [min(room, at.length / 3) if scene.picture.labels[end] else 0 for end in scene.picture.edges[edge]]
    return Line(at.shifted(0, *ends), stroke if stroke.dash else stroke._replace(cap="butt"))


def _bond_line(scene: Scene, line: BondLine) -> Line:
    style, at = STYLE["bond"], scene.segment(line.edge)
    most, shorter = at.length * style["inset"], at.length * line.shorter
    first, last = (min(inset * scene.grow, most) + shorter for inset in (line.first, line.last))
    faded = not scene.standing.issuperset(scene.picture.edges[line.edge])
    stroke = Stroke(Ink(style["over"], style["faded"] if faded else style["share"]), style["width"] * scene.grow)
    return Line(at.shifted(line.aside * scene.grow, first, last), stroke)


def _letters(scene: Scene, i: int) -> Words:
    style = STYLE["atom"]
    size = round(max(style["least_px"] * scene.px, style["size"] * scene.grow))
    fill = Ink(scene.picture.colours[i], 1.0 if i in scene.standing else style["faded"])
    y = scene.y[i] + style["down"] * scene.grow
    return Words(scene.picture.labels[i], scene.x[i], y, size, style["weight"], fill, style["halo"] * scene.grow)


def without_hydrogen(picture: Picture) -> Picture:
    """The skeleton that chemists sketch: carbons are bare corners, and hydrogens go without saying."""
    bare = {"C", "H"} if "C" in picture.labels else set()
    labels = tuple("" if label in bare else label for label in picture.labels)
    ends = [{picture.labels[a], picture.labels[b]} for a, b in picture.edges]
    bonds = tuple(0 if bare and "H" in pair else lines for lines, pair in zip(picture.bonds, ends, strict=True))
    return replace(picture, labels=labels, bonds=bonds)
