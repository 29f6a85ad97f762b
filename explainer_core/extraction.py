"""G_S: the few heaviest edges that hang together around the target, cut out of all edges and their scores."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from networkx.utils import UnionFind

EdgesAt = dict[int, list[int]]  # the edges at each node


@dataclass(frozen=True)
class Subgraph:
    """G_S: the part of the graph the prediction rests on, in the graph's own numbers.

    `edges` are undirected pairs with the smaller number first. `dropped` counts the edges that were heavy enough
    but hang elsewhere; `threshold` is the least weight that was kept.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    threshold: float
    dropped: int


def extract(
    pairs: np.ndarray,
    scores: np.ndarray,
    roots: tuple[int, ...],
    k_m: int,
    *,
    unit: str = "nodes",
    connected: bool = True,
    touching: EdgesAt | None = None,
) -> Subgraph:
    """The paper's extraction (its Appendix): the largest threshold at which the component around the target reaches K_M.

    Edges as heavy as the threshold are all kept. Without roots (a whole graph) the largest component counts;
    unconnected, the heaviest edges count wherever they are. A graph smaller than K_M is kept whole. Who cuts the same
    graph again and again passes `touching`, made once by `edges_at`.
    """
    if k_m < 1 or unit not in ("nodes", "edges"):
        raise ValueError(f"k_m must be at least 1 and counted in nodes or edges (got {k_m} {unit})")
    if len(scores) == 0:
        return Subgraph(tuple(sorted(set(roots))), (), 0.0, 0)
    if not connected:
        kept, threshold = _heaviest(pairs, scores, roots, k_m, unit)
    elif roots:
        kept, threshold = _grown(edges_at(pairs) if touching is None else touching, pairs, scores, roots, k_m, unit)
    else:
        kept, threshold = _joined(pairs, scores, k_m, unit)
    edges = tuple((int(a), int(b)) for a, b in pairs[kept])
    nodes = {node for edge in edges for node in edge} | set(roots)
    return Subgraph(tuple(sorted(nodes)), edges, threshold, int((scores >= threshold).sum()) - len(edges))


def _grown(
    touching: EdgesAt, pairs: np.ndarray, scores: np.ndarray, roots: tuple[int, ...], k_m: int, unit: str
) -> tuple[np.ndarray, float]:
    """From the roots along the heaviest edge each time, as Prim grows a tree: the kept edges, and the threshold.

    Between two falls of the threshold everything within reach at that weight is taken in, so that ties are all kept.
    """
    reached, taken, threshold = set(), [], float(scores.max())
    waiting: list[tuple[float, int]] = []  # (-score, edge) of edges that leave what is reached

    def reach(node: int) -> None:
        if node not in reached:
            reached.add(node)
            for edge in touching.get(node, ()):
                heapq.heappush(waiting, (-scores[edge], edge))

    for root in roots:
        reach(root)
    seen: set[int] = set()
    while waiting:
        if -waiting[0][0] < threshold:
            if (len(taken) if unit == "edges" else len(reached)) >= k_m:
                break
            threshold = float(-waiting[0][0])
        edge = heapq.heappop(waiting)[1]
        if edge not in seen:
            seen.add(edge)
            taken.append(edge)
            for node in pairs[edge].tolist():
                reach(node)
    return np.sort(np.array(taken, dtype=np.int64)), threshold


def edges_at(pairs: np.ndarray) -> EdgesAt:
    """The edges at each node."""
    ends = pairs.ravel()
    order = np.argsort(ends, kind="stable")
    nodes, start = np.unique(ends[order], return_index=True)
    return dict(zip(nodes.tolist(), (part.tolist() for part in np.split(order // 2, start[1:])), strict=True))


def _by_level(scores: np.ndarray) -> Iterator[list[int]]:
    """The edges from heavy to light, those of equal weight together."""
    falling = np.argsort(-scores, kind="stable").tolist()
    return (list(edges) for _, edges in groupby(falling, key=scores.__getitem__))


def _heaviest(
    pairs: np.ndarray, scores: np.ndarray, roots: tuple[int, ...], k_m: int, unit: str
) -> tuple[np.ndarray, float]:
    """The heaviest edges wherever they are: the kept edges, and the threshold."""
    taken, nodes = [], set(roots)
    for edges in _by_level(scores):
        taken += edges
        nodes |= set(pairs[edges].ravel().tolist())
        if (len(taken) if unit == "edges" else len(nodes)) >= k_m:
            break
    return np.sort(np.array(taken)), float(scores[taken[-1]])


def _joined(pairs: np.ndarray, scores: np.ndarray, k_m: int, unit: str) -> tuple[np.ndarray, float]:
    """From the heaviest edge down, joining what touches, as Kruskal does, until one piece is large enough.

    Of two pieces that are equally large the one with the smaller node number is kept.
    """
    pieces, taken = UnionFind(), []
    sizes: dict[int, tuple[int, int]] = {}  # of each piece by its name: how large, and minus its smallest node
    for edges in _by_level(scores):
        for edge in edges:
            ends = pairs[edge].tolist()
            parts = [sizes.pop(name, (unit == "nodes", -name)) for name in {pieces[end] for end in ends}]
            pieces.union(*ends)
            size = sum(part[0] for part in parts) + (unit == "edges")
            sizes[pieces[ends[0]]] = size, max(part[1] for part in parts)
        taken += edges
        if max(sizes.values())[0] >= k_m:
            break
    largest = max(sizes, key=sizes.get)
    return np.array(sorted(edge for edge in taken if pieces[int(pairs[edge, 0])] == largest)), float(scores[taken[-1]])
