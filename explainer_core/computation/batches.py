"""The computation graphs of many targets of one kind, in batches that memory holds."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import torch

from explainer_core.checks import InvalidValue, index_of, shown
from explainer_core.computation.computation_graph import Computation
from explainer_core.computation.neighborhood import neighborhoods
from explainer_core.graph import Graph, GraphSet, ranges
from explainer_core.targets import Link, Node, Target, WholeGraph

CACHED = 8  # computation graphs of single targets that are remembered for each graph
CACHED_SIZE = 5_000_000  # edges and feature values of all of them


def computations(
    data: Graph | GraphSet,
    targets: Sequence[Target],
    hops: int | None,
    *,
    max_edges: int,
    seed: int = 0,
    budget: int,
) -> Iterator[tuple[Sequence[Target], Computation]]:
    """The computation graphs of many targets, in pieces of about `budget` edges so that memory stays bounded."""
    done, size, shrunk = 0, 8, False
    while done < len(targets):
        piece = targets[done : done + size]
        computation = computation_of(data, piece, hops, max_edges=max_edges, seed=seed)
        fitting = budget * len(piece) // max(computation.num_edges, 1)
        if computation.num_edges > 2 * budget and len(piece) > 1:
            size, shrunk = max(1, len(piece) // 2), True
        elif fitting >= 2 * len(piece) and done + len(piece) < len(targets) and not shrunk:
            size = min(fitting, 8 * len(piece))  # much room is left: to cut again costs less than to learn once more
        else:
            yield piece, computation
            done, size, shrunk = done + len(piece), max(1, min(fitting, 8 * len(piece))), False


def computation_of(
    data: Graph | GraphSet, targets: Sequence[Target], hops: int | None, *, max_edges: int, seed: int = 0
) -> Computation:
    """The computation graphs of some targets of one kind. That of a single target is cut once, however often it is asked for."""
    if len(targets) > 1:
        return _cut(data, targets, hops, max_edges, seed)
    return ComputationCache.of(data).get_or_cut(data, targets[0], hops, max_edges, seed)


def _cut(data: Graph | GraphSet, targets: Sequence[Target], hops: int | None, max_edges: int, seed: int) -> Computation:
    # check_targets has seen that they are all of one kind, and that nodes and links lie in one graph
    if isinstance(targets[0], WholeGraph):
        return _whole_graphs(data, cast(Sequence[WholeGraph], targets))
    graph = cast(Graph, data)
    if isinstance(targets[0], Link):
        pairs = torch.tensor([(link.source, link.head) for link in cast(Sequence[Link], targets)])  # (T, 2)
        hidden = pairs.repeat_interleave(2, 0)  # (2 T, 2): the asked link itself is never shown
        return neighborhoods(graph, pairs.flatten(), hops, max_edges, seed, hidden)
    nodes = torch.tensor([target.node for target in cast(Sequence[Node], targets)])  # (T,)
    return neighborhoods(graph, nodes, hops, max_edges, seed)


_caches: "weakref.WeakKeyDictionary[Graph | GraphSet, ComputationCache]" = weakref.WeakKeyDictionary()
_caches_lock = threading.Lock()


class ComputationCache:
    """The last computation graphs cut from one graph: an explanation, its rivals and its judge all ask for the same."""

    def __init__(self):
        self._lock = threading.Lock()
        self._cuts: OrderedDict[tuple, Computation] = OrderedDict()

    @classmethod
    def of(cls, data: Graph | GraphSet) -> "ComputationCache":
        """One for each graph, dropped with it."""
        with _caches_lock:
            return _caches.setdefault(data, cls())

    def get_or_cut(
        self, data: Graph | GraphSet, target: Target, hops: int | None, max_edges: int, seed: int
    ) -> Computation:
        # a graph that was changed in place is another one
        asked = (target, hops, max_edges, _version(data.x), _version(data.edge_index))
        with self._lock:
            found = self._cuts.get((*asked, None)) or self._cuts.get((*asked, seed))
            if found is None:
                found = _cut(data, [target], hops, max_edges, seed)
                self._cuts[(*asked, seed if found.sampled.any() else None)] = (
                    found  # chance plays a part in samples only
                )
                while len(self._cuts) > CACHED or (
                    len(self._cuts) > 1
                    and sum(cut.num_edges + cut.x.numel() for cut in self._cuts.values()) > CACHED_SIZE
                ):
                    self._cuts.popitem(last=False)
            return found


def _version(values: torch.Tensor) -> int:
    """How often a tensor was changed in place, where torch counts that."""
    return 0 if values.is_inference() else values._version


def check_targets(data: Graph | GraphSet, targets: Sequence[Target]) -> None:
    """Raises ValueError unless the targets are of one kind, fit the data and are there."""
    if not isinstance(data, Graph | GraphSet):
        raise InvalidValue("data must be a Graph or a GraphSet", data)
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
                index_of("node", node, data.num_nodes)
            if len(set(ends)) < len(ends):
                raise ValueError(f"a link must join two different nodes (got {shown(target)})")


def _check_whole(data: Graph | GraphSet, target: WholeGraph) -> None:
    if isinstance(data, GraphSet):
        if target.index is None:
            raise ValueError(
                "WholeGraph needs the number of the graph in its set (got None); pass WholeGraph(i) or graphs[i]"
            )
        index_of("graph", target.index, len(data))
    elif target.index is not None:
        raise ValueError(
            f"WholeGraph takes no number for a single graph (got {shown(target.index)}); pass WholeGraph()"
        )


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
        node_data=batch.node_data,
        edge_data=batch.edge_data,
    )
