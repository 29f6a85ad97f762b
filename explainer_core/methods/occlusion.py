"""Occlusion: hide one edge or one feature at a time and see how far the prediction falls."""

import torch
from torch import Tensor

from explainer_core.computation.computation_graph import undirected_edges
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Objective, Weights

BATCH_SIZE = 300_000  # edges, or feature values, of all copies judged in one pass


@torch.no_grad()
def occlusion(objective: Objective) -> Weights:
    """How much -log P(y) grows without each edge (both directions), and with each feature filled in."""
    base = objective.loss(objective.logits())  # (P,)
    return Weights(_without_edges(objective, base).clamp(min=0), _without_features(objective, base))


@torch.no_grad()
def occluded_edges(objective: Objective, first: Tensor, most: Tensor) -> Tensor:
    """How much -log P(y) grows or falls without each of the edges that come first by a score, of each prediction so many as
    `most` says, (P,); below all others' where it was not tried: (e,)."""
    c = objective.computation
    base = objective.loss(objective.logits())
    pair, num_pairs = undirected_edges(c)
    score = torch.full((num_pairs,), -torch.inf, device=c.x.device).scatter_reduce(0, pair, first, "amax")
    prediction = objective.predictions_of_instances[c.edge_instance]
    rank = _rank_within(pair, num_pairs, prediction, len(base), order=score.argsort(descending=True, stable=True))
    tried = rank < most[prediction]
    grown = _without_edges(objective, base, torch.where(tried, rank, -1))
    return torch.where(tried, grown, grown.min() - 1) if len(grown) else grown


def _without_edges(objective: Objective, base: Tensor, rank: Tensor | None = None) -> Tensor:
    """`rank` numbers the edges of each prediction that are taken away, one after another; -1 for one that is not."""
    c = objective.computation
    prediction = objective.predictions_of_instances[c.edge_instance]  # (e,)
    if rank is None:
        rank = _rank_within(*undirected_edges(c), prediction, len(base))
    grown = torch.zeros(c.num_edges, device=c.x.device)
    rounds = int(rank.max()) + 1 if len(rank) else 0
    for first, copies in _passes(rounds, BATCH_SIZE // max(c.num_edges, 1)):
        copy = torch.arange(copies, device=c.x.device)
        shown = (rank.unsqueeze(-1) != first + copy).float().flatten()  # (e * copies,)
        many = objective.repeated(copies)
        loss = many.loss(many.logits(shown)).view(len(base), copies)
        here = (rank >= first) & (rank < first + copies)
        grown[here] = loss[prediction[here], rank[here] - first] - base[prediction[here]]
    return grown


def _without_features(objective: Objective, base: Tensor) -> Tensor:
    c, num_features = objective.computation, objective.values.shape[1]
    grown = torch.zeros(len(base), num_features, device=c.x.device)
    for first, copies in _passes(num_features, BATCH_SIZE // max(c.x.numel(), c.num_edges, 1)):
        many = objective.repeated(copies)
        for_copy = many.computation.x.clone()
        # copies of a node lie side by side, and a copy keeps its number through every reordering
        copy = _copy_number(many, copies)
        column = first + copy
        row = torch.arange(len(column), device=c.x.device)
        for_copy[row, column] = many.emptied[row, column]
        loss = many.loss(many.logits(None, for_copy)).view(len(base), copies)
        grown[:, first : first + copies] = loss - base.unsqueeze(-1)
    return grown.clamp(min=0)[objective.predictions_of_instances]


def _copy_number(many: Objective, copies: int) -> Tensor:
    """Which copy of its prediction each node belongs to: (n * copies,)."""
    return many.predictions_of_instances[many.computation.node_instance] % copies


def _passes(total: int, at_once: int):
    """(first, count) of each pass over `total` things, so many at once."""
    at_once = max(1, at_once)
    return ((first, min(at_once, total - first)) for first in range(0, total, at_once))


def _rank_within(
    pair: Tensor, num_pairs: int, prediction: Tensor, num_predictions: int, order: Tensor | None = None
) -> Tensor:
    """Numbers the pairs of each prediction from zero, in their own order or in the one given: (e,)."""
    owner = torch.zeros(num_pairs, dtype=torch.int64, device=pair.device).scatter(0, pair, prediction)
    order = torch.arange(num_pairs, device=pair.device) if order is None else order
    order = order[owner[order].argsort(stable=True)]
    counts = torch.bincount(owner, minlength=num_predictions)
    start = counts.cumsum(0) - counts
    rank = torch.empty_like(owner)
    rank[order] = torch.arange(num_pairs, device=pair.device) - start[owner[order]]
    return rank[pair]


OCCLUSION = Method(
    name="occlusion",
    title="Occlusion",
    about="How far the prediction falls when each edge is taken away, one at a time.",
    weigh=occlusion,
    settings=("feature_fill",),
    one_by_one=True,
)
