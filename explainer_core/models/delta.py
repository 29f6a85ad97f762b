"""What a network says when a few edges fall silent, from what it says of all: only what changes is worked out anew.

Messages are summed, so that what a node receives is what it received before, less the silent edges' messages, plus the
change of those whose senders have changed. A part of a neighbourhood lies close to its target, and few nodes between
the two can change in time: of thousands of edges some dozens are left. For layers whose sum is linear in the senders'
states; where the weight of a message depends on the receiver, as attention does, everything must be asked again.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from explainer_core.models.gnn import GNN
from explainer_core.models.layers import Wiring, first_rows

LINEAR_KINDS = ("gcn", "sage", "gin", "gated")


def has_delta(model) -> bool:
    return type(model) is GNN and model.spec.kind in LINEAR_KINDS and not model.training


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
    def of(cls, model: GNN, x: Tensor, edge_index: Tensor, degree: Tensor) -> "Baseline":
        own, received, last, h = [], [], [], x
        wiring = Wiring(*edge_index, len(x), degree)
        for i, layer in enumerate(model.layers):
            own.append(layer.transform(h))
            received.append(layer.hear(own[-1], wiring))
            h = model.finish(i, layer.update(received[-1], own[-1], wiring))
            last.append(h)
        return cls(model, own, received, last, degree)


@dataclass(frozen=True)
class Changes:
    """Copies of the graph in which some edges are silent, each as the nodes that may change and the edges among them."""

    nodes: Tensor  # (n,): numbers in the graph
    kept: Tensor  # (2, e): edges between changing nodes, as places in `nodes`
    silent: Tensor  # (2, s): from numbers in the graph to places in `nodes`


@torch.no_grad()
def embeddings(base: Baseline, changes: Changes) -> Tensor:
    """What the layers make of every node that may change: (n, embedding_size)."""
    model, nodes = base.model, changes.nodes
    count, senders = len(nodes), torch.cat([nodes, changes.silent[0]])
    # a silent edge takes away what its sender sent before: one row of the table for each
    places = count + torch.arange(changes.silent.shape[1], device=nodes.device)
    source = torch.cat([changes.kept[0], places])
    head = torch.cat([changes.kept[1], changes.silent[1]])
    wiring = Wiring(source, head, count, base.degree[senders])
    states, h = [], None
    for i, layer in enumerate(model.layers):
        before = base.own[i][nodes]
        state = before if h is None else layer.transform(h)
        table = torch.cat([state - before, -base.own[i][changes.silent[0]]])
        received = base.received[i][nodes] + layer.hear(table, wiring)
        h = model.finish(i, layer.update(received, first_rows(state, count), wiring))
        states.append(h)
    return model.jump(states)
