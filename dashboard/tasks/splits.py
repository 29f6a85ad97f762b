"""Which part of the data each node or graph was in when its network was trained."""

import numpy as np

from dashboard import catalogue
from dashboard.cache import Cache
from dashboard.tasks.subjects import card_of, load_data, load_graph
from dashboard.view.model_text import is_borrowed
from explainer_core.datasets.splits import PARTS, split_of
from explainer_core.device import pick_device
from explainer_core.zoo.tasks import LinkTask

_PARTS: Cache[np.ndarray | None] = Cache(16)
_PAIRS: Cache[dict[tuple[int, int], str]] = Cache(16)


def parts_of(dataset: str, model: str) -> np.ndarray | None:
    """ "train", "val" or "test" for each node or graph, "" for one in no part; None where a network was trained on other data, or on pairs."""
    return _PARTS.get_or_create((dataset, model), lambda: _parts(dataset, model))


def parts_of_pairs(dataset: str, model: str) -> dict[tuple[int, int], str]:
    """The part of each pair that a link network was trained or tested with, joined or not; the smaller node first.

    None is known of a network that does not tell how it was trained.
    """

    def make() -> dict[tuple[int, int], str]:
        card = card_of(dataset, model)
        if "seed" not in card.split:
            return {}
        task = LinkTask(load_graph(dataset), card.split["seed"], pick_device())
        found: dict[tuple[int, int], str] = {}
        for part in ("test", "val", "train"):  # a pair that is drawn twice is counted where it was tested
            for one, other in task.pairs(part).t().tolist():
                found.setdefault((min(one, other), max(one, other)), part)
        return found

    return _PAIRS.get_or_create((dataset, model), make)


def _parts(dataset: str, model: str) -> np.ndarray | None:
    card, given = card_of(dataset, model), catalogue.parts_given(dataset)
    if card.task == "link" or not card.split:
        return None
    if given is not None:
        return given
    data = load_data(dataset)
    if data.labels is None or is_borrowed(card) or any(part not in card.split for part in PARTS):
        return None
    split = split_of(data, data.labels, card.split.get("seed", card.seed))
    if any(len(split[part]) != card.split[part] for part in PARTS):
        return None  # trained on a split of another kind
    found = np.full(len(data.labels), "", dtype="<U5")
    for part, chosen in split.items():
        found[chosen.numpy()] = part
    return found
