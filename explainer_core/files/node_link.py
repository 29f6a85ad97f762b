"""Node-link JSON as rows of nodes and edges: networkx's form, and that of d3."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from explainer_core.files.delimited import MOST_COLUMNS
from explainer_core.files.json_places import line_of
from explainer_core.files.limits import MAX_EDGES, MAX_FEATURES, MAX_NODES
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows
from explainer_core.files.text import SentFile, check_count, decoded

EDGE_LISTS = ("links", "edges")
SHAPE = 'a file must be {"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}'
MOST_PARTS = 2 * (MAX_NODES + MAX_EDGES)  # objects, and lists: one for each node and edge, and features


@dataclass
class NodeLinkFile:
    """What was read: a row for each node and edge, and the file's own word on directions."""

    nodes: Rows
    edges: Rows
    directed: bool | None


def read_node_link(file: SentFile) -> NodeLinkFile:
    rule = f"a file must have at most {MAX_NODES:,} nodes and {MAX_EDGES:,} edges"
    for sign in (b"{", b"["):
        check_count(file, sign, MOST_PARTS, rule, "send a part of the graph")
    text = decoded(file)
    value = _parsed(file.name, text)
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), list):
        raise FileProblem(file.name, SHAPE, Bare(_kind(value)), "write it by networkx.node_link_data(graph)")
    edges_key = next((key for key in EDGE_LISTS if isinstance(value.get(key), list)), None)
    if edges_key is None:
        raise FileProblem(file.name, SHAPE, Bare("neither links nor edges"), "name the list of edges links")
    for key, most in (("nodes", MAX_NODES), (edges_key, MAX_EDGES)):
        _check_list(file.name, text, key, value[key], most)
    directed = value.get("directed")
    own_id = _id_field(value["nodes"], value[edges_key])
    return NodeLinkFile(
        _rows(file.name, text, "nodes", value["nodes"], (own_id or "id",), by_number=own_id is None),
        _rows(file.name, text, edges_key, value[edges_key], ("source", "target")),
        directed if isinstance(directed, bool) else None,
    )


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        rule, way_out = "a file must be valid JSON", "write it by a program: json.dump(data, file)"
        raise FileProblem(name, rule, Bare(error.msg), way_out, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise FileProblem(name, "a file must not be nested deeply", None, "write plain nodes and links") from None
    except ValueError:  # a number of thousands of digits
        raise FileProblem(name, "numbers must be at most 300 digits", None, "shorten them") from None


def _kind(value: Any) -> str:
    return "no list of nodes" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


def _id_field(nodes: list[dict], edges: list[dict]) -> str | None:
    """By what edges name their ends; None where it is the place in the list, as d3 has it."""
    if any("id" in node for node in nodes):
        return "id"
    named = edges and isinstance(edges[0].get("source"), str)
    return next((field for field in ("key", "name") if named and all(field in node for node in nodes)), None)


def _check_list(name: str, text: str, key: str, values: list, most: int) -> None:
    if len(values) > most:
        rule, got = f"{key} must be at most {most:,}", Bare(f"{len(values):,}")
        raise FileProblem(name, rule, got, "send a part of the graph")
    for i, each in enumerate(values):
        if not isinstance(each, dict):
            line = line_of(text, (key, i))
            raise FileProblem(name, f"each of {key} must be an object", each, 'write {"id": ...}', line=line)


def _rows(name: str, text: str, key: str, values: list[dict], own: Sequence[str], by_number: bool = False) -> Rows:
    """`own` fields come first. Lists of numbers become a field for each number, as wide as the first one."""
    widths: dict[str, int | None] = {}
    for each in values:
        for field, found in each.items():
            if field not in widths and field not in own:
                widths[field] = len(found) if isinstance(found, list) else None
            if len(widths) > MOST_COLUMNS:
                raise _too_wide(name, key)
    widths = {field: width for field, width in widths.items() if not _is_nested(values, field)}
    if sum(1 if width is None else width for width in widths.values()) > MOST_COLUMNS:
        raise _too_wide(name, key)
    fields = [*own]
    for field, width in widths.items():
        fields += [field] if width is None else [f"{field} {i}" for i in range(width)]
    where = partial(_line, text, key)
    fields = tuple(_different(fields))
    rows = Rows(name, fields, iter(()), "field", where)
    return Rows(name, fields, _values(rows, values, own, widths, by_number), "field", where)


def _too_wide(name: str, key: str) -> FileProblem:
    return FileProblem(name, f"{key} must have at most {MAX_FEATURES:,} features", None, "leave some out")


def _line(text: str, key: str, index: int) -> int:
    return line_of(text, (key, index))


def _is_nested(values: list[dict], field: str) -> bool:
    """Objects inside a node are another program's notes, such as positions: they are passed over."""
    return any(isinstance(each.get(field), dict) for each in values)


def _different(names: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        while name in seen:
            name += " again"
        seen.add(name)
        yield name


def _values(
    rows: Rows, values: list[dict], own: Sequence[str], widths: dict[str, int | None], by_number: bool
) -> Iterator[tuple[int, list]]:
    for i, each in enumerate(values):
        row = [i if by_number else each.get(field) for field in own]
        for field, width in widths.items():
            found = each.get(field)
            if width is None:
                row.append(found)
            elif isinstance(found, list) and len(found) == width:
                row += found
            else:
                rule = f"a list must have {width:,} numbers, as the first one has"
                got = Bare(f"{len(found):,}") if isinstance(found, list) else found
                raise rows.problem(i, field, rule, got, "give all the same length")
        yield i, row
