"""Attention as an explanation: what the data set's GAT looked at."""

import torch

from explainer_core.methods.method import ATTENTION as NEEDS_ATTENTION
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Objective, Weights
from explainer_core.models.protocol import offered


def attention(objective: Objective) -> Weights:
    """How much the network looked along each edge, as it says itself. Says nothing of features."""
    paid = offered(objective.model, "attention")
    assert paid is not None  # `needs` says so, and a request is checked for it
    with torch.no_grad():
        return Weights(paid(objective.batch))


ATTENTION = Method(
    name="attention",
    title="GAT attention",
    about="How much the network looked along each edge.",
    weigh=attention,
    borrowed="From another network, trained for attention.",
    needs=(NEEDS_ATTENTION,),
    features=False,
)
