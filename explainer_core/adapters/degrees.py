"""Layers that count neighbours, told the degrees of the whole graph where a batch has only some of the edges.

A cut neighbourhood lacks the edges of its outermost nodes, and a part of a graph those that are left out. Where the degrees
are given, GCN's normalisation and means come out as in the whole graph, without one hop more.
"""

from functools import cached_property

import torch
from torch import Tensor

from explainer_core.adapters.edges import Route


class Degrees:
    """In-degrees of the nodes of one batch: those given, or those its edges make."""

    def __init__(self, edge_index: Tensor, num_nodes: int, given: Tensor | None):
        self.edge_index, self.num_nodes, self.given = edge_index, num_nodes, given
        self._norms: dict[float, tuple[Tensor, Tensor]] = {}

    @cached_property
    def own(self) -> Tensor:
        """(n,)"""
        return self.edge_index.new_zeros(self.num_nodes).index_add_(
            0, self.edge_index[1], torch.ones_like(self.edge_index[1])
        )

    @cached_property
    def has_loops(self) -> bool:
        return bool((self.edge_index[0] == self.edge_index[1]).any())

    def gcn_norm(self, layer) -> tuple[Tensor, Tensor] | None:
        """Edges and their weights as torch_geometric's gcn_norm gives them, by these degrees; None where it must do so itself."""
        known = type(layer).__name__ in ("GCNConv", "APPNP", "GCN2Conv", "FAConv") and type(
            layer
        ).__module__.startswith("torch_geometric.")
        if not known or not getattr(layer, "normalize", True) or layer.flow != "source_to_target" or self.has_loops:
            return None
        loops = getattr(layer, "add_self_loops", True)
        fill = (2.0 if getattr(layer, "improved", False) else 1.0) if loops else 0.0
        if fill not in self._norms:
            self._norms[fill] = self._normalised(fill)
        return self._norms[fill]

    def _normalised(self, fill: float) -> tuple[Tensor, Tensor]:
        degree = (self.own if self.given is None else self.given).float() + fill
        scale = degree.rsqrt().masked_fill_(degree == 0, 0.0)  # (n,)
        source, target = self.edge_index
        weight = scale[source] * scale[target]
        if not fill:
            return self.edge_index, weight
        nodes = torch.arange(self.num_nodes, device=degree.device)
        edge_index = torch.cat([self.edge_index, nodes.expand(2, -1)], 1)
        return edge_index, torch.cat([weight, fill * scale * scale])

    @cached_property
    def with_loops(self) -> Tensor | None:
        """The edges and a loop at every node, as attentive layers make them; None where some have loops already: (2, e + n)."""
        if self.has_loops:
            return None
        nodes = torch.arange(self.num_nodes, device=self.edge_index.device)
        return torch.cat([self.edge_index, nodes.expand(2, -1)], 1)

    @cached_property
    def _share(self) -> Tensor | None:
        """How many of a target's edges are there, of all it has; None where none is missing: (e,)."""
        if self.given is None:
            return None
        target = self.edge_index[1]
        share = self.own[target] / self.given[target].clamp(min=1)
        return None if bool((share == 1).all()) else share

    def mean_share(self, layer, route: Route) -> Tensor | None:
        """What makes a mean over the edges that are there one over all: (e,)."""
        plain = route.positions is None and not route.loops
        return (
            self._share if plain and type(getattr(layer, "aggr_module", None)).__name__ == "MeanAggregation" else None
        )
