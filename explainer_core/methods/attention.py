"""Attention as an explanation: what the data set's GAT looked at."""

import torch

from explainer_core.methods.method import ATTENTION as NEEDS_ATTENTION
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Problem, Weights


def attention(problem: Problem) -> Weights:
    """Mean over the heads, and over the layers in which the edge can still reach the target. Says nothing of features."""
    c = problem.computation
    settings = {"edge_type": c.edge_types, "degree": c.degree, "prefixes": c.prefixes}
    with torch.no_grad():
        layers = problem.model.attention(c.x, c.edge_index, **settings)
    total, count = torch.zeros(c.num_edges, device=c.x.device), torch.zeros(c.num_edges, device=c.x.device)
    for paid in layers:  # (edges of this layer's prefix, heads)
        total[: len(paid)] += paid.mean(1)
        count[: len(paid)] += 1
    return Weights(total / count.clamp(min=1))


ATTENTION = Method(
    name="attention",
    title="GAT attention",
    about="What the data set's attention network looked at; it is another network.",
    weigh=attention,
    needs=(NEEDS_ATTENTION,),
    features=False,
)
