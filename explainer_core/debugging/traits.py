"""What can be said of one instance and of what the network looked at: the traits that mistakes are grouped by."""

from bisect import bisect_right

import networkx as nx
import numpy as np

from explainer_core.debugging.patterns import Trait
from explainer_core.debugging.shortcuts import hubs_of
from explainer_core.debugging.site import graph_of_target
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.shapes import group_of, shape_of
from explainer_core.graph import Graph, GraphSet
from explainer_core.layout.molecule import bond_orders, is_molecule
from explainer_core.targets import Link, Node, Target, WholeGraph

KINDS = ("feature", "type", "node", "neighbour", "shape", "numbers", "predicted", "shortcut", "cause", "prototype")
RANGES = 10  # parts that the numbers of all nodes or graphs are cut into, and as many half a part further on
TOP_FEATURES = 3


def traits_of(data: Graph | GraphSet, explanation: Explanation) -> set[Trait]:
    """All that is said of one instance, whatever its true class."""
    graph, target = graph_of_target(data, explanation.target), explanation.target
    kept = explanation.subgraph()
    found = set(_numbers(data, target))
    found |= {_feature(graph, feature) for feature in _looked_at(graph, explanation)}
    found.add(_shape(graph, kept))
    names = graph.class_names
    predicted = explanation.predicted_class
    label = names[predicted] if predicted < len(names) else str(predicted)
    found.add(Trait("predicted", str(predicted), f"It is predicted as {label}."))
    if isinstance(target, WholeGraph):
        return found | _types(graph)
    own = set(explanation.roots)
    found |= {Trait("node", str(node), f"The network looks at node {graph.node_name(node)}.") for node in kept.nodes if node not in own}  # fmt: skip
    joined = np.unique(graph.edge_index[0].numpy()[np.isin(graph.edge_index[1].numpy(), list(own))]).tolist()
    found |= {Trait("neighbour", str(node), f"It is joined to node {graph.node_name(node)}.") for node in joined if node not in own}  # fmt: skip
    apart = [hub for hub in hubs_of(graph) if hub not in joined and hub not in own]
    found |= {Trait("neighbour", f"not {hub}", f"It is not joined to node {graph.node_name(hub)}.") for hub in apart}
    return found


def _looked_at(graph: Graph, explanation: Explanation) -> tuple[int, ...]:
    """The heaviest features, heaviest first, of those that any node of the computation graph has.

    A gradient may be steepest in what is not there, as an element that a molecule does not contain.
    """
    if explanation.feature_weight is None:
        return ()
    there = (graph.x[np.unique(explanation.nodes)] != 0).any(0).numpy()
    weights = np.where(there, explanation.feature_weight, 0.0)
    order = np.argsort(-weights, kind="stable")[:TOP_FEATURES]
    return tuple(int(i) for i in order if weights[i] > 0)


def _feature(graph: Graph, feature: int) -> Trait:
    name = graph.feature_names[feature] if graph.feature_names else f"feature {feature}"
    return Trait("feature", str(feature), f"The network looks at “{name}”.")


def _types(graph: Graph) -> set[Trait]:
    """The types of nodes that a graph has, where each has one: the elements of a molecule."""
    if not graph.features_are_types:
        return set()
    names = graph.feature_names or [f"type {i}" for i in range(graph.num_features)]
    there = graph.x.sum(0).nonzero().flatten().tolist()
    thing = "an atom" if is_molecule(graph) else "a node of type"
    return {Trait("type", str(i), f"It has {thing} “{names[i]}”.") for i in there}


def _shape(graph: Graph, kept: Subgraph) -> Trait:
    """The shape of G_S: its name where people have one, else as far as its degrees tell it."""
    if not kept.edges:
        return Trait("shape", "alone", "The network looks at no edge.")
    name = _group(graph, kept) or shape_of(kept.edges)
    if name is not None:
        return Trait("shape", name, f"The network looks at a {name}.")
    net = nx.Graph(kept.edges)
    net.add_nodes_from(kept.nodes)
    degrees = sorted((degree for _, degree in net.degree), reverse=True)
    nodes, edges = _counted(len(kept.nodes), "node"), _counted(len(kept.edges), "edge")
    at_each = f", of which the nodes have {', '.join(map(str, degrees))}" if len(kept.edges) > 1 else ""
    return Trait("shape", "-".join(map(str, degrees)), f"The network looks at {nodes} and {edges}{at_each}.")


def _group(graph: Graph, kept: Subgraph) -> str | None:
    """The functional group that is kept of a molecule."""
    orders = bond_orders(graph)
    if orders is None or graph.node_names is None:
        return None
    return group_of(kept.edges, graph.node_names, [(a, b) for a, b in graph.edge_index.t().tolist()], orders)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _numbers(data: Graph | GraphSet, target: Target) -> list[Trait]:
    """The ranges of numbers that an instance lies in; a link has none of its own."""
    if isinstance(target, Link) or (isinstance(target, WholeGraph) and target.index is None):
        return []
    number = target.node if isinstance(target, Node) else target.index
    assert number is not None  # a graph of a set has one
    total = len(data) if isinstance(data, GraphSet) else data.num_nodes
    ends = [round(i * total / (2 * RANGES)) for i in range(2 * RANGES + 1)]  # of half parts
    half = bisect_right(ends, number) - 1
    starts = {half - half % 2, half - 1 + half % 2}  # of the part it is in, and of that half a part off
    ranges = [(ends[at], ends[at + 2] - 1) for at in sorted(starts) if 0 <= at <= 2 * RANGES - 2]
    return [Trait("numbers", f"{low}-{high}", f"Its number is {low} to {high}.") for low, high in ranges]
