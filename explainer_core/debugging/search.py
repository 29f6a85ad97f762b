"""The search for the fewest changes that flip one prediction, as questions to the model: many searches ask together.

Size by size: the most promising sets first (a beam), then every set of that size while there are not too many. So the first
size that flips is the smallest among the candidates, and is called proven.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from explainer_core.debugging.asking import Asked
from explainer_core.debugging.candidates import CANDIDATES, Candidate, slots_differ

MOST_SETS = 40_000  # of one size that are all tried: three of sixty are 34,220
BEAM = 12  # sets that are carried on to the next size
FIRST_PIECE, PIECE = (
    100,
    4_000,
)  # sets, the most promising ones first, that are asked about before it is looked whether one flips
SURE = 1e-5  # by which the new class must be ahead: less may be rounding
TRIED_AGAIN = 20  # sets that flip here whose graph is built anew, until one flips there too

Ahead = Callable[[np.ndarray], np.ndarray]  # from logits (R, C) to how far the wanted class is ahead: (R,)
Asking = Generator[Asked, np.ndarray, "Found"]


@dataclass(frozen=True)
class Found:
    """What a search ended with. Without a set, no set of at most `exhausted` candidates flips it."""

    chosen: tuple[Candidate, ...] | None
    exhausted: int  # every set of so many candidates, and of fewer, was tried in vain
    tried: int


@dataclass
class Search:
    """One search. `affordable` sets of the first candidates are tried exhaustively; `more` are candidates for the beam alone."""

    candidates: list[Candidate]
    more: Callable[[], list[Candidate]]
    ahead: Ahead
    verified: Callable[[Sequence[Candidate]], bool]
    most: int
    affordable: int = MOST_SETS

    def __post_init__(self):
        self.tried, self.exhausted, self.whole = 0, 0, len(self.candidates)
        self.certain = self.most  # up to which size every set that flips here was built anew

    def run(self) -> Asking:
        singles = np.arange(self.whole)[:, None]
        margin = yield from self._ask(singles)
        chosen = yield from self._best(singles, margin)
        if self.whole > CANDIDATES and chosen is None:  # of several kinds: sets are made of those that lead furthest
            order = _first(margin, self.whole)
            self.candidates, margin = [self.candidates[i] for i in order.tolist()], margin[order]
            self.whole = CANDIDATES
        if chosen is None and self.most:
            more = self.more()
            self.candidates = [*self.candidates, *more]
            others = np.arange(len(singles), len(self.candidates))[:, None]
            singles, margin = (
                np.concatenate([singles, others]),
                np.concatenate([margin, (yield from self._ask(others))]),
            )
            self.exhausted = 1
            chosen = yield from self._best(singles, margin)
        beam, worth = singles[_first(margin, BEAM)], margin
        for size in range(2, self.most + 1):
            if chosen is not None or len(self.candidates) < size:
                break
            chosen, beam = yield from self._size(size, beam, worth)
        if chosen is None and self.exhausted >= len(self.candidates):
            self.exhausted = self.most  # there are no larger sets
        return Found(None if chosen is None else self._named(chosen), min(self.exhausted, self.certain), self.tried)

    def _size(self, size: int, beam: np.ndarray, worth: np.ndarray) -> Generator[Asked, np.ndarray, tuple]:
        """The best set of a size, or None, and the sets to carry on."""
        order = _first(worth, 4 * BEAM)  # single changes that lead furthest
        grown = np.array([[*each, single] for each in beam.tolist() for single in order.tolist() if single not in each])
        sets = np.unique(np.sort(grown.reshape(-1, size), axis=1), axis=0)
        sets = sets[slots_differ(self.candidates, sets)]
        chosen, margin, sets = yield from self._in_pieces(sets, worth)
        beam = sets[_first(margin, BEAM)]
        if chosen is not None or self.exhausted < size - 1 or comb(self.whole, size) > self.affordable:
            return chosen, beam
        every = np.array(list(combinations(range(self.whole), size)), dtype=np.int64).reshape(-1, size)
        chosen, margin, sets = yield from self._in_pieces(every[slots_differ(self.candidates, every)], worth)
        if chosen is None:
            self.exhausted, beam = size, sets[_first(margin, BEAM)]
        return chosen, beam

    def _in_pieces(self, sets: np.ndarray, worth: np.ndarray) -> Generator[Asked, np.ndarray, tuple]:
        """The best of the first piece that has a set that flips, or None; the margins of all that were asked, and those sets."""
        sets = sets[np.argsort(-worth[sets].sum(1), kind="stable")]
        margins = [np.empty(0)]
        for piece in np.split(sets, [FIRST_PIECE, *range(PIECE, len(sets), PIECE)] if len(sets) > FIRST_PIECE else []):
            margins.append((yield from self._ask(piece)))
            chosen = yield from self._best(piece, margins[-1])
            if chosen is not None:
                return chosen, np.concatenate(margins), sets[: sum(map(len, margins))]
        return None, np.concatenate(margins), sets

    def _ask(self, sets: np.ndarray) -> Generator[Asked, np.ndarray, np.ndarray]:
        if not len(sets):
            return np.empty(0)
        self.tried += len(sets)
        return self.ahead((yield Asked(self.candidates, sets)))

    def _best(self, sets: np.ndarray, margin: np.ndarray) -> Generator[Asked, np.ndarray, np.ndarray | None]:
        """Of the sets that flip, the one nearest to the target, and of those the surest; none of its changes can be left out."""
        flips = np.flatnonzero(margin > SURE)
        distance = np.array([each.distance for each in self.candidates])
        order = flips[np.lexsort((-margin[flips], distance[sets[flips]].sum(1)))]
        for at in order[:TRIED_AGAIN].tolist():
            least = yield from self._pruned(sets[at])
            if self.verified(self._named(least)):
                return least
        if len(order) > TRIED_AGAIN:
            self.certain = min(self.certain, sets.shape[1] - 1)
        return None

    def _pruned(self, chosen: np.ndarray) -> Generator[Asked, np.ndarray, np.ndarray]:
        """The set without what it can do without."""
        while len(chosen) > 1:
            fewer = np.stack([np.delete(chosen, i) for i in range(len(chosen))])
            margin = yield from self._ask(fewer)
            if margin.max() <= 0:
                break
            chosen = fewer[int(margin.argmax())]
        return chosen

    def _named(self, chosen: np.ndarray) -> tuple[Candidate, ...]:
        return tuple(self.candidates[i] for i in chosen.tolist())


def _first(values: np.ndarray, count: int) -> np.ndarray:
    """Where the largest are."""
    return np.argsort(-values, kind="stable")[:count]


def affordable_sets(cost: int, budget: int) -> int:
    """How many sets of one size may be tried, where each costs so much."""
    return min(MOST_SETS, budget // max(1, cost))
