"""Moves from one part of a graph to others: an edge more, one less, one exchanged, two that follow each other, a ring closed.

A ring has a move of its own because its edges are of no use until the last one is in, and two edges have one because what
is missing is often a node and neither of its edges helps without the other.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

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

    Moves are made from many parts at once: most of what one costs does not grow with their number. `connected` parts hang together around the roots. `in_pieces` says that they need not, but that an edge which touches
    the part is better than one elsewhere.
    """

    def __init__(self, pairs: np.ndarray, roots: Sequence[int], *, connected: bool, in_pieces: bool):
        self.connected, self.in_pieces = connected, in_pieces
        names = np.unique(np.concatenate([pairs.ravel(), np.array(roots, dtype=np.int64)]))
        self.ends = np.searchsorted(names, pairs)  # (edges, 2)
        self.root = np.isin(names, roots)  # (nodes,)
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in names]  # (other node, edge)
        for edge, (a, b) in enumerate(self.ends.tolist()):
            self.neighbours[a].append((b, edge))
            self.neighbours[b].append((a, edge))
        self.rings = np.zeros((0, len(pairs)), dtype=bool)
        self.enter(np.zeros(len(pairs)), np.ones(len(pairs), dtype=bool))

    def enter(self, rank: np.ndarray, open_edges: np.ndarray) -> None:
        """From here on these edges may come in, the sooner the smaller their rank: (edges,) each."""
        self.rank, self.open = rank, open_edges
        self.order = np.argsort(rank, kind="stable")
        self._following: dict[int, list[int]] = {}

    def nodes(self, rows: np.ndarray) -> np.ndarray:
        """True for the nodes of each part and the target: (parts, nodes)."""
        there = np.repeat(self.root[None], len(rows), axis=0)
        part, edge = rows.nonzero()
        for end in self.ends[edge].T:
            there[part, end] = True
        return there

    def _touching(self, rows: np.ndarray) -> np.ndarray:
        """True for the edges at a node of each part: (parts, edges)."""
        there = self.nodes(rows)
        return there[:, self.ends[:, 0]] | there[:, self.ends[:, 1]]

    def pieces(self, rows: np.ndarray) -> np.ndarray:
        """How many pieces each part consists of: (parts,)."""
        _, ends = self._edges_of(rows)
        label = self._labels(ends, len(rows))
        used = np.zeros(len(label), dtype=bool)
        used[ends] = True
        return (used & (label == np.arange(len(label)))).reshape(len(rows), len(self.root)).sum(1)

    def _hang_together(self, rows: np.ndarray) -> np.ndarray:
        """Which parts are one piece that holds the target, or hang on one of its two ends each: (parts,) bool."""
        if not self.root.any():
            return self.pieces(rows) <= 1
        part, ends = self._edges_of(rows)
        roots = np.arange(len(rows))[:, None] * len(self.root) + np.flatnonzero(self.root)  # (parts, roots)
        joined = np.stack([np.repeat(roots[:, 0], roots.shape[1]), roots.ravel()])  # as if an edge ran between them
        label = self._labels(np.concatenate([ends, joined], axis=1), len(rows))
        return np.bincount(part[label[ends[0]] != label[roots[part, 0]]], minlength=len(rows)) == 0

    def _edges_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges of all parts: the part of each, and its ends where each part has nodes of its own: (m,), (2, m)."""
        part, edge = rows.nonzero()
        return part, part * len(self.root) + self.ends[edge].T

    def _labels(self, ends: np.ndarray, parts: int) -> np.ndarray:
        """One label for the nodes of each piece, the smallest of their numbers: (parts * nodes,).

        Each edge hands the smaller of its ends' labels to both, and labels are followed to their own labels, until none changes.
        """
        label = np.arange(parts * len(self.root))
        while True:
            at_ends = label[ends]
            low = at_ends.min(0)
            if (at_ends == low).all():
                return label
            for some in (*at_ends, *ends):
                np.minimum.at(label, some, low)
            label = label[label]

    def beginnings(self) -> np.ndarray:
        """Parts to grow from: every edge at the target, or every edge of a whole graph, and rings: (parts, edges).

        The foremost edges by rank decide which rings are known from then on.
        """
        at_target = self.root[self.ends].any(1)
        if not self.root.any() or not self.connected:
            at_target = np.ones(len(self.ends), dtype=bool)
        self.rings = self._shortest_rings()
        single = np.eye(len(self.ends), dtype=bool)[at_target & self.open]
        return np.concatenate([single, self._led_to(self.rings)])

    def _shortest_rings(self) -> np.ndarray:
        """The shortest ring through each of the foremost edges: (rings, edges)."""
        found: dict[tuple[int, ...], None] = {}
        for edge in self.order[self.open[self.order]][:RING_STARTS].tolist():
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

    def newcomers(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The foremost edges that touch each part, as numbers of parts and of edges: (m,) each, part by part."""
        touching, coming = self._touching(rows), self.open & ~rows  # (parts, edges) each
        if self.connected:
            return self._foremost_of(touching & coming, NEWCOMERS)
        elsewhere = ELSEWHERE if self.in_pieces else NEWCOMERS // 2
        near = self._foremost_of(touching & coming, NEWCOMERS - elsewhere)
        far = self._foremost_of(~touching & coming, elsewhere)
        part, edge = (np.concatenate(both) for both in zip(near, far, strict=True))
        by_part = np.argsort(part, kind="stable")
        return part[by_part], edge[by_part]

    def _foremost_of(self, some: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        ranked = some[:, self.order]
        part, at = (ranked & (ranked.cumsum(1) <= most)).nonzero()
        return part, self.order[at]

    def grown(self, row: np.ndarray, most: int) -> np.ndarray:
        """The part with one edge more each time, the foremost that touches it, up to so many edges: (parts, edges)."""
        row, rows = row.copy(), []
        touching, coming = self._touching(row[None])[0], self.open & ~row
        for _ in range(int(row.sum()), most):
            near = touching & coming
            some = near if self.connected or near.any() else coming
            at = some[self.order].argmax()
            edge = self.order[at]
            if not some[edge]:
                break
            row[edge], coming[edge] = True, False
            touching[[e for node in self.ends[edge].tolist() for _, e in self.neighbours[node]]] = True
            rows.append(row.copy())
        return np.array(rows, dtype=bool).reshape(-1, len(row))

    def around(self, rows: np.ndarray, values: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """All parts one move away from these, and the number of the one each was made from: (made, edges), (made,).

        `values` says how good parts are, as far as that is known.
        """
        removed = self.removals(rows)
        kinds = [*self.additions(rows), removed, self.exchanges(rows, removed, values)]
        part, made = (np.concatenate(some) for some in zip(*kinds, strict=True))
        by_part = np.argsort(part, kind="stable")
        return made[by_part], part[by_part]

    def additions(self, rows: np.ndarray) -> "list[Made]":
        """One edge more, two that follow each other, or a whole ring."""
        part, edge = self.newcomers(rows)
        position = _position_in(part)
        few = position < np.where(rows.sum(1) <= SMALL, NEWCOMERS, FEWER)[part]
        paired = few & (position < PAIRS)
        return [_with(rows, part[few], edge[few]), self._doubled(rows, part[paired], edge[paired]), self._ringed(rows)]

    def _doubled(self, rows: np.ndarray, part: np.ndarray, edge: np.ndarray) -> "Made":
        """Each of these parts with an edge, and the foremost of those that follow it."""
        inside = [row.tobytes() for row in rows]  # of single bytes python reads one fastest
        second = [
            next((e for e in self._follows(first) if not inside[i][e]), -1)
            for i, first in zip(part.tolist(), edge.tolist(), strict=True)
        ]
        second = np.array(second, dtype=np.int64)
        there = second >= 0
        _, made = both = _with(rows, part[there], edge[there])
        made[np.arange(len(made)), second[there]] = True
        return both

    def _follows(self, edge: int) -> list[int]:
        """The open edges at either end of one, the foremost first."""
        if edge not in self._following:
            at_ends = [e for node in self.ends[edge].tolist() for _, e in self.neighbours[node] if self.open[e]]
            self._following[edge] = sorted((e for e in at_ends if e != edge), key=self.rank.__getitem__)
        return self._following[edge]

    def _ringed(self, rows: np.ndarray) -> "Made":
        """The parts with a ring that touches them, those first that need the fewest new edges."""
        if not len(self.rings):
            return np.empty(0, dtype=np.int64), np.empty((0, rows.shape[1]), dtype=bool)
        ring, edge = self.rings.nonzero()
        first = np.searchsorted(ring, np.arange(len(self.rings)))
        new = np.add.reduceat(~rows[:, edge], first, axis=1, dtype=np.int64)
        wanted = new > 0  # (parts, rings)
        if self.connected:
            wanted &= np.logical_or.reduceat(self._touching(rows)[:, edge], first, axis=1)
        order = np.argsort(np.where(wanted, new, rows.shape[1] + 1), axis=1, kind="stable")[:, :RINGS]
        part, at = np.take_along_axis(wanted, order, axis=1).nonzero()
        return part, rows[part] | self.rings[order[part, at]]

    def removals(self, rows: np.ndarray) -> "Made":
        """One edge less, so that the part is still one piece that holds the target."""
        size = rows.sum(1)
        part, edge = (rows & (size >= 2)[:, None]).nonzero()
        made = rows[part]
        made[np.arange(len(made)), edge] = False
        if self.connected:
            still = self._hang_together(made)
            part, edge, made = part[still], edge[still], made[still]
        large = size[part] > SMALL
        order = np.lexsort((np.where(large, -self.rank[edge], 0), part))
        kept = order[~large[order] | (_position_in(part[order]) < FEWER)]
        return part[kept], made[kept]

    def exchanges(self, rows: np.ndarray, removed: "Made", values: Callable[[np.ndarray], np.ndarray]) -> "Made":
        """One edge for another: those leave without which the part has most value, as far as that is known, else the
        hindmost."""
        part, less = removed
        rank = self.rank[(less != rows[part]).argmax(1)]  # of the edge that leaves
        order = np.lexsort((-rank, -values(less), part))
        order = order[_position_in(part[order]) < SWAPS[0]]
        part, less = part[order], less[order]
        at, edge = self.newcomers(less)
        other = ~rows[part[at], edge]  # not the one that has just left
        at, edge = at[other], edge[other]
        few = _position_in(at) < SWAPS[1]
        at, made = _with(less, at[few], edge[few])
        return part[at], made


Made = tuple[np.ndarray, np.ndarray]  # parts that were made, and before them the numbers of those they were made from


def _with(rows: np.ndarray, part: np.ndarray, edge: np.ndarray) -> Made:
    """These of the parts, each with an edge more."""
    made = rows[part]
    made[np.arange(len(made)), edge] = True
    return part, made


def _position_in(part: np.ndarray) -> np.ndarray:
    """The position of each entry among those of its part, which lie side by side: (m,)."""
    return np.arange(len(part)) - np.searchsorted(part, part)
