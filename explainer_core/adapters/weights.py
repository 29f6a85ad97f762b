"""The weights of any network as bytes, for another process that has the same network: safetensors, never pickle."""

import hashlib

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn


def weights_to_bytes(module: nn.Module) -> bytes:
    """Parameters and buffers; what else a network keeps as state stays behind."""
    state = {name: values for name, values in module.state_dict().items() if isinstance(values, Tensor)}
    return save({name: values.detach().cpu().clone().contiguous() for name, values in state.items()})


def weights_digest(model: object) -> str:
    """SHA-256 of a network's weights, to tell it from another of the same name; empty where it shows none."""
    module = getattr(model, "module", model)
    return hashlib.sha256(weights_to_bytes(module)).hexdigest() if isinstance(module, nn.Module) else ""


def weights_from_bytes(module: nn.Module, content: bytes) -> None:
    """Fills the network; raises ValueError with one sentence for weights of another one."""
    try:
        found = load(content)
        wanted = {name for name, values in module.state_dict().items() if isinstance(values, Tensor)}
        if wanted != set(found):
            raise ValueError(f"the names must be the same (got {len(wanted ^ set(found))} that differ)")
        module.load_state_dict(found, strict=False)
    except (SafetensorError, RuntimeError, ValueError) as error:
        raise ValueError(f"the weights must be those of the same network (got others: {error})") from error
