"""Learning on another device than the host's: a step makes nothing on the host and never waits for the device.

There need be no such device here: torch's meta device stands for it. Its tensors have shapes and no numbers, so that whatever
asks for a number raises, as FakeTensorMode does; autograd on a fake cuda tensor ends the process where torch was built
without cuda. What may be read of the device, every CHECK steps, is not part of the steps that are run.
"""

import copy
import dataclasses

import pytest
import torch
from small_networks import case, objective_of
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explainer_core.config import ExplainConfig
from explainer_core.methods.gnnexplainer import CHECK, _Learner
from explainer_core.models import KINDS

TASKS = ("node", "graph", "link")
DEVICE = torch.device("meta")
SETTINGS = {
    "edges": {"features": "none"},
    "edges, by sufficiency": {"features": "none", "necessity": 0.0},
    "edges and features": {"features": "joint"},
    "by sufficiency": {"features": "joint", "necessity": 0.0},
    "every term": {
        "features": "joint",
        "feature_fill": "zero",
        "feature_mask": "per_node",
        "direction": "symmetric",
        "entropy": 0.5,
        "feat_entropy": 0.5,
        "laplacian": 0.5,
        "seeds": 2,
    },
}


class OnTheDevice(TorchDispatchMode):
    """Raises where an operation has a tensor on the host, or makes one there; single numbers may be, as kernels take them."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for value in tree_leaves((args, kwargs, found)):
            if isinstance(value, Tensor) and value.ndim and value.device != DEVICE:
                raise RuntimeError(f"{func} on {value.device} (shape {tuple(value.shape)})")
        return found


def on_device(value, seen=None):
    """The same object with all its tensors on the device; what is one object in two places stays one."""
    seen = {} if seen is None else seen
    if id(value) not in seen:
        seen[id(value)] = _on_device(value, seen), value  # held, so that its id stays its own
    return seen[id(value)][0]


def _on_device(value, seen):
    if isinstance(value, Tensor):
        return value.to(DEVICE)
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(DEVICE)
    if isinstance(value, tuple | list):
        return type(value)(on_device(part, seen) for part in value)
    if isinstance(value, ExplainConfig) or not hasattr(value, "__dict__"):
        return value
    if dataclasses.is_dataclass(value):  # without what is cached on it
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{name: on_device(getattr(value, name), seen) for name in names})
    moved = copy.copy(value)
    vars(moved).update({name: on_device(part, seen) for name, part in vars(value).items()})
    return moved


def learner(task, kind="gcn", **settings):
    """Set up on the host, where it may look at what it likes, and moved. Of nine steps the last ones may settle."""
    config = ExplainConfig(steps=CHECK - 1, **settings)
    return on_device(_Learner(objective_of(*case(task, kind, typed=True), config).repeated(config.seeds)))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_no_step_touches_the_host(task, kind, settings):
    learning = learner(task, kind, **settings)
    with OnTheDevice():
        for _ in range(CHECK - 1):
            terms = learning.step(with_terms=True)
        assert learning.may_settle
    assert {value.device for value in terms.values()} == {DEVICE}
    assert learning.mask().device == DEVICE
    assert learning.edge_adam.parameter is learning.edge_logits


def test_the_look_every_so_many_steps_is_where_the_host_waits():
    """So that what was shown above is not because nothing ever waits."""
    learning = learner("node")
    with OnTheDevice():
        for _ in range(CHECK - 1):
            learning.step()
        with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
            learning.step()


def spoilt(monkeypatch, fault):
    """A learner whose size weight does something it should not."""
    plain = _Learner._size
    monkeypatch.setattr(_Learner, "_size", lambda self: fault(plain(self)))
    return learner("node")


FAULTS = {
    "a tensor on the host": lambda size: size + torch.zeros(len(size)),
    "a tensor made on the host and moved": lambda size: size + torch.zeros(len(size)).to(size.device),
    "one number read": lambda size: size * float(size.sum()),
    "a decision": lambda size: size if size.any() else 2 * size,
    "a copy": lambda size: size.cpu().to(size.device),
    "as many as there are": lambda size: size + len(size[size > 0]),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_step_that_touches_the_host_is_caught(fault, monkeypatch):
    learning = spoilt(monkeypatch, fault)
    with OnTheDevice(), pytest.raises((RuntimeError, NotImplementedError)):
        learning.step()


def test_the_same_step_without_a_fault_is_not(monkeypatch):
    learning = spoilt(monkeypatch, lambda size: 1.0 * size)
    with OnTheDevice():
        learning.step()
