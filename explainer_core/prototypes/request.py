"""The request for a prototype: members of a class are explained together, aligned, and joined into one shape or a few."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from torch import nn

from explainer_core.adapters import as_model, check_kind
from explainer_core.api import explain_many
from explainer_core.checks import InvalidValue, shown
from explainer_core.computation.batches import check_targets
from explainer_core.config import AUTO, ExplainConfig, checked_config
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model, check_model
from explainer_core.predictions import Predictions, predictions
from explainer_core.prototypes.joining import MOST_CLUSTERS, join_explanations
from explainer_core.prototypes.prototype import Prototype
from explainer_core.targets import TASKS, Link, Node, Target, WholeGraph

# Members done, members in all, and the prototype of those that are done, worked out when called. May raise to stop.
# Once all are done it goes on being called while several shapes are looked for.
Progress = Callable[[int, int, Callable[[], Prototype]], None]
USUAL_SIZE = 6  # nodes
STEPS_SHOWN = 10  # how often a prototype that is being watched grows


def prototype(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    label: int | None = None,
    *,
    instances: int = 10,
    reference: Target | None = None,
    config: ExplainConfig | None = None,
    targets: Sequence[Target] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clusters: int | str = "auto",
) -> Prototype:
    """What the explanations of a class, or of the targets given, share.

    Members of a class are the nodes or graphs that the model puts into it, rightly where the truth is known: its
    mistakes do not show what it takes for the class. The reference is the member whose embedding is nearest to the
    mean of all, or the one given. The others are drawn by chance and not nearest first, which would hide how much
    the class varies. All are cut at one size, six nodes where K_M is
    "auto". `clusters` is how many shapes to look for; by default another only where it is clear.
    """
    config = checked_config(config)
    check_kind(data)
    given = reference if reference is not None else next(iter(targets or ()), None)
    check_targets(data, [] if given is None else [given])
    model = as_model(model, data, None if given is None else TASKS[type(given)])
    check_model(model)
    _check_request(label, instances, clusters, model.num_classes)
    chosen = _chosen(model, data, label, targets, reference, instances, seed)
    join = partial(join_explanations, data=data, label=label, seed=seed, keep_reference=reference is not None)
    explain = partial(_explained, model, data, config=config, target_class="predicted" if label is None else label)
    if progress is None:
        return join(explain(targets=chosen), clusters=clusters)
    found: list[Explanation] = []
    step = -(-len(chosen) // STEPS_SHOWN)
    for first in range(0, len(chosen), step):
        found += explain(targets=chosen[first : first + step])
        progress(len(found), len(chosen), partial(join, tuple(found), clusters=1))
    tick = partial(progress, len(found), len(chosen), partial(join, tuple(found), clusters=1))
    return join(found, clusters=clusters, tick=tick)


def _explained(model, data, *, targets, config: ExplainConfig, target_class) -> list[Explanation]:
    """The members' explanations, all of one size: with K_M at "auto" each would be as small as it alone can be."""
    if config.k_m != AUTO:
        return explain_many(model, data, targets, config, target_class=target_class)
    sized = replace(config, k_m=USUAL_SIZE, k_m_unit="nodes")
    found = explain_many(model, data, targets, sized, target_class=target_class)
    return [replace(e, config=replace(sized, k_m=AUTO)) for e in found]


def _check_request(label, instances, clusters, num_classes: int) -> None:
    if label is not None and (type(label) is not int or not 0 <= label < num_classes):
        raise InvalidValue(f"label must be 0 to {num_classes - 1}", label)
    if type(instances) is not int or instances < 1:
        raise InvalidValue("instances must be at least 1", instances)
    if not (isinstance(clusters, str) and clusters == "auto") and (
        type(clusters) is not int or not 1 <= clusters <= MOST_CLUSTERS
    ):
        raise InvalidValue(f"clusters must be 'auto' or 1 to {MOST_CLUSTERS}", clusters)


# Who is a member


def _chosen(
    model: Model,
    data: Graph | GraphSet,
    label: int | None,
    targets: Sequence[Target] | None,
    reference: Target | None,
    instances: int,
    seed: int,
) -> list[Target]:
    """The reference, then the others in random order."""
    given = [*(targets or ()), *(() if reference is None else (reference,))]
    check_targets(data, given)
    if given and TASKS[type(given[0])] != model.task:
        raise ValueError(f"a {model.task} model explains a {model.task} (got {shown(given[0])})")
    if targets is not None and not targets:
        raise ValueError("targets must name at least one node, graph or link (got none)")
    predicted = cache(partial(predictions, model, data))  # asked for only where members or the reference are chosen
    if targets is not None:
        candidates = list(dict.fromkeys(targets))
    elif label is None or model.task == "link":
        why = "no label" if label is None else "a link model has no class to draw from"
        raise ValueError(f"targets or a label must say who the members are (got no targets, and {why}); pass targets=")
    else:
        candidates = members_of_class(predicted(), data, label, model.task)
    if reference is None:
        vectors = np.stack([_embedding(predicted().embedding, target) for target in candidates])
        reference = candidates[int(np.linalg.norm(vectors - vectors.mean(0), axis=1).argmin())]
    others = [target for target in candidates if target != reference]
    order = np.random.default_rng(seed).permutation(len(others))[:instances]
    return [reference, *(others[i] for i in order.tolist())]


def members_of_class(predicted: Predictions, data: Graph | GraphSet, label: int, task: str) -> list[Target]:
    """All that the model puts into the class, rightly where the truth is known."""
    in_class = predicted.predicted == label
    right = in_class if predicted.truth is None else in_class & predicted.right
    if not right.any():
        name = data.class_names[label] if label < len(data.class_names) else label
        known = "" if predicted.truth is None else f" of its {int((predicted.truth == label).sum())}"
        raise ValueError(
            f"a class needs a member that the model gets right (got none{known} in class {shown(name)}, where the model puts "
            f"{int(in_class.sum())}); choose another class, or pass targets="
        )
    found = np.flatnonzero(right).tolist()
    if task == "node":
        return [Node(i) for i in found]
    return [WholeGraph(i if isinstance(data, GraphSet) else None) for i in found]


def _embedding(embeddings: np.ndarray, target: Target) -> np.ndarray:
    """The input of the model's head for a target; for a link, the product of its two ends: (D,)."""
    if isinstance(target, Link):
        return embeddings[target.source] * embeddings[target.head]
    return embeddings[target.node if isinstance(target, Node) else target.index or 0]
