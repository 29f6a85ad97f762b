"""A networkx graph as the fields of a Graph."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import torch

from explainer_core.graph.arrays import as_rows, both_ways, read_classes, read_features


def network_fields(
    net: nx.Graph,
    features: str | Sequence[str] | Any = None,
    label: str | None = None,
    edge_attr: str | Sequence[str] = (),
) -> dict:
    """Nodes are numbered in their own order. `features`, `label` and `edge_attr` name attributes."""
    if not isinstance(net, nx.Graph):
        raise ValueError(f"from_networkx must be given a networkx graph (got a {type(net).__name__})")
    nodes = list(net.nodes)
    if not nodes:
        raise ValueError("a graph must have at least one node (got a networkx graph with none)")
    number = {node: i for i, node in enumerate(nodes)}
    x, feature_names = _features(net, nodes, features)
    pairs = [(number[a], number[b]) for a, b in net.edges()]
    edge_index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).t().contiguous()
    edge_data = {}
    if edge_attr:
        rows = [attributes for _, _, attributes in net.edges(data=True)]
        named = [edge_attr] if isinstance(edge_attr, str) else list(edge_attr)
        edge_data["edge_attr"] = as_rows("edge_attr", _table(rows, list(net.edges), named, "edge")).float()
    if not net.is_directed():
        edge_index, edge_data = both_ways(edge_index, edge_data)
    fields: dict[str, Any] = {"x": x, "edge_index": edge_index, "edge_data": edge_data, "feature_names": feature_names}
    if net.graph.get("name"):
        fields["name"] = str(net.graph["name"])
    if nodes != list(range(len(nodes))):
        fields["node_names"] = tuple(map(str, nodes))
    if label is not None:
        values = [net.nodes[node].get(label) for node in nodes]
        if all(value is None for value in values):
            raise ValueError(f"label must name an attribute of nodes, some of {_attributes(net)} (got {label!r})")
        fields["labels"], fields["class_names"] = read_classes(label, values, len(nodes), "node")
    return fields


def _features(net: nx.Graph, nodes: list[Hashable], features: Any) -> tuple[torch.Tensor, tuple[str, ...]]:
    if features is None:
        return read_features(None, len(nodes))
    by_name = isinstance(features, str) or (
        isinstance(features, Sequence) and len(features) > 0 and all(isinstance(name, str) for name in features)
    )
    if not by_name:
        return read_features(features, len(nodes))
    names = [features] if isinstance(features, str) else list(features)
    x, _ = read_features(_table([net.nodes[node] for node in nodes], nodes, names, "node"), len(nodes))
    return x, tuple(names) if x.shape[1] == len(names) else ()


def _table(rows: Sequence[Mapping], things: Sequence, names: Sequence[str], thing: str) -> np.ndarray:
    """The named attributes side by side, each a number or a vector: (rows, ...)."""
    found = []
    for row, which in zip(rows, things, strict=True):
        missing = [name for name in names if row.get(name) is None]
        if missing:
            raise ValueError(
                f"every {thing} must have the attribute {missing[0]!r} (got none at {which!r}); give it to all, or name others"
            )
        try:
            found.append(np.concatenate([np.atleast_1d(np.asarray(row[name], dtype=float)) for name in names]))
        except (ValueError, TypeError):
            raise ValueError(
                f"attributes {', '.join(names)} must be numbers (got {[row[name] for name in names]!r} at {which!r})"
            ) from None
    if len({len(row) for row in found}) > 1:
        raise ValueError(f"attributes {', '.join(names)} must be equally long at every {thing} (got different lengths)")
    return np.array(found).reshape(len(found), -1)


def _attributes(net: nx.Graph) -> str:
    return ", ".join(sorted({name for _, attributes in net.nodes(data=True) for name in attributes})) or "none"
