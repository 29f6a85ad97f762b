"""Gradients as explanations: at the prediction itself, and averaged along the way from nothing to it."""

import torch
from torch import Tensor

from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.methods.objective import Objective, Weights
from explainer_core.models.layers import sum_by

PATH_STEPS = 20
PATH_EDGES = 5_000  # of the steps of a path that are asked about together: a pass of few costs hardly less than of more


def gradient(objective: Objective) -> Weights:
    """Absolute gradient of the loss in every edge weight and every feature, summed over the nodes."""
    c = objective.computation
    edge, x = torch.ones(c.num_edges, device=c.x.device), c.x
    edge_gradients, x_gradients = _gradients(objective, edge, x)
    return Weights(edge_gradients.abs(), sum_by(c.node_instance, x_gradients.abs(), c.num_instances))


def integrated_gradients(objective: Objective) -> Weights:
    """Sundararajan et al. 2017: from no edges and average (or zero) features up to the graph as it is."""
    c = objective.computation
    empty = objective.emptied
    edge_total, x_total = torch.zeros(c.num_edges, device=c.x.device), torch.zeros_like(c.x)
    for step in range(PATH_STEPS):
        share = (step + 0.5) / PATH_STEPS  # the midpoint rule
        edge = torch.full((c.num_edges,), share, device=c.x.device)
        edge_gradients, x_gradients = _gradients(objective, edge, torch.lerp(empty, c.x, share))
        edge_total += edge_gradients / PATH_STEPS
        x_total += x_gradients / PATH_STEPS
    feature = (x_total * (c.x - empty)).abs()
    return Weights(edge_total.abs(), sum_by(c.node_instance, feature, c.num_instances))


def integrated_edges(objective: Objective, steps: int) -> Tensor:
    """How much each edge adds to log P(y) on the way from no edges to all, the features as they are: (e,)."""
    num_edges, device = objective.computation.num_edges, objective.goal.device
    total = torch.zeros(num_edges, device=device)
    at_once = max(1, min(steps, PATH_EDGES // max(1, num_edges)))
    for first in range(0, steps, at_once):
        shares = (torch.arange(first, min(steps, first + at_once), device=device) + 0.5) / steps
        gradients = _edge_gradients(objective.repeated(len(shares)), shares.repeat(num_edges))
        for of_step in gradients.view(num_edges, len(shares)).unbind(1):  # copies of an edge lie side by side
            total += of_step  # one by one, so that rounding is the same however many there are
    return -total / steps


def edge_gradient(objective: Objective, share: float = 1.0) -> Tensor:
    """The gradient of -log P(y) in the edge weights where all of them are this share: (e,)."""
    num_edges, device = objective.computation.num_edges, objective.goal.device
    return _edge_gradients(objective, torch.full((num_edges,), share, device=device))


def _edge_gradients(objective: Objective, edge: Tensor) -> Tensor:
    logits, backward = objective.logits_and_vjp(edge)
    (gradient,) = backward(logits.softmax(-1) - objective.goal)  # of -log P(y) in the logits
    return torch.zeros_like(edge) if gradient is None else gradient


def _gradients(objective: Objective, edge: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    edge, x = edge.clone().requires_grad_(), x.clone().requires_grad_()
    loss = objective.loss(objective.logits_again(edge, x)).sum()
    of_edge, of_x = torch.autograd.grad(loss, (edge, x), allow_unused=True)
    return torch.zeros_like(edge) if of_edge is None else of_edge, torch.zeros_like(x) if of_x is None else of_x


GRADIENT = Method(
    name="gradient",
    title="Gradient",
    about="How strongly the prediction reacts to a slight change of each edge.",
    weigh=gradient,
    needs=(GRADIENTS,),
)
INTEGRATED_GRADIENTS = Method(
    name="integrated_gradients",
    title="Integrated gradients",
    about="What each edge adds as all edges are turned up together, from none to the whole graph.",
    weigh=integrated_gradients,
    needs=(GRADIENTS,),
    settings=("feature_fill",),
)
