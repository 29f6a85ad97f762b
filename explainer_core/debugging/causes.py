"""One plain cause for one mistake, where a rule finds one; where none holds nothing is said."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.adapters import as_model, check_kind
from explainer_core.computation.batches import check_targets
from explainer_core.debugging.asking import joined_batches
from explainer_core.debugging.site import Site, graph_of_target
from explainer_core.device import one_thread
from explainer_core.graph import NO_LABEL, Graph, GraphSet, one_hot_types
from explainer_core.models.frozen import frozen_eval_copy
from explainer_core.models.protocol import Model, PredictionBatch, ask, check_features, check_model, device_of
from explainer_core.targets import TASKS, Link, Node, Target, WholeGraph

NEAR = 0.1  # of probability, by which two classes are as good as tied, and an answer as good as the default one
HOMOPHILOUS = 0.5  # of a class's neighbours that are of it, from which its neighbours tell the class
BATCH_EDGES = 100_000


@dataclass(frozen=True)
class Cause:
    """Why a prediction may be wrong: the rule that holds, a sentence, and the numbers it rests on."""

    rule: str  # one of RULES
    text: str
    numbers: dict[str, float]


@dataclass(frozen=True)
class Answers:
    """What the network says of a target as it is, without edges, with features hidden, and with neither: (C,) each."""

    whole: np.ndarray
    without_edges: np.ndarray
    without_features: np.ndarray
    with_nothing: np.ndarray


@dataclass(frozen=True, eq=False)
class Mistake:
    """One wrong prediction and what the rules look at."""

    graph: Graph
    target: Target
    site: Site
    truth: int
    answers: Answers

    @property
    def predicted(self) -> int:
        return int(self.answers.whole.argmax())

    def name(self, label: int) -> str:
        names = ("not joined", "joined") if isinstance(self.target, Link) else self.graph.class_names
        return names[label] if label < len(names) else str(label)

    @cached_property
    def neighbour_labels(self) -> np.ndarray | None:
        """Known classes of a node's direct neighbours; None where there are none to know."""
        if not isinstance(self.target, Node) or self.graph.labels is None:
            return None
        into = self.graph.edge_index[0][self.graph.edge_index[1] == self.target.node]
        labels = self.graph.labels[into[into != self.target.node].unique()].numpy()
        return labels[labels != NO_LABEL]

    @cached_property
    def reached_labels(self) -> np.ndarray | None:
        """Known classes of all other nodes that the prediction can look at."""
        if not isinstance(self.target, Node) or self.graph.labels is None:
            return None
        labels = self.graph.labels.numpy()[self.site.nodes[self.site.nodes != self.target.node]]
        return labels[labels != NO_LABEL]

    @cached_property
    def homophily(self) -> float:
        """The share of the true class's edges that come from the class itself: low where neighbours do not tell the class."""
        labels = self.graph.labels
        if labels is None:
            return 0.0
        source, target = labels[self.graph.edge_index]
        of_class = (target == self.truth) & (source != NO_LABEL)
        return float((source[of_class] == self.truth).float().mean()) if of_class.any() else 0.0


# Rules, the first that holds is the cause


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"  # never parted at the end of a line


def _isolated(mistake: Mistake) -> Cause | None:
    source, target = mistake.graph.edge_index
    edges = mistake.graph.edge_index[:, source != target]
    if isinstance(mistake.target, Link):
        ends = [mistake.target.source, mistake.target.head]
        alone = [end for end in ends if not (mistake.site.ends[1] == np.searchsorted(mistake.site.nodes, end)).any()]
        who = "One end of the link has" if len(alone) == 1 else "Both ends of the link have"
    else:
        own = edges if isinstance(mistake.target, WholeGraph) else edges[:, edges[1] == mistake.target.node]
        alone, who = ([] if own.numel() else [0]), "It has"
    return Cause("isolated", f"{who} no edges to learn from.", {"edges": 0}) if alone else None


def _out_of_reach(mistake: Mistake) -> Cause | None:
    labels = mistake.reached_labels
    if labels is None or not len(labels) or mistake.homophily < HOMOPHILOUS or (labels == mistake.truth).any():
        return None
    text = f"None of the {len(labels)} nodes within its reach is {mistake.name(mistake.truth)}."
    return Cause("out_of_reach", text, {"reached": len(labels)})


def _near_tie(mistake: Mistake) -> Cause | None:
    p = mistake.answers.whole
    lead = float(p[mistake.predicted] - p[mistake.truth])
    if lead > NEAR or np.sort(p)[-2] > p[mistake.truth]:
        return None
    text = f"A near tie: {mistake.name(mistake.predicted)} is ahead of {mistake.name(mistake.truth)} by {_percent(lead)} only."
    return Cause("near_tie", text, {"lead": lead})


def _contradicted(mistake: Mistake) -> Cause | None:
    labels = mistake.neighbour_labels
    if labels is None or not len(labels) or mistake.homophily < HOMOPHILOUS:
        return None
    wrong, right = int((labels == mistake.predicted).sum()), int((labels == mistake.truth).sum())
    if 2 * wrong <= len(labels):
        return None
    text = f"Of its {len(labels)} neighbours {wrong} are {mistake.name(mistake.predicted)} themselves, {right} {mistake.name(mistake.truth)}."
    return Cause("contradicted", text, {"neighbours": len(labels), "predicted": wrong, "true": right})


def _default(mistake: Mistake) -> Cause | None:
    bare = mistake.answers.with_nothing
    fall = float(mistake.answers.whole[mistake.predicted] - bare[mistake.predicted])
    if int(bare.argmax()) != mistake.predicted or fall > NEAR:
        return None
    probability = float(bare[mistake.predicted])
    text = (
        f"{mistake.name(mistake.predicted)} is also what the network says of anything without edges and features "
        f"({_percent(probability)})."
    )
    return Cause("default", text, {"probability": probability})


def _structure(mistake: Mistake) -> Cause | None:
    return _one_side(mistake, "structure", mistake.answers.without_edges, mistake.answers.without_features, "its edges")


def _features(mistake: Mistake) -> Cause | None:
    return _one_side(mistake, "features", mistake.answers.without_features, mistake.answers.without_edges, "features")


def _one_side(mistake: Mistake, rule: str, without: np.ndarray, other: np.ndarray, what: str) -> Cause | None:
    """Right without the one side, and not without the other: it is that side that misleads."""
    if int(without.argmax()) != mistake.truth or int(other.argmax()) == mistake.truth:
        return None
    text = f"Without {what} the network would be right: {_percent(float(without[mistake.truth]))} {mistake.name(mistake.truth)}."
    return Cause(rule, text, {"probability": float(without[mistake.truth])})


RULES: dict[str, Callable[[Mistake], Cause | None]] = {
    "isolated": _isolated,
    "out_of_reach": _out_of_reach,
    "near_tie": _near_tie,
    "contradicted": _contradicted,
    "default": _default,
    "structure": _structure,
    "features": _features,
}


def cause_of(
    model: Model | nn.Module, data: Graph | GraphSet, target: Target, truth: int | None = None
) -> Cause | None:
    """The first rule that holds for a wrong prediction; None where none does, the prediction is right or the truth unknown."""
    return next(iter(causes_of(model, data, [target], None if truth is None else [truth])[0]), None)


def causes_of(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    targets: Iterable[Target],
    truths: Sequence[int] | None = None,
) -> list[list[Cause]]:
    """All rules that hold, for each of many targets, the cause first. Truths are the data's own unless given."""
    targets = list(targets)
    check_kind(data)
    check_targets(data, targets)
    model = as_model(model, data, TASKS[type(targets[0])] if targets else None)
    check_model(model)
    check_features(model, data.x)
    model = frozen_eval_copy(model)
    known = [truth_of(data, target) for target in targets] if truths is None else list(truths)
    found: list[list[Cause]] = []
    with one_thread():
        sites = (Site.of(model, data, target) for target in targets)
        for site, truth, answers in zip(*_answered(model, data, sites, known), strict=True):
            wrong = truth is not None and int(answers.whole.argmax()) != truth
            mistake = Mistake(graph_of_target(data, site.target), site.target, site, truth or 0, answers)
            causes = (rule(mistake) for rule in RULES.values()) if wrong else ()
            found.append([cause for cause in causes if cause is not None])
    return found


def truth_of(data: Graph | GraphSet, target: Target) -> int | None:
    """The class of a target, where it is known: of a link, whether it is there."""
    graph = graph_of_target(data, target)
    if isinstance(target, WholeGraph):
        return graph.label
    if isinstance(target, Node):
        label = NO_LABEL if graph.labels is None else int(graph.labels[target.node])
        return None if label == NO_LABEL else label
    ends = torch.tensor([[target.source], [target.head]])
    return int(((graph.edge_index == ends).all(0) | (graph.edge_index == ends.flip(0)).all(0)).any())


@torch.no_grad()
def _answered(
    model: Model, data: Graph | GraphSet, sites: Iterator[Site], truths: Sequence[int | None]
) -> tuple[list[Site], Sequence[int | None], list[Answers]]:
    """The four answers about every site, in passes that memory holds."""
    kept, answers, waiting, size = [], [], [], 0
    fill = torch.zeros(data.x.shape[1]) if one_hot_types(data.x) else data.feature_mean
    for site in sites:
        kept.append(site)
        waiting += _four(site.batch(model), fill.to(device_of(model)))
        size += 2 * len(site.edges) + 4 * site.num_nodes
        if size > BATCH_EDGES:
            answers += _ask_all(model, waiting)
            waiting, size = [], 0
    answers += _ask_all(model, waiting)
    return kept, truths, [Answers(*answers[i : i + 4]) for i in range(0, len(answers), 4)]


def _four(batch: PredictionBatch, fill: Tensor) -> list[PredictionBatch]:
    hidden = fill.expand_as(batch.x).to(batch.x.dtype)
    bare = replace(
        batch,
        edge_index=batch.edge_index[:, :0],
        edge_types=None if batch.edge_types is None else batch.edge_types[:0],
        degree=None if batch.degree is None else torch.zeros_like(batch.degree),
        edge_data={name: values[:0] for name, values in batch.edge_data.items()},
    )
    return [batch, bare, replace(batch, x=hidden), replace(bare, x=hidden)]


def _ask_all(model: Model, batches: Sequence[PredictionBatch]) -> list[np.ndarray]:
    if not batches:
        return []
    return list(ask(model, joined_batches(batches)).cpu().double().softmax(-1).numpy())
