"""How far what the network looked at is from the prototype of the class it predicted, as a trait."""

from collections.abc import Mapping, Sequence

from explainer_core.debugging.patterns import Trait
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.prototypes.joining import compare_many
from explainer_core.prototypes.prototype import Prototype

NEAR, FAR = 1 / 3, 2 / 3  # of the edges that either has: so few, or so many, only one has
FEW_RESTARTS = 8  # hundreds are aligned


def likeness_traits(
    prototypes: Mapping[int, Prototype], explained: Sequence[Explanation], data: Graph | GraphSet
) -> list[set[Trait]]:
    """Of each explanation, whether it is near the prototype of its predicted class or far from it; nothing in between."""
    found: list[set[Trait]] = [set() for _ in explained]
    for label, prototype in prototypes.items():
        rows = [i for i, each in enumerate(explained) if each.predicted_class == label]
        members = compare_many(prototype, [explained[i] for i in rows], data, FEW_RESTARTS) if rows else []
        for i, member in zip(rows, members, strict=True):
            found[i] |= _said(member.distance)
    return found


def _said(distance: float) -> set[Trait]:
    if distance <= NEAR:
        return {
            Trait("prototype", "near", "What the network looks at is nearly the prototype of the class it predicts.")
        }
    if distance >= FAR:
        text = "What the network looks at has little in common with the prototype of the class it predicts."
        return {Trait("prototype", "far", text)}
    return set()
