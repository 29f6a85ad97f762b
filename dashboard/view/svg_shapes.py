"""Marks that SVG pictures of graphs are made of: edges, nodes, labels, text made safe, and the colours of a ground."""

import html
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from dashboard.view.palette import QUIET, WEIGHTS
from dashboard.view.picture import SQUARE, Panel, Picture
from dashboard.view.plain_text import shortened


class Theme(NamedTuple):
    """Colours of one ground, as in .streamlit/config.toml."""

    ground: str
    text: str
    accent: str


LIGHT = Theme("#FCFCFB", "#1F2328", "#0072B2")
DARK = Theme("#14171A", "#E6E8EA", "#56B4E9")
EITHER = Theme("none", "currentColor", WEIGHTS)  # on a ground nobody told us

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
RADIUS = 6  # of a node, in the units of a Picture
LABELS_AT_MOST = 40  # with more, only those of the explanation are written; if even these are more, the target's alone


class Pen(NamedTuple):
    theme: Theme
    grow: float  # marks are so much wider than a Picture's units say
    forming: bool = False  # a mask not yet learnt: nothing is kept or dropped
    tips: bool = True
    labels: bool = True


# ---- edges and nodes ----


def edge_marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    """Faint edges in one path; kept ones as lines of their own, the heaviest on top."""
    kept, flips = kept_weights(panel), set() if panel.weights is None else set(panel.flips)
    out = outlines(picture, pen, {i: _width(kept[i], pen) if i in kept else 1.2 * pen.grow for i in picture.truth})
    faint = [i for i in range(len(picture.edges)) if i not in kept and i not in flips]
    opacity = "0.75" if panel.weights is None else "0.38"
    quiet = {"fill": "none", "stroke": QUIET}
    if d := _trails(picture, faint, pen.grow):
        out.append(tag("path", stroke_width=1.2 * pen.grow, stroke_opacity=opacity, **quiet, d=d))
    if d := _trails(picture, sorted(flips - set(kept)), pen.grow):
        dots = {"stroke_dasharray": f"0 {number(4.5 * pen.grow)}", "stroke_linecap": "round"}
        out.append(tag("path", stroke_width=2 * pen.grow, stroke_opacity="0.7", **quiet, **dots, d=d))
    reverse = {(end, start) for start, end in picture.edges} if picture.directed else set()
    for i in sorted(kept, key=lambda i: (kept[i], i)):
        out += _kept_edge(picture, i, kept[i], i in flips, picture.edges[i] in reverse, pen)
    return out


def forming_edge_marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    """One path for every twentieth of weight: a picture that lasts a blink needs no more, and must be made in one."""
    levels = defaultdict(list)
    for i, weight in kept_weights(panel).items():
        levels[round(20 * weight)].append(i)
    out = []
    for level, edges in sorted(levels.items()):
        weight = level / 20
        ends = [(picture.edges[i], edge_ends(picture, i)) for i in edges]
        lines = [_loop(x, y, pen.grow) if a == b else f"M{point(x, y)}L{point(u, v)}" for (a, b), (x, y, u, v) in ends]
        colour = {"cls": "gx-weight", "stroke": pen.theme.accent} if level else {"stroke": QUIET}
        look = {"stroke_width": (0.8 + 5.7 * weight) * pen.grow, "stroke_opacity": f"{0.3 + 0.7 * weight:.2f}"}
        out.append(tag("path", fill="none", **colour, **look, d="".join(lines)))
    return out


def _kept_edge(picture: Picture, i: int, weight: float, flips: bool, twin: bool, pen: Pen) -> list[str]:
    width = _width(weight, pen)
    opacity = f"{0.6 + 0.4 * weight:.2f}"
    look = {"cls": "gx-weight", "stroke": pen.theme.accent, "stroke_width": width, "stroke_opacity": opacity}
    if flips:
        look |= {"stroke_linecap": "round", "stroke_dasharray": f"0 {number(max(4 * pen.grow, 1.8 * width))}"}
    tip = f"<title>weight {weight:.2f}</title>" if pen.tips else ""
    start, end = picture.edges[i]
    if start == end:
        return [tag("path", tip, fill="none", d=_loop(picture.x[start], picture.y[start], pen.grow), **look)]
    ends, head = edge_ends(picture, i), []
    if picture.directed:
        ends, points = _arrow(ends, width, 3 * pen.grow if twin else 0, pen.grow)
        head = [tag("polygon", cls="gx-head", fill=pen.theme.accent, fill_opacity=opacity, points=points)]
    x1, y1, x2, y2 = ends
    return [tag("line", tip, x1=x1, y1=y1, x2=x2, y2=y2, **look), *head]


def _arrow(ends: tuple, width: float, aside: float, grow: float) -> tuple[tuple, str]:
    """Where a directed edge's line runs, and its head's corners; `aside` parts an edge from the one that leads back."""
    x1, y1, x2, y2 = ends
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    x1, x2, y1, y2 = x1 - uy * aside, x2 - uy * aside, y1 + ux * aside, y2 + ux * aside
    tip, half = min((RADIUS + 1) * grow, length / 3), width / 2 + 2.5 * grow
    back = min(tip + 1.8 * half, length * 0.8)  # the line ends where the head begins, or both would show through
    x, y = x2 - ux * back, y2 - uy * back
    corners = ((x2 - ux * tip, y2 - uy * tip), (x - uy * half, y + ux * half), (x + uy * half, y - ux * half))
    return (x1, y1, x, y), " ".join(f"{number(a)},{number(b)}" for a, b in corners)


def outlines(picture: Picture, pen: Pen, widths: dict[int, float]) -> list[str]:
    """Dashes on both sides of an edge: a dashed line hollowed out by one in the ground's colour; no weight is hidden."""
    dashes, out = f"{number(6 * pen.grow)} {number(4 * pen.grow)}", []
    for name, colour, extra, dash in (("line", pen.theme.text, 6, dashes), ("casing", pen.theme.ground, 3.5, None)):
        for i, width in widths.items():
            x1, y1, x2, y2 = edge_ends(picture, i)
            look = {"cls": f"gx-{name}", "stroke": colour, "stroke_dasharray": dash}
            out.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width + extra * pen.grow, **look))
    return out


def node_marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    """Discs and squares; those outside G_S recede together, on spots of ground so that no edge shows through them."""
    bold = bold_nodes(picture, panel)
    faded = [i for i in range(len(picture.nodes)) if i not in bold]
    rim, out = {"cls": "gx-casing", "stroke": pen.theme.ground}, []
    if faded:
        spots = "".join(f"M{point(picture.x[i], picture.y[i])}h0" for i in faded)
        out.append(tag("path", d=spots, stroke_width=2 * RADIUS * pen.grow, stroke_linecap="round", **rim))
    for group, opacity in ((faded, "0.35"), (sorted(bold), None)):
        discs = "".join(_node(picture, i, pen) for i in group)
        out += [tag("g", discs, opacity=opacity, stroke_width=1.5 * pen.grow, **rim)] if discs else []
    return [*out, *rings(picture, pen), *_names(picture, panel, bold, pen)]


def _node(picture: Picture, i: int, pen: Pen) -> str:
    x, y, r = picture.x[i], picture.y[i], RADIUS * pen.grow
    tip = f"<title>{escaped(picture.tips[i])}</title>" if pen.tips and picture.tips[i] else ""
    fill = colour_only(picture.colours[i])
    if picture.shapes and picture.shapes[i] == SQUARE:
        return tag("rect", tip, x=x - 0.9 * r, y=y - 0.9 * r, width=1.8 * r, height=1.8 * r, fill=fill)
    return tag("circle", tip, cx=x, cy=y, r=r, fill=fill)


def _names(picture: Picture, panel: Panel, bold: set[int], pen: Pen) -> list[str]:
    """Labels on top: the target's first, then the explanation's, then others, as long as none lie on one another."""
    matters = bold if panel.weights is not None else set(picture.targets)
    names = {i: shortened(label, 18) for i, label in enumerate(picture.labels) if label and pen.labels}
    for some in (matters, set(picture.targets)):
        if len(names) > LABELS_AT_MOST:
            names = {i: name for i, name in names.items() if i in some}
    taken, out = [], []
    for i in sorted(names, key=lambda i: (i not in picture.targets, i not in matters, i)):
        x, y = picture.x[i], picture.y[i] + (25 if i in picture.targets else 19) * pen.grow
        half = 3.6 * len(names[i]) * pen.grow
        if all(abs(x - u) > half + wide or abs(y - v) > 14 * pen.grow for u, v, wide in taken):
            taken.append((x, y, half))
            out.append(haloed_text(names[i], x, y, pen.theme.text, "gx-text gx-casing", pen))
    return [tag("g", "".join(out), **lettering(12, pen))] if out else []


def dot_marks(picture: Picture, panel: Panel, pen: Pen) -> list[str]:
    """Nodes too small for rims and tips: one path a colour, in which each node is a point under a thick pen."""
    bold, paths = bold_nodes(picture, panel), defaultdict(dict)
    for i, colour in enumerate(picture.colours):
        cap = "square" if picture.shapes and picture.shapes[i] == SQUARE else "round"
        # A key, not an entry of a list: where nodes fall on one another, one dot will do.
        paths[i in bold, cap, colour_only(colour)][f"M{point(picture.x[i], picture.y[i])}h0"] = True
    out = []
    for (stands, cap, colour), dots in sorted(paths.items()):
        look = {"stroke": colour, "stroke_width": 2 * RADIUS * pen.grow, "stroke_linecap": cap}
        out.append(tag("path", d="".join(dots), stroke_opacity=None if stands else "0.3", **look))
    return out + rings(picture, pen)


def rings(picture: Picture, pen: Pen) -> list[str]:
    """A ring in the text's colour on a wider one of ground, which sets it off from the edges it crosses."""
    r, out = ((11 if picture.bonds else RADIUS) + 3.5) * pen.grow, []
    for i in picture.targets:
        for name, colour, width in (("casing", pen.theme.ground, 5), ("line", pen.theme.text, 2.4)):
            look = {"cls": f"gx-{name}", "fill": "none", "stroke": colour, "stroke_width": width * pen.grow}
            out.append(tag("circle", cx=picture.x[i], cy=picture.y[i], r=r, **look))
    return out


# ---- small parts ----


def tag(name: str, inside: str = "", /, **attributes: str | float | None) -> str:
    """One element; numbers get one decimal at most, None is left out. Text from outside comes here escaped."""
    written = [
        f' {_NAMES.get(key, key)}="{value if type(value) is str else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return f"<{name}{''.join(written)}>{inside}</{name}>" if inside else f"<{name}{''.join(written)}/>"


_NAMES = {"cls": "class"} | {
    name: name.replace("_", "-")
    for name in (
        *("stroke_width", "stroke_opacity", "stroke_linecap", "stroke_linejoin", "stroke_dasharray", "paint_order"),
        *("fill_opacity", "font_size", "font_weight", "font_family", "text_anchor", "aria_label"),
    )
}


def lettering(size: float, pen: Pen) -> dict:
    """What all letters of a group have in common."""
    return {"font_size": size * pen.grow, "font_weight": "600", "text_anchor": "middle"}


def haloed_text(text: str, x: float, y: float, fill: str, name: str, pen: Pen) -> str:
    """Letters around a place, with a halo in the ground's colour where there is a ground."""
    if pen.theme is EITHER:
        return tag("text", escaped(text), x=x, y=y, fill=fill)
    halo = {"stroke": pen.theme.ground, "stroke_width": 3.5 * pen.grow, "stroke_linejoin": "round"}
    return tag("text", escaped(text), cls=name, x=x, y=y, fill=fill, paint_order="stroke", **halo)


def _width(weight: float, pen: Pen) -> float:
    """What is kept is seen at a glance, however little of the mask it holds."""
    return (2.6 + 3.9 * weight) * pen.grow


def kept_weights(panel: Panel) -> dict[int, float]:
    """Kept edges and their weights, from 0 to 1 whatever came in."""
    if panel.weights is None:
        return {}
    weights = {i: float(panel.weights[i]) for i in panel.kept}
    return {i: min(max(weight, 0.0), 1.0) if weight == weight else 0.0 for i, weight in weights.items()}


def bold_nodes(picture: Picture, panel: Panel) -> set[int]:
    return set(range(len(picture.nodes))) if panel.weights is None else {*panel.kept_nodes, *picture.targets}


def edge_ends(picture: Picture, i: int) -> tuple[float, float, float, float]:
    start, end = picture.edges[i]
    return picture.x[start], picture.y[start], picture.x[end], picture.y[end]


def _trails(picture: Picture, edges: Iterable[int], grow: float) -> str:
    """Edges as one path with few lifts of the pen: it goes on while an undrawn edge leads away from where it is."""
    at = [(round(10 * x), round(10 * y)) for x, y in zip(picture.x, picture.y, strict=True)]  # tenths: exact steps
    leads, drawn, out = defaultdict(list), set(), []
    for i in edges:
        start, end = picture.edges[i]
        if start == end:
            out.append(_loop(picture.x[start], picture.y[start], grow))
        else:
            leads[at[start]].append(at[end])
            leads[at[end]].append(at[start])
    for start in list(leads):
        while len(trail := _trail(start, leads, drawn)) > 1:
            steps = [point((x2 - x1) / 10, (y2 - y1) / 10) for (x1, y1), (x2, y2) in pairwise(trail)]
            out.append(f"M{point(start[0] / 10, start[1] / 10)}l{' '.join(steps).replace(' -', '-')}")
    return "".join(out)


def _trail(here: tuple, leads: dict, drawn: set) -> list[tuple]:
    trail = [here]
    while leads[here]:
        there = leads[here].pop()
        if there != here and (here, there) not in drawn:
            drawn |= {(here, there), (there, here)}
            trail.append(there)
            here = there
    return trail


def _loop(x: float, y: float, grow: float) -> str:
    r = number(7 * grow)
    return f"M{point(x, y)}a{r} {r} 0 1 1 0.1 0"


def point(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}".replace(" -", "-")


def number(value: float) -> str:
    text = f"{value:.1f}"
    return (text[:-2] if text.endswith(".0") else text) if text != "-0.0" else "0"


def colour_only(text: str) -> str:
    """A colour, and nothing else: what a browser reads in `fill` could also be a link."""
    return text if re.fullmatch("#[0-9A-Fa-f]{6}", text) else QUIET


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: object) -> str:
    """Text as letters in XML and HTML, inside and outside quotes; what XML cannot hold becomes a replacement mark."""
    return html.escape(_NOT_XML.sub("\ufffd", str(text)))
