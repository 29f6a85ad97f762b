"""Gradients as explanations: at the prediction itself, and averaged along the way from nothing to it."""

import torch
from torch import Tensor

from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.methods.objective import Problem, Weights
from explainer_core.models.layers import sum_by

PATH_STEPS = 20


def gradient(problem: Problem) -> Weights:
    """Absolute slope of the loss in every edge weight and every feature, summed over the nodes."""
    c = problem.computation
    edge, x = torch.ones(c.num_edges, device=c.x.device), c.x
    edge_slope, x_slope = _slopes(problem, edge, x)
    return Weights(edge_slope.abs(), sum_by(c.node_instance, x_slope.abs(), c.num_instances))


def integrated_gradients(problem: Problem) -> Weights:
    """Sundararajan et al. 2017: from no edges and average (or zero) features up to the graph as it is."""
    c = problem.computation
    empty = problem.emptied
    edge_total, x_total = torch.zeros(c.num_edges, device=c.x.device), torch.zeros_like(c.x)
    for step in range(PATH_STEPS):
        share = (step + 0.5) / PATH_STEPS  # the midpoint rule
        edge = torch.full((c.num_edges,), share, device=c.x.device)
        edge_slope, x_slope = _slopes(problem, edge, torch.lerp(empty, c.x, share))
        edge_total += edge_slope / PATH_STEPS
        x_total += x_slope / PATH_STEPS
    feature = (x_total * (c.x - empty)).abs()
    return Weights(edge_total.abs(), sum_by(c.node_instance, feature, c.num_instances))


def integrated_edges(problem: Problem, steps: int) -> Tensor:
    """How much each edge adds to log P(y) on the way from no edges to all, the features as they are: (e,)."""
    return -sum(edge_gradient(problem, (step + 0.5) / steps) for step in range(steps)) / steps


def edge_gradient(problem: Problem, share: float = 1.0) -> Tensor:
    """The gradient of -log P(y) in the edge weights where all of them are this share: (e,)."""
    edge = torch.full((problem.computation.num_edges,), share, device=problem.goal.device)
    logits, backward = problem.logits_and_vjp(edge)
    (gradient,) = backward(logits.softmax(-1) - problem.goal)  # of -log P(y) in the logits
    return torch.zeros_like(edge) if gradient is None else gradient


def _slopes(problem: Problem, edge: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    edge, x = edge.clone().requires_grad_(), x.clone().requires_grad_()
    loss = problem.loss(problem.logits_again(edge, x)).sum()
    slopes = torch.autograd.grad(loss, (edge, x), allow_unused=True)
    return tuple(torch.zeros_like(of) if slope is None else slope for slope, of in zip(slopes, (edge, x), strict=True))


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
