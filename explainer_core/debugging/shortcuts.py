"""Shortcuts: one property that tells a class of the training part almost without fail, and who it misleads.

A network takes the easiest way to its training labels. Where a single feature, an edge to a single node or an element does
it, mistakes are where that property says otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explainer_core.debugging.patterns import Trait
from explainer_core.graph import NO_LABEL, Graph, GraphSet
from explainer_core.layout.molecule import is_molecule
from explainer_core.targets import Link, Node, Target

SEPARATES = 0.8  # share of a class that has the property, less the share of the others: from here it is a shortcut
FEWEST_TRAINED = 20  # of a class: of few, some property sets them apart by chance
HUB = 0.03  # of all nodes: one with so many neighbours is a hub
FEWEST_EDGES = 5  # of a hub


@dataclass(frozen=True, eq=False)
class Shortcut:
    """A property of all instances, and the class that it tells in the training part."""

    kind: str  # feature, neighbour or type
    key: str
    name: str  # as a sentence goes on: “word 3”, an edge to node 7
    label: int
    share: float  # of the class's training instances that have it
    share_of_others: float
    there: np.ndarray  # (T,) bool: of all instances, who has it

    def misleads(self, number: int, truth: int) -> bool:
        """Whether it says of an instance what it does not say of its class in training."""
        return bool(self.there[number]) != ((truth == self.label) == (self.share > self.share_of_others))

    def trait(self, class_names: Sequence[str]) -> Trait:
        label = class_names[self.label] if self.label < len(class_names) else str(self.label)
        text = (
            f"In training {self.name} alone tells “{label}”: {self.share:.0%} of that class have it, "
            f"{self.share_of_others:.0%} of the others. Here it points to another class than the true one."
        )
        return Trait("shortcut", f"{self.kind} {self.key}", text)


def hubs_of(graph: Graph) -> list[int]:
    """The nodes that very many others are joined to."""
    return (graph.in_degree >= max(FEWEST_EDGES, HUB * graph.num_nodes)).nonzero().flatten().tolist()


def find_shortcuts(data: Graph | GraphSet, train: Sequence[Target]) -> tuple[Shortcut, ...]:
    """Every property that alone tells a class of these instances; none for links, or without labels."""
    if not train or isinstance(train[0], Link) or data.labels is None:
        return ()
    if isinstance(train[0], Node) != isinstance(data, Graph):
        return ()  # one graph judged as a whole has nothing to compare with
    rows = np.array([number_of(target) for target in train], dtype=np.int64)
    values, names = _properties(data)
    labels = data.labels.numpy()
    rows = rows[labels[rows] != NO_LABEL]
    best: dict[int, Shortcut] = {}  # of each property, the class that it tells best
    for label in np.unique(labels[rows]).tolist():
        mine, others = rows[labels[rows] == label], rows[labels[rows] != label]
        if min(len(mine), len(others)) < FEWEST_TRAINED:
            continue
        middle = (values[mine].mean(0) + values[others].mean(0)) / 2  # (J,)
        shares = [(values[some] > middle).mean(0) for some in (mine, others)]
        for j in np.flatnonzero(abs(shares[0] - shares[1]) >= SEPARATES).tolist():
            one = Shortcut(*names[j], label, float(shares[0][j]), float(shares[1][j]), values[:, j] > middle[j])
            if j not in best or _rank(one) > _rank(best[j]):
                best[j] = one
    return tuple(best.values())


def number_of(target: Target) -> int:
    """Of a node, or of a graph in its set."""
    number = target.node if isinstance(target, Node) else getattr(target, "index", None)
    return 0 if number is None else number


def _rank(shortcut: Shortcut) -> tuple[float, float]:
    """Of two classes both are told: that which has the property is the one to speak of."""
    return abs(shortcut.share - shortcut.share_of_others), shortcut.share


def _properties(data: Graph | GraphSet) -> tuple[np.ndarray, list[tuple[str, str, str]]]:
    """A number for every instance and property (T, J), and of each property its kind, key and name."""
    features = list(data.feature_names) or [f"feature {i}" for i in range(data.num_features)]
    if isinstance(data, GraphSet):
        start = data.node_start.numpy()
        total = np.add.reduceat(np.pad(data.x.numpy(), ((0, 1), (0, 0))), start[:-1])  # a last graph may be empty
        total[start[1:] == start[:-1]] = 0.0
        if data.features_are_types:
            thing = "an atom" if is_molecule(data[0]) else "a node of type"
            names = [("type", str(i), f"{thing} “{name}”") for i, name in enumerate(features)]
            return (total > 0).astype(float), names
        return total / np.maximum(np.diff(start), 1)[:, None], _feature_names(features)
    hubs = hubs_of(data)
    joined = np.zeros((data.num_nodes, len(hubs)), dtype=np.float32)
    source, target = data.edge_index.numpy()
    for column, hub in enumerate(hubs):
        joined[target[source == hub], column] = 1.0
    names = [("neighbour", str(hub), f"an edge to node {data.node_name(hub)}") for hub in hubs]
    return np.concatenate([data.x.numpy(), joined], axis=1), _feature_names(features) + names


def _feature_names(features: Sequence[str]) -> list[tuple[str, str, str]]:
    return [("feature", str(i), f"“{name}”") for i, name in enumerate(features)]
