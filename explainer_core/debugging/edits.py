"""What-if edits as plain data: what each is, and how it is written in JSON and in a query parameter.

Numbers of nodes are those of the graph before any edit, also where a node was deleted in between.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, ClassVar

from explainer_core.checks import LONGEST_NUMBER, InvalidValue, shown
from explainer_core.graph.rules import MOST

MOST_EDITS = 50
MOST_CHARACTERS = 2_000
EVERYWHERE = "all"  # in the place of a node


@dataclass(frozen=True)
class CutEdge:
    """Takes an edge away: both directions of an undirected one, and all types of it."""

    word: ClassVar[str] = "cut"
    source: int
    target: int


@dataclass(frozen=True)
class RestoreEdge:
    """Puts an edge back that was cut before."""

    word: ClassVar[str] = "restore"
    source: int
    target: int


@dataclass(frozen=True)
class AddEdge:
    """Joins two nodes by an edge of the graph's commonest type."""

    word: ClassVar[str] = "add"
    source: int
    target: int


@dataclass(frozen=True)
class HideFeature:
    """Gives a feature its mean over all nodes, or zero where features are one-hot types; of one node, or of all (None)."""

    word: ClassVar[str] = "hide"
    node: int | None
    feature: int


@dataclass(frozen=True)
class SetFeature:
    """Gives a feature of a node a value."""

    word: ClassVar[str] = "set"
    node: int
    feature: int
    value: float


@dataclass(frozen=True)
class SetType:
    """Makes a node one of another type, where each has exactly one: of an atom, another element."""

    word: ClassVar[str] = "type"
    node: int
    type: int


@dataclass(frozen=True)
class DeleteNode:
    """Takes a node and its edges away."""

    word: ClassVar[str] = "drop"
    node: int


Edit = CutEdge | RestoreEdge | AddEdge | HideFeature | SetFeature | SetType | DeleteNode
KINDS: dict[str, type[Edit]] = {
    kind.word: kind for kind in (CutEdge, RestoreEdge, AddEdge, HideFeature, SetFeature, SetType, DeleteNode)
}


def edits_to_text(edits: Sequence[Edit]) -> str:
    """The edits in characters that a query parameter holds as they are: "cut-3-5_set-12-7-0.5"."""
    return "_".join("-".join(map(_written, to_row(edit))) for edit in checked_edits(edits))


def edits_from_text(text: str) -> tuple[Edit, ...]:
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise InvalidValue(f"edits must be text of at most {MOST_CHARACTERS:,} characters", text, "reset the edits")
    if not text:
        return ()
    return checked_edits([_read(part) for part in text.split("_", MOST_EDITS)])


def edits_to_json(edits: Sequence[Edit]) -> list[list]:
    """A row for each edit, its word first: [["cut", 3, 5], ["hide", null, 7]]."""
    return [to_row(edit) for edit in checked_edits(edits)]


def edits_from_json(rows: Any) -> tuple[Edit, ...]:
    if not isinstance(rows, list) or len(rows) > MOST_EDITS:
        raise InvalidValue(f"edits must be a list of at most {MOST_EDITS}", rows)
    return checked_edits([_of_row(row) for row in rows])


def to_row(edit: Edit) -> list:
    return [edit.word, *astuple(edit)]


def checked_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits, each of a known kind with plain numbers in their ranges. Whether a graph has them is seen when they are applied."""
    edits = tuple(edits)
    if len(edits) > MOST_EDITS:
        raise InvalidValue(f"there must be at most {MOST_EDITS} edits", len(edits), "reset some of them")
    for edit in edits:
        if not isinstance(edit, Edit):
            raise InvalidValue("an edit must be CutEdge, RestoreEdge, AddEdge, HideFeature, SetFeature, SetType or DeleteNode", edit)  # fmt: skip
        for field in fields(edit):
            _check_number(edit, field.name, getattr(edit, field.name))
    return edits


def _check_number(edit: Edit, name: str, value: object) -> None:
    if name == "value":
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= MOST:  # nan is not either
            raise InvalidValue(f"the value of a feature must be a number of at most {MOST:g} in size", value)
    elif value is None and name == "node" and isinstance(edit, HideFeature):
        return
    elif type(value) is not int or not 0 <= value < 10**LONGEST_NUMBER:
        raise InvalidValue(f"{name} of an edit must be a whole number from 0", value)


def _of_row(row: Any) -> Edit:
    word = row[0] if isinstance(row, list | tuple) and row else None
    kind = KINDS.get(word) if isinstance(word, str) else None
    if kind is None or len(row) != 1 + len(fields(kind)):
        raise InvalidValue(f"an edit must be one of {', '.join(KINDS)} and its numbers", row, 'as in ["cut", 3, 5]')
    return kind(*row[1:])


def _written(value: object) -> str:
    return EVERYWHERE if value is None else repr(value) if isinstance(value, float) else str(value)


def _read(part: str) -> Edit:
    word, *rest = part.split("-", 3)  # a value may have a minus of its own
    kind = KINDS.get(word)
    if kind is None or len(rest) != len(fields(kind)):
        raise InvalidValue(f"an edit must be one of {', '.join(KINDS)} and its numbers", part, "as in cut-3-5")
    return _of_row([word, *(_number(field.name, text) for field, text in zip(fields(kind), rest, strict=True))])


def _number(name: str, text: str) -> int | float | None:
    if name == "node" and text == EVERYWHERE:
        return None
    if name == "value":
        try:
            return float(text) if text.isascii() and len(text) <= 30 and "_" not in text else math.nan
        except ValueError:
            raise InvalidValue("the value of a feature must be a number", text) from None
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER:
        return int(text)
    raise ValueError(f"{name} of an edit must be a whole number from 0 (got {shown(text)})")
