"""What a network says of many parts of the same graphs: nodes that must have the same state are computed once.

A node's state after a layer follows from its own before the layer and from those that its neighbours send. So every node gets
a name for each layer, made of the names of these, and equal names are equal states. Parts of one graph differ in a few
edges: of a thousand molecules' parts with their nodes, a hundredth is left in the first layer and a sixth in the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from explainer_core.hashing import hashed
from explainer_core.models.layers import LayerInputs, count_by
from explainer_core.models.protocol import PredictionBatch

if TYPE_CHECKING:
    from explainer_core.models.gnn import GNN

WORTH_IT = 1000  # nodes below which a plain pass is cheaper
WIDE = 64  # units of a layer, likewise, unless attention or relations make a node dear
MOST_VALUES = 4_000_000  # features of all nodes above which naming them costs more than it saves
OWN, SENT, VALUES, SPREAD, DEGREE = range(5)  # what a random number stands for


@dataclass(frozen=True)
class _Equal:
    """Which nodes have equal names."""

    number: Tensor  # (n,): of the name of each node
    first: Tensor  # (names,): a node of each name

    @classmethod
    def of(cls, names: Tensor) -> _Equal:
        unique, number = names.unique(return_inverse=True)
        first = torch.empty_like(unique).scatter_(0, number, torch.arange(len(names), device=names.device))
        return cls(number, first)


def is_worth_it(model: GNN, batch: PredictionBatch) -> bool:
    """Many nodes that cost much each, on a device where a program need not wait to see how many differ."""
    costly = model.spec.hidden >= WIDE or model.spec.kind in ("gat", "rgcn")
    few_values = batch.x.numel() <= MOST_VALUES
    return costly and few_values and len(batch.x) >= WORTH_IT and batch.x.device.type == "cpu"


@torch.no_grad()
def deduplicated_logits(model: GNN, batch: PredictionBatch) -> Tensor:
    """The logits of whole graphs without weights: (P, C)."""
    if not is_worth_it(model, batch):
        return model.logits(batch)
    degree = count_by(batch.edge_index[1], len(batch.x)) if batch.degree is None else batch.degree
    before = _Equal.of(_first_names(model, batch, degree))
    state, seen = batch.x[before.first], []
    for i, layer in enumerate(model.message_layers):
        now = _Equal.of(_next_names(before, batch))
        own = before.number[now.first]  # (names,)
        state = model.finish(i, layer(torch.cat([state[own], state]), _inputs(batch, degree, before, now)))
        seen.append((now, state))
        before = now
    last = before.first
    z = model.jump([state[equal.number[last]] for equal, state in seen])  # (names, D)
    return model.head(_read_out(model, z, before.number, batch))


def _first_names(model: GNN, batch: PredictionBatch, degree: Tensor) -> Tensor:
    """Made of the features, bit by bit, and of the degree where a layer divides by it: (n,)."""
    bits = batch.x.float().contiguous().view(torch.int32).long()  # (n, F)
    odd = hashed(VALUES, torch.arange(bits.shape[1])) | 1
    spread = bits * int(hashed(SPREAD) | 1)
    names = ((spread ^ (spread >> 32)) * odd).sum(
        1
    )  # the low bits of round numbers are all zero: the high ones count too
    if model.spec.kind in ("gcn", "sage") and model.spec.normalize:
        names = names + degree.long() * (hashed(DEGREE) | 1)
    return names


def _next_names(equal: _Equal, batch: PredictionBatch) -> Tensor:
    """A random number for the own state, and the sum of those for what is sent, each the same for the same state: (n,)."""
    source, target = batch.edge_index
    states, types = len(equal.first), 1
    sent = equal.number.index_select(0, source)
    if batch.edge_types is not None:
        types = int(batch.edge_types.max()) + 1 if len(batch.edge_types) else 1
        sent = sent + states * batch.edge_types
    names = hashed(OWN, torch.arange(states)).index_select(0, equal.number)
    return names.index_add_(0, target, hashed(SENT, torch.arange(states * types)).index_select(0, sent))


def _inputs(batch: PredictionBatch, degree: Tensor, before: _Equal, now: _Equal) -> LayerInputs:
    """A node of each name receives, from the states of the layer before, which follow their own states in the table."""
    source, target = batch.edge_index
    receives = torch.zeros(len(batch.x), dtype=torch.bool)
    receives[now.first] = True
    edges = receives.index_select(0, target).nonzero().flatten()
    return LayerInputs(
        source=len(now.first) + before.number.index_select(0, source.index_select(0, edges)),
        target=now.number.index_select(0, target.index_select(0, edges)),
        num_out=len(now.first),
        degree=torch.cat([degree[now.first], degree[before.first]]),
        edge_type=None if batch.edge_types is None else batch.edge_types[edges],
    )


def _read_out(model: GNN, z: Tensor, number: Tensor, batch: PredictionBatch) -> Tensor:
    """One vector for each graph, from the states of its nodes by their number: (P, D)."""
    graph_of = batch.graph_of
    assert graph_of is not None  # whole graphs have it
    if not bool((graph_of[1:] >= graph_of[:-1]).all()):
        order = graph_of.argsort(stable=True)
        graph_of, number = graph_of[order], number[order]
    count = count_by(graph_of, batch.num_predictions)
    return nn.functional.embedding_bag(number, z, count.cumsum(0) - count, mode=model.spec.readout)
