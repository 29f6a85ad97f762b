"""The legend beside a picture: what every mark in it means, always in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.view.palette import WRONG
from dashboard.view.picture import Picture, known_truth
from dashboard.view.things import Things, things_of

DOT, SQUARE, ACCENT, DOTTED, DASHED, RING = "dot", "square", "accent", "dotted", "dashed", "ring"
SHARED, CUT, ADDED = "shared", "cut", "added"  # in the middle of an edge


@dataclass(frozen=True)
class Entry:
    """One line of the legend; a `colour` only where it is not the theme's own."""

    mark: str
    text: str
    colour: str = ""


def of_nodes(colours: Sequence[tuple[str, str]]) -> tuple[Entry, ...]:
    """What the colours of nodes mean, from (name, colour); who is wrong is a square."""
    return tuple(Entry(SQUARE if colour == WRONG else DOT, name, colour) for name, colour in colours)


def of_targets(picture: Picture) -> tuple[Entry, ...]:
    """What a ring means, where there is one."""
    words = {0: (), 1: ("what is explained",)}.get(len(picture.targets), ("the two ends",))
    return tuple(Entry(RING, text) for text in words)


def of_truth(picture: Picture) -> tuple[Entry, ...]:
    return (Entry(DASHED, known_truth(picture)),) if picture.truth else ()


def of_two_parts(
    picture: Picture, colours: Sequence[tuple[str, str]], accent: str, *, shared: bool
) -> tuple[Entry, ...]:
    """Of one of two pictures side by side, where edges that both keep are marked."""
    both = (Entry(SHARED, f"{things_of(picture).edge} in both parts"),) if shared else ()
    return (*of_nodes(colours), Entry(ACCENT, accent), *both, *of_targets(picture), *of_truth(picture))


def of_changes(things: Things) -> tuple[Entry, ...]:
    """What stands in the middle of an edge that was changed."""
    return Entry(CUT, f"{things.edge} cut"), Entry(ADDED, f"{things.edge} added")


def payload(entries: Sequence[Entry]) -> list[list[str]]:
    return [[entry.mark, entry.text, entry.colour] for entry in entries]
