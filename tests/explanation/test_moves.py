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
    moves.enter(rank, np.ones(len(pairs), dtype=bool))
    assert all(hangs_together(pairs, row, roots) for row in moves.beginnings())
    assert len(moves.rings) == 3
    for size in (1, 2, 5, 9, 14):
        row = grown(pairs, roots[0], size, rng)
        added, removed, exchanged = all_moves(moves, row)
        assert all(hangs_together(pairs, each, roots) for each in (*added, *removed, *exchanged))
        assert ((added & row).sum(1) == size).all()
        assert (removed.sum(1) == size - 1).all()
        assert (exchanged.sum(1) == size).all()


def unknown(rows: np.ndarray) -> np.ndarray:
    """The values of parts where none is known."""
    return np.full(len(rows), -np.inf)


def all_moves(moves: Moves, row: np.ndarray) -> list[np.ndarray]:
    rows, removed = row[None], moves.removals(row[None])
    added = np.concatenate([made for _, made in moves.additions(rows)])
    return [added, removed[1], moves.exchanges(rows, removed, unknown)[1]]


@pytest.mark.parametrize("settings", [(True, False), (False, True), (False, False)], ids=str)
def test_moves_from_many_parts_are_those_from_each(settings):
    pairs, rank = ringed(1)
    roots = () if settings[1] else (0,)
    moves, rng = Moves(pairs, roots, connected=settings[0], in_pieces=settings[1]), np.random.default_rng(5)
    moves.enter(rank, rank < len(rank) - 3)
    moves.beginnings()
    rows = np.array([grown(pairs, 0, size, rng) for size in (1, 2, 3, 7, 12, 15, 16)])
    values = lambda some: (some @ np.arange(len(pairs))) % 5.0  # noqa: E731
    made, of_part = moves.around(rows, values)
    for i, row in enumerate(rows):
        alone, _ = moves.around(row[None], values)
        assert np.array_equal(made[of_part == i], alone)
    assert (np.diff(of_part) >= 0).all()


@pytest.mark.parametrize("roots", [(0,), (0, 9), (9, 13)])
@pytest.mark.parametrize("seed", range(20))
def test_all_edges_that_can_leave_are_found(seed, roots):
    """Of parts of up to twelve edges; larger ones have fewer moves."""
    pairs, rank = ringed(seed)
    moves, rng = Moves(pairs, roots, connected=True, in_pieces=False), np.random.default_rng(seed)
    moves.enter(rank, np.ones(len(pairs), dtype=bool))
    rows = np.array([np.any([grown(pairs, root, size, rng) for root in roots], axis=0) for size in range(1, 7)])
    part, removed = moves.removals(rows)
    for i, row in enumerate(rows):
        less = [np.where(np.arange(len(row)) == edge, False, row) for edge in np.flatnonzero(row)]
        possible = {each.tobytes() for each in less if each.any() and hangs_together(pairs, each, roots)}
        assert {each.tobytes() for each in removed[part == i]} == possible


def test_a_ring_is_closed_in_one_move():
    pairs = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)])
    moves = Moves(pairs, (0,), connected=True, in_pieces=False)
    moves.beginnings()
    row = np.array([True, False, False, False, False])
    assert [True] * 5 in [each for _, made in moves.additions(row[None]) for each in made.tolist()]


@pytest.mark.parametrize("seed", range(4))
def test_pieces_are_counted_as_networkx_counts_them(seed):
    pairs, _ = ringed(seed)
    rows = np.random.default_rng(seed).random((40, len(pairs))) < np.linspace(0, 1, 40)[:, None]
    counted = Moves(pairs, (), connected=False, in_pieces=True).pieces(rows)
    assert counted.tolist() == [nx.number_connected_components(nx.Graph(pairs[row].tolist())) for row in rows]
