"""Data and networks by name, from three sources: what ships, what this server was started with, what a visitor brought.

Pages ask what there is for their visitor (`datasets`, `brought_cards`); everything behind them asks by a name that a page was given.
A worker process answers the same: it finds what a visitor brought in the server's folder, by that name.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import explainer_core as xc
from dashboard.catalogue import launched, own
from dashboard.catalogue.entry import LAUNCHED, OWN, SHIPPED, Entry, NotHere
from explainer_core import Card, DatasetInfo, Graph, GraphSet, Model
from explainer_core.zoo.pretrained import find_card, load_weights, read_cards

__all__ = [
    "LAUNCHED",
    "OWN",
    "SHIPPED",
    "Entry",
    "NotHere",
    "broken_cards",
    "brought_cards",
    "card_of",
    "connect",
    "datasets",
    "load_data",
    "load_model",
    "missing_sentence",
    "parts_given",
    "python_of",
    "shipped_cards",
    "source_of",
    "token",
]


@dataclass
class _Here:
    token: Callable[[], str | None] = lambda: None


_here = _Here()


def connect(token: Callable[[], str | None]) -> None:
    """The random token of whoever asks, in the thread that asks: what they brought is found by it alone."""
    _here.token = token


def token() -> str | None:
    return _here.token()


# What there is for the visitor who asks


def datasets() -> dict[str, DatasetInfo]:
    """What the server was started with first, then what the visitor brought, then what ships."""
    return {entry.info.name: entry.info for entry in _brought()} | xc.DATASETS


def brought_cards() -> list[Card]:
    return [card for entry in _brought() for card in entry.cards]


def shipped_cards() -> list[Card]:
    """In the order of the registry, main networks first; without those that cannot be read."""
    return xc.list_cards()


def broken_cards() -> dict[str, str]:
    """A sentence for each network that is left out, because its card or its weights cannot be read, by its file's name."""
    return {name: str(error) for name, error in read_cards()[1].items()}


def _brought() -> list[Entry]:
    asking = token()
    return [*launched.entries(), *(own.of(asking) if asking else ())]


# What a name stands for


def source_of(dataset: str) -> str:
    if dataset.startswith(own.PREFIX):
        return OWN
    return LAUNCHED if dataset.startswith(launched.PREFIX) else SHIPPED


def load_data(dataset: str) -> Graph | GraphSet:
    entry = _entry(dataset)
    return xc.load_dataset(dataset) if entry is None else entry.info.load()


def card_of(dataset: str, model: str) -> Card:
    entry = _entry(dataset)
    return find_card(dataset, model) if entry is None else entry.card(model)


def load_model(dataset: str, model: str) -> Model:
    entry = _entry(dataset)
    return load_weights(find_card(dataset, model)) if entry is None else entry.load_model(model)


def parts_given(dataset: str) -> np.ndarray | None:
    """ "train", "val", "test" or "" for each node or graph, where they came with the data."""
    entry = _entry(dataset)
    return None if entry is None else entry.parts


def python_of(dataset: str, model: str) -> tuple[str, str]:
    """Expressions that give the data and the network in Python."""
    entry = _entry(dataset)
    if entry is None:
        return f'xc.load_dataset("{dataset}")', f'xc.load_pretrained("{dataset}", "{model}")'
    return entry.python[0], entry.python[1][model]


def _entry(dataset: str) -> Entry | None:
    """None for what ships. Raises NotHere for what is not on this server."""
    source = source_of(dataset)
    if source == SHIPPED:
        return None
    return own.read(dataset) if source == OWN else launched.find(dataset)


def missing_sentence(dataset: str) -> str | None:
    """Why a data set that a link names is not here, where it is one that never shipped."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", dataset):
        return None
    if source_of(dataset) == OWN:
        return "this link needs your own data, which is not on this server (any more); bring it again"
    if source_of(dataset) == LAUNCHED:
        return "this link needs data that its server was started with, which this one was not; start that one again"
    return None
