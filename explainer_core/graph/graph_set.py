"""Many small graphs as one: a set that is checked when made, and batches cut out of it by indexing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explainer_core.checks import InvalidValue, index_number, shown
from explainer_core.graph.columns import Columns, check_columns, join_rows, take_rows
from explainer_core.graph.graph import Features, Graph
from explainer_core.graph.pyg import read_set
from explainer_core.graph.rules import (
    NO_LABEL,
    check_classes,
    check_motif,
    check_names,
    check_starts,
    check_structure,
    check_text,
)

MOST_IN_BATCH = 10_000_000  # numbers
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@dataclass(frozen=True)
class Batch:
    """Several graphs as one disjoint union; `graph_of` tells which graph a node came from."""

    x: Tensor  # (N, F)
    edge_index: Tensor  # (2, E)
    graph_of: Tensor  # (N,) int64, 0 to num_graphs - 1
    num_graphs: int
    edge_types: Tensor | None = None  # (E,)
    node_data: Columns = field(default_factory=dict)  # (N, ...) each
    edge_data: Columns = field(default_factory=dict)  # (E, ...) each


@dataclass(frozen=True, eq=False)
class GraphSet(Features):
    """Many small graphs with one class each, kept end to end in a few tensors so that a batch is only indexing.

    `node_start[i]` and `edge_start[i]` are where graph i begins; edges hold node numbers of the whole set.
    """

    x: Tensor  # (sum N, F) float32
    edge_index: Tensor  # (2, sum E) int64
    node_start: Tensor  # (G + 1,) int64
    edge_start: Tensor  # (G + 1,) int64
    name: str = "graphs"
    labels: Tensor | None = None  # (G,) int64; -1: not known
    edge_types: Tensor | None = None
    node_motif: Tensor | None = None
    edge_motif: Tensor | None = None
    graph_names: Sequence[str] | None = None
    node_names: Sequence[str] | None = None
    class_names: Sequence[str] = ()
    feature_names: Sequence[str] = ()
    edge_type_names: Sequence[str] = ()
    node_data: Columns = field(default_factory=dict)  # (sum N, ...) each
    edge_data: Columns = field(default_factory=dict)  # (sum E, ...) each

    def __post_init__(self):
        check_structure(self.x, self.edge_index)
        n, e = self.x.shape[0], self.edge_index.shape[1]
        check_starts("node_start", self.node_start, n)
        check_starts("edge_start", self.edge_start, e)
        if len(self.node_start) != len(self.edge_start):
            raise ValueError(
                f"node_start and edge_start must describe the same number of graphs (got {len(self.node_start) - 1} and "
                f"{len(self.edge_start) - 1}); give each G + 1 entries"
            )
        owner = torch.repeat_interleave(torch.arange(len(self)), self.edge_start.diff())  # (sum E,)
        inside = (self.edge_index >= self.node_start[owner]) & (self.edge_index < self.node_start[owner + 1])
        if not inside.all():
            edge = int((~inside.all(0)).nonzero()[0])
            raise ValueError(
                f"an edge must join two nodes of its own graph (got edge {edge}, {self.edge_index[:, edge].tolist()}, in graph "
                f"{int(owner[edge])}); sort edges by graph and number nodes over the whole set"
            )
        check_classes("labels", self.labels, len(self), "graph", self.class_names, "class_names", NO_LABEL)
        check_classes("edge_types", self.edge_types, e, "edge", self.edge_type_names, "edge_type_names")
        check_motif("node_motif", self.node_motif, n, "node")
        check_motif("edge_motif", self.edge_motif, e, "edge")
        check_names("feature_names", self.feature_names, self.num_features, "feature")
        check_names("node_names", () if self.node_names is None else self.node_names, n, "node")
        check_names("graph_names", () if self.graph_names is None else self.graph_names, len(self), "graph")
        check_text("name", self.name)
        check_columns("node_data", self.node_data, n, "node")
        check_columns("edge_data", self.edge_data, e, "edge")

    @classmethod
    def from_graphs(cls, graphs: Iterable[Graph], name: str = "graphs") -> "GraphSet":
        """Joins graphs that share feature, class and type names. What one of them has, labels for one, all must have."""
        graphs = list(graphs)
        if not graphs:
            raise ValueError("a GraphSet needs at least one graph (got none)")
        first = graphs[0]
        for graph in graphs:
            if not isinstance(graph, Graph):
                raise InvalidValue("a GraphSet is made of Graphs", graph)
            if graph.num_features != first.num_features or graph.x.dtype != first.x.dtype:
                raise ValueError(
                    f"graphs of a set must share features (got {graph.num_features} of {graph.x.dtype} in "
                    f"{shown(graph.name)} beside {first.num_features} of {first.x.dtype}); give all graphs the same"
                )
            for name_field in ("feature_names", "class_names", "edge_type_names"):
                if tuple(getattr(graph, name_field)) != tuple(getattr(first, name_field)):
                    raise ValueError(
                        f"graphs of a set must share {name_field} (got another in {shown(graph.name)}); give all graphs the same"
                    )
        for column in ("label", "edge_types", "node_motif", "edge_motif"):
            _check_all_or_none(column, graphs)
        node_start = torch.tensor([0, *np.cumsum([g.num_nodes for g in graphs])])
        edge_start = torch.tensor([0, *np.cumsum([g.num_edges for g in graphs])])
        edges = [g.edge_index + start for g, start in zip(graphs, node_start.tolist(), strict=False)]
        labels = [g.label for g in graphs]
        return cls(
            x=torch.cat([g.x for g in graphs]),
            edge_index=torch.cat(edges, dim=1),
            node_start=node_start,
            edge_start=edge_start,
            name=name,
            labels=None if None in labels else torch.tensor(labels),
            edge_types=_join([g.edge_types for g in graphs]),
            node_motif=_join([g.node_motif for g in graphs]),
            edge_motif=_join([g.edge_motif for g in graphs]),
            graph_names=[g.name for g in graphs],
            node_names=[g.node_name(i) for g in graphs for i in range(g.num_nodes)],
            class_names=first.class_names,
            feature_names=first.feature_names,
            edge_type_names=first.edge_type_names,
            node_data=join_rows("node_data", [g.node_data for g in graphs]),
            edge_data=join_rows("edge_data", [g.edge_data for g in graphs]),
        )

    @classmethod
    def from_pyg(
        cls, graphs: Any, *, name: str = "graphs", label: str | None = "y", class_names: Sequence[str] = ()
    ) -> "GraphSet":
        """A set from a list or dataset of torch_geometric Data, one class each; see Graph.from_pyg."""
        fields, labels, names = read_set(graphs, label, class_names)
        for each in fields:
            each.pop("class_names", None)
        types = max((each["edge_type_names"] for each in fields if "edge_type_names" in each), key=len, default=())
        for i, each in enumerate(fields):
            each.setdefault("name", f"{name} {i}")
            each |= {"edge_type_names": types} if "edge_types" in each else {}
        made = cls.from_graphs([Graph(**each) for each in fields], name)
        return replace(made, labels=labels, class_names=names)

    def to_pyg(self) -> list:
        """A list of torch_geometric Data."""
        return [graph.to_pyg() for graph in self]

    def __len__(self) -> int:
        return len(self.node_start) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Graph:
        index = index_number("graph", index)
        if not 0 <= index < len(self):
            # IndexError, not ValueError: it is what ends a for loop over a sequence
            raise IndexError(f"graph must be 0 to {len(self) - 1} (got {shown(index)})")
        nodes = slice(*self.node_start[index : index + 2].tolist())
        edges = slice(*self.edge_start[index : index + 2].tolist())
        return Graph(
            x=self.x[nodes],
            edge_index=self.edge_index[:, edges] - nodes.start,
            name=self.graph_name(index),
            label=None if self.labels is None or self.labels[index] == NO_LABEL else int(self.labels[index]),
            edge_types=_part(self.edge_types, edges),
            node_motif=_part(self.node_motif, nodes),
            edge_motif=_part(self.edge_motif, edges),
            node_names=_part(self.node_names, nodes),
            class_names=self.class_names,
            feature_names=self.feature_names,
            edge_type_names=self.edge_type_names,
            node_data=take_rows(self.node_data, nodes),
            edge_data=take_rows(self.edge_data, edges),
        )

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    def graph_name(self, index: int) -> str:
        return self.graph_names[index] if self.graph_names else f"{self.name} {index}"

    def batch(self, indices: Sequence[int] | Tensor) -> Batch:
        """The chosen graphs as one disjoint union, in the given order."""
        indices = _numbers(indices)
        if len(indices) == 0 or indices.min() < 0 or indices.max() >= len(self):
            raise ValueError(f"a batch needs graphs from 0 to {len(self) - 1} (got {indices.tolist()[:5]})")
        nodes, graph_of = ranges(self.node_start, indices)
        edges, edge_graph = ranges(self.edge_start, indices)
        sizes = self.node_start.diff()[indices]
        new_start = sizes.cumsum(0) - sizes  # (len(indices),)
        shift = new_start - self.node_start[indices]
        return Batch(
            x=self.x[nodes],
            edge_index=self.edge_index[:, edges] + shift[edge_graph],
            graph_of=graph_of,
            num_graphs=len(indices),
            edge_types=None if self.edge_types is None else self.edge_types[edges],
            node_data=take_rows(self.node_data, nodes),
            edge_data=take_rows(self.edge_data, edges),
        )


def ranges(start: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """All positions of the chosen stretches one after another, and which stretch each is from."""
    sizes = start.diff()[indices]
    owner = torch.repeat_interleave(torch.arange(len(indices)), sizes)
    offset = torch.arange(len(owner)) - (sizes.cumsum(0) - sizes)[owner]
    return start[indices][owner] + offset, owner


def _numbers(indices: Sequence[int] | Tensor) -> Tensor:
    """The numbers of some graphs, of whatever kind the list is: (B,) int64."""
    try:
        if not isinstance(indices, Tensor) and len(indices) > MOST_IN_BATCH:
            raise ValueError
        found = torch.as_tensor(indices)
        numbers = found.dtype in WHOLE or not found.numel()  # an empty list has no type
        if found.ndim != 1 or found.layout != torch.strided or found.is_meta or not numbers:
            raise ValueError
        return found.to(torch.int64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise InvalidValue(f"a batch needs a list of at most {MOST_IN_BATCH:,} numbers of graphs", indices) from None


def _part(values, where: slice):
    return None if values is None else values[where]


def _check_all_or_none(field: str, graphs: list[Graph]) -> None:
    """A set keeps a column for all its graphs or for none: half of one would have to be dropped."""
    missing = [i for i, graph in enumerate(graphs) if getattr(graph, field) is None]
    if 0 < len(missing) < len(graphs):
        raise ValueError(
            f"graphs of a set must all have {field}, or none (got none in graph {missing[0]}, {shown(graphs[missing[0]].name)}, "
            f"and in {len(missing)} of {len(graphs)} in all); give it to every graph, or leave these out"
        )


def _join(parts: list[Tensor | None]) -> Tensor | None:
    there = [part for part in parts if part is not None]
    return torch.cat(there) if len(there) == len(parts) else None
