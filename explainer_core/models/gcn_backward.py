"""The gradient of a GCN's logits in its edge weights: a manual backward instead of a recorded one.

A network on a small neighbourhood is many tiny operations, and autograd's book-keeping is a good part of what they cost.
Where a mask over edges is all that is optimised, and the network is the usual GCN, the backward is short enough to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from explainer_core.models.layers import TINY, GCNLayer, LayerInputs, first_rows, sum_by
from explainer_core.models.norm import BatchNorm
from explainer_core.models.protocol import VJP

if TYPE_CHECKING:
    from explainer_core.models.gnn import GNN


def has_manual_backward(model: GNN) -> bool:
    spec = model.spec
    return (spec.kind, spec.task) == ("gcn", "node") and spec.jump in ("last", "cat") and not model.training


@torch.no_grad()
def logits_and_vjp(model: GNN, x: Tensor, inputs: Sequence[LayerInputs], edge_weight: Tensor) -> tuple[Tensor, VJP]:
    """What model.forward gives, (P, C), and its vector-Jacobian product."""
    passed: list[_Layer] = []
    h = x
    norms = [cast(BatchNorm, norm) for norm in model.norms] or [None] * len(model.layers)
    for layer, norm, each in zip(model.layers, norms, inputs, strict=True):
        passed.append(_Layer(cast(GCNLayer, layer), norm, each, h, edge_weight, unit_length=model.spec.unit_length))
        h = passed[-1].h
    head = cast(nn.Linear, model.head)  # a node network's, as has_manual_backward asks for; the layers likewise
    logits = head(model.jump([layer.h for layer in passed]))

    @torch.no_grad()
    def vjp(gradient: Tensor) -> Tensor:
        seen = gradient @ head.weight  # (P, embedding): the gradient in what the head sees
        parts = seen.chunk(len(passed), dim=1) if model.spec.jump == "cat" else [None] * (len(passed) - 1) + [seen]
        found, above = torch.zeros_like(edge_weight), None
        for layer, part in zip(reversed(passed), reversed(parts), strict=True):
            if above is None:
                above = part
            elif part is not None:
                above[: len(part)] += part
            assert above is not None  # the last layer has a part, and every other but the first passes one on
            above = layer.backward(above, found, to_input=layer is not passed[0])
        return found

    return logits, vjp


class _Layer:
    """One layer's pass, with what its backward needs. The names are those of GCNLayer and GNN._layers."""

    def __init__(
        self,
        layer: GCNLayer,
        norm: BatchNorm | None,
        inputs: LayerInputs,
        h: Tensor,
        edge_weight: Tensor,
        *,
        unit_length: bool,
    ):
        self.layer, self.inputs, self.num_in = layer, inputs, len(h)
        self.share = self.own_share = None
        weight = first_rows(edge_weight, len(inputs.source))
        if layer.normalize:
            scale = (inputs.degree + 1).rsqrt()
            self.share = scale[inputs.source] * scale[inputs.target]  # (E,)
            self.own_share = 1 / (inputs.degree[: inputs.num_out] + 1).unsqueeze(-1)  # (num_out, 1)
            weight = weight * self.share
        self.weight = weight.unsqueeze(-1)  # (E, 1)
        state = layer.transform(h)
        self.sent = state.index_select(0, inputs.source)  # (E, D)
        own = first_rows(state, inputs.num_out)
        total = sum_by(inputs.target, self.sent * self.weight, inputs.num_out)
        total += own if self.own_share is None else own * self.own_share
        out = torch.addmm(layer.bias, total, layer.linear.weight.t()) if layer.sums_first else total.add_(layer.bias)
        self.length = None
        if unit_length:
            self.length = torch.linalg.vector_norm(out, dim=-1, keepdim=True).add_(TINY)  # (num_out, 1)
            out = out / self.length
        self.unit = out  # (num_out, D')
        self.scale = None
        if norm is not None:
            self.scale, shift = norm.scale_and_shift()
            out = torch.addcmul(shift, out, self.scale)
        self.h = torch.relu(out)  # (num_out, D')

    def backward(self, above: Tensor, of_weight: Tensor, *, to_input: bool) -> Tensor | None:
        """Adds this layer's part to the gradient in the edge weights; returns that in its input, if it is wanted.

        `above` is the gradient in the layer's output: of its first nodes, or of all.
        """
        gradient = above.new_zeros(self.h.shape)
        gradient[: len(above)] = above
        gradient *= self.h > 0
        if self.scale is not None:
            gradient *= self.scale
        if self.length is not None:  # d (v / |v|) = (I - u u^T) / |v|
            along = (gradient * self.unit).sum(-1, keepdim=True)
            gradient = gradient.addcmul_(self.unit, along, value=-1).div_(self.length)
        if self.layer.sums_first:
            gradient = gradient @ self.layer.linear.weight
        on_edge = gradient.index_select(0, self.inputs.target)  # (E, D)
        of_edge = (on_edge * self.sent).sum(-1)
        of_weight[: len(of_edge)] += of_edge if self.share is None else of_edge * self.share
        if not to_input:
            return None
        of_state = sum_by(self.inputs.source, on_edge.mul_(self.weight), self.num_in)
        of_state[: self.inputs.num_out] += gradient if self.own_share is None else gradient * self.own_share
        return of_state if self.layer.sums_first else of_state @ self.layer.linear.weight
