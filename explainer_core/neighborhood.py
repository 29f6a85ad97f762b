"""The part of a graph that can influence a prediction, for one target or many at once."""

import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import torch
from torch import Tensor

from explainer_core.graph import Graph, GraphSet, ranges
from explainer_core.hashing import hashed
from explainer_core.targets import Link, Node, Target, WholeGraph

_indexes: "weakref.WeakKeyDictionary[Graph, InEdges]" = weakref.WeakKeyDictionary()
_index_lock = threading.Lock()


@dataclass(frozen=True)
class InEdges:
    """The edges of a graph sorted by the node they run into, so that a neighbourhood costs only its own size."""

    start: Tensor  # (N + 1,): where the edges into each node begin
    edges: Tensor  # (E,): numbers of the graph's edges

    @classmethod
    def of(cls, graph: Graph) -> "InEdges":
        """Built once for each graph, and dropped with it."""
        with _index_lock:
            if graph not in _indexes:
                _indexes[graph] = cls.build(graph.edge_index, graph.num_nodes)
            return _indexes[graph]

    @classmethod
    def build(cls, edge_index: Tensor, num_nodes: int) -> "InEdges":
        heads = edge_index[1]
        counts = torch.bincount(heads, minlength=num_nodes)
        start = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return cls(start, heads.argsort(stable=True))


@dataclass(frozen=True)
class Computation:
    """Computation graphs side by side as one disjoint union; each is called an instance.

    A node target is one instance, a whole graph is one, a link is two: first the source's, then the head's.
    Nodes are sorted by hop, so the first ones are the targets, in order; edges are sorted by the hop of their
    head. Each layer then needs only a prefix of both: `prefixes`, one (nodes, edges) for each layer.
    """

    x: Tensor  # (n, F)
    edge_index: Tensor  # (2, e)
    node_ids: Tensor  # (n,): numbers in the graph
    edge_ids: Tensor  # (e,)
    node_instance: Tensor  # (n,)
    edge_instance: Tensor  # (e,)
    num_instances: int
    degree: Tensor  # (n,): in-degree in the whole graph
    edge_types: Tensor | None
    prefixes: tuple[tuple[int, int], ...] | None  # None for whole graphs: every node is needed to the end
    hop: Tensor  # (n,): steps from the target; all zero for whole graphs
    sampled: Tensor  # (num_instances,) bool: the neighbourhood was too large and was sampled

    @property
    def num_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def num_edges(self) -> int:
        return len(self.edge_ids)

    def repeated(self, times: int) -> "Computation":
        """Every instance `times` over: copy r of instance i is instance i * times + r. The hop order is kept."""
        if times == 1:
            return self
        copy = torch.arange(times, device=self.x.device)

        def spread(values: Tensor) -> Tensor:
            return (values.unsqueeze(-1) * times + copy).flatten(-2)

        return replace(
            self,
            x=self.x.repeat_interleave(times, 0),
            edge_index=spread(self.edge_index),
            node_ids=self.node_ids.repeat_interleave(times),
            edge_ids=self.edge_ids.repeat_interleave(times),
            node_instance=spread(self.node_instance),
            edge_instance=spread(self.edge_instance),
            num_instances=self.num_instances * times,
            degree=self.degree.repeat_interleave(times),
            edge_types=None if self.edge_types is None else self.edge_types.repeat_interleave(times),
            prefixes=None if self.prefixes is None else tuple((n * times, e * times) for n, e in self.prefixes),
            hop=self.hop.repeat_interleave(times),
            sampled=self.sampled.repeat_interleave(times),
        )

    def to(self, device: torch.device) -> "Computation":
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)


def computations(
    data: Graph | GraphSet,
    targets: Sequence[Target],
    num_layers: int,
    *,
    max_edges: int,
    seed: int = 0,
    budget: int,
) -> Iterator[tuple[Sequence[Target], Computation]]:
    """The computation graphs of many targets, in pieces of about `budget` edges so that memory stays bounded."""
    done, size, shrunk = 0, 8, False
    while done < len(targets):
        piece = targets[done : done + size]
        computation = computation_of(data, piece, num_layers, max_edges=max_edges, seed=seed)
        fitting = budget * len(piece) // max(computation.num_edges, 1)
        if computation.num_edges > 2 * budget and len(piece) > 1:
            size, shrunk = max(1, len(piece) // 2), True
        elif fitting >= 2 * len(piece) and done + len(piece) < len(targets) and not shrunk:
            size = min(fitting, 8 * len(piece))  # much room is left: to cut again costs less than to learn once more
        else:
            yield piece, computation
            done, size, shrunk = done + len(piece), max(1, min(fitting, 8 * len(piece))), False


def computation_of(
    data: Graph | GraphSet, targets: Sequence[Target], num_layers: int, *, max_edges: int, seed: int = 0
) -> Computation:
    """The computation graphs of some targets of one kind."""
    if isinstance(targets[0], WholeGraph):
        return _whole_graphs(data, targets)
    if isinstance(targets[0], Link):
        pairs = torch.tensor([(target.source, target.head) for target in targets])  # (T, 2)
        hidden = pairs.repeat_interleave(2, 0)  # (2 T, 2): the asked link itself is never shown
        return _around(data, pairs.flatten(), num_layers, max_edges, seed, hidden)
    return _around(data, torch.tensor([target.node for target in targets]), num_layers, max_edges, seed)


def undirected_edges(computation: Computation) -> tuple[Tensor, int]:
    """One number for both directions of an edge (of one type): (e,), and how many there are."""
    c = computation
    key = c.edge_index.amin(0) * c.num_nodes + c.edge_index.amax(0)
    if c.edge_types is not None and len(c.edge_types):
        key = key * (int(c.edge_types.max()) + 1) + c.edge_types
    values, number = key.unique(return_inverse=True)
    return number, len(values)


def check_targets(data: Graph | GraphSet, targets: Sequence[Target]) -> None:
    """Raises ValueError unless the targets are of one kind, fit the data and are there."""
    kinds = {type(target) for target in targets}
    if len(kinds) > 1 or not kinds <= {Node, WholeGraph, Link}:
        raise ValueError(
            f"targets must all be Node, all WholeGraph or all Link (got {sorted(kind.__name__ for kind in kinds)})"
        )
    for target in targets:
        if isinstance(target, WholeGraph):
            _check_whole(data, target)
        elif not isinstance(data, Graph):
            raise ValueError(
                f"a {type(target).__name__} lies in one graph (got a {type(data).__name__}); pass graphs[i]"
            )
        else:
            ends = (target.node,) if isinstance(target, Node) else (target.source, target.head)
            for node in ends:
                _check_number("node", node, data.num_nodes)
            if len(set(ends)) < len(ends):
                raise ValueError(f"a link must join two different nodes (got {target})")


def _check_whole(data: Graph | GraphSet, target: WholeGraph) -> None:
    if isinstance(data, GraphSet):
        if target.index is None:
            raise ValueError(
                "WholeGraph needs the number of the graph in its set (got None); pass WholeGraph(i) or graphs[i]"
            )
        _check_number("graph", target.index, len(data))
    elif target.index is not None:
        raise ValueError(f"WholeGraph takes no number for a single graph (got {target.index}); pass WholeGraph()")


def _check_number(thing: str, number, count: int) -> None:
    if not isinstance(number, Integral) or isinstance(number, bool) or not 0 <= number < count:
        raise ValueError(f"{thing} must be 0 to {count - 1} (got {number!r})")


def _whole_graphs(data: Graph | GraphSet, targets: Sequence[WholeGraph]) -> Computation:
    """Every node and edge of each graph."""
    if isinstance(data, Graph):
        data = GraphSet.from_graphs([replace(data, label=None)])
        chosen = torch.zeros(len(targets), dtype=torch.int64)
    else:
        chosen = torch.tensor([target.index for target in targets])
    batch = data.batch(chosen)
    nodes, node_instance = ranges(data.node_start, chosen)
    edges, edge_instance = ranges(data.edge_start, chosen)
    return Computation(
        x=batch.x,
        edge_index=batch.edge_index,
        node_ids=nodes - data.node_start[chosen][node_instance],
        edge_ids=edges - data.edge_start[chosen][edge_instance],
        node_instance=node_instance,
        edge_instance=edge_instance,
        num_instances=len(targets),
        degree=torch.bincount(batch.edge_index[1], minlength=len(nodes)),
        edge_types=batch.edge_types,
        prefixes=None,
        hop=torch.zeros_like(nodes),
        sampled=torch.zeros(len(targets), dtype=torch.bool),
    )


class _Growth:
    """Neighbourhoods of many roots, growing one hop at a time."""

    def __init__(self, graph: Graph, roots: Tensor, max_edges: int, seed: int, hidden: Tensor | None):
        self.graph, self.index = graph, InEdges.of(graph)
        self.max_edges, self.seed, self.hidden = max_edges, seed, hidden
        self.nodes, self.instances = [roots], [torch.arange(len(roots))]
        self.edges: list[Tensor] = []
        self.edge_instances: list[Tensor] = []
        self.heads: list[Tensor] = []
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
        self.heads.append(first + owner)
        found = self._key(instance, self.graph.edge_index[0, edges]).unique()
        known = self.seen[torch.searchsorted(self.seen, found).clamp(max=len(self.seen) - 1)] == found
        new = found[~known]
        self.seen = torch.cat([self.seen, new]).sort().values
        self.nodes.append(new % self.graph.num_nodes)
        self.instances.append(new // self.graph.num_nodes)

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


def _around(
    graph: Graph, roots: Tensor, num_layers: int, max_edges: int, seed: int, hidden: Tensor | None = None
) -> Computation:
    """The L-hop neighbourhoods of the roots, in time proportional to their own size."""
    growth = _Growth(graph, roots, max_edges, seed, hidden)
    sizes = [(len(roots), 0)]
    for _ in range(num_layers):
        growth.grow()
        sizes.append((sizes[-1][0] + len(growth.nodes[-1]), sizes[-1][1] + len(growth.edges[-1])))
    nodes, instances = torch.cat(growth.nodes), torch.cat(growth.instances)
    edges, edge_instances = torch.cat(growth.edges), torch.cat(growth.edge_instances)
    keys, order = growth._key(instances, nodes).sort()
    source = order[torch.searchsorted(keys, growth._key(edge_instances, graph.edge_index[0, edges]))]
    hop_sizes = torch.tensor([len(part) for part in growth.nodes])
    return Computation(
        x=graph.x[nodes],
        edge_index=torch.stack([source, torch.cat(growth.heads)]),
        node_ids=nodes,
        edge_ids=edges,
        node_instance=instances,
        edge_instance=edge_instances,
        num_instances=len(roots),
        degree=_degrees(growth, nodes, instances),
        edge_types=None if graph.edge_types is None else graph.edge_types[edges],
        # layer l of L computes the nodes within L - l hops, from the edges into them
        prefixes=tuple(
            (sizes[num_layers - layer][0], sizes[num_layers - layer + 1][1]) for layer in range(1, num_layers + 1)
        ),
        hop=torch.repeat_interleave(torch.arange(len(hop_sizes)), hop_sizes),
        sampled=growth.sampled,
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


def _joined(growth: _Growth, sources: Tensor, heads: Tensor) -> Tensor:
    """How many edges run from each source to its head: (len(sources),)."""
    positions, owner = ranges(growth.index.start, heads)
    hit = growth.graph.edge_index[0, growth.index.edges[positions]] == sources[owner]
    return torch.bincount(owner[hit], minlength=len(heads))
