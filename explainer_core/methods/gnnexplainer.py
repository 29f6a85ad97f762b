"""GNNExplainer: masks over edges and features, optimised so that the few that are kept carry the prediction.

For each prediction, by Adam over edge logits M and feature logits F, with s = sigmoid(M) and g = sigmoid(F):

    -log P(y | A_c * s, Z + (X_c - Z) * g)                        (equations 3 to 6 of the paper)
    - necessity * log(1 - P(y | A_c * (1 - s), X_c))
    + size(t) * sum s  + entropy * mean H(s)
    + feat_size * mean g + feat_entropy * mean H(g)
    + laplacian * f^T L_S f

The second term is ours: where the class is what the network says by default, any mask keeps it, and only what takes it
away tells edges apart. F is optimised together with M as in the paper, or afterwards on the found subgraph (explanation/features.py), in
which case g is one here. size(t) rises over the run, so that first the useful edges are found and then the others are let
go. Only the network needs autograd; the other gradients are closed forms: d H(sigmoid(m)) / dm = -m s (1 - s), that of the
first term with respect to the logits is softmax - y, and that of the second q / (1 - q) (y / q - 1) softmax with q = P(y).

Inside a step nothing waits for the device: finite numbers and settled masks are looked at every CHECK steps.
"""

from collections.abc import Generator

import torch
from torch import Tensor

from explainer_core.computation.computation_graph import undirected_edges
from explainer_core.hashing import hashed_index, hashed_normal
from explainer_core.methods.adam import Adam
from explainer_core.methods.losses import binary_entropy, necessity, sufficiency
from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.methods.objective import Objective, Step, Weights
from explainer_core.models.layers import sum_by

RISE = 3  # the size weight grows at least so many times, in small graphs too
HOLD = 0.8  # the size weight reaches its end at this share of the steps, then the masks settle
CHECK = 10  # steps between two looks at whether the numbers are finite and the masks have settled
SETTLED = 5e-3  # a prediction is settled once no weight has moved more than this between two looks
START_NOISE = 0.05  # of the first logits, so that seeds differ; about what the authors draw for 700 nodes
EDGES, FEATURES = 1, 2  # which random numbers are drawn


def gnnexplainer(objective: Objective) -> Weights:
    """Optimises until every mask has settled, or for all steps."""
    learner = _Learner(objective)
    while learner.more():
        learner.step()
    return learner.weights()


def gnnexplainer_steps(objective: Objective, every: int = 1) -> Generator[Step, None, None]:
    """The same, seen after the first step, then every so many, and at the end. Leaving the loop leaves nothing behind."""
    learner, terms = _Learner(objective), []
    while learner.more():
        terms.append(learner.step(with_terms=True))
        last = not learner.more()
        if learner.number == 1 or learner.number % every == 0 or last:
            yield Step(learner.number, terms, learner.weights(), last)
            terms = []


class _Learner:
    """The masks of one batch while they are optimised."""

    def __init__(self, objective: Objective):
        self.objective, self.config = objective, objective.config
        c = objective.computation
        self.number, self.all_settled = 0, False
        self.instance_prediction = objective.predictions_of_instances
        self.edge_prediction = self.instance_prediction[c.edge_instance]
        self.edge_count = torch.bincount(c.edge_instance, minlength=c.num_instances)[c.edge_instance]  # (e,)
        self.rising_size: tuple[Tensor, Tensor] | None = None  # (e,), (e,): its start, and how many times it grows
        if self.config.size > 0 and self.config.size_start > 0:
            start = (self.config.size_start / self.edge_count).clamp(max=self.config.size / RISE)
            self.rising_size = start, self.config.size / start
        self.seeds = objective.seeds_of_instances  # (I,)
        # a distribution is softened like the logits, or keeping everything would not be its best explanation
        goal = objective.goal ** (1 / self.config.temperature)
        self.goal = goal / goal.sum(-1, keepdim=True)  # (P, C); one-hot rows stay as they are
        self.tie, self.num_ties = (
            undirected_edges(objective.computation) if self.config.direction == "symmetric" else (None, 0)
        )
        self.edge_logits = self._first_edge_logits()
        self.per_node = self.config.feature_mask == "per_node"
        self.row_instance = c.node_instance if self.per_node else torch.arange(c.num_instances, device=c.x.device)
        self.learns_features = self.config.features == "joint" and objective.features_matter
        self.fill = objective.fill
        if self.learns_features:
            self.feature_logits = torch.zeros(len(self.row_instance), c.x.shape[1], device=c.x.device)
            rows = sum_by(self.row_instance, torch.ones_like(self.feature_logits[:, :1]), c.num_instances)
            self.feature_share = 1 / (rows * c.x.shape[1])[self.row_instance]  # (rows, 1): turns a sum into the mean
            self.fill_names = self.seeds[c.node_instance], c.node_ids  # (n,) each
            self.feature_adam = Adam(self.feature_logits, self.config.learning_rate)
        # both sides of the mask in one pass: twice as wide, and hardly slower on small neighbourhoods
        self.necessity: Tensor | float = self.config.necessity if objective.necessity is None else objective.necessity
        self.two_sided = not objective.distribution and bool(torch.as_tensor(self.necessity).any())
        self.both = objective.repeated(2) if self.two_sided and not self.learns_features else None
        self.edge_adam = Adam(self.edge_logits, self.config.learning_rate, self._per_logit(objective.rate))
        self.differ = objective.differing_ends()
        self.moving = torch.ones(len(objective.goal), dtype=torch.bool, device=c.x.device)  # (P,): not settled yet
        self.steps_taken = torch.zeros_like(self.moving, dtype=torch.int64)  # (P,): steps until it settled
        self.looked_at: Tensor | None = None  # (e,): the mask at the last look

    @property
    def may_settle(self) -> bool:
        """Not before the size weight has stopped rising."""
        return self.number >= HOLD * self.config.steps

    def more(self) -> bool:
        return self.number < self.config.steps and not self.all_settled

    def mask(self) -> Tensor:
        """One weight for each directed edge, where both directions of an edge may share one: (e,)."""
        values = self.edge_logits.sigmoid()
        return values if self.tie is None else values[self.tie]

    def weights(self) -> Weights:
        edge, c = self.mask(), self.objective.computation
        self._check_finite(edge)
        if not self.learns_features:
            return Weights(edge, steps=self.steps_taken.clone())
        feature = self.feature_logits.sigmoid()
        if not self.per_node:
            return Weights(edge, feature, steps=self.steps_taken.clone())
        mean = sum_by(c.node_instance, feature * (self.feature_share * c.x.shape[1]), c.num_instances)
        return Weights(edge, mean, feature, steps=self.steps_taken.clone())

    def step(self, with_terms: bool = False) -> dict[str, Tensor]:
        """One step of Adam; the terms of the objective before it, if asked for."""
        edge = self.mask()  # (e,)
        gate = self.feature_logits.sigmoid() if self.learns_features else None  # (I, F) or (n, F)
        losses, edge_gradient, gate_gradient = self._losses_and_gradients(edge, gate)
        with torch.no_grad():
            size = self._size()
            terms = self._terms(losses, size, edge, gate) if with_terms else {}
            self._move_edges(edge, edge_gradient, size)
            if gate is not None:
                self._move_features(gate, gate_gradient)
            self.number += 1
            self.steps_taken += self.moving
            if self.number % CHECK == 0:
                self._look(edge)
        return terms

    def _losses_and_gradients(
        self, edge: Tensor, gate: Tensor | None
    ) -> tuple[dict[str, Tensor], Tensor | None, Tensor | None]:
        """The two terms that ask the network, (P,) each, and their gradients in the masks."""
        temperature = self.config.temperature
        if self.both is not None:
            output, backward = self.both.logits_and_vjp(torch.stack([edge, 1 - edge], -1).flatten(), masked=True)
            kept, left = output.view(-1, 2, output.shape[-1]).unbind(1)  # (P, C) each
            loss, in_kept = sufficiency(kept, self.goal, temperature)
            lost, in_left = necessity(left, self.goal, temperature, self.necessity)
            (joined,) = backward(torch.stack([in_kept, in_left], 1).flatten(0, 1))
            gradient = None if joined is None else joined[0::2] - joined[1::2]
            return {"prediction": loss, "necessity": lost}, gradient, None
        if gate is None:
            output, backward = self.objective.logits_and_vjp(edge, masked=True)
            loss, in_logits = sufficiency(output, self.goal, temperature)
            return {"prediction": loss}, backward(in_logits)[0], None
        gate = gate.requires_grad_()
        output, backward = self.objective.logits_and_vjp(
            edge.detach().clone(), self._filled(gate), (gate,), masked=True
        )
        loss, in_logits = sufficiency(output, self.goal, temperature)
        gradient, gate_gradient = backward(in_logits)
        if not self.two_sided:
            return {"prediction": loss}, gradient, gate_gradient
        output, backward = self.objective.logits_and_vjp(1 - edge, masked=True)
        lost, in_logits = necessity(output, self.goal, temperature, self.necessity)
        (left,) = backward(in_logits)
        gradient = gradient if left is None else -left if gradient is None else gradient - left
        return {"prediction": loss, "necessity": lost}, gradient, gate_gradient

    def _look(self, before: Tensor) -> None:
        """The only point where the host waits for the device: are the numbers finite, and which masks have settled?"""
        mask = self.mask()
        self._check_finite(mask)
        if self.may_settle:
            if self.looked_at is not None:
                moved = ((mask - self.looked_at).abs() > SETTLED).long()
                self.moving &= sum_by(self.edge_prediction, moved, len(self.moving)) > 0
            self.looked_at = mask
            self.all_settled = not bool(self.moving.any())

    def _check_finite(self, mask: Tensor) -> None:
        finite = torch.isfinite(mask).all()
        if self.learns_features:
            finite = finite & torch.isfinite(self.feature_logits).all()
        if not bool(finite):
            raise ValueError(
                f"the model must give finite numbers for every mask (got others within {self.number} steps)"
            )

    def _first_edge_logits(self) -> Tensor:
        c = self.objective.computation
        names = self.objective.names_of_instances.cpu(), self.seeds.cpu()  # a graph's own noise, not its position's
        owner = c.edge_instance.cpu()
        noise = hashed_normal(EDGES, names[0][owner], names[1][owner], c.edge_ids.cpu()).to(c.x.device)
        logits = self.config.start + START_NOISE * noise
        if self.tie is None:
            return logits
        members = sum_by(self.tie, torch.ones_like(logits), self.num_ties)
        return sum_by(self.tie, logits, self.num_ties) / members

    def _per_logit(self, values: Tensor | None) -> Tensor | None:
        """What each prediction has, for each of its edge logits."""
        if values is None:
            return None
        of_edge = values[self.edge_prediction]
        if self.tie is None:
            return of_edge
        return of_edge.new_zeros(self.num_ties).scatter_(0, self.tie, of_edge)  # both directions are of one prediction

    def _filled(self, gate: Tensor) -> Tensor:
        """Z + (X - Z) * g: hidden features take the values of some other node of the graph, or zero."""
        c = self.objective.computation
        gate = gate if self.per_node else gate.index_select(0, c.node_instance)  # (n, F)
        if self.fill == "zero":
            return c.x * gate
        chosen = hashed_index(len(self.objective.values), FEATURES, self.number, *self.fill_names)
        return torch.lerp(self.objective.values.index_select(0, chosen), c.x, gate)

    def _size(self) -> Tensor | float:
        """Rises geometrically from its start, which all edges of an instance share, to its end, then holds: (e,)."""
        if self.rising_size is None:
            return self.config.size
        start, growth = self.rising_size
        share = min(1.0, self.number / max(1.0, HOLD * self.config.steps))
        return start * growth**share

    def _move_edges(self, edge: Tensor, gradient: Tensor | None, size: Tensor | float) -> None:
        total = size if gradient is None else gradient + size  # None from a model that no edge reaches
        if self.config.entropy:
            logits = self.edge_logits if self.tie is None else self.edge_logits[self.tie]
            total = total - logits * (self.config.entropy / self.edge_count)
        if self.differ is not None:
            total = total + 0.5 * self.config.laplacian * self.differ
        gradient = total * (edge * (1 - edge))
        moves = self.moving[self.edge_prediction] if self.may_settle else None
        if self.tie is not None:
            gradient = sum_by(self.tie, gradient, self.num_ties)
            moves = None if moves is None else sum_by(self.tie, moves.long(), self.num_ties) > 0
        _move(self.edge_adam, gradient, moves)

    def _move_features(self, gate: Tensor, gradient: Tensor | None) -> None:
        pressure = (self.config.feat_size - self.config.feat_entropy * self.feature_logits) * self.feature_share
        moves = self.moving[self.instance_prediction[self.row_instance]].unsqueeze(-1) if self.may_settle else None
        total = pressure if gradient is None else gradient + pressure
        _move(self.feature_adam, total * (gate * (1 - gate)), moves)

    def _terms(
        self, losses: dict[str, Tensor], size: Tensor | float, edge: Tensor, gate: Tensor | None
    ) -> dict[str, Tensor]:
        """Each term of the objective that weighs anything: (P,)."""
        predictions = len(self.moving)

        def total(values: Tensor, owner: Tensor) -> Tensor:
            return sum_by(owner, values, predictions)

        config = self.config
        terms = losses | {"size": total(size * edge, self.edge_prediction)}
        if config.entropy:
            terms["entropy"] = config.entropy * total(binary_entropy(edge) / self.edge_count, self.edge_prediction)
        if gate is not None:
            rows = self.instance_prediction[self.row_instance]
            terms["feat_size"] = config.feat_size * total((gate * self.feature_share).sum(1), rows)
            if config.feat_entropy:
                entropy = (binary_entropy(gate) * self.feature_share).sum(1)
                terms["feat_entropy"] = config.feat_entropy * total(entropy, rows)
        if self.differ is not None:
            terms["laplacian"] = 0.5 * config.laplacian * total(self.differ * edge, self.edge_prediction)
        return terms


def _move(adam: Adam, gradient: Tensor, moves: Tensor | None) -> None:
    """A step for the rows that still move; settled ones stay where they are, as they would alone."""
    if moves is None:
        adam.step(gradient)
        return
    before = adam.parameter.clone()
    adam.step(gradient)
    adam.parameter.copy_(torch.where(moves, adam.parameter, before))


MASK_SETTINGS = (
    *("necessity", "size", "size_start", "entropy", "laplacian", "steps", "learning_rate", "temperature", "start"),
    *("seeds", "seed", "readout", "direction", "features", "feature_fill", "feature_mask", "feat_size", "feat_entropy"),
)
GNNEXPLAINER = Method(
    name="gnnexplainer",
    title="GNNExplainer mask",
    about="A mask learnt so that the few edges it keeps carry the prediction; the verified search begins with it.",
    weigh=gnnexplainer,
    needs=(GRADIENTS,),
    settings=MASK_SETTINGS,
    stochastic=True,
    mask=True,
    steps=gnnexplainer_steps,
)
