"""G_S: the few heaviest edges that hang together around the target, cut out of all edges and their scores."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

EdgesAt = dict[int, list[int]]  # the edges at each node


@dataclass(frozen=True)
class Subgraph:
    """G_S: the part of the graph the prediction rests on, in the graph's own numbers.

    `edges` are undirected pairs with the smaller number first. `dropped` counts the edges that were heavy enough
    but hang elsewhere; `threshold` is the least weight that was kept.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    threshold: float = 0.0
    dropped: int = 0

    @classmethod
    def of(cls, edges: Iterable[tuple[int, int]], roots: tuple[int, ...] = ()) -> "Subgraph":
        """The subgraph of these edges; the target belongs to it even where none of them touches it."""
        edges = tuple(sorted((int(a), int(b)) for a, b in edges))
        return cls(tuple(sorted({node for edge in edges for node in edge} | set(roots))), edges)


def extract(
    pairs: np.ndarray,
    scores: np.ndarray,
    roots: tuple[int, ...],
    k_m: int,
    *,
    unit: str = "nodes",
    connected: bool = True,
    hop: np.ndarray | None = None,
    touching: EdgesAt | None = None,
) -> Subgraph:
    """The K_M heaviest edges, or nodes, that hang together: a beginning of `nested_order`, never more than K_M.

    With nodes counted, edges between nodes that are in already cost nothing. Who cuts the same graph again and again
    passes `touching`, made once by `edges_at`.
    """
    if k_m < 1 or unit not in ("nodes", "edges"):
        raise ValueError(f"k_m must be at least 1 and counted in nodes or edges (got {k_m} {unit})")
    if len(scores) == 0:
        return Subgraph(tuple(sorted(set(roots))), ())
    nodes, kept = set(roots), []
    for edge in nested_order(pairs, scores, roots, connected=connected, hop=hop, touching=touching):
        ends = set(pairs[edge].tolist())
        if len(kept) + 1 > k_m if unit == "edges" else len(nodes | ends) > k_m:
            break
        nodes |= ends
        kept.append(edge)
    threshold = float(scores[kept].min()) if kept else float(scores.max())
    edges = tuple((int(a), int(b)) for a, b in pairs[np.sort(np.array(kept, dtype=np.int64))])
    return Subgraph(tuple(sorted(nodes)), edges, threshold, int((scores >= threshold).sum()) - len(edges))


def nested_order(
    pairs: np.ndarray,
    scores: np.ndarray,
    roots: tuple[int, ...],
    *,
    connected: bool = True,
    hop: np.ndarray | None = None,
    touching: EdgesAt | None = None,
) -> Iterator[int]:
    """The edges from the target outwards along the heaviest each time, as Prim grows a tree; every beginning hangs together.

    A whole graph has no target: there it grows from the heaviest edge. Of equals the one with fewer hops comes
    first, then the one with the smaller number. Unconnected, the heaviest come first wherever they are.
    """
    hop = np.zeros(len(scores), dtype=np.int64) if hop is None else hop
    if not connected or not len(scores):
        yield from np.lexsort((hop, -scores)).tolist()
        return
    touching = edges_at(pairs) if touching is None else touching
    seen: set[int] = set()
    reached: set[int] = set()
    if not roots:
        heaviest = int(np.lexsort((hop, -scores))[0])
        yield heaviest
        seen, roots = {heaviest}, tuple(pairs[heaviest].tolist())
    waiting: list[tuple[float, int, int]] = []  # (-score, hop, edge) of edges that leave what is reached

    def reach(node: int) -> None:
        if node not in reached:
            reached.add(node)
            for edge in touching.get(node, ()):
                heapq.heappush(waiting, (-scores[edge], hop[edge], edge))

    for root in roots:
        reach(root)
    while waiting:
        edge = heapq.heappop(waiting)[2]
        if edge not in seen:
            seen.add(edge)
            yield edge
            for node in pairs[edge].tolist():
                reach(node)


def edges_at(pairs: np.ndarray) -> EdgesAt:
    """The edges at each node."""
    ends = pairs.ravel()
    order = np.argsort(ends, kind="stable")
    nodes, start = np.unique(ends[order], return_index=True)
    edges, stops = (order // 2).tolist(), [*start.tolist(), len(ends)]
    return {node: edges[stops[i] : stops[i + 1]] for i, node in enumerate(nodes.tolist())}
