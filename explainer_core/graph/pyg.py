"""PyTorch Geometric's Data as the fields of a Graph, and back; the library itself is loaded only on the way back."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explainer_core.extras import pyg_data
from explainer_core.graph.arrays import as_rows, read_classes, read_edges, read_features
from explainer_core.graph.rules import NO_LABEL

NAMES = ("class_names", "feature_names", "node_names", "edge_type_names")
MOTIFS = ("node_motif", "edge_motif")
OWN = {"x", "edge_index", "y", "edge_type", "edge_types", "batch", "ptr", "name", "num_nodes", *NAMES, *MOTIFS}


def check_data(data: Any) -> None:
    """Raises ValueError unless it is one homogeneous Data with features and edges."""
    kind = type(data).__name__
    if "HeteroData" in kind or hasattr(data, "node_types"):
        raise ValueError(
            "a graph must have one kind of nodes (got HeteroData, which is not explained yet); "
            "data.to_homogeneous() makes one of it, with edge_type"
        )
    if not hasattr(data, "edge_index") or not hasattr(data, "x"):
        raise ValueError(f"from_pyg must be given a torch_geometric.data.Data (got a {kind})")
    if data.edge_index is None:
        sparse = getattr(data, "adj_t", None) is not None
        got = "adj_t, a SparseTensor, which is not explained yet" if sparse else "none"
        raise ValueError(
            f"data must have edge_index (got {got}); leave out T.ToSparseTensor() and keep edge_index of shape (2, edges)"
        )
    if data.x is None:
        raise ValueError(
            "data must have features x (got none); set data.x, for example to torch.ones(data.num_nodes, 1)"
        )


def graph_fields(data: Any, label: str | None) -> tuple[dict, Any]:
    """The fields of a Graph but for its classes, and what is known of those."""
    check_data(data)
    x, _ = read_features(data.x, None)
    edge_index = read_edges(data.edge_index)
    fields: dict[str, Any] = {"x": x, "edge_index": edge_index}
    types = getattr(data, "edge_type", None)
    types = getattr(data, "edge_types", None) if types is None else types
    if types is not None:
        fields["edge_types"], found = read_classes("edge_types", types, edge_index.shape[1], "edge")
        fields["edge_type_names"] = found
    for field in NAMES:
        if getattr(data, field, None) is not None:
            fields[field] = tuple(map(str, getattr(data, field)))
    for field in MOTIFS:
        if getattr(data, field, None) is not None:
            fields[field] = getattr(data, field).detach().cpu().long()
    if isinstance(getattr(data, "name", None), str):
        fields["name"] = data.name
    fields |= _columns(data, x.shape[0], edge_index.shape[1], {*OWN, *((label,) if label else ())})
    return fields, None if label is None else getattr(data, label, None)


def _columns(data: Any, num_nodes: int, num_edges: int, known: set[str]) -> dict[str, dict[str, Tensor]]:
    """Every other tensor with a row for each node or edge; PyG's own word decides where both would fit."""
    node_data, edge_data = {}, {}
    for name, values in data.to_dict().items():
        if name in known or not isinstance(values, Tensor) or values.ndim == 0 or values.layout != torch.strided:
            continue
        if len(values) == num_edges and (num_edges != num_nodes or "edge" in name):
            edge_data[name] = as_rows(name, values)
        elif len(values) == num_nodes:
            node_data[name] = as_rows(name, values)
    return {"node_data": node_data, "edge_data": edge_data}


def read_graph(data: Any, label: str | None, names: dict[str, Sequence[str] | str | None]) -> dict:
    """All fields of one Graph: y is the class of every node, or of the graph where it is a single one."""
    fields, classes = graph_fields(data, label)
    fields |= {name: value for name, value in names.items() if value}
    if classes is None:
        return fields
    num_nodes, given = fields["x"].shape[0], fields.get("class_names", ())
    if _count(classes) == 1 != num_nodes:
        found, class_names = read_classes(label or "y", _flat(classes), 1, "graph", given)
        return fields | {
            "label": None if found is None or found[0] == NO_LABEL else int(found[0]),
            "class_names": class_names,
        }
    labels, class_names = read_classes(label or "y", classes, num_nodes, "node", given)
    return fields | {"labels": labels, "class_names": class_names}


def read_set(graphs: Any, label: str | None, class_names: Sequence[str]) -> tuple[list[dict], Tensor | None, tuple]:
    """The fields of every graph, their classes, (G,), and the names of those."""
    graphs = graphs.to_data_list() if hasattr(graphs, "to_data_list") else graphs
    if not isinstance(graphs, Iterable) or hasattr(graphs, "edge_index") or hasattr(graphs, "node_types"):
        raise ValueError(f"a set must be a list or a dataset of Data (got a {type(graphs).__name__}); pass [data]")
    read = [graph_fields(data, label) for data in graphs]
    for i, (_, classes) in enumerate(read):
        if classes is not None and _count(classes) != 1:
            raise ValueError(
                f"graphs of a set must have one class each in {label!r} (got {_count(classes)} in graph {i}); name another "
                "attribute by label=, or None for no classes"
            )
    values = [None if classes is None else _flat(classes)[0] for _, classes in read]
    given = class_names or next((fields["class_names"] for fields, _ in read if "class_names" in fields), ())
    labels, names = read_classes(label or "y", values, len(values), "graph", given)
    return [fields for fields, _ in read], labels, names


def to_data(graph) -> Any:
    """A torch_geometric Data with all that the graph has."""
    types = {} if graph.edge_types is None else {"edge_type": graph.edge_types}
    y = graph.labels if graph.label is None else torch.tensor([graph.label])
    named = {name: list(getattr(graph, name)) for name in NAMES if getattr(graph, name)}
    motifs = {name: getattr(graph, name) for name in MOTIFS if getattr(graph, name) is not None}
    columns = {**graph.node_data, **graph.edge_data}
    return pyg_data.Data(
        x=graph.x, edge_index=graph.edge_index, y=y, name=graph.name, **types, **named, **motifs, **columns
    )


def _flat(classes: Any) -> list:
    if isinstance(classes, Tensor | np.ndarray):
        return classes.flatten().tolist()
    return list(classes) if isinstance(classes, list | tuple) else [classes]


def _count(classes: Any) -> int:
    return len(_flat(classes))
