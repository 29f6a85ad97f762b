"""A map of embeddings: what a network treats alike lies close together."""

from collections.abc import Iterator

import numpy as np
from scipy.spatial import KDTree
from sklearn.decomposition import PCA

from explainer_core.layout.graph import fixed_signs, turns

COINCIDE = 1e-3  # share of the map's side within which two points hide each other
FAR = 0.25  # of the width of the middle 98 percent: what lies further out on the map is drawn in
SPREAD = 0.008, 0.1  # on the map: the distance points that coincide are set apart, and the most their circle may reach


def projection(embedding: np.ndarray) -> np.ndarray:
    """The two directions in which the standardised embeddings differ most, each filling 0 to 1: (T, 2).

    A few points far out are drawn in, in their order, so that they do not press all others into a corner. Points that
    would hide each other, within 0.001 of the side, are set apart on a small sunflower around where they are, so that
    each can be clicked: its shape means nothing.
    """
    embedding = np.asarray(embedding, dtype=float)
    spread = embedding.std(0) if len(embedding) else np.zeros(embedding.shape[1])
    varies = spread > 1e-6 * max(spread.max(initial=0), 1e-6)
    columns = (
        (embedding[:, varies] - embedding[:, varies].mean(0)) / spread[varies] if varies.any() else embedding[:, :0]
    )
    positions = np.zeros((len(embedding), 2))
    count = min(2, *columns.shape)
    if count:
        positions[:, :count] = fixed_signs(PCA(count, svd_solver="covariance_eigh").fit_transform(columns))
    return _filled(_sunflowers(_filled(_drawn_in(positions))))


def _drawn_in(positions: np.ndarray) -> np.ndarray:
    """What lies more than FAR outside the middle 98 percent of an axis comes closer, never past another point."""
    if len(positions) == 0:
        return positions
    low, high = np.quantile(positions, (0.01, 0.99), axis=0)
    room = np.maximum(FAR * (high - low), 1e-12)
    inside = np.clip(positions, low - room, high + room)
    beyond = positions - inside
    return np.where(high > low, inside + room * beyond / (np.abs(beyond) + room), positions)


def _filled(positions: np.ndarray) -> np.ndarray:
    """Each axis stretched to 0 to 1; one along which nothing differs is all one half."""
    if len(positions) == 0:
        return positions
    low, extent = positions.min(0), np.ptp(positions, axis=0)
    differs = extent > 1e-6 * max(extent.max(), 1e-6)
    return np.where(differs, (positions - low) / np.where(differs, extent, 1), 0.5)


def _sunflowers(positions: np.ndarray) -> np.ndarray:
    """Each group of points that coincide spread evenly over a small disc, the first in its middle."""
    positions = positions.copy()
    for group in _coinciding(positions):
        rank = np.arange(len(group))
        step = min(SPREAD[0], SPREAD[1] / np.sqrt(len(group)))
        positions[group] += (step * np.sqrt(rank))[:, None] * turns(rank)
    return positions


def _coinciding(positions: np.ndarray) -> Iterator[np.ndarray]:
    """Groups of two or more points, all within COINCIDE of the group's first."""
    spots, spot_of = np.unique(
        positions.round(6), axis=0, return_inverse=True
    )  # the very same points first: they are many
    spot_of = spot_of.ravel()
    near = KDTree(spots).query_ball_point(spots, COINCIDE) if len(spots) else []
    group_of = np.full(len(spots), -1)
    for spot, others in enumerate(near):
        if group_of[spot] < 0:
            free = [other for other in others if group_of[other] < 0]
            group_of[free] = spot
    order = np.argsort(group_of[spot_of], kind="stable")
    sizes = np.unique(group_of[spot_of], return_counts=True)[1]
    return (group for group in np.split(order, np.cumsum(sizes)[:-1]) if len(group) > 1)
