"""A map of embeddings: most difference first, and every point with a place of its own."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from explainer_core.layout.embedding import projection


def test_the_map_shows_the_direction_of_most_difference_first():
    rng = np.random.default_rng(0)
    along = rng.normal(size=50)
    embedding = np.stack([along, along, -along, rng.normal(size=50)], axis=1)
    positions = projection(embedding)
    assert abs(np.corrcoef(positions[:, 0], along)[0, 1]) > 0.99
    assert positions.min(0).tolist() == [0, 0]
    assert positions.max(0).tolist() == [1, 1]


def test_constant_columns_and_scales_change_nothing():
    embedding = np.random.default_rng(0).normal(size=(40, 3))
    positions = projection(embedding)
    assert np.allclose(projection(np.hstack([embedding, np.full((40, 2), 7.0)])), positions, atol=1e-6)
    assert np.allclose(projection(embedding * [1, 100, 0.01] + 5), positions, atol=1e-6)
    assert np.array_equal(projection(embedding), positions)


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (2, 4), (9, 1), (1, 1), (3, 0)])
def test_any_shape_has_a_map(shape):
    positions = projection(np.random.default_rng(1).normal(size=shape))
    assert positions.shape == (shape[0], 2)
    assert ((positions >= 0) & (positions <= 1)).all()


def test_points_that_coincide_are_set_apart_around_their_position():
    embedding = np.repeat([[0.0, 0.0], [1.0, 0.3], [0.2, 1.0]], 40, axis=0)
    positions = projection(embedding)
    assert pdist(positions).min() > 0.003
    centres = positions.reshape(3, 40, 2).mean(1)
    assert np.linalg.norm(positions.reshape(3, 40, 2) - centres[:, None], axis=-1).max() < 0.15
    assert pdist(centres).min() > 0.5


def test_equal_embeddings_all_get_a_position_of_their_own():
    assert pdist(projection(np.ones((300, 4)))).min() > 0.01


def test_one_point_far_out_does_not_press_the_others_into_a_corner():
    embedding = np.random.default_rng(0).normal(size=(300, 2))
    embedding[7] = [0, 1000]
    positions = projection(embedding)
    others = np.delete(positions, 7, axis=0)
    assert np.ptp(others, axis=0).min() > 0.5
    axis = np.abs(positions[7] - others.mean(0)).argmax()
    assert positions[7, axis] in (0, 1)
