"""What a network says of many edited copies of a graph, from what it says of the graph: only what changes is computed anew.

Edges may go and come, and features change. A node is computed anew in a layer if an edge into it was edited, or a neighbour
had changed before, and if the target can still hear of it in the layers that are left. It is then computed from all its
edges, so that layers of every kind come out as they would on the edited graph, degrees and attention included.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class EditRows:
    """Edited copies of a batch's graph, one row each, as what is edited in which row."""

    prediction: np.ndarray  # (R,): which prediction of the batch is asked for
    cut: np.ndarray  # (2, c): row, edge
    lost: (
        np.ndarray
    )  # (2, d): row, node: once for every edge into it that is cut, also where the graph ends before that edge
    added: np.ndarray  # (3, a): row, source, target
    added_types: np.ndarray | None  # (a,)
    changed: np.ndarray  # (3, f): row, node, feature
    values: np.ndarray  # (f,)


class EditedGNN:
    """One graph and the nodes, or pairs, that are predicted from it; `hop` is how far each node is from each: (P, n)."""

    def __init__(self, model: GNN, batch: PredictionBatch, hop: np.ndarray):
        self.model, self.batch, self.hop = model, batch, hop
        assert batch.targets is not None  # there are nodes, or pairs
        assert batch.degree is not None  # what changes is told from the degrees of the whole graph
        self.roots = batch.targets.cpu().numpy().reshape(batch.num_predictions, -1)  # (P, 1 or 2)
        self.num_nodes = len(batch.x)
        self.source, self.target = batch.edge_index.cpu().numpy()
        self.degree = batch.degree.cpu().numpy()
        self.messages = 0  # that the last answer took

    @torch.no_grad()
    def logits(self, edits: EditRows) -> Tensor:
        """(R, C)"""
        rows = _Rows(self, edits)
        self.messages = 0
        at_roots = []
        keys, own = rows.first()
        for i in range(self.model.num_layers):
            keys, h = rows.layer(i, keys, own)
            at_roots.append(rows.states_of_roots(i, keys, h))  # (R * roots, D)
            own = h if i + 1 == self.model.num_layers else self.model.message_layers[i + 1].transform(h)
        z = self.model.jump(at_roots)
        if self.batch.task == "link":
            return self.model.decode(z[0::2], z[1::2])
        return self.model.head(z)

    @cached_property
    def states(self) -> list[tuple[Tensor, Tensor]]:
        """Of each layer what every node sends before it, and its state after it, with nothing edited: (n, D) each."""
        b, found = self.batch, []
        with torch.no_grad():
            degree = torch.from_numpy(self.degree).to(b.x.device)
            inputs = LayerInputs(b.edge_index[0], b.edge_index[1], self.num_nodes, degree, edge_type=b.edge_types)
            h = b.x
            for i, layer in enumerate(self.model.message_layers):
                own = layer.transform(h)
                h = self.model.finish(i, layer.from_state(own, inputs))
                found.append((own, h))
        return found

    @cached_property
    def edges_in(self) -> tuple[np.ndarray, np.ndarray]:
        return _index(self.target, self.num_nodes)

    @cached_property
    def edges_out(self) -> tuple[np.ndarray, np.ndarray]:
        return _index(self.source, self.num_nodes)

    @property
    def reads_degree_of_sources(self) -> bool:
        return self.model.spec.kind == "gcn" and self.model.spec.normalize


class _Rows:
    """The edited copies, layer by layer. A key is row * N + node; keys are sorted, and states stand in their order."""

    def __init__(self, graph: EditedGNN, edits: EditRows):
        self.graph, self.edits, n = graph, edits, graph.num_nodes
        self.cut = np.sort(edits.cut[0] * len(graph.source) + edits.cut[1])
        lost = edits.lost[0] * n + edits.lost[1]
        won = edits.added[0] * n + edits.added[2]
        change = np.repeat([-1, 1], [len(lost), len(won)])
        edited = np.concatenate([lost, won])
        self.direct = _distinct(edited)  # nodes whose edges are edited
        self.degree_change = np.zeros(len(self.direct), dtype=np.int64)
        np.add.at(self.degree_change, np.searchsorted(self.direct, edited), change)
        # over an added edge a node may be nearer: by how much is not worked out, only that it is no nearer than this
        self.nearest = np.full(len(edits.prediction), 2**14)
        np.minimum.at(
            self.nearest, edits.added[0], 1 + graph.hop[edits.prediction[edits.added[0]], edits.added[2]].astype(int)
        )

    def first(self) -> tuple[np.ndarray, Tensor]:
        """The nodes whose features change, and what they send then; where a layer reads degrees of sources, also those whose degree does."""
        edits, n = self.edits, self.graph.num_nodes
        at_features = edits.changed[0] * n + edits.changed[1]
        keys = _distinct(
            np.concatenate([at_features, self.direct]) if self.graph.reads_degree_of_sources else at_features
        )
        keys = self._felt(keys, 0)
        own = self.graph.states[0][0][torch.from_numpy(keys % n)]
        at, there = _find(keys, at_features)
        if there.any():  # a transform is linear: each changed feature adds its own share, however wide the features are
            node, feature = (torch.from_numpy(edits.changed[i][there]) for i in (1, 2))
            used, number = feature.unique(return_inverse=True)
            x = self.graph.batch.x
            one = x.new_zeros(len(used), x.shape[1])
            one[torch.arange(len(used)), used] = 1.0
            each = self.graph.model.message_layers[0].transform(one)  # (used, D)
            change = torch.from_numpy(edits.values[there]).to(x) - x[node, feature]
            own.index_add_(0, torch.from_numpy(at[there]), change[:, None] * each[number])
        return keys, own

    def layer(self, i: int, before: np.ndarray, own_before: Tensor) -> tuple[np.ndarray, Tensor]:
        """The nodes that change in a layer and their states, from those that changed before it and what they send."""
        graph, n, edits = self.graph, self.graph.num_nodes, self.edits
        model, layer = graph.model, graph.model.message_layers[i]
        keys = self._reached(before, i + 1)
        edge, owner = _ranges(*graph.edges_in, keys % n)
        row = keys[owner] // n
        kept = ~_find(self.cut, row * len(graph.source) + edge)[1]
        edge, owner, row = edge[kept], owner[kept], row[kept]
        source, types = row * n + graph.source[edge], self._types(edge)
        if edits.added.shape[1]:
            into, there = _find(keys, edits.added[0] * n + edits.added[2])
            source = np.concatenate([source, (edits.added[0] * n + edits.added[1])[there]])
            owner = np.concatenate([owner, into[there]])
            if types is not None and edits.added_types is not None:
                types = np.concatenate([types, edits.added_types[there]])
        graph.messages += len(source)
        # the table: what the nodes that are computed have been, then all that changed before, then the graph as it was
        base_own = graph.states[i][0]
        at, changed = _find(before, source)
        position = len(keys) + np.where(changed, at, len(before) + source % n)
        at, changed = _find(before, keys)
        table = torch.cat([own_before, base_own])
        own = table[torch.from_numpy(np.where(changed, at, len(before) + keys % n))]
        degree = np.concatenate([self._degree(keys), self._degree(before), graph.degree])
        device = base_own.device
        inputs = LayerInputs(
            torch.from_numpy(position).to(device),
            torch.from_numpy(owner).to(device),
            len(keys),
            torch.from_numpy(degree).to(device),
            edge_type=None if types is None else torch.from_numpy(types).to(device),
        )
        return keys, model.finish(i, layer.from_state(torch.cat([own, table]), inputs))

    def states_of_roots(self, i: int, changed: np.ndarray, h: Tensor) -> Tensor:
        roots = self.graph.roots[self.edits.prediction]  # (R, 1 or 2)
        keys = (np.arange(len(roots))[:, None] * self.graph.num_nodes + roots).ravel()
        at, there = _find(changed, keys)
        position = np.where(there, at, len(changed) + keys % self.graph.num_nodes)
        return torch.cat([h, self.graph.states[i][1]])[torch.from_numpy(position)]

    def _reached(self, before: np.ndarray, layer: int) -> np.ndarray:
        """The nodes that change in a layer, counted from one, and are felt at the target."""
        n = self.graph.num_nodes
        edge, owner = _ranges(*self.graph.edges_out, before % n)
        heard = before[owner] // n * n + self.graph.target[edge]
        return self._felt(_distinct(np.concatenate([self.direct, before, heard])), layer)

    def _felt(self, keys: np.ndarray, layer: int) -> np.ndarray:
        row, node = np.divmod(keys, self.graph.num_nodes)
        hop = np.minimum(self.graph.hop[self.edits.prediction[row], node], self.nearest[row])
        return keys[hop <= self.graph.model.num_layers - layer]

    def _degree(self, keys: np.ndarray) -> np.ndarray:
        degree = self.graph.degree[keys % self.graph.num_nodes]
        at, there = _find(self.direct, keys)
        degree[there] += self.degree_change[at[there]]
        return degree

    def _types(self, edge: np.ndarray) -> np.ndarray | None:
        types = self.graph.batch.edge_types
        return None if types is None else types.cpu().numpy()[edge]


def _index(end: np.ndarray, num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges sorted by one of their ends, and where each node's begin."""
    start = np.concatenate([[0], np.bincount(end, minlength=num_nodes).cumsum()])
    return end.argsort(kind="stable"), start


def _ranges(edges: np.ndarray, start: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All edges of the nodes, one after another, and whose each is."""
    sizes = start[nodes + 1] - start[nodes]
    owner = np.repeat(np.arange(len(nodes)), sizes)
    offset = np.arange(len(owner)) - (sizes.cumsum() - sizes)[owner]
    return edges[start[nodes][owner] + offset], owner


def _distinct(keys: np.ndarray) -> np.ndarray:
    """As np.unique, which takes three times as long."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _find(known: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each key is among the known ones, which are sorted, and whether it is there."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    at = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return at, known[at] == keys
