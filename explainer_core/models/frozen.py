"""A model as an explainer sees it: in eval mode, its parameters frozen, its own state never touched."""

import copy

from torch import nn


def still(model: nn.Module) -> nn.Module:
    """The model in eval mode with frozen parameters, sharing its weights; the model itself is not touched."""
    if not any(part.training for part in model.modules()) and not any(p.requires_grad for p in model.parameters()):
        return model
    memo: dict[int, object] = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in model.parameters()}
    memo |= {id(buffer): buffer for buffer in model.buffers()}
    return copy.deepcopy(model, memo).eval()
