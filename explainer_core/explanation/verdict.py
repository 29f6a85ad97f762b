"""How far an explanation can be believed: what the model says of G_S alone and without it, as figures and one level."""

from dataclasses import dataclass

CARRIES, MOSTLY, NOT_ENOUGH, DEFAULT = "carries it", "mostly", "not enough", "default class"
LEVELS = (CARRIES, MOSTLY, NOT_ENOUGH, DEFAULT)
# How a part is judged, by the task of the prediction; judging.py says it at length.
PROTOCOLS = {
    "node": "other messages silent, degrees of the whole graph",
    "link": "other messages silent, degrees of the whole graph",
    "graph": "a graph of its own",
}
NEARLY = 0.9  # of the best, or of the whole: what may be called as good
HALF = 0.5


@dataclass(frozen=True)
class Judged:
    """A hard subgraph and what the model says of it. Probabilities are of the explained class."""

    edges: tuple[tuple[int, int], ...]
    alone: float
    without: float
    keeps_class: bool
    origin: str = ""  # the proposal it came from

    def sufficiency(self, ceiling: float) -> float:
        """The share of the probability that G_S alone gives, at most one."""
        return min(1.0, self.alone / max(ceiling, 1e-12))

    def score(self, full: float, ceiling: float) -> float:
        """Sufficiency + necessity: it carries the prediction, and the prediction goes without it."""
        return self.sufficiency(ceiling) + full - self.without


@dataclass(frozen=True)
class Verdict:
    """What the model says of the part that is shown. Probabilities are of the explained class.

    `level` is one of LEVELS. G_S carries the prediction if it alone gives the class with nine tenths of its
    probability, mostly if with half of it. The class is a default one where nothing at all is nearly as good as G_S: the model
    says the same without any edge, and loses next to nothing without G_S. `agreement` is the share of edges
    that other starts keep too; None until it is known, and it never changes the level.
    """

    level: str
    full: float
    alone: float
    without: float
    empty: float  # what the model says without any edge
    keeps_class: bool
    winner: str  # the proposal that G_S came from
    agreement: float | None = None

    @property
    def kept(self) -> float:
        """The share of the probability that G_S alone gives, at most one."""
        return min(1.0, self.alone / max(self.full, 1e-12))

    @property
    def lost(self) -> float:
        """The share of the probability that goes without G_S, at least zero."""
        return max(0.0, (self.full - self.without) / max(self.full, 1e-12))

    @property
    def is_needed(self) -> bool:
        """False where the class keeps nine tenths of its probability without G_S: the rest says it, too."""
        return self.lost > 1 - NEARLY

    @property
    def sufficiency(self) -> float:
        return self.kept

    @property
    def necessity(self) -> float:
        """The probability that is lost without G_S; below zero where the class gains."""
        return self.full - self.without


def verdict_of(
    judged: Judged, *, full: float, empty: float, empty_keeps: bool, agreement: float | None = None
) -> Verdict:
    """The verdict on a part, given what the model says of all and of no edges."""
    kept = judged.sufficiency(full)
    nothing = min(1.0, empty / max(full, 1e-12))
    if empty_keeps and nothing >= NEARLY * max(1.0, kept + full - judged.without):
        level = DEFAULT
    elif judged.keeps_class and kept >= NEARLY:
        level = CARRIES
    elif judged.keeps_class and kept >= HALF:
        level = MOSTLY
    else:
        level = NOT_ENOUGH
    return Verdict(
        level=level,
        full=full,
        alone=judged.alone,
        without=judged.without,
        empty=empty,
        keeps_class=judged.keeps_class,
        winner=judged.origin,
        agreement=agreement,
    )
