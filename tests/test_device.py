"""Which process works on which CUDA device, with a count that is made up: the tests run where there is none."""

import pytest
import torch

from explainer_core.device import take_device


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
