"""Aligning small graphs: what costs nothing, what is best by trying everything, and what a batch must not change."""

from itertools import permutations

import numpy as np
import pytest

from explainer_core.prototypes.alignment import ALONE, Piece, align, pairing_cost, permuted, random_pairing


def random_piece(size, rng, *, density=0.5, features=0):
    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < density), 1)
    return Piece(upper + upper.T, rng.random((size, features)))


def relabelled(piece, order):
    return Piece(piece.adjacency[np.ix_(order, order)], piece.features[order])


def best_by_trying(piece, reference, anchors):
    width = max(piece.size, reference.size)
    costs = []
    for rest in permutations(range(anchors, width)):
        order = np.array([*range(anchors), *rest])[: reference.size]
        costs.append(pairing_cost(piece, reference, np.where(order < piece.size, order, -1)))
    return min(costs)


@pytest.mark.parametrize("features", [0, 3])
@pytest.mark.parametrize("anchors", [0, 1])
def test_a_graph_and_itself_relabelled_cost_nothing(anchors, features):
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 9, 14):
        reference = random_piece(size, rng, density=0.3, features=features)
        order = np.concatenate([np.arange(anchors), anchors + rng.permutation(size - anchors)])
        found = align([relabelled(reference, order)], reference, anchors=anchors)[0]
        assert found.cost == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("features", [0, 2])
@pytest.mark.parametrize("anchors", [0, 1])
def test_no_pairing_of_up_to_six_nodes_is_better(anchors, features):
    rng = np.random.default_rng(1)
    for _ in range(12):
        reference = random_piece(int(rng.integers(1, 7)), rng, features=features)
        pieces = [random_piece(int(rng.integers(1, 7)), rng, features=features) for _ in range(3)]
        for piece, found in zip(pieces, align(pieces, reference, anchors=anchors), strict=True):
            assert found.cost == pytest.approx(best_by_trying(piece, reference, anchors), abs=1e-5)


def test_every_node_has_one_role_at_most_and_anchors_their_own():
    rng = np.random.default_rng(2)
    reference = random_piece(7, rng)
    for size, found in zip(
        (3, 7, 12), align([random_piece(n, rng) for n in (3, 7, 12)], reference, anchors=2), strict=True
    ):
        nodes = found.node_of[found.node_of >= 0]
        assert found.node_of[:2].tolist() == [0, 1]
        assert len(nodes) == len(set(nodes.tolist())) == min(size, 7)
        assert nodes.max() < size


def test_a_batch_gives_what_each_gives_alone():
    rng = np.random.default_rng(3)
    reference = random_piece(9, rng, density=0.3, features=1)
    pieces = [random_piece(int(n), rng, density=0.3, features=1) for n in rng.integers(2, 14, size=12)]
    for piece, together in zip(pieces, align(pieces, reference, anchors=1), strict=True):
        alone = align([piece], reference, anchors=1)[0]
        assert alone.cost == pytest.approx(together.cost, abs=1e-5)
        assert np.array_equal(alone.node_of, together.node_of)


def test_a_small_share_of_the_memory_gives_the_same(monkeypatch):
    rng = np.random.default_rng(4)
    reference, pieces = random_piece(6, rng), [random_piece(6, rng) for _ in range(5)]
    together = align(pieces, reference)
    monkeypatch.setattr("explainer_core.prototypes.alignment.BATCH_CELLS", 1)
    for one, other in zip(together, align(pieces, reference), strict=True):
        assert one.cost == pytest.approx(other.cost, abs=1e-5)


def test_the_same_seed_gives_the_same_answer():
    rng = np.random.default_rng(5)
    reference, pieces = random_piece(8, rng), [random_piece(8, rng) for _ in range(4)]
    one, other = (align(pieces, reference, seed=7) for _ in range(2))
    assert [a.node_of.tolist() for a in one] == [b.node_of.tolist() for b in other]


def test_the_cost_is_known_on_paper():
    """A path a-b-c against a triangle lacks one edge; against a single edge it has one too many and a node left over."""
    path, triangle, edge = (
        np.array(rows, dtype=float)
        for rows in (
            [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
            [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
            [[0, 1], [1, 0]],
        )
    )
    plain = [Piece(adjacency, np.empty((len(adjacency), 0))) for adjacency in (path, triangle, edge)]
    assert align([plain[0]], plain[1])[0].cost == pytest.approx(1)
    assert align([plain[0]], plain[2])[0].cost == pytest.approx(1)
    marked = [Piece(path, np.zeros((3, 1))), Piece(edge, np.zeros((2, 1)))]
    assert align([marked[0]], marked[1])[0].cost == pytest.approx(1 + ALONE)


def test_features_decide_where_edges_do_not():
    """The ends of a path can be told apart only by their features."""
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=float)
    reference, turned = Piece(path, np.array([[1.0], [0], [0]])), Piece(path, np.array([[0.0], [0], [1]]))
    assert align([turned], reference)[0].node_of.tolist() == [2, 1, 0]


def test_nothing_and_a_single_node_are_aligned_too():
    empty, single = (Piece(np.zeros((n, n)), np.empty((n, 0))) for n in (0, 1))
    assert align([], single) == []
    assert align([empty, single], empty)[1].node_of.tolist() == []
    assert align([empty, single], single)[0].node_of.tolist() == [-1]
    assert align([single], single, anchors=1)[0].node_of.tolist() == [0]


def test_a_random_pairing_is_a_pairing_and_costs_more():
    rng = np.random.default_rng(6)
    reference = random_piece(8, rng, density=0.3)
    drawn = [random_pairing(reference, reference, 1, rng) for _ in range(20)]
    assert all(sorted(node_of.tolist()) == list(range(8)) and node_of[0] == 0 for node_of in drawn)
    assert np.mean([pairing_cost(reference, reference, node_of) for node_of in drawn]) > 1


def test_what_has_no_role_is_left_out_when_permuted():
    adjacency = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)
    assert permuted(adjacency, np.array([2, -1, 0])).tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
