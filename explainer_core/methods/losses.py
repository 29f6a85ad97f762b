"""The terms of GNNExplainer's loss that have a closed form, with their gradients where these are needed."""

import torch
from torch import Tensor


def sufficiency(logits: Tensor, goal: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """-log P(y): (P,), and its gradient in the logits: (P, C)."""
    log_share = (logits / temperature).log_softmax(-1)
    return -(goal * log_share).sum(-1), (log_share.exp() - goal) / temperature


def necessity(logits: Tensor, goal: Tensor, temperature: float, weight: Tensor | float) -> tuple[Tensor, Tensor]:
    """-weight * log(1 - P(y)) of what the mask leaves over: (P,), and its gradient in the logits: (P, C)."""
    share = (logits / temperature).softmax(-1)
    q = (goal * share).sum(-1, keepdim=True).clamp(max=1 - 1e-6)  # (P, 1)
    rest = 1 - q
    on_rows = weight.unsqueeze(-1) if isinstance(weight, Tensor) else weight  # each prediction may have one of its own
    return -weight * rest.log().squeeze(-1), share * (goal - q) * (on_rows / (temperature * rest))


def binary_entropy(share: Tensor) -> Tensor:
    """H(s) in nats; ln 2 at one half."""
    return -(torch.xlogy(share, share) + torch.xlogy(1 - share, 1 - share))
