"""The request: explain one prediction, many in one batch, or one while it is learnt."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from explainer_core.config import ExplainConfig
from explainer_core.device import one_thread
from explainer_core.explanation import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.methods import METHODS
from explainer_core.methods.gnnexplainer import Step, gnnexplainer_steps
from explainer_core.methods.problem import Problem, Weights, run, still
from explainer_core.neighborhood import Computation, check_targets, computation_of, computations
from explainer_core.refine import refine
from explainer_core.targets import Link, Node, Target, WholeGraph

Progress = Callable[[int, int], None]  # targets done, targets in all; may raise to stop
BATCH_EDGES = 50_000  # edges, over all seeds, that are learnt together; 3,000 and 20,000 took 2.7 and 1.4 times as long
SNAPSHOTS = 30  # how many states of the mask a single explanation keeps to replay
SEEDED = ("gnnexplainer", "random")  # the methods in which chance plays a part
TASKS = {Node: "node", WholeGraph: "graph", Link: "link"}


def explain(
    model: nn.Module,
    data: Graph | GraphSet,
    target: Target,
    config: ExplainConfig | None = None,
    method: str = "gnnexplainer",
    *,
    target_class: int | str = "predicted",
) -> Explanation:
    """Why the model predicts what it does for one target.

    `target_class` is "predicted" (why this), a class number (what speaks for that one), or "distribution"
    (the whole prediction). For "attention" the model is the data set's GAT.
    """
    config = ExplainConfig() if config is None else config
    if method != "gnnexplainer":
        return explain_many(model, data, [target], config, method, target_class=target_class)[0]
    every = _snapshot_distance(config)  # what lies between is not looked at
    last = deque(explain_steps(model, data, target, config, target_class=target_class, every=every), maxlen=1).pop()
    return last.explanation()


def explain_many(
    model: nn.Module,
    data: Graph | GraphSet,
    targets: Sequence[Target],
    config: ExplainConfig | None = None,
    method: str = "gnnexplainer",
    *,
    target_class: int | str = "predicted",
    progress: Progress | bool = False,
) -> list[Explanation]:
    """The explanations of many targets, learnt together; each is what it would be alone, without the history.

    `progress` is called as they come, and may raise to stop; True shows a bar in the terminal.
    """
    if progress is True:
        with tqdm(total=len(targets), unit="target") as bar:
            advance = partial(_advance, bar)
            return explain_many(model, data, targets, config, method, target_class=target_class, progress=advance)
    config = ExplainConfig() if config is None else config
    _check_request(model, data, targets, method)
    model, seeds = still(model), config.seeds if method in SEEDED else 1
    found: list[Explanation] = []
    for piece, computation in computations(
        data,
        targets,
        model.num_layers,
        max_edges=config.max_edges,
        seed=config.seed,
        budget=max(1, BATCH_EDGES // seeds),
    ):
        with one_thread():
            case = _Case.make(model, data, piece, computation, config, method, target_class)
            found += case.finished(METHODS[method](case.problem.repeated(seeds)), seeds)
        if progress:
            progress(len(found), len(targets))
    return found


@dataclass(frozen=True)
class LearningStep:
    """One step of a mask being learnt. What costs time is worked out when asked for."""

    number: int
    explanation: Callable[[], Explanation]  # as it stands
    _terms: dict[str, Tensor]
    _edge_weight: Callable[[], np.ndarray]

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
    model: nn.Module,
    data: Graph | GraphSet,
    target: Target,
    config: ExplainConfig | None = None,
    *,
    target_class: int | str = "predicted",
    every: int = 1,
) -> Iterator[LearningStep]:
    """GNNExplainer while it learns: the first step, then every so many, and the last.

    Leaving the loop stops it and leaves nothing behind.
    """
    if every < 1:
        raise ValueError(f"every must be at least 1 (got {every})")
    config = ExplainConfig() if config is None else config
    _check_request(model, data, [target], "gnnexplainer")
    model = still(model)
    with one_thread():
        computation = computation_of(data, [target], model.num_layers, max_edges=config.max_edges, seed=config.seed)
        case = _Case.make(model, data, [target], computation, config, "gnnexplainer", target_class)
    history: list[dict[str, Tensor]] = []
    snapshots: list[tuple[int, Tensor]] = []
    distance = _snapshot_distance(config)
    for step in _on_one_thread(gnnexplainer_steps(case.problem.repeated(config.seeds), every)):
        history.extend(step.terms)
        if step.number == 1 or step.number % distance == 0:
            snapshots.append((step.number, step.weights.edge))

        @one_thread()
        def explanation(weights=step.weights, until=step.number) -> Explanation:
            return case.finished(weights, config.seeds, _curves(history[:until]), case.frames(snapshots, until))[0]

        def edge_weight(weights=step.weights) -> np.ndarray:
            return case.in_order(weights.edge)

        yield LearningStep(step.number, explanation, step.terms[-1], edge_weight)


def _on_one_thread(steps: Iterator[Step]) -> Iterator[Step]:
    """Between two steps the caller has as many threads as before."""
    while True:
        with one_thread():
            step = next(steps, None)
        if step is None:
            return
        yield step


def _snapshot_distance(config: ExplainConfig) -> int:
    return max(1, config.steps // SNAPSHOTS)


def _curves(history: list[dict[str, Tensor]]) -> dict[str, list[float]]:
    """Each term over the steps, averaged over the seeds."""
    names = history[0] if history else ()
    return {name: torch.stack([terms[name] for terms in history]).mean(1).tolist() for name in names}


def _check_request(model: nn.Module, data: Graph | GraphSet, targets: Sequence[Target], method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)} (got {method!r})")
    check_targets(data, targets)
    spec = model.spec
    for target in targets[:1]:  # they are all of one kind
        if TASKS[type(target)] != spec.task:
            raise ValueError(
                f"a {spec.task} model explains a {spec.task} (got {target}); load a {TASKS[type(target)]} model"
            )
    if data.num_features != spec.in_features:
        raise ValueError(f"the model reads {spec.in_features} features a node (got data with {data.num_features})")
    if method == "attention" and spec.kind != "gat":
        raise ValueError(f"attention needs a gat model (got {spec.kind!r}); load the data set's gat")


@dataclass(frozen=True)
class _Case:
    """Some targets that are explained together: their problem, and what the model says of them."""

    problem: Problem
    data: Graph | GraphSet
    targets: Sequence[Target]
    method: str
    probabilities: Tensor  # (P, C)
    explained: list[int | None]

    @classmethod
    def make(cls, model, data, targets, computation: Computation, config, method: str, target_class) -> "_Case":
        device = next(model.parameters()).device
        computation = computation.to(device)
        task = TASKS[type(targets[0])]
        with torch.no_grad():
            logits = run(model, computation, task)
        if not torch.isfinite(logits).all():
            wrong = int((~torch.isfinite(logits).all(1)).nonzero()[0])
            raise ValueError(f"the model must give finite numbers (got {logits[wrong].tolist()} for {targets[wrong]})")
        probabilities = logits.softmax(-1)
        goal, explained = _goal(probabilities, target_class)
        node_class = _node_classes(model, data, computation) if config.laplacian and task == "node" else None
        values = data.x.to(device)
        known = {
            "mean": data.feature_mean.to(device),
            "varying": data.features_vary,
            "types": data.features_are_types,
        }
        problem = Problem(model, computation, config, task, values, goal, node_class, **known)
        return cls(problem, data, targets, method, probabilities, explained)

    def in_order(self, edge: Tensor) -> np.ndarray:
        """The mask of a single target, averaged over its seeds, in the order its explanation lists the edges."""
        order = self.problem.computation.edge_instance.argsort(stable=True)
        return _numpy(edge.view(-1, self.problem.config.seeds).mean(1)[order]).astype(float)

    def frames(self, snapshots: list[tuple[int, Tensor]], until: int) -> tuple[tuple[int, np.ndarray], ...]:
        return tuple((number, self.in_order(edge)) for number, edge in snapshots if number <= until)

    def finished(self, weights: Weights, seeds: int, history=None, snapshots=()) -> list[Explanation]:
        """The explanations, refined where that is asked for. Only a learnt mask is: the others are there to compare."""
        found = self.explanations(weights, seeds, history, snapshots)
        refines = self.method == "gnnexplainer" and self.problem.config.refine
        return refine(self.problem.model, self.data, found) if refines else found

    def explanations(self, weights: Weights, seeds: int, history=None, snapshots=()) -> list[Explanation]:
        """One Explanation for each target, the seeds averaged."""
        columns = _Columns.of(self.problem, weights, seeds)
        masked = self._masked_probabilities(weights, seeds) if self.method == "gnnexplainer" else None
        steps = [0] * len(self.targets) if weights.steps is None else weights.steps.view(-1, seeds).amax(1).tolist()
        found = []
        for i, target in enumerate(self.targets):
            found.append(
                Explanation(
                    target=target,
                    method=self.method,
                    config=self.problem.config,
                    explained_class=self.explained[i],
                    predicted_class=int(self.probabilities[i].argmax()),
                    probabilities=tuple(self.probabilities[i].tolist()),
                    masked_probabilities=None if masked is None else tuple(masked[i].tolist()),
                    history=history or {},
                    snapshots=snapshots,
                    steps=steps[i],
                    **columns.of_target(i),
                )
            )
        return found

    @torch.no_grad()
    def _masked_probabilities(self, weights: Weights, seeds: int) -> Tensor:
        """What the model says with the soft masks on, the seeds averaged; hidden features at their mean: (P, C)."""
        problem = self.problem.repeated(seeds)
        if not problem.features_matter:
            return _seed_means(problem.logits(weights.edge), seeds)
        c = problem.computation
        gate = weights.feature[c.node_instance] if weights.node_feature is None else weights.node_feature
        return _seed_means(problem.logits(weights.edge, torch.lerp(problem.emptied, c.x, gate)), seeds)


def _seed_means(logits: Tensor, seeds: int) -> Tensor:
    """Probabilities averaged over the seeds, which lie side by side: (P, C)."""
    return logits.softmax(-1).view(-1, seeds, logits.shape[-1]).mean(1)


@dataclass(frozen=True)
class _Columns:
    """The arrays of all targets, sorted target by target and still nearest first, to be cut apart."""

    parts: int  # instances of one target: two for a link
    node_start: np.ndarray  # (T + 1,)
    edge_start: np.ndarray  # (T + 1,)
    node_values: dict[str, np.ndarray]
    edge_values: dict[str, np.ndarray]
    by_seed: np.ndarray  # (e, seeds)
    feature: np.ndarray | None  # (T, F)
    sampled: np.ndarray  # (T,)

    @classmethod
    def of(cls, problem: Problem, weights: Weights, seeds: int) -> "_Columns":
        c, parts = problem.computation, 2 if problem.task == "link" else 1
        num_targets = c.num_instances // parts
        edges, nodes = c.edge_instance.argsort(stable=True), c.node_instance.argsort(stable=True)
        feature = weights.feature
        if feature is not None:  # instances come target by target, seed by seed, end by end
            feature = _numpy(feature.view(num_targets, seeds * parts, -1).mean(1)).astype(float)
        return cls(
            parts=parts,
            node_start=_starts(c.node_instance // parts, num_targets),
            edge_start=_starts(c.edge_instance // parts, num_targets),
            node_values={"nodes": _numpy(c.node_ids[nodes]), "hop": _numpy(c.hop[nodes])},
            edge_values={
                "edge_index": _numpy(c.node_ids[c.edge_index][:, edges]),
                "edge_ids": _numpy(c.edge_ids[edges]),
                "edge_part": _numpy(c.edge_instance[edges] % parts),
            },
            by_seed=_numpy(weights.edge.view(-1, seeds)[edges]).astype(float),
            feature=feature,
            sampled=_numpy(c.sampled.view(num_targets, parts).any(1)),
        )

    def of_target(self, i: int) -> dict:
        """The fields of one Explanation."""
        nodes, edges = slice(*self.node_start[i : i + 2]), slice(*self.edge_start[i : i + 2])
        by_seed = self.by_seed[edges]
        several = by_seed.shape[1] > 1
        return {
            **{name: values[nodes] for name, values in self.node_values.items()},
            **{name: values[..., edges] for name, values in self.edge_values.items()},
            "edge_weight": by_seed.mean(1),
            "edge_spread": by_seed.std(1) if several else None,
            "seed_weights": by_seed.T if several else None,
            "feature_weight": None if self.feature is None else self.feature[i],
            "sampled": bool(self.sampled[i]),
        }


def _goal(probabilities: Tensor, target_class: int | str) -> tuple[Tensor, list[int | None]]:
    """The classes asked about as rows of a distribution: (P, C), and as numbers."""
    count, num_classes = probabilities.shape
    if target_class == "distribution":
        return probabilities, [None] * count
    if target_class == "predicted":
        chosen = probabilities.argmax(-1)
    elif isinstance(target_class, int) and not isinstance(target_class, bool) and 0 <= target_class < num_classes:
        chosen = torch.full((count,), target_class, device=probabilities.device)
    else:
        raise ValueError(
            f"target_class must be 'predicted', 'distribution' or 0 to {num_classes - 1} (got {target_class!r})"
        )
    return nn.functional.one_hot(chosen, num_classes).float(), chosen.tolist()


@torch.no_grad()
def _node_classes(model, data: Graph, computation: Computation) -> Tensor:
    """The predicted class of every node of the computation graphs: (n,)."""
    device = computation.x.device
    types = None if data.edge_types is None else data.edge_types.to(device)
    return model(data.x.to(device), data.edge_index.to(device), edge_type=types).argmax(-1)[computation.node_ids]


def _starts(owner: Tensor, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(_numpy(torch.bincount(owner, minlength=count)))])


def _numpy(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
