"""What the Debug page says of one instance, in plain words."""

from collections.abc import Sequence

from dashboard.schema import DEFAULT, NOT_ENOUGH, TargetFacts
from dashboard.view.explanation_text import counted
from dashboard.view.plain_text import for_markdown
from dashboard.view.things import NODES, Things


def why_title(predicted: str, others: Sequence[str]) -> str:
    """Of two classes the other one is named; of more it is chosen below."""
    instead = f"“{others[0]}”" if len(others) == 1 else "another"
    return for_markdown(f"Why “{predicted}”, and why not {instead}?")


def panel_title(name: str, facts: TargetFacts, label: int) -> str:
    """Whose part a picture shows."""
    roles = [word for word, holds in (("predicted", label == facts.predicted), ("true", label == facts.truth)) if holds]
    return f"For “{name}”" + (f", {' and '.join(roles)}" if roles else "")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def both_said(names: tuple[str, str], level: str, shared: int, things: Things = NODES) -> str:
    """Whether anything in the graph carries the other class, and what the two parts have in common."""
    carried = {
        NOT_ENOUGH: f"Not enough for “{names[1]}”: the part that speaks best for it does not carry it.",
        DEFAULT: f"“{names[1]}” is what the network says without any {things.edge}; what is there turns that into “{names[0]}”.",
    }.get(level, f"A part of it alone would be “{names[1]}”; with everything, “{names[0]}” wins.")
    common = (
        f"Both parts share {counted(shared, things.edge)}, marked with a dot."
        if shared
        else f"The two parts share no {things.edge}."
    )
    return f"{carried} {common}"
