"""An explanation at every size with what is said of each: plain data, and how it travels to the browser."""

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.view import legend
from dashboard.view.legend import Entry


@dataclass(frozen=True)
class Size:
    """What choosing one K_M shows and says. Edges and nodes are positions in the picture."""

    kept: tuple[int, ...]
    kept_nodes: tuple[int, ...]
    alone: float
    without: float
    keeps_class: bool
    badge: tuple[str, str]  # the icon and the word of the level
    headline: str
    sentence: str


@dataclass(frozen=True)
class Explained:
    """The explanation's words, its sizes from 1 on, and the one that is shown."""

    token: str  # tells one request from another
    sizes: tuple[Size, ...]
    weights: np.ndarray | None  # (sizes, edges of the picture), 0 to 1; None where they are the same for all
    labels: np.ndarray | None  # (sizes, nodes of the picture, 2), see labels.py; None where atoms have letters
    chosen: int
    auto: int  # the size that "auto" finds
    is_auto: bool
    unit: str
    full: float
    class_name: str
    starts: str  # what other starts say; empty until that is known
    figures: tuple[str, ...]
    legend: tuple[Entry, ...]


def payload(explained: Explained) -> dict:
    """For the browser; probabilities in full, so that what the curve promises is what comes."""
    parts = [
        [
            list(size.kept),
            list(size.kept_nodes),
            round(size.alone, 6),
            round(size.without, 6),
            int(size.keeps_class),
            *size.badge,
            size.headline,
            size.sentence,
        ]
        for size in explained.sizes
    ]
    return {
        "token": explained.token,
        "sizes": parts,
        "weights": None if explained.weights is None else packed_frames(explained.weights),
        "labels": None if explained.labels is None else _packed_rows(explained.labels.reshape(len(parts), -1)),
        "chosen": explained.chosen,
        "auto": explained.auto,
        "is_auto": explained.is_auto,
        "unit": explained.unit,
        "full": round(explained.full, 6),
        "class_name": explained.class_name,
        "starts": explained.starts,
        "figures": list(explained.figures),
        "legend": legend.payload(explained.legend),
    }


def packed_frames(weights: Sequence | np.ndarray) -> str:
    """Rows of weights (F, E) in 255 levels."""
    return _packed_rows(np.rint(np.clip(np.asarray(weights, float), 0, 1) * 255).astype(np.uint8))


def _packed_rows(rows: np.ndarray) -> str:
    """Rows of bytes (F, E), column by column as differences from one row to the next, deflated.

    Differences wrap around, and back in the browser. Edge by edge, a mask's steady way packs twice as well.
    """
    changes = np.diff(rows, axis=0, prepend=np.zeros_like(rows[:1])).T  # (E, F)
    return base64.b64encode(zlib.compress(changes.tobytes(), 9)).decode()
