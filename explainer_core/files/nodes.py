"""The nodes of a file: ids, names, classes, split and features, checked row by row."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from explainer_core.files.columns import IDS, LABELS, NAMES, PARTS, SPLITS, Options, chosen, masks_of, read_classes
from explainer_core.files.limits import MAX_FEATURES, MAX_NUMBERS, MAX_WORDS
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, is_missing, is_number, number
from explainer_core.graph.rules import MOST

SAMPLE = 100  # rows that tell numbers from words
LARGE = 10.0  # features beyond it are scaled


@dataclass(frozen=True)
class Nodes:
    """What a file says of its nodes; `number` finds one by its id."""

    file: str
    number: dict[str, int]
    names: tuple[str, ...]
    x: np.ndarray | None = None  # (N, F) float32; None: no features
    feature_names: tuple[str, ...] = ()
    labels: tuple[np.ndarray, tuple[str, ...]] | None = None
    masks: dict[str, np.ndarray] = field(default_factory=dict)  # of the split, where the file has one
    fields: tuple[str, ...] = ()  # those that may be chosen as classes or features
    label_field: str = ""
    notes: tuple[str, ...] = ()


@dataclass
class _Words:
    """A column of words: a number for each different one."""

    codes: array = field(default_factory=lambda: array("i"))
    code: dict[str, int] = field(default_factory=dict)

    @property
    def too_many(self) -> bool:
        return len(self.code) > MAX_WORDS

    def add(self, value: str | None) -> None:
        if not self.too_many:
            self.codes.append(-1 if value is None else self.code.setdefault(value, len(self.code)))

    def columns(self) -> np.ndarray:
        """One-hot, all zero where the word is missing: (N, words)."""
        return (np.asarray(self.codes)[:, None] == np.arange(len(self.code))).astype(np.float32)


@dataclass(frozen=True)
class _Roles:
    """Which column is what, by its place."""

    id: int
    name: int | None
    label: int | None
    split: int | None
    numbers: tuple[int, ...]
    words: tuple[int, ...]


def read_nodes(rows: Rows, options: Options) -> Nodes:
    """Raises FileProblem, which knows the fields: the way out may be to choose others."""
    try:
        return _read_nodes(rows, options)
    except FileProblem as problem:
        problem.fields = _choosable(rows, options)
        raise


def _choosable(rows: Rows, options: Options) -> tuple[str, ...]:
    """All but the id, and the split where one is found by its name."""
    own_id = chosen(rows.file, rows.fields, None, IDS, ()) or rows.fields[0]
    split = chosen(rows.file, rows.fields, None, SPLITS, (own_id,))
    return tuple(name for name in rows.fields if name not in (own_id, split or options.split))


def _read_nodes(rows: Rows, options: Options) -> Nodes:
    first = list(islice(rows.rows, SAMPLE))
    roles = _roles(rows, first, options)
    ids, lines, names, labels, split = {}, array("q"), [], [], []
    values, words = array("f"), [_Words() for _ in roles.words]
    for where, row in chain(first, rows.rows):
        node = rows.name(where, rows.fields[roles.id], row[roles.id], "an id")
        if not node or node in ids:
            got = Bare("none") if not node else Bare(f"{node!r}, also on line {rows.line_of(lines[ids[node]]):,}")
            raise rows.problem(where, rows.fields[roles.id], "each node must have an id of its own", got, "change one")
        ids[node] = len(ids)
        lines.append(where)
        names.append(node if roles.name is None else text_of(rows, where, row, roles.name, "a name") or node)
        if roles.label is not None:
            labels.append(text_of(rows, where, row, roles.label, "a class"))
        if roles.split is not None:
            split.append(part_of(rows, where, row, roles.split))
        _add_numbers(rows, where, row, roles.numbers, values)
        for column, known in zip(roles.words, words, strict=True):
            known.add(text_of(rows, where, row, column, "a word"))
        if len(ids) % SAMPLE == 0:
            _check_width(rows, roles, words, len(ids))
    if not ids:
        raise FileProblem(rows.file, "a file must have at least one node", Bare("none"), "add nodes")
    x, feature_names, notes = _features(rows, roles, values, words, len(ids), options)
    label_field = "" if roles.label is None else rows.fields[roles.label]
    return Nodes(
        rows.file,
        ids,
        tuple(names),
        x,
        feature_names,
        read_classes(rows.file, label_field, labels) if label_field else None,
        masks_of(split),
        _choosable(rows, options),
        label_field,
        notes,
    )


def _roles(rows: Rows, first: Sequence[tuple[int, Sequence[Any]]], options: Options) -> _Roles:
    fields, place = rows.fields, {name: i for i, name in enumerate(rows.fields)}
    own_id = chosen(rows.file, fields, None, IDS, ()) or fields[0]
    label = chosen(rows.file, fields, options.label, LABELS, (own_id,))
    split = chosen(rows.file, fields, options.split, SPLITS, (own_id, label))
    name = chosen(rows.file, fields, None, NAMES, (own_id, label, split))
    asked = options.features
    unknown = [each for each in asked or () if each not in place]
    if unknown:
        raise FileProblem(rows.file, "features must be columns of the file", unknown[0], "choose others")
    wanted = [each for each in (fields if asked is None else asked) if each not in (own_id, label, split, name)]
    numeric = {each for each in wanted if _is_numeric([row[place[each]] for _, row in first])}
    return _Roles(
        place[own_id],
        place.get(name),
        place.get(label),
        place.get(split),
        tuple(place[each] for each in wanted if each in numeric),
        tuple(place[each] for each in wanted if each not in numeric),
    )


def _is_numeric(values: Sequence[Any]) -> bool:
    """Half of them are numbers: the others are then mistakes, and not words."""
    there = [value for value in values if not is_missing(value)]
    return bool(there) and 2 * sum(map(is_number, there)) >= len(there)


def text_of(rows: Rows, where: int, row: Sequence[Any], column: int, thing: str) -> str | None:
    value = row[column]
    return None if is_missing(value) else rows.name(where, rows.fields[column], value, thing)


def part_of(rows: Rows, where: int, row: Sequence[Any], column: int) -> str:
    text = text_of(rows, where, row, column, "a part of the split")
    if text is None:
        return ""
    if text.lower() not in PARTS:
        rule = "a split must be train, val or test, or empty"
        raise rows.problem(where, rows.fields[column], rule, text, "correct it, or choose no column for the split")
    return PARTS[text.lower()]


def _add_numbers(rows: Rows, where: int, row: Sequence[Any], columns: Sequence[int], values: array) -> None:
    for column in columns:
        try:
            value = number(row[column])
            fits = -MOST <= value <= MOST
        except (ValueError, TypeError, OverflowError):
            fits = False
        if not fits:
            got, name = row[column], rows.fields[column]
            if is_missing(got):
                got, way_out = Bare("nothing"), "fill it in, or do not choose the column as a feature"
            else:
                way_out = "correct it (decimals with a point), or do not choose the column as a feature"
            size = f" up to {MOST:g} in size" if is_number(got) else ""
            raise rows.problem(where, name, f"a feature must be a number{size}", got, way_out)
        values.append(value)


def _features(
    rows: Rows, roles: _Roles, values: array, words: Sequence[_Words], count: int, options: Options
) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
    """Numbers first, then a column for each word; what was left out or scaled is told."""
    notes = []
    names = [rows.fields[column] for column in roles.numbers]
    used = []
    for column, known in zip(roles.words, words, strict=True):
        name = rows.fields[column]
        if known.too_many and options.features is not None:
            got = Bare(f"more than {MAX_WORDS} different ones")
            rule = f"a column of words must have at most {MAX_WORDS}"
            raise FileProblem(rows.file, rule, got, "do not choose it as a feature", column=name)
        if known.too_many or not known.code:
            what = f"more than {MAX_WORDS} different words" if known.too_many else "no values"
            notes.append(f"column {name[:40]!r} has {what} and is left out of the features")
        else:
            used.append(known)
            names += [f"{name} {word}" for word in known.code]
    _check_width(rows, roles, words, count)
    if not names:
        return None, (), tuple(notes)
    x = np.frombuffer(values, dtype=np.float32).reshape(count, len(roles.numbers)).copy()
    large = np.flatnonzero(np.abs(x).max(0, initial=0) > LARGE) if options.scale else ()
    if len(large):
        notes.append(f"{_listed([names[i] for i in large])} scaled to mean 0 and spread 1: networks then learn better")
        x[:, large] = _standardised(x[:, large].astype(np.float64))
    return np.concatenate([x, *(known.columns() for known in used)], axis=1), tuple(names), tuple(notes)


def _check_width(rows: Rows, roles: _Roles, words: Sequence[_Words], count: int) -> None:
    """While the file is read too: every new word is a feature more of every node."""
    width = len(roles.numbers) + sum(len(known.code) for known in words if not known.too_many)
    if width > MAX_FEATURES or width * count > MAX_NUMBERS:
        rule = f"a node must have at most {MAX_FEATURES:,} features, and all together {MAX_NUMBERS:,}"
        got = Bare(f"{width:,} each for {count:,} nodes")
        raise FileProblem(rows.file, rule, got, "choose fewer columns as features")


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(0)
    return (values - values.mean(0)) / np.where(spread > 0, spread, 1)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0][:30]!r} is"
    more = f" and {len(names) - 4:,} more" if len(names) > 4 else ""
    return f"columns {', '.join(repr(name[:30]) for name in names[:4])}{more} are"
