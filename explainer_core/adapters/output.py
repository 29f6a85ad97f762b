"""What a network answers with, as logits: class scores, log-probabilities, probabilities, or one number for two classes."""

from collections.abc import Sequence

import torch
from torch import Tensor

OUTPUTS = ("logits", "log_probs", "probs", "binary")
SUM_TO_ONE = 1e-3
SMALLEST = 1e-30  # of a probability, so that its logarithm is a number


def answer_of(found: object) -> Tensor:
    """The tensor, where a network gives it with others."""
    if isinstance(found, Sequence) and found:
        found = found[0]
    if not isinstance(found, Tensor) or not found.is_floating_point():
        got = f"{found.dtype}" if isinstance(found, Tensor) else f"a {type(found).__name__}"
        raise ValueError(f"a network must answer with a tensor of numbers (got {got}); return the class scores first")
    return found


def output_of(answer: Tensor) -> str:
    """What the numbers are, as they show it themselves."""
    rows = answer.detach().reshape(len(answer), -1).float()
    in_range = bool(((rows >= 0) & (rows <= 1)).all())
    if rows.shape[1] == 1:
        if in_range:
            raise ValueError(
                f"one number for each prediction may be a logit or a probability (got {rows.min():.3g} to {rows.max():.3g}); "
                "say output='binary' for a logit of the second class, output='probs' for its probability"
            )
        return "binary"
    if in_range and _sums_to_one(rows):
        return "probs"
    if bool((rows <= 0).all()) and _sums_to_one(rows.exp()):
        return "log_probs"
    return "logits"


def as_logits(answer: Tensor, output: str) -> Tensor:
    """(rows, C)"""
    rows = answer.unsqueeze(-1) if answer.ndim == 1 else answer
    if rows.shape[-1] == 1:
        if output == "probs":
            rows = torch.cat([1 - rows, rows], -1).clamp(min=SMALLEST).log()
        else:
            rows = torch.cat([torch.zeros_like(rows), rows], -1)
    elif output == "probs":
        rows = rows.clamp(min=SMALLEST).log()
    return rows


def _sums_to_one(rows: Tensor) -> bool:
    return bool(((rows.sum(1) - 1).abs() < SUM_TO_ONE).all())
