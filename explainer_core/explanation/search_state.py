"""What a search asks the model, what it is answered, what it knows of a part, and which pairs it looks at."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Question:
    """Parts the model is asked about, as rows of booleans over some of the explanation's pairs."""

    alone: np.ndarray  # (a, considered)
    without: np.ndarray  # (b, considered)
    considered: np.ndarray  # (considered,): numbers of pairs
    num_pairs: int

    def over_pairs(self, rows: np.ndarray) -> np.ndarray:
        """The same rows over all pairs: (rows, u)."""
        wide = np.zeros((len(rows), self.num_pairs), dtype=bool)
        wide[:, self.considered] = rows
        return wide

    def names(self, rows: np.ndarray) -> list[bytes]:
        """The pairs of each row as bytes, the same whatever pairs are considered beside them."""
        part, at = rows.nonzero()
        pairs = self.considered[at]
        pairs = pairs[np.lexsort((pairs, part))].astype(np.int32)
        ends = np.cumsum(rows.sum(1)) * pairs.itemsize
        together = pairs.tobytes()
        return [together[a:b] for a, b in pairwise([0, *ends.tolist()])]


@dataclass(frozen=True)
class Answer:
    alone: np.ndarray  # (a, C)
    without: np.ndarray  # (b, C)


@dataclass(eq=False, slots=True)
class Part:
    """A part among the considered edges, and what is known of it."""

    row: np.ndarray  # (considered,) bool
    key: bytes  # the same as it is found by
    size: int
    origin: str
    alone: float
    keeps_class: bool
    score: float  # sufficiency + necessity; the latter a guess until the model is asked
    without: float | None = None
    phase: int = 0  # of the search in which it was found
    preference: tuple | None = None  # worked out when it is asked for


@dataclass(frozen=True)
class Asked:
    """What is searched for: the class, its probability, and what alone counts as all of it."""

    label: int
    full: float
    ceiling: float  # the whole probability, or one where the model predicts another class


def considered_pairs(
    steady: Sequence[list[int]], others: Sequence[list[int]], num_pairs: int, most: int
) -> tuple[np.ndarray, int]:
    """The pairs that come first in any of the orders, at most so many of each kind, and how many are of the first kind.

    Each kind is sorted. The first does not depend on the start, and neither do its positions.
    """
    found = _first_of(steady, num_pairs, most)
    more = np.setdiff1d(_first_of(others, num_pairs, most), found)
    return np.concatenate([found, more]), len(found)


def _first_of(orders: Sequence[list[int]], num_pairs: int, most: int) -> np.ndarray:
    rank = np.full(num_pairs, np.inf)
    for order in orders:
        rank[order] = np.minimum(rank[order], np.arange(len(order)))
    first = np.argsort(rank, kind="stable")[:most]
    return np.sort(first[np.isfinite(rank[first])])


def keys_of(rows: np.ndarray) -> list[bytes]:
    """Each row of booleans as bytes, to be found by."""
    packed = np.packbits(rows, axis=1)
    width, together = packed.shape[1], packed.tobytes()
    return [together[i : i + width] for i in range(0, len(together), width)]
