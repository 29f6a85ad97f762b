"""G_S: the few heaviest edges that hang together around the target, cut out of all edges and their scores."""

import heapq
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


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
) -> Subgraph:
    """The paper's extraction (its Appendix): the largest threshold at which the component around the target reaches K_M.

    Edges as heavy as the threshold are all kept. Without roots (a whole graph) the largest component counts;
    unconnected, the heaviest edges count wherever they are. A graph smaller than K_M is kept whole.
    """
    if k_m < 1 or unit not in ("nodes", "edges"):
        raise ValueError(f"k_m must be at least 1 and counted in nodes or edges (got {k_m} {unit})")
    if len(scores) == 0:
        return Subgraph(tuple(sorted(set(roots))), (), 0.0, 0)
    if roots and connected:
        kept, threshold = _grown(pairs, scores, roots, k_m, unit)
    else:
        kept, threshold = _searched(pairs, scores, roots, k_m, unit, connected)
    edges = tuple((int(a), int(b)) for a, b in pairs[kept])
    nodes = {node for edge in edges for node in edge} | set(roots)
    return Subgraph(tuple(sorted(nodes)), edges, threshold, int((scores >= threshold).sum()) - len(edges))


def _grown(
    pairs: np.ndarray, scores: np.ndarray, roots: tuple[int, ...], k_m: int, unit: str
) -> tuple[np.ndarray, float]:
    """From the roots along the heaviest edge each time, as Prim grows a tree: the kept edges, and the threshold.

    Between two falls of the threshold everything within reach at that weight is taken in, so that ties are all kept.
    """
    touching = _touching(pairs)
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


def _touching(pairs: np.ndarray) -> dict[int, np.ndarray]:
    """The edges at each node."""
    ends = pairs.ravel()
    order = np.argsort(ends, kind="stable")
    nodes, start = np.unique(ends[order], return_index=True)
    return dict(zip(nodes.tolist(), (part.tolist() for part in np.split(order // 2, start[1:])), strict=True))


def _searched(
    pairs: np.ndarray, scores: np.ndarray, roots: tuple[int, ...], k_m: int, unit: str, connected: bool
) -> tuple[np.ndarray, float]:
    """By halving the range of thresholds, where there is no root to grow from or nothing has to hang together."""
    nodes, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)  # (u, 2): pairs renumbered from zero

    def kept_at(threshold: float) -> np.ndarray:
        """Which edges are kept: (u,) bool."""
        heavy = scores >= threshold
        return heavy & _in_largest(ends, heavy, len(nodes), unit) if connected else heavy

    def large_enough(threshold: float) -> bool:
        kept = kept_at(threshold)
        size = kept.sum() if unit == "edges" else len(np.union1d(pairs[kept], roots))  # the target always counts
        return size >= k_m

    levels = np.unique(scores)  # rising; the kept part only grows as the threshold falls
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if large_enough(levels[middle]) else (low, middle - 1)
    return np.flatnonzero(kept_at(levels[low])), float(levels[low])


def _in_largest(ends: np.ndarray, heavy: np.ndarray, num_nodes: int, unit: str) -> np.ndarray:
    """True for the edges in the largest component of the heavy ones, counted in nodes or edges: (u,)."""
    a, b = ends[heavy].T
    links = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(num_nodes, num_nodes))
    component = connected_components(links, directed=False)[1]  # (n,)
    return component[ends[:, 0]] == np.bincount(component if unit == "nodes" else component[a]).argmax()
