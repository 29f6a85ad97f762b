"""How shapes are painted: the numbers in assets/style.js, which the canvas reads too, and the colours of a ground."""

import json
import math
import re
from pathlib import Path
from typing import NamedTuple

from dashboard.view.palette import QUIET, WEIGHTS

_TEXT = (Path(__file__).parent / "assets" / "style.js").read_text(encoding="utf-8")
STYLE = json.loads(_TEXT[_TEXT.index("= {") + 2 : _TEXT.rindex("}") + 1])
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


class Theme(NamedTuple):
    """Colours of one ground, as in .streamlit/config.toml."""

    ground: str
    text: str
    accent: str


LIGHT = Theme("#FCFCFB", "#1F2328", "#0072B2")
DARK = Theme("#14171A", "#E6E8EA", "#56B4E9")
EITHER = Theme("none", "currentColor", WEIGHTS)  # on a ground nobody told us


class Ink(NamedTuple):
    """So much of one colour on another: "text", "accent", "ground", a shade of the text, or a node's "#RRGGBB".

    A colour that is `toned` has some of the text's in it, and so is read on light and on dark ground.
    """

    over: str
    share: float = 1.0
    under: str = "ground"
    toned: bool = False


def growth(scale: float) -> float:
    """Nodes and lines grow more slowly than distances: a crowd stays readable, a close look is not all discs."""
    least, most = STYLE["growth"]
    return min(most, max(least, math.sqrt(scale)))


def label_size(grow: float) -> int:
    """Pixels of a name's letters."""
    least, most = STYLE["label"]["range_px"]
    return rounded(min(max(STYLE["label"]["size"] * grow, least), most))


def rounded(value: float) -> int:
    """As JavaScript rounds: one half up."""
    return math.floor(value + 0.5)


def linear(pair: list[float], weight: float) -> float:
    return pair[0] + pair[1] * weight


def colour(ink: Ink, theme: Theme) -> str:
    """An opaque colour: lines below do not show through what is faded."""
    over = _named(ink.over, theme)
    if ink.toned:
        over = _mixed(over, theme.text, STYLE["atom"]["own"])
    return over if ink.share >= 1 else _mixed(over, _named(ink.under, theme), ink.share)


def _named(name: str, theme: Theme) -> str:
    if name in STYLE["shades"]:
        return _mixed(theme.text, theme.ground, STYLE["shades"][name])
    return getattr(theme, name) if name in Theme._fields else colour_only(name)


def _mixed(over: str, under: str, share: float) -> str:
    pairs = zip(bytes.fromhex(over[1:]), bytes.fromhex(under[1:]), strict=True)
    return "#" + "".join(f"{rounded(a * share + b * (1 - share)):02X}" for a, b in pairs)


def colour_only(text: str) -> str:
    """A colour, and nothing else: what a browser reads in `fill` could also be a link."""
    return text if re.fullmatch("#[0-9A-Fa-f]{6}", text) else QUIET
