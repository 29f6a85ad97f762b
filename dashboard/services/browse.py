"""A whole data set to look at and choose from: maps, a gallery of small pictures, a list of links."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.services.cache import Shelf
from dashboard.services.pictures import feature_line, node_colours, picture_of, plain_colours, prediction_lines
from dashboard.services.predict import all_predictions, class_colours, data, network
from dashboard.view.palette import LEAST, QUIET, RIGHT, WRONG
from dashboard.view.picture import Points, Thumbnail
from dashboard.view.svg import thumbnail
from explainer_core import Graph, GraphSet
from explainer_core.layout.embedding import projection
from explainer_core.layout.graph import map_layout
from explainer_core.predictions import link_pairs

PER_PAGE = 12
THUMBNAIL_NODES = 120  # a thread of thousands would be a blot; its best-joined people are its shape
AMONG = ("all", "wrong", "motif")

_POINTS: Shelf[Points] = Shelf(16)
_LAYOUTS: Shelf[np.ndarray] = Shelf(16)
_TIPS: Shelf[tuple[str, ...]] = Shelf(8)
_THUMBNAILS: Shelf[str] = Shelf(1000)
_LINKS: Shelf[pd.DataFrame] = Shelf(4)


@dataclass(frozen=True)
class Sieve:
    """Which graphs of a set the gallery shows; None lets all through."""

    label: int | None = None
    right: bool | None = None
    fewest: int = 1
    most: int = 10**9
    text: str = ""


def places_in(dataset: str, model: str) -> int:
    """How many nodes or graphs there are to choose from."""
    whole = data(dataset)
    return len(whole) if isinstance(whole, GraphSet) else whole.num_nodes


def node_names(dataset: str) -> tuple[str, ...]:
    whole = data(dataset)
    return tuple(whole.node_name(node) for node in range(whole.num_nodes))


def candidates(dataset: str, model: str, among: str) -> np.ndarray:
    """The nodes or graphs a random choice may fall on."""
    whole, everything = data(dataset), np.arange(places_in(dataset, model))
    if among == "wrong":
        said = all_predictions(dataset, model)
        return everything if said.truth is None else np.flatnonzero(~said.right)
    if among == "motif" and whole.node_motif is not None:
        inside = np.flatnonzero(whole.node_motif.numpy() >= 0)
        if isinstance(whole, GraphSet):
            return np.unique(np.searchsorted(whole.node_start.numpy(), inside, side="right") - 1)
        return inside
    return everything


def has_motifs(dataset: str) -> bool:
    return data(dataset).node_motif is not None


def points(dataset: str, model: str, layout: str, colour: str) -> Points:
    """The map: the drawn graph or the projection of what the network makes of each node or graph."""
    return _POINTS.find_or_make((dataset, model, layout, colour), lambda: _make_points(dataset, model, layout, colour))


def _make_points(dataset: str, model: str, layout: str, colour: str) -> Points:
    whole = data(dataset)
    count = places_in(dataset, model)
    drawn = layout == "graph" and isinstance(whole, Graph)
    where = _where(dataset, model, "graph" if drawn else "embedding")
    colour_of, legend, shapes = _legend(dataset, model, colour)
    pairs = _pairs(whole) if drawn else np.empty((0, 2), dtype=int)
    return Points(
        ids=tuple(range(count)),
        x=tuple(where[:, 0].round(4).tolist()),
        y=tuple(where[:, 1].round(4).tolist()),
        colour_of=colour_of,
        legend=legend,
        tips=_TIPS.find_or_make((dataset, model), lambda: tuple(_point_tip(dataset, model, i) for i in range(count))),
        shapes=shapes,
        edges=tuple(map(tuple, pairs.tolist())),
    )


def _where(dataset: str, model: str, layout: str) -> np.ndarray:
    def make() -> np.ndarray:
        if layout == "graph":
            whole = data(dataset)
            return map_layout(whole.num_nodes, _pairs(whole))
        return projection(all_predictions(dataset, model).embedding)

    return _LAYOUTS.find_or_make((dataset, layout, model if layout == "embedding" else ""), make)


def _pairs(graph: Graph) -> np.ndarray:
    """Every undirected edge once: (pairs, 2)."""
    ends = np.sort(graph.edge_index.numpy().T, axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def _legend(dataset: str, model: str, colour: str) -> tuple[tuple[int, ...], tuple[tuple[str, str], ...], tuple]:
    """Which entry of the legend each point belongs to, the legend, and shapes where right and wrong are told apart."""
    whole, said = data(dataset), all_predictions(dataset, model)
    if said.probabilities.shape[1] == 0:
        return (0,) * len(said.embedding), (("node", QUIET),), ()
    if colour == "confidence":
        limits = np.array([least for least, _, _ in LEAST])
        entry = (said.confidence[:, None] >= limits).argmax(1)
        return tuple(entry.tolist()), tuple((name, shade) for _, name, shade in LEAST), ()
    if colour == "right" and said.truth is not None:
        entry = (~said.right).astype(int)
        shapes = node_colours(dataset, model, np.arange(len(entry)), "right")[1]
        return tuple(entry.tolist()), (("right", RIGHT), ("wrong", WRONG)), shapes
    known = said.truth if colour == "class" and said.truth is not None else said.predicted
    return tuple(known.tolist()), tuple(zip(whole.class_names, class_colours(dataset), strict=True)), ()


def _point_tip(dataset: str, model: str, place: int) -> str:
    whole = data(dataset)
    if isinstance(whole, GraphSet):
        first = f"{whole.graph_name(place)} (graph {place})" if whole.graph_names else f"graph {place}"
    else:
        first = f"{whole.node_name(place)} (node {place})" if whole.node_names else f"node {place}"
    if not all_predictions(dataset, model).probabilities.shape[1]:
        return first  # a link network says nothing of single nodes
    lines = [first, *prediction_lines(dataset, model, place, whole.class_names)]
    if isinstance(whole, Graph) and whole.features_vary:
        lines.append(feature_line(whole, place))
    return "\n".join(lines)


def sizes(dataset: str) -> np.ndarray:
    """Nodes of each graph of a set."""
    return data(dataset).node_start.diff().numpy()


def sifted(dataset: str, model: str, sieve: Sieve) -> np.ndarray:
    """The graphs that pass the sieve."""
    whole, said, size = data(dataset), all_predictions(dataset, model), sizes(dataset)
    passes = (size >= sieve.fewest) & (size <= sieve.most)
    if sieve.label is not None and said.truth is not None:
        passes &= said.truth == sieve.label
    if sieve.right is not None and said.truth is not None:
        passes &= said.right == sieve.right
    if sieve.text:
        wanted = sieve.text.casefold()
        passes &= np.array([wanted in whole.graph_name(i).casefold() for i in range(len(whole))])
    return np.flatnonzero(passes)


def gallery(dataset: str, model: str, found: np.ndarray, page: int) -> tuple[Thumbnail, ...]:
    """One page of small pictures."""
    whole, said = data(dataset), all_predictions(dataset, model)
    cards = []
    for place in found[page * PER_PAGE : (page + 1) * PER_PAGE].tolist():
        name = whole.graph_name(place) if whole.graph_names else f"graph {place}"
        verdict = "" if said.truth is None else (" ✓" if said.right[place] else " ✗")
        note = f"{whole.class_names[int(said.predicted[place])]} {100 * said.confidence[place]:.0f} %{verdict}"
        svg = _THUMBNAILS.find_or_make((dataset, place), lambda place=place: _thumbnail(dataset, place))
        cards.append(Thumbnail(place, name, note, svg))
    return tuple(cards)


def _thumbnail(dataset: str, place: int) -> str:
    graph = data(dataset)[place]
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
        place_key=("thumbnail", dataset, place),
    )
    return thumbnail(picture)


def links(dataset: str, model: str) -> pd.DataFrame:
    """Pairs of nodes, joined and not, with the score the network gives them; the surest first."""

    def make() -> pd.DataFrame:
        names = node_names(dataset)
        found = link_pairs(network(dataset, model), data(dataset))
        rows = [(s.source, s.head, names[s.source], names[s.head], s.exists, s.probability) for s in found]
        table = pd.DataFrame(rows, columns=["source", "head", "one", "other", "joined", "score"])
        return table.sort_values("score", ascending=False, kind="stable", ignore_index=True)

    return _LINKS.find_or_make((dataset, model), make)
