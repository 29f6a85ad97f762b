"""What a network says when a few edges fall silent, from what it says of all: only what changes is computed anew.

Messages are summed, so that what a node receives is what it received before, less the silent edges' messages, plus the
change of those whose sources have changed. A part of a neighbourhood lies close to its target, and few nodes between
the two can change in time: of thousands of edges some dozens are left. For layers whose sum is linear in the sources'
states; where the weight of a message depends on its target, as attention does, everything must be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from explainer_core.models.layers import LayerInputs
from explainer_core.models.protocol import PredictionBatch

if TYPE_CHECKING:
    from explainer_core.models.gnn import GNN

LINEAR_KINDS = ("gcn", "sage", "gin", "gated")


@dataclass(frozen=True)
class Baseline:
    """One graph with all its edges: every node's state before each layer, as it is sent, and what it receives there."""

    model: GNN
    own: list[Tensor]  # (N, D) each: the state after a layer's transform
    received: list[Tensor]  # (N, D) each
    degree: Tensor  # (N,)

    @classmethod
    @torch.no_grad()
    def of(cls, model: GNN, x: Tensor, edge_index: Tensor, degree: Tensor) -> Baseline:
        own, received, h = [], [], x
        inputs = LayerInputs(edge_index[0], edge_index[1], len(x), degree)
        for i, layer in enumerate(model.message_layers):
            own.append(layer.transform(h))
            received.append(layer.aggregate(own[-1], inputs))
            h = model.finish(i, layer.update(received[-1], own[-1], inputs))
        return cls(model, own, received, degree)


@dataclass(frozen=True)
class Layer:
    """The nodes of some copies of the graph whose state after a layer may change and be felt at the target, and along
    which edges it does. Positions count these nodes copy by copy."""

    nodes: Tensor  # (n,): numbers in the graph
    before: Tensor  # (n,): positions in the layer before, -1 for those that had not changed
    changed: Tensor  # (2, e): edges that bring a change, from positions in the layer before
    silent: Tensor  # (2, s): edges that fall silent, from numbers in the graph
    roots: Tensor  # (copies, 1 or 2): positions of what is predicted


@torch.no_grad()
def root_embeddings(base: Baseline, layers: Sequence[Layer]) -> Tensor:
    """What the network makes of the nodes that are predicted: (copies, 1 or 2, embedding_size)."""
    model, h, last_nodes = base.model, None, layers[0].nodes[:0]
    states = []
    for i, (each, layer) in enumerate(zip(layers, model.message_layers, strict=True)):
        count, silent = len(each.nodes), each.silent[0]
        own = base.own[i].index_select(0, each.nodes)
        sent = [own.new_zeros(count, own.shape[1])]  # who receives comes first in the table
        if h is not None:
            state = layer.transform(h)
            sent.append(state - base.own[i].index_select(0, last_nodes))
            again = (each.before >= 0).nonzero().squeeze(1)
            own.index_copy_(0, again, state.index_select(0, each.before[again]))
        # a silent edge takes away what its source sent before: one row of the table for each
        table = torch.cat([*sent, -base.own[i].index_select(0, silent)])
        rows = count + len(last_nodes) + torch.arange(len(silent), device=silent.device)
        source = torch.cat([count + each.changed[0], rows])
        target = torch.cat([each.changed[1], each.silent[1]])
        inputs = LayerInputs(source, target, count, base.degree[torch.cat([each.nodes, last_nodes, silent])])
        received = base.received[i].index_select(0, each.nodes) + layer.aggregate(table, inputs)
        h, last_nodes = model.finish(i, layer.update(received, own, inputs)), each.nodes
        states.append(h[each.roots])
    return model.jump(states)


class DeltaGNN:
    """One graph and the predictions read from it, each with some edges silent: a row of the answer for each row of edges.

    `batch` holds one node, or one pair, to predict; `hop` is how far each node is from it.
    """

    def __init__(self, model: GNN, batch: PredictionBatch, hop: np.ndarray):
        self.model, self.batch = model, batch
        self.ends = batch.edge_index.cpu().numpy()  # (2, e)
        assert batch.targets is not None  # there is one node, or one pair
        self.roots = batch.targets.flatten().cpu().numpy()
        # the last layer after which a change of each node can still be felt at the target; below zero: it never is
        self.in_time = model.num_layers - 1 - hop  # (n,)

    @cached_property
    def baseline(self) -> Baseline:
        assert self.batch.degree is not None  # a change is told from the degrees of the graph with all edges
        return Baseline.of(self.model, self.batch.x, self.batch.edge_index, self.batch.degree)

    def logits(self, silent: np.ndarray) -> Tensor:
        z = root_embeddings(self.baseline, self._layers(silent))
        if self.batch.task == "link":
            return self.model.decode(z[:, 0], z[:, 1])
        return self.model.head(z[:, 0])

    def _layers(self, silent: np.ndarray) -> list[Layer]:
        """Layer by layer, what has changed by then and can still be felt."""
        source, target = self.ends
        gone_row, gone = silent.nonzero()
        active = np.zeros((len(silent), len(self.in_time)), dtype=bool)  # before the first layer nothing has changed
        number = np.full(active.shape, -1)
        row, node = active.nonzero()
        found = []
        for i in range(self.model.num_layers):
            felt = self.in_time[target[gone]] >= i
            gone_row, gone = gone_row[felt], gone[felt]
            at, edge = self._edges_from(i, node)
            heard = ~silent[row[at], edge]
            at, edge = at[heard], edge[heard]
            active &= self.in_time >= i
            active[gone_row, target[gone]] = True
            active[row[at], target[edge]] = True
            active[:, self.roots] = True
            changed_row, last, number = row[at], number, np.full(active.shape, -1)
            row, node = active.nonzero()
            number[row, node] = np.arange(len(row))
            parts = (
                node,
                last[row, node],
                np.stack([at, number[changed_row, target[edge]]]),
                np.stack([source[gone], number[gone_row, target[gone]]]),
                number[:, self.roots],
            )
            found.append(Layer(*map(self._tensor, parts)))
        return found

    def _edges_from(self, layer: int, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges along which these nodes may change others in that layer, each with the position of its node."""
        edges, start = self._edges_in_time[layer]
        first, count = start[nodes], start[nodes + 1] - start[nodes]
        at = np.repeat(np.arange(len(nodes)), count)
        before = np.cumsum(count) - count  # edges of the nodes before
        return at, edges[np.arange(len(at)) + (first - before)[at]]

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.batch.x.device)

    @cached_property
    def _edges_in_time(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each layer the edges along which a change can still be felt, sorted by source, and where each node's begin."""
        order = np.argsort(self.ends[0], kind="stable")
        sorted_edges = [order[self.in_time[self.ends[1][order]] >= i] for i in range(self.model.num_layers)]
        nodes = np.arange(len(self.in_time) + 1)
        return [(edges, np.searchsorted(self.ends[0][edges], nodes)) for edges in sorted_edges]
