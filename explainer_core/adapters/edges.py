"""Which of the graph's edges the messages of a layer run along: layers add self-loops, take some types only, or pool nodes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explainer_core.models.csr import CSRAggregation
from explainer_core.models.layers import count_by

PLANNED = 8  # plans that are kept for one table


@dataclass(frozen=True, eq=False)
class Route:
    """Where the weight of each message comes from; what is no edge of the graph has weight one."""

    loops: int = 0  # messages that follow those of all edges, in their order
    positions: Tensor | None = None  # (messages,): the edge of each message; as many as there are edges for none

    def weights(self, mask: Tensor) -> Tensor:
        """One for each message."""
        if self.positions is not None:
            return torch.cat([mask, mask.new_ones(1)]).index_select(0, self.positions)
        return torch.cat([mask, mask.new_ones(self.loops)]) if self.loops else mask


class EdgeTable:
    """The edges of one batch, and the routes of the layers that ran along them."""

    def __init__(self, edge_index: Tensor, num_nodes: int, edge_types: Tensor | None):
        self.edge_index, self.num_nodes, self.edge_types = edge_index, num_nodes, edge_types
        self.count = edge_index.shape[1]
        self._routes: dict[int, tuple[Tensor, Route | None]] = {}  # by the number of the call
        self._pooled: list[tuple[Tensor, Tensor]] = []  # edges that a pooling layer kept, and which they are
        self._keys: tuple[Tensor, Tensor] | None = None
        self._planned: list[
            tuple[Tensor, tuple, Any]
        ] = []  # what was worked out for the edges of a layer, by what it is

    def aggregation(self, edge_index: Tensor, num_in: int, num_out: int, heads: int) -> CSRAggregation:
        def plan() -> CSRAggregation:
            return CSRAggregation.of(edge_index[0], edge_index[1], num_in, num_out, heads)

        return self._plan(edge_index, ("csr", num_in, num_out, heads), plan)

    def count_of(self, edge_index: Tensor, num_out: int) -> Tensor:
        """How many of these edges each node receives: (num_out,)."""
        return self._plan(edge_index, ("count", num_out), lambda: count_by(edge_index[1], num_out))

    def _plan(self, edge_index: Tensor, what: tuple, make: Callable[[], Any]) -> Any:
        for known, kind, made in self._planned:
            if kind == what and (known is edge_index or torch.equal(known, edge_index)):
                return made
        made = make()
        self._planned = [*self._planned[-PLANNED + 1 :], (edge_index, what, made)]
        return made

    def forget_pooled(self) -> None:
        """After every pass: pooling may choose others the next time."""
        self._pooled.clear()

    def route(self, call: int, edge_index: Tensor, num_rows: int | None) -> Route | None:
        """The route of the call-th layer; None where it does not run along edges of the graph."""
        if edge_index is self.edge_index:
            return Route()
        pooled = next((positions for kept, positions in self._pooled if kept is edge_index), None)
        if pooled is not None:
            return Route(positions=pooled)
        known = self._routes.get(call)
        if known is not None and (known[0] is edge_index or torch.equal(known[0], edge_index)):
            return known[1]
        found = self._find(edge_index, num_rows)
        self._routes[call] = edge_index, found
        return found

    def keep(self, before: Tensor, after: Tensor, kept_nodes: Tensor, num_nodes: int) -> None:
        """A pooling layer has kept some nodes, and of the edges those between them."""
        earlier = self.route(-1, before, None)
        if earlier is None:
            return
        there = torch.zeros(num_nodes, dtype=torch.bool, device=before.device)
        there[kept_nodes] = True
        stays = there[before].all(0)
        positions = torch.arange(before.shape[1], device=before.device)
        if earlier.positions is not None:
            positions = earlier.positions
        elif earlier.loops:
            positions = positions.clamp(max=self.count)
        if int(stays.sum()) == after.shape[1]:
            self._pooled.append((after, positions[stays]))

    def _find(self, edge_index: Tensor, num_rows: int | None) -> Route | None:
        more = edge_index.shape[1] - self.count
        if more >= 0 and torch.equal(edge_index[:, : self.count], self.edge_index):
            rest = edge_index[:, self.count :]
            if bool((rest[0] == rest[1]).all()):
                return Route(loops=more)
        return self._of_one_type(edge_index) or self._by_ends(edge_index) or self._between_edges(edge_index, num_rows)

    def _of_one_type(self, edge_index: Tensor) -> Route | None:
        """Relational layers take the edges of one type at a time."""
        if self.edge_types is None or edge_index.shape[1] >= self.count:
            return None
        for kind in self.edge_types.unique():
            positions = (self.edge_types == kind).nonzero().flatten()
            if torch.equal(self.edge_index[:, positions], edge_index):
                return Route(positions=positions)
        return None

    def _by_ends(self, edge_index: Tensor) -> Route | None:
        """Edges in another order, or without self-loops, with those that the layer added."""
        if self._keys is None:
            self._keys = (self.edge_index[0] * self.num_nodes + self.edge_index[1]).sort(stable=True)
        keys, order = self._keys
        loops = edge_index[0] == edge_index[1]
        wanted = edge_index[0] * self.num_nodes + edge_index[1]
        by_key = wanted.argsort(stable=True)
        ordered = wanted[by_key]
        again = torch.arange(len(wanted), device=wanted.device) - torch.searchsorted(ordered, ordered)
        rank = torch.empty_like(again)
        rank[by_key] = again  # of parallel edges the first is the first
        at = torch.searchsorted(keys, wanted) + rank
        inside = at.clamp(max=max(self.count - 1, 0))
        hit = (at < self.count) & (keys[inside] == wanted) if self.count else torch.zeros_like(loops)
        if int(loops.sum()) >= self.num_nodes:  # one for every node: the layer's own
            hit &= ~loops
        if not bool((hit | loops).all()) or not bool(hit.any()):
            return None
        return Route(positions=torch.where(hit, order[inside], self.count))

    def _between_edges(self, edge_index: Tensor, num_rows: int | None) -> Route | None:
        """A line graph: the nodes of the layer are the edges, and the one that sends counts."""
        if num_rows != self.count or not edge_index.numel():
            return None
        return Route(positions=edge_index[0])
