"""The shapes a picture is made of, in the order they are painted: lines, circles, squares, triangles and words.

Coordinates are pixels of a sheet. The numbers are those of style.py, so that a file looks like the canvas.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dashboard.view.picture import SQUARE, Panel, Picture
from dashboard.view.style import STYLE, Ink, growth, linear

GROUND, TEXT = Ink("ground"), Ink("text")
LEVELS = 255  # steps of a weight: as many as the canvas is sent


class Stroke(NamedTuple):
    ink: Ink
    width: float
    dash: tuple[float, float] | None = None
    cap: str = "round"


class Line(NamedTuple):
    ends: tuple[float, float, float, float]  # x and y of both
    stroke: Stroke
    tip: str = ""


class Circle(NamedTuple):
    """A disc, a ring, or a disc with a rim around it."""

    x: float
    y: float
    radius: float
    fill: Ink | None = None
    stroke: Stroke | None = None
    tip: str = ""


class Square(NamedTuple):
    x: float
    y: float
    half: float
    fill: Ink
    stroke: Stroke | None = None
    tip: str = ""


class Triangle(NamedTuple):
    corners: tuple[tuple[float, float], ...]
    fill: Ink


class Words(NamedTuple):
    """Letters around a point, with a halo in the colour of the ground."""

    text: str
    x: float
    y: float
    size: float
    weight: int
    fill: Ink
    halo: float


Shape = Line | Circle | Square | Triangle | Words


class View(NamedTuple):
    """Where a picture's units fall on a sheet of so many pixels."""

    scale: float
    left: float
    top: float
    width: float
    height: float
    above: float = 0  # where the part for the picture begins, under a heading


class Segment(NamedTuple):
    """An edge on the sheet: its ends, its direction and its full length."""

    ax: float
    ay: float
    bx: float
    by: float
    ux: float
    uy: float
    length: float

    def shifted(self, aside: float, first: float = 0, last: float = 0) -> tuple[float, float, float, float]:
        """Moved to its right, and drawn in at its ends."""
        x, y = -self.uy * aside, self.ux * aside
        return (
            self.ax + self.ux * first + x,
            self.ay + self.uy * first + y,
            self.bx - self.ux * last + x,
            self.by - self.uy * last + y,
        )


@dataclass(frozen=True)
class Scene:
    """One panel of a picture on a sheet."""

    picture: Picture
    panel: Panel
    view: View
    forming: bool = False  # a mask not yet optimised: nothing is kept or dropped
    grow: float = 1.0
    px: float = 1.0  # units of the sheet a pixel has; 0 where nothing has a least size

    @classmethod
    def on(cls, picture: Picture, panel: Panel, view: View, *, forming: bool = False) -> "Scene":
        return cls(picture, panel, view, forming, growth(view.scale))

    @cached_property
    def x(self) -> list[float]:
        return [x * self.view.scale + self.view.left for x in self.picture.x]

    @cached_property
    def y(self) -> list[float]:
        return [y * self.view.scale + self.view.top for y in self.picture.y]

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

    @cached_property
    def twins(self) -> frozenset[int]:
        return frozenset(twins(self.picture))

    @property
    def radius(self) -> float:
        return STYLE["node"]["radius"] * self.grow

    def role(self, edge: int) -> str:
        if self.weights is None:
            return "plain"
        return "forming" if self.forming else "kept" if edge in self.kept else "dropped"

    def weight(self, edge: int) -> float:
        return self.weights[edge] if self.weights is not None else 0.0

    def by_weight(self) -> list[int]:
        """Edges, the heaviest last: it is painted on top; what is kept lies over all that is not."""
        edges = range(len(self.picture.edges))
        return sorted(edges, key=lambda i: (self.role(i) == "kept", self.weight(i)))

    def stroke(self, edge: int, rule: dict, dot_gap: float) -> Stroke:
        weight = self.weight(edge)
        width = linear(rule["width"], weight) * min(self.grow, rule["growth"] if self.px else self.grow)
        gap = max(STYLE["dots"]["least_px"] * self.px, width * dot_gap)
        share = round(linear(rule["share"], weight), 2)
        return Stroke(Ink(rule["over"], share, rule["under"]), width, (0.01, gap) if edge in self.unstable else None)

    def edge_stroke(self, edge: int) -> Stroke:
        return self.stroke(edge, STYLE["edge"][self.role(edge)], STYLE["dots"]["gap"])

    def segment(self, edge: int, gap: float = 0) -> Segment:
        """Both ends of an edge, drawn in by `gap` from the nodes."""
        a, b = self.picture.edges[edge]
        dx, dy = self.x[b] - self.x[a], self.y[b] - self.y[a]
        length = math.hypot(dx, dy) or 1.0
        segment = Segment(self.x[a], self.y[a], self.x[b], self.y[b], dx / length, dy / length, length)
        inset = min(gap, length * STYLE["line"]["inset"])
        aside = STYLE["line"]["twin"] * self.grow if edge in self.twins else 0
        return segment._replace(
            **dict(zip(("ax", "ay", "bx", "by"), segment.shifted(aside, inset, inset), strict=True))
        )

    def traced(self, edge: int, stroke: Stroke, tip: str = "") -> Line | Circle:
        """The edge as a line, or a loop over a node that leads to itself."""
        a, b = self.picture.edges[edge]
        if a != b:
            return Line(self.segment(edge).shifted(0), stroke, tip)
        rise = STYLE["line"]["loop_rise"] * self.radius
        return Circle(self.x[a], self.y[a] - rise, self.radius, None, stroke, tip)

    def tip(self, edge: int) -> str:
        return f"weight {self.weight(edge):.2f}" if edge in self.kept and not self.forming else ""


def graph_shapes(scene: Scene) -> Iterator[Shape]:
    """Edges, known truth, then nodes: the faded ones below the others."""
    for edge in scene.by_weight():
        stroke = scene.edge_stroke(edge)
        yield scene.traced(edge, stroke, scene.tip(edge))
        if scene.picture.directed and scene.weight(edge) >= STYLE["edge"][scene.role(edge)]["arrow"]:
            yield from _arrow(scene, edge, stroke)
    for edge in scene.picture.truth:
        yield from truth_lines(scene, edge, scene.edge_stroke(edge).width)
    nodes = range(len(scene.picture.nodes))
    for standing in (False, True):
        yield from (node_shape(scene, i) for i in nodes if (i in scene.standing) == standing)


def _arrow(scene: Scene, edge: int, stroke: Stroke) -> Iterator[Triangle]:
    style = STYLE["arrow"]
    start, end = scene.picture.edges[edge]
    at = scene.segment(edge, scene.radius + style["gap"])
    size = style["size"] * scene.grow + style["by_width"] * stroke.width
    if start == end or at.length < 2 * scene.radius + size:
        return  # no room
    x, y, half = at.bx - at.ux * size, at.by - at.uy * size, size * style["spread"]
    corners = ((at.bx, at.by), (x - at.uy * half, y + at.ux * half), (x + at.uy * half, y - at.ux * half))
    yield Triangle(corners, stroke.ink)


def truth_lines(scene: Scene, edge: int, width: float) -> Iterator[Line]:
    """Dashes on both sides of an edge: they frame its weight instead of covering it."""
    style, (start, end) = STYLE["truth"], scene.picture.edges[edge]
    if start == end:
        return
    at = scene.segment(edge, 0 if scene.picture.bonds else scene.radius + style["gap"])
    on, off = (length * scene.grow for length in style["dash"])
    stroke = Stroke(Ink(style["over"], style["share"]), style["width"] * scene.grow, (on, off), "butt")
    aside = width / 2 + style["aside"] * scene.grow
    yield from (Line(at.shifted(side), stroke) for side in (aside, -aside))


def node_shape(scene: Scene, i: int) -> Circle | Square:
    """A disc or a square; a rim of ground sets it off from its edges."""
    style, picture = STYLE["node"], scene.picture
    fill = Ink(picture.colours[i], 1.0 if i in scene.standing else style["faded"])
    rim = Stroke(GROUND, style["rim"] * scene.grow)
    if picture.shapes and picture.shapes[i] == SQUARE:
        return Square(scene.x[i], scene.y[i], style["square"] * scene.radius, fill, rim, picture.tips[i])
    return Circle(scene.x[i], scene.y[i], scene.radius, fill, rim, picture.tips[i])


def rings(scene: Scene) -> Iterator[Circle]:
    """A ring in the text's colour on a wider one of ground, which sets it off from the edges it crosses."""
    style = STYLE["ring"]
    reach = STYLE["atom"]["reach"] * scene.grow if scene.picture.bonds else scene.radius
    for i in scene.picture.targets:
        for ink, width in ((GROUND, style["halo"]), (TEXT, style["width"])):
            stroke = Stroke(ink, width * scene.grow)
            yield Circle(scene.x[i], scene.y[i], reach + style["gap"] * scene.grow, None, stroke)


def twins(picture: Picture) -> list[int]:
    """Edges that another one leads back along: they lie side by side."""
    if not picture.directed:
        return []
    known = set(picture.edges)
    return [i for i, (start, end) in enumerate(picture.edges) if start != end and (end, start) in known]
