"""Trained weights on disk: NAME.safetensors with a JSON card beside it, checked before anything is believed."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from explainer_core import checks
from explainer_core.datasets.registry import DATASETS, dataset_info
from explainer_core.device import pick_device
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.compared import MethodsCompared
from explainer_core.zoo.shipped import FOLDER
from explainer_core.zoo.training import TrainConfig, freeze
from explainer_core.zoo.weight_shapes import check_shapes

MAX_CARD_BYTES = 100_000
MAX_WEIGHT_BYTES = 200_000_000


class PretrainedError(ValueError):
    """A weight file or card that is missing, broken, or not what it says it is."""


@dataclass(frozen=True)
class Card:
    """What a trained network is, how it came to be and how well it does. Accuracies are shares of one."""

    dataset: str
    model: str
    main: bool
    task: str
    architecture: dict
    training: dict
    seed: int
    split: dict
    train_accuracy: float | None
    val_accuracy: float | None
    test_accuracy: float | None  # None where there is nothing to measure it on
    majority_accuracy: float | None  # what always naming the commonest class would score on the same test part
    best_epoch: int
    epochs: int
    command: str
    torch_version: str
    sha256: str
    fresh_graph_accuracy: float | None = None
    fresh_graph_seed: int | None = None
    test_auc: float | None = None  # of link models
    shelf_accuracy: float | None = None  # of Mutagenicity models, on the well-known molecules
    notes: list[str] = field(default_factory=list)
    compared: dict | None = None  # methods over the data set, as MethodsCompared.to_dict has them
    shelf_compared: dict | None = None  # the same of Mutagenicity models, on the well-known molecules
    weights: str = ""  # the file's name without its ending; another data set's where the model is borrowed

    @property
    def name(self) -> str:
        return file_name(self.dataset, self.model)

    @property
    def methods_compared(self) -> MethodsCompared | None:
        """How the methods do over the data set; None where nobody has measured it."""
        return None if self.compared is None else MethodsCompared.from_dict(self.compared)

    def to_dict(self) -> dict:
        return asdict(self)


def load_pretrained(dataset: str, model: str | None = None, *, folder: Path = FOLDER, device=None) -> GNN:
    """A trained network in eval mode with its parameters frozen; without a name, the data set's main one."""
    card = find_card(dataset, model, folder=folder)
    return load_weights(card, folder=folder, device=device)


def find_card(dataset: str, model: str | None = None, *, folder: Path = FOLDER) -> Card:
    cards, broken = read_cards(folder)
    known = {card.model: card for card in _cards_of(dataset, cards)}
    asked = model if isinstance(model, str) else ""
    chosen = [card for card in known.values() if (card.main if model is None else card.model == asked)]
    if chosen:
        return chosen[0]
    wanted = file_name(_owner(dataset), asked)
    for name, error in broken.items():
        if name in ("", wanted) or (model is None and name.startswith(wanted)):
            raise PretrainedError(str(error)) from error.__cause__  # kept for the next: each raise would add to it
    raise PretrainedError(
        f"model must be one trained for {dataset!r}: {', '.join(known) or 'none'} (got {checks.shown(model)}); "
        "others: python -m explainer_core train"
    )


def list_cards(dataset: str | None = None, *, folder: Path = FOLDER) -> list[Card]:
    """The cards of one data set, or of all in the order of the registry; main models first.

    A network whose card or weights cannot be read is left out; `read_cards` says why.
    """
    cards, _ = read_cards(folder)
    return [card for name in (DATASETS if dataset is None else (dataset,)) for card in _cards_of(name, cards)]


def read_cards(folder: Path = FOLDER) -> tuple[list[Card], dict[str, PretrainedError]]:
    """Every card with the weights it describes; and by file name, without the ending, why each of the others is none.

    The folder itself, where it cannot be read, has the name "". Files are read again only where one has changed: a page asks
    with every click.
    """
    try:
        with os.scandir(folder) as entries:
            state = sorted(_state(entry) for entry in entries if not entry.name.startswith("."))
    except FileNotFoundError:
        return [], {}
    except OSError as error:
        reason = (
            f"the folder of trained networks must be readable (got {error.strerror} for {folder}); change its rights"
        )
        return [], {"": PretrainedError(reason)}
    cards, broken = _read_cards(folder, tuple(state))
    if any(isinstance(error.__cause__, OSError) for error in broken.values()):
        _read_cards.cache_clear()  # that may be another time, with no file changed
    return list(cards), dict(broken)


def _state(entry: os.DirEntry) -> tuple:
    """What differs once a file was written, replaced, or had its rights changed."""
    try:
        found = entry.stat()
    except OSError:  # it has just gone
        return (entry.name,)
    return entry.name, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(8)
def _read_cards(folder: Path, state: tuple[tuple, ...]) -> tuple[list[Card], dict[str, PretrainedError]]:
    cards, broken = [], {}
    for name in (name for name, *_ in state if name.endswith(".json")):
        try:
            card = read_card(folder / name)
            read_weights(card, folder)
            cards.append(card)
        except PretrainedError as error:
            broken[name.removesuffix(".json")] = error
    return cards, broken


def _owner(dataset: str) -> str:
    """The data set whose models judge this one."""
    return dataset_info(dataset).models_of or dataset


def _cards_of(dataset: str, cards: Sequence[Card]) -> list[Card]:
    owner = _owner(dataset)
    own = sorted((card for card in cards if card.dataset == owner), key=lambda card: (not card.main, card.model))
    return own if owner == dataset else [_borrowed(card, dataset) for card in own if card.shelf_accuracy is not None]


def read_card(path: Path) -> Card:
    """A card from its file; anything odd about it is a PretrainedError that names the file."""
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= MAX_CARD_BYTES else ""
        values = json.loads(text) if text else None
    except (OSError, ValueError, RecursionError) as error:
        raise PretrainedError(
            f"{path.name} is not a readable card ({checks.cut(str(error))}); restore it or train the model again"
        ) from error
    if size > MAX_CARD_BYTES or not isinstance(values, dict):
        raise PretrainedError(
            f"a card must be a JSON object of at most {MAX_CARD_BYTES:,} bytes (got {size:,} bytes in {path.name}); "
            "restore it or train the model again"
        )
    known = {f.name: f for f in fields(Card)}
    missing = {name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING} - set(values)
    if missing or set(values) - set(known):
        raise PretrainedError(
            f"{path.name} is not a card: missing {checks.shown(sorted(missing))}, "
            f"unknown {checks.shown(sorted(set(values) - set(known)))}; restore it or train the model again"
        )
    try:
        for name, value in values.items():
            checks.typed(f"{name} on a card", value, known[name].type)
            if name.endswith(("accuracy", "auc")) and value is not None:
                checks.share(f"{name} on a card", value)
        card = Card(**values)
        _check_card(card, path.stem)
    except (ValueError, TypeError) as broken:
        raise PretrainedError(
            f"{checks.cut(str(broken), 300)} in {path.name}; restore it or train the model again"
        ) from broken
    return card


def _check_card(card: Card, stem: str) -> None:
    """What the fields must be to each other, and to the file: a card names its own weights and no other file."""
    if card.name != stem or card.weights:
        raise checks.InvalidValue(f"dataset, model and weights on a card must name its own file, {stem!r}", card.name)
    try:
        spec = ModelSpec(**card.architecture)
    except (ValueError, TypeError) as broken:
        raise ValueError(f"architecture on a card must be one of a network: {broken}") from broken
    if spec.task != card.task:
        raise checks.InvalidValue(f"task on a card must be that of its architecture, {spec.task}", card.task)
    try:
        TrainConfig(**card.training)
    except (ValueError, TypeError) as broken:
        raise ValueError(f"training on a card must be settings of a training: {broken}") from broken
    for part, value in card.split.items():
        checks.typed(f"{part} of the split on a card", value, str if part == "rule" else int)
    for name in ("compared", "shelf_compared"):
        if getattr(card, name) is not None:
            try:
                MethodsCompared.from_dict(getattr(card, name))
            except (ValueError, TypeError) as broken:
                raise ValueError(f"{name} on a card must be a comparison of methods: {broken}") from broken


def read_weights(card: Card, folder: Path = FOLDER) -> bytes:
    """The weight file of a card, if it is the one that the card describes."""
    path = folder / f"{card.weights or card.name}.safetensors"
    try:
        size = path.stat().st_size
        if size > MAX_WEIGHT_BYTES:
            raise PretrainedError(
                f"weights must be under {MAX_WEIGHT_BYTES:,} bytes (got {size:,} in {path.name}); {_way_out(card)}"
            )
        data = path.read_bytes()
    except OSError as error:
        raise PretrainedError(f"no weights at {path} ({error.strerror}); {_way_out(card)}") from error
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise PretrainedError(f"{path.name} is not the file its card describes: the checksum differs; {_way_out(card)}")
    return data


def _way_out(card: Card) -> str:
    return f"restore the file, or run: {checks.cut(card.command, 200)}"


def load_weights(card: Card, *, folder: Path = FOLDER, device=None) -> GNN:
    """The card's network, built from its architecture and filled from its weight file."""
    data = read_weights(card, folder)
    name = f"{card.weights or card.name}.safetensors"
    try:
        spec, weights = ModelSpec(**card.architecture), load(data)
        check_shapes(spec, weights)
        model = GNN(spec)
        model.load_state_dict(weights)
    except (SafetensorError, TypeError, ValueError, RuntimeError) as error:
        reason = checks.cut(str(error).splitlines()[0])
        raise PretrainedError(f"{name} does not fit the network on its card ({reason}); {_way_out(card)}") from error
    if not all(torch.isfinite(values).all() for values in model.state_dict().values()):
        raise PretrainedError(f"{name} holds weights that are not finite numbers; {_way_out(card)}")
    return freeze(model.to(device or pick_device()))


def save_pretrained(model: GNN, card: Card, *, folder: Path = FOLDER) -> Card:
    """Writes weights and card, each in one step so that a reader never meets half a file. Returns the final card."""
    folder.mkdir(parents=True, exist_ok=True)
    data = save({name: values.cpu().contiguous() for name, values in model.state_dict().items()})
    card = replace(card, sha256=hashlib.sha256(data).hexdigest())
    write_atomically(folder / f"{card.name}.safetensors", data)
    save_card(card, folder=folder)
    return card


def save_card(card: Card, *, folder: Path = FOLDER) -> Path:
    """Writes a card alone, after checking it as a reader would."""
    _check_card(card, card.name)
    path = folder / f"{card.name}.json"
    write_atomically(path, (json.dumps(card.to_dict(), indent=1) + "\n").encode())
    return path


def file_name(dataset: str, model: str) -> str:
    return f"{dataset}_{model}"


def _borrowed(card: Card, dataset: str) -> Card:
    """The card as seen from a data set that has no models of its own."""
    return replace(
        card,
        dataset=dataset,
        weights=card.name,
        train_accuracy=None,
        val_accuracy=None,
        test_accuracy=card.shelf_accuracy,
        majority_accuracy=0.0,
        compared=card.shelf_compared,
        shelf_compared=None,
    )


def write_atomically(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
