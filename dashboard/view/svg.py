"""SVG pictures of a graph from plain data: for export, for a gallery, and while a mask is being optimised. No st here."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from dashboard.view.drawing import without_hydrogen
from dashboard.view.picture import Panel, Picture
from dashboard.view.plain_text import shortened
from dashboard.view.scene import Scene, View
from dashboard.view.shapes import Circle, Line, Shape, Square, Stroke
from dashboard.view.style import DARK, EITHER, LIGHT, SANS, STYLE, Theme
from dashboard.view.svg_shapes import elements, escaped, tag, theme_rules

__all__ = ["frame", "svg", "theme_rules", "thumbnail"]

LARGE = 400  # edges from which a thumbnail is a texture rather than a drawing
STEPS = 20  # of weight, in a picture that lasts a blink and must be made in one
ROUND = {"stroke_linecap": "round", "stroke_linejoin": "round"}


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
    """One panel as an SVG file, as the canvas shows it before anybody zooms."""
    theme, rows = DARK if dark else LIGHT, _heading_rows(panel, width) if title else []
    view = _fitted(picture, width, height, sum(size for _, size in rows) * 1.35)
    scene = Scene.on(picture, panel, view)
    return _document(panel, theme, view, [*_heading(rows, theme), *elements(scene.shapes(labels=labels), theme)])


def frame(
    picture: Picture, weights: Sequence[float], *, dark: bool = False, width: int = 640, height: int = 480
) -> str:
    """A mask while it is being optimised: every edge by its weight, nothing kept or dropped yet, no tips, no names."""
    theme, view = DARK if dark else LIGHT, _fitted(picture, width, height)
    rough = tuple(round(STEPS * weight) / STEPS for weight in weights)
    panel = Panel("frame", "The mask so far", weights=rough)
    scene = Scene.on(replace(picture, truth=()), panel, view, forming=True)
    return _document(panel, theme, view, elements(scene.shapes(labels=False), theme, tips=False))


def thumbnail(picture: Picture, panel: Panel | None = None, *, dark: bool | None = None, size: int = 120) -> str:
    """A picture for a gallery, on no ground of its own.

    With `dark` None it suits both grounds, but only inside a page: in an <img>, currentColor is black.
    """
    large = len(picture.edges) > LARGE
    grid = 2 * size if large else 4 * size  # whole numbers on a fine grid keep the file small
    view = _fitted(picture, grid, grid, margin=grid // 13, most=grid / size)
    least = 0.6 if picture.bonds else min(0.5, max(0.16, 3.5 / math.sqrt(len(picture.nodes) or 1)))
    theme = EITHER if dark is None else DARK if dark else LIGHT
    small = replace(
        without_hydrogen(picture) if picture.bonds else picture,
        x=tuple(round(x * view.scale + view.left) for x in picture.x),
        y=tuple(round(y * view.scale + view.top) for y in picture.y),
        truth=(),
    )
    grow = max(least * grid / size, view.scale)
    bare = View(1, 0, 0, grid, grid)
    scene = Scene(small, panel or Panel("graph", ""), bare, grow=grow, px=0, bare=theme is EITHER)
    shapes = scene.shapes(labels=False, tips=False)
    look = {"viewBox": f"0 0 {grid} {grid}", "width": size, "height": size, "font_family": "sans-serif"} | ROUND
    inside = "".join(elements(shapes if picture.bonds else _as_dots(shapes), theme, tips=False))
    return tag("svg", inside, xmlns="http://www.w3.org/2000/svg", **look)


def _as_dots(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """Nodes too small for rims: each is a line of no length under a thick stroke, and each place is painted once."""
    seen = set()
    for shape in shapes:
        if isinstance(shape, Circle | Square) and shape.fill is not None:
            half = shape.half if isinstance(shape, Square) else shape.radius
            cap = "square" if isinstance(shape, Square) else "round"
            dot = Line((shape.x, shape.y, shape.x, shape.y), Stroke(shape.fill, 2 * half, None, cap))
            if dot not in seen:
                yield dot
            seen.add(dot)
        else:
            yield shape


# ---- the sheet ----


def _fitted(
    picture: Picture,
    width: int,
    height: int,
    heading: float = 0,
    margin: float = STYLE["fit"]["margin"],
    most: float = STYLE["fit"]["largest"],
) -> View:
    """The whole picture in the middle of the sheet, under a heading of so many pixels.

    Three nodes would fill the sheet as three footballs: a picture grows `most` times at most.
    """
    left, right = min(picture.x, default=0), max(picture.x, default=0)
    top, bottom = min(picture.y, default=0), max(picture.y, default=0)
    room = max(height - heading, height / 3)
    across, down = (max(length - 2 * margin, length / 3) for length in (width, room))
    scale = min(across / max(right - left, 1e-6), down / max(bottom - top, 1e-6), most)
    x, y = width / 2 - scale * (left + right) / 2, height - room / 2 - scale * (top + bottom) / 2
    return View(scale, x, y, width, height, height - room)


def _document(panel: Panel, theme: Theme, view: View, inside: list[str]) -> str:
    sheet = {"width": view.width, "height": view.height}
    return tag(
        "svg",
        "\n".join(("", tag("rect", cls="gx-ground", fill=theme.ground, **sheet), *inside, "")),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {view.width} {view.height}",
        **sheet,
        role="img",
        aria_label=escaped(panel.title),
        font_family=SANS,
        **ROUND,
    )


def _heading_rows(panel: Panel, width: int) -> list[tuple[str, int]]:
    """Title and remarks as (text, pixels), wrapped by the usual width of a letter: SVG does not wrap text itself."""
    title = [(shortened(panel.title, max(8, int(width / 9.5))), 17)] if panel.title else []
    return title + [(row, 13) for line in panel.lines for row in wrap(line, max(12, int(width / 7)))]


def _heading(rows: list[tuple[str, int]], theme: Theme) -> list[str]:
    out, down = [], 6.0
    for text, size in rows:
        down += size * 1.35
        bold = "600" if size == 17 else None
        look = {"fill": theme.text, "font_weight": bold, "font_size": size}
        out.append(tag("text", escaped(text), cls="gx-text", x=14, y=down, **look))
    return out
