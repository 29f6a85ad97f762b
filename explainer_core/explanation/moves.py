"""Moves from one part of a graph to others: an edge more, one less, one exchanged, two that follow each other, a ring closed.

A ring has a move of its own because its edges are of no use until the last one is in, and two edges have one because what
is missing is often a node and neither of its edges helps without the other.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from networkx.utils import UnionFind

NEWCOMERS = 12  # edges that may come into one part
ELSEWHERE = 4  # of them that begin another piece of a whole graph
SWAPS = 3, 6  # edges that may leave for another one, and how many that may be
PAIRS = 6  # two edges at once
RINGS = 4  # rings that may be closed from one part
RING_STARTS = 40  # edges through which a ring is looked for
LONGEST_RING = 8
LONGEST_WAY = 30  # from the target to a ring
SMALL = 12  # edges; of larger parts there are fewer moves
FEWER = 6  # newcomers, and edges that may leave, of a larger part


class Moves:
    """Some edges of a graph, and the parts that can be made of them; a part is a row of booleans over the edges.

    `connected` parts hang together around the roots. `in_pieces` says that they need not, but that an edge which touches
    the part is better than one elsewhere.
    """

    def __init__(self, pairs: np.ndarray, roots: Sequence[int], *, connected: bool, in_pieces: bool):
        self.connected, self.in_pieces = connected, in_pieces
        names = np.unique(np.concatenate([pairs.ravel(), np.array(roots, dtype=np.int64)]))
        self.ends = np.searchsorted(names, pairs)  # (edges, 2)
        self.incidence = np.zeros((len(pairs), len(names)), dtype=np.float32)
        self.incidence[np.arange(len(pairs))[:, None], self.ends] = 1
        self.root = np.isin(names, roots)  # (nodes,)
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in names]  # (other node, edge)
        for edge, (a, b) in enumerate(self.ends.tolist()):
            self.neighbours[a].append((b, edge))
            self.neighbours[b].append((a, edge))
        self.rank = np.zeros(len(pairs))  # (edges,): the smaller, the sooner an edge comes in
        self.open = np.ones(len(pairs), dtype=bool)  # (edges,): those that may come in
        self.rings = np.zeros((0, len(pairs)), dtype=bool)

    def nodes(self, rows: np.ndarray) -> np.ndarray:
        """True for the nodes of each part and the target: (..., nodes)."""
        return (rows.astype(np.float32) @ self.incidence > 0) | self.root

    def pieces(self, row: np.ndarray) -> int:
        """How many pieces a part consists of."""
        joined = UnionFind()
        for a, b in self.ends[row].tolist():
            joined.union(a, b)
        return len({joined[node] for node in joined})

    def beginnings(self) -> np.ndarray:
        """Parts to grow from: every edge at the target, or every edge of a whole graph, and rings: (parts, edges).

        The foremost edges by rank decide which rings are known from then on.
        """
        at_target = self.incidence @ self.root.astype(np.float32) > 0
        if not self.root.any() or not self.connected:
            at_target = np.ones(len(self.ends), dtype=bool)
        self.rings = self._shortest_rings()
        self.ring_nodes = self.rings.astype(np.float32) @ self.incidence > 0  # (rings, nodes), without the target
        single = np.eye(len(self.ends), dtype=bool)[at_target & self.open]
        return np.concatenate([single, self._led_to(self.rings)])

    def _shortest_rings(self) -> np.ndarray:
        """The shortest ring through each of the foremost edges: (rings, edges)."""
        found: dict[tuple[int, ...], None] = {}
        for edge in self._foremost(self.open)[:RING_STARTS].tolist():
            a, b = self.ends[edge].tolist()
            path = self._path({a}, b, LONGEST_RING - 1, without=edge)
            if path is not None:
                found[tuple(sorted([*path, edge]))] = None
        rows = np.zeros((len(found), len(self.ends)), dtype=bool)
        for row, ring in zip(rows, found, strict=True):
            row[list(ring)] = True
        return rows

    def _led_to(self, rings: np.ndarray) -> np.ndarray:
        """Each ring with the shortest way from the target to it."""
        if not self.root.any() or not self.connected:
            return rings
        led = []
        for ring in rings:
            on_ring = set(self.ends[ring].ravel().tolist())
            way = self._path(on_ring, int(np.flatnonzero(self.root)[0]), LONGEST_WAY)
            if way is not None:
                row = ring.copy()
                row[way] = True
                led.append(row)
        return np.array(led, dtype=bool).reshape(-1, len(self.ends))

    def _path(self, starts: set[int], goal: int, longest: int, without: int = -1) -> list[int] | None:
        """The edges of a shortest way, none of them `without`."""
        came: dict[int, tuple[int, int] | None] = dict.fromkeys(starts)
        waiting = deque((node, 0) for node in sorted(starts))
        while waiting:
            node, steps = waiting.popleft()
            if node == goal:
                way, step = [], came[node]
                while step is not None:
                    way.append(step[1])
                    step = came[step[0]]
                return way
            if steps < longest:
                for other, edge in self.neighbours[node]:
                    if edge != without and self.open[edge] and other not in came:
                        came[other] = (node, edge)
                        waiting.append((other, steps + 1))
        return None

    def newcomers(self, row: np.ndarray) -> np.ndarray:
        """The foremost edges that touch a part."""
        touching = self.incidence @ self.nodes(row).astype(np.float32) > 0
        coming = self.open & ~row
        near, far = (self._foremost(some) for some in (touching & coming, ~touching & coming))
        if self.connected:
            return near[:NEWCOMERS]
        elsewhere = ELSEWHERE if self.in_pieces else NEWCOMERS // 2
        return np.concatenate([near[: NEWCOMERS - elsewhere], far[:elsewhere]])

    def _foremost(self, some: np.ndarray) -> np.ndarray:
        open_edges = np.flatnonzero(some)
        return open_edges[np.argsort(self.rank[open_edges], kind="stable")]

    def additions(self, row: np.ndarray) -> np.ndarray:
        """One edge more, two that follow each other, or a whole ring."""
        newcomers = self.newcomers(row)[: NEWCOMERS if row.sum() <= SMALL else FEWER]
        single = np.repeat(row[None], len(newcomers), axis=0)
        single[np.arange(len(newcomers)), newcomers] = True
        double = []
        for edge in newcomers[:PAIRS].tolist():
            follows = [
                e for node in self.ends[edge].tolist() for _, e in self.neighbours[node] if self.open[e] and not row[e]
            ]
            follows = [e for e in follows if e != edge]
            if follows:
                both = row.copy()
                both[[edge, min(follows, key=self.rank.__getitem__)]] = True
                double.append(both)
        return np.concatenate([single, np.array(double, dtype=bool).reshape(-1, len(row)), self._ringed(row)])

    def _ringed(self, row: np.ndarray) -> np.ndarray:
        """The part with a ring that touches it, those first that need the fewest new edges."""
        if not len(self.rings):
            return self.rings
        new = (self.rings & ~row).sum(1)  # (rings,)
        touches = (self.ring_nodes & self.nodes(row)).any(1) | (not self.connected)
        wanted = np.flatnonzero((new > 0) & touches)
        return row | self.rings[wanted[np.argsort(new[wanted], kind="stable")][:RINGS]]

    def _removable(self, row: np.ndarray) -> np.ndarray:
        """The edges without which the part is still one piece that holds the target."""
        inside = np.flatnonzero(row)
        if not self.connected or len(inside) < 2:
            return inside[:0] if len(inside) < 2 else inside
        incidence = self.incidence[inside]
        there = np.flatnonzero(incidence.any(0))
        incidence = incidence[:, there]  # (s, nodes of the part)
        kept = 1 - np.eye(len(inside), dtype=np.float32)  # (s, s): row i is without edge i
        touched = kept @ incidence > 0
        reached = np.repeat(self.root[None, there], len(inside), axis=0)
        if not self.root.any():
            start = self.ends[inside[kept.argmax(1)], 0]
            reached[np.arange(len(inside)), np.searchsorted(there, start)] = True
        count = -1
        while count != (count := int(reached.sum())):
            passes = (reached.astype(np.float32) @ incidence.T > 0) * kept
            reached |= passes @ incidence > 0
        return inside[(reached | ~touched).all(1)]

    def removals(self, row: np.ndarray) -> np.ndarray:
        """One edge less."""
        leaving = self._removable(row)
        if row.sum() > SMALL:
            leaving = leaving[np.argsort(-self.rank[leaving], kind="stable")][:FEWER]
        made = np.repeat(row[None], len(leaving), axis=0)
        made[np.arange(len(leaving)), leaving] = False
        return made

    def exchanges(self, row: np.ndarray, value: Callable[[np.ndarray], float]) -> np.ndarray:
        """One edge for another: those leave without which the part has most value, as far as that is known, else the
        hindmost."""
        removals, made = self.removals(row), []
        values = np.array([value(each) for each in removals])
        rank = self.rank[(removals != row).argmax(1)]  # of the edge that leaves
        for i in np.lexsort((-rank, -values))[: SWAPS[0]].tolist():
            coming = [edge for edge in self.newcomers(removals[i]) if not row[edge]][: SWAPS[1]]
            rows = np.repeat(removals[i][None], len(coming), axis=0)
            rows[np.arange(len(coming)), coming] = True
            made.append(rows)
        return np.concatenate(made) if made else removals[:0]
