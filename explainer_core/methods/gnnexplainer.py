"""GNNExplainer: masks over edges and features, learnt so that the few that are kept carry the prediction.

For each prediction, by Adam over edge logits M and feature logits F, with s = sigmoid(M) and g = sigmoid(F):

    -log P(y | A_c * s, Z + (X_c - Z) * g)                        (equations 3 to 6 of the paper)
    + size(t) * sum s  + entropy * mean H(s)
    + feat_size * mean g + feat_entropy * mean H(g)
    + laplacian * f^T L_S f

size(t) rises over the run, so that first the useful edges are found and then the others are let go. Only the network
needs autograd; the other gradients are written out: d H(sigmoid(m)) / dm = -m s (1 - s), and that of the first term with
respect to the logits is softmax - y.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from explainer_core.hashing import hashed_index, hashed_normal
from explainer_core.methods.problem import Problem, Weights
from explainer_core.models.layers import sum_by
from explainer_core.neighborhood import undirected_edges

RISE = 3  # the size weight grows at least so many times, in small graphs too
HOLD = 0.8  # the size weight reaches its end at this share of the steps, then the masks settle
SETTLED = 2e-3  # a prediction is settled once no weight has moved more than this
PATIENCE = 5  # in as many steps
START_NOISE = 0.05  # of the first logits, so that seeds differ; about what the authors draw for 700 nodes
EDGES, FEATURES = 1, 2  # which random numbers are drawn


@dataclass(frozen=True)
class Step:
    """The state of the masks after a step, and the loss terms of all steps since the last one shown.

    The terms of a step are those it started from.
    """

    number: int
    terms: list[dict[str, Tensor]]  # each (P,)
    weights: Weights
    last: bool


def gnnexplainer(problem: Problem) -> Weights:
    """Learns until every mask has settled, or for all steps."""
    learner = _Learner(problem)
    while learner.more():
        learner.step()
    return learner.weights()


def gnnexplainer_steps(problem: Problem, every: int = 1) -> Iterator[Step]:
    """The same, seen after the first step, then every so many, and at the end. Leaving the loop leaves nothing behind."""
    learner, terms = _Learner(problem), []
    while learner.more():
        terms.append(learner.step(with_terms=True))
        last = not learner.more()
        if learner.number == 1 or learner.number % every == 0 or last:
            yield Step(learner.number, terms, learner.weights(), last)
            terms = []


class _Adam:
    """Adam (Kingma & Ba 2015) for one tensor, in place."""

    def __init__(self, parameter: Tensor, rate: float):
        self.parameter, self.rate, self.count = parameter, rate, 0
        self.mean, self.square = torch.zeros_like(parameter), torch.zeros_like(parameter)

    def step(self, gradient: Tensor) -> None:
        self.count += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = (1 - 0.999**self.count) ** 0.5
        denominator = self.square.sqrt().add_(1e-8 * scale)
        self.parameter.addcdiv_(self.mean, denominator, value=-self.rate * scale / (1 - 0.9**self.count))


class _Learner:
    """The masks of one batch while they are learnt."""

    def __init__(self, problem: Problem):
        self.problem, self.config = problem, problem.config
        c = problem.computation
        self.number, self.quiet = 0, torch.zeros(len(problem.goal), dtype=torch.int64, device=c.x.device)
        self.instance_prediction = problem.predictions_of_instances
        self.edge_prediction = self.instance_prediction[c.edge_instance]
        self.edge_count = torch.bincount(c.edge_instance, minlength=c.num_instances)[c.edge_instance]  # (e,)
        self.first_size = self.size_growth = None  # (e,), (e,)
        if self.config.size > 0 and self.config.size_start > 0:
            self.first_size = (self.config.size_start / self.edge_count).clamp(max=self.config.size / RISE)
            self.size_growth = self.config.size / self.first_size
        self.seeds = problem.seeds_of_instances  # (I,)
        self.taken = torch.zeros_like(self.quiet)  # (P,): steps until it settled
        # a distribution is softened like the logits, or keeping everything would not be its best explanation
        goal = problem.goal ** (1 / self.config.temperature)
        self.goal = goal / goal.sum(-1, keepdim=True)  # (P, C); one-hot rows stay as they are
        self.tie, self.num_ties = (
            undirected_edges(problem.computation) if self.config.direction == "symmetric" else (None, 0)
        )
        self.edge_logits = self._first_edge_logits()
        self.per_node = self.config.feature_mask == "per_node"
        self.row_instance = c.node_instance if self.per_node else torch.arange(c.num_instances, device=c.x.device)
        self.feature_logits = torch.zeros(len(self.row_instance), c.x.shape[1], device=c.x.device)
        rows = sum_by(self.row_instance, torch.ones_like(self.feature_logits[:, :1]), c.num_instances)
        self.feature_share = 1 / (rows * c.x.shape[1])[self.row_instance]  # (rows, 1): turns a sum into the mean
        self.learns_features, self.fill = problem.features_matter, problem.fill
        # hashed where the integers are: the same draws on every device
        self.fill_names = self.seeds.cpu()[c.node_instance.cpu()], c.node_ids.cpu()  # (n,) each
        self.edge_adam = _Adam(self.edge_logits, self.config.learning_rate)
        self.feature_adam = _Adam(self.feature_logits, self.config.learning_rate)
        self.differ = _differing_ends(problem)

    @property
    def may_settle(self) -> bool:
        """Not before the size weight has stopped rising."""
        return self.number >= HOLD * self.config.steps

    def more(self) -> bool:
        if not self.may_settle:
            return True
        return self.number < self.config.steps and not bool((self.quiet >= PATIENCE).all())

    def masks(self) -> tuple[Tensor, Tensor]:
        feature = self.feature_logits.sigmoid() if self.learns_features else torch.zeros_like(self.feature_logits)
        return self._for_edges(self.edge_logits.sigmoid()), feature

    def _for_edges(self, values: Tensor) -> Tensor:
        """One value for each directed edge, where both directions of an edge may share one: (e,)."""
        return values if self.tie is None else values[self.tie]

    def weights(self) -> Weights:
        edge, feature = self.masks()
        if not bool(torch.isfinite(edge).all() & torch.isfinite(feature).all()):
            raise ValueError(
                f"the model must give finite numbers for every mask (got others within {self.number} steps)"
            )
        if not self.per_node:
            return Weights(edge, feature, steps=self.taken.clone())
        c = self.problem.computation
        mean = sum_by(c.node_instance, feature * (self.feature_share * c.x.shape[1]), c.num_instances)
        return Weights(edge, mean, feature, steps=self.taken.clone())

    def step(self, with_terms: bool = False) -> dict[str, Tensor]:
        """One step of Adam; the terms of the objective before it, if asked for."""
        logits = self._for_edges(self.edge_logits)
        edge = self._for_edges(self.edge_logits.sigmoid())  # (e,)
        gate = self.feature_logits  # (I, F) or (n, F); without variation in the features it stays as it is
        if self.learns_features:
            gate = gate.sigmoid().requires_grad_()
            output, pull = self.problem.logits_and_pull(edge, self._filled(gate), (gate,))
        else:
            output, pull = self.problem.logits_and_pull(edge)
        log_share = (output / self.config.temperature).log_softmax(-1)  # (P, C)
        loss = -(self.goal * log_share).sum(-1)  # (P,)
        if not bool(torch.isfinite(loss).all()):
            raise ValueError(
                f"the model must give finite numbers for every mask (got {loss.tolist()[:3]} at step {self.number})"
            )
        slope = (log_share.exp_() - self.goal) / self.config.temperature  # of the loss with respect to the logits
        edge_slope, *gate_slope = pull(slope)
        with torch.no_grad():
            size = self._size()
            terms = self._terms(loss, size, edge, gate) if with_terms else {}
            moving = self.quiet < PATIENCE if self.may_settle else None  # (P,); None: all of them
            self._move_edges(edge.detach(), logits, edge_slope, size, moving)
            if self.learns_features:
                self._move_features(gate.detach(), gate_slope[0], moving)
            self.number += 1
            self.taken += 1 if moving is None else moving
            if self.may_settle:
                self._note_quiet(edge)
        return terms

    def _first_edge_logits(self) -> Tensor:
        c = self.problem.computation
        noise = hashed_normal(EDGES, self.seeds.cpu()[c.edge_instance.cpu()], c.edge_ids.cpu()).to(c.x.device)
        logits = self.config.start + START_NOISE * noise
        if self.tie is None:
            return logits
        members = sum_by(self.tie, torch.ones_like(logits), self.num_ties)
        return sum_by(self.tie, logits, self.num_ties) / members

    def _filled(self, gate: Tensor) -> Tensor:
        """Z + (X - Z) * g: hidden features take the values of some other node of the graph, or zero."""
        c = self.problem.computation
        gate = gate if self.per_node else gate.index_select(0, c.node_instance)  # (n, F)
        if self.fill == "zero":
            return c.x * gate
        chosen = hashed_index(len(self.problem.values), FEATURES, self.number, *self.fill_names)
        fill = self.problem.values.index_select(0, chosen.to(c.x.device))  # (n, F)
        return torch.lerp(fill, c.x, gate)

    def _size(self) -> Tensor | float:
        """Rises geometrically from its start, which all edges of an instance share, to its end, then holds: (e,)."""
        if self.first_size is None:
            return self.config.size
        share = min(1.0, self.number / max(1.0, HOLD * self.config.steps))
        return self.first_size * self.size_growth**share

    def _move_edges(self, edge: Tensor, logits: Tensor, slope: Tensor | None, size, moving: Tensor | None) -> None:
        slope = size if slope is None else slope + size  # None from a model that hears nobody
        if self.config.entropy:
            slope = slope - logits * (self.config.entropy / self.edge_count)
        if self.differ is not None:
            slope = slope + 0.5 * self.config.laplacian * self.differ
        slope = slope * (edge * (1 - edge))
        moves = None if moving is None else moving[self.edge_prediction]
        if self.tie is not None:
            slope = sum_by(self.tie, slope, self.num_ties)
            moves = None if moves is None else sum_by(self.tie, moves.long(), self.num_ties) > 0
        _move(self.edge_adam, slope, moves)

    def _move_features(self, gate: Tensor, slope: Tensor | None, moving: Tensor | None) -> None:
        slope = 0.0 if slope is None else slope
        slope = slope + (self.config.feat_size - self.config.feat_entropy * self.feature_logits) * self.feature_share
        moves = None if moving is None else moving[self.instance_prediction[self.row_instance]]
        _move(self.feature_adam, slope * (gate * (1 - gate)), moves)

    def _note_quiet(self, before: Tensor) -> None:
        """Counts the steps in which no weight of a prediction moved."""
        moved = (self.masks()[0] - before).abs() > SETTLED
        loud = sum_by(self.edge_prediction, moved.long(), len(self.quiet)) > 0
        self.quiet = torch.where(loud & (self.quiet < PATIENCE), 0, self.quiet + 1)

    def _terms(self, loss: Tensor, size: Tensor | float, edge: Tensor, gate: Tensor) -> dict[str, Tensor]:
        """Each term of the objective that weighs anything: (P,)."""
        predictions = len(loss)

        def total(values: Tensor, owner: Tensor) -> Tensor:
            return sum_by(owner, values, predictions)

        config, rows = self.config, self.instance_prediction[self.row_instance]
        terms = {"prediction": loss.detach(), "size": total(size * edge, self.edge_prediction)}
        if config.entropy:
            terms["entropy"] = config.entropy * total(binary_entropy(edge) / self.edge_count, self.edge_prediction)
        if self.learns_features:
            terms["feat_size"] = config.feat_size * total((gate * self.feature_share).sum(1), rows)
        if self.learns_features and config.feat_entropy:
            terms["feat_entropy"] = config.feat_entropy * total(
                (binary_entropy(gate) * self.feature_share).sum(1), rows
            )
        if self.differ is not None:
            terms["laplacian"] = 0.5 * config.laplacian * total(self.differ * edge, self.edge_prediction)
        return terms


def binary_entropy(share: Tensor) -> Tensor:
    """H(s) in nats; ln 2 at one half."""
    return -(torch.xlogy(share, share) + torch.xlogy(1 - share, 1 - share))


def _move(adam: _Adam, slope: Tensor, moves: Tensor | None) -> None:
    """A step for the rows that still move; settled ones stay where they are, as they would alone."""
    if moves is None or bool(moves.all()):
        adam.step(slope)
        return
    before = adam.parameter[~moves]
    adam.step(slope)
    adam.parameter[~moves] = before


def _differing_ends(problem: Problem) -> Tensor | None:
    """1 for an edge between nodes of different predicted classes, else 0: (e,).

    For labels f of zero and one, f^T L f is the sum over undirected edges of s (f_i - f_j)^2; each directed edge
    carries half of it. With more classes the square is one wherever they differ.
    """
    if not problem.config.laplacian or problem.node_class is None:
        return None
    ends = problem.node_class[problem.computation.edge_index]  # (2, e)
    return (ends[0] != ends[1]).float()
