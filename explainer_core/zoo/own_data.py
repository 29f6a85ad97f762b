"""Networks of the zoo for data of one's own: what to build, how to train it, and what it will take."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from explainer_core.checks import InvalidValue, one_of
from explainer_core.datasets.splits import LEAST_EXAMPLES, PARTS, has_own_split
from explainer_core.device import pick_device
from explainer_core.graph import NO_LABEL, Graph, GraphSet
from explainer_core.models import GNN, ModelSpec
from explainer_core.models.spec import KINDS
from explainer_core.zoo.cards import majority_accuracy, rounded, train_task
from explainer_core.zoo.pretrained import Card
from explainer_core.zoo.recipes import (
    ATOMS,
    FEW_ATOMS,
    FRIENDS,
    HUBS,
    ON_ATOMS,
    ON_FEW_ATOMS,
    ON_HUBS,
    ON_PEOPLE,
    PEOPLE,
)
from explainer_core.zoo.tasks import LINK_CLASSES, accuracy, make_task
from explainer_core.zoo.training import EpochDone, TrainConfig, measure
from explainer_core.zoo.weight_shapes import network_from, read_tensors

FEW_GRAPHS = 500
PATIENCE = 60  # epochs without a better one after which training ends
# Of one value of one node or directed edge in one layer, kept for the way back and with its gradient: measured on 20,000 nodes and
# 400,000 directed edges, 20 for a GAT and 10 for a GCN.
BYTES = 20


@dataclass(frozen=True)
class Plan:
    """What is to be trained; all of it can be changed before it is."""

    spec: ModelSpec
    config: TrainConfig


def kinds_for(data: Graph | GraphSet) -> tuple[str, ...]:
    """Kinds of layers that can read these data: a relational one needs types of edges."""
    return tuple(kind for kind in KINDS if kind != "rgcn" or data.edge_types is not None)


def tasks_for(data: Graph | GraphSet) -> tuple[str, ...]:
    """What a network can be trained for: classes where at least two are known, links of a graph."""
    if isinstance(data, GraphSet):
        return ("graph",) if _known_classes(data) >= 2 else ()
    return (*(("node",) if _known_classes(data) >= 2 else ()), *(("link",) if data.is_undirected else ()))


def plan(data: Graph | GraphSet, task: str, kind: str, *, hidden: int | None = None, layers: int | None = None) -> Plan:
    """The recipe of the shipped data set that is most like these data.

    Where features differ between nodes a mean over neighbours tells classes; where they do not, neighbours have to be counted.
    """
    one_of("task", task, tasks_for(data) or ("none: give at least two classes",))
    one_of("kind", kind, kinds_for(data))
    network, config = _like(data, task)
    width = hidden or network["hidden"]
    if kind == "gated":
        width = max(width, data.num_features)  # its state holds the features
    if kind == "gat":
        width = -(-width // 4) * 4  # a multiple of its heads
    network: dict[str, Any] = network | {"hidden": width, "num_layers": layers or network["num_layers"]}
    spec = ModelSpec(
        kind=kind,
        task=task,
        in_features=data.num_features,
        num_classes=len(LINK_CLASSES) if task == "link" else data.num_classes,
        num_edge_types=len(data.edge_type_names) if kind == "rgcn" else 0,
        **network,
    )
    return Plan(spec, config if config.keep_last else replace(config, patience=PATIENCE))


def _like(data: Graph | GraphSet, task: str) -> tuple[dict, TrainConfig]:
    if isinstance(data, GraphSet):
        few = len(data) < FEW_GRAPHS
        return (FEW_ATOMS, ON_FEW_ATOMS) if few else (ATOMS, ON_ATOMS)
    if task == "link":
        return FRIENDS, ON_PEOPLE
    return (PEOPLE | {"hidden": 32}, ON_PEOPLE) if data.features_vary else (HUBS, ON_HUBS)


def train_own(
    data: Graph | GraphSet, wanted: Plan, *, seed: int = 0, device=None, on_epoch: EpochDone | None = None
) -> tuple[GNN, Card]:
    """Trains on the data's own split, else on a stratified one by the seed; `on_epoch` may be True to end it, or raise."""
    task = make_task(data, wanted.spec.task, seed, device or pick_device())
    if wanted.spec.task != "link":
        seen = len(task.truth("train").unique())
        if seen < 2:
            raise InvalidValue("the training part must have at least two classes", seen, "give more examples a class")
    return train_task(data.name, wanted.spec.kind, wanted.spec, task, wanted.config, seed=seed, on_epoch=on_epoch)


def read_network(path: str | Path, spec: ModelSpec, *, device=None) -> GNN:
    """A network of the zoo from a safetensors file and its sizes, ready to be explained.

    Raises ValueError that names the first tensor that does not fit.
    """
    return network_from(spec, read_tensors(Path(path).read_bytes())).to(device or pick_device())


def judged_card(data: Graph | GraphSet, model: GNN) -> Card:
    """The card of a network that was trained elsewhere. What it was trained on is not known unless the data say it:
    without a split of their own its accuracy is that over everything, and no test."""
    spec, device = model.spec, next(model.parameters()).device
    _check_fits(data, spec)
    task = make_task(data, spec.task, 0, device) if _can_be_judged(data, spec) else None
    own = task is not None and spec.task != "link" and has_own_split(data)
    split: dict[str, Any] = {}
    if own and task is not None:
        split = {"rule": "as the data say"} | {part: len(chosen) for part, chosen in task.split.items()}
    scores: dict[str, float | None] = dict.fromkeys(PARTS)
    if task is not None:
        scores = measure(model, task) if own else scores | {"test": _over_everything(model, task)}
    return Card(
        dataset=data.name,
        model=spec.kind,
        main=False,
        task=spec.task,
        architecture=spec.to_dict(),
        training=TrainConfig().to_dict(),
        seed=0,
        split=split,
        train_accuracy=rounded(scores["train"]),
        val_accuracy=rounded(scores["val"]),
        test_accuracy=rounded(scores["test"]),
        majority_accuracy=rounded(majority_accuracy(task)) if own and task is not None else None,
        best_epoch=0,
        epochs=0,
        command="",
        torch_version=torch.__version__,
        sha256="",
        notes=[] if own else ["Its accuracy is over all examples, those it was trained on too."],
    )


def _check_fits(data: Graph | GraphSet, spec: ModelSpec) -> None:
    classes = len(LINK_CLASSES) if spec.task == "link" else data.num_classes
    for field, here in (("in_features", data.num_features), ("num_classes", classes)):
        if getattr(spec, field) != here:
            raise InvalidValue(f"{field} must be that of the data, {here:,}", getattr(spec, field))
    if (spec.task == "graph") != isinstance(data, GraphSet):
        rule = "task must be graph for many graphs, and node or link for one"
        raise InvalidValue(rule, spec.task, "choose the other, or bring other data")
    if spec.kind == "rgcn" and spec.num_edge_types != len(data.edge_type_names):
        rule = f"num_edge_types must be that of the data, {len(data.edge_type_names)}"
        raise InvalidValue(rule, spec.num_edge_types, "bring data with types of edges")


def _can_be_judged(data: Graph | GraphSet, spec: ModelSpec) -> bool:
    if spec.task == "link":
        return isinstance(data, Graph) and data.is_undirected
    return data.labels is not None and int((data.labels != NO_LABEL).sum()) >= LEAST_EXAMPLES


def _over_everything(model: GNN, task) -> float:
    with torch.no_grad():
        logits, truth = zip(*(task.logits(model, part) for part in PARTS), strict=True)
    return accuracy(torch.cat(logits), torch.cat(truth))


def training_bytes(data: Graph | GraphSet, wanted: Plan) -> int:
    """About how much memory a training takes beside the data: values of all nodes and edges in all layers."""
    spec, nodes, edges = wanted.spec, data.x.shape[0], data.edge_index.shape[1]
    if isinstance(data, GraphSet):
        share = min(1.0, 2 * wanted.config.batch_size / max(len(data), 1))  # a batch, and parts of its graphs
        nodes, edges = int(nodes * share) + 1, int(edges * share) + 1
    types = max(spec.num_edge_types, 1)
    weights = sum(values.numel() for values in _weights(spec))
    first = nodes * spec.in_features * 8
    passes = 2 if wanted.config.edge_drop > 0 and spec.task == "node" else 1  # with all edges, and with some dropped
    return first + 16 * weights + passes * BYTES * spec.hidden * spec.num_layers * (types * nodes + edges)


def _weights(spec: ModelSpec) -> list[torch.Tensor]:
    with torch.device("meta"):
        return list(GNN(spec).state_dict().values())


def _known_classes(data: Graph | GraphSet) -> int:
    if data.labels is None:
        return 0
    return len(data.labels[data.labels != NO_LABEL].unique())
