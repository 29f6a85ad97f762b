"""SVG pictures of a graph from plain data: for export, for a gallery, and while a mask is being learnt. No st here.

Every mark carries its colour as an attribute, so that a lone file looks right in any program, and a class, so that a
page with the rules of `theme_rules` recolours the same picture for light and for dark ground.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import NamedTuple

from dashboard.view.picture import Panel, Picture
from dashboard.view.plain_text import shortened
from dashboard.view.svg_molecule import molecule_marks, without_hydrogen
from dashboard.view.svg_shapes import (
    DARK,
    EITHER,
    LIGHT,
    SANS,
    Pen,
    dot_marks,
    edge_marks,
    escaped,
    forming_edge_marks,
    node_marks,
    number,
    tag,
)

LARGE = 400  # edges from which a thumbnail is a texture rather than a drawing


class _View(NamedTuple):
    """The part of the plane that a sheet shows, and how many pixels a unit has."""

    left: float
    top: float
    width: float
    height: float
    scale: float


def svg(
    picture: Picture,
    panel: Panel,
    *,
    dark: bool = False,
    width: int = 640,
    height: int = 480,
    title: bool = True,
    labels: bool = True,
) -> str:
    """One panel as an SVG file; without the title, all panels of a picture have the same viewBox."""
    rows = _heading_rows(panel, width) if title else []
    view = _fitted(picture, width, height, sum(size for _, size in rows) * 1.35)
    pen = Pen(DARK if dark else LIGHT, _growth(picture, view), labels=labels)
    return _document(panel, pen, view, [*_heading(rows, view, pen), *_marks(picture, panel, pen)])


def frame(
    picture: Picture, weights: Sequence[float], *, dark: bool = False, width: int = 640, height: int = 480
) -> str:
    """A mask while it is being learnt: every edge by its weight, nothing kept or dropped yet, no tips."""
    edges, nodes = tuple(range(len(picture.edges))), tuple(range(len(picture.nodes)))
    panel = Panel("frame", "The mask so far", weights=tuple(weights), kept=edges, kept_nodes=nodes)
    view = _fitted(picture, width, height)
    pen = Pen(DARK if dark else LIGHT, _growth(picture, view), forming=True, tips=False, labels=False)
    if picture.bonds:
        return _document(panel, pen, view, molecule_marks(replace(picture, truth=()), panel, pen))
    return _document(panel, pen, view, [*forming_edge_marks(picture, panel, pen), *dot_marks(picture, panel, pen)])


def thumbnail(picture: Picture, panel: Panel | None = None, *, dark: bool | None = None, size: int = 120) -> str:
    """A picture for a gallery, on no ground of its own.

    With `dark` None it suits both grounds, but only inside a page: in an <img>, currentColor is black.
    """
    large = len(picture.edges) > LARGE
    grid = 2 * size if large else 4 * size  # whole numbers on a fine grid keep the file small
    view = _fitted(picture, grid, grid, margin=grid // 13, most=grid / size)
    least = 0.6 if picture.bonds else min(0.5, max(0.16, 3.5 / math.sqrt(len(picture.nodes) or 1)))
    theme = EITHER if dark is None else DARK if dark else LIGHT
    pen = Pen(theme, max(least * grid / size, view.scale), tips=False, labels=False)
    small = replace(
        without_hydrogen(picture) if picture.bonds else picture,
        x=tuple(round((x - view.left) * view.scale) for x in picture.x),
        y=tuple(round((y - view.top) * view.scale) for y in picture.y),
        truth=(),
    )
    panel = panel or Panel("graph", "")
    marks = (
        molecule_marks(small, panel, pen)
        if picture.bonds
        else [*edge_marks(small, panel, pen), *dot_marks(small, panel, pen)]
    )
    look = {"viewBox": f"0 0 {grid} {grid}", "width": size, "height": size, "font_family": "sans-serif"}
    return tag("svg", "".join(marks), xmlns="http://www.w3.org/2000/svg", **look)


def theme_rules(dark: bool) -> str:
    """CSS that recolours what `svg` made, whatever ground it was made for."""
    theme = DARK if dark else LIGHT
    return (
        f".gx-ground{{fill:{theme.ground}}}.gx-casing{{stroke:{theme.ground}}}"
        f".gx-text{{fill:{theme.text}}}.gx-line{{stroke:{theme.text}}}"
        f".gx-weight{{stroke:{theme.accent}}}.gx-head{{fill:{theme.accent}}}"
    )


# ---- the sheet ----


def _fitted(
    picture: Picture, width: int, height: int, heading: float = 0, margin: int = 30, most: float = 2.0
) -> _View:
    """The whole picture in the middle of the sheet, under a heading of so many pixels.

    Three nodes would fill the sheet as three footballs: a picture grows `most` times at most.
    """
    left, right = min(picture.x, default=0), max(picture.x, default=0)
    top, bottom = min(picture.y, default=0), max(picture.y, default=0)
    room, across = max(height - heading, height / 3), max(width - 2 * margin, width / 3)
    down = max(room - 2 * margin, room / 3)
    scale = min(across / max(right - left, 1), down / max(bottom - top, 1), most)
    x, y = (left + right - width / scale) / 2, (top + bottom + (room - 2 * height) / scale) / 2
    return _View(x, y, width / scale, height / scale, scale)


def _growth(picture: Picture, view: _View) -> float:
    """Marks grow and shrink less than distances, and the fewer the less: sixty nodes stay dots, a thousand stay apart."""
    least = min(0.85, 8 / math.sqrt(len(picture.nodes) or 1))
    return max(least, min(math.sqrt(view.scale), 1.5)) / view.scale


def _document(panel: Panel, pen: Pen, view: _View, marks: list[str]) -> str:
    place = {"x": view.left, "y": view.top, "width": view.width, "height": view.height}
    ground = tag("rect", cls="gx-ground", fill=pen.theme.ground, **place)
    return tag(
        "svg",
        "\n".join(("", ground, *marks, "")),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=" ".join(map(number, place.values())),
        width=round(view.width * view.scale),
        height=round(view.height * view.scale),
        role="img",
        aria_label=escaped(panel.title),
        font_family=SANS,
    )


def _heading_rows(panel: Panel, width: int) -> list[tuple[str, int]]:
    """Title and remarks as (text, pixels), wrapped by the usual width of a letter: SVG does not wrap text itself."""
    title = [(shortened(panel.title, max(8, int(width / 9.5))), 17)] if panel.title else []
    return title + [(row, 13) for line in panel.lines for row in wrap(line, max(12, int(width / 7)))]


def _heading(rows: list[tuple[str, int]], view: _View, pen: Pen) -> list[str]:
    out, down = [], 6.0
    for text, size in rows:
        down += size * 1.35
        place = {"x": view.left + 14 / view.scale, "y": view.top + down / view.scale, "font_size": size / view.scale}
        bold = "600" if size == 17 else None
        out.append(tag("text", escaped(text), cls="gx-text", fill=pen.theme.text, font_weight=bold, **place))
    return out


def _marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    if picture.bonds:
        return molecule_marks(picture, panel, pen)
    return [*edge_marks(picture, panel, pen), *node_marks(picture, panel, pen)]
