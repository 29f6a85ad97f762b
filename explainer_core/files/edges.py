"""The edges of a file: their ends as numbers of nodes, each edge once, with types and weights where there are any."""

from array import array
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from explainer_core.files.columns import SOURCES, TARGETS, TYPES, WEIGHTS, chosen, read_classes
from explainer_core.files.limits import MAX_NODES
from explainer_core.files.nodes import SAMPLE, Nodes
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, is_missing, is_number, number
from explainer_core.graph.rules import MOST


@dataclass(frozen=True)
class Edges:
    ends: np.ndarray  # (E, 2) int64
    types: tuple[np.ndarray, tuple[str, ...]] | None
    weights: np.ndarray | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Roles:
    source: int
    target: int
    type: int | None = None
    weight: int | None = None


def read_edges(rows: Rows, nodes: Nodes | None, directed: bool) -> tuple[Edges, dict[str, int]]:
    """The edges, and the number of each node by its id; without a list of nodes they are those that edges join."""
    first = list(islice(rows.rows, SAMPLE))
    roles = _roles(rows, [row for _, row in first])
    known = {} if nodes is None else nodes.number
    ends, types, weights = array("q"), [], array("f")
    for where, row in chain(first, rows.rows):
        for column in (roles.source, roles.target):
            ends.append(_end(rows, where, column, row[column], nodes, known))
        if roles.type is not None:
            types.append(_type(rows, where, roles.type, row[roles.type]))
        if roles.weight is not None:
            weights.append(_weight(rows, where, roles.weight, row[roles.weight]))
    if nodes is None and not known:
        raise FileProblem(rows.file, "a file must have at least one edge", Bare("none"), "add edges")
    found = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2) if len(ends) else np.empty((0, 2), np.int64)
    named = None
    if roles.type is not None and types:
        named = read_classes(rows.file, rows.fields[roles.type], types, "types", unknown="")
    kept = _each_once(found, None if named is None else named[0], directed)
    return (
        Edges(
            found[kept],
            None if named is None else (named[0][kept], named[1]),
            np.frombuffer(weights, dtype=np.float32)[kept] if len(weights) else None,
            _notes(rows, roles, found, len(kept)),
        ),
        known,
    )


def _roles(rows: Rows, first: list) -> _Roles:
    fields, place = rows.fields, {name: i for i, name in enumerate(rows.fields)}
    if len(fields) < 2:
        rule, got = "an edge must have a source and a target", Bare(f"{len(fields)} column on a line")
        raise FileProblem(rows.file, rule, got, "write them side by side: alice,bob")
    source = chosen(rows.file, fields, None, SOURCES, ())
    target = chosen(rows.file, fields, None, TARGETS, (source,))
    if not (source and target):
        source, target = fields[:2]
    kind = chosen(rows.file, fields, None, TYPES, (source, target))
    weight = chosen(rows.file, fields, None, WEIGHTS, (source, target, kind))
    unnamed = [name for name in fields if name.startswith("column ") and name not in (source, target)]
    if unnamed and not (kind or weight):  # without a header the third column says by itself what it is
        numeric = all(is_number(row[place[unnamed[0]]]) for row in first)
        kind, weight = ("", unnamed[0]) if numeric else (unnamed[0], "")
    return _Roles(place[source], place[target], place.get(kind), place.get(weight))


def _end(rows: Rows, where: int, column: int, value: object, nodes: Nodes | None, known: dict[str, int]) -> int:
    field = rows.fields[column]
    node = rows.name(where, field, value, "an end of an edge") if value is not None else ""
    if not node:
        raise rows.problem(where, field, "an edge must join two nodes", Bare("nothing"), "fill it in, or drop the row")
    if node in known:
        return known[node]
    if nodes is not None:
        rule = f"an edge must join nodes of {nodes.file[:60]}"
        raise rows.problem(where, field, rule, node, "add the node there, or drop the edge")
    if len(known) >= MAX_NODES:
        raise rows.problem(where, field, f"a graph must have at most {MAX_NODES:,} nodes", None, "send a part")
    known[node] = len(known)
    return known[node]


def _type(rows: Rows, where: int, column: int, value: object) -> str:
    if is_missing(value):
        rule = "an edge must have a type where others have one"
        raise rows.problem(where, rows.fields[column], rule, Bare("nothing"), "fill it in, or drop the column")
    return rows.name(where, rows.fields[column], value, "a type")


def _weight(rows: Rows, where: int, column: int, value: object) -> float:
    try:
        weight = number(value)
        fits = -MOST <= weight <= MOST
    except (ValueError, TypeError, OverflowError):
        weight, fits = 0.0, False
    if not fits:
        raise rows.problem(
            where, rows.fields[column], "a weight must be a number", value, "correct it, or drop the column"
        )
    return weight


def _each_once(ends: np.ndarray, types: np.ndarray | None, directed: bool) -> np.ndarray:
    """The places of the first of each edge, in the order of the file; undirected, a to b is b to a."""
    keys = ends if directed else np.sort(ends, axis=1)
    columns = keys if types is None else np.concatenate([keys, types[:, None]], axis=1)
    return np.sort(np.unique(columns, axis=0, return_index=True)[1])


def _notes(rows: Rows, roles: _Roles, ends: np.ndarray, kept: int) -> tuple[str, ...]:
    notes = []
    if kept < len(ends):
        notes.append(f"{_edges(len(ends) - kept)} listed more than once, and taken once")
    loops = int((ends[:, 0] == ends[:, 1]).sum())
    if loops:
        notes.append(f"{_edges(loops)} from a node to itself, and kept")
    if roles.weight is not None:
        notes.append(
            f"weights of edges ({rows.fields[roles.weight][:40]!r}) are kept with the graph, but the networks here do not read "
            "them: to these every edge counts the same"
        )
    return tuple(notes)


def _edges(count: int) -> str:
    return "1 edge is" if count == 1 else f"{count:,} edges are"
