"""Training of one network: Adam, the best epoch on the validation part or the last, the same numbers for the same seed."""

from collections.abc import Callable
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass

import torch
from torch.nn.functional import cross_entropy

from explainer_core.checks import setting
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.tasks import PARTS, GraphTask, LinkTask, NodeTask, accuracy

# Called after each epoch: its number from 1, of how many, the loss, and the validation accuracy.
EpochDone = Callable[[int, int, float, float], object]


@dataclass(frozen=True)
class TrainConfig:
    """How to train. The defaults are the paper's; `edge_drop` silences that share of the messages in each step.

    `parts` is the share of the loss that random connected parts of the graphs get: a network that is to be asked
    about parts has to know them. With `weigh_parts` each counts by the share of its graph's edges that it keeps: the
    smaller a part, the likelier it lacks what made the class of the whole, which is then a wrong label for it.

    `keep_last` keeps the last epoch, not the best on the validation part: of few validation graphs the best is luck.
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

    def __post_init__(self):
        for field, low, high in (
            ("epochs", 1, 100_000),
            ("learning_rate", 1e-7, 1.0),
            ("weight_decay", 0.0, 1.0),
            ("edge_drop", 0.0, 0.95),
            ("feature_swap", 0.0, 0.95),
            ("parts", 0.0, 0.95),
            ("batch_size", 1, 100_000),
        ):
            setting(field, getattr(self, field), int if field in ("epochs", "batch_size") else float, low, high)
        for field in ("weigh_parts", "keep_last"):
            setting(field, getattr(self, field), bool)

    def to_dict(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class Trained:
    model: GNN
    accuracy: dict[str, float]  # by part of the split
    best_epoch: int


def train(
    spec: ModelSpec,
    task: NodeTask | GraphTask | LinkTask,
    config: TrainConfig,
    *,
    seed: int = 0,
    on_epoch: EpochDone | None = None,
) -> Trained:
    """A network trained from new weights; `on_epoch` may raise to stop."""
    if config.parts > 0 and not isinstance(task, GraphTask):
        raise ValueError(
            f"parts must be 0 where no whole graphs are judged (got {config.parts} for a {spec.task} task)"
        )
    with _seeded(seed):
        model = GNN(spec).to(task.device)
        best_epoch = _fit(model, task, config, seed, on_epoch)
    return Trained(freeze(model), measure(model, task), best_epoch)


def measure(model: GNN, task: NodeTask | GraphTask | LinkTask) -> dict[str, float]:
    """Accuracy on each part of the task's split."""
    with torch.no_grad():
        return {part: accuracy(*task.logits(model, part)) for part in PARTS}


def freeze(model: GNN) -> GNN:
    """Ready to be shared: eval mode, and no parameter asks for a gradient."""
    return model.eval().requires_grad_(False)


def _fit(model: GNN, task, config: TrainConfig, seed: int, on_epoch: EpochDone | None) -> int:
    """Trains in place, goes back to the best epoch by validation accuracy (then loss) if asked to, and returns it."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs)
    best, best_state, best_epoch = (-1.0, 0.0), {}, 0
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
        if score >= best or config.keep_last:
            best, best_state, best_epoch = score, deepcopy(model.state_dict()), epoch
        if on_epoch:
            on_epoch(epoch, config.epochs, total / steps, score[0])
    model.load_state_dict(best_state)
    return best_epoch


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
