"""Features of nodes: columns of numbers and of words, taken a hundred rows at a time, with what was left out or scaled.

A file may have ten million values, so those that are as they should be are read by a few calls for many; a row with anything
else is looked at value by value, which tells what is wrong and where.
"""

from array import array
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from explainer_core.files.limits import MAX_FEATURES, MAX_NUMBERS, MAX_WORDS
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, is_missing, is_number, number
from explainer_core.graph.rules import MOST

LARGE = 10.0  # features beyond it are scaled
NO_WORD = 255  # MAX_WORDS is below it

Row = tuple[int, Sequence[Any]]


class Features:
    """Numbers first, then a column for each word."""

    def __init__(self, rows: Rows, numbers: Sequence[int], words: Sequence[int]):
        self._rows, self._numbers, self._words = rows, numbers, words
        self._values = array("f")
        self._known = [_Words(rows, column) for column in words]
        self._count = 0

    def add(self, some: Sequence[Row]) -> None:
        """The next rows."""
        if self._numbers:
            pick = _picker(self._numbers)
            for where, row in some:
                self._add_numbers(where, row, pick(row))
        if self._words:
            pick = _picker(self._words)
            columns = zip(*(pick(row) for _, row in some), strict=True)
            for known, cells in zip(self._known, columns, strict=True):
                known.add(some, cells)
        self._count += len(some)
        self._check_width()

    def _add_numbers(self, where: int, row: Sequence[Any], cells: Sequence[Any]) -> None:
        try:
            plain = "_" not in "".join(cells)  # Python would take 1_000 for a number
            found = np.fromiter(map(float, cells), np.float64, len(cells))
            plain = plain and bool((np.abs(found) <= MOST).all())
        except (ValueError, TypeError):
            plain = False
        if plain:
            self._values.frombytes(found.astype(np.float32).tobytes())
        else:
            self._values.extend([_number(self._rows, where, row, column) for column in self._numbers])

    def matrix(self, chosen: bool, scale: bool) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
        """(N, F) float32 or None without features, their names, and notes. Columns that were `chosen` may not be left out."""
        fields, notes = self._rows.fields, []
        names, used = [fields[column] for column in self._numbers], []
        for known in self._known:
            if known.too_many and chosen:
                got = Bare(f"more than {MAX_WORDS} different ones")
                rule = f"a column of words must have at most {MAX_WORDS}"
                raise FileProblem(self._rows.file, rule, got, "do not choose it as a feature", column=known.name)
            if known.too_many or not known.code:
                what = f"more than {MAX_WORDS} different words" if known.too_many else "no values"
                notes.append(f"column {known.name[:40]!r} has {what} and is left out of the features")
            else:
                used.append(known)
                names += [f"{known.name} {word}" for word in known.code]
        if not names:
            return None, (), tuple(notes)
        x = np.frombuffer(self._values, dtype=np.float32).reshape(self._count, len(self._numbers)).copy()
        large = np.flatnonzero(np.abs(x).max(0, initial=0) > LARGE) if scale else ()
        if len(large):
            notes.append(
                f"{_listed([names[i] for i in large])} scaled to mean 0 and spread 1: networks then learn better"
            )
            x[:, large] = _standardised(x[:, large].astype(np.float64))
        return np.concatenate([x, *(known.columns() for known in used)], axis=1), tuple(names), tuple(notes)

    def _check_width(self) -> None:
        """While the file is read: every new word is a feature more of every node."""
        width = len(self._numbers) + sum(len(known.code) for known in self._known if not known.too_many)
        if width > MAX_FEATURES or width * self._count > MAX_NUMBERS:
            rule = f"a node must have at most {MAX_FEATURES:,} features, and all together {MAX_NUMBERS:,}"
            got = Bare(f"{width:,} each for {self._count:,} nodes")
            raise FileProblem(self._rows.file, rule, got, "choose fewer columns as features")


class _Words:
    """A column of words: a number for each different one."""

    def __init__(self, rows: Rows, column: int):
        self._rows, self._column = rows, column
        self.name = rows.fields[column]
        self.code: dict[str, int] = {}
        self._codes = bytearray()
        self._seen: dict[str, int] = {}  # the code of a value as the file writes it

    @property
    def too_many(self) -> bool:
        return len(self.code) > MAX_WORDS

    def add(self, some: Sequence[Row], cells: Sequence[Any]) -> None:
        if self.too_many:
            return
        try:
            self._codes += bytes(map(self._seen.__getitem__, cells))
        except (KeyError, TypeError):  # one that is new, or no text
            for (where, row), cell in zip(some, cells, strict=True):
                self._codes.append(self._code_of(where, row, cell))
                if self.too_many:
                    self._codes.clear()
                    return

    def _code_of(self, where: int, row: Sequence[Any], cell: Any) -> int:
        if isinstance(cell, str) and cell in self._seen:
            return self._seen[cell]
        word = text_of(self._rows, where, row, self._column, "a word")
        code = NO_WORD if word is None else self.code.setdefault(word, len(self.code))
        if isinstance(cell, str):
            self._seen[cell] = code
        return code

    def columns(self) -> np.ndarray:
        """One-hot, all zero where the word is missing: (N, words)."""
        codes = np.frombuffer(self._codes, dtype=np.uint8)
        return (codes[:, None] == np.arange(len(self.code))).astype(np.float32)


def text_of(rows: Rows, where: int, row: Sequence[Any], column: int, thing: str) -> str | None:
    value = row[column]
    return None if is_missing(value) else rows.name(where, rows.fields[column], value, thing)


def _picker(columns: Sequence[int]) -> Any:
    """Those values of a row, in one call."""
    if len(columns) == 1:
        return lambda row: (row[columns[0]],)
    return itemgetter(*columns)


def _number(rows: Rows, where: int, row: Sequence[Any], column: int) -> float:
    try:
        value = number(row[column])
        fits = -MOST <= value <= MOST
    except (ValueError, TypeError, OverflowError):
        value, fits = 0.0, False
    if fits:
        return value
    got, name = row[column], rows.fields[column]
    if is_missing(got):
        got, way_out = Bare("nothing"), "fill it in, or do not choose the column as a feature"
    else:
        way_out = "correct it (decimals with a point), or do not choose the column as a feature"
    size = f" up to {MOST:g} in size" if is_number(got) else ""
    raise rows.problem(where, name, f"a feature must be a number{size}", got, way_out)


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(0)
    return (values - values.mean(0)) / np.where(spread > 0, spread, 1)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0][:30]!r} is"
    more = f" and {len(names) - 4:,} more" if len(names) > 4 else ""
    return f"columns {', '.join(repr(name[:30]) for name in names[:4])}{more} are"
