"""What the words beside a picture mean: the table in assets/definitions.js, which the views read too."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dashboard.view.plain_text import for_markdown

_TEXT = (Path(__file__).parent / "assets" / "definitions.js").read_text(encoding="utf-8")
OF_SETTING = {"k_m": "K_M", "k_f": "K_F", "necessity": "necessity"}  # the word that a setting is about


class Definition(NamedTuple):
    sentence: str
    formula: str


DEFINITIONS = {
    term: Definition(*told) for term, told in json.loads(_TEXT[_TEXT.index("= {") + 2 : _TEXT.rindex("}") + 1]).items()
}


def in_markdown(term: str) -> str:
    """For the help of a widget."""
    sentence, formula = DEFINITIONS[term]
    return f"{for_markdown(sentence)}\n\n`{formula}`"


def used_in(texts: Iterable[str]) -> dict[str, Definition]:
    """The words of the table that stand in some texts."""
    everything = "\n".join(texts)
    return {term: told for term, told in DEFINITIONS.items() if term in everything}
