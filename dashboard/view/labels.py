"""Names of nodes: where each is written, and from which zoom on, so that none lie on one another or on a node at any zoom.

Only what is explained is always named, even where it has no room. A name keeps its place while one zooms, and while one goes
through the sizes of an explanation; it only appears. So painters decide nothing: they compare the zoom with a number.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from dashboard.view.label_places import PLACES, PlacedLabels, label_text
from dashboard.view.picture import Label, Panel, Picture

__all__ = ["NEVER", "PLACES", "importance", "label_text", "label_zooms", "labels_at_sizes", "labels_in", "place_labels"]

ALONG = (0.2, 0.35, 0.5, 0.65, 0.8)  # where a kept edge has its points of ink
NEVER = 255  # no zoom

Part = tuple[tuple[int, ...], tuple[int, ...]]  # kept edges and kept nodes


def importance(picture: Picture, panel: Panel) -> np.ndarray:
    """2 for what is explained, 1 for what the explanation keeps, 0 for the rest."""
    rank = np.zeros(len(picture.nodes), int)
    if panel.weights is not None:
        rank[list(panel.kept_nodes)] = 1
    rank[list(picture.targets)] = 2
    return rank


def label_zooms(picture: Picture) -> tuple[float, ...]:
    """Pixels a unit; the first is any at all."""
    return (0.0, *(math.ceil(1000 * scale) / 1000 for scale in _graph_labels(picture).scales.tolist()))


def place_labels(picture: Picture, panel: Panel) -> tuple[Label, ...]:
    """The target's name first, then the explanation's, then others, each where it hides least and as early as it can."""
    if picture.bonds:
        return ()  # an atom's letters are its own shape
    if panel.labels is not None:
        return panel.labels
    if panel.weights is None:
        return tuple(sorted(_graph_labels(picture).labels))
    return labels_in(labels_at_sizes(picture, ((panel.kept, panel.kept_nodes),), 1)[0])


def labels_in(columns: np.ndarray) -> tuple[Label, ...]:
    """One size of `labels_at_sizes` as a panel has it."""
    written = np.flatnonzero(columns[:, 0] != NEVER).tolist()
    return tuple(Label(node, *columns[node].tolist()) for node in written)


@lru_cache(256)  # several a click, of all visitors: who has a picture drawn again soon finds its names
def labels_at_sizes(picture: Picture, parts: tuple[Part, ...], usual: int) -> np.ndarray:
    """The zoom and the place of each node's name at every size (sizes, nodes, 2); NEVER for none.

    Names are placed once, in the order in which their nodes are first kept. So those of a small part have the best places,
    and none moves from one size to the next. `usual` is the size whose edges they keep clear of, or else the first they are in.
    """
    count = len(picture.nodes)
    edges, nodes = _members(parts, 0, len(picture.edges)), _members(parts, 1, count)  # (sizes, ...)
    nodes[:, list(picture.targets)] = True
    first = np.where(nodes.any(0), nodes.argmax(0), len(parts))
    named = [i for i in np.argsort(first, kind="stable").tolist() if first[i] < len(parts) and picture.labels[i]]
    rank = nodes.any(0).astype(int)
    rank[list(picture.targets)] = 2
    inks = [_ink(picture, np.flatnonzero(edges[k]), np.flatnonzero(nodes[k])) for k in range(len(parts))]
    placed, others = PlacedLabels(picture), _graph_labels(picture)
    placed.add_all(named, rank, lambda node: inks[max(int(first[node]), usual - 1)])
    ever = np.flatnonzero(edges.any(0)), np.flatnonzero(nodes.any(0))
    clear = others.clear_of(placed, _ink(picture, *ever))  # (names, names placed and points of ink)
    own = [label.node for label in placed.labels]
    there = np.concatenate([nodes[:, own], edges[:, ever[0].repeat(len(ALONG))], nodes[:, ever[1]]], 1)
    columns = np.full((len(parts), count, 2), NEVER, np.uint8)
    at, told = _columns(others.labels), _columns(placed.labels)  # rows of node, zoom, place
    for size, row in enumerate(columns):
        since = np.maximum(others.since, clear[:, there[size]].max(1, initial=0))
        seen = since < len(others.scales)
        row[at[seen, 0]] = np.stack([since[seen] + 1, at[seen, 2]], 1)
        row[nodes[size]] = NEVER
        kept = told[nodes[size, told[:, 0]]]
        row[kept[:, 0]] = kept[:, 1:]
    return columns


def _columns(labels: Sequence[Label]) -> np.ndarray:
    return np.array(labels, int).reshape(-1, 3)


def _members(parts: Sequence[Part], which: int, count: int) -> np.ndarray:
    """Which edges (0) or nodes (1) each part keeps."""
    out = np.zeros((len(parts), count), bool)
    for row, part in zip(out, parts, strict=True):
        row[list(part[which])] = True
    return out


@lru_cache(64)
def _graph_labels(picture: Picture) -> PlacedLabels:
    """Names of the graph itself; what an explanation keeps then comes before them, and moves none."""
    rank = importance(picture, Panel("", ""))
    labels = PlacedLabels(picture)
    ink = _ink(picture, (), range(len(rank)))
    labels.add_all([i for i, label in enumerate(picture.labels) if label], rank, lambda _: ink)
    return labels


def _ink(picture: Picture, kept: Iterable[int], standing: Iterable[int]) -> np.ndarray:
    """Points of what a name should not cover: kept edges, and nodes that are not faded."""
    ends = [picture.edges[edge] for edge in kept]
    x, y = picture.x, picture.y
    points = [(x[a] + (x[b] - x[a]) * part, y[a] + (y[b] - y[a]) * part) for a, b in ends for part in ALONG]
    return np.array([*points, *((x[i], y[i]) for i in standing)]).reshape(-1, 2)
