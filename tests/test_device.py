"""Which process works on which CUDA device, with a count that is made up: the tests run where there is none; and what a run that is cut off leaves."""

import pytest
import torch

from explainer_core import device
from explainer_core.device import restore_torch, take_device


@pytest.fixture
def devices(monkeypatch):
    """Sets how many CUDA devices there seem to be; returns the list of those that were chosen."""
    chosen = []

    def seem(count: int) -> list[int]:
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
        return chosen

    return seem


def test_every_device_gets_one_process_and_the_others_have_nothing_to_do(devices):
    chosen = devices(3)
    assert [take_device(number) for number in range(5)] == [True, True, True, False, False]
    assert chosen == [0, 1, 2]


def test_without_a_device_all_processes_work_and_none_is_chosen(devices):
    chosen = devices(0)
    assert [take_device(number) for number in range(4)] == [True] * 4
    assert chosen == []


def test_work_that_was_cut_off_leaves_gradients_on_and_says_so_where_a_lock_is_left():
    try:
        torch.set_grad_enabled(False)
        assert restore_torch()
        assert torch.is_grad_enabled()
        with device._lock:
            assert not restore_torch()
    finally:
        torch.set_grad_enabled(True)
