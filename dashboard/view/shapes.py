"""Shapes with their style, as painters take them: lines, circles, squares, triangles and words, in pixels of a sheet."""

from typing import NamedTuple

from dashboard.view.style import Ink


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
    """Letters at a point, with a halo in the colour of the ground."""

    text: str
    x: float
    y: float
    size: float
    weight: int
    fill: Ink
    halo: float
    anchor: str = "middle"


Shape = Line | Circle | Square | Triangle | Words
