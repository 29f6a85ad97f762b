"""The mistakes of a network at a glance, as plain data: who is right, by split and class, how sure, and who is listed where.

Every view counts the same instances: those that a filter lets through and whose class is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from explainer_core.checks import InvalidValue
from explainer_core.debugging.instances import NO_SPLIT, SPLITS, InstanceFilter, Instances, surest_first

CONFIDENCE = 1.959964  # standard deviations that hold 95 %
BINS = 10


@dataclass(frozen=True)
class Share:
    """So many of so many, with Wilson's 95 % interval (1927), which holds for few and near 0 and 1 too."""

    right: int
    count: int

    @property
    def share(self) -> float:
        return self.right / self.count if self.count else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        if not self.count:
            return 0.0, 1.0
        z2, n, p = CONFIDENCE**2, self.count, self.share
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = CONFIDENCE * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Bin:
    """Instances of about the same confidence: how sure the network was, and how often it was right."""

    low: float
    high: float
    count: int
    confidence: float  # mean; not a number where there is nobody
    accuracy: float


@dataclass(frozen=True, eq=False)
class Overview:
    """All views of some instances. Without known classes there are only lists by prediction and confidence."""

    instances: Instances

    @property
    def num_classes(self) -> int:
        return self.instances.probabilities.shape[1]

    @cached_property
    def accuracy(self) -> Share:
        return Share(int(self.instances.right.sum()), int(self.instances.known.sum()))

    @cached_property
    def by_class(self) -> tuple[Share, ...]:
        """Of each true class."""
        of = [self.instances.truth == label for label in range(self.num_classes)]
        return tuple(Share(int((self.instances.right & rows).sum()), int(rows.sum())) for rows in of)

    @cached_property
    def by_split(self) -> Mapping[str, Share]:
        """Of every part of the split that is among them."""
        parts = [part for part in (*SPLITS, NO_SPLIT) if (self.instances.split == part).any()]
        return {part: Overview(self.instances.of(self.instances.split == part)).accuracy for part in parts}

    @cached_property
    def confusion(self) -> np.ndarray:
        """How many of each true class (row) are predicted as each class (column): (C, C)."""
        counts = np.zeros((self.num_classes, self.num_classes), dtype=np.int64)
        known = self.instances.known
        np.add.at(counts, (self.instances.truth[known], self.instances.predicted[known]), 1)
        return counts

    def cell(self, truth: int, predicted: int) -> Instances:
        """The instances of one cell of the confusion matrix, the surest first."""
        self._check_class("truth", truth)
        self._check_class("predicted", predicted)
        i = self.instances
        return surest_first(i.of((i.truth == truth) & (i.predicted == predicted)))

    @cached_property
    def wrong(self) -> Instances:
        """All mistakes, confidently wrong first."""
        return surest_first(self.instances.of(self.instances.wrong))

    @cached_property
    def predicted_as(self) -> tuple[Instances, ...]:
        """Of each class the instances predicted so, the surest first; known or not."""
        i = self.instances
        return tuple(surest_first(i.of(i.predicted == label)) for label in range(self.num_classes))

    @cached_property
    def calibration(self) -> tuple[Bin, ...]:
        """Ten bins of the same width, by confidence."""
        i, edges = self.instances.of(self.instances.known), np.linspace(0, 1, BINS + 1)
        at = np.clip(np.ceil(i.confidence * BINS).astype(int) - 1, 0, BINS - 1)
        found = []
        for number in range(BINS):
            rows = at == number
            means = (i.confidence[rows].mean(), i.right[rows].mean()) if rows.any() else (np.nan, np.nan)
            found.append(Bin(edges[number], edges[number + 1], int(rows.sum()), *map(float, means)))
        return tuple(found)

    @property
    def calibration_error(self) -> float:
        """ECE: how far confidence and accuracy are apart, averaged over the instances; not a number where there are none."""
        bins = [each for each in self.calibration if each.count]
        total = sum(each.count for each in bins)
        return (
            sum(each.count * abs(each.confidence - each.accuracy) for each in bins) / total if total else float("nan")
        )

    def _check_class(self, name: str, label: int) -> None:
        if not 0 <= label < self.num_classes:
            raise InvalidValue(f"{name} must be 0 to {self.num_classes - 1}", label)


def overview(instances: Instances, filter: InstanceFilter | None = None) -> Overview:
    """The mistakes at a glance, of the test part unless told otherwise."""
    return Overview(instances.filtered(InstanceFilter() if filter is None else filter))
