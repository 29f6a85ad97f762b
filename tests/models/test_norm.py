"""Batch norm as it is asked, against torch's own."""

import copy

import pytest
import torch
from torch import nn

from explainer_core.models.norm import BatchNorm


def trained_pair(dtype=torch.float32):
    """Ours and torch's with the same weights and statistics, in eval mode and frozen."""
    torch.manual_seed(0)
    ours, torchs = BatchNorm(5), nn.BatchNorm1d(5)
    nn.init.normal_(ours.weight)
    nn.init.normal_(ours.bias)
    ours(3 * torch.randn(50, 5) + 1)
    torchs.load_state_dict(ours.state_dict())
    return [each.to(dtype).eval().requires_grad_(False) for each in (ours, torchs)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_and_gradients_are_torchs(dtype):
    ours, torchs = trained_pair(dtype)
    x, gradient = (torch.randn(20, 5, dtype=dtype, requires_grad=True) for _ in range(2))
    torch.testing.assert_close(ours(x), torchs(x))
    torch.testing.assert_close(*(torch.autograd.grad(each(x), x, gradient)[0] for each in (ours, torchs)))


def test_training_and_the_gradients_of_its_weights_are_torchs():
    ours, torchs = (each.train().requires_grad_(True) for each in trained_pair())
    x = torch.randn(20, 5)
    for _ in range(2):  # then in eval mode, where the weights are not frozen
        results = []
        for each in (ours, torchs):
            each.zero_grad()
            each(x).pow(2).sum().backward()
            results.append([each(x).detach(), each.weight.grad, each.bias.grad, each.running_mean, each.running_var])
        torch.testing.assert_close(*results)
        ours.eval(), torchs.eval()


@pytest.mark.parametrize("name", ["weight", "bias", "running_mean", "running_var"])
def test_what_has_changed_is_seen(name):
    ours, torchs = trained_pair()
    x = torch.randn(20, 5)
    ours(x)
    twin = copy.deepcopy(ours)
    for each in (ours, torchs):
        getattr(each, name).add_(1.0)
    torch.testing.assert_close(ours(x), torchs(x))
    assert not torch.equal(twin(x), ours(x))  # a copy goes its own way


def test_nothing_is_left_on_the_module():
    ours, torchs = trained_pair()
    before = set(vars(ours))
    ours(torch.randn(20, 5))
    assert set(vars(ours)) == before
    assert ours.state_dict().keys() == torchs.state_dict().keys()
