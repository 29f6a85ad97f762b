"""Random numbers by name: the same in any company, and as random as numbers from a generator."""

import math

import pytest
import torch
from scipy import stats

from explainer_core import hashing
from explainer_core.hashing import hashed, hashed_index, hashed_normal, hashed_uniform

MANY = 100_000
DRAWS = [hashed, hashed_uniform, hashed_normal, lambda *names: hashed_index(1000, *names)]


@pytest.mark.parametrize("draw", DRAWS)
def test_the_same_names_give_the_same_value(draw):
    names = torch.arange(100)
    assert torch.equal(draw(3, names), draw(3, names))


@pytest.mark.parametrize("draw", DRAWS)
def test_a_batch_gives_the_values_of_one_by_one(draw):
    seeds, names = torch.arange(5).repeat(20), torch.arange(100)
    together = draw(7, seeds, names)
    alone = [draw(7, int(seed), int(name)) for seed, name in zip(seeds, names, strict=True)]
    assert torch.equal(together, torch.stack(alone))


@pytest.mark.parametrize("draw", DRAWS)
def test_order_and_shape_change_nothing(draw):
    seeds, names = torch.arange(4), torch.arange(50)
    order = torch.randperm(50, generator=torch.Generator().manual_seed(0))
    table = draw(seeds.unsqueeze(1), names)  # (4, 50) by broadcasting
    assert torch.equal(table[:, order], draw(seeds.unsqueeze(1), names[order]))
    assert torch.equal(table.flatten(), draw(seeds.repeat_interleave(50), names.repeat(4)))


def test_no_two_names_share_a_value():
    assert len(hashed(1, torch.arange(MANY)).unique()) == MANY
    assert len(hashed(torch.arange(300).unsqueeze(1), torch.arange(300)).unique()) == 300 * 300


def test_the_order_of_names_matters():
    assert hashed(1, 2) != hashed(2, 1)
    assert hashed(1, 0) != hashed(1)


def test_uniform_numbers_are_uniform():
    values = hashed_uniform(0, torch.arange(MANY))
    assert values.dtype == torch.float32
    assert 0 < values.min() < values.max() < 1
    assert values.mean().item() == pytest.approx(0.5, abs=5 * math.sqrt(1 / 12 / MANY))
    assert values.var().item() == pytest.approx(1 / 12, abs=5 * math.sqrt(1 / 180 / MANY))
    assert stats.kstest(values.double().numpy(), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("bits", [0, -1], ids=["all zero", "all one"])
def test_uniform_numbers_are_never_zero_or_one(bits, monkeypatch):
    """Even for the two hashes at the ends, which few people will ever draw."""
    monkeypatch.setattr(hashing, "hashed", lambda *names: torch.tensor(bits))
    assert 0 < hashed_uniform(0) < 1


def test_normal_numbers_are_normal():
    values = hashed_normal(0, torch.arange(MANY))
    assert values.dtype == torch.float32
    assert values.isfinite().all()
    assert values.mean().item() == pytest.approx(0, abs=5 / math.sqrt(MANY))
    assert values.var().item() == pytest.approx(1, abs=5 * math.sqrt(2 / MANY))
    assert stats.kstest(values.double().numpy(), "norm").pvalue > 1e-4


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_indices_fall_everywhere_alike(size):
    values = hashed_index(size, 5, torch.arange(MANY))
    counts = torch.bincount(values, minlength=size)
    assert len(counts) == size
    assert values.min() >= 0
    if size > 1:
        assert stats.chisquare(counts.numpy()).pvalue > 1e-4


def test_different_seeds_have_nothing_to_do_with_each_other():
    one, other = (hashed_normal(seed, torch.arange(MANY)) for seed in (0, 1))
    assert (one != other).float().mean() > 0.999
    assert (one * other).mean().item() == pytest.approx(0, abs=5 / math.sqrt(MANY))


def test_neighbouring_names_have_nothing_to_do_with_each_other():
    values = hashed_normal(0, torch.arange(MANY))
    assert (values[1:] * values[:-1]).mean().item() == pytest.approx(0, abs=5 / math.sqrt(MANY))


def test_the_global_seed_is_neither_read_nor_moved():
    torch.manual_seed(0)
    state = torch.get_rng_state()
    one = hashed_uniform(0, torch.arange(10))
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(1)
    assert torch.equal(one, hashed_uniform(0, torch.arange(10)))
