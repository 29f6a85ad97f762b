"""What a visitor brings: files read, networks trained on them, weights checked; each where it can be ended and bounded."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from safetensors.torch import save

from dashboard.tasks.subjects import load_data
from explainer_core import Card
from explainer_core.files import FileProblem, Options, Reading, SentFile, read_files
from explainer_core.models import ModelSpec
from explainer_core.zoo.own_data import PATIENCE, Plan, judged_card, plan, train_own
from explainer_core.zoo.training import Epoch
from explainer_core.zoo.weight_shapes import network_from, read_tensors, suggested_sizes

Emit = Callable[[object], object]  # True once whoever waits has had enough
TOLD_EVERY = 0.1  # seconds between two words about a training
MOST_POINTS = 300  # of a curve; a training may have thousands of epochs


@dataclass(frozen=True)
class FileRefused:
    """What is wrong with a file, in one sentence, with which, and what columns it has."""

    file: str
    sentence: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainRequest:
    """A network to be trained on data that a visitor brought."""

    dataset: str
    task: str
    kind: str
    layers: int
    hidden: int
    epochs: int
    stop_early: bool
    seed: int


@dataclass(frozen=True)
class Training:
    """How far a training is: its epochs so far, of many a few."""

    number: int
    total: int
    epochs: tuple[Epoch, ...]


def read_upload(format: str, files: tuple[SentFile | None, ...], options: Options, emit: Emit) -> Reading | FileRefused:
    try:
        return read_files(format, files, options)
    except FileProblem as problem:
        return FileRefused(problem.file, str(problem), problem.fields)


def plan_of(request: TrainRequest) -> Plan:
    """The plan of a request, as `own_data.plan` makes it for such data."""
    wanted = plan(load_data(request.dataset), request.task, request.kind, hidden=request.hidden, layers=request.layers)
    config = replace(wanted.config, epochs=request.epochs, patience=0)
    if request.stop_early:
        config = replace(config, patience=PATIENCE, keep_last=False)
    return replace(wanted, config=config)


def train_network(request: TrainRequest, max_seconds: float, emit: Emit) -> tuple[Card, bytes]:
    """The card and the weights as safetensors; what time allows, or until it is enough, with the best epoch so far."""
    data, wanted = load_data(request.dataset), plan_of(request)
    seen: list[Epoch] = []
    told = 0.0

    def on_epoch(epoch: Epoch) -> bool:
        nonlocal told
        seen.append(epoch)
        if time.monotonic() - told <= TOLD_EVERY:
            return False
        told = time.monotonic()
        return emit(Training(epoch.number, epoch.total, _thinned(seen))) is True

    config = replace(wanted.config, max_seconds=max_seconds)
    model, card = train_own(data, replace(wanted, config=config), seed=request.seed, on_epoch=on_epoch)
    emit(Training(seen[-1].number, seen[-1].total, _thinned(seen)))
    return card, _as_safetensors(model)


def _thinned(epochs: list[Epoch]) -> tuple[Epoch, ...]:
    step = -(-len(epochs) // MOST_POINTS)
    return (*epochs[:-1:step], epochs[-1])


def sizes_of_weights(data: bytes, emit: Emit) -> dict[str, Any]:
    """What the file tells of its network's sizes; raises ValueError for what is no safetensors file."""
    return suggested_sizes(read_tensors(data))


def take_weights(dataset: str, data: bytes, fields: dict[str, Any], emit: Emit) -> tuple[Card, bytes]:
    """Raises ValueError with one sentence on the first tensor that does not fit the sizes."""
    graph = load_data(dataset)
    model = network_from(ModelSpec(**fields), read_tensors(data))
    return judged_card(graph, model), _as_safetensors(model)


def _as_safetensors(model: Any) -> bytes:
    return save({name: values.cpu().contiguous() for name, values in model.state_dict().items()})
