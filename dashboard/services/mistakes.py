"""The mistakes of a network at a glance: who is counted, who is listed, and the list as a file."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dashboard import jobs, tasks
from dashboard.cache import MB, Cache
from dashboard.schema import Cause, InstanceFilter, Instances, Overview, Request, Share
from dashboard.services.explanations import Progress, ignore
from dashboard.services.predict import class_colours
from dashboard.tasks import Listed
from dashboard.view.plain_text import for_spreadsheet
from explainer_core.debugging.instances import csv_rows, surest_first

_LISTED: Cache[Listed] = Cache(16, 128 * MB)
_CAUSES: Cache[tuple[Cause | None]] = Cache(256)


@dataclass(frozen=True, eq=False)
class Mistakes:
    """Some instances of a data set, counted in every way that the page shows."""

    overview: Overview
    by_split: dict[str, Share]  # of all parts of the split, under the same filter otherwise
    everyone: Instances  # without any filter
    colours: tuple[str, ...]  # of the classes
    pairs: tuple[tuple[int, int], ...] | None

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(self.everyone.class_names)

    @property
    def labelled(self) -> bool:
        return bool(self.everyone.known.any())

    def cells(self) -> np.ndarray:
        """How many of each true class (row) are predicted as each (column); one row for all where no class is known."""
        if self.labelled:
            return self.overview.confusion
        return np.array([[len(some) for some in self.overview.predicted_as]])

    def listed(self, cell: tuple[int, int] | None) -> Instances:
        """The instances of a cell, or all mistakes, the surest first; of what has no known class all there are."""
        if cell is None:
            return self.overview.wrong if self.labelled else surest_first(self.overview.instances)
        return self.overview.cell(*cell) if self.labelled else self.overview.predicted_as[cell[1]]

    def target(self, number: int) -> int | tuple[int, int]:
        """What an instance's number stands for."""
        return number if self.pairs is None else self.pairs[number]


def count_mistakes(dataset: str, model: str, only: InstanceFilter, on_progress: Progress = ignore) -> Mistakes:
    """What the network gets right and wrong of the instances that a filter lets through."""
    listed = everything(dataset, model, on_progress)
    every = listed.instances.filtered(replace(only, split=None))
    return Mistakes(
        overview=Overview(listed.instances.filtered(only)),
        by_split=dict(Overview(every).by_split),
        everyone=listed.instances,
        colours=class_colours(dataset),
        pairs=listed.pairs,
    )


def everything(dataset: str, model: str, on_progress: Progress = ignore) -> Listed:
    def make() -> Listed:
        return jobs.call(tasks.list_instances, dataset, model, key=(dataset, model), on_progress=on_progress)

    return _LISTED.get_or_create((dataset, model), make)


def table(listed: Instances) -> pd.DataFrame:
    """A list as the page shows it; Streamlit's own table offers its rows as CSV, and guards nothing."""
    classes = list(listed.class_names)
    columns = {
        "number": listed.numbers,
        "confidence": 100 * listed.confidence,
        "true": ["" if label < 0 else classes[label] for label in listed.truth.tolist()],
        "predicted": [classes[label] for label in listed.predicted.tolist()],
        "name": [for_spreadsheet(" ".join(name.splitlines())) for name in listed.names],
        "degree": listed.degree,
        "size": listed.size,
        "homophily": 100 * listed.homophily,
        "split": listed.split,
    }
    return pd.DataFrame(columns)


def list_as_csv(listed: Instances) -> str:
    return as_safe_csv(csv_rows(listed))


def as_safe_csv(rows: Iterable[Sequence]) -> str:
    """Rows as a file that no spreadsheet takes for formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([for_spreadsheet(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def cause(request: Request, on_progress: Progress = ignore) -> Cause | None:
    """The one plain cause of a mistake, where a rule finds one."""
    plain = Request(request.dataset, request.model, request.kind, request.target)

    def make() -> tuple[Cause | None]:
        return (jobs.call(tasks.find_cause, plain, key=plain, on_progress=on_progress),)

    return _CAUSES.get_or_create(plain, make)[0]
