"""From an explanation to what is drawn: which nodes, where, in which colours, and which edges are kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dashboard.cache import Cache
from dashboard.schema import Request
from dashboard.services.predict import all_predictions, class_colours, size_of
from dashboard.tasks.subjects import computation_graph, graph_of, load_data, subject
from dashboard.view.palette import ELEMENTS, LEAST, QUIET, RIGHT, WRONG, shade
from dashboard.view.picture import DOT, SQUARE, Panel, Picture
from explainer_core import Explanation, Graph
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.metrics import truth_and_scores
from explainer_core.layout.graph import map_layout, neighbourhood_layout
from explainer_core.layout.molecule import bond_orders, is_molecule, molecule_layout

NEAR = 150  # so many nodes of a neighbourhood are drawn at once; the farther ones on request
WHOLE = 400  # so many of a graph that is explained as a whole
MOST = 1200  # more are never drawn: nobody could tell them apart
STRESS_LIMIT = 400  # above this the layout of whole maps is used, which is faster
UNIT = 60.0  # pixels an edge is long, about, where a map's layout is used
UNKNOWN = "not known"  # the class of a node or graph without a label
COLOURS = {
    "class": "class",
    "predicted": "predicted class",
    "right": "right or wrong",
    "confidence": "confidence",
}

_DRAWN: Cache["Drawn"] = Cache(48)
_POSITIONS: Cache[np.ndarray] = Cache(48)


@dataclass(frozen=True)
class Drawn:
    """A picture, and which of the explanation's undirected pairs its edges are."""

    picture: Picture
    shown: (
        np.ndarray
    )  # (edges of the picture,): indices into Explanation.undirected(); -1: the explanation knows no such edge
    nodes_in_all: int
    edges_in_all: int
    legend: tuple[tuple[str, str], ...]  # what the colours of its nodes mean

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The edges of the picture in the data set's numbers, the smaller one first."""
        nodes = self.picture.nodes
        ends = ((nodes[a], nodes[b]) for a, b in self.picture.edges)
        return [(min(pair), max(pair)) for pair in ends]

    @cached_property
    def _edge_of(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(self.pairs)}

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {node: i for i, node in enumerate(self.picture.nodes)}

    def edges_of(self, pairs: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """Which edges of the picture these pairs are, of those that are drawn."""
        return tuple(self._edge_of[pair] for pair in pairs if pair in self._edge_of)

    def places_of(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """Where these nodes are in the picture's lists, of those that are drawn."""
        return tuple(self._place_of[node] for node in nodes if node in self._place_of)


def drawn(request: Request, colour: str = "predicted", *, everything: bool = False, near: int = NEAR) -> Drawn:
    """The neighbourhood as it is drawn in every panel; it depends on the target only, so nothing jumps."""
    sampling = (request.config.max_edges, request.config.seed if computation_graph(request).sampled else 0)
    layout_key = (
        request.dataset,
        request.model,
        request.kind,
        request.target,
        request.edits,
        sampling,
        everything,
        near,
    )
    return _DRAWN.get_or_create(
        (layout_key, colour), lambda: _draw(request, colour, MOST if everything else near, layout_key)
    )


def _draw(request: Request, colour: str, near: int, layout_key: tuple) -> Drawn:
    computation, graph = computation_graph(request), graph_of(request)
    pairs = computation.undirected()[0]
    nodes = _nodes_shown(computation, pairs, near if computation.roots else max(near, WHOLE))
    shown = np.flatnonzero(np.isin(pairs, nodes).all(1))
    truth = truth_and_scores(subject(request)[0], computation)[0][shown] if graph.edge_motif is not None else []
    colours, shapes = _colours(request, graph, nodes, colour)
    picture = picture_of(
        graph,
        nodes,
        pairs[shown],
        colours=colours,
        shapes=shapes,
        tips=tuple("\n".join(tip_of(request, graph, node)) for node in nodes),
        roots=computation.roots,
        truth=tuple(np.flatnonzero(truth).tolist()),
        layout_key=layout_key,
    )
    return Drawn(picture, shown, size_of(request)["nodes"], len(pairs), _legend(request, graph, nodes, colour))


def _legend(request: Request, graph: Graph, nodes: list[int], colour: str) -> tuple[tuple[str, str], ...]:
    if request.kind == "node":
        return node_legend(request.dataset, request.model, colour)
    if not is_molecule(graph):
        return ()
    there = dict.fromkeys(graph.node_name(node) for node in nodes)
    return tuple((name, ELEMENTS.get(name, QUIET)) for name in sorted(there, key=_of_element))


def _of_element(name: str) -> int:
    return list(ELEMENTS).index(name) if name in ELEMENTS else len(ELEMENTS)


def node_legend(dataset: str, model: str, colour: str) -> tuple[tuple[str, str], ...]:
    """What the colours mean that `node_colours` gives; the last entry is of those whose class nobody knows, if any."""
    if colour == "confidence":
        return tuple((name, shade) for _, name, shade in LEAST)
    predicted = all_predictions(dataset, model)
    unknown = ((UNKNOWN, QUIET),) if predicted.truth is not None and predicted.unknown.any() else ()
    if colour == "right" and predicted.right is not None:
        return ("right", RIGHT), ("wrong", WRONG), *unknown
    classes = tuple(zip(load_data(dataset).class_names, class_colours(dataset), strict=True))
    return (*classes, *unknown) if colour == "class" else classes


def picture_of(
    graph: Graph,
    nodes: list[int],
    pairs: np.ndarray,
    *,
    colours: tuple[str, ...],
    shapes: tuple[str, ...] = (),
    tips: tuple[str, ...],
    roots: tuple[int, ...] = (),
    truth: tuple[int, ...] = (),
    layout_key: tuple,
) -> Picture:
    """Some nodes of a graph and the pairs between them, with positions. These are cached under `layout_key`."""
    position = {node: i for i, node in enumerate(nodes)}
    edges = tuple((position[a], position[b]) for a, b in pairs.tolist())
    targets = tuple(position[node] for node in roots)
    where = _POSITIONS.get_or_create(layout_key, lambda: _places(graph, nodes, edges, targets))
    return Picture(
        nodes=tuple(nodes),
        x=tuple(where[:, 0].round(1).tolist()),
        y=tuple(where[:, 1].round(1).tolist()),
        colours=colours,
        labels=tuple(graph.node_name(node).removeprefix("paper ") for node in nodes),
        tips=tips,
        edges=edges,
        shapes=shapes,
        targets=targets,
        truth=truth,
        bonds=_bonds(graph, pairs),
        directed=not graph.is_undirected,
    )


def _nodes_shown(computation: Explanation, pairs: np.ndarray, limit: int) -> list[int]:
    """The nearest nodes first; in a whole graph, where all are equally near, those with most neighbours."""
    nodes = computation.nodes
    if computation.edge_part.any():  # a link has two neighbourhoods, in which a node may turn up twice
        order = np.argsort(computation.hop, kind="stable")
        nodes = np.array(list(dict.fromkeys(nodes[order].tolist())))
    if len(nodes) <= limit:
        return nodes.tolist()
    if not computation.roots:
        degree = np.bincount(pairs.ravel(), minlength=int(nodes.max()) + 1)
        nodes = nodes[np.argsort(-degree[nodes], kind="stable")]
    return nodes[:limit].tolist()


def _places(graph: Graph, nodes: list[int], edges: Sequence[tuple[int, int]], targets: tuple[int, ...]) -> np.ndarray:
    if is_molecule(graph) and len(nodes) == graph.num_nodes:
        return molecule_layout(graph)[nodes]
    pairs = np.array(edges, dtype=int).reshape(-1, 2)
    if len(nodes) <= STRESS_LIMIT:
        return neighbourhood_layout(len(nodes), pairs, targets)
    return (map_layout(len(nodes), pairs) - 0.5) * UNIT * np.sqrt(len(nodes))


def _bonds(graph: Graph, pairs: np.ndarray) -> tuple[int, ...]:
    orders = bond_orders(graph)
    if orders is None:
        return ()
    known = dict(zip(map(tuple, np.sort(graph.edge_index.numpy().T, axis=1).tolist()), orders, strict=True))
    return tuple(known[tuple(pair)] for pair in pairs.tolist())


def _colours(request: Request, graph: Graph, nodes: list[int], colour: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A colour for each node, and a shape where right and wrong are told apart."""
    if request.kind == "node":
        return node_colours(request.dataset, request.model, nodes, colour)
    return plain_colours(graph, nodes), ()


def plain_colours(graph: Graph, nodes: list[int]) -> tuple[str, ...]:
    """The colours of atoms; nodes that are neither atoms nor classified are all alike."""
    return tuple(ELEMENTS.get(graph.node_name(node), QUIET) if is_molecule(graph) else QUIET for node in nodes)


def node_colours(
    dataset: str, model: str, ids: Sequence[int] | np.ndarray, colour: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Colours and shapes of nodes (or graphs) by class, prediction, right and wrong, or confidence."""
    predicted = all_predictions(dataset, model)
    right, which = predicted.right, np.asarray(ids, dtype=int)
    if colour == "confidence":
        return tuple(shade(value) for value in predicted.confidence[which].tolist()), ()
    unknown = predicted.unknown[which]
    if colour == "right" and right is not None:
        told = np.where(unknown, QUIET, np.where(right[which], RIGHT, WRONG)).tolist()
        return tuple(told), tuple(SQUARE if each == WRONG else DOT for each in told)
    colours = (*class_colours(dataset), QUIET)  # the last for a class nobody knows, which is numbered -1
    known = predicted.truth if colour == "class" and predicted.truth is not None else predicted.predicted
    return tuple(colours[each] for each in known[which].tolist()), ()


def tip_of(request: Request, graph: Graph, node: int) -> list[str]:
    if is_molecule(graph):
        return [f"{graph.node_name(node)} (atom {node})"]
    lines = [f"{graph.node_name(node)} (node {node})" if graph.node_names else f"node {node}"]
    if request.kind == "node":
        lines += prediction_lines(request.dataset, request.model, node, graph.class_names)
    if graph.features_vary:
        lines += [feature_line(graph, node)]
    return lines


def prediction_lines(dataset: str, model: str, target: int, class_names: Sequence[str]) -> list[str]:
    """What is true of a node or graph, and what the network says."""
    predicted = all_predictions(dataset, model)
    label = int(predicted.predicted[target])
    truth = None if predicted.truth is None or predicted.unknown[target] else int(predicted.truth[target])
    lines = [] if truth is None else [f"class: {class_names[truth]}"]
    return [*lines, f"predicted: {class_names[label]} ({100 * predicted.confidence[target]:.0f} %)"]


def feature_line(graph: Graph, node: int, most: int = 4) -> str:
    """The node's largest features by name."""
    values = graph.x[node].numpy()
    largest = [int(i) for i in np.argsort(-np.abs(values), kind="stable")[:most] if values[i] != 0]
    names = [graph.feature_names[i] if values[i] == 1 else f"{graph.feature_names[i]} {values[i]:.2g}" for i in largest]
    more = int((values != 0).sum()) - len(largest)
    return "features: " + (", ".join(names) or "all zero") + (f" and {more} more" if more > 0 else "")


def weighed(
    drawing: Drawn,
    explanation: Explanation,
    *,
    name: str,
    title: str,
    terms: Mapping[str, str],
    lines: Sequence[str] = (),
    replay: bool = False,
) -> Panel:
    """One method's panel: the weights on the drawing's edges, and its G_S. `terms` names the terms of the loss."""
    scores = explanation.undirected()[1]
    kept = explanation.subgraph()
    frames = [
        (step, _scaled(explanation.undirected(weights)[1])[drawing.shown])
        for step, weights in (explanation.snapshots if replay else ())
    ]
    return Panel(
        name=name,
        title=title,
        lines=tuple(lines),
        weights=_rounded(np.append(_scaled(scores), 0.0)[drawing.shown]),
        kept=drawing.edges_of(kept.edges),
        kept_nodes=drawing.places_of(kept.nodes),
        frames=tuple((step, _rounded(weights)) for step, weights in frames),
        curves={terms.get(term, term): tuple(values) for term, values in explanation.history.items()} if replay else {},
    )


def kept_on(
    drawing: Drawn, explanation: Explanation, parts: Sequence[Subgraph]
) -> list[tuple[tuple[int, ...], tuple[int, ...], np.ndarray]]:
    """Of each part, were it the G_S: its edges and nodes in the drawing, and the weights of all edges that are drawn."""
    return [
        (
            drawing.edges_of(part.edges),
            drawing.places_of(part.nodes),
            np.array(_rounded(_scaled(explanation.scores_at(part))[drawing.shown])),
        )
        for part in parts
    ]


def count_drawn(drawing: Drawn, pairs: Sequence[tuple[int, int]]) -> int:
    """How many of some pairs of nodes are edges of the drawing."""
    return len(drawing.edges_of(set(pairs)))


def mask_on(drawing: Drawn, computation: Explanation, edge_weight: np.ndarray) -> tuple[float, ...]:
    """A mask that is still being optimised, on the drawing's edges."""
    return _rounded(_scaled(computation.undirected(edge_weight)[1])[drawing.shown])


def _scaled(weights: np.ndarray) -> np.ndarray:
    """The largest becomes one: methods have different units, and a mask pressed to be small has small numbers."""
    return weights / max(float(weights.max(initial=0.0)), 1e-12)


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.clip(values, 0.0, 1.0).round(3).tolist())
