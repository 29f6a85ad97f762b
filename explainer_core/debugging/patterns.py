"""Groups of mistakes, and which are patterns: traits that mistakes have more often than as many right predictions.

A trait is something that can be said of one instance in words. Each is a group; a group is called a pattern only where
Fisher's exact test, corrected for the number of groups (Holm 1979), says that chance does not make it.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

from explainer_core.checks import InvalidValue, share

LEVEL = 0.05
FEWEST = 5  # instances, right or wrong, that must have a trait to be tested: chosen without looking at who is wrong


@dataclass(frozen=True, order=True)
class Trait:
    """What can be said of an instance: its kind, what it names, and the sentence."""

    kind: str  # one of traits.KINDS
    key: str
    text: str


@dataclass(frozen=True)
class Group:
    """Mistakes of which the same can be said."""

    trait: Trait
    mistakes: tuple[int, ...]  # which of the mistakes have it
    num_mistakes: int
    typical: int  # of these mistakes the one that has most in common with the others

    @property
    def share_of_mistakes(self) -> float:
        return len(self.mistakes) / self.num_mistakes


@dataclass(frozen=True)
class Pattern(Group):
    """A trait of many mistakes and few right predictions."""

    num_right_with: int
    num_right: int
    p_value: float  # corrected for the number of groups

    @property
    def share_of_right(self) -> float:
        return self.num_right_with / self.num_right


def find_patterns(
    wrong: Sequence[Set[Trait]], right: Sequence[Set[Trait]], *, level: float = LEVEL
) -> tuple[Pattern, ...]:
    """The traits that are significantly more frequent among mistakes, the least probable by chance first.

    Of traits that the very same instances have, all are tested and all are listed.
    """
    share("level", level)
    if not wrong or not right:
        raise InvalidValue("patterns need mistakes and right predictions to compare with", (len(wrong), len(right)))
    tested = tested_traits(wrong, right)
    having = {trait: tuple(i for i, each in enumerate(wrong) if trait in each) for trait in tested}
    total = len(wrong) + len(right)
    chance = [fisher_p(len(having[trait]), len(wrong), times, total) for trait, times in tested.items()]
    found = [
        Pattern(
            trait,
            mistakes=having[trait],
            num_mistakes=len(wrong),
            typical=most_typical(wrong, having[trait]),
            num_right_with=times - len(having[trait]),
            num_right=len(right),
            p_value=p,
        )
        for (trait, times), p in zip(tested.items(), holm(chance), strict=True)
        if p <= level
    ]
    raw = dict(zip(tested, chance, strict=True))  # Holm's correction makes ties
    return tuple(sorted(found, key=lambda pattern: (raw[pattern.trait], -len(pattern.mistakes), pattern.trait)))


def tested_traits(wrong: Sequence[Set[Trait]], right: Sequence[Set[Trait]]) -> dict[Trait, int]:
    """The traits that enough instances have, and how many of all have each."""
    count = Counter(trait for each in (*wrong, *right) for trait in each)
    return {trait: count[trait] for trait in sorted(count) if count[trait] >= FEWEST}


def most_typical(traits: Sequence[Set[Trait]], members: Sequence[int]) -> int:
    """Of some instances the one whose traits, on average, most of them have; the first of several."""
    counts = Counter(trait for member in members for trait in traits[member])

    def shared(member: int) -> float:
        own = traits[member]
        return sum(counts[trait] for trait in own) / (len(own) or 1)

    return max(members, key=shared)


def fisher_p(wrong_with: int, wrong: int, having: int, total: int) -> float:
    """How probable it is that so many, or more, of those with a trait are among the mistakes, if chance deals them out."""
    return float(hypergeom.sf(wrong_with - 1, total, having, wrong))


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number: the chance that any of them is called by mistake stays below the level."""
    values, corrected = np.asarray(p_values, dtype=float), np.empty(len(p_values))
    order = np.argsort(values, kind="stable")
    steps = values[order] * (len(values) - np.arange(len(values)))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(values) else steps
    return corrected.tolist()
