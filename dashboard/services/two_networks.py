"""Two networks of the same data on the same instances: who gained, who lost, who is listed, and the list as a file."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.schema import BOTH_RIGHT, ONLY_FIRST, ONLY_SECOND, OUTCOMES, InstanceFilter, TwoNetworks
from dashboard.services.explanations import Progress, ignore
from dashboard.services.mistakes import as_safe_csv, everything, table
from dashboard.services.patterns import MOST_COMPARED, Compared
from dashboard.services.predict import class_colours
from dashboard.tasks import Listed
from explainer_core.debugging.instances import csv_rows
from explainer_core.debugging.two_networks import compare_networks

Cell = tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Versus:
    """Two networks on the instances that a filter lets through, counted in every way that the page shows.

    Where classes are known a cell is a class (the first row: all of them) and an outcome; else what the first network
    says and what the second says.
    """

    both: TwoNetworks
    labelled: bool
    colours: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...] | None

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(self.both.first.class_names)

    def cells(self) -> np.ndarray:
        if not self.labelled:
            return self.both.transitions
        return np.array([[each.counts[name] for name in self.outcomes] for each in (self.both, *self.both.by_class)])

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Of two classes only one is wrong, so there are no two mistakes."""
        return OUTCOMES if len(self.class_names) > 2 else OUTCOMES[:-1]

    def listed(self, cell: Cell) -> TwoNetworks:
        """The instances of a cell, or all that one of the two has right or that they disagree about; the largest change first."""
        both = self.both
        if cell is None:
            changed = both.first.right != both.second.right
            return both.of(changed if self.labelled else both.disagree).largest_change_first()
        row, column = cell
        if not self.labelled:
            rows = (both.first.predicted == row) & (both.second.predicted == column)
            return both.of(rows).largest_change_first()
        some = both if row == 0 else both.by_class[row - 1]
        return some.with_outcome(self.outcomes[column]).largest_change_first()

    def changed(self, cell: Cell) -> tuple[int, Compared] | None:
        """Of a cell that one network has right and the other wrong: which is wrong (0 or 1), its mistakes there, and as many
        instances by chance that both have right, of the same class where the cell has one. None of other cells."""
        outcome = self.outcomes[cell[1]] if cell is not None and self.labelled else None
        if cell is None or outcome not in (ONLY_FIRST, ONLY_SECOND):
            return None
        some = self.both if cell[0] == 0 else self.both.by_class[cell[0] - 1]
        mistakes = self.listed(cell).first.numbers[:MOST_COMPARED].tolist()
        right = some.with_outcome(BOTH_RIGHT).first.numbers
        drawn = np.sort(right[np.random.default_rng(0).permutation(len(right))[: len(mistakes)]]).tolist()
        groups = tuple(map(self.target, mistakes)), tuple(map(self.target, drawn))
        return (1 if outcome == ONLY_FIRST else 0), groups

    def target(self, number: int) -> int | tuple[int, int]:
        """What an instance's number stands for."""
        return number if self.pairs is None else self.pairs[number]


def versus(dataset: str, models: tuple[str, str], only: InstanceFilter, on_progress: Progress = ignore) -> Versus:
    first, second = (everything(dataset, model, on_progress) for model in models)
    both = compare_networks(first.instances, second.instances, only, targets=_targets(first, second))
    labelled = bool(first.instances.known.any())
    return Versus(both, labelled, class_colours(dataset), first.pairs)


def _targets(first: Listed, second: Listed) -> tuple[tuple, tuple] | None:
    """Which pairs the rows are; two networks of links may have been asked about different ones."""
    return None if first.pairs is None or second.pairs is None else (first.pairs, second.pairs)


def versus_table(listed: TwoNetworks) -> pd.DataFrame:
    """A list as the page shows it, with what both networks say."""
    found, second = table(listed.first), table(listed.second)
    found = found.rename(columns={"predicted": "first", "confidence": "first_confidence"})
    found["second"], found["second_confidence"] = second["predicted"], second["confidence"]
    ahead = ["number", "true", "first", "second", "first_confidence", "second_confidence"]
    return found.reindex(columns=[*ahead, *(name for name in found.columns if name not in ahead)])


def versus_as_csv(listed: TwoNetworks, names: tuple[str, str]) -> str:
    """A list as a file, safe for a spreadsheet: what is known of each, then what either network says."""
    return as_safe_csv(_rows(listed, names))


def _rows(listed: TwoNetworks, names: tuple[str, str]) -> Iterator[list]:
    first, second = csv_rows(listed.first), csv_rows(listed.second)
    one, other = next(first), next(second)
    yield [*one[:4], *(f"{names[0]} {column}" for column in one[4:]), *(f"{names[1]} {column}" for column in other[4:])]
    for one, other in zip(first, second, strict=True):
        yield [*one, *other[4:]]
