"""How far a network looks, and what it feels of a silent edge: measured on the data instead of asked.

A cut is exact where it gives the logits of the whole graph. That rounding does not hide what is far away is asked in
another way: features beyond the cut are made NaN, which travels along any path there is.
"""

from dataclasses import replace

import torch
from torch import Tensor

from explainer_core.adapters.adapted import Adapted, AdaptedPath
from explainer_core.adapters.levels import TRIMS
from explainer_core.adapters.preflight import same
from explainer_core.adapters.probe import MEASURED_EDGES, cut_batch
from explainer_core.graph import Graph, GraphSet, take_rows
from explainer_core.models.protocol import PredictionBatch
from explainer_core.targets import Target

BEYOND = 2  # hops that are tried beyond the number of times messages are sent
ROUNDING = 1e-4  # sums over fewer edges are added up in another order
# what a network raises that cannot be run in some way
CANNOT = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError)
DENSITIES = (0.3, 0.5, 0.8)  # of the edges that are kept


@torch.no_grad()
def measured_hops(
    model: Adapted, data: Graph, targets: list[Target], whole: Tensor, rounds: int, device: torch.device
) -> int | None:
    """The smallest number of hops that gives the logits of the whole graph, `whole`, for all targets; None: no cut does."""
    for hops in range(1, rounds + BEYOND + 1):
        some = _affordable(data, targets, hops)
        batch, sampled = cut_batch(data, some, hops, device, MEASURED_EDGES)
        if sampled:
            return None
        found = AdaptedPath(model, batch).logits(None)
        if same(found, whole[: len(some)]) and _looks_no_further(model, data, some, hops, device):
            return hops
    return None


def _affordable(data: Graph, targets: list[Target], hops: int) -> list[Target]:
    """As many targets as their neighbourhoods leave room for; in a dense graph a few hops are all of it."""
    reach = min(data.num_edges, int((data.num_edges / max(1, data.num_nodes) + 1) ** hops))
    return targets[: max(2, MEASURED_EDGES // max(1, reach))]


def _looks_no_further(model: Adapted, data: Graph, targets: list[Target], hops: int, device: torch.device) -> bool:
    batch, _ = cut_batch(data, targets, hops, device, MEASURED_EDGES)
    wider, sampled = cut_batch(data, targets, hops + 1, device, MEASURED_EDGES)
    inside = len(batch.x)  # nodes are sorted by hop
    if sampled or inside == len(wider.x):
        return True
    x = wider.x.clone()
    x[inside:] = torch.nan
    return bool(torch.isfinite(AdaptedPath(model, wider).logits(None, x)).all())


@torch.no_grad()
def batch_disturbs(model: Adapted, data: Graph | GraphSet, targets: list[Target], hops: int | None, device) -> bool:
    """Whether several graphs in one pass get other answers than one at a time."""
    some = targets[:3]
    if len(some) < 2:
        return False
    together = AdaptedPath(model, cut_batch(data, some, hops, device)[0]).logits(None)
    alone = [AdaptedPath(model, cut_batch(data, [target], hops, device)[0]).logits(None) for target in some]
    return not same(together, torch.cat(alone))


@torch.no_grad()
def silent_is_absent(model: Adapted, batch: PredictionBatch) -> bool:
    """Whether hard masks give what the graph without the silent edges gives, the degrees of all edges given."""
    generator, changed = torch.Generator().manual_seed(0), False
    degree = batch.degree if batch.degree is not None else torch.bincount(batch.edge_index[1], minlength=len(batch.x))
    batch = replace(batch, degree=degree)
    full = AdaptedPath(model, batch).logits(None)
    for density in DENSITIES:
        keep = (torch.rand(batch.edge_index.shape[1], generator=generator) < density).to(batch.x.device)
        silent = AdaptedPath(model, batch).logits(keep.float())
        absent = AdaptedPath(model, without_edges(batch, keep)).logits(None)
        if not same(absent, silent, ROUNDING):
            return False
        changed |= not same(silent, full)
    return changed


@torch.no_grad()
def usable_trim(model: Adapted, batch: PredictionBatch) -> str | None:
    """How layers can be given no more than they need, with the same logits under any mask; None where they cannot."""
    generator = torch.Generator().manual_seed(0)
    masks = [torch.rand(batch.edge_index.shape[1], generator=generator).to(batch.x.device) for _ in range(2)]
    expected = [AdaptedPath(model, batch, None).logits(mask) for mask in masks]
    for trim in TRIMS:
        path = AdaptedPath(model, batch, trim)
        try:
            if all(same(path.logits(mask), logits, ROUNDING) for mask, logits in zip(masks, expected, strict=True)):
                return trim
        except CANNOT:  # rows do not fit: it wants all of them
            continue
    return None


def can_repeat(model: Adapted, batch: PredictionBatch) -> bool:
    """Whether a recorded pass gives the logits and the gradients of the network itself, for masks and features that it was
    not recorded with."""
    generator = torch.Generator().manual_seed(0)
    plain, taped = AdaptedPath(model, batch), AdaptedPath(model, batch, repeats=True)

    def drawn(*size: int) -> Tensor:
        return torch.rand(*size, generator=generator).to(batch.x.device)

    direction = drawn(batch.num_predictions, model.num_classes)
    try:
        for _ in range(3):  # as the network, recorded, repeated
            mask, x = drawn(batch.edge_index.shape[1]), batch.x * drawn(*batch.x.shape)
            for given in ([mask], [mask, x]) if batch.x.is_floating_point() else ([mask],):
                answers = [_with_gradients(path, direction, given) for path in (plain, taped)]
                if not all(same(one, other) for one, other in zip(*answers, strict=True)):
                    return False
    except CANNOT:
        return False
    return any(taped.tapes.values())


def _with_gradients(path: AdaptedPath, direction: Tensor, given: list[Tensor]) -> list[Tensor]:
    """The logits for a mask, or a mask and features, and their gradients in these."""
    given = [value.clone().requires_grad_() for value in given]
    with torch.enable_grad():
        logits = path.logits(*given)
        if not logits.requires_grad:
            return [logits]
        gradients = torch.autograd.grad((logits * direction).sum(), given, allow_unused=True)
    return [logits.detach(), *(torch.zeros(()) if each is None else each for each in gradients)]


def without_edges(batch: PredictionBatch, keep: Tensor) -> PredictionBatch:
    return replace(
        batch,
        edge_index=batch.edge_index[:, keep],
        edge_types=None if batch.edge_types is None else batch.edge_types[keep],
        edge_data=take_rows(batch.edge_data, keep),
        prefixes=None,
    )
