"""Rankings that know nothing of the model: what every other method has to beat."""

import torch

from explainer_core.hashing import hashed_uniform
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Objective, Weights

EDGES, FEATURES = 3, 4  # which random numbers are drawn


def random(objective: Objective) -> Weights:
    """Every edge and feature by chance."""
    c, seeds, names = objective.computation, objective.seeds_of_instances.cpu(), objective.names_of_instances.cpu()
    features = hashed_uniform(FEATURES, names.unsqueeze(1), seeds.unsqueeze(1), torch.arange(c.x.shape[1]))  # (I, F)
    owner = c.edge_instance.cpu()
    edges = hashed_uniform(EDGES, names[owner], seeds[owner], c.edge_ids.cpu())  # (e,)
    return Weights(edges.to(c.x.device), features.to(c.x.device))


def proximity(objective: Objective) -> Weights:
    """Nearest edges first: one over the hop of the node an edge runs into, counted from one. Not for features."""
    c = objective.computation
    return Weights(1 / (1 + c.hop[c.edge_index[1]].float()))


RANDOM = Method(
    name="random",
    title="Random",
    about="Edges drawn by chance: what every method has to beat.",
    weigh=random,
    settings=("seeds", "seed"),
    stochastic=True,
)
PROXIMITY = Method(
    name="proximity",
    title="Nearest first",
    about="The edges nearest to the target first; the network is not asked at all.",
    weigh=proximity,
    features=False,
)
