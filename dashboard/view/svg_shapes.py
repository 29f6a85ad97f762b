"""Shapes as SVG elements: painted as a scene says, neighbours of one style together, so that files stay small.

Every element carries its colour as an attribute, so that a lone file looks right in any program, and a class, so that a
page with the rules of `theme_rules` recolours the same picture for light and for dark ground.
"""

import html
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

from dashboard.view.plain_text import for_xml
from dashboard.view.shapes import Circle, Line, Shape, Square, Stroke, Triangle, Words
from dashboard.view.style import DARK, EITHER, LIGHT, STYLE, Ink, Theme, colour, colour_only, rounded

CLASSES = {
    ("ground", "fill"): "gx-ground",
    ("ground", "stroke"): "gx-casing",
    ("text", "fill"): "gx-text",
    ("text", "stroke"): "gx-line",
    ("accent", "fill"): "gx-head",
    ("accent", "stroke"): "gx-weight",
}


def elements(shapes: Iterable[Shape], theme: Theme, *, tips: bool = True) -> list[str]:
    """The shapes in order; runs of lines with one style become one path, nodes of one colour a group."""
    out = []
    for style, run in groupby(shapes, key=lambda shape: _style_of(shape, tips)):
        some = list(run)
        lines, words = (
            [each for each in some if isinstance(each, Line)],
            [each for each in some if isinstance(each, Words)],
        )
        nodes = [each for each in some if isinstance(each, Circle | Square)]
        if style is None:
            out += [_single(shape, theme, tips) for shape in some]
        elif lines:
            out.append(tag("path", fill="none", **stroke_look(lines[0].stroke, theme), d=_paths(lines)))
        elif words:
            out.append(tag("g", "".join(map(_words, words)), **_words_look(words[0], theme)))
        else:
            out.append(tag("g", "".join(_node(node, tips) for node in nodes), **_node_look(nodes[0], theme)))
    return [each for each in out if each]


def _style_of(shape: Shape, tips: bool) -> tuple | None:
    """What neighbours must share to be written together; None for those that stand alone."""
    if isinstance(shape, Line):
        return None if shape.tip and tips else ("line", *shape.stroke)
    if isinstance(shape, Circle | Square) and shape.fill is not None:
        return ("node", shape.fill, shape.stroke)
    if isinstance(shape, Words):
        return ("words", shape.size, shape.weight, shape.fill, shape.halo, shape.anchor)
    return None


def _single(shape: Shape, theme: Theme, tips: bool) -> str:
    match shape:
        case Line(ends, stroke, tip):
            x1, y1, x2, y2 = ends
            return tag("line", _title(tip), x1=x1, y1=y1, x2=x2, y2=y2, **stroke_look(stroke, theme))
        case Circle(x, y, radius, _, None, tip):
            return tag("circle", _title(tip), cx=x, cy=y, r=radius, fill_opacity="0") if tips else ""
        case Circle(x, y, radius, _, stroke, tip) if stroke is not None:
            title = _title(tip) if tips else ""
            return tag("circle", title, cx=x, cy=y, r=radius, fill="none", **stroke_look(stroke, theme))
        case Triangle(corners, fill):
            points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
            return tag("polygon", points=points, **paint(fill, "fill", theme))
    raise TypeError(f"a shape must be one of shapes.py's (got {shape!r})")


def _words(words: Words) -> str:
    under = rounded(words.y + STYLE["baseline"] * words.size)  # where letters stand: crisp on whole pixels
    return tag("text", escaped(words.text), x=words.x, y=under)


def _words_look(words: Words, theme: Theme) -> dict:
    look = paint(words.fill, "fill", theme)
    if theme is not EITHER:
        halo = {"stroke": theme.ground, "stroke_width": size(words.halo), "paint_order": "stroke"}
        look |= halo | {"cls": f"{look['cls'] or ''} gx-casing".strip()}
    letters = {
        "font_size": words.size,
        "font_weight": str(words.weight),
        "text_anchor": words.anchor if words.anchor != "start" else None,
    }
    return letters | look


def _node(shape: Circle | Square, tips: bool) -> str:
    title = _title(shape.tip) if tips else ""
    if isinstance(shape, Square):
        x, y, side = shape.x - shape.half, shape.y - shape.half, 2 * shape.half
        return tag("rect", title, x=x, y=y, width=size(side), height=size(side))
    return tag("circle", title, cx=shape.x, cy=shape.y, r=size(shape.radius))


def _node_look(shape: Circle | Square, theme: Theme) -> dict:
    look = paint(shape.fill or Ink("ground"), "fill", theme)
    if shape.stroke is None:
        return look
    rim = stroke_look(shape.stroke, theme)  # painted first, so that half of it lies under the disc
    return look | rim | {"cls": f"{look['cls'] or ''} {rim['cls']}".strip(), "paint_order": "stroke"}


# ---- colours ----


def paint(ink: Ink, what: str, theme: Theme) -> dict:
    """The colour of a fill or a stroke. Where the ground is not known, what is faded is translucent instead of mixed."""
    name = CLASSES.get((ink.over, what))
    if theme is EITHER:
        over = getattr(theme, ink.over) if ink.over in Theme._fields else colour_only(ink.over)
        return {what: over, f"{what}_opacity": f"{ink.share:.2f}" if ink.share < 1 else None}
    look = {"cls": name, what: colour(ink, theme)}
    if ink.toned:
        return look | {"cls": "gx-tone", "style": f"--c:{colour_only(ink.over)};--w:{100 * ink.share:.0f}%"}
    if ink.share < 1:
        mixed = f"--w:{100 * ink.share:.0f}%"
        look |= {"style": mixed} if name else {"cls": "gx-fade", "style": f"--c:{colour_only(ink.over)};{mixed}"}
    return look


def stroke_look(stroke: Stroke, theme: Theme) -> dict:
    """Round caps and joins are set once, at the root."""
    dash = " ".join(size(length) for length in stroke.dash) if stroke.dash else None
    cap = None if stroke.cap == "round" else stroke.cap
    return {"stroke_width": size(stroke.width), "stroke_dasharray": dash, "stroke_linecap": cap} | paint(
        stroke.ink, "stroke", theme
    )


def theme_rules(dark: bool) -> str:
    """CSS that recolours what `svg` made, whatever ground it was made for."""
    theme = DARK if dark else LIGHT
    plain = [f".{name}{{{what}:{getattr(theme, role)}}}" for (role, what), name in CLASSES.items()]
    mixed = [
        f".{name}[style]{{{what}:color-mix(in srgb,{getattr(theme, role)} var(--w),{theme.ground})}}"
        for (role, what), name in CLASSES.items()
        if role != "ground"
    ]
    faded = f".gx-fade{{fill:color-mix(in srgb,var(--c) var(--w),{theme.ground})}}"
    own = f"color-mix(in srgb,var(--c) {100 * STYLE['atom']['own']:.0f}%,{theme.text})"
    toned = f".gx-tone{{fill:color-mix(in srgb,{own} var(--w),{theme.ground})}}"
    return f"{''.join(plain)}@supports (color:color-mix(in srgb,red,tan)){{{''.join(mixed)}{faded}{toned}}}"


# ---- small parts ----


def tag(name: str, inside: str = "", /, **attributes: str | float | None) -> str:
    """One element; numbers get one decimal at most, None is left out. Text from outside comes here escaped."""
    written = [
        f' {_NAMES.get(key, key)}="{value if isinstance(value, str) else number(value)}"'
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


def _title(tip: str) -> str:
    return f"<title>{escaped(tip)}</title>" if tip else ""


def _paths(lines: list[Line]) -> str:
    """Lines as one path; undashed ones with few lifts, as long as an undrawn line leads away from where the last ended."""
    if lines[0].ends[:2] == lines[0].ends[2:]:
        return "".join(f"M{point(*line.ends[:2])}h0" for line in lines)
    if lines[0].stroke.dash or lines[0].stroke.cap != "round":
        return "".join(f"M{point(*line.ends[:2])}L{point(*line.ends[2:])}" for line in lines)
    leads, drawn, out = defaultdict(list), set(), []
    for line in lines:
        x1, y1, x2, y2 = (round(10 * value) for value in line.ends)  # tenths: exact steps
        leads[x1, y1].append((x2, y2))
        leads[x2, y2].append((x1, y1))
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


def point(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}".replace(" -", "-")


def number(value: float) -> str:
    text = f"{value:.1f}"
    return (text[:-2] if text.endswith(".0") else text) if text != "-0.0" else "0"


def size(value: float) -> str:
    """Widths with two decimals: a tenth would show."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def escaped(text: object) -> str:
    """Text as letters in XML and HTML, inside and outside quotes; what XML cannot hold becomes a replacement mark."""
    return html.escape(for_xml(text))
