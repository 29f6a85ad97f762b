"""The request: explain one prediction, many in one batch, or one while it is optimised."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from explainer_core.adapters import as_model, check_kind
from explainer_core.checks import at_least, shown
from explainer_core.computation.batches import check_targets, computation_of, computations
from explainer_core.config import ExplainConfig, checked_config
from explainer_core.device import one_thread
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.explain_batch import ExplainBatch
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.starts import Starts
from explainer_core.explanation.trust import STARTS, Agreement, agreement_of
from explainer_core.explanation.verifying import finished
from explainer_core.graph import Graph, GraphSet
from explainer_core.methods import DEFAULT_METHOD, METHODS, method_named
from explainer_core.methods.method import Method
from explainer_core.methods.runs import Runs
from explainer_core.models.frozen import frozen_eval_copy
from explainer_core.models.protocol import Model, check_features, check_model, offers
from explainer_core.targets import TASKS, Target

Seen = TypeVar("Seen")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # targets done, targets in all; may raise to stop
BATCH_EDGES = (
    50_000  # edges, over all seeds, that are optimised together; 3,000 and 20,000 took 2.7 and 1.4 times as long
)
SNAPSHOTS = 30  # how many states of the mask a single explanation keeps to replay


def explain(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    target: Target,
    config: ExplainConfig | None = None,
    method: str = DEFAULT_METHOD,
    *,
    target_class: int | str = "predicted",
) -> Explanation:
    """Why the model predicts what it does for one target.

    `target_class` is "predicted" (why this), a class number (what speaks for that one), or "distribution"
    (the whole prediction). A method that needs attention explains a network that pays it: the data set's GAT.
    """
    config = checked_config(config)
    if not method_named(method).learns_in_steps:
        return explain_many(model, data, [target], config, method, target_class=target_class)[0]
    every = _snapshot_distance(config)  # what lies between is not looked at
    steps = explain_steps(model, data, target, config, method, target_class=target_class, every=every)
    return deque(steps, maxlen=1).pop().explanation()


def explain_many(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    targets: Iterable[Target],
    config: ExplainConfig | None = None,
    method: str = DEFAULT_METHOD,
    *,
    target_class: int | str = "predicted",
    progress: Progress | bool = False,
) -> list[Explanation]:
    """The explanations of many targets, optimised together; each is what it would be alone, without the history.

    `progress` is called as they come, and may raise to stop; True shows a bar in the terminal.
    """
    targets = list(targets)
    if progress is True:
        with tqdm(total=len(targets), unit="target") as bar:
            advance = partial(_advance, bar)
            return explain_many(model, data, targets, config, method, target_class=target_class, progress=advance)
    config = checked_config(config)
    described = method_named(method)
    model = _model_for(model, data, targets)
    _check_request(model, data, targets, described)
    model, seeds = frozen_eval_copy(model), config.seeds if described.stochastic else 1
    found: list[Explanation] = []
    for piece, computation in computations(
        data,
        targets,
        model.hops,
        max_edges=config.max_edges,
        seed=config.seed,
        budget=max(1, BATCH_EDGES // seeds),
    ):
        with one_thread():
            batch = ExplainBatch.make(model, data, piece, computation, config, described, target_class)
            runs = Runs(batch.seeds, batch.masks_beside)
            found += batch.finished(runs.own(described(runs.of(batch.objective))), seeds)
        if progress:
            progress(len(found), len(targets))
    return found


def weigh(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    target: Target,
    config: ExplainConfig | None = None,
    method: str = DEFAULT_METHOD,
) -> Explanation:
    """The weights of a method alone: its G_S is not looked for, and the model is asked for the prediction and no more.

    With a method that asks nothing either, this is what is known of a target before it is explained.
    """
    config, described = checked_config(config), method_named(method)
    model = _model_for(model, data, [target])
    _check_request(model, data, [target], described)
    model = frozen_eval_copy(model)
    with one_thread():
        computation = computation_of(data, [target], model.hops, max_edges=config.max_edges, seed=config.seed)
        batch = ExplainBatch.make(model, data, [target], computation, config, described, "predicted")
        runs = Runs(batch.seeds, {})
        return batch.explanations(runs.own(described(runs.of(batch.objective))), len(batch.seeds))[0]


@dataclass(frozen=True)
class LearningStep:
    """One step of a mask being optimised. What costs time is worked out when asked for."""

    number: int
    explaining: Callable[[], Generator[None, None, Explanation]]  # as it stands; yields after every round of the search
    _terms: dict[str, Tensor]
    _edge_weight: Callable[[], np.ndarray]

    def explanation(self) -> Explanation:
        """As it stands."""
        return finished(self.explaining())

    @property
    def terms(self) -> dict[str, float]:
        """The loss terms this step started from, averaged over the seeds."""
        return {name: float(values.mean()) for name, values in self._terms.items()}

    @property
    def edge_weight(self) -> np.ndarray:
        """The mask after this step, in the order of the explanation's edges: (e,)."""
        return self._edge_weight()


def _advance(bar: tqdm, done: int, total: int) -> None:
    bar.update(done - bar.n)


def explain_steps(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    target: Target,
    config: ExplainConfig | None = None,
    method: str = DEFAULT_METHOD,
    *,
    target_class: int | str = "predicted",
    every: int = 1,
    answers: Answers | None = None,
) -> Generator[LearningStep, None, None]:
    """The mask while it is optimised: the first step, then every so many, and the last.

    `answers` collects what the model says of parts of the graph, for `explain_starts`. Leaving the loop stops it and leaves nothing else behind.
    """
    at_least("every", every, 1)
    config = checked_config(config)
    described = method_named(method)
    if described.steps is None:
        stepwise = ", ".join(name for name, each in METHODS.items() if each.learns_in_steps)
        raise ValueError(f"a method that learns in steps is one of {stepwise} (got {method!r}); use explain")
    model = _model_for(model, data, [target])
    _check_request(model, data, [target], described)
    model, seeds = frozen_eval_copy(model), config.seeds if described.stochastic else 1
    with one_thread():
        computation = computation_of(data, [target], model.hops, max_edges=config.max_edges, seed=config.seed)
        batch = ExplainBatch.make(model, data, [target], computation, config, described, target_class)
        runs = Runs(batch.seeds, batch.masks_beside)
    history: list[dict[str, Tensor]] = []
    snapshots: list[tuple[int, Tensor]] = []
    distance = _snapshot_distance(config)
    for step in _on_one_thread(described.steps(runs.of(batch.objective), every)):
        history.extend(runs.own_terms(terms, batch.objective) for terms in step.terms)
        weights = runs.own(step.weights)
        if step.number == 1 or step.number % distance == 0 or step.last:
            snapshots.append((step.number, weights.edge))

        def explaining(weights=weights, until=step.number) -> Generator[None, None, Explanation]:
            curves, frames = _curves(history[:until]), batch.frames(snapshots, until, seeds)
            return (yield from _on_one_thread(batch.finishing(weights, seeds, curves, frames, answers)))[0]

        def edge_weight(weights=weights) -> np.ndarray:
            return batch.in_order(weights.edge, seeds)

        yield LearningStep(step.number, explaining, history[-1], edge_weight)


def _on_one_thread(steps: Generator[Seen, None, Result]) -> Generator[Seen, None, Result]:
    """Between two steps the caller has as many threads as before."""
    while True:
        with one_thread():
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
        yield step


def _snapshot_distance(config: ExplainConfig) -> int:
    return max(1, config.steps // SNAPSHOTS)


def _curves(history: list[dict[str, Tensor]]) -> dict[str, list[float]]:
    """Each term over the steps, averaged over the seeds."""
    names = history[0] if history else ()
    return {name: torch.stack([terms[name] for terms in history]).mean(1).tolist() for name in names}


def _model_for(model: Model | nn.Module, data: Graph | GraphSet, targets: Sequence[Target]) -> Model:
    """A network that is no Model yet is adapted to the data; what is wrong with the targets comes first."""
    check_kind(data)
    check_targets(data, targets)
    return as_model(model, data, TASKS[type(targets[0])] if targets else None)


def _check_request(model: Model, data: Graph | GraphSet, targets: Sequence[Target], method: Method) -> None:
    check_model(model)
    for target in targets[:1]:  # they are all of one kind
        if TASKS[type(target)] != model.task:
            raise ValueError(
                f"a {model.task} model explains a {model.task} (got {shown(target)}); load a {TASKS[type(target)]} model"
            )
    check_features(model, data.x)
    if method.needs_attention and not offers(model, "attention"):
        kind = getattr(getattr(model, "spec", None), "kind", type(model).__name__)
        raise ValueError(f"{method.name} needs a gat model (got {kind!r}); load the data set's gat")


def explain_starts(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    explanation: Explanation,
    *,
    starts: int = STARTS,
    known: int = 1,
    answers: Answers | None = None,
) -> Generator[float, None, list[Explanation]]:
    """Explains the same target from the other starts, all at once: yields the share that is done, and returns the explanations.

    Each is what `explain` finds from its seed, without features and history; start s has the seed s runs of
    `config.seeds` further on. The explanation itself is the first start, and the first `known` of them are left out.
    What the model has said before of parts of the same computation graph, it is not asked again: `answers`, as
    `explain_steps` with the same model and settings has left them. Leaving the loop leaves nothing else behind.
    """
    at_least("known", known, 1)
    at_least("starts", starts, known + 1)
    config, target, method = explanation.config, explanation.target, method_named(explanation.method)
    asked = "distribution" if explanation.explained_class is None else explanation.explained_class
    first_seeds = [(config.seed + start * config.seeds) % 2**31 for start in range(known, starts)]
    config = replace(config, features="none")
    model = _model_for(model, data, [target])
    _check_request(model, data, [target], method)
    if explanation.sampled:  # each start has a sample of its own
        found: list[Explanation] = []
        for seed in first_seeds:
            found += explain_many(model, data, [target], replace(config, seed=seed), method.name, target_class=asked)
            yield len(found) / len(first_seeds)
        return found
    model, seeds = frozen_eval_copy(model), config.seeds if method.stochastic else 1
    with one_thread():
        computation = computation_of(data, [target], model.hops, max_edges=config.max_edges, seed=config.seed)
        batch = ExplainBatch.make(model, data, [target], computation, config, method, asked)
    together = max(1, BATCH_EDGES // max(1, computation.num_edges * seeds))
    return (yield from _on_one_thread(Starts(batch, first_seeds, seeds, together, answers).explaining()))


def agreement_over_starts(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    explanation: Explanation,
    *,
    starts: int = STARTS,
) -> Agreement:
    """Explains the same target from other starts, and compares the G_S that each would show."""
    others = finished(explain_starts(model, data, explanation, starts=starts))
    return agreement_of([explanation.subgraph(), *(other.subgraph() for other in others)])
