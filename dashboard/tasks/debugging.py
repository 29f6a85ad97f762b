"""The runs behind the Debug page: everything a network predicts, the cause of a mistake, edited graphs and flips."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import explainer_core as xc
from dashboard.schema import SPLITS, Cause, Flip, Instances, Request, Systematic
from dashboard.tasks.prototyping import stored_prototypes, usual_request
from dashboard.tasks.splits import parts_of
from dashboard.tasks.subjects import card_of, load_data, load_graph, network, subject
from explainer_core.debugging.instances import instances_of, link_instances
from explainer_core.device import pick_device
from explainer_core.predictions import link_pairs, link_scores, predictions, target_probabilities
from explainer_core.zoo.tasks import LinkTask

MOST_PAIRS = 1_000  # joined and not, of each part of a split: each that is joined is judged without itself
Emit = Callable[[object], None]


@dataclass(frozen=True, eq=False)
class Listed:
    """Everything that a network predicts, and of links which pair each row is."""

    instances: Instances
    pairs: tuple[tuple[int, int], ...] | None = None


def list_instances(dataset: str, model: str, emit: Emit) -> Listed:
    """Nodes, graphs or links with what the network says of each, and the part of the split it was trained with."""
    card, data = card_of(dataset, model), load_data(dataset)
    if card.task == "link":
        return _listed_links(dataset, model, card.split.get("seed", card.seed) if card.split else None)
    parts = parts_of(dataset, model)
    split = None if parts is None else {part: np.flatnonzero(parts == part).tolist() for part in SPLITS}
    return Listed(instances_of(data, predictions(network(dataset, model), data), split))


def _listed_links(dataset: str, model: str, seed: int | None) -> Listed:
    """The pairs of every part: its links and as many that are none, at most MOST_PAIRS, no pair twice.

    Without a seed nobody knows the parts.
    """
    graph = load_graph(dataset)
    if seed is None:
        scores = link_pairs(network(dataset, model), graph, limit=MOST_PAIRS)
        return Listed(link_instances(graph, scores, None), tuple((each.source, each.head) for each in scores))
    task, rows, split = LinkTask(graph, seed, pick_device()), {}, {}
    for part in ("test", "val", "train"):
        pairs = task.pairs(part).t().tolist()  # links first
        half = len(pairs) // 2
        some = [*pairs[: MOST_PAIRS // 2], *pairs[half : half + MOST_PAIRS // 2]]
        new = [pair for pair in dict.fromkeys(map(tuple, some)) if pair not in rows]
        split[part] = list(range(len(rows), len(rows) + len(new)))
        rows |= dict.fromkeys(new)
    scores = link_scores(network(dataset, model), graph, list(rows))
    return Listed(link_instances(graph, scores, split), tuple(rows))


def find_cause(request: Request, emit: Emit) -> Cause | None:
    """The plain cause of a mistake, where a rule finds one."""
    data, target = subject(request)
    return xc.cause_of(network(request.dataset, request.model), data, target)


def predict_edited(request: Request, emit: Emit) -> tuple[float, ...]:
    """What the network says of a target after edits: the probability of every class."""
    data, target = subject(request)
    return tuple(target_probabilities(network(request.dataset, request.model), data, [target])[0].tolist())


@dataclass(frozen=True)
class Trying:
    """So many changed graphs the network was asked about so far."""

    tried: int


def find_flip(request: Request, kinds: tuple[str, ...], to: int | None, emit: Emit) -> Flip:
    """The smallest change that flips a prediction."""
    data, target = subject(request)
    model = network(request.dataset, request.model)
    return xc.flip(model, data, target, to, kinds, progress=lambda tried, _: emit(Trying(tried)))


@dataclass(frozen=True)
class Grouping:
    """So many predictions of so many are explained."""

    done: int
    of: int


def find_patterns(
    dataset: str,
    model: str,
    wrong: tuple[int | tuple[int, int], ...],
    right: tuple[int | tuple[int, int], ...],
    emit: Emit,
) -> Systematic:
    """What mistakes have in common that right predictions have not; everything is explained on the way."""
    kind = {"node": xc.Node, "graph": xc.WholeGraph, "link": lambda ends: xc.Link(*ends)}[card_of(dataset, model).task]
    parts = parts_of(dataset, model)
    train = () if parts is None else np.flatnonzero(parts == "train").tolist()
    mistaken, others, trained = ([kind(each) for each in some] for some in (wrong, right, train))
    return xc.systematic_mistakes(
        network(dataset, model),
        load_data(dataset),
        mistaken,
        others,
        train=trained,
        prototypes=stored_prototypes(usual_request(dataset, model, 0)),
        progress=lambda done, of: emit(Grouping(done, of)),
    )
