"""The slope of a GCN's logits in its edge weights, written out instead of recorded.

A network on a small neighbourhood is many tiny operations, and autograd's book-keeping is a good part of what they cost.
Where a mask over edges is all that is learnt, and the network is the usual GCN, the way back is short enough to write down.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from explainer_core.models.gnn import GNN, TINY
from explainer_core.models.layers import GCNLayer, Wiring, first_rows, sum_by

Pull = Callable[
    [Tensor], Tensor
]  # the slope of something in the logits to its slope in the edge weights: (P, C) -> (E,)


def can_be_written_out(model: GNN) -> bool:
    spec = getattr(model, "spec", None)
    return (
        type(model) is GNN
        and (spec.kind, spec.task, spec.batch_norm) == ("gcn", "node", False)
        and spec.jump in ("last", "cat")
        and not model.training
    )


@torch.no_grad()
def logits_and_pull(model: GNN, x: Tensor, wirings: Sequence[Wiring], edge_weight: Tensor) -> tuple[Tensor, Pull]:
    """What model.forward gives, (P, C), and the way back from it."""
    passed: list[_Layer] = []
    h = x
    for layer, wiring in zip(model.layers, wirings, strict=True):
        passed.append(_Layer(layer, wiring, h, edge_weight, unit_length=model.spec.unit_length))
        h = passed[-1].h
    logits = model.head(model.jump([layer.h for layer in passed]))

    @torch.no_grad()
    def pull(slope: Tensor) -> Tensor:
        seen = slope @ model.head.weight  # (P, embedding): the slope in what the head sees
        parts = seen.chunk(len(passed), dim=1) if model.spec.jump == "cat" else [None] * (len(passed) - 1) + [seen]
        found, above = torch.zeros_like(edge_weight), None
        for layer, part in zip(reversed(passed), reversed(parts), strict=True):
            if above is None:
                above = part
            elif part is not None:
                above[: len(part)] += part
            above = layer.pull(above, found, to_input=layer is not passed[0])
        return found

    return logits, pull


class _Layer:
    """One layer's pass, with what its way back needs. The names are those of GCNLayer and GNN._run."""

    def __init__(self, layer: GCNLayer, wiring: Wiring, h: Tensor, edge_weight: Tensor, *, unit_length: bool):
        self.layer, self.wiring, self.num_in = layer, wiring, len(h)
        self.share = self.own_share = None
        weight = first_rows(edge_weight, len(wiring.source))
        if layer.normalize:
            scale = (wiring.degree + 1).rsqrt()
            self.share = scale[wiring.source] * scale[wiring.head]  # (E,)
            self.own_share = 1 / (wiring.degree[: wiring.num_out] + 1).unsqueeze(-1)  # (num_out, 1)
            weight = weight * self.share
        self.weight = weight.unsqueeze(-1)  # (E, 1)
        state = layer.transform(h)
        self.sent = state.index_select(0, wiring.source)  # (E, D)
        own = first_rows(state, wiring.num_out)
        total = sum_by(wiring.head, self.sent * self.weight, wiring.num_out)
        total += own if self.own_share is None else own * self.own_share
        out = torch.addmm(layer.bias, total, layer.linear.weight.t()) if layer.sums_first else total.add_(layer.bias)
        self.length = None
        if unit_length:
            self.length = torch.linalg.vector_norm(out, dim=-1, keepdim=True).add_(TINY)  # (num_out, 1)
            out = out / self.length
        self.unit, self.h = out, torch.relu(out)  # (num_out, D') each

    def pull(self, slope: Tensor, of_weight: Tensor, *, to_input: bool) -> Tensor | None:
        """Adds this layer's part to the slope in the edge weights; returns the slope in its input, if that is wanted.

        `slope` is that in the layer's output: of its first nodes, or of all.
        """
        heard = slope.new_zeros(self.h.shape)
        heard[: len(slope)] = slope
        heard *= self.h > 0
        if self.length is not None:  # d (v / |v|) = (I - u u^T) / |v|
            along = (heard * self.unit).sum(-1, keepdim=True)
            heard = heard.addcmul_(self.unit, along, value=-1).div_(self.length)
        if self.layer.sums_first:
            heard = heard @ self.layer.linear.weight
        on_edge = heard.index_select(0, self.wiring.head)  # (E, D)
        slopes = (on_edge * self.sent).sum(-1)
        of_weight[: len(slopes)] += slopes if self.share is None else slopes * self.share
        if not to_input:
            return None
        of_state = sum_by(self.wiring.source, on_edge.mul_(self.weight), self.num_in)
        of_state[: self.wiring.num_out] += heard if self.own_share is None else heard * self.own_share
        return of_state if self.layer.sums_first else of_state @ self.layer.linear.weight
