"""What a network says when a few edges fall silent, from what it says of all: only what changes is computed anew.

Messages are summed, so that what a node receives is what it received before, less the silent edges' messages, plus the
change of those whose sources have changed. A part of a neighbourhood lies close to its target, and few nodes between
the two can change in time: of thousands of edges some dozens are left. For layers whose sum is linear in the sources'
states; where the weight of a message depends on its target, as attention does, everything must be computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from explainer_core.models.layers import LayerInputs, first_rows
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
    last: list[Tensor]  # (N, D) each: the state after each layer
    degree: Tensor  # (N,)

    @classmethod
    @torch.no_grad()
    def of(cls, model: GNN, x: Tensor, edge_index: Tensor, degree: Tensor) -> Baseline:
        own, received, last, h = [], [], [], x
        inputs = LayerInputs(edge_index[0], edge_index[1], len(x), degree)
        for i, layer in enumerate(model.message_layers):
            own.append(layer.transform(h))
            received.append(layer.aggregate(own[-1], inputs))
            h = model.finish(i, layer.update(received[-1], own[-1], inputs))
            last.append(h)
        return cls(model, own, received, last, degree)


@dataclass(frozen=True)
class Changes:
    """Copies of the graph in which some edges are silent, each as the nodes that may change and the edges among them."""

    nodes: Tensor  # (n,): numbers in the graph
    kept: Tensor  # (2, e): edges between changing nodes, as positions in `nodes`
    silent: Tensor  # (2, s): from numbers in the graph to positions in `nodes`


@torch.no_grad()
def embeddings(base: Baseline, changes: Changes) -> Tensor:
    """What the layers make of every node that may change: (n, embedding_size)."""
    model, nodes = base.model, changes.nodes
    count, senders = len(nodes), torch.cat([nodes, changes.silent[0]])
    # a silent edge takes away what its source sent before: one row of the table for each
    rows = count + torch.arange(changes.silent.shape[1], device=nodes.device)
    source = torch.cat([changes.kept[0], rows])
    target = torch.cat([changes.kept[1], changes.silent[1]])
    inputs = LayerInputs(source, target, count, base.degree[senders])
    states, h = [], None
    for i, layer in enumerate(model.message_layers):
        before = base.own[i][nodes]
        state = before if h is None else layer.transform(h)
        table = torch.cat([state - before, -base.own[i][changes.silent[0]]])
        received = base.received[i][nodes] + layer.aggregate(table, inputs)
        h = model.finish(i, layer.update(received, first_rows(state, count), inputs))
        states.append(h)
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
        # how many layers a change of each node may take to be felt at the target; below zero: it never is
        self.in_time = model.num_layers - 1 - hop  # (n,)

    @cached_property
    def baseline(self) -> Baseline:
        assert self.batch.degree is not None  # a change is told from the degrees of the graph with all edges
        return Baseline.of(self.model, self.batch.x, self.batch.edge_index, self.batch.degree)

    def logits(self, silent: np.ndarray) -> Tensor:
        changing = self._changing(silent)  # (rows, n)
        changing[:, self.roots] = True
        part, node = changing.nonzero()
        number = np.full(changing.shape, -1)
        number[part, node] = np.arange(len(part))
        row, edge = (silent & changing[:, self.ends[1]]).nonzero()
        from_silent = np.stack([self.ends[0][edge], number[row, self.ends[1][edge]]])
        row, edge = (~silent & changing[:, self.ends[0]] & changing[:, self.ends[1]]).nonzero()
        kept = np.stack([number[row, end[edge]] for end in self.ends])
        device = self.batch.x.device
        changes = Changes(*(torch.from_numpy(array).to(device) for array in (node, kept, from_silent)))
        z = embeddings(self.baseline, changes)
        roots = torch.from_numpy(number[:, self.roots]).to(device)  # (rows, 1 or 2)
        if self.batch.task == "link":
            return self.model.decode(z[roots[:, 0]], z[roots[:, 1]])
        return self.model.head(z[roots[:, 0]])

    @cached_property
    def _by_target(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sources of the edges sorted by target, where each target's begin, and the targets."""
        order = np.argsort(self.ends[1], kind="stable")
        targets, start = np.unique(self.ends[1][order], return_index=True)
        return self.ends[0][order], start, targets

    def _changing(self, silent: np.ndarray) -> np.ndarray:
        """Which nodes change early enough to be felt at the target: (rows, n)."""
        sources, start, targets = self._by_target
        first = np.zeros((len(silent), len(self.in_time)), dtype=bool)
        row, edge = silent.nonzero()
        first[row, self.ends[1][edge]] = True
        reached, found = first, first & (self.in_time >= 0)
        for step in range(1, self.model.num_layers):
            spread = np.logical_or.reduceat(reached[:, sources], start, axis=1)  # (rows, targets)
            reached = reached.copy()
            reached[:, targets] |= spread
            found = found | (reached & (self.in_time >= step))
        return found
