"""Verified, the default: rankings of the edges by several methods, for a search that asks the network about each subgraph.

The search itself is in explanation/search.py. It starts from the user's mask and from these proposals.
"""

import torch
from torch import Tensor

from explainer_core.methods.gnnexplainer import MASK_SETTINGS, gnnexplainer, gnnexplainer_steps
from explainer_core.methods.gradient import edge_gradient, integrated_edges
from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.methods.objective import Objective
from explainer_core.methods.occlusion import occluded_edges

NECESSITIES = (10.0,)  # of the masks that are optimised beside the user's own; one of 0 brought nothing more
LARGE = 1000  # edges of a neighbourhood above which they cost more than they bring
PATH_STEPS = 8  # of the integrated gradients
OCCLUDED = 200  # edges that are taken away one at a time, those first that gradients find most useful
OCCLUSION_EDGES = 100_000  # and so many edges of all the graphs that are asked about


def proposals(objective: Objective) -> dict[str, Tensor]:
    """A score for each directed edge, by the name of the proposal; the same from every start: (e,) each."""
    path = integrated_edges(objective, PATH_STEPS)
    most = (OCCLUSION_EDGES // objective.sizes.clamp(min=1)).clamp(10, OCCLUDED)
    return {
        "occlusion": occluded_edges(objective, path, most),
        "integrated gradients": path,
        "gradient": edge_gradient(objective).abs(),
    }


def other_masks(objective: Objective) -> tuple[dict[str, float], Tensor]:
    """The necessity of the masks beside the user's own, by name, and for which predictions they propose: (P,) bool.

    There are none where necessity plays no part in a mask of edges.
    """
    small = objective.sizes <= LARGE
    if objective.distribution or objective.config.features == "joint" or not bool(small.any()):
        return {}, torch.zeros_like(small)
    return {f"mask, necessity {each:g}": each for each in NECESSITIES}, small


VERIFIED = Method(
    name="verified",
    title="Verified",
    about="The best of several proposals, each checked by asking the network about it.",
    weigh=gnnexplainer,
    needs=(GRADIENTS,),
    settings=(*MASK_SETTINGS, "connected", "refine"),
    stochastic=True,
    mask=True,
    steps=gnnexplainer_steps,
    beside=other_masks,
    propose=proposals,
)
