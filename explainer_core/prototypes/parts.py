"""The parts that are cut out for a prototype: of each explanation what is aligned, and the densest part of all they share."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import torch

from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.prototypes.alignment import Piece
from explainer_core.targets import Target, WholeGraph

# Times K_M that is aligned of each explanation: what one of them ranks late, the others bring in. Around a target
# more helps to find one's bearings; in a whole graph it only dilutes what matters.
LARGER, LARGER_WHOLE = 3, 2
# Edges that two nodes which differ as usual in their features cost. Around a target the edges tell who is who, and
# features may be noise; in a whole graph there is nothing else to hold on to.
FEATURES, FEATURES_WHOLE = 0.3, 1.0
MOST_EDGES = 60  # of an explanation that are aligned at most: a prototype is a picture
TOP_FEATURES = 20  # the heaviest take part in the alignment


@dataclass(frozen=True, eq=False)
class Part:
    """The part of an explanation that is aligned: more than its G_S, the target's nodes first."""

    explanation: Explanation
    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    values: np.ndarray  # (n, F): the features of these nodes

    @classmethod
    def of(cls, explanation: Explanation, data: Graph | GraphSet) -> "Part":
        pairs, scores = explanation.undirected()
        pairs, scores = (values[pairs[:, 0] != pairs[:, 1]] for values in (pairs, scores))  # a loop joins nobody
        grown = _grown(explanation, pairs, scores)
        return cls.from_edges(
            explanation, tuple(map(tuple, pairs[grown].tolist())), tuple(scores[grown].tolist()), data
        )

    @classmethod
    def from_edges(
        cls,
        explanation: Explanation,
        edges: tuple[tuple[int, int], ...],
        weights: tuple[float, ...],
        data: Graph | GraphSet,
    ) -> "Part":
        """The part that these edges are, with the features of its nodes."""
        roots = explanation.roots
        nodes = (*roots, *sorted({node for edge in edges for node in edge} - set(roots)))
        first = _first_node(explanation.target, data)
        values = data.x[first + torch.tensor(nodes, dtype=torch.int64)].numpy().astype(float)
        return cls(explanation, nodes, edges, weights, values)

    def piece(self, scale: np.ndarray | None) -> Piece:
        """Which nodes are joined, every edge counting the same: weights of different explanations do not compare."""
        index_of = {node: i for i, node in enumerate(self.nodes)}
        adjacency = np.zeros((len(self.nodes), len(self.nodes)))
        for a, b in self.edges:
            adjacency[index_of[a], index_of[b]] = adjacency[index_of[b], index_of[a]] = 1.0
        return Piece(adjacency, scaled(self.values, scale, len(self.nodes)))


def _first_node(target: Target, data: Graph | GraphSet) -> int:
    """Where the nodes of the target's graph begin in the features of the data."""
    if isinstance(data, Graph):
        return 0
    assert isinstance(target, WholeGraph)  # a set has no other targets
    return int(data.node_start[target.index])


def _grown(explanation: Explanation, pairs: np.ndarray, scores: np.ndarray) -> list[int]:
    """The edges that are aligned: several times K_M, as they are reached from the target.

    Unlike the extraction of G_S it never takes in more than that; among weights that are all zero a threshold would.
    """
    config, grown, nodes = explanation.config, [], set(explanation.roots)
    most = explanation.size * (LARGER if explanation.roots else LARGER_WHOLE)
    for edge in _as_reached(explanation, pairs, scores):
        nodes |= set(pairs[edge].tolist())
        size = len(grown) + 1 if config.k_m_unit == "edges" else len(nodes)
        if size > most or len(grown) == MOST_EDGES:
            break
        grown.append(edge)
    return grown


def _as_reached(explanation: Explanation, pairs: np.ndarray, scores: np.ndarray) -> Iterator[int]:
    """The edges in the order in which they are reached from the target, always along the heaviest, then the nearest.

    Without a target the start is the heaviest edge of G_S.
    """
    hop = dict(zip(explanation.nodes.tolist(), explanation.hop.tolist(), strict=True))
    ends = pairs.tolist()
    order = np.lexsort(([hop[a] + hop[b] for a, b in ends], -scores)).tolist()
    touching: dict[int, list[int]] = {}  # the ranks of the edges at each node that is not reached yet
    for rank, edge in enumerate(order):
        for node in ends[edge]:
            touching.setdefault(node, []).append(rank)
    inside = set(explanation.subgraph().edges)
    start = next((ends[edge] for edge in order if tuple(ends[edge]) in inside), ())
    waiting: list[int] = []
    done: set[int] = set()
    reached = explanation.roots or start
    while reached or waiting:
        for node in reached:
            for rank in touching.pop(node, ()):
                heapq.heappush(waiting, rank)
        rank, reached = heapq.heappop(waiting) if waiting else None, ()
        if rank is not None and rank not in done:
            done.add(rank)
            reached = ends[order[rank]]
            yield order[rank]


def feature_scale(parts: Sequence[Part]) -> np.ndarray | None:
    """How much a difference in each feature counts: as the explanations weigh it. None where nothing differs: (F,)."""
    values = np.concatenate([part.values for part in parts])
    weight = mean_feature_weight([part.explanation for part in parts])
    weight = np.ones(values.shape[1]) if weight is None else weight
    scale = np.where(np.argsort(np.argsort(-weight, kind="stable")) < TOP_FEATURES, weight, 0.0)
    some = values[np.linspace(0, len(values) - 1, min(len(values), 200)).astype(int)] * scale if len(values) else values
    counted = some[:, scale > 0]
    usual = np.abs(counted[:, None] - counted[None]).sum(-1).mean() if len(some) else 0.0
    in_all = FEATURES if parts[0].explanation.roots else FEATURES_WHOLE
    return scale * in_all / usual if usual > 1e-9 else None


def mean_feature_weight(explanations: Sequence[Explanation]) -> np.ndarray | None:
    """The mean over those that looked at features: (F,)."""
    weights = [e.feature_weight for e in explanations if e.feature_weight is not None]
    return np.mean(weights, axis=0) if weights else None


def scaled(values: np.ndarray | None, scale: np.ndarray | None, rows: int) -> np.ndarray:
    """Features as they count in an alignment, without those that do not: (n, F')."""
    if values is None or scale is None:
        return np.empty((rows, 0))
    return (values * scale)[:, scale > 0]


def densest_part(strength: np.ndarray, roots: tuple[int, ...], size: int) -> list[int]:
    """So many nodes that hang together around the roots and are joined to each other most strongly, or nearly so.

    The least joined node is removed again and again, as for a graph's densest part (Charikar 2000); then single
    nodes are exchanged while that helps. Without roots the heaviest component counts.
    """
    net, fixed = nx.from_numpy_array(strength), set(roots)
    pieces = list(nx.connected_components(net))
    if roots:
        kept = set().union(*(piece for piece in pieces if piece & fixed))
    else:
        kept = max(pieces, key=lambda piece: strength[np.ix_(list(piece), list(piece))].sum(), default=set())
    everyone = set(kept)

    def holds(nodes: set[int]) -> bool:
        left = list(nx.connected_components(net.subgraph(nodes)))
        return all(piece & fixed for piece in left) if roots else len(left) == 1

    while len(kept) > max(size, len(fixed), 1):
        joined = {node: strength[node, list(kept)].sum() for node in kept - fixed}
        falling = sorted(joined, key=lambda node: (joined[node], -node))
        kept = kept - {next(node for node in falling if holds(kept - {node}))}
    while True:
        inside = strength[:, list(kept)].sum(1)
        gains = {
            (out, new): inside[new] - inside[out] - strength[out, new]
            for out in kept - fixed
            for new in everyone - kept
        }
        better = sorted((pair for pair in gains if gains[pair] > 1e-9), key=lambda pair: (-gains[pair], pair))
        swap = next((pair for pair in better if holds(kept - {pair[0]} | {pair[1]})), None)
        if swap is None:
            return sorted(kept)
        kept = kept - {swap[0]} | {swap[1]}
