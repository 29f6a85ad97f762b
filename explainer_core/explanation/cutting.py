"""Hard parts cut out of computation graphs, ready for the model: as graphs of their own, in their place, or as what changes.

Which of the three costs least without changing an answer depends on the task and on the layers; judging.py says what
a part means.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from explainer_core.computation.batches import computation_of
from explainer_core.computation.computation_graph import Computation, repeated_computation
from explainer_core.computation.forward import prediction_batch
from explainer_core.computation.in_edges import InEdges
from explainer_core.explanation.parts import Changed, Parts, Piece
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet, take_rows
from explainer_core.models.protocol import Delta, Model, PredictionBatch, device_of, offered, offers
from explainer_core.targets import TASKS, number_in_set

BATCH_EDGES = 100_000  # edges, and as many nodes, that are judged in one pass
CHANGED_EDGES = 300_000  # the same where only what changes is worked out anew, which is a part of them


class Subject:
    """One explanation's computation graph, from which parts are cut."""

    def __init__(self, model: Model, data: Graph | GraphSet, explanation: Explanation):
        self.model, self.data, self.explanation = model, data, explanation
        self.task = TASKS[type(explanation.target)]
        self.joins = not (self.task == "link" and explanation.sampled)  # each end may have a sample of its own
        # elsewhere a silent edge may be felt, and a part has to stay in its place
        self.local = self.joins and getattr(model, "silent_is_absent", False)

    def alone(self, rows: np.ndarray) -> Iterator[Piece]:
        if self.task == "graph":
            return self._own_graphs(rows, np.zeros(len(self.names), dtype=bool))
        if not self.local:
            return self._in_place(rows)
        return self._own_graphs(rows, np.isin(self.names, self.explanation.roots))

    def without(self, rows: np.ndarray) -> Iterator[Piece]:
        if self.task == "graph":
            return self._own_graphs(~rows, self.isolated)
        return self._changed(rows) if self.joins and offers(self.model, "delta") else self._in_place(~rows)

    @cached_property
    def names(self) -> np.ndarray:
        """The nodes of the computation graph, each once: (n,)."""
        return np.unique(self.explanation.nodes)

    @cached_property
    def ends(self) -> np.ndarray:
        """The directed edges, each once, as positions in `names`: (2, e)."""
        return np.searchsorted(self.names, self.explanation.edge_index[:, self._first])

    @cached_property
    def pair_of(self) -> np.ndarray:
        """The undirected pair of each of them: (e,)."""
        return self.explanation.pair_numbers[self._first]

    @cached_property
    def _first(self) -> np.ndarray:
        """Where each edge stands first: the two ends of a link may both look at it. (e,)"""
        return np.unique(self.explanation.edge_ids, return_index=True)[1]

    @cached_property
    def isolated(self) -> np.ndarray:
        """Which nodes have no edge to lose: (n,)."""
        return np.bincount(self.ends.ravel(), minlength=len(self.names)) == 0

    @cached_property
    def edge_types(self) -> np.ndarray | None:
        if self.data.edge_types is None:
            return None
        return self.data.edge_types.numpy()[self._edge_rows]

    @cached_property
    def _edge_rows(self) -> np.ndarray:
        """Where the edges stand in the data: (e,)."""
        start = (
            int(self.data.edge_start[number_in_set(self.explanation.target)]) if isinstance(self.data, GraphSet) else 0
        )
        return self.explanation.edge_ids[self._first] + start

    @cached_property
    def _node_rows(self) -> np.ndarray:
        """Where the nodes stand in the data: (n,)."""
        start = (
            int(self.data.node_start[number_in_set(self.explanation.target)]) if isinstance(self.data, GraphSet) else 0
        )
        return self.names + start

    @cached_property
    def degree(self) -> np.ndarray | None:
        """In-degrees in the whole graph, less the link that is asked about; None where a part has its own. (n,)"""
        if self.task == "graph" or isinstance(self.data, GraphSet):
            return None
        start = InEdges.of(self.data).start.numpy()
        degree = start[self.names + 1] - start[self.names]
        if self.task == "link":
            known = dict(zip(self.computation.node_ids.tolist(), self.computation.degree.tolist(), strict=True))
            degree = np.array([known[node] for node in self.names.tolist()])
        return degree

    @cached_property
    def x(self) -> Tensor:
        return self.data.x[torch.from_numpy(self._node_rows)]  # (n, F)

    def _own_graphs(self, rows: np.ndarray, always: np.ndarray) -> Iterator[Piece]:
        """Each row as a graph of its edges and their ends, and of the nodes that are always there."""
        per_row = max(1, int(rows.sum() * len(self.pair_of) / max(1, rows.size)) + len(always) // 8)
        at_once = max(1, BATCH_EDGES // per_row)
        return (self._some_graphs(rows[i : i + at_once], always) for i in range(0, len(rows), at_once))

    def _some_graphs(self, rows: np.ndarray, always: np.ndarray) -> Piece:
        used = np.flatnonzero(np.any(rows, axis=0)[self.pair_of])  # edges that any row keeps
        row, edge = rows[:, self.pair_of[used]].nonzero()
        edge = used[edge]
        ends = self.ends[:, edge]
        there = np.repeat(always[None], len(rows), axis=0)  # (rows, n)
        there[row, ends[0]] = there[row, ends[1]] = True
        part, node = there.nonzero()
        number = np.full(there.shape, -1)
        number[part, node] = np.arange(len(part))
        targets = None
        if self.task != "graph":
            at = np.searchsorted(self.names, self.explanation.roots)
            targets = number[:, at[0]] if len(at) == 1 else number[:, at]
        return Piece(
            x=self.x[torch.from_numpy(node)],
            ends=np.stack([number[row, end] for end in ends]),
            part=part,
            count=len(rows),
            targets=targets,
            degree=None if self.degree is None else self.degree[node],
            edge_types=None if self.edge_types is None else self.edge_types[edge],
            node_data=take_rows(self.data.node_data, torch.from_numpy(self._node_rows[node])),
            edge_data=take_rows(self.data.edge_data, torch.from_numpy(self._edge_rows[edge])),
        )

    @cached_property
    def delta(self) -> Delta:
        """The whole computation graph, each node once, from which single edges fall silent."""
        make = offered(self.model, "delta")
        assert make is not None  # nothing is worked out this way otherwise
        device = device_of(self.model)
        hop = np.full(len(self.names), self.model.hops)
        np.minimum.at(hop, np.searchsorted(self.names, self.explanation.nodes), self.explanation.hop)
        at = torch.from_numpy(np.searchsorted(self.names, self.explanation.roots)).to(device)
        batch = PredictionBatch(
            task=self.task,
            x=self.x.to(device),
            edge_index=torch.from_numpy(self.ends).to(device),
            num_predictions=1,
            targets=at[None] if self.task == "link" else at,
            degree=torch.from_numpy(self.degree).to(device),
        )
        return make(batch, hop)

    def _changed(self, rows: np.ndarray) -> Iterator[Piece]:
        """What is left without each row, as what changes in the computation graph."""
        at_once = max(1, CHANGED_EDGES // max(1, self.ends.shape[1]))
        return (self._some_changed(rows[i : i + at_once]) for i in range(0, len(rows), at_once))

    def _some_changed(self, rows: np.ndarray) -> Piece:
        ready = Changed(self.delta, rows[:, self.pair_of])
        return Piece(self.x, self.ends, np.empty(0), len(rows), None, in_place=ready)

    @cached_property
    def computation(self) -> Computation:
        config, target = self.explanation.config, self.explanation.target
        cut = computation_of(self.data, [target], self.model.hops, max_edges=config.max_edges, seed=config.seed)
        return cut.to(device_of(self.model))

    def _in_place(self, rows: np.ndarray) -> Iterator[Piece]:
        """Each row with all edges of the computation graph in their place, those it does not keep silent."""
        at_once = max(1, BATCH_EDGES // max(1, self.computation.num_edges))
        return (self._some_in_place(rows[i : i + at_once]) for i in range(0, len(rows), at_once))

    def _some_in_place(self, rows: np.ndarray) -> Piece:
        c, times = self.computation, len(rows)
        order = c.edge_instance.argsort(stable=True)  # the explanation lists the edges of a link end by end
        weight = torch.empty(c.num_edges, times, device=c.x.device)
        weight[order] = torch.from_numpy(rows[:, self.explanation.pair_numbers].T.astype(np.float32)).to(c.x.device)
        many = repeated_computation(c, self.task, times)
        part = many.node_instance // (2 if self.task == "link" else 1)
        parts = Parts(self.model, prediction_batch(many, self.task), part, weight.flatten())
        size = np.empty((2, many.num_edges), dtype=bool)  # only its size is looked at
        return Piece(many.x, size, np.empty(0), times, None, in_place=parts)
