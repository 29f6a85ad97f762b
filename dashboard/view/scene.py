"""A drawing on a sheet of paper: its shapes with their style, in pixels and in the order they are painted."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dashboard.view.drawing import Drawing, EdgeLine, drawing_of
from dashboard.view.labels import PLACES, importance, label_text, label_zooms, place_labels
from dashboard.view.picture import SQUARE, Panel, Picture
from dashboard.view.shapes import Circle, Line, Shape, Square, Stroke, Triangle, Words
from dashboard.view.style import STYLE, Ink, growth, label_size, linear, rounded

GROUND = Ink("ground")
CROSS, PLUS = ((-1, -1, 1, 1), (-1, 1, 1, -1)), ((-1, 0, 1, 0), (0, -1, 0, 1))  # from and to, in arms
LEVELS = 255  # steps of a weight: as many as the canvas is sent


class View(NamedTuple):
    """Where a picture's units fall on a sheet of so many pixels."""

    scale: float
    left: float
    top: float
    width: float
    height: float
    above: float = 0  # where the part for the picture begins, under a heading


class Frame(NamedTuple):
    """An edge on the sheet: its ends, its direction and its length."""

    ax: float
    ay: float
    bx: float
    by: float
    ux: float
    uy: float
    length: float

    def from_end(self, back: float, aside: float) -> tuple[float, float]:
        return self.bx - self.ux * back - self.uy * aside, self.by - self.uy * back + self.ux * aside


@dataclass(frozen=True)
class Scene:
    """One panel of a picture on a sheet."""

    picture: Picture
    panel: Panel
    view: View
    forming: bool = False  # a mask not yet optimised: nothing is kept or dropped
    grow: float = 1.0
    px: float = 1.0  # units of the sheet a pixel has; 0 where nothing has a least size
    bare: bool = False  # on a ground nobody knows

    @classmethod
    def on(cls, picture: Picture, panel: Panel, view: View, *, forming: bool = False) -> "Scene":
        return cls(picture, panel, view, forming, growth(view.scale))

    def shapes(self, *, labels: bool = True, tips: bool = True) -> Iterator[Shape]:
        for layer in self.drawing.layers:
            if labels or layer != "labels":
                yield from getattr(self, f"_{layer}")()
        if tips and self.picture.bonds:  # clear discs to point at: letters are small, and a carbon may have none
            reach = self.drawing.reach * self.grow
            yield from (Circle(*self.at(i), reach, tip=tip) for i, tip in enumerate(self.picture.tips) if tip)

    # ---- where: the drawing in pixels ----

    @cached_property
    def drawing(self) -> Drawing:
        return drawing_of(self.picture, bare=self.bare)

    @cached_property
    def twins(self) -> frozenset[int]:
        return frozenset(self.drawing.twins)

    def at(self, node: int) -> tuple[float, float]:
        view = self.view
        return self.picture.x[node] * view.scale + view.left, self.picture.y[node] * view.scale + view.top

    def frame(self, edge: int) -> Frame:
        start, end = self.picture.edges[edge]
        (ax, ay), (bx, by) = self.at(start), self.at(end)
        length = math.hypot(bx - ax, by - ay) or 1.0
        ux, uy = (bx - ax) / length, (by - ay) / length
        aside = self.drawing.twin_aside * self.grow if edge in self.twins else 0.0
        return Frame(ax - uy * aside, ay + ux * aside, bx - uy * aside, by + ux * aside, ux, uy, length)

    def ends(self, line: EdgeLine, width: float = 0.0) -> tuple[float, float, float, float]:
        at = self.frame(line.edge)
        most, shorter = at.length * self.drawing.inset, at.length * line.shorter
        first, last = (min(inset * self.grow, most) + shorter for inset in (line.first, line.last))
        aside = line.aside * self.grow + line.widths * width
        return at.ax + at.ux * first - at.uy * aside, at.ay + at.uy * first + at.ux * aside, *at.from_end(last, aside)

    # ---- how: style by weight and role ----

    @cached_property
    def weights(self) -> list[float] | None:
        """From 0 to 1 whatever came in."""
        if self.panel.weights is None:
            return None
        return [
            round(LEVELS * min(max(w, 0.0), 1.0)) / LEVELS if w == w else 0.0 for w in map(float, self.panel.weights)
        ]

    @cached_property
    def kept(self) -> frozenset[int]:
        return frozenset(self.panel.kept) if self.weights is not None else frozenset()

    @cached_property
    def unstable(self) -> frozenset[int]:
        return frozenset(self.panel.unstable) if self.weights is not None and not self.forming else frozenset()

    @cached_property
    def standing(self) -> frozenset[int]:
        """Nodes that are not faded."""
        if self.weights is None or self.forming:
            return frozenset(range(len(self.picture.nodes)))
        return frozenset((*self.panel.kept_nodes, *self.picture.targets))

    def role(self, edge: int) -> str:
        if edge in self.panel.cut:
            return "cut"
        if edge in self.panel.added and edge not in self.kept:
            return "added"
        if self.weights is None:
            return "plain"
        return "forming" if self.forming else "kept" if edge in self.kept else "dropped"

    def weight(self, edge: int) -> float:
        return self.weights[edge] if self.weights is not None else 0.0

    def stroke(self, edge: int, kind: str) -> Stroke | None:
        """Of an edge or of the band under a bond; None where a bond has no band."""
        rule, weight = STYLE[kind].get(self.role(edge)), self.weight(edge)
        if rule is None:
            return None
        width = self.width(rule, weight)
        gap = max(STYLE["dots"]["least_px"] * self.px, width * STYLE["dots"][kind])
        share = round(linear(rule["share"], weight), 2)
        return Stroke(Ink(rule["over"], share, rule["under"]), width, (0.01, gap) if edge in self.unstable else None)

    def width(self, rule: dict, weight: float) -> float:
        return linear(rule["width"], weight) * min(self.grow, rule["growth"] if self.px else self.grow)

    def tip(self, edge: int) -> str:
        return f"weight {self.weight(edge):.2f}" if edge in self.kept and not self.forming else ""

    @cached_property
    def order(self) -> list[int]:
        """Edges, the heaviest last: it is painted on top; what is kept lies over all that is not."""
        edges = range(len(self.picture.edges))
        return sorted(edges, key=lambda i: (self.role(i) == "kept", self.weight(i)))

    # ---- layers ----

    def _edges(self) -> Iterator[Shape]:
        return self._along("edges", "edge")

    def _bands(self) -> Iterator[Shape]:
        """What the explanation keeps has a band of the accent under its bonds, as with a text marker."""
        return self._along("bands", "band")

    def _along(self, layer: str, kind: str) -> Iterator[Shape]:
        """Every edge once, in the order of weights; a loop over a node that leads to itself."""
        drawing, edges = self.drawing, self.picture.edges
        lines = drawing.lines.get(layer)
        by_edge = {line.edge: line for line in lines} if lines is not None else None
        for edge in self.order:
            line = EdgeLine(edge) if by_edge is None else by_edge.get(edge)
            stroke = self.stroke(edge, kind)
            if line is None or stroke is None:
                continue
            if self.bare and kind == "band" and not stroke.dash:
                stroke = stroke._replace(cap="butt")
            (x, y), (start, end) = self.at(edges[edge][0]), edges[edge]
            if start == end:
                yield Circle(x, y - drawing.loop * self.grow, drawing.radius * self.grow, None, stroke, self.tip(edge))
            else:
                yield Line(self.ends(line), stroke, self.tip(edge))

    def _heads(self) -> Iterator[Triangle]:
        head = self.drawing.head
        if head is None:
            return
        for edge in self.order:
            start, end = self.picture.edges[edge]
            stroke, at = self.stroke(edge, "edge"), self.frame(edge)
            if stroke is None or start == end or self.weight(edge) < STYLE["edge"][self.role(edge)]["arrow"]:
                continue
            grow, width = self.grow, stroke.width
            if at.length >= head.room * grow + head.room_widths * width:
                distances = (
                    (c.back * grow + c.back_widths * width, c.aside * grow + c.aside_widths * width)
                    for c in head.corners
                )
                yield Triangle(tuple(at.from_end(*distance) for distance in distances), stroke.ink)

    def _truth(self) -> Iterator[Line]:
        style, kind = STYLE["truth"], "band" if self.picture.bonds else "edge"
        on, off = (length * self.grow for length in style["dash"])
        stroke = Stroke(Ink(style["over"], style["share"]), style["width"] * self.grow, (on, off), "butt")
        for line in self.drawing.lines["truth"]:
            beside = self.stroke(line.edge, kind)
            width = beside.width if beside else self.width(STYLE["bare_bond"], 0)
            yield Line(self.ends(line, width), stroke)

    def _bonds(self) -> Iterator[Line]:
        style, place = STYLE["bond"], {edge: i for i, edge in enumerate(self.order)}
        for line in sorted(self.drawing.lines["bonds"], key=lambda line: place[line.edge]):
            faded = not self.standing.issuperset(self.picture.edges[line.edge])
            share = "cut" if line.edge in self.panel.cut else "faded" if faded else "share"
            ink = Ink(style["over"], style[share])
            yield Line(self.ends(line), Stroke(ink, style["width"] * self.grow))

    def _nodes(self) -> Iterator[Circle | Square]:
        """Discs and squares, the faded ones below the others; a rim of ground sets them off from their edges."""
        picture, drawing, faded = self.picture, self.drawing, STYLE["node"]["faded"]
        rim = Stroke(GROUND, STYLE["node"]["rim"] * self.grow)
        for i in sorted(range(len(picture.nodes)), key=self.standing.__contains__):
            fill = Ink(picture.colours[i], 1.0 if i in self.standing else faded)
            if picture.shapes and picture.shapes[i] == SQUARE:
                yield Square(*self.at(i), drawing.half * self.grow, fill, rim, picture.tips[i])
            else:
                yield Circle(*self.at(i), drawing.radius * self.grow, fill, rim, picture.tips[i])

    def _letters(self) -> Iterator[Words]:
        style, picture = STYLE["atom"], self.picture
        size = rounded(max(style["least_px"] * self.px, style["size"] * self.grow))
        for i, letters in enumerate(picture.labels):
            if letters:
                share, (x, y) = 1.0 if i in self.standing else style["faded"], self.at(i)
                fill = Ink(picture.colours[i], share, toned=True)
                down = self.drawing.letters_down * self.grow
                yield Words(letters, x, y + down, size, style["weight"], fill, style["halo"] * self.grow)

    def _labels(self) -> Iterator[Words]:
        style, picture, rank = STYLE["label"], self.picture, importance(self.picture, self.panel)
        size = label_size(self.grow)
        zooms = label_zooms(picture)
        for node, zoom, place in place_labels(picture, self.panel):
            if self.view.scale >= zooms[zoom]:
                (x, y), (right, down, heights, anchor) = self.at(node), PLACES[place]
                x, y = x + right * self.grow, y + down * self.grow + heights * size
                share = 1.0 if rank[node] else style["share"] if node in self.standing else style["faded"]
                text, weight, ink = label_text(picture.labels[node]), style["weights"][rank[node]], Ink("text", share)
                yield Words(text, x, y, size, weight, ink, style["halo_px"], anchor)

    def _marks(self) -> Iterator[Shape]:
        """In the middle of an edge: a cross where it was cut, a plus where it was added, a dot where it is shared."""
        style, panel = STYLE["mark"], self.panel
        arm, dot = style["reach"] * self.grow, style["dot"] * self.grow
        for name, width in style["lines"]:
            stroke = Stroke(Ink(name), width * self.grow)
            for edges, strokes in ((panel.cut, CROSS), (panel.added, PLUS)):
                for x, y in map(self._middle, edges):
                    for x1, y1, x2, y2 in strokes:
                        yield Line((x + x1 * arm, y + y1 * arm, x + x2 * arm, y + y2 * arm), stroke)
            wider = 0.3 * width * self.grow if name == "ground" else 0
            yield from (Circle(*self._middle(edge), dot + wider, Ink(name)) for edge in panel.shared)

    def _middle(self, edge: int) -> tuple[float, float]:
        at = self.frame(edge)
        return (at.ax + at.bx) / 2, (at.ay + at.by) / 2

    def _rings(self) -> Iterator[Circle]:
        """A ring in the text's colour on a wider one of ground, which sets it off from the edges it crosses."""
        for i in self.picture.targets:
            for name, width in STYLE["ring"]:
                stroke = Stroke(Ink(name), width * self.grow)
                yield Circle(*self.at(i), self.drawing.ring * self.grow, None, stroke)
