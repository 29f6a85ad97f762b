"""Training of one network: Adam, the best epoch on the validation part or the last, the same numbers for the same seed."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass

import torch
from torch.nn.functional import cross_entropy

from explainer_core.checks import setting
from explainer_core.datasets.splits import PARTS
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.tasks import GraphTask, LinkTask, NodeTask, accuracy


@dataclass(frozen=True)
class Epoch:
    """How far a training is: numbers from 1, the mean loss of the epoch, accuracies after it."""

    number: int
    total: int
    loss: float
    train_accuracy: float
    val_accuracy: float


EARLY_ENDS = ("patience", "max_seconds")
EpochDone = Callable[[Epoch], object]  # called after each epoch; True ends the training, with what is best so far


@dataclass(frozen=True)
class TrainConfig:
    """How to train. The defaults are the paper's; `edge_drop` silences that share of the messages in each step.

    `parts` is the share of the loss that random connected parts of the graphs get: a network that is to be asked
    about parts has to know them. With `weigh_parts` each counts by the share of its graph's edges that it keeps: the
    smaller a part, the likelier it lacks what made the class of the whole, which is then a wrong label for it.

    `keep_last` keeps the last epoch, not the best on the validation part: of few validation graphs the best is luck.
    With `patience` training ends after so many epochs that were no better on the validation part; with `max_seconds` it
    ends then, with the best epoch so far.
    """

    epochs: int = 1000
    learning_rate: float = 0.001
    weight_decay: float = 0.0
    edge_drop: float = 0.0
    feature_swap: float = 0.0
    parts: float = 0.0
    weigh_parts: bool = False
    batch_size: int = 128  # of graphs; a task on a single graph takes it whole
    keep_last: bool = False
    patience: int = 0  # 0: all epochs
    max_seconds: float = 0.0  # 0: as long as it takes

    def __post_init__(self):
        for field, low, high in (
            ("epochs", 1, 100_000),
            ("learning_rate", 1e-7, 1.0),
            ("weight_decay", 0.0, 1.0),
            ("edge_drop", 0.0, 0.95),
            ("feature_swap", 0.0, 0.95),
            ("parts", 0.0, 0.95),
            ("batch_size", 1, 100_000),
            ("patience", 0, 100_000),
            ("max_seconds", 0.0, 1e6),
        ):
            kind = int if field in ("epochs", "batch_size", "patience") else float
            setting(field, getattr(self, field), kind, low, high)
        for field in ("weigh_parts", "keep_last"):
            setting(field, getattr(self, field), bool)

    def to_dict(self) -> dict:
        """For a card; an end before the last epoch only where there is one."""
        return {name: value for name, value in asdict(self).items() if value or name not in EARLY_ENDS}


@dataclass(frozen=True)
class Trained:
    model: GNN
    accuracy: dict[str, float | None]  # by part of the split; None of an empty one
    best_epoch: int
    epochs: int  # how many were trained


def train(
    spec: ModelSpec,
    task: NodeTask | GraphTask | LinkTask,
    config: TrainConfig,
    *,
    seed: int = 0,
    on_epoch: EpochDone | None = None,
) -> Trained:
    """A network trained from new weights; `on_epoch` may be True to end it with the best epoch so far, or raise."""
    if config.parts > 0 and not isinstance(task, GraphTask):
        raise ValueError(
            f"parts must be 0 where no whole graphs are judged (got {config.parts} for a {spec.task} task)"
        )
    with _seeded(seed):
        model = GNN(spec).to(task.device)
        best_epoch, epochs = _fit(model, task, config, seed, on_epoch)
    return Trained(freeze(model), measure(model, task), best_epoch, epochs)


def measure(model: GNN, task: NodeTask | GraphTask | LinkTask) -> dict[str, float | None]:
    """Accuracy on each part of the task's split; None of an empty one."""
    with torch.no_grad():
        return {
            part: accuracy(*task.logits(model, part)) if len(task.split[part]) else None  # of nothing it is no number
            for part in PARTS
        }


def freeze(model: GNN) -> GNN:
    """Ready to be shared: eval mode, and no parameter asks for a gradient."""
    return model.eval().requires_grad_(False)


def _fit(model: GNN, task, config: TrainConfig, seed: int, on_epoch: EpochDone | None) -> tuple[int, int]:
    """Trains in place and goes back to the best epoch by validation accuracy (then loss), unless the last is asked for.

    Returns the epoch that is kept, and how many there were.
    """
    generator, began = torch.Generator().manual_seed(seed), time.monotonic()
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs)
    best, best_state, best_epoch, better_at, epoch = (-1.0, 0.0), {}, 0, 0, 0
    for epoch in range(1, config.epochs + 1):
        model.train()
        total, steps = 0.0, 0
        for loss in task.losses(model, config, generator):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, steps = total + loss.item(), steps + 1
        schedule.step()
        model.eval()
        score = _validation_score(model, task, config)
        better_at = epoch if score > best else better_at
        if score >= best or config.keep_last:
            best, best_state, best_epoch = max(best, score), deepcopy(model.state_dict()), epoch
        enough = on_epoch is not None and on_epoch(
            Epoch(epoch, config.epochs, total / steps, _accuracy_on(model, task, "train"), score[0])
        )
        waited = 0 < config.patience <= epoch - better_at
        if enough is True or waited or 0 < config.max_seconds <= time.monotonic() - began:
            break
    model.load_state_dict(best_state)
    return best_epoch, epoch


@torch.no_grad()
def _accuracy_on(model: GNN, task, part: str) -> float:
    return accuracy(*task.logits(model, part))


@torch.no_grad()
def _validation_score(model: GNN, task, config: TrainConfig) -> tuple[float, float]:
    """Accuracy, then the loss that is trained: of epochs that do as well on whole graphs the one that does better on parts wins."""
    logits, truth = task.logits(model, "val")
    loss = cross_entropy(logits, truth)
    if config.parts > 0:
        loss = (1 - config.parts) * loss + config.parts * task.loss_of_parts(model, "val", config.weigh_parts)
    return accuracy(logits, truth), -float(loss)


@contextmanager
def _seeded(seed: int):
    """Weights and dropout draw from torch's global generator: set it, and put it back afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
