"""Trained weights on disk: NAME.safetensors with a JSON card beside it, checked before anything is believed."""

import hashlib
import json
import os
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from explainer_core import checks
from explainer_core.datasets.registry import DATASETS, dataset_info
from explainer_core.device import pick_device
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.shipped import FOLDER
from explainer_core.zoo.training import freeze

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
    test_accuracy: float
    majority_accuracy: float  # what always naming the commonest class would score on the same test part
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
    weights: str = ""  # the file's name without its ending; another data set's where the model is borrowed

    @property
    def name(self) -> str:
        return file_name(self.dataset, self.model)

    def to_dict(self) -> dict:
        return asdict(self)


def load_pretrained(dataset: str, model: str | None = None, *, folder: Path = FOLDER, device=None) -> GNN:
    """A trained network in eval mode with its parameters frozen; without a name, the data set's main one."""
    card = find_card(dataset, model, folder=folder)
    return load_weights(card, folder=folder, device=device)


def find_card(dataset: str, model: str | None = None, *, folder: Path = FOLDER) -> Card:
    cards = {card.model: card for card in list_cards(dataset, folder=folder)}
    chosen = [card for card in cards.values() if (card.main if model is None else card.model == model)]
    if not chosen:
        known = ", ".join(cards) or "none"
        raise PretrainedError(
            f"model must be one trained for {dataset!r}: {known} (got {model!r}); others: python -m explainer_core train"
        )
    return chosen[0]


def list_cards(dataset: str | None = None, *, folder: Path = FOLDER) -> list[Card]:
    """The cards of one data set, or of all in the order of the registry; main models first."""
    if dataset is None:
        return [card for name in DATASETS for card in list_cards(name, folder=folder)]
    lender = dataset_info(dataset).models_of or dataset
    cards = [read_card(path) for path in sorted(folder.glob("*.json"))]
    cards = sorted((card for card in cards if card.dataset == lender), key=lambda card: (not card.main, card.model))
    return (
        cards if lender == dataset else [_borrowed(card, dataset) for card in cards if card.shelf_accuracy is not None]
    )


def read_card(path: Path) -> Card:
    """A card from its file; anything odd about it is a PretrainedError that names the file."""
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= MAX_CARD_BYTES else ""
        values = json.loads(text) if text else None
    except (OSError, ValueError) as error:
        raise PretrainedError(
            f"{path.name} is not a readable card ({error}); restore it or train the model again"
        ) from error
    if size > MAX_CARD_BYTES or not isinstance(values, dict):
        raise PretrainedError(
            f"a card must be a JSON object of at most {MAX_CARD_BYTES:,} bytes (got {size:,} bytes in {path.name})"
        )
    known = {f.name: f for f in fields(Card)}
    missing = {name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING} - set(values)
    if missing or set(values) - set(known):
        raise PretrainedError(
            f"{path.name} is not a card: missing {sorted(missing)}, unknown {sorted(set(values) - set(known))}"
        )
    for name, value in values.items():
        try:
            checks.typed(f"{name} on a card", value, known[name].type)
            if name.endswith(("accuracy", "auc")) and value is not None:
                checks.share(f"{name} on a card", value)
        except checks.InvalidValue as broken:
            raise PretrainedError(f"{broken.rule} (got {value!r:.60} in {path.name})") from broken
    return Card(**values)


def load_weights(card: Card, *, folder: Path = FOLDER, device=None) -> GNN:
    """The card's network, built from its architecture and filled from its weight file."""
    path = folder / f"{card.weights or card.name}.safetensors"
    way_out = f"restore the file, or run: {card.command}"
    try:
        size = path.stat().st_size
        if size > MAX_WEIGHT_BYTES:
            raise PretrainedError(
                f"weights must be under {MAX_WEIGHT_BYTES:,} bytes (got {size:,} in {path.name}); {way_out}"
            )
        data = path.read_bytes()
    except OSError as error:
        raise PretrainedError(f"no weights at {path} ({error.strerror}); {way_out}") from error
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise PretrainedError(f"{path.name} is not the file its card describes: the checksum differs; {way_out}")
    try:
        spec = ModelSpec(**card.architecture)
        model = GNN(spec)
        model.load_state_dict(load(data))
    except (SafetensorError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise PretrainedError(f"{path.name} does not fit the network on its card ({reason}); {way_out}") from error
    if not all(torch.isfinite(values).all() for values in model.state_dict().values()):
        raise PretrainedError(f"{path.name} holds weights that are not finite numbers; {way_out}")
    return freeze(model.to(device or pick_device()))


def save_pretrained(model: GNN, card: Card, *, folder: Path = FOLDER) -> Card:
    """Writes weights and card, each in one step so that a reader never meets half a file. Returns the final card."""
    folder.mkdir(parents=True, exist_ok=True)
    data = save({name: values.cpu().contiguous() for name, values in model.state_dict().items()})
    card = replace(card, sha256=hashlib.sha256(data).hexdigest())
    write_atomically(folder / f"{card.name}.safetensors", data)
    write_atomically(folder / f"{card.name}.json", (json.dumps(card.to_dict(), indent=1) + "\n").encode())
    return card


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
    )


def write_atomically(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
