"""The colours of the dashboard, told apart by colour-blind eyes, on light and on dark ground."""

from collections.abc import Sequence
from itertools import cycle, zip_longest

# Okabe and Ito's palette; grey stands in for black, which dark ground swallows.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
QUIET = "#8A9097"  # readable on light and on dark ground
# The two blues are the accent, on light and on dark ground: what the prediction rests on, and never a class.
CLASSES = ("#E69F00", "#009E73", "#D55E00", "#F0E442", "#CC79A7", "#7A5BB0", "#7A5C2E")
BY_NAME = {"mutagen": "#D55E00", "nonmutagen": "#009E73"}  # the same class the same colour in every data set
GROUND = ("#B4BAC1", QUIET)  # classes that are the ground on which motifs were planted
WEIGHTS = "#1B86C6"  # the accent where one colour must serve both grounds
RIGHT, WRONG = "#B4BAC1", "#B3123F"  # told apart by shape first; neither is a class
# Confidence, from unsure to sure: one hue that gets deeper, so that it also reads in grey; not the accent's.
LEAST = (
    (0.99, "99 % or more", "#54278F"),
    (0.9, "90 to 99 %", "#756BB1"),
    (0.7, "70 to 90 %", "#9E9AC8"),
    (0.5, "50 to 70 %", "#BCBDDC"),
    (0.0, "under 50 %", "#DADAEB"),
)
# Atoms in their usual colours, moved to where both grounds carry them.
ELEMENTS = {
    "C": "#6F7780",
    "H": "#808B96",
    "N": "#4A7BEA",
    "O": "#E0442E",
    "S": "#A67F12",
    "P": "#C96A10",
    "F": "#4F9E3C",
    "Cl": "#2E9E4F",
    "Br": "#A8552A",
    "I": "#9148BA",
    "Na": "#7A63C4",
    "K": "#7A63C4",
    "Li": "#7A63C4",
    "Ca": "#5B8C3A",
}


def class_colours(ground: Sequence[bool], names: Sequence[str] = ()) -> tuple[str, ...]:
    """A colour for each class; those that are ground stay quiet, those known by name have theirs."""
    quiet, loud = cycle(GROUND), cycle(CLASSES)
    colours = [next(quiet if is_ground else loud) for is_ground in ground]
    return tuple(BY_NAME.get(name, colour) for name, colour in zip_longest(names[: len(colours)], colours))


def shade(confidence: float) -> str:
    """The colour of a probability."""
    return next(colour for least, _, colour in LEAST if confidence >= least)
