"""The edges of a graph by the node they run into, so that a neighbourhood costs only its own size."""

import threading
import weakref
from dataclasses import dataclass

import torch
from torch import Tensor

from explainer_core.graph import Graph

_indexes: "weakref.WeakKeyDictionary[Graph, InEdges]" = weakref.WeakKeyDictionary()
_index_lock = threading.Lock()


@dataclass(frozen=True)
class InEdges:
    """The edges of a graph sorted by the node they run into, so that a neighbourhood costs only its own size."""

    start: Tensor  # (N + 1,): where the edges into each node begin
    edges: Tensor  # (E,): numbers of the graph's edges

    @classmethod
    def of(cls, graph: Graph) -> "InEdges":
        """Built once for each graph, and dropped with it."""
        with _index_lock:
            if graph not in _indexes:
                _indexes[graph] = cls.build(graph.edge_index, graph.num_nodes)
            return _indexes[graph]

    @classmethod
    def build(cls, edge_index: Tensor, num_nodes: int) -> "InEdges":
        targets = edge_index[1]
        counts = torch.bincount(targets, minlength=num_nodes)
        start = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return cls(start, targets.argsort(stable=True))
