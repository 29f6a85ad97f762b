"""What can be said of one instance and of what the network looked at: the traits that mistakes are grouped by."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
from torch import nn

from explainer_core.api import explain_many
from explainer_core.config import ExplainConfig, checked_config
from explainer_core.debugging.patterns import LEVEL, Pattern, Trait, find_patterns
from explainer_core.debugging.site import graph_of_target
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model
from explainer_core.targets import Link, Node, Target, WholeGraph

KINDS = ("feature", "type", "node", "neighbour", "shape", "numbers", "predicted")
RANGES = 10  # parts that the numbers of all nodes or graphs are cut into, and as many half a part further on
TOP_FEATURES = 3
QUICK_METHOD = "gradient"  # hundreds of targets are explained; `verified` takes some twenty times as long
HUB = 0.03  # of all nodes: one with so many neighbours is a hub, and not to be joined to it is a trait too


def systematic_mistakes(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    wrong: Sequence[Target],
    right: Sequence[Target],
    config: ExplainConfig | None = None,
    method: str = QUICK_METHOD,
    *,
    level: float = LEVEL,
) -> tuple[Pattern, ...]:
    """What mistakes have in common that as many right predictions have not: all explained in one batch, and compared.

    Choose the right ones by chance, about as many as mistakes, and from the same part of the split.
    """
    config = replace(checked_config(config), k_f=TOP_FEATURES)
    both = [*wrong, *right]
    explained = explain_many(model, data, both, config, method)
    traits = [traits_of(data, each) for each in explained]
    return find_patterns(traits[: len(wrong)], traits[len(wrong) :], level=level)


def traits_of(data: Graph | GraphSet, explanation: Explanation) -> set[Trait]:
    """All that is said of one instance."""
    graph, target = graph_of_target(data, explanation.target), explanation.target
    kept = explanation.subgraph()
    found = set(_numbers(data, target))
    found |= {_feature(graph, feature) for feature in _looked_at(explanation)}
    found.add(_shape(kept.nodes, kept.edges))
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
    hubs = (graph.in_degree >= max(5, HUB * graph.num_nodes)).nonzero().flatten().tolist()
    apart = [hub for hub in hubs if hub not in joined and hub not in own]
    found |= {Trait("neighbour", f"not {hub}", f"It is not joined to node {graph.node_name(hub)}.") for hub in apart}
    return found


def _looked_at(explanation: Explanation) -> tuple[int, ...]:
    weights = explanation.feature_weight
    return tuple(i for i in explanation.top_features(TOP_FEATURES) if weights is not None and weights[i] > 0)


def _feature(graph: Graph, feature: int) -> Trait:
    name = graph.feature_names[feature] if graph.feature_names else f"feature {feature}"
    return Trait("feature", str(feature), f"The network looks at {name}.")


def _types(graph: Graph) -> set[Trait]:
    """The types of nodes that a graph has, where each has one: the elements of a molecule."""
    if not graph.features_are_types:
        return set()
    names = graph.feature_names or [f"type {i}" for i in range(graph.num_features)]
    there = graph.x.sum(0).nonzero().flatten().tolist()
    return {Trait("type", str(i), f"It has a node of type {names[i]}.") for i in there}


def _shape(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> Trait:
    """The shape of G_S as far as its degrees tell it."""
    net = nx.Graph(edges)
    net.add_nodes_from(nodes)
    degrees = sorted((degree for _, degree in net.degree), reverse=True)
    text = f"The network looks at {len(nodes)} nodes and {len(edges)} edges, with {', '.join(map(str, degrees))} edges at each node."
    return Trait("shape", "-".join(map(str, degrees)), text)


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
