"""Neighbourhoods of many roots, grown hop by hop in time proportional to their own size."""

import torch
from torch import Tensor

from explainer_core.computation.computation_graph import Computation
from explainer_core.computation.in_edges import InEdges
from explainer_core.graph import Graph, ranges, take_rows
from explainer_core.hashing import hashed


class _Growth:
    """Neighbourhoods of many roots, growing one hop at a time."""

    def __init__(self, graph: Graph, roots: Tensor, max_edges: int, seed: int, hidden: Tensor | None):
        self.graph, self.index = graph, InEdges.of(graph)
        self.max_edges, self.seed, self.hidden = max_edges, seed, hidden
        self.nodes, self.instances = [roots], [torch.arange(len(roots))]
        self.edges: list[Tensor] = []
        self.edge_instances: list[Tensor] = []
        self.targets: list[Tensor] = []
        self.seen = self._key(self.instances[0], roots)  # sorted: instances rise
        self.used = torch.zeros(len(roots), dtype=torch.int64)
        self.sampled = torch.zeros(len(roots), dtype=torch.bool)

    def _key(self, instance: Tensor, node: Tensor) -> Tensor:
        """One number for a node of an instance."""
        return instance * self.graph.num_nodes + node

    def grow(self) -> None:
        """Takes in the edges into the last hop's nodes, and the nodes they come from."""
        first = sum(map(len, self.nodes[:-1]))  # number of the last hop's first node
        positions, owner = ranges(self.index.start, self.nodes[-1])
        edges = self.index.edges[positions]
        instance = self.instances[-1][owner]
        for rule in (self._shown, self._within_limit):  # in this order: what is hidden takes no room
            keep = rule(edges, instance)
            if not keep.all():
                edges, owner, instance = edges[keep], owner[keep], instance[keep]
        self.used += torch.bincount(instance, minlength=len(self.used))
        self.edges.append(edges)
        self.edge_instances.append(instance)
        self.targets.append(first + owner)
        found = self._key(instance, self.graph.edge_index[0, edges]).unique()
        known = self.seen[torch.searchsorted(self.seen, found).clamp(max=len(self.seen) - 1)] == found
        new = found[~known]
        self.seen = torch.cat([self.seen, new]).sort().values
        self.nodes.append(new % self.graph.num_nodes)
        self.instances.append(new // self.graph.num_nodes)

    def take_in_the_rest(self) -> None:
        """Every node from which no path leads to the root, as one hop more: a network may look at it all the same."""
        everyone = torch.arange(len(self.used) * self.graph.num_nodes)
        rest = everyone[~torch.isin(everyone, self.seen)]
        self.seen = everyone
        self.nodes.append(rest % self.graph.num_nodes)
        self.instances.append(rest // self.graph.num_nodes)
        self.grow()

    def _shown(self, edges: Tensor, instance: Tensor) -> Tensor:
        """False for the link that is asked for, in either direction."""
        if self.hidden is None:
            return torch.ones(len(edges), dtype=torch.bool)
        pair = self.hidden[instance]  # (e, 2)
        ends = self.graph.edge_index[:, edges].t()  # (e, 2)
        asked = (ends == pair).all(1) | (ends == pair.flip(1)).all(1)
        return ~asked

    def _within_limit(self, edges: Tensor, instance: Tensor) -> Tensor:
        """True for all edges of an instance that has room for them, and for a random choice that fills the room of others."""
        counts = torch.bincount(instance, minlength=len(self.used))
        room = self.max_edges - self.used
        crowded = counts > room
        keep = ~crowded[instance]
        if crowded.any():
            self.sampled |= crowded
            choice = (~keep).nonzero().flatten()
            by_chance = choice[hashed(self.seed, edges[choice]).argsort()]
            order = by_chance[instance[by_chance].argsort(stable=True)]
            rank = torch.arange(len(order)) - torch.searchsorted(instance[order], instance[order])
            keep[order[rank < room[instance[order]]]] = True
        return keep


def neighborhoods(
    graph: Graph, roots: Tensor, hops: int | None, max_edges: int, seed: int, hidden: Tensor | None = None
) -> Computation:
    """The neighbourhoods of the roots, so many hops wide, in time proportional to their own size; None: the whole graph."""
    growth = _Growth(graph, roots, max_edges, seed, hidden)
    sizes = [(len(roots), 0)]
    while hops is None or len(sizes) <= hops:
        if hops is None and not len(growth.nodes[-1]):
            break
        growth.grow()
        sizes.append((sizes[-1][0] + len(growth.nodes[-1]), sizes[-1][1] + len(growth.edges[-1])))
    if hops is None:
        growth.take_in_the_rest()
    nodes, instances = torch.cat(growth.nodes), torch.cat(growth.instances)
    edges, edge_instances = torch.cat(growth.edges), torch.cat(growth.edge_instances)
    keys, order = growth._key(instances, nodes).sort()
    source = order[torch.searchsorted(keys, growth._key(edge_instances, graph.edge_index[0, edges]))]
    hop_sizes = torch.tensor([len(part) for part in growth.nodes])
    return Computation(
        x=graph.x[nodes],
        edge_index=torch.stack([source, torch.cat(growth.targets)]),
        node_ids=nodes,
        edge_ids=edges,
        node_instance=instances,
        edge_instance=edge_instances,
        num_instances=len(roots),
        degree=_degrees(growth, nodes, instances),
        edge_types=None if graph.edge_types is None else graph.edge_types[edges],
        # layer l of L computes the nodes within L - l hops, from the edges into them
        prefixes=None
        if hops is None
        else tuple((sizes[hops - layer][0], sizes[hops - layer + 1][1]) for layer in range(1, hops + 1)),
        hop=torch.repeat_interleave(torch.arange(len(hop_sizes)), hop_sizes),
        sampled=growth.sampled,
        node_data=take_rows(graph.node_data, nodes),
        edge_data=take_rows(graph.edge_data, edges),
    )


def _degrees(growth: _Growth, nodes: Tensor, instances: Tensor) -> Tensor:
    """In-degrees in the whole graph, less the hidden link at its two ends."""
    start = growth.index.start
    degree = start[nodes + 1] - start[nodes]
    if growth.hidden is not None:
        for this, other in ((0, 1), (1, 0)):
            at_end = nodes == growth.hidden[instances, this]
            pair = growth.hidden[instances[at_end]]
            degree[at_end] -= _joined(growth, pair[:, other], pair[:, this])
    return degree


def _joined(growth: _Growth, sources: Tensor, targets: Tensor) -> Tensor:
    """How many edges run from each source to its target: (len(sources),)."""
    positions, owner = ranges(growth.index.start, targets)
    hit = growth.graph.edge_index[0, growth.index.edges[positions]] == sources[owner]
    return torch.bincount(owner[hit], minlength=len(targets))
