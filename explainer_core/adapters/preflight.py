"""What must hold before a network is explained; each thing that can be wrong has one sentence."""

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from explainer_core.adapters.adapted import Adapted, AdaptedPath, Facts
from explainer_core.adapters.call import WEIGHT, Call, candidates
from explainer_core.adapters.output import OUTPUTS, output_of
from explainer_core.checks import one_of
from explainer_core.models.protocol import PredictionBatch, Task

ROWS_WAY_OUT = {
    "node": "explain WholeGraph() if it judges whole graphs",
    "graph": "pool nodes by batch, or explain Node(i) if it judges nodes",
    "link": "judge the pairs that forward is given as edge_label_index",
}
SAME = 1e-5  # two answers are the same up to here, times the largest number among them


def same(one: Tensor, other: Tensor, tolerance: float = SAME) -> bool:
    """Equal up to rounding, whatever the size of the numbers."""
    if one.shape != other.shape:
        return False
    return bool(((one - other).abs() <= tolerance * max(1.0, float(other.abs().max()) if other.numel() else 1.0)).all())


def first_facts(module: nn.Module, batch: PredictionBatch, call: Call, answer: Tensor, output: str | None) -> Facts:
    """What the network answers with, from its answer for a batch."""
    if not torch.isfinite(answer).all():
        raise ValueError(
            f"a network must give finite numbers (got {answer[~torch.isfinite(answer)][0].item()}); look at its weights and "
            "at the features for what is not a number"
        )
    if answer.ndim not in (1, 2):
        raise ValueError(f"a network must give one row of class scores for each prediction (got {tuple(answer.shape)})")
    output = output_of(answer) if output is None else one_of("output", output, OUTPUTS)
    width = 1 if answer.ndim == 1 else answer.shape[1]
    if (width == 1) != (output == "binary") and not (width == 1 and output == "probs"):
        raise ValueError(
            f"output={output!r} must be {'one number' if output == 'binary' else 'one for each class'} for each prediction "
            f"(got {width}); leave output out, or say binary for one number and logits for several"
        )
    hooks = any(hasattr(part, "register_message_forward_hook") for part in module.modules())
    return Facts(call, cast(Task, batch.task), output, max(2, width), batch.x.shape[1], hooks=hooks)


def called(module: nn.Module, batch: PredictionBatch) -> tuple[Call, Tensor]:
    """How the network is called, and its answer for the batch."""
    failed: Exception | None = None
    for call in candidates(module, batch):
        probe = Adapted(module, Facts(call, cast(Task, batch.task), "logits", 2, batch.x.shape[1]))
        try:
            with torch.no_grad():
                return call, AdaptedPath(probe, batch).answer(None)[0]
        except (TypeError, RuntimeError, ValueError, IndexError, AttributeError, KeyError, AssertionError) as error:
            failed = failed or error
    assert failed is not None  # there is always a candidate
    if "device" in str(failed) and "same" in str(failed):
        raise ValueError(
            f"all tensors of a network must be on the device of its weights, {batch.x.device} (got {failed}); make them buffers "
            "by register_buffer, so that .to() moves them"
        ) from failed
    if isinstance(failed, ValueError) and "must" in str(failed):
        raise failed
    shape = f"x {tuple(batch.x.shape)}, edge_index {tuple(batch.edge_index.shape)}"
    raise ValueError(
        f"the network must run when called as ({_signature(module, batch)}) with {shape} (got {type(failed).__name__}: {failed}); "
        "check the number of features and what forward asks for"
    ) from failed


def _signature(module: nn.Module, batch: PredictionBatch) -> str:
    call = candidates(module, batch)[0]
    return "data" if call.whole else ", ".join(name for name, _ in call.arguments)


def check_rows(facts: Facts, batch: PredictionBatch, answer: Tensor) -> Facts:
    """One row a prediction; a graph network that knows of no batch is asked about one graph at a time."""
    wanted = len(batch.x) if facts.task == "node" else batch.num_predictions
    if len(answer) == wanted and answer.ndim > 0:
        return facts
    if facts.task == "graph" and len(answer) == 1:
        return replace(facts, apart=True)
    rule = {
        "node": f"a row for each of {wanted} nodes",
        "graph": f"a row for each of {wanted} graphs",
        "link": f"a row for each of {wanted} pairs in edge_label_index",
    }[facts.task]
    raise ValueError(f"a {facts.task} network must give {rule} (got {tuple(answer.shape)}); {ROWS_WAY_OUT[facts.task]}")


@torch.no_grad()
def check_deterministic(model: Adapted, batch: PredictionBatch) -> Tensor:
    """The network's logits for a small batch, which it must give twice."""
    path = AdaptedPath(model, batch)
    one, other = path.logits(None), path.logits(None)
    if not same(one, other):
        raise ValueError(
            f"a network must give the same numbers twice in eval mode (got some that differ by {float((one - other).abs().max()):.3g}); "
            "pass training=self.training to dropout, and draw nothing at random in forward"
        )
    return one


def check_mask(model: Adapted, batch: PredictionBatch, plain: Tensor) -> Adapted:
    """A mask must reach the messages: by hooks, else as edge_weight. Gives back the model that it does so for."""
    if not batch.edge_index.shape[1]:
        return model
    facts = model.facts
    ways = [facts] if facts.hooks else []
    if facts.call.weight is not None:
        call = facts.call
        if not call.whole and call.weight not in dict(call.arguments):
            call = replace(call, arguments=(*call.arguments, (call.weight, WEIGHT)))
        ways.append(replace(facts, hooks=False, call=call))
    for way in ways:
        tried = Adapted(model.module, way)
        if _masked(tried, batch):
            break
    else:
        raise ValueError(
            f"messages must go through torch_geometric's propagate, or forward must take edge_weight (got {type(model.module).__name__}, "
            "whose answer follows no edge weight); write its layers as MessagePassing, or multiply every message by edge_weight"
        )
    with torch.no_grad():
        ones = AdaptedPath(tried, batch).logits(torch.ones(batch.edge_index.shape[1], device=batch.x.device))
    if not same(ones, plain, 10 * SAME):
        raise ValueError(
            f"a network must give the same numbers with every edge weight at one as without any (got some that differ by "
            f"{float((ones - plain).abs().max()):.3g}); multiply messages by edge_weight and use it for nothing else"
        )
    return tried


def _masked(model: Adapted, batch: PredictionBatch) -> bool:
    """Whether torch can follow the logits back to the weights of edges."""
    mask = torch.ones(batch.edge_index.shape[1], device=batch.x.device, requires_grad=True)
    path = AdaptedPath(model, batch)
    with torch.enable_grad():
        logits = path.logits(mask)
    return bool(logits.requires_grad and torch.autograd.grad(logits.sum(), mask, allow_unused=True)[0] is not None)
