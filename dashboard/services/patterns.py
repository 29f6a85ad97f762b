"""Systematic mistakes: what is compared, what it has in common, a picture of each group, and the groups as a file."""

from collections.abc import Iterator, Mapping

import numpy as np

from dashboard import jobs, tasks
from dashboard.cache import Cache
from dashboard.schema import Card, Group, Pattern, Request, Systematic
from dashboard.services.explanations import Progress, ignore
from dashboard.services.mistakes import Mistakes, as_safe_csv
from dashboard.services.pictures import drawn, weighed
from dashboard.tasks.subjects import load_data
from dashboard.view.explanation_text import TERMS
from dashboard.view.picture import Thumbnail
from dashboard.view.svg import svg
from explainer_core import Explanation
from explainer_core.debugging.traits import TOP_FEATURES

_PATTERNS: Cache[Systematic] = Cache(64)
_PICTURES: Cache[Thumbnail] = Cache(256)
MOST_COMPARED = 200  # mistakes, and right ones beside them, that are explained to find what they have in common
CLOSE = 30  # so many of the nearest nodes are drawn: the pictures are small
WIDTH, HEIGHT = 260, 190
Compared = tuple[tuple, tuple]  # mistakes, and right predictions


def compared(found: Mistakes, cell: tuple[int, int] | None) -> Compared:
    """The mistakes that are listed, the surest, and as many right ones by chance, which is always the same.

    Those of a cell are compared with right ones of the same prediction, which else would be the pattern itself.
    """
    wrong, right = found.listed(cell), found.overview.instances
    right = right.of(right.right & (True if cell is None else right.predicted == cell[1]))
    count = min(len(wrong), MOST_COMPARED)
    drawn_right = np.random.default_rng(0).permutation(len(right))[:count]
    numbers = wrong.numbers[:count].tolist(), np.sort(right.numbers[drawn_right]).tolist()
    mistaken, others = (tuple(found.target(number) for number in some) for some in numbers)
    return mistaken, others


def known_patterns(dataset: str, model: str, groups: Compared) -> Systematic | None:
    return _PATTERNS.get((dataset, model, groups))


def patterns(dataset: str, model: str, groups: Compared, on_progress: Progress = ignore) -> Systematic:
    """What mistakes have in common that right predictions have not, the least probable by chance first."""
    key = (dataset, model, groups)
    found = jobs.call(tasks.find_patterns, dataset, model, *groups, key=key, long=True, on_progress=on_progress)
    return _PATTERNS.put(key, found)


def in_no_pattern(found: Systematic, mistakes: int) -> int:
    """How many of the mistakes show none of the patterns."""
    return mistakes - len({member for pattern in found.patterns for member in pattern.mistakes})


def typical_member(card: Card, groups: Compared, found: Systematic, group: Group, *, dark: bool) -> Thumbnail:
    """The group's most typical mistake: a picture of what the network looked at, and its features in words."""
    target = groups[0][group.typical]

    def make() -> Thumbnail:
        drawing = drawn(Request(card.dataset, card.model, card.task, target), near=CLOSE)
        explained, name = found.typical[group.typical], _title(card, target)
        panel = weighed(drawing, explained, name="typical", title=f"What the network looks at in {name}", terms=TERMS)
        labels = bool(drawing.picture.bonds)
        drawn_as = svg(drawing.picture, panel, dark=dark, width=WIDTH, height=HEIGHT, title=False, labels=labels)
        return Thumbnail(group.typical, name, _features(card, explained), drawn_as)

    return _PICTURES.get_or_create((card.dataset, card.model, target, dark), make)


def _title(card: Card, target: int | tuple[int, int]) -> str:
    return f"{card.task} {target}" if isinstance(target, int) else f"the pair {target[0]} and {target[1]}"


def _features(card: Card, explained: Explanation) -> str:
    """The features that the network looked at most; empty where all are alike."""
    data, weights = load_data(card.dataset), explained.feature_weight
    if weights is None or not data.features_vary:
        return ""
    names = data.feature_names or [f"feature {i}" for i in range(data.num_features)]
    return ", ".join(f"“{names[i]}”" for i in explained.top_features(TOP_FEATURES) if weights[i] > 0)


def groups_as_csv(groups: Compared, found: Systematic, names: Mapping[Group, str]) -> str:
    """All groups with the names that the visitor gave them, and who is in them."""
    return as_safe_csv(_rows(groups, found, names))


def _rows(groups: Compared, found: Systematic, names: Mapping[Group, str]) -> Iterator[list]:
    yield ["name", "rule", "pattern", "mistakes", "of", "right ones", "of right ones", "p", "members"]
    for group in (*found.patterns, *found.by_cause):
        called = isinstance(group, Pattern)
        tested = [group.num_right_with, group.num_right, group.p_value] if called else ["", "", ""]
        members = " ".join(_number(groups[0][i]) for i in group.mistakes)
        counts = [len(group.mistakes), group.num_mistakes]
        yield [names.get(group, ""), group.trait.text, "yes" if called else "no", *counts, *tested, members]


def _number(target: int | tuple[int, int]) -> str:
    return str(target) if isinstance(target, int) else "-".join(map(str, target))
