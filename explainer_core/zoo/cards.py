"""From a recipe to a trained network with its card, and from a card back to a measurement."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from explainer_core.datasets.download import is_available
from explainer_core.datasets.molecules import NOT_IN_MUTAGENICITY, molecules
from explainer_core.datasets.registry import CASES, dataset_info, load_dataset
from explainer_core.datasets.splits import has_own_split
from explainer_core.device import pick_device
from explainer_core.graph import Graph, GraphSet
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.pretrained import Card
from explainer_core.zoo.recipes import NETWORK_OPTIONS, TRAINING_OPTIONS, Recipe, find_recipe
from explainer_core.zoo.tasks import GraphTask, LinkTask, NodeTask, accuracy, make_task
from explainer_core.zoo.training import EpochDone, TrainConfig, train

FRESH_SEED_STEP = 1000  # the fresh graph of a generated set is made with this much added to the seed


def train_recipe(
    recipe: Recipe,
    *,
    seed: int = 0,
    data: Graph | GraphSet | None = None,
    device=None,
    on_epoch: EpochDone | None = None,
) -> tuple[GNN, Card]:
    """Trains one network and writes its card. One seed decides the graph (if generated), the split and the weights."""
    data = load_dataset(recipe.dataset, seed=seed) if data is None else data
    task = make_task(data, recipe.task, seed, device or pick_device())
    spec = recipe.spec(data, task)
    model, card = train_task(recipe.dataset, recipe.model, spec, task, recipe.config, seed=seed, on_epoch=on_epoch)
    fresh = fresh_accuracy(model, recipe.dataset, data, task, seed)
    judges_molecules = recipe.dataset == "mutagenicity" and is_alike(data, molecules())
    return model, replace(
        card,
        main=recipe.main,
        command=command_of(recipe, seed),
        fresh_graph_accuracy=rounded(fresh),
        fresh_graph_seed=None if fresh is None else seed + FRESH_SEED_STEP,
        shelf_accuracy=rounded(molecules_accuracy(model) if judges_molecules else None),
        notes=recipe.notes,
    )


def train_task(
    dataset: str,
    name: str,
    spec: ModelSpec,
    task: NodeTask | GraphTask | LinkTask,
    config: TrainConfig,
    *,
    seed: int = 0,
    on_epoch: EpochDone | None = None,
) -> tuple[GNN, Card]:
    """A trained network with its card."""
    trained = train(spec, task, config, seed=seed, on_epoch=on_epoch)
    own = spec.task != "link" and has_own_split(task.graphs if isinstance(task, GraphTask) else task.graph)
    rule = "as the data say" if own else "80/10/10 by class"
    card = Card(
        dataset=dataset,
        model=name,
        main=False,
        task=spec.task,
        architecture=spec.to_dict(),
        training=config.to_dict(),
        seed=seed,
        split={"rule": rule, "seed": seed} | {part: len(chosen) for part, chosen in task.split.items()},
        train_accuracy=rounded(trained.accuracy["train"]),
        val_accuracy=rounded(trained.accuracy["val"]),
        test_accuracy=rounded(trained.accuracy["test"]),
        majority_accuracy=rounded(majority_accuracy(task)),
        best_epoch=trained.best_epoch,
        epochs=trained.epochs,
        command="",
        torch_version=torch.__version__,
        sha256="",
        test_auc=rounded(task.auc(trained.model, "test")) if isinstance(task, LinkTask) else None,
    )
    return trained.model, card


def rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def measured_accuracy(card: Card, model: GNN) -> float | None:
    """The card's test accuracy, measured anew; None where the data are not on this machine."""
    info = dataset_info(card.dataset)
    if info.models_of:
        return molecules_accuracy(model)
    if info.archive and not is_available(info.archive):
        return None
    data = load_dataset(card.dataset, seed=card.seed)
    task = make_task(data, card.task, card.seed, next(model.parameters()).device)
    with torch.no_grad():
        return accuracy(*task.logits(model, "test"))


@torch.no_grad()
def fresh_accuracy(model: GNN, dataset: str, data: Graph | GraphSet, task, seed: int) -> float | None:
    """Accuracy on all of a new graph or set of the same family; None where there is no other like the data."""
    if not dataset_info(dataset).generated or dataset in CASES:  # the fault of a case is another with every seed
        return None
    fresh = load_dataset(dataset, seed=seed + FRESH_SEED_STEP)
    return task.accuracy_on(model, fresh) if is_alike(data, fresh) else None


def is_alike(data: Graph | GraphSet, other: Graph | GraphSet) -> bool:
    """True if a network trained on one can be asked about the other: the same features, classes and edge types.

    A recipe may be trained on data of one's own, which need be nothing like the data set it was written for.
    """
    fields = ("num_features", "feature_names", "class_names", "edge_type_names")
    return all(_plain(getattr(data, field)) == _plain(getattr(other, field)) for field in fields)


def _plain(value: int | Sequence[str]) -> int | tuple[str, ...]:
    return value if isinstance(value, int) else tuple(value)


@torch.no_grad()
def molecules_accuracy(model: GNN) -> float:
    """The share a Mutagenicity model gets right of the well-known molecules that its data do not contain."""
    data = molecules()
    assert data.graph_names is not None  # the compounds are named
    assert data.labels is not None  # and labelled by hand
    unseen = torch.tensor([i for i, name in enumerate(data.graph_names) if name in NOT_IN_MUTAGENICITY])
    task = GraphTask(data, 0, next(model.parameters()).device)
    return accuracy(task.logits_of(model, unseen), data.labels[unseen])


def majority_accuracy(task: NodeTask | GraphTask | LinkTask) -> float | None:
    """What always naming the commonest class of the training part scores on the test part, if there is one."""
    if not len(task.split["test"]):
        return None
    commonest = task.truth("train").mode().values
    return float((task.truth("test") == commonest).float().mean())


def command_of(recipe: Recipe, seed: int) -> str:
    """The command line that trains this network again: its recipe, and what was changed in it."""
    plain = find_recipe(recipe.dataset, recipe.model)
    network = [(name, recipe.network.get(field), plain.network.get(field)) for name, field in NETWORK_OPTIONS.items()]
    training = [
        (name, getattr(recipe.config, field), getattr(plain.config, field)) for name, field in TRAINING_OPTIONS.items()
    ]
    changed = [f"--{name} {value}" for name, value, usual in network + training if value != usual]
    return " ".join(["python -m explainer_core train", recipe.dataset, recipe.model, *changed, f"--seed {seed}"])
