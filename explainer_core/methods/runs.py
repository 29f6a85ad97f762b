"""The runs of a method that are one batch: those the user asked for, and beside them masks that only propose.

Most of what a step costs on a small graph does not grow with the number of runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from explainer_core.methods.objective import Objective, Weights

FURTHER = (
    8 / 3
)  # times the user's learning rate: a mask that only proposes need not be fine, and longer steps lead elsewhere


@dataclass(frozen=True)
class Runs:
    """Of each prediction: one run for each of the seeds, and one for each name in `beside`, with a necessity of its own.

    The latter have seed 0, so that they are the same whatever start the user's own have.
    """

    seeds: Sequence[int]
    beside: Mapping[str, float] = field(default_factory=dict)

    def of(self, objective: Objective) -> Objective:
        """Every prediction once for each of its runs, side by side."""
        own, others = len(self.seeds), len(self.beside)
        many = objective.repeated(own + others)

        def column(of_own: Iterable[float], of_others: Iterable[float]) -> Tensor:
            return torch.tensor([*of_own, *of_others], device=objective.goal.device).repeat(len(objective.goal))

        many = replace(many, seeds=column(self.seeds, [0] * others))
        if not others:
            return many
        necessity = column([objective.config.necessity] * own, self.beside.values())
        return replace(many, necessity=necessity, rate=column([1.0] * own, [FURTHER] * others))

    def own(self, weights: Weights) -> Weights:
        """What the user's runs have found; the others' masks are among its proposals."""
        if not self.beside:
            return weights
        columns = weights.edge.view(-1, len(self.seeds) + len(self.beside))  # copies of an edge lie side by side
        others = dict(zip(self.beside, columns[:, len(self.seeds) :].unbind(1), strict=True))
        steps = None if weights.steps is None else self._own(weights.steps)
        return Weights(self._own(weights.edge), steps=steps, proposals=others)

    def own_terms(self, terms: Mapping[str, Tensor], objective: Objective) -> dict[str, Tensor]:
        """The loss terms of the user's runs, without one that weighs nothing in them."""
        if not self.beside:
            return dict(terms)
        weighs = {"necessity": objective.config.necessity > 0}
        return {name: self._own(values) for name, values in terms.items() if weighs.get(name, True)}

    def _own(self, values: Tensor) -> Tensor:
        return values.view(-1, len(self.seeds) + len(self.beside))[:, : len(self.seeds)].flatten()
