"""A note about one instance: how it is marked, a line of text, and what the page showed when it was written. Plain data."""

import unicodedata
from dataclasses import dataclass

MARKS = {"spurious": "✗", "good": "✓", "unsure": "?"}  # never a colour alone
MOST_TEXT = 500  # letters
_BLANK = ("Cc", "Zl", "Zp", "Zs")  # control characters and ends of lines are blanks in one line of text
_DROPPED = ("Cs", "Co", "Cn")  # halves of letters, and letters that nobody knows
_JOINERS = "\u200c\u200d"  # invisible, but Persian and emoji are written with them


@dataclass(frozen=True)
class Shown:
    """What the page showed: sentences, and pictures as SVG with a title each."""

    lines: tuple[str, ...] = ()
    pictures: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Note:
    """Of one instance of a data set, under the network with these weights: a name may be given to another network later."""

    id: str
    made: str  # UTC, as ISO 8601 writes it
    dataset: str
    model: str
    weights: str  # SHA-256 of the weight file
    kind: str  # node, graph, link or smiles
    target: str  # a number, two with a comma, or a SMILES
    name: str  # of the target, as the page calls it
    mark: str
    text: str
    predicted: str
    truth: str  # empty where it is not known
    probability: float  # of the predicted class
    edits: str = ""  # what was changed in the graph at the time, as the link has it


def clean(text: str, most: int = MOST_TEXT) -> str:
    """One line of text from outside, without control characters and without marks that turn the reading direction."""
    kept = []
    for letter in text[: 4 * most]:
        category = unicodedata.category(letter)
        if category in _BLANK:
            kept.append(" ")
        elif category not in _DROPPED and (category != "Cf" or letter in _JOINERS):
            kept.append(letter)
    return " ".join("".join(kept).split())[:most].strip()


def target_text(target: int | tuple[int, int] | str) -> str:
    return ",".join(map(str, target)) if isinstance(target, tuple) else str(target)
