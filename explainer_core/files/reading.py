"""From files that were sent to a Graph or a GraphSet: which formats there are, and what each is read by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from explainer_core.checks import one_of
from explainer_core.files.columns import IDS, LABELS, NAMES, SOURCES, SPLITS, TARGETS, Options
from explainer_core.files.delimited import read_rows
from explainer_core.files.edges import read_edges
from explainer_core.files.graphml import read_graphml
from explainer_core.files.limits import MAX_EDGES, MAX_FEATURES, MAX_NODES
from explainer_core.files.node_link import read_node_link
from explainer_core.files.nodes import Nodes, read_nodes
from explainer_core.files.problem import Bare, FileProblem, printable
from explainer_core.files.rows import Rows
from explainer_core.files.smiles import read_molecules
from explainer_core.files.text import SentFile, read_path
from explainer_core.graph import Graph, GraphSet


@dataclass(frozen=True)
class Reading:
    """What files held, and how they were understood."""

    data: Graph | GraphSet  # with train_mask, val_mask and test_mask in node_data where the file has a split
    fields: tuple[str, ...]  # columns that may be chosen as classes or features
    label_field: str
    notes: tuple[str, ...]  # which columns were left out, what was merged or scaled, a sentence each
    left_out: tuple[str, ...] = ()  # lines that are no molecule: "line 3: a molecule must be ..."


@dataclass(frozen=True)
class Format:
    """One way to send a graph: how many files, how they end, and who reads them."""

    title: str
    files: tuple[str, ...]  # what each is, the first needed
    endings: tuple[str, ...]
    read: Callable[[Sequence[SentFile | None], Options], Reading]


def read_files(
    format: str, files: Sequence[SentFile | str | Path | None], options: Options | None = None, **settings: Any
) -> Reading:
    """`files` are paths, or files that were sent; `settings` are those of Options: `read_files("csv", ["edges.csv"], directed=True)`.

    Raises FileProblem, which says in one sentence what is wrong and where.
    """
    chosen = FORMATS[one_of("format", format, FORMATS)]
    if not files or files[0] is None or len(files) > len(chosen.files):
        raise ValueError(
            f"{chosen.title} must be 1 to {len(chosen.files)} files, the first of them {chosen.files[0]} "
            f"(got {sum(file is not None for file in files)})"
        )
    sent = [read_path(file) if isinstance(file, str | Path) else file for file in files]
    return chosen.read(sent, replace(options or Options(), **settings))


def _read_csv(files: Sequence[SentFile | None], options: Options) -> Reading:
    edge_file, node_file = files[0], files[1] if len(files) > 1 else None
    assert edge_file is not None  # read_files has looked
    nodes = None
    if node_file is not None:
        rows = read_rows(node_file, MAX_NODES, "node", {*IDS, *LABELS, *SPLITS, *NAMES}, options.header)
        nodes = read_nodes(rows, options)
    edges = read_rows(edge_file, MAX_EDGES, "edge", {*SOURCES, *TARGETS}, options.header)
    return _graph(edge_file, nodes, edges, bool(options.directed), options)


def _read_graphml(files: Sequence[SentFile | None], options: Options) -> Reading:
    assert files[0] is not None  # read_files has looked
    found = read_graphml(files[0])
    directed = found.directed if options.directed is None else options.directed
    return _graph(files[0], read_nodes(found.nodes, options), found.edges, directed, options)


def _read_node_link(files: Sequence[SentFile | None], options: Options) -> Reading:
    assert files[0] is not None  # read_files has looked
    found = read_node_link(files[0])
    directed = bool(found.directed) if options.directed is None else options.directed
    return _graph(files[0], read_nodes(found.nodes, options), found.edges, directed, options)


def _read_smiles(files: Sequence[SentFile | None], options: Options) -> Reading:
    assert files[0] is not None  # read_files has looked
    found = read_molecules(files[0], options)
    return Reading(found.data, found.fields, found.label_field, (), found.left_out)


def _graph(file: SentFile, nodes: Nodes | None, edge_rows: Rows, directed: bool, options: Options) -> Reading:
    edges, known = read_edges(edge_rows, nodes, directed)
    listed = nodes or _nodes_of_edges(file.name, known)
    fields: dict[str, Any] = {"name": printable(PurePath(file.name).stem) or "graph"}
    x, feature_names, notes = listed.x, listed.feature_names, [*listed.notes, *edges.notes]
    if x is None and options.own_feature:
        x, feature_names = _one_each(file.name, len(known)), listed.names
    if x is None:
        notes.append("nodes have no features: each has a single 1, so that only the edges tell them apart")
    else:
        fields["feature_names"] = feature_names
    if listed.labels is not None:
        fields["labels"], fields["class_names"] = listed.labels
    if edges.types is not None:
        fields["edge_types"], fields["edge_type_names"] = edges.types
    if edges.weights is not None:
        fields["edge_data"] = {"edge_weight": edges.weights}
    if list(listed.names) != list(map(str, range(len(known)))):
        fields["node_names"] = listed.names
    fields["node_data"] = listed.masks
    graph = Graph.from_arrays(edges.ends.T, x, directed=directed, num_nodes=len(known), **fields)
    return Reading(graph, listed.fields, listed.label_field, tuple(notes))


def _nodes_of_edges(file: str, known: dict[str, int]) -> Nodes:
    return Nodes(file, known, tuple(known))


def _one_each(file: str, count: int) -> np.ndarray:
    if count > MAX_FEATURES:
        rule = f"only a graph of at most {MAX_FEATURES:,} nodes can have a feature for each"
        raise FileProblem(file, rule, Bare(f"{count:,} nodes"), "let all nodes have a single 1")
    return np.eye(count, dtype=np.float32)


FORMATS: dict[str, Format] = {
    "csv": Format("CSV", ("edges", "nodes"), ("csv", "tsv", "txt"), _read_csv),
    "graphml": Format("GraphML", ("graph",), ("graphml", "xml"), _read_graphml),
    "json": Format("Node-link JSON", ("graph",), ("json",), _read_node_link),
    "smiles": Format("SMILES", ("molecules",), ("csv", "smi", "txt", "tsv"), _read_smiles),
}
