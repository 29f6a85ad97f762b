"""What visitors brought: data and networks of the zoo, each found by the token in its visitor's browser only.

They lie in a folder of the server that nobody else may read, as safetensors and JSON, so that worker processes can read
them; they go when their visitor has been away for an hour, and with the server. A data set's name is made from its content
and from the token: nobody can guess it, and no two visitors share one.
"""

import hashlib
import hmac
import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dashboard.cache import forget
from dashboard.catalogue.entry import Entry, NotHere, python_of_weights
from dashboard.limits import MB
from dashboard.private_folder import private_folder
from explainer_core import Card, DatasetInfo, Graph, GraphSet, Model
from explainer_core.graph.files import from_bytes, to_bytes
from explainer_core.zoo.pretrained import PretrainedError, load_weights, read_card, save_card, write_atomically

PREFIX = "own-"
NAME = re.compile(r"own-[0-9a-f]{32}")
MODEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MOST_OF_ONE = 128 * MB  # bytes of all that one visitor brought
MOST_IN_ALL = 1024 * MB
MOST_NETWORKS = 10  # of one data set
AWAY = 3600.0  # seconds without their visitor after which data are dropped
TIDY_EVERY = 60.0  # seconds
TIDYING = "visitors' data"  # the name of the thread
GONE = "your data is not on this server any more: it is dropped after an hour without you; bring it again"


@dataclass
class _Brought:
    title: str
    size: int
    summary: str
    task: str
    python: str  # an expression that reads the same data
    cards: list[Card] = field(default_factory=list)
    models: set[str] = field(default_factory=set)  # all names that a network ever had
    training: Any = None  # the last one on these data


@dataclass
class _Visitor:
    seen_at: float
    brought: dict[str, _Brought] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(each.size for each in self.brought.values())


_lock = threading.RLock()
_visitors: dict[str, _Visitor] = {}
_known: set[str] = set()  # what this process has read; it is forgotten once its folder is gone
_clock: Callable[[], float] = time.monotonic
_watched: list[Callable[[str], bool]] = []  # who tells whether a visitor is there


# What a page asks, always with the token of its visitor


def add(
    token: str,
    title: str,
    data: Graph | GraphSet,
    *,
    task: str | None = None,
    summary: str = "",
    python: str = "...  # your data, as xc.Graph",
) -> str:
    """Keeps data for one visitor; returns the name it goes by from now on. The same data again is the same name.

    `task` is what its networks predict: "node" or "link" of a graph, "graph" of a set; `python` is an expression that reads
    the same data. Raises ValueError with one sentence where there is no room.
    """
    content = to_bytes(data)
    name = PREFIX + hmac.new(token.encode(), content, hashlib.sha256).hexdigest()[:32]
    with _lock:
        drop_the_absent()
        visitor = _visitors.setdefault(token, _Visitor(_clock()))
        visitor.seen_at = _clock()
        if name not in visitor.brought:
            _check_room(visitor, len(content))
            folder = private_folder() / name
            folder.mkdir(mode=0o700, exist_ok=True)
            write_atomically(folder / "data.safetensors", content)
        usual = "graph" if isinstance(data, GraphSet) else "node"
        before = visitor.brought.get(name) or _Brought(title, len(content), summary, task or usual, python)
        visitor.brought[name] = replace(before, title=title, summary=summary, task=task or usual, python=python)
    return name


def add_network(token: str, dataset: str, card: Card, weights: bytes) -> str:
    """Keeps a network of the zoo for data that this visitor brought: its card, and its weights as safetensors.

    Returns the name it goes by, which has a number at its end where the card's was taken: a name never comes to stand for
    other weights. Raises ValueError with one sentence for weights that do not fit the card, or where there is no room.
    """
    with _lock:
        visitor, brought = _find(token, dataset)
        if len(brought.cards) >= MOST_NETWORKS:
            raise ValueError(f"data of yours may have at most {MOST_NETWORKS} networks (got one more); drop one first")
        _check_room(visitor, len(weights))
        if not MODEL.fullmatch(card.model):
            raise ValueError(
                f"a network's name must be up to 40 small letters, digits, - or _ (got {card.model[:60]!r})"
            )
        number, model = 1, card.model
        while model in brought.models:
            number += 1
            model = f"{card.model}-{number}"
        digest = hashlib.sha256(weights).hexdigest()
        card = replace(card, dataset=dataset, model=model, main=not brought.cards, sha256=digest, weights="")
        path = private_folder() / dataset / f"{card.name}.safetensors"
        try:
            write_atomically(path, weights)
            save_card(card, folder=private_folder() / dataset)
            load_weights(card, folder=private_folder() / dataset, device="cpu")
        except PretrainedError as error:
            path.unlink(missing_ok=True)
            path.with_suffix(".json").unlink(missing_ok=True)
            raise ValueError(str(error).partition("; restore the file")[0]) from error
        brought.cards.append(card)
        brought.models.add(model)
        brought.size += len(weights)
    return model


def drop_network(token: str, dataset: str, model: str) -> None:
    """Deletes a network of this visitor; its name is never given again. The first of the others is then the main one."""
    with _lock:
        _, brought = _find(token, dataset)
        card = next((each for each in brought.cards if each.model == model), None)
        if card is None:
            return  # another tab was quicker
        folder = private_folder() / dataset
        weights = folder / f"{card.name}.safetensors"
        brought.size -= weights.stat().st_size
        brought.cards.remove(card)
        weights.unlink()
        weights.with_suffix(".json").unlink()
        if card.main and brought.cards:
            brought.cards[0] = replace(brought.cards[0], main=True)
            save_card(brought.cards[0], folder=folder)


def set_training(token: str, dataset: str, training: Any) -> None:
    """What is being trained on these data, or was last; it goes with them."""
    with _lock:
        _find(token, dataset)[1].training = training


def trainings(token: str) -> dict[str, Any]:
    """The last training on each data set of this visitor."""
    with _lock:
        visitor = _visitors.get(token) or _Visitor(0.0)
        return {name: each.training for name, each in visitor.brought.items() if each.training is not None}


def all_trainings() -> list[Any]:
    with _lock:
        return [training for token in _visitors for training in trainings(token).values()]


def of(token: str) -> list[Entry]:
    """What this visitor brought, in the order they brought it."""
    with _lock:
        drop_the_absent()
        visitor = _visitors.get(token)
        if visitor is None:
            return []
        visitor.seen_at = _clock()
        return [_entry(name, each) for name, each in visitor.brought.items()]


def drop(token: str, dataset: str) -> None:
    """Deletes data of this visitor with its networks and all that was worked out of it."""
    with _lock:
        visitor, _ = _find(token, dataset)
        _delete(visitor, dataset)


def room_left(token: str) -> int:
    """Bytes that this visitor may still bring."""
    with _lock:
        taken = _visitors[token].size if token in _visitors else 0
        return max(0, min(MOST_OF_ONE - taken, MOST_IN_ALL - _taken()))


def _find(token: str, dataset: str) -> tuple[_Visitor, _Brought]:
    visitor = _visitors.get(token)
    if visitor is None or dataset not in visitor.brought:
        raise NotHere(GONE)
    return visitor, visitor.brought[dataset]


def _taken() -> int:
    return sum(visitor.size for visitor in _visitors.values())


def _check_room(visitor: _Visitor, size: int) -> None:
    if visitor.size + size > MOST_OF_ONE:
        raise ValueError(
            f"what you bring may take {MOST_OF_ONE // MB} MB in all (this would be {(visitor.size + size) / MB:.0f} MB); "
            "drop some of it first, or bring less"
        )
    if _taken() + size > MOST_IN_ALL:
        raise ValueError(
            f"all visitors' data may take {MOST_IN_ALL // MB} MB on this server (no room for {size / MB:.0f} MB more); try "
            "again later: data is dropped after an hour without its visitor"
        )


# Who is away


def watch_presence(present: Callable[[str], bool]) -> None:
    """Tells whether a page of the token's visitor is open now."""
    _watched[:] = [present]


def seconds_away(token: str, dataset: str) -> float:
    """How long the visitor has had no page open; raises NotHere where their data is gone."""
    with _lock:
        visitor, _ = _find(token, dataset)
        if any(present(token) for present in _watched):
            visitor.seen_at = _clock()
        return _clock() - visitor.seen_at


def drop_the_absent() -> None:
    with _lock:
        now = _clock()
        for token, visitor in list(_visitors.items()):
            if any(present(token) for present in _watched):
                visitor.seen_at = now
            elif now - visitor.seen_at > AWAY:
                for dataset in list(visitor.brought):
                    _delete(visitor, dataset)
                del _visitors[token]


def _delete(visitor: _Visitor, dataset: str) -> None:
    del visitor.brought[dataset]
    shutil.rmtree(private_folder() / dataset, ignore_errors=True)
    _known.discard(dataset)
    forget(dataset)


# What the server and its workers read, by a name that a page was given


def read(dataset: str) -> Entry:
    """Raises NotHere for what is not, or no longer, in the server's folder."""
    forget_the_gone()
    folder = _folder(dataset)
    _known.add(dataset)
    with _lock:
        for visitor in _visitors.values():
            if dataset in visitor.brought:
                return _entry(dataset, visitor.brought[dataset])
    # a worker, which knows of nobody
    cards = [read_card(path) for path in sorted(folder.glob(f"{dataset}_*.json"))]
    return _entry(dataset, _Brought("", 0, "", "", "", cards))


def _entry(dataset: str, brought: _Brought) -> Entry:
    info = DatasetInfo(dataset, brought.title, brought.task, brought.summary, partial(_load_data, dataset))
    networks = {card.model: python_of_weights(card) for card in brought.cards}
    return Entry(info, tuple(brought.cards), partial(_load_model, dataset), python=(brought.python, networks))


def _load_data(dataset: str) -> Graph | GraphSet:
    return from_bytes((_folder(dataset) / "data.safetensors").read_bytes())


def _load_model(dataset: str, model: str) -> Model:
    folder = _folder(dataset)
    path = folder / f"{dataset}_{model}.json"
    if not MODEL.fullmatch(model) or not path.exists():
        raise NotHere(GONE)
    return load_weights(read_card(path), folder=folder)


def _folder(dataset: str) -> Path:
    if not NAME.fullmatch(dataset) or not (private_folder() / dataset).is_dir():
        raise NotHere(GONE)
    return private_folder() / dataset


def forget_the_gone() -> None:
    """A worker is told nothing: it sees that a folder is gone."""
    for dataset in [each for each in _known if not (private_folder() / each).is_dir()]:
        _known.discard(dataset)
        forget(dataset)


def keep_tidy() -> None:
    """In the server and in its workers: nothing is kept for those who are gone, whether or not anybody asks."""

    def tidy() -> None:
        while True:
            time.sleep(TIDY_EVERY)
            drop_the_absent()
            forget_the_gone()

    if not any(thread.name == TIDYING for thread in threading.enumerate()):
        threading.Thread(target=tidy, name=TIDYING, daemon=True).start()
