"""Targets that are explained together: their objective, and what a method finds made into explanations."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.checks import shown
from explainer_core.computation.computation_graph import Computation
from explainer_core.computation.forward import run, whole_graph_batch
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.features import with_features
from explainer_core.explanation.judging import Judge
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.verifying import finished, verifying, with_verdicts
from explainer_core.graph import Graph, GraphSet
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Objective, Weights
from explainer_core.models.protocol import Model, ask, device_of
from explainer_core.targets import TASKS, Target, WholeGraph

TOGETHER = 50  # explanations whose subgraphs are searched for side by side: each keeps thousands of parts in memory


@dataclass(frozen=True)
class ExplainBatch:
    """Some targets that are explained together: their objective, and what the model says of them."""

    objective: Objective
    data: Graph | GraphSet
    targets: Sequence[Target]
    method: Method
    probabilities: Tensor  # (P, C)
    explained: list[int | None]

    @classmethod
    def make(
        cls, model, data, targets, computation: Computation, config, method: Method, target_class
    ) -> "ExplainBatch":
        device = device_of(model)
        computation = computation.to(device)
        task = TASKS[type(targets[0])]
        with torch.no_grad():
            logits = run(model, computation, task)
        if not torch.isfinite(logits).all():
            wrong = int((~torch.isfinite(logits).all(1)).nonzero()[0])
            raise ValueError(
                f"the model must give finite numbers (got {shown(logits[wrong].tolist())} for {shown(targets[wrong])})"
            )
        probabilities = logits.softmax(-1)
        goal, explained = _goal(probabilities, target_class)
        node_class = _node_classes(model, data, computation) if config.laplacian and task == "node" else None
        values = data.features_on(device)
        known = {
            "distribution": target_class == "distribution",
            "mean": data.feature_mean.to(device),
            "varying": data.features_vary,
            "types": data.features_are_types,
        }
        if isinstance(targets[0], WholeGraph) and isinstance(data, GraphSet):
            known["graph_numbers"] = torch.tensor([target.index for target in targets], device=device)
        objective = Objective(model, computation, config, task, values, goal, node_class, **known)
        return cls(objective, data, targets, method, probabilities, explained)

    @property
    def seeds(self) -> range:
        """Of the runs that are averaged for each target."""
        config = self.objective.config
        return range(config.seed, config.seed + (config.seeds if self.method.stochastic else 1))

    @property
    def masks_beside(self) -> dict[str, float]:
        """The masks that are optimised beside the method's own: their necessity by name."""
        return self._beside[0]

    @cached_property
    def _beside(self) -> tuple[dict[str, float], Tensor]:
        if self.method.beside is None:
            return {}, torch.zeros(len(self.targets), dtype=torch.bool)
        return self.method.beside(self.objective)

    def in_order(self, edge: Tensor, seeds: int) -> np.ndarray:
        """The mask of a single target, averaged over its seeds, in the order its explanation lists the edges."""
        return _numpy(edge.view(-1, seeds).mean(1)[self._edge_order]).astype(float)

    @cached_property
    def _edge_order(self) -> Tensor:
        return self.objective.computation.edge_instance.argsort(stable=True)

    def frames(self, snapshots: list[tuple[int, Tensor]], until: int, seeds: int) -> tuple[tuple[int, np.ndarray], ...]:
        """What a replay shows, in single precision: there are many, and nobody computes with them."""
        seen = ((number, edge) for number, edge in snapshots if number <= until)
        return tuple((number, self.in_order(edge, seeds).astype(np.float32)) for number, edge in seen)

    def finished(self, weights: Weights, seeds: int, history=None, snapshots=()) -> list[Explanation]:
        """The explanations with their G_S, its verdict, and the features that matter on it."""
        return finished(self.finishing(weights, seeds, history, snapshots))

    def finishing(
        self, weights: Weights, seeds: int, history=None, snapshots=(), answers: Answers | None = None
    ) -> Generator[None, None, list[Explanation]]:
        """The same, seen after every round of the search; the model's answers about a single target are kept, if asked for."""
        found = self.explanations(weights, seeds, history, snapshots)
        proposals = [{}] * len(found)
        if self.method.verifies:
            proposals = self._proposals(found, weights.proposals)
            yield
        done: list[Explanation] = []
        for first in range(0, len(found), TOGETHER):
            some = slice(first, first + TOGETHER)
            done += yield from self._checking(found[some], proposals[some], answers)
        return done

    def _checking(
        self, found: list[Explanation], proposals: list[dict[str, np.ndarray]], answers: Answers | None
    ) -> Generator[None, None, list[Explanation]]:
        judge = Judge(self.objective.model, self.data, found)
        if self.method.verifies:
            names = dict.fromkeys(
                name for some in proposals for name in some
            )  # in the order of the first that has each
            steady = [name for name in names if name != self.own_proposal]
            found = yield from verifying(judge, found, proposals, steady, answers)
        found = with_verdicts(judge, found, answers)
        yield
        return with_features(judge, self.data, found) if self.method.mask else found

    def _proposals(self, found: list[Explanation], optimised: dict[str, Tensor]) -> list[dict[str, np.ndarray]]:
        """What each proposal says of every undirected pair, for each target by name."""
        columns = {self.own_proposal: [explanation.edge_weight for explanation in found]}
        columns |= {name: self.by_target(edge) for name, edge in self.steady_proposals(optimised).items()}
        has_beside = self._beside[1].tolist()  # what another target of the batch is given must not change this one
        return [
            {
                name: explanation.undirected(column[i])[1]
                for name, column in columns.items()
                if has_beside[i] or name not in optimised
            }
            for i, explanation in enumerate(found)
        ]

    def steady_proposals(self, optimised: dict[str, Tensor]) -> dict[str, Tensor]:
        """Those that are the same from every start, the masks among them that were optimised beside the method's own."""
        assert self.method.propose is not None  # it verifies
        return self.method.propose(self.objective) | optimised

    @property
    def own_proposal(self) -> str:
        """What the method's own weights are called among the proposals: the only one that a start may decide."""
        return "mask" if self.method.mask else self.method.name

    def by_target(self, edge: Tensor) -> list[np.ndarray]:
        """A score for each edge, target by target and in the order of the explanations' edges."""
        columns = _Columns.of(self.objective, Weights(edge), 1)
        return [columns.of_target(i)["edge_weight"] for i in range(len(self.targets))]

    def explanations(
        self, weights: Weights, seeds: int, history=None, snapshots=(), masked: Tensor | None = None
    ) -> list[Explanation]:
        """One Explanation for each target, the seeds averaged."""
        columns = _Columns.of(self.objective, weights, seeds)
        if self.method.mask and masked is None:
            masked = self.masked_probabilities(weights, seeds)
        steps = [0] * len(self.targets) if weights.steps is None else weights.steps.view(-1, seeds).amax(1).tolist()
        found = []
        for i, target in enumerate(self.targets):
            found.append(
                Explanation(
                    target=target,
                    method=self.method.name,
                    config=self.objective.config,
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
    def masked_probabilities(self, weights: Weights, seeds: int, starts: int = 1) -> Tensor:
        """What the model says with the soft masks on, the seeds averaged; hidden features at their mean: (P * starts, C)."""
        objective = self.objective.repeated(starts * seeds)
        if weights.feature is None:
            return _seed_means(objective.logits(weights.edge, masked=True), seeds)
        c = objective.computation
        gate = weights.feature[c.node_instance] if weights.node_feature is None else weights.node_feature
        return _seed_means(objective.logits(weights.edge, torch.lerp(objective.emptied, c.x, gate), masked=True), seeds)


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
    def of(cls, objective: Objective, weights: Weights, seeds: int) -> "_Columns":
        c, parts = objective.computation, 2 if objective.task == "link" else 1
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
    word = target_class if isinstance(target_class, str) else ""
    if word == "distribution":
        return probabilities, [None] * count
    if word == "predicted":
        chosen = probabilities.argmax(-1)
    elif isinstance(target_class, int) and not isinstance(target_class, bool) and 0 <= target_class < num_classes:
        chosen = torch.full((count,), target_class, device=probabilities.device)
    else:
        raise ValueError(
            f"target_class must be 'predicted', 'distribution' or 0 to {num_classes - 1} (got {shown(target_class)})"
        )
    return nn.functional.one_hot(chosen, num_classes).float(), chosen.tolist()


@torch.no_grad()
def _node_classes(model: Model, data: Graph, computation: Computation) -> Tensor:
    """The predicted class of every node of the computation graphs: (n,)."""
    device = computation.x.device
    return ask(model, whole_graph_batch(data, device)).argmax(-1)[computation.node_ids]


def _starts(owner: Tensor, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(_numpy(torch.bincount(owner, minlength=count)))])


def _numpy(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
