"""A model as an explainer sees it: in eval mode, its parameters frozen, its own state never touched."""

import copy
from typing import TypeVar

from torch import nn

AnyModel = TypeVar("AnyModel")


def frozen_eval_copy(model: AnyModel) -> AnyModel:
    """The model in eval mode with frozen parameters, sharing its weights; the model itself is not touched.

    One that is no torch module is taken as it is.
    """
    if not isinstance(model, nn.Module):
        return model
    if not any(part.training for part in model.modules()) and not any(p.requires_grad for p in model.parameters()):
        return model
    memo: dict[int, object] = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in model.parameters()}
    memo |= {id(buffer): buffer for buffer in model.buffers()}
    return copy.deepcopy(model, memo).eval()
