"""CSR aggregation: sums over edges, planned once for a network that is asked many times about the same edges.

Adding up messages edge by edge is what a pass over a graph costs most. With the edges sorted by their target, messages
are gathered, weighed and added in one operation; the backward does the same with the edges sorted by their source. With
few edges that is no cheaper than edge by edge, and it is not done.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.overrides import wrap_torch_function

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")  # once, when the first is made


def _samples_products() -> bool:
    """Whether this build of torch has products of rows at the places of a sparse matrix; not every one does."""
    one = torch.ones(1, 1)
    try:
        torch.sparse.sampled_addmm(one.to_sparse_csr(), one, one)
    except (RuntimeError, NotImplementedError):
        return False
    return True


SAMPLES_PRODUCTS = _samples_products()
WORTH_IT = 5_000  # edges; far below, a step takes up to a fifth longer with CSR; at 30,000 about a fifth less


@dataclass(frozen=True, eq=False)
class CSR:
    """Edges sorted by one of their ends."""

    order: Tensor  # (E,)
    others: Tensor  # (E,): their other ends, in that order
    start: Tensor  # (N + 1,): where the edges of each node begin

    @classmethod
    def by(cls, end: Tensor, other: Tensor, num_nodes: int) -> "CSR":
        order = end.argsort(stable=True)
        counts = torch.bincount(end, minlength=num_nodes)
        return cls(order, other[order], torch.cat([counts.new_zeros(1), counts.cumsum(0)]))

    def total(self, table: Tensor, weight: Tensor) -> Tensor:
        """For each node the weighted sum of the rows at the other ends of its edges: (N, D)."""
        weight = weight.index_select(0, self.order)
        settings = {"mode": "sum", "per_sample_weights": weight, "include_last_offset": True}
        return nn.functional.embedding_bag(self.others, table, self.start, **settings)

    @cached_property
    def _position(self) -> Tensor:
        """Where each edge stands in the order: (E,)."""
        return torch.empty_like(self.order).scatter_(
            0, self.order, torch.arange(len(self.order), device=self.order.device)
        )

    def products(self, at_end: Tensor, at_other: Tensor) -> Tensor:
        """For each edge the product of the row at its end with the row at its other end, without a copy of either: (E,)."""
        size = len(at_end), len(at_other)
        places = torch.sparse_csr_tensor(
            self.start, self.others, at_end.new_zeros(len(self.others)), size=size, check_invariants=False
        )
        found = torch.sparse.sampled_addmm(places, at_end, at_other.t(), beta=0.0).values()
        return found.index_select(0, self._position)


@dataclass(frozen=True, eq=False)
class CSRAggregation:
    """The same edges by target and by source. With several heads each has edges of its own, between its own parts of the
    states."""

    source: Tensor  # (E * heads,)
    target: Tensor  # (E * heads,)
    num_in: int  # times heads
    by_target: CSR

    @classmethod
    def of(cls, source: Tensor, target: Tensor, num_in: int, num_out: int, heads: int = 1) -> "CSRAggregation":
        parts = torch.arange(heads, device=source.device)
        source, target = ((end.unsqueeze(-1) * heads + parts).flatten() for end in (source, target))
        return cls(source, target, num_in * heads, CSR.by(target, source, num_out * heads))

    @cached_property
    def by_source(self) -> CSR:
        """Only the backward needs it."""
        return CSR.by(self.source, self.target, self.num_in)

    @wrap_torch_function(lambda self, table, weight: (table, weight))
    def total(self, table: Tensor, weight: Tensor) -> Tensor:
        """What every node aggregates: (num_out, D). Weights are those of the edges, (E,), or of each head's, (E, heads).

        To who sees torch's functions it is one of them.
        """
        width = table.shape[1] // (weight.shape[1] if weight.ndim == 2 else 1)
        kind = torch.promote_types(table.dtype, weight.dtype)
        flat = table.to(kind).reshape(-1, width), weight.to(kind).reshape(-1)
        return _Total.apply(*flat, self).view(-1, table.shape[1])


class _Total(torch.autograd.Function):
    """CSRAggregation.total and its gradients."""

    @staticmethod
    def forward(ctx, table: Tensor, weight: Tensor, csr: CSRAggregation) -> Tensor:
        ctx.save_for_backward(table, weight)
        ctx.csr = csr
        return csr.by_target.total(table, weight)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (table, weight), csr = ctx.saved_tensors, ctx.csr
        of_table = of_weight = None
        if ctx.needs_input_grad[0]:
            of_table = csr.by_source.total(gradient.contiguous(), weight)
        if ctx.needs_input_grad[1]:
            if SAMPLES_PRODUCTS and table.device.type == "cpu":
                of_weight = csr.by_target.products(gradient.contiguous(), table)
            else:
                at_target, at_source = gradient.index_select(0, csr.target), table.index_select(0, csr.source)
                of_weight = torch.linalg.vecdot(at_target, at_source)
        return of_table, of_weight, None
