"""Verified, the default: rankings of the edges by several methods, for a search that asks the network about each subgraph.

The search itself is in explanation/search.py. It starts from the user's mask and from these proposals.
"""

from dataclasses import replace

import torch
from torch import Tensor

from explainer_core.methods.gnnexplainer import MASK_SETTINGS, gnnexplainer, gnnexplainer_steps
from explainer_core.methods.gradient import edge_gradient, integrated_edges
from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.methods.objective import Objective
from explainer_core.methods.occlusion import occluded_edges

NECESSITIES = (0.0, 10.0)  # of the masks that are optimised beside the user's own
LARGE = 1000  # edges of a neighbourhood above which they cost more than they bring
FAST = {"steps": 30, "learning_rate": 0.25}  # these masks only propose: a walk in fewer, longer steps will do
PATH_STEPS = 8  # of the integrated gradients
OCCLUDED = 200  # edges that are taken away one at a time, those first that gradients find most useful
OCCLUSION_EDGES = 100_000  # and so many edges of all the graphs that are asked about


def proposals(objective: Objective) -> dict[str, Tensor]:
    """A score for each directed edge, by the name of the proposal; chance plays no part in any: (e,) each."""
    path = integrated_edges(objective, PATH_STEPS)
    most = min(OCCLUDED, max(10, OCCLUSION_EDGES // max(_largest(objective), 1)))
    return {
        "occlusion": occluded_edges(objective, path, most),
        "integrated gradients": path,
        "gradient": edge_gradient(objective).abs(),
        **other_masks(objective),
    }


def other_masks(objective: Objective) -> dict[str, Tensor]:
    """Masks with other necessities, optimised side by side: most of a step's cost does not grow with their number.

    They begin without noise, so that only the user's own mask depends on the start.
    """
    if _largest(objective) > LARGE:
        return {}
    config = replace(objective.config, seeds=1, features="none", **FAST)
    count, necessity = len(NECESSITIES), torch.tensor(NECESSITIES, device=objective.goal.device)
    many = replace(objective, config=config).repeated(count)
    edge = gnnexplainer(replace(many, necessity=necessity.repeat(len(objective.goal)), noisy=False)).edge
    masks = edge.view(-1, count).unbind(1)  # copies of an edge lie side by side
    return {f"mask, necessity {each:g}": mask for each, mask in zip(NECESSITIES, masks, strict=True)}


def _largest(objective: Objective) -> int:
    """The edges of the largest computation graph."""
    c = objective.computation
    return int(torch.bincount(objective.predictions_of_instances[c.edge_instance]).max()) if c.num_edges else 1


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
    propose=proposals,
)
