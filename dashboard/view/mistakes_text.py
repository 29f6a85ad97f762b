"""How often a network is right, and how sure it is, as sentences and small tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dashboard.schema import Bin, Overview, Share
from dashboard.view.explanation_text import counted, percent
from dashboard.view.style import DARK, LIGHT

NOBODY = "–"
JUDGED_LINKS = (
    "As many pairs that are not joined are counted with the links of each part. A link is judged as on the Explain page: "
    "with all others there, itself hidden."
)
PARTS = {"train": "training", "val": "validation", "test": "test", "": "in no part"}


@dataclass(frozen=True)
class ShareRow:
    """So many of some instances are right."""

    title: str
    share: Share
    colour: str = ""  # of the class
    chosen: bool = False


def part_title(part: str) -> str:
    """What a part of the split is called on a button."""
    return PARTS.get(part, part).capitalize()


def headline(title: str, overview: Overview, part: str, thing: str) -> tuple[str, str]:
    """How often the network is right, and how many are wrong. `part` is the chosen one of the split, or empty."""
    all_of = counted(len(overview.instances), f"{PARTS[part]} {thing}" if part else thing)
    share = overview.accuracy
    if not len(overview.instances):
        return f"{title}: nothing to count", f"No {thing} passes these filters; widen them."
    if not share.count:
        return f"{title}: {all_of}", "No true class is known of them: they are listed by prediction and confidence."
    low, high = share.interval
    wrong = share.count - share.right
    about = f"95\u00a0% interval {100 * low:.0f} to {100 * high:.0f}\u00a0%"
    known = "" if share.count == len(overview.instances) else f" whose class is known ({share.count:,})"
    return (
        f"{title}: {percent(share.share)} right",
        f"Of {all_of}{known}, {wrong:,} {'is' if wrong == 1 else 'are'} wrong ({about}).",
    )


def share_table(groups: Sequence[tuple[str, Sequence[ShareRow]]], *, dark: bool = False) -> str:
    """A line for each share, with its interval; groups under headings of their own."""
    body = "".join(
        f'<tbody><tr class="group"><th scope="rowgroup" colspan="4">{escape(heading)}</th></tr>'
        f"{''.join(map(_share_row, rows))}</tbody>"
        for heading, rows in groups
        if rows
    )
    return (
        f'<table class="ranking shares" {theme_of(dark)}><caption>How often it is right</caption><thead><tr><td></td>'
        '<th scope="col" class="scale"><span>0</span><span>100\u00a0%</span></th>'
        f'<th scope="col"><i class="full"></i>right</th><th scope="col">of</th></tr></thead>{body}</table>'
    )


def theme_of(dark: bool) -> str:
    theme = DARK if dark else LIGHT
    return f'style="--ground:{theme.ground};--accent:{theme.accent}"'


def _share_row(row: ShareRow) -> str:
    share, (low, high) = row.share, row.share.interval
    dot = f'<span class="dot" style="background:{row.colour}"></span>' if row.colour else ""
    mark = "" if not share.count else f'<i class="full" style="left:{100 * share.share:.1f}%"></i>'
    line = f'<b style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></b>' if share.count else ""
    shown = percent(share.share) if share.count else NOBODY
    said = f"95 % interval {100 * low:.0f} to {100 * high:.0f} %"
    return (
        f'<tr{" class=shown" if row.chosen else ""}><th scope="row">{dot}{escape(row.title)}</th>'
        f'<td class="track" title="{said}"><div>{line}{mark}</div></td><td>{shown}</td><td>{share.count:,}</td></tr>'
    )


def calibration_table(bins: Sequence[Bin], *, dark: bool = False) -> str:
    """A line for each bin that holds anybody: how sure the network was, and how often it was right."""
    body = "".join(_bin_row(each) for each in bins if each.count)
    return (
        f'<table class="ranking shares" {theme_of(dark)}><caption>How sure it is, and how often it is right then</caption><thead><tr><td></td>'
        '<th scope="col" class="scale"><span>0</span><span>100\u00a0%</span></th>'
        '<th scope="col"><i class="hollow"></i>sure</th><th scope="col"><i class="full"></i>right</th>'
        f'<th scope="col">of</th></tr></thead><tbody>{body}</tbody></table>'
    )


def _bin_row(each: Bin) -> str:
    sure, right = 100 * each.confidence, 100 * each.accuracy
    low, high = sorted((sure, right))
    gains = "gains" if right >= sure else "loses"
    return (
        f'<tr><th scope="row">{100 * each.low:.0f}–{100 * each.high:.0f}\u00a0%</th>'
        f'<td class="track {gains}" aria-hidden="true"><div><b style="left:{low:.1f}%;width:{high - low:.1f}%"></b>'
        f'<i class="hollow" style="left:{sure:.1f}%"></i><i class="full" style="left:{right:.1f}%"></i></div></td>'
        f"<td>{percent(each.confidence)}</td><td>{percent(each.accuracy)}</td><td>{each.count:,}</td></tr>"
    )


def calibration_said(overview: Overview) -> str:
    """Whether the network is as sure as it should be."""
    error, share = overview.calibration_error, overview.accuracy.share
    bins = [each for each in overview.calibration if each.count]
    sure = sum(each.count * each.confidence for each in bins) / sum(each.count for each in bins)
    lead = sure - share
    word = (
        "as sure as it should be"
        if abs(lead) < 0.02
        else "too sure of itself"
        if lead > 0
        else "less sure than it could be"
    )
    return f"On the whole it is {word}: {percent(sure)} sure, {percent(share)} right. Bin by bin the two are {percent(error)} apart (ECE)."


def list_title(count: int, truth: str | None, predicted: str | None, thing: str, *, labelled: bool = True) -> str:
    """What is listed: all mistakes, or one cell; where no class is known, nothing is called a mistake."""
    if predicted is None:
        return f"All mistakes: {counted(count, thing)}" if labelled else f"All of them: {counted(count, thing)}"
    if truth is None:
        return f"Predicted “{predicted}”: {counted(count, thing)}"
    if truth == predicted:
        return f"Rightly “{predicted}”: {counted(count, thing)}"
    return f"“{truth}” taken for “{predicted}”: {counted(count, thing)}"
