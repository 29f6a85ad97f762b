"""Two networks on the same instances, as plain data: who gained, who lost, where they disagree, and whether chance does that.

The second network is the one that is asked about: what it has right and the first has not is gained.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from explainer_core.checks import InvalidValue, one_of
from explainer_core.debugging.instances import NO_SPLIT, InstanceFilter, Instances
from explainer_core.debugging.mistakes import CONFIDENCE, Share
from explainer_core.debugging.patterns import LEVEL, holm

BOTH_RIGHT, ONLY_FIRST, ONLY_SECOND = "both_right", "only_first", "only_second"
SAME_MISTAKE, TWO_MISTAKES = "same_mistake", "two_mistakes"  # both are wrong: with the same class, or with two
MIXED = "mixed"  # of an instance that two networks had in different parts of the split
OUTCOMES = (BOTH_RIGHT, ONLY_FIRST, ONLY_SECOND, SAME_MISTAKE, TWO_MISTAKES)


@dataclass(frozen=True, eq=False)
class TwoNetworks:
    """Row by row the same instances under two networks; `compare_networks` makes one and checks that."""

    first: Instances
    second: Instances

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def outcome(self) -> np.ndarray:
        """Which of OUTCOMES each is: (T,) texts, empty where the class is not known."""
        one, other, same = self.first.right, self.second.right, self.first.predicted == self.second.predicted
        found = np.select([one & other, one, other, same], OUTCOMES[:4], TWO_MISTAKES).astype(object)
        found[~self.first.known] = ""
        return found

    @property
    def disagree(self) -> np.ndarray:
        """Who is predicted as two different classes, known or not."""
        return self.first.predicted != self.second.predicted

    @cached_property
    def counts(self) -> dict[str, int]:
        return {name: int((self.outcome == name).sum()) for name in OUTCOMES}

    @property
    def accuracies(self) -> tuple[Share, Share]:
        known = int(self.first.known.sum())
        return Share(int(self.first.right.sum()), known), Share(int(self.second.right.sum()), known)

    @property
    def difference(self) -> float:
        """How much more of them the second has right; not a number where no class is known."""
        one, other = self.accuracies
        return other.share - one.share

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the difference between two shares of the same instances (Bonett and Price 2012).

        It holds for few instances too, and where all changes are of one kind.
        """
        count = self.accuracies[0].count + 2
        gained, lost = (self.counts[name] + 1 for name in (ONLY_SECOND, ONLY_FIRST))
        middle = (gained - lost) / count
        half = CONFIDENCE * sqrt(((gained + lost) / count - middle**2) / count)
        return max(-1.0, middle - half), min(1.0, middle + half)

    @property
    def p_value(self) -> float:
        return mcnemar(self.counts[ONLY_FIRST], self.counts[ONLY_SECOND])

    @cached_property
    def by_class(self) -> tuple["TwoNetworks", ...]:
        """Those of each true class."""
        return tuple(self.of(self.first.truth == label) for label in range(self.first.probabilities.shape[1]))

    @cached_property
    def class_p_values(self) -> tuple[float, ...]:
        """Of each class, corrected for their number (Holm 1979); a class without a change is not tested."""
        changed = [each.counts[ONLY_FIRST] + each.counts[ONLY_SECOND] > 0 for each in self.by_class]
        tested = iter(
            holm([each.p_value for each, any_change in zip(self.by_class, changed, strict=True) if any_change])
        )
        return tuple(next(tested) if any_change else 1.0 for any_change in changed)

    @cached_property
    def transitions(self) -> np.ndarray:
        """How many the first predicts as each class (row) and the second as each (column), known or not: (C, C)."""
        classes = self.first.probabilities.shape[1]
        counts = np.zeros((classes, classes), dtype=np.int64)
        np.add.at(counts, (self.first.predicted, self.second.predicted), 1)
        return counts

    def of(self, rows: np.ndarray) -> "TwoNetworks":
        return TwoNetworks(self.first.of(rows), self.second.of(rows))

    def with_outcome(self, name: str) -> "TwoNetworks":
        one_of("outcome", name, OUTCOMES)
        return self.of(self.outcome == name)

    def filtered(self, filter: InstanceFilter) -> "TwoNetworks":
        kept = self.first.filtered(filter)
        return self.of(np.isin(self.first.numbers, kept.numbers))

    def largest_change_first(self) -> "TwoNetworks":
        """By how far the two are apart: half the sum of all differences of probabilities."""
        apart = np.abs(self.first.probabilities - self.second.probabilities).sum(1) / 2
        return self.of(np.lexsort((self.first.numbers, -apart)))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact test of McNemar (1947): how probable so uneven a change is, if gaining and losing are equally probable."""
    total, ways, tail = only_first + only_second, 1, 1
    for count in range(min(only_first, only_second)):
        ways = ways * (total - count) // (count + 1)  # to choose count + 1 of them
        tail += ways
    return min(1.0, 2 * tail / 2**total)  # whole numbers until here: nothing is rounded away


def is_chance(p_value: float) -> bool:
    """Whether a difference may well be chance."""
    return p_value > LEVEL


def compare_networks(
    first: Instances,
    second: Instances,
    filter: InstanceFilter | None = None,
    *,
    targets: tuple[Sequence, Sequence] | None = None,
) -> TwoNetworks:
    """Two networks on the instances that both were asked about, of the test part unless told otherwise.

    `targets` names the rows of both where their numbers do not, as pairs do for links. An instance counts for a part of the
    split only where it was in that part for both networks: what one of them was trained with is no test.
    """
    if list(first.class_names) != list(second.class_names):
        raise InvalidValue(
            f"both networks must tell the same classes apart, {list(first.class_names)}", list(second.class_names)
        )
    names = targets or (first.numbers.tolist(), second.numbers.tolist())
    row = {name: i for i, name in enumerate(names[1])}
    shared = [(i, row[name]) for i, name in enumerate(names[0]) if name in row]
    if not shared:
        raise InvalidValue("both networks must be asked about the same instances", "none in common")
    ours, theirs = map(np.array, zip(*shared, strict=True))
    one, other = first.of(ours), second.of(theirs)
    if not np.array_equal(one.truth, other.truth):
        raise InvalidValue("the true classes must be the same for both networks", "two sets of labels")
    split = _shared_split(one.split, other.split)
    found = TwoNetworks(replace(one, split=split), replace(other, split=split))
    return found.filtered(InstanceFilter() if filter is None else filter)


def _shared_split(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The part that both networks have an instance in; of one who says nothing of its training, the other's."""
    if not (other != NO_SPLIT).any():
        return one
    if not (one != NO_SPLIT).any():
        return other
    return np.where(one == other, one, MIXED)
