"""What a picture is made of: which shapes, in which order, and where their points lie, whatever the zoom. Decided here only.

The canvas and the SVG paint it. A shape belongs to a node or an edge, by number, and has no colour and no width yet:
those are style.py's, and follow the weights without a change here. A point lies at a node, or along and aside of an
edge. Distances are in units that grow with the root of the zoom, as nodes and lines do; some of them also in widths of
the edge they keep clear of.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dashboard.view.picture import Picture

GRAPH_LAYERS = ("edges", "heads", "truth", "nodes", "labels", "marks", "rings")
MOLECULE_LAYERS = ("bands", "truth", "bonds", "letters", "marks", "rings")
RADIUS, HALF = 6.0, 5.4  # a disc, and half a square that looks as large
LETTERS_RADIUS = 11.0  # the disc an atom's letters are in
RING_GAP = 3.5
CLEAR = 1.0  # between a node and what ends at it
TRUTH_GAP = 2.2  # between an edge and the dashes beside it
HEAD, HEAD_WIDTHS, SPREAD = 4.5, 1.4, 0.6  # an arrow head's length, and half its breadth as a share of that
APART = 3.6  # the two lines of a double bond
THIRD = 1.2 * APART  # how far the outer lines of a triple bond lie from its middle one
INNER, SHORTER = 1.15 * APART, 0.09  # in a ring the second line lies inside, so much of the length shorter at each end
LETTERS = 10  # room for an atom's letters


class EdgeLine(NamedTuple):
    """A line along an edge, as every painter takes it."""

    edge: int
    first: float = 0.0  # drawn in so much at its ends
    last: float = 0.0
    aside: float = 0.0  # to the right of the edge's own way
    widths: float = 0.0  # and so many widths of the edge farther
    shorter: float = 0.0  # at each end, as a share of the edge's length


class Corner(NamedTuple):
    """A corner of an arrow head: so far back from the end of its edge, and to its right."""

    back: float
    back_widths: float
    aside: float
    aside_widths: float


class Head(NamedTuple):
    corners: tuple[Corner, ...]
    room: float  # how long an edge must be to have a head
    room_widths: float


class Drawing(NamedTuple):
    layers: tuple[str, ...]  # what is painted first lies lowest
    lines: dict[str, tuple[EdgeLine, ...]]  # of a layer; where it is not here, every edge from end to end
    head: Head | None
    twins: tuple[int, ...]  # edges that another one leads back along
    twin_aside: float = 3.0  # so that both are seen
    inset: float = 0.3  # a line is drawn in by this share of the edge at most
    radius: float = RADIUS
    half: float = HALF
    reach: float = RADIUS  # where a node ends, for rings
    ring: float = RADIUS + RING_GAP
    loop: float = 9.6  # how high over its node an edge to itself is drawn
    letters_down: float = 1.0


def drawing_of(picture: Picture, *, bare: bool = False) -> Drawing:
    """On a `bare` ground letters have no halo: bands stop short of them, or they could not be read."""
    if not picture.bonds:
        beside = {"truth": _beside(picture, picture.truth, RADIUS + CLEAR)}
        if picture.directed:
            return Drawing(GRAPH_LAYERS, beside, _head(), _twins(picture))
        return Drawing(tuple(layer for layer in GRAPH_LAYERS if layer != "heads"), beside, None, ())
    drawn = [edge for edge, lines in enumerate(picture.bonds) if lines]
    lines = {"truth": _beside(picture, picture.truth, 0), "bonds": bond_lines(picture)}
    if bare or len(drawn) < len(picture.bonds):
        rooms = [_room_for_letters(picture, edge) if bare else (0, 0) for edge in drawn]
        lines["bands"] = tuple(EdgeLine(edge, *room) for edge, room in zip(drawn, rooms, strict=True))
    return Drawing(MOLECULE_LAYERS, lines, None, (), reach=LETTERS_RADIUS, ring=LETTERS_RADIUS + RING_GAP)


def _head() -> Head:
    tip, half, half_widths = RADIUS + CLEAR, round(HEAD * SPREAD, 3), round(HEAD_WIDTHS * SPREAD, 3)
    corners = (
        Corner(tip, 0, 0, 0),
        Corner(tip + HEAD, HEAD_WIDTHS, half, half_widths),
        Corner(tip + HEAD, HEAD_WIDTHS, -half, -half_widths),
    )
    return Head(corners, 2 * RADIUS + HEAD, HEAD_WIDTHS)


def _beside(picture: Picture, edges: Iterable[int], inset: float) -> tuple[EdgeLine, ...]:
    """On both sides of an edge: dashes frame its weight instead of covering it."""
    proper = [edge for edge in edges if picture.edges[edge][0] != picture.edges[edge][1]]
    return tuple(EdgeLine(edge, inset, inset, side * TRUTH_GAP, side / 2) for edge in proper for side in (1, -1))


def _twins(picture: Picture) -> tuple[int, ...]:
    known = set(picture.edges)
    return tuple(i for i, (start, end) in enumerate(picture.edges) if start != end and (end, start) in known)


# ---- molecules ----


def bond_lines(picture: Picture) -> tuple[EdgeLine, ...]:
    sides, out = _inner_sides(picture), []
    for edge, (lines, side) in enumerate(zip(picture.bonds, sides, strict=True)):
        first, last = _room_for_letters(picture, edge)
        asides = {1: (0.0,), 3: (-THIRD, 0.0, THIRD)}.get(lines, (-APART / 2, APART / 2) if not side else (0.0,))
        if lines:
            out += [EdgeLine(edge, first, last, aside) for aside in asides]
        if lines == 2 and side:
            out.append(EdgeLine(edge, first, last, side * INNER, shorter=SHORTER))
    return tuple(out)


def _room_for_letters(picture: Picture, edge: int) -> tuple[float, ...]:
    """How far a line is drawn in at both ends of a bond."""
    return tuple(LETTERS if picture.labels[end] else 0 for end in picture.edges[edge])


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


def without_hydrogen(picture: Picture) -> Picture:
    """The skeleton that chemists sketch: carbons are bare corners, and hydrogens go without saying."""
    bare = {"C", "H"} if "C" in picture.labels else set()
    labels = tuple("" if label in bare else label for label in picture.labels)
    ends = [{picture.labels[a], picture.labels[b]} for a, b in picture.edges]
    bonds = tuple(0 if bare and "H" in pair else lines for lines, pair in zip(picture.bonds, ends, strict=True))
    return replace(picture, labels=labels, bonds=bonds)
