"""Where nodes are drawn: a neighbourhood in pixels, a whole data set's map in the unit square, a molecule as chemists do."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

EDGE_LENGTH = 50.0  # pixels at zoom 1, of a typical edge
LEAST_DISTANCE = 14.0  # pixels between two nodes; a node is about 8 wide

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))  # turns by it never meet again, so they spread points evenly
SMALL = 400  # nodes; up to here every distance is looked at, above that forces have to do
STRESS_ROUNDS = 45  # two thirds of them above 150 nodes
SETTLED = 1e-3  # edge lengths: a round that moves no node further is the last
APART_ROUNDS = 40
LEAF = 16  # points in a leaf of a search tree; it decides the order of near pairs, and so the last digits
PIVOTS = 50  # nodes whose distances to all others position a large graph
UNFOLDING_ROUNDS, SHAPING_ROUNDS = 50, 100


# A neighbourhood


def neighbourhood_layout(num_nodes: int, pairs: ArrayLike, targets: Sequence[int] = ()) -> np.ndarray:
    """Positions of a small graph's nodes in pixels, y downwards, around 0: (N, 2).

    Stress majorisation (Gansner et al. 2004): distances on paper follow distances in the graph. Parts that do not
    hang together stand in rows, those with a target first. No two nodes come closer than LEAST_DISTANCE.
    """
    pairs = _checked_pairs(num_nodes, pairs)
    for target in targets:
        if not 0 <= target < num_nodes:
            raise ValueError(f"a target must be a node, 0 to {num_nodes - 1} (got {target})")
    parts = _parts(num_nodes, pairs, targets)
    return _in_rows(num_nodes, [(nodes, _connected_layout(len(nodes), inner)) for nodes, inner in parts])


def _connected_layout(size: int, pairs: np.ndarray) -> np.ndarray:
    """One connected part in pixels, its long side level."""
    if size == 1:
        return np.zeros((1, 2))
    if size > SMALL:
        positions = _forces(size, pairs, _pivot_scaling(size, pairs))
    else:
        distances = shortest_path(_matrix(size, pairs), method="D", directed=False, unweighted=True)  # (N, N)
        positions = _stress(distances, _classical_scaling(distances))
    lengths = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    to_neighbour = KDTree(positions, LEAF).query(positions, k=2)[0][:, 1]
    # a crowd of nodes that all know each other needs room, so that its edges are longer
    scale = max(EDGE_LENGTH / np.median(lengths), LEAST_DISTANCE / max(np.quantile(to_neighbour, 0.2), 1e-2))
    return apart(_level(positions * scale))


def _classical_scaling(distances: np.ndarray) -> np.ndarray:
    """The plane in which the distances are kept best (Torgerson 1952); nodes that coincide fan out a little: (N, 2)."""
    squared = distances**2
    centred = -(squared - squared.mean(0) - squared.mean(1, keepdims=True) + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    positions = fixed_signs(vectors[:, :-3:-1]) * np.sqrt(np.maximum(values[:-3:-1], 0))
    return positions + 0.01 * turns(np.arange(len(positions)))


def _stress(distances: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Moves nodes until the squared errors of all distances, near ones counting most (d^-2), are least: (N, 2).

    Each round goes twice as far as it would have to (de Leeuw & Heiser 1980), which takes it there in under half as many.
    """
    size = len(distances)
    weight = (distances + np.eye(size)) ** -2.0  # no zeros to divide by; the diagonal is emptied next
    np.fill_diagonal(weight, 0)
    inverse = np.linalg.inv(np.diag(weight.sum(1)) - weight + 1 / size) - 1 / size
    weighted = weight * distances
    for left in reversed(range(STRESS_ROUNDS if size <= 150 else 2 * STRESS_ROUNDS // 3)):
        ratio = weighted / np.maximum(cdist(positions, positions), 1e-9)
        moved = inverse @ (ratio.sum(1, keepdims=True) * positions - ratio @ positions)
        if left == 0 or np.abs(moved - positions).max() < SETTLED:
            return moved
        positions = 2 * moved - positions
    return positions


# A map


def map_layout(num_nodes: int, pairs: ArrayLike) -> np.ndarray:
    """Positions of a whole data set's nodes for an overview, in 0 to 1 in both axes, shapes kept: (N, 2).

    A large part starts where its distances to a few pivots put it; then joined nodes attract and all nodes repel each other.
    Parts that do not hang together stand in rows, large ones first.
    """
    pairs = _checked_pairs(num_nodes, pairs)
    parts = _parts(num_nodes, pairs, ())
    positions = _in_rows(num_nodes, [(nodes, _connected_layout(len(nodes), inner)) for nodes, inner in parts])
    if num_nodes == 0:
        return positions
    middle, extent = (positions.min(0) + positions.max(0)) / 2, np.ptp(positions, axis=0).max()
    return np.clip(0.5 + (positions - middle) / max(extent, 1.0), 0, 1)


def _pivot_scaling(size: int, pairs: np.ndarray) -> np.ndarray:
    """Classical scaling from the distances to a few nodes far from one another (Brandes & Pich 2006): (N, 2)."""
    matrix = _matrix(size, pairs)
    columns, pivot = [], 0
    nearest = np.full(size, np.inf)
    for _ in range(min(PIVOTS, size)):
        columns.append(shortest_path(matrix, method="D", directed=False, unweighted=True, indices=pivot))
        nearest = np.minimum(nearest, columns[-1])
        pivot = int(nearest.argmax())
    squared = np.stack(columns, axis=1) ** 2  # (N, pivots)
    centred = -(squared - squared.mean(0) - squared.mean(1, keepdims=True) + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred.T @ centred)
    positions = centred @ fixed_signs(vectors[:, -2:][:, ::-1])
    return positions / np.maximum(values[-2:][::-1], 1e-9) ** 0.25


def _forces(size: int, pairs: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Springs along edges, all nodes repel (Fruchterman & Reingold 1991), steps shrink. One unit is an edge: (N, 2).

    A repulsion that reaches far (1 / d^2) unfolds the graph first; one that does not (1 / d^3) then gives motifs their shape.
    The springs of a node with few edges are strong: a house holds together on a hub that many springs act on.
    """
    source, target = pairs.T
    degree = np.bincount(pairs.ravel(), minlength=size)
    strength = 3 / np.minimum(degree[source], degree[target])[:, None]
    positions = positions + 0.3 * turns(np.arange(size))
    cells = 128 if size < 4000 else 256
    for power, rounds in ((2, UNFOLDING_ROUNDS), (3, SHAPING_ROUNDS)):
        repulsion = _Repulsion(power, cells)
        for round_ in range(rounds):
            along = positions[source] - positions[target]
            spring = along * np.linalg.norm(along, axis=1, keepdims=True) * strength
            force = repulsion(positions)
            for axis in (0, 1):
                force[:, axis] -= np.bincount(source, spring[:, axis], size) - np.bincount(
                    target, spring[:, axis], size
                )
            length = np.linalg.norm(force, axis=1, keepdims=True)
            limit = (0.1 * np.sqrt(size) + 1) * (1 - round_ / rounds) ** 2 + 0.02
            positions = positions + force * np.minimum(1, limit / np.maximum(length, 1e-9))
    return positions


class _Repulsion:
    """The repulsion of every node on every other, 1 / distance^power, by a convolution on a grid: N hardly costs."""

    def __init__(self, power: int, cells: int):
        self.power, self.cells = power, cells
        steps = fft.fftfreq(2 * cells, 1 / (2 * cells)).astype(np.float32)  # 0, 1, ..., -2, -1 cells
        squared = steps[:, None] ** 2 + steps[None] ** 2 + np.float32(0.5)  # half a cell blurs what the grid cannot see
        kernel = steps[:, None] / squared ** ((power + 1) / 2)
        self.spectra = _rfft2(kernel), _rfft2(kernel.T)

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """(N, 2)"""
        side = 2 * self.cells  # twice as wide as the nodes, so that nothing comes round the edge
        cell = max(np.ptp(positions, axis=0).max() / (self.cells - 2), 1e-6)
        position = (positions - positions.min(0)) / cell
        corner = position.astype(np.int64)
        right, up = (position - corner).T
        at = corner[:, 0] * side + corner[:, 1]
        corners = np.stack([at, at + 1, at + side, at + side + 1])  # (4, N)
        shares = np.stack([(1 - right) * (1 - up), (1 - right) * up, right * (1 - up), right * up])
        mass = np.bincount(corners.ravel(), shares.ravel(), side * side).astype(np.float32)
        spectrum = _rfft2(mass.reshape(side, side))
        fields = [np.asarray(fft.irfft2(spectrum * kernel)).ravel() for kernel in self.spectra]
        return np.stack([(shares * field[corners]).sum(0) for field in fields], axis=1) / cell**self.power


def _rfft2(values: np.ndarray) -> np.ndarray:
    """scipy declares its transforms as what they dispatch on, not as the array they return."""
    return np.asarray(fft.rfft2(values))


# Shared by all


def _checked_pairs(num_nodes: int, given: ArrayLike) -> np.ndarray:
    """Each pair once, smaller number first, no loops: (P, 2)."""
    pairs = np.asarray(given, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= num_nodes):
        raise ValueError(f"pairs must join nodes 0 to {num_nodes - 1} (got {pairs.min()} to {pairs.max()})")
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)


def _matrix(size: int, pairs: np.ndarray):
    return coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()


def _parts(num_nodes: int, pairs: np.ndarray, targets: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The nodes of each connected part and its pairs in the part's own numbers; those with targets first, then large ones."""
    count, part_of = connected_components(_matrix(num_nodes, pairs), directed=False)
    if count == 0:
        return []
    by_part = np.argsort(part_of, kind="stable")
    groups = np.split(by_part, np.cumsum(np.bincount(part_of))[:-1])
    own_number = np.empty(num_nodes, dtype=np.int64)
    for nodes in groups:
        own_number[nodes] = np.arange(len(nodes))
    pair_part = part_of[pairs[:, 0]]
    order = np.argsort(pair_part, kind="stable")
    inner = np.split(own_number[pairs[order]], np.cumsum(np.bincount(pair_part, minlength=count))[:-1])
    wanted = {int(part_of[target]) for target in targets}
    ranked = sorted(range(count), key=lambda i: (i not in wanted, -len(groups[i]), groups[i][0]))
    return [(groups[i], inner[i]) for i in ranked]


def _in_rows(num_nodes: int, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The parts side by side in rows that make about a square, an edge's length apart, all around 0."""
    positions = np.zeros((num_nodes, 2))
    sizes = [np.ptp(drawn, axis=0) + EDGE_LENGTH for _, drawn in parts]
    width = max([np.sqrt(sum(size.prod() for size in sizes)) * 1.2, *(size[0] for size in sizes)], default=0)
    x, y, height = 0.0, 0.0, 0.0
    for (nodes, drawn), size in zip(parts, sizes, strict=True):
        if x > 0 and x + size[0] > width + 1e-6:
            x, y, height = 0.0, y + height, 0.0
        positions[nodes] = drawn - drawn.min(0) + (x, y)
        x, height = x + size[0], max(height, size[1])
    return positions - (positions.min(0) + positions.max(0)) / 2 if num_nodes else positions


def _level(positions: np.ndarray) -> np.ndarray:
    """Turned so that the long side is level; the same way up every time."""
    positions = positions - positions.mean(0)
    return positions @ fixed_signs(np.linalg.eigh(positions.T @ positions)[1][:, ::-1])


def fixed_signs(vectors: np.ndarray) -> np.ndarray:
    """Columns whose largest entry is positive: an eigenvector's sign is chance."""
    largest = np.abs(vectors).round(9).argmax(0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1)


def apart(positions: np.ndarray) -> np.ndarray:
    """Moves nodes off one another; where that does not end, all grows until no two are closer than LEAST_DISTANCE."""
    if len(positions) < 2:
        return positions
    positions = positions.copy()
    for _ in range(APART_ROUNDS):
        close = KDTree(positions, LEAF).query_pairs(LEAST_DISTANCE, output_type="ndarray")
        if len(close) == 0:
            break
        one, other = close.T
        gap = positions[one] - positions[other]
        length = np.linalg.norm(gap, axis=1, keepdims=True)
        way = np.where(length > 1e-9, gap / np.maximum(length, 1e-9), turns(one + other))
        move = way * (1.1 * LEAST_DISTANCE - length) / 2
        np.add.at(positions, one, move)
        np.subtract.at(positions, other, move)
    nearest = KDTree(positions, LEAF).query(positions, k=2)[0][:, 1].min()
    return positions * max(1.0, LEAST_DISTANCE / max(nearest, 0.1 * LEAST_DISTANCE))


def turns(number: np.ndarray) -> np.ndarray:
    """A direction for each number, all different: (len(number), 2)."""
    return np.stack([np.cos(GOLDEN_ANGLE * number), np.sin(GOLDEN_ANGLE * number)], axis=1)
