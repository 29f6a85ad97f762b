"""What two networks get right of the same instances, in sentences and a small table."""

from collections.abc import Sequence
from html import escape

from dashboard.schema import ONLY_FIRST, ONLY_SECOND, TwoNetworks, is_chance
from dashboard.view.explanation_text import counted, percent
from dashboard.view.mistakes_text import NOBODY, theme_of

Names = tuple[str, str]  # of the two networks


def columns(names: Names, count: int) -> tuple[str, ...]:
    """What so many outcomes are called, in their order."""
    neither = ("neither",) if count == 4 else ("neither, same mistake", "neither, two mistakes")
    return ("both", f"only {names[0]}", f"only {names[1]}", *neither)


def points(share: float) -> str:
    """A difference of two shares in percentage points, with its sign; never minus zero."""
    value = round(100 * share, 1) + 0.0
    return f"{value:+.1f}".replace("-", "−") if value else "0.0"


def chance(p_value: float) -> str:
    return "p under 0.001" if p_value < 0.001 else f"p {p_value:.2g}" if p_value < 0.01 else f"p {p_value:.2f}"


def who_is_better(both: TwoNetworks, names: Names, things: str) -> tuple[str, str]:
    """The headline and its sentences: who gained and lost, and whether that is more than chance. `things`: test nodes, say."""
    gained, lost, of = both.counts[ONLY_SECOND], both.counts[ONLY_FIRST], counted(len(both), things)
    if not len(both):
        return "Nothing to compare", f"No {things} passes these filters for both networks; widen them."
    if not both.accuracies[0].count:
        apart = int(both.disagree.sum())
        share = f"{percent(apart / len(both))} of {of}"
        return (
            f"They disagree about {apart:,}",
            f"That is {share}. No true class is known of them, so nobody can be called right.",
        )
    one, other = (share.share for share in both.accuracies)
    low, high = both.interval
    better = names[1] if gained > lost else names[0]
    figures = f"{percent(one)} right with {names[0]}, {percent(other)} with {names[1]}, of {of}"
    about = f"{points(both.difference)} points, 95\u00a0% interval {points(low)} to {points(high)}"
    title = f"{names[1]} gains {gained:,} and loses {lost:,}"
    if not gained + lost:
        return title, f"{figures}: both are right about the very same ones."
    verdict = (
        f"That may well be chance ({chance(both.p_value)}, exact McNemar test): these figures do not tell which is better."
        if is_chance(both.p_value)
        else f"That is more than chance ({chance(both.p_value)}, exact McNemar test): {better} is better here."
    )
    return title, f"{figures} ({about}). {verdict}{_trained(both)}"


def _trained(both: TwoNetworks) -> str:
    """A warning where it is no test."""
    return (
        " They were trained with some of these: the test part tells more."
        if (both.first.split == "train").any()
        else ""
    )


def classes_said(both: TwoNetworks) -> str:
    """In which classes the difference is more than chance; nothing where there is one class or no change."""
    names, tested = both.first.class_names, both.class_p_values
    if sum(len(each) > 0 for each in both.by_class) < 2 or not (both.counts[ONLY_FIRST] + both.counts[ONLY_SECOND]):
        return ""
    found = [f"“{names[i]}” ({chance(p)})" for i, p in enumerate(tested) if not is_chance(p)]
    if not found:
        return "In no single class the difference is more than chance."
    return f"More than chance in {', '.join(found)}; corrected for the number of classes."


def versus_table(both: TwoNetworks, names: Names, colours: Sequence[str], *, dark: bool = False) -> str:
    """Class by class how often either is right, and the difference; in heavy type where it is more than chance."""
    rows = [("all", "", both, both.p_value)]
    rows += [
        (name, colour, each, p)
        for name, colour, each, p in zip(
            both.first.class_names, colours, both.by_class, both.class_p_values, strict=False
        )
    ]
    body = "".join(_row(*row) for row in rows)
    return (
        f'<table class="ranking shares versus" {theme_of(dark)}><caption>How often each is right</caption><thead><tr><td></td>'
        '<th scope="col" class="scale"><span>0</span><span>100\u00a0%</span></th>'
        f'<th scope="col"><i class="hollow"></i>{escape(names[0])}</th><th scope="col"><i class="full"></i>{escape(names[1])}</th>'
        f'<th scope="col">points</th></tr></thead><tbody>{body}</tbody></table>'
    )


def _row(name: str, colour: str, both: TwoNetworks, p_value: float) -> str:
    dot = f'<span class="dot" style="background:{colour}"></span>' if colour else ""
    head = f'<th scope="row">{dot}{escape(name)}</th>'
    one, other = both.accuracies
    if not one.count:
        return f'<tr>{head}<td class="track"><div></div></td><td>{NOBODY}</td><td>{NOBODY}</td><td>{NOBODY}</td></tr>'
    low, high = sorted((100 * one.share, 100 * other.share))
    gains = "gains" if other.share >= one.share else "loses"
    heavy = "" if is_chance(p_value) else " class=shown"
    return (
        f'<tr{heavy}>{head}<td class="track {gains}" aria-hidden="true"><div>'
        f'<b style="left:{low:.1f}%;width:{high - low:.1f}%"></b>'
        f'<i class="hollow" style="left:{100 * one.share:.1f}%"></i><i class="full" style="left:{100 * other.share:.1f}%"></i></div></td>'
        f"<td>{percent(one.share)}</td><td>{percent(other.share)}</td><td>{points(both.difference)}</td></tr>"
    )


def list_title(count: int, outcome: str | None, of_class: str | None, thing: str) -> str:
    """What is listed: a cell, or all that changed."""
    whose = "" if of_class is None else f" of “{of_class}”"
    if outcome is None:
        return f"Right for one of the two only: {counted(count, thing)}"
    return f"Right: {outcome}{whose}: {counted(count, thing)}"


def disagreement_title(count: int, names: Names, classes: tuple[str, str] | None, thing: str) -> str:
    """The same where no class is known."""
    if classes is None:
        return f"They disagree about {counted(count, thing)}"
    return f"“{classes[0]}” for {names[0]}, “{classes[1]}” for {names[1]}: {counted(count, thing)}"
