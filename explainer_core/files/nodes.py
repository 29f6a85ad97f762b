"""The nodes of a file: ids, names, classes, split and features, checked row by row."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from explainer_core.files.columns import IDS, LABELS, NAMES, PARTS, SPLITS, Options, chosen, masks_of, read_classes
from explainer_core.files.features import Features, text_of
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, is_missing, is_number

SAMPLE = 100  # rows that tell numbers from words, and that are read at a time


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
    features, rest = Features(rows, roles.numbers, roles.words), chain(first, rows.rows)
    while some := list(islice(rest, SAMPLE)):
        for where, row in some:
            node = rows.name(where, rows.fields[roles.id], row[roles.id], "an id")
            if not node or node in ids:
                got = Bare("none") if not node else Bare(f"{node!r}, also on line {rows.line_of(lines[ids[node]]):,}")
                rule = "each node must have an id of its own"
                raise rows.problem(where, rows.fields[roles.id], rule, got, "change one")
            ids[node] = len(ids)
            lines.append(where)
            names.append(node if roles.name is None else text_of(rows, where, row, roles.name, "a name") or node)
            if roles.label is not None:
                labels.append(text_of(rows, where, row, roles.label, "a class"))
            if roles.split is not None:
                split.append(part_of(rows, where, row, roles.split))
        features.add(some)
    if not ids:
        raise FileProblem(rows.file, "a file must have at least one node", Bare("none"), "add nodes")
    x, feature_names, notes = features.matrix(options.features is not None, options.scale)
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


def part_of(rows: Rows, where: int, row: Sequence[Any], column: int) -> str:
    text = text_of(rows, where, row, column, "a part of the split")
    if text is None:
        return ""
    if text.lower() not in PARTS:
        rule = "a split must be train, val or test, or empty"
        raise rows.problem(where, rows.fields[column], rule, text, "correct it, or choose no column for the split")
    return PARTS[text.lower()]
