"""Moves between parts: whatever is made from a part in one piece is in one piece, and differs from it as the move says."""

import networkx as nx
import numpy as np
import pytest

from explainer_core.explanation.moves import Moves


def ringed(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rings hung on a random tree, far from each other: (edges, 2), and how soon each comes in."""
    rng = np.random.default_rng(seed)
    net = nx.random_labeled_tree(14, seed=seed)
    for ring in range(3):
        first = 14 + 4 * ring
        nx.add_cycle(net, range(first, first + 4))
        net.add_edge(first, int(rng.integers(14)))
    pairs = np.array(sorted(tuple(sorted(edge)) for edge in net.edges))
    return pairs, rng.permutation(len(pairs)).astype(float)


def hangs_together(pairs: np.ndarray, row: np.ndarray, roots: tuple[int, ...]) -> bool:
    net = nx.Graph([tuple(pair) for pair in pairs[row].tolist()])
    net.add_nodes_from(roots)
    return all(set(roots) & piece for piece in nx.connected_components(net))


def grown(pairs: np.ndarray, root: int, size: int, rng) -> np.ndarray:
    row, nodes = np.zeros(len(pairs), dtype=bool), {root}
    while row.sum() < size:
        free = [i for i, pair in enumerate(pairs.tolist()) if not row[i] and set(pair) & nodes]
        chosen = int(rng.choice(free))
        row[chosen] = True
        nodes |= set(pairs[chosen].tolist())
    return row


@pytest.mark.parametrize("roots", [(0,), (0, 9)])
@pytest.mark.parametrize("seed", range(6))
def test_every_move_from_a_connected_part_leads_to_one(seed, roots):
    pairs, rank = ringed(seed)
    moves, rng = Moves(pairs, roots, connected=True, in_pieces=False), np.random.default_rng(seed)
    moves.rank = rank
    assert all(hangs_together(pairs, row, roots) for row in moves.beginnings())
    assert len(moves.rings) == 3
    for size in (1, 2, 5, 9, 14):
        row = grown(pairs, roots[0], size, rng)
        for made in (moves.additions(row), moves.removals(row), moves.exchanges(row, lambda _: -np.inf)):
            assert all(hangs_together(pairs, each, roots) for each in made)
        assert ((moves.additions(row) & row).sum(1) == size).all()
        assert (moves.removals(row).sum(1) == size - 1).all()
        assert (moves.exchanges(row, lambda _: -np.inf).sum(1) == size).all()


@pytest.mark.parametrize("seed", range(6))
def test_all_edges_that_can_leave_are_found(seed):
    pairs, rank = ringed(seed)
    moves, rng = Moves(pairs, (0,), connected=True, in_pieces=False), np.random.default_rng(seed)
    moves.rank = rank
    row = grown(pairs, 0, 10, rng)
    possible = []
    for edge in np.flatnonzero(row):
        less = row.copy()
        less[edge] = False
        possible += [less.tobytes()] if hangs_together(pairs, less, (0,)) else []
    assert {each.tobytes() for each in moves.removals(row)} == set(possible)


def test_a_ring_is_closed_in_one_move():
    pairs = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)])
    moves = Moves(pairs, (0,), connected=True, in_pieces=False)
    moves.beginnings()
    row = np.array([True, False, False, False, False])
    assert [True] * 5 in moves.additions(row).tolist()
    assert moves.pieces(np.array([True, False, True, False, False])) == 2
