"""Which part of the data each node or graph was in when its network was trained."""

import numpy as np

from dashboard.cache import Cache
from dashboard.tasks.subjects import card_of, load_data
from dashboard.view.model_text import is_borrowed
from explainer_core.datasets.splits import PARTS, split_80_10_10
from explainer_core.graph import NO_LABEL

_PARTS: Cache[np.ndarray | None] = Cache(16)


def parts_of(dataset: str, model: str) -> np.ndarray | None:
    """ "train", "val" or "test" for each node or graph; None where a network was trained on other data, or on pairs."""
    return _PARTS.get_or_create((dataset, model), lambda: _parts(dataset, model))


def _parts(dataset: str, model: str) -> np.ndarray | None:
    card, labels = card_of(dataset, model), load_data(dataset).labels
    if card.task == "link" or labels is None or bool((labels == NO_LABEL).any()) or is_borrowed(card):
        return None
    split = split_80_10_10(labels.numpy(), card.split.get("seed", card.seed))
    if any(len(split[part]) != card.split.get(part) for part in PARTS):
        return None  # trained on a split of another kind
    found = np.empty(len(labels), dtype="<U5")
    for part, chosen in split.items():
        found[chosen.numpy()] = part
    return found
