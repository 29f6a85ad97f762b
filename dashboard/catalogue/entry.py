"""One data set that did not ship, with its networks."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from dashboard.first_look import FirstLook
from explainer_core import Card, DatasetInfo, Model, ModelSpec

SHIPPED, LAUNCHED, OWN = "shipped", "launched", "own"


class NotHere(ValueError):
    """Data or a network that is not on this server, or is no longer."""


@dataclass(frozen=True, eq=False)
class Entry:
    """`info.load()` gives the data, which caches keep by name; a name never comes to stand for something else."""

    info: DatasetInfo
    cards: tuple[Card, ...]
    load_model: Callable[[str], Model]
    parts: np.ndarray | None = None  # "train", "val", "test" or "" for each node or graph, where that is known
    first: FirstLook | None = None
    python: tuple[str, dict[str, str]] = ("", {})  # expressions for the data, and for each network by its name

    def card(self, model: str) -> Card:
        found = next((card for card in self.cards if card.model == model), None)
        if found is None:
            known = ", ".join(card.model for card in self.cards) or "none"
            raise NotHere(f"model must be one of these data: {known} (got {model[:80]!r})")
        return found


def weights_name(card: Card) -> str:
    """What the file is called in which a visitor gets the weights of a network."""
    return f"{card.model}.safetensors"


def python_of_weights(card: Card) -> str:
    """An expression that reads that file."""
    usual = {each.name: each.default for each in fields(ModelSpec)}
    sizes = ", ".join(f"{name}={value!r}" for name, value in card.architecture.items() if value != usual[name])
    return f"xc.read_network({weights_name(card)!r}, xc.ModelSpec({sizes}))  # Weights, from Your own graph"
