"""Graphs as the rest of the package sees them: tensors, names and ground truth, checked when made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from explainer_core.checks import index_of
from explainer_core.graph.arrays import both_ways, read_classes, read_edges, read_features, read_rows
from explainer_core.graph.columns import Columns, check_columns
from explainer_core.graph.network_fields import network_fields
from explainer_core.graph.pyg import read_graph, to_data
from explainer_core.graph.rules import (
    NO_LABEL,
    NO_MOTIF,
    check_classes,
    check_label,
    check_motif,
    check_names,
    check_structure,
    check_text,
)


class Features:
    """What explainers ask of the features again and again; worked out once."""

    x: Tensor

    @cached_property
    def feature_mean(self) -> Tensor:
        """(F,)"""
        return self.x.mean(0)

    @cached_property
    def _moved(self) -> dict[torch.device, Tensor]:
        return {}

    def features_on(self, device: torch.device) -> Tensor:
        """The features on a device, moved there once: (N, F)."""
        if self.x.device == device:
            return self.x
        if device not in self._moved:
            self._moved[device] = self.x.to(device)
        return self._moved[device]

    @cached_property
    def features_vary(self) -> bool:
        """True if any feature has different values at different nodes."""
        return bool((self.x != self.x[0]).any())

    @cached_property
    def features_are_types(self) -> bool:
        """True if every node has exactly one of several types: a single 1 in its row, and not always in one column."""
        return one_hot_types(self.x)


@dataclass(frozen=True, eq=False)
class Graph(Features):
    """One graph. An undirected edge is stored as two directed ones, a self-loop as one.

    `labels` are classes of nodes, -1 where one is not known, `label` is the class of the graph as a whole; a graph has
    one, the other or neither. `node_data` and `edge_data` hold what a network may read beside the features, such as
    edge_attr. `node_motif` and `edge_motif` hold the number of the planted motif (or functional
    group) that a node or edge belongs to, and -1 elsewhere: the ground truth of an explanation.
    """

    x: Tensor  # (N, F) float32
    edge_index: Tensor  # (2, E) int64: row 0 the sources, row 1 the targets
    name: str = "graph"
    labels: Tensor | None = None  # (N,) int64; -1: not known
    label: int | None = None
    edge_types: Tensor | None = None  # (E,) int64
    node_motif: Tensor | None = None  # (N,) int64
    edge_motif: Tensor | None = None  # (E,) int64
    node_names: Sequence[str] | None = None
    class_names: Sequence[str] = ()
    feature_names: Sequence[str] = ()
    edge_type_names: Sequence[str] = ()
    node_data: Columns = field(default_factory=dict)  # (N, ...) each
    edge_data: Columns = field(default_factory=dict)  # (E, ...) each

    def __post_init__(self):
        check_structure(self.x, self.edge_index)
        n, e = self.num_nodes, self.num_edges
        check_classes("labels", self.labels, n, "node", self.class_names, "class_names", NO_LABEL)
        check_label(self.label, self.class_names)
        check_classes("edge_types", self.edge_types, e, "edge", self.edge_type_names, "edge_type_names")
        check_motif("node_motif", self.node_motif, n, "node")
        check_motif("edge_motif", self.edge_motif, e, "edge")
        check_names("feature_names", self.feature_names, self.num_features, "feature")
        check_names("node_names", () if self.node_names is None else self.node_names, n, "node")
        check_text("name", self.name)
        check_columns("node_data", self.node_data, n, "node")
        check_columns("edge_data", self.edge_data, e, "edge")

    @classmethod
    def from_arrays(
        cls,
        edges: Any,
        features: Any = None,
        labels: Any = None,
        *,
        num_nodes: int | None = None,
        directed: bool = True,
        edge_types: Any = None,
        node_data: dict[str, Any] | None = None,
        edge_data: dict[str, Any] | None = None,
        **names: Any,
    ) -> "Graph":
        """A graph from tensors, numpy arrays or lists: (2, E) or pairs of nodes; (N, F); one class a node.

        Without features every node has a single 1. Classes are numbers or strings; -1, None or NaN where one is not
        known. With directed=False every edge runs both ways. `names` are name, node_names, class_names,
        feature_names and edge_type_names.
        """
        edge_index, edge_columns = read_edges(edges), read_rows(edge_data or {})
        if features is None and num_nodes is None:
            known = labels if labels is not None else names.get("node_names")
            seen = int(edge_index.max()) + 1 if edge_index.numel() else 0
            num_nodes = seen if known is None else len(known)
        x, feature_names = read_features(features, num_nodes)
        fields: dict[str, Any] = {"feature_names": feature_names if len(feature_names) == x.shape[1] else ()} | names
        if edge_types is not None:
            types, type_names = read_classes(
                "edge_types", edge_types, edge_index.shape[1], "edge", names.get("edge_type_names", ())
            )
            fields["edge_type_names"] = type_names
            if types is not None:
                edge_columns["edge_types"] = types
        if labels is not None:
            given = names.get("class_names", ())
            fields["labels"], fields["class_names"] = read_classes("labels", labels, x.shape[0], "node", given)
        if not directed:
            edge_index, edge_columns = both_ways(edge_index, edge_columns)
        fields["edge_types"] = edge_columns.pop("edge_types", None)
        return cls(x, edge_index, node_data=read_rows(node_data or {}), edge_data=edge_columns, **fields)

    @classmethod
    def from_pyg(cls, data: Any, *, label: str | None = "y", **names: Any) -> "Graph":
        """A graph from a torch_geometric Data. `label` names the attribute with the classes, None for none.

        Every other tensor with a row for each node or edge comes along in node_data and edge_data. `names` are name,
        node_names, class_names, feature_names and edge_type_names.
        """
        return cls(**read_graph(data, label, names))

    @classmethod
    def from_networkx(
        cls,
        net: nx.Graph,
        features: Any = None,
        label: str | None = None,
        *,
        edge_attr: str | Sequence[str] = (),
        **names: Any,
    ) -> "Graph":
        """A graph from networkx; one that is not directed gets both directions of every edge.

        `features` names attributes of nodes, numbers or vectors, or is an array of a row for each; without, every node has a
        single 1. `label` and `edge_attr` name attributes too.
        """
        return cls(**network_fields(net, features, label, edge_attr) | names)

    def to_pyg(self) -> Any:
        """A torch_geometric Data."""
        return to_data(self)

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

    @property
    def num_edges(self) -> int:
        """Number of directed edges."""
        return self.edge_index.shape[1]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @cached_property
    def is_undirected(self) -> bool:
        """True if every edge also runs the other way, with the same type."""
        forward, backward = (
            _edge_keys(ends, self.edge_types, self.num_nodes) for ends in (self.edge_index, self.edge_index.flip(0))
        )
        return torch.equal(forward.sort().values, backward.sort().values)

    @cached_property
    def in_degree(self) -> Tensor:
        """How many edges each node receives: (N,) int64."""
        return torch.bincount(self.edge_index[1], minlength=self.num_nodes)

    def motif_edges(self, node: int) -> Tensor:
        """True for the edges of the motif this node belongs to: (E,) bool. All False outside motifs."""
        index_of("node", node, self.num_nodes)
        if self.node_motif is None or self.edge_motif is None or self.node_motif[node] == NO_MOTIF:
            return torch.zeros(self.num_edges, dtype=torch.bool)
        return self.edge_motif == self.node_motif[node]

    def node_name(self, node: int) -> str:
        return self.node_names[node] if self.node_names else str(node)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph (undirected if every edge runs both ways) with labels, types and motifs as attributes."""
        net = nx.Graph() if self.is_undirected else nx.DiGraph()
        net.graph["name"] = self.name
        for node in range(self.num_nodes):
            net.add_node(
                node, name=self.node_name(node), **self._attributes(node, label=self.labels, motif=self.node_motif)
            )
        for i, (source, target) in enumerate(self.edge_index.t().tolist()):
            net.add_edge(source, target, **self._attributes(i, type=self.edge_types, motif=self.edge_motif))
        return net

    @staticmethod
    def _attributes(index: int, **columns: Tensor | None) -> dict[str, int]:
        return {key: int(values[index]) for key, values in columns.items() if values is not None}


def undirected(pairs: Iterable[tuple[int, int]] | np.ndarray | Tensor) -> Tensor:
    """Both directions of each pair, without repeats and self-loops, sorted: (2, E)."""
    ends = torch.as_tensor(
        np.asarray(pairs if isinstance(pairs, np.ndarray | Tensor) else list(pairs), dtype=np.int64)
    ).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return torch.cat([ends, ends.flip(1)]).unique(dim=0).t().contiguous()


def one_hot_types(x: Tensor) -> bool:
    """True if every row is a single 1 among zeros, and more than one column is in use."""
    used = x != 0
    one_each = bool((used.sum(1) == 1).all()) and bool((x[used] == 1).all())
    return one_each and int(used.any(0).sum()) > 1


def _edge_keys(ends: Tensor, types: Tensor | None, num_nodes: int) -> Tensor:
    """One number for each directed edge and its type."""
    keys = ends[0] * num_nodes + ends[1]
    if types is None or len(types) == 0:
        return keys
    return keys * (int(types.max()) + 1) + types
