"""Rows of a file, whatever its format: one for each node, edge or molecule, with the line it stands on."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explainer_core.files.problem import Bare, FileProblem

LONGEST_NAME = 200  # letters of an id, a name or a class
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))


@dataclass(frozen=True)
class Rows:
    """Values in the order of `fields`; each row begins with where it is, which `line_of` turns into a line."""

    file: str
    fields: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[Any]]]
    called: str = "column"  # what the format calls a field
    line_of: Callable[[int], int] = int

    def problem(self, where: int, field: str | None, rule: str, got: object = None, way_out: str = "") -> FileProblem:
        return FileProblem(self.file, rule, got, way_out, line=self.line_of(where), column=field, called=self.called)

    def name(self, where: int, field: str, value: Any, thing: str) -> str:
        """An id, a class or another short text; numbers as they are written."""
        if isinstance(value, str):
            text = value.strip()
        elif isinstance(value, int | float):
            text = _whole(value)
        else:
            raise self.problem(where, field, f"{thing} must be text or a number", value, "write it as one")
        if len(text) > LONGEST_NAME:
            rule = f"{thing} must be at most {LONGEST_NAME} letters"
            raise self.problem(where, field, rule, Bare(f"{len(text):,}"), "shorten it")
        if not is_text(text):
            raise self.problem(where, field, f"{thing} must be letters that can be shown", text, "change it")
        return text


def _whole(value: float) -> str:
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number too long"  # Python refuses to write one of more than 4,300 digits
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def is_text(text: str) -> bool:
    """Without halves of letters, which JSON can write and no page can show, and without control signs."""
    return (text.isascii() and text.isprintable()) or all(letter.isprintable() or letter.isspace() for letter in text)


def is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(value: Any) -> bool:
    try:
        number(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def number(value: Any) -> float:
    """A number as files write it; Python would also take 1_000 for one."""
    if isinstance(value, str):
        if value.strip().lower() in ("true", "false"):
            return float(value.strip().lower() == "true")
        if "_" in value:
            raise ValueError
    return float(value)


def plain(name: str) -> str:
    """A heading as it is compared: "Source ID" and "source_id" are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
