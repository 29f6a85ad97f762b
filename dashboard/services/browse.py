"""A whole data set to look at and choose from: maps, a gallery of small pictures, a list of links."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.cache import Cache
from dashboard.services.pictures import (
    feature_line,
    node_colours,
    node_legend,
    picture_of,
    plain_colours,
    prediction_lines,
)
from dashboard.services.predict import all_predictions
from dashboard.tasks.splits import parts_of, parts_of_pairs
from dashboard.tasks.subjects import load_data, load_graph, load_graphs, network
from dashboard.view.palette import LEAST, QUIET
from dashboard.view.picture import Points, Thumbnail
from dashboard.view.plain_text import for_spreadsheet
from dashboard.view.svg import thumbnail
from explainer_core import Graph, GraphSet
from explainer_core.layout.embedding import projection
from explainer_core.layout.graph import map_layout
from explainer_core.predictions import link_pairs

PER_PAGE = 12
MOST_ON_MAP = 20_000  # more take a browser many seconds, and cannot be told apart
THUMBNAIL_NODES = 120  # a thread of thousands would be a blot; its best-joined people are its shape
FROM_UNSEEN = ("test", "val", "train")
AMONG = ("all", "wrong", "motif")

_POINTS: Cache[Points] = Cache(64)
_LAYOUTS: Cache[np.ndarray] = Cache(64)
_TIPS: Cache[tuple[str, ...]] = Cache(64)
_THUMBNAILS: Cache[str] = Cache(1000)
_LINKS: Cache[pd.DataFrame] = Cache(16)


@dataclass(frozen=True)
class GraphFilter:
    """Which graphs of a set the gallery shows; None lets all through."""

    label: int | None = None
    right: bool | None = None
    fewest: int = 1
    most: int = 10**9
    text: str = ""
    part: str | None = None  # of the split its network was trained on


def num_targets(dataset: str, model: str) -> int:
    """How many nodes or graphs there are to choose from."""
    data = load_data(dataset)
    return len(data) if isinstance(data, GraphSet) else data.num_nodes


def node_names(dataset: str) -> tuple[str, ...]:
    graph = load_graph(dataset)
    return tuple(graph.node_name(node) for node in range(graph.num_nodes))


def candidates(dataset: str, model: str, among: str, part: str | None = None) -> np.ndarray:
    """The nodes or graphs a random choice may fall on; those that are wrong in one `part` of the split, or in all."""
    data, everything = load_data(dataset), np.arange(num_targets(dataset, model))
    if among == "wrong":
        right, parts = all_predictions(dataset, model).right, parts_of(dataset, model)
        wrong = everything if right is None else np.flatnonzero(~right)
        return wrong if part is None or parts is None else wrong[parts[wrong] == part]
    if among == "motif" and data.node_motif is not None:
        inside = np.flatnonzero(data.node_motif.numpy() >= 0)
        if isinstance(data, GraphSet):
            return np.unique(np.searchsorted(data.node_start.numpy(), inside, side="right") - 1)
        return inside
    return everything


def has_motifs(dataset: str) -> bool:
    return load_data(dataset).node_motif is not None


def points(dataset: str, model: str, layout: str, colour: str) -> Points:
    """The map: the drawn graph or the projection of what the network makes of each node or graph."""
    return _POINTS.get_or_create((dataset, model, layout, colour), lambda: _make_points(dataset, model, layout, colour))


def _make_points(dataset: str, model: str, layout: str, colour: str) -> Points:
    data = load_data(dataset)
    count = num_targets(dataset, model)
    drawn = data if layout == "graph" and isinstance(data, Graph) else None
    where = _where(dataset, model, "embedding" if drawn is None else "graph")
    colour_of, legend, shapes = _legend(dataset, model, colour)
    pairs = np.empty((0, 2), dtype=int) if drawn is None else _pairs(drawn)
    return Points(
        ids=tuple(range(count)),
        x=tuple(where[:, 0].round(4).tolist()),
        y=tuple(where[:, 1].round(4).tolist()),
        colour_of=colour_of,
        legend=legend,
        tips=_TIPS.get_or_create((dataset, model), lambda: tuple(_point_tip(dataset, model, i) for i in range(count))),
        shapes=shapes,
        edges=tuple(map(tuple, pairs.tolist())),
    )


def _where(dataset: str, model: str, layout: str) -> np.ndarray:
    def make() -> np.ndarray:
        if layout == "graph":
            graph = load_graph(dataset)
            return map_layout(graph.num_nodes, _pairs(graph))
        return projection(all_predictions(dataset, model).embedding)

    return _LAYOUTS.get_or_create((dataset, layout, model if layout == "embedding" else ""), make)


def _pairs(graph: Graph) -> np.ndarray:
    """Every undirected edge once: (pairs, 2)."""
    ends = np.sort(graph.edge_index.numpy().T, axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def _legend(dataset: str, model: str, colour: str) -> tuple[tuple[int, ...], tuple[tuple[str, str], ...], tuple]:
    """Which entry of the legend each point belongs to, the legend, and shapes where right and wrong are told apart."""
    predicted = all_predictions(dataset, model)
    if predicted.probabilities.shape[1] == 0:
        return (0,) * len(predicted.embedding), (("node", QUIET),), ()
    legend = node_legend(dataset, model, colour)
    if colour == "confidence":
        limits = np.array([least for least, _, _ in LEAST])
        entry = (predicted.confidence[:, None] >= limits).argmax(1)
        return tuple(entry.tolist()), legend, ()
    right = predicted.right
    if colour == "right" and right is not None:
        entry = np.where(predicted.unknown, len(legend) - 1, (~right).astype(int))
        shapes = node_colours(dataset, model, np.arange(len(entry)), "right")[1]
        return tuple(entry.tolist()), legend, shapes
    known = predicted.truth if colour == "class" and predicted.truth is not None else predicted.predicted
    return tuple(np.where(known < 0, len(legend) - 1, known).tolist()), legend, ()


def _point_tip(dataset: str, model: str, target: int) -> str:
    data = load_data(dataset)
    if isinstance(data, GraphSet):
        first = f"graph {target}"
        if data.graph_names and data.graph_name(target) != first:
            first = f"{data.graph_name(target)} ({first})"
    else:
        first = f"{data.node_name(target)} (node {target})" if data.node_names else f"node {target}"
    if not all_predictions(dataset, model).probabilities.shape[1]:
        return first  # a link network says nothing of single nodes
    lines = [first, *prediction_lines(dataset, model, target, data.class_names)]
    if isinstance(data, Graph) and data.features_vary:
        lines.append(feature_line(data, target))
    return "\n".join(lines)


def sizes(dataset: str) -> np.ndarray:
    """Nodes of each graph of a set."""
    return load_graphs(dataset).node_start.diff().numpy()


def filtered_graphs(dataset: str, model: str, graph_filter: GraphFilter) -> np.ndarray:
    """The graphs that pass the graph_filter."""
    data, predicted, size = load_graphs(dataset), all_predictions(dataset, model), sizes(dataset)
    passes = (size >= graph_filter.fewest) & (size <= graph_filter.most)
    if graph_filter.label is not None and predicted.truth is not None:
        passes &= predicted.truth == graph_filter.label
    if graph_filter.right is not None and predicted.truth is not None:
        passes &= (predicted.right == graph_filter.right) & ~predicted.unknown
    if graph_filter.text:
        wanted = graph_filter.text.casefold()
        passes &= np.array([wanted in data.graph_name(i).casefold() for i in range(len(data))])
    parts = parts_of(dataset, model)
    if graph_filter.part is not None and parts is not None:
        passes &= parts == graph_filter.part
    found = np.flatnonzero(passes)
    if graph_filter.right is not None and parts is not None:  # what the network has never seen tells most
        found = found[np.argsort([_seen(part) for part in parts[found].tolist()], kind="stable")]
    return found


def _seen(part: str) -> int:
    """What is in no part of the split comes last."""
    return FROM_UNSEEN.index(part) if part in FROM_UNSEEN else len(FROM_UNSEEN)


def gallery(dataset: str, model: str, found: np.ndarray, page: int) -> tuple[Thumbnail, ...]:
    """One page of small pictures."""
    data, predicted = load_graphs(dataset), all_predictions(dataset, model)
    right, parts = predicted.right, parts_of(dataset, model)
    cards = []
    for target in found[page * PER_PAGE : (page + 1) * PER_PAGE].tolist():
        name = data.graph_name(target) if data.graph_names else f"graph {target}"
        verdict = "" if right is None or predicted.unknown[target] else (" ✓" if right[target] else " ✗")
        verdict += "" if parts is None or not parts[target] else f" · {parts[target]}"
        note = (
            f"{data.class_names[int(predicted.predicted[target])]} {100 * predicted.confidence[target]:.0f} %{verdict}"
        )
        svg = _THUMBNAILS.get_or_create((dataset, target), lambda target=target: _thumbnail(dataset, target))
        cards.append(Thumbnail(target, name, note, svg))
    return tuple(cards)


def _thumbnail(dataset: str, target: int) -> str:
    graph = load_graphs(dataset)[target]
    pairs = _pairs(graph)
    nodes = list(range(graph.num_nodes))
    if len(nodes) > THUMBNAIL_NODES:
        degree = np.bincount(pairs.ravel(), minlength=len(nodes))
        nodes = np.argsort(-degree, kind="stable")[:THUMBNAIL_NODES].tolist()
    picture = picture_of(
        graph,
        nodes,
        pairs[np.isin(pairs, nodes).all(1)],
        colours=plain_colours(graph, nodes),
        tips=("",) * len(nodes),
        layout_key=("thumbnail", dataset, target),
    )
    return thumbnail(picture)


def links(dataset: str, model: str) -> pd.DataFrame:
    """Pairs of nodes, joined and not, with the score the network gives them and the part of the split they are in, if any;
    the surest first."""

    def make() -> pd.DataFrame:
        # Streamlit's own table offers its rows as CSV, and guards nothing
        names = [for_spreadsheet(" ".join(name.splitlines())) for name in node_names(dataset)]
        found = link_pairs(network(dataset, model), load_graph(dataset))
        parts = parts_of_pairs(dataset, model)
        rows = [
            (
                s.source,
                s.head,
                names[s.source],
                names[s.head],
                s.exists,
                s.probability,
                parts.get((s.source, s.head), ""),
            )
            for s in found
        ]
        table = pd.DataFrame(rows, columns=["source", "head", "one", "other", "joined", "score", "part"])
        return table.sort_values("score", ascending=False, kind="stable", ignore_index=True)

    return _LINKS.get_or_create((dataset, model), make)
