"""Methods in the order of how well they do, as a small picture: what the part alone gives and what is left without it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dashboard.schema import Scores
from dashboard.view.explanation_text import percent
from dashboard.view.style import DARK, LIGHT
from dashboard.view.things import NODES, Things


@dataclass(frozen=True)
class RankRow:
    """One method. Probabilities are of the class that is asked about, of one target or the mean over many."""

    rank: int
    title: str
    alone: float
    without: float
    shown: bool = False  # the explanation that the main picture shows


def ranking(rows: Sequence[RankRow], heading: str, *, dark: bool = False) -> str:
    """A table with a line for each method, from what is left without the part to what the part alone gives."""
    body, theme = "".join(map(_row, rows)), DARK if dark else LIGHT
    return (
        f'<table class="ranking" style="--ground:{theme.ground};--accent:{theme.accent}">'
        f"<caption>{escape(heading)}</caption><thead><tr><td></td>"
        '<th scope="col">method</th><th scope="col" class="scale"><span>0</span><span>100\u00a0%</span></th>'
        '<th scope="col"><i class="full"></i>alone</th><th scope="col"><i class="hollow"></i>without</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _row(row: RankRow) -> str:
    alone, without = (100 * min(max(share, 0.0), 1.0) for share in (row.alone, row.without))
    low, high = sorted((alone, without))
    gains = "gains" if alone > without else "loses"
    return (
        f'<tr{" class=shown" if row.shown else ""}><td>{row.rank}</td><th scope="row">{escape(row.title)}</th>'
        f'<td class="track {gains}" aria-hidden="true"><div><b style="left:{low:.1f}%;width:{high - low:.1f}%"></b>'
        f'<i class="hollow" style="left:{without:.1f}%"></i><i class="full" style="left:{alone:.1f}%"></i></div></td>'
        f"<td>{percent(row.alone)}</td><td>{percent(row.without)}</td></tr>"
    )


def standing(scores: Scores) -> str:
    """The two figures that methods are ranked by."""
    judged = scores.judged
    lost = "" if judged.keeps_class else " (too little for the class)"
    return f"alone {percent(judged.kept)}{lost}, without {percent(judged.without)}"


def how_to_read(full: float, mean: float | None) -> str:
    """What the lines are, how they are ranked, and who has it easy. `full` is of this target, `mean` over the data set."""
    over = "" if mean is None else f"; over the data set {percent(mean)}, each target at the size found for it"
    return (
        "Probability of the class: ● from the part alone, ○ from all but the part. A long solid line is good; dotted, more is "
        f"left without the part than it gives. Alone counts up to what everything gives ({percent(full)}{over}). "
        "The verified search asks the network for these very figures, the others do not."
    )


def over_data_set(targets: int, part: str) -> str:
    """What the figures of a card are means over."""
    return (
        f"Over {targets} test targets of this data set"
        if part == "test"
        else f"Over all {targets} targets of this data set"
    )


def who_wins(own: str, better: Sequence[tuple[str, Scores]], equal: Sequence[str], size: str, *, chance: str) -> str:
    """Where what is shown stands among the others, in one plain sentence."""
    if better:
        names = _listed([title for title, _ in better])
        does = "does" if len(better) == 1 else "do"
        first, scores = better[0]
        whose = "" if len(better) == 1 else f"{first}: "
        found = f"{names} {does} better here than what is shown ({whose}{standing(scores)})."
    elif equal:
        found = f"{_listed(list(equal))} {'does' if len(equal) == 1 else 'do'} as well here as what is shown."
    else:
        found = f"With {size} none of these does better here than what is shown, {own}."
    if chance in {title for title, _ in better} | set(equal):
        found += " Chance does no worse here."
    return found


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def prediction_line(name: str, probability: float, right: bool | None) -> str:
    """What one of two networks predicts."""
    mark = {None: "", True: " ✓ right", False: " ✗ wrong"}[right]
    return f"predicted “{name}” {percent(probability)}{mark}"


def in_common(names: Sequence[str], classes: Sequence[str], edges: int, of: int, things: Things = NODES) -> str:
    """Whether two networks say the same, and by the same part."""
    same = f"Both say “{classes[0]}”." if classes[0] == classes[1] else _differ(names, classes)
    if of < 2:
        return (
            f"{same} The one {things.edge} that either keeps is in {'both parts' if edges else 'one part'}."
            if of
            else same
        )
    shared = "all" if edges == of else edges or "none"
    return (
        f"{same} Of the {of:,} {things.edge}s that either keeps, {shared} {'is' if edges < 2 else 'are'} in both parts."
    )


def _differ(names: Sequence[str], classes: Sequence[str]) -> str:
    return f"They disagree: {names[0]} says “{classes[0]}”, {names[1]} says “{classes[1]}”."
