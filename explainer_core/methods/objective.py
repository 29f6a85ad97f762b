"""A prediction to be explained: the model, the computation graphs, and the classes asked about."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from explainer_core.computation.computation_graph import Computation, repeated_computation
from explainer_core.computation.forward import prediction_batch
from explainer_core.config import ExplainConfig
from explainer_core.graph import one_hot_types
from explainer_core.models.protocol import FastPath, Model, PredictionBatch, ask, offered


@dataclass(frozen=True)
class Objective:
    """Everything a method needs. A node or graph has one instance, a link two; each has one row in `goal`."""

    model: Model
    computation: Computation
    config: ExplainConfig
    task: str  # node, graph or link
    values: Tensor  # (N, F): the features of the whole graph or set, which hidden features are filled from
    goal: Tensor  # (P, C): the classes asked about; one-hot, or the whole predicted distribution
    node_class: Tensor | None = None  # (n,): predicted classes, for the Laplacian term
    distribution: bool = False  # whether the whole distribution is asked about: there is no one class to lose then
    graph_numbers: Tensor | None = None  # (T,): of whole graphs, their numbers in the set
    mean: Tensor | None = None  # (F,): of the values, where it is known already
    varying: bool | None = None  # whether any value differs, likewise
    types: bool | None = None  # whether the values are one-hot types, likewise
    seeds: Tensor | None = None  # (P,): of each prediction, where they are not the config's
    necessity: Tensor | None = None  # (P,): likewise
    rate: Tensor | None = None  # (P,): so many times the config's learning rate, where it is not once

    def logits(self, edge_weight: Tensor | None = None, x: Tensor | None = None, *, masked: bool = False) -> Tensor:
        """What the model says with these edge weights and features: (P, C).

        `masked` says that the weights are a mask, which a node that loses its edges leaves the readout by.
        """
        node_weight = self._node_weight(edge_weight, masked)
        batch = self.batch if node_weight is None else replace(self.batch, node_weight=node_weight)
        return ask(self.model, batch, edge_weight, x)

    def logits_again(self, edge_weight: Tensor, x: Tensor | None = None, *, masked: bool = False) -> Tensor:
        """The same for a method that asks many times: the first time costs more, the others less."""
        if self._fast is None:
            return self.logits(edge_weight, x, masked=masked)
        node_weight = self._node_weight(edge_weight, masked) if self._fast.weighs_nodes else None
        return self._fast.logits(edge_weight, x, node_weight)

    def _node_weight(self, edge_weight: Tensor | None, masked: bool) -> Tensor | None:
        """How much of each node is left under a mask: as much as of the edge it keeps most; all of one that has none. (n,)

        A G_S of a graph is a graph of its own; this is the same for a mask that is not yet hard.
        """
        if not masked or self.task != "graph" or self.config.readout == "plain" or edge_weight is None:
            return None
        c = self.computation
        most = torch.full((c.num_nodes,), -1.0, device=c.x.device)
        most = most.scatter_reduce(0, c.edge_index.flatten(), edge_weight.repeat(2), "amax")
        return torch.where(most < 0, torch.ones_like(most), most)

    def logits_and_vjp(
        self,
        edge_weight: Tensor,
        x: Tensor | None = None,
        made_from: tuple[Tensor, ...] = (),
        *,
        masked: bool = False,
    ) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor | None, ...]]]:
        """The same, and its vjp: from the gradient in the logits to those in the edge weights and in what x is made from.

        (P, C), and a function that takes (P, C) and gives a gradient, or None, for each of these tensors.
        """
        if x is None and self._fast is not None and self._fast.manual_backward:
            logits, vjp = self._fast.logits_and_vjp(edge_weight)
            return logits, lambda gradient: (vjp(gradient),)
        wanted = edge_weight.requires_grad_(), *made_from
        logits = self.logits_again(edge_weight, x, masked=masked)
        if not logits.requires_grad:
            raise ValueError(
                "a model must multiply every message by its edge weight, and torch must be able to follow (got logits that "
                "do not depend on edge_weight); use edge_weight in logits, and no torch.no_grad or detach"
            )
        return logits.detach(), lambda gradient: torch.autograd.grad(logits, wanted, gradient, allow_unused=True)

    @cached_property
    def batch(self) -> PredictionBatch:
        """The predictions as the model is asked for them."""
        return prediction_batch(self.computation, self.task)

    @cached_property
    def _fast(self) -> FastPath | None:
        fast = offered(self.model, "fast")
        return None if fast is None else fast(self.batch)

    def loss(self, logits: Tensor) -> Tensor:
        """-log P(y), or the cross-entropy with the predicted distribution: (P,)."""
        return -(self.goal * logits.log_softmax(-1)).sum(-1)

    @property
    def fill(self) -> str:
        """What hides a feature: "marginal" or "zero". The type of another node is a different type, not a hidden one."""
        if self.config.feature_fill != "auto":
            return self.config.feature_fill
        types = one_hot_types(self.values) if self.types is None else self.types
        return "zero" if types else "marginal"

    @property
    def emptied(self) -> Tensor:
        """Features that say nothing: every one at its mean, or at zero: (n, F)."""
        if self.fill == "zero":
            return torch.zeros_like(self.computation.x)
        return (self.values.mean(0) if self.mean is None else self.mean).expand_as(self.computation.x)

    @property
    def features_matter(self) -> bool:
        """False where other nodes' values are all the same values, so that filling them in changes nothing."""
        if self.fill == "zero":
            return True
        return bool((self.values != self.values[0]).any()) if self.varying is None else self.varying

    def differing_ends(self) -> Tensor | None:
        """1 for an edge between nodes of different predicted classes, else 0: (e,).

        For labels f of zero and one, f^T L f is the sum over undirected edges of s (f_i - f_j)^2; each directed edge
        carries half of it. With more classes the square is one wherever they differ.
        """
        if not self.config.laplacian or self.node_class is None:
            return None
        ends = self.node_class[self.computation.edge_index]  # (2, e)
        return (ends[0] != ends[1]).float()

    def repeated(self, times: int) -> "Objective":
        """Every prediction `times` over, side by side."""
        if times == 1:
            return self
        computation = repeated_computation(self.computation, self.task, times)
        names = "goal", "node_class", "seeds", "necessity", "rate"  # only nodes have classes, and each has one instance
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        many = {name: value.repeat_interleave(times, 0) for name, value in given.items()}
        return replace(self, computation=computation, **many)

    @cached_property
    def sizes(self) -> Tensor:
        """The directed edges of each prediction's computation graph: (P,)."""
        of_edges = self.predictions_of_instances[self.computation.edge_instance]
        return torch.bincount(of_edges, minlength=len(self.goal))

    @property
    def predictions_of_instances(self) -> Tensor:
        """Which prediction each instance belongs to: (I,)."""
        instances = torch.arange(self.computation.num_instances, device=self.goal.device)
        return instances // 2 if self.task == "link" else instances

    @property
    def names_of_instances(self) -> Tensor:
        """What chance goes by beside the seed: the number of a graph in its set, so that no two have the same draws: (I,)."""
        count = self.computation.num_instances
        if self.graph_numbers is None:
            return torch.zeros(count, dtype=torch.int64, device=self.goal.device)
        return self.graph_numbers.repeat_interleave(count // max(1, len(self.graph_numbers)))

    @property
    def seeds_of_instances(self) -> Tensor:
        """The seed of the run each instance belongs to; the runs of a prediction lie side by side: (I,)."""
        if self.seeds is not None:
            return self.seeds[self.predictions_of_instances]
        return self.config.seed + self.predictions_of_instances % self.config.seeds


@dataclass(frozen=True)
class Weights:
    """What a method found: one weight for each edge, and for each feature of each instance, if it looks at features."""

    edge: Tensor  # (e,)
    feature: Tensor | None = None  # (I, F)
    node_feature: Tensor | None = None  # (n, F), where each node has a mask of its own
    steps: Tensor | None = None  # (P,), where the method learns
    proposals: dict[str, Tensor] = field(default_factory=dict)  # (e,) each: other masks, optimised beside it


@dataclass(frozen=True)
class Step:
    """The state of the masks after a step, and the loss terms of all steps since the last one shown.

    The terms of a step are those it started from.
    """

    number: int
    terms: list[dict[str, Tensor]]  # each (P,)
    weights: Weights
    last: bool
