"""Systematic mistakes: all explained in one batch, grouped by what the network looked at, and by their cause."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import nn

from explainer_core.api import explain_many
from explainer_core.config import ExplainConfig, checked_config
from explainer_core.debugging.causes import causes_of, truth_of
from explainer_core.debugging.likeness import likeness_traits
from explainer_core.debugging.patterns import LEVEL, Group, Pattern, Trait, find_patterns, most_typical, tested_traits
from explainer_core.debugging.shortcuts import Shortcut, find_shortcuts, number_of
from explainer_core.debugging.traits import TOP_FEATURES, traits_of
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model
from explainer_core.prototypes.prototype import Prototype
from explainer_core.targets import Target

QUICK_METHOD = "gradient"  # hundreds of targets are explained; `verified` takes some twenty times as long
AT_ONCE = 20  # targets between two words about the progress
NO_RULE = ""
CAUSES = {  # what each rule of a cause says of a whole group
    "isolated": "It has no edges to learn from.",
    "out_of_reach": "Nothing within its reach is of its class.",
    "near_tie": "Its class comes second, by 10 % or less.",
    "contradicted": "More than half of its neighbours are of the class it is taken for.",
    "default": "Nothing in it moves the network away from what it says of anything.",
    "structure": "Without its edges the network would be right.",
    "features": "Without its features the network would be right.",
    NO_RULE: "No rule names a cause.",
}
Progress = Callable[[int, int], object]  # so many predictions of so many are explained; may raise to stop


@dataclass(frozen=True, eq=False)
class Systematic:
    """What mistakes have in common. By cause, every mistake is in one group; it may show several patterns, or none."""

    patterns: tuple[Pattern, ...]  # the least probable by chance first
    by_cause: tuple[Group, ...]  # the largest first
    num_tested: int  # groups that were compared with right predictions
    typical: Mapping[int, Explanation]  # of every group's most typical mistake, by its place among the mistakes


def systematic_mistakes(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    wrong: Sequence[Target],
    right: Sequence[Target],
    config: ExplainConfig | None = None,
    method: str = QUICK_METHOD,
    *,
    train: Sequence[Target] = (),
    prototypes: Mapping[int, Prototype] | None = None,
    level: float = LEVEL,
    progress: Progress | None = None,
) -> Systematic:
    """What mistakes have in common that as many right predictions have not: all explained in one batch, and compared.

    Choose the right ones by chance, about as many as mistakes, and from the same part of the split. With `train`, what the
    network was trained on, single properties that tell a class there are looked for too: mistakes may be where they fail.
    With `prototypes`, by class, it is also asked how far each explanation is from that of the predicted class.

    Only mistakes can have a cause, so there is nothing to compare it with: they are grouped by it, and no group is called a pattern.
    """
    config = replace(checked_config(config), k_f=TOP_FEATURES)
    both, explained = [*wrong, *right], []
    for first in range(0, len(both), AT_ONCE):
        explained += explain_many(model, data, both[first : first + AT_ONCE], config, method)
        if progress:
            progress(len(explained), len(both))
    shortcuts = find_shortcuts(data, train)
    likeness = likeness_traits(prototypes or {}, explained, data)
    traits = [
        traits_of(data, each) | _misled(data, each.target, shortcuts) | like
        for each, like in zip(explained, likeness, strict=True)
    ]
    mistaken, others = traits[: len(wrong)], traits[len(wrong) :]
    patterns = find_patterns(mistaken, others, level=level)
    by_cause = _by_cause(causes_of(model, data, wrong), mistaken)
    chosen = {group.typical for group in (*patterns, *by_cause)}
    return Systematic(patterns, by_cause, len(tested_traits(mistaken, others)), {i: explained[i] for i in chosen})


def _misled(data: Graph | GraphSet, target: Target, shortcuts: Sequence[Shortcut]) -> set[Trait]:
    truth = truth_of(data, target) if shortcuts else None
    if truth is None:
        return set()
    return {each.trait(data.class_names) for each in shortcuts if each.misleads(number_of(target), truth)}


def _by_cause(causes: Sequence[Sequence], traits: Sequence[set[Trait]]) -> tuple[Group, ...]:
    """Every mistake in one group: that of the first rule that holds, or of none."""
    rules = [found[0].rule if found else NO_RULE for found in causes]
    groups = []
    for rule, text in CAUSES.items():
        members = tuple(i for i, each in enumerate(rules) if each == rule)
        if members:
            groups.append(Group(Trait("cause", rule, text), members, len(rules), most_typical(traits, members)))
    return tuple(sorted(groups, key=lambda group: (not group.trait.key, -len(group.mistakes))))
