"""A copy of a network that shares its weights, in eval mode, on which hooks may be set: the network itself is not touched."""

import copy

import torch
from torch import Tensor, nn

CACHES = (
    "_cached_edge_index",
    "_cached_adj_t",
    "_cached_x",
    "_cached_h",
    "_alpha",
)  # what PyG's layers keep of a graph


def unwrapped(module: nn.Module) -> nn.Module:
    """What torch.compile or DataParallel was put around: their wrappers run the original, without our hooks."""
    while True:
        inner = getattr(module, "_orig_mod", None)
        if inner is None and isinstance(module, nn.DataParallel):
            inner = module.module
        if not isinstance(inner, nn.Module):
            return module
        module = inner


def hookable_copy(module: nn.Module, *, shared: bool = True) -> nn.Module:
    """In eval mode with frozen parameters; weights, buffers and other tensors are shared, caches of another graph dropped.

    With shared=False weights and buffers are as they are now, whatever the network learns afterwards.
    """
    own = Tensor.detach if shared else lambda values: values.detach().clone()
    memo: dict[int, object] = {id(p): nn.Parameter(own(p), requires_grad=False) for p in module.parameters()}
    memo |= {id(buffer): buffer if shared else own(buffer) for buffer in module.buffers()}
    for part in module.modules():
        caches = {name: getattr(part, name) for name in CACHES if getattr(part, name, None) is not None}
        memo |= {id(value): None for value in caches.values()}
        memo |= {
            id(value): value for value in vars(part).values() if isinstance(value, Tensor) and id(value) not in memo
        }
    try:
        made = copy.deepcopy(module, memo).eval()
    except (TypeError, RuntimeError, NotImplementedError, AttributeError) as error:
        raise ValueError(
            f"the network must be one that copy.deepcopy can copy, so that nothing is left on it (got {error}); keep locks, "
            "files and tensors with gradients out of its attributes"
        ) from error
    for part in made.modules():
        for name in CACHES:
            if getattr(part, name, None) is not None:
                setattr(part, name, None)
        if hasattr(part, "cached") and isinstance(part.cached, bool):
            setattr(part, "cached", False)  # noqa: B010  (a Module declares only tensors and modules)
    return made


def stamp(module: nn.Module) -> tuple:
    """Changes with every weight that is exchanged, moved or trained."""
    return tuple((t.data_ptr(), 0 if t.is_inference() else t._version) for t in weights_of(module))


def weights_of(module: nn.Module) -> list[Tensor]:
    """Parameters and buffers, without their names, which torch takes four times as long to go through."""
    parts, seen, found = [module], {id(module)}, []
    for part in parts:  # grows on the way
        found += [t for t in (*part._parameters.values(), *part._buffers.values()) if t is not None]
        new = [each for each in part._modules.values() if each is not None and id(each) not in seen]
        seen.update(map(id, new))
        parts += new
    return found


def check_module(module: object) -> nn.Module:
    """Raises ValueError unless it is a network that can be copied and run."""
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"a network must be a torch.nn.Module, or have task, num_classes, hops and logits (got a {type(module).__name__})"
        )
    module = unwrapped(module)
    if isinstance(module, torch.jit.ScriptModule):
        raise ValueError("a network must be plain Python (got a ScriptModule); pass the module it was scripted from")
    if any(nn.parameter.is_lazy(p) for p in module.parameters()):
        raise ValueError("all sizes of a network must be known (got a lazy layer without weights); call it once first")
    devices = sorted({str(t.device) for t in (*module.parameters(), *module.buffers())})
    if len(devices) > 1:
        raise ValueError(
            f"all weights of a network must be on one device (got {' and '.join(devices)}); call .to({devices[0]!r})"
        )
    return module
