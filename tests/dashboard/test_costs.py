"""Runs that cannot fit are refused before they begin, with what would fit."""

import re
from dataclasses import replace

import pytest

from dashboard import jobs
from dashboard.jobs import RunRefused
from dashboard.limits import Limits
from dashboard.services import ExplainConfig, Request, costs

LARGE = Request("ba_community", "sage", "node", 5, config=ExplainConfig(steps=2000, seeds=50))


@pytest.fixture
def limited(monkeypatch):
    limits = Limits(run_seconds=10, run_memory=1024)
    monkeypatch.setattr(jobs, "limits", lambda: limits)


def asking(**changes) -> Request:
    return replace(LARGE, config=replace(LARGE.config, **changes))


def test_a_run_grows_with_what_is_asked():
    small, large = costs.cost_of(asking(steps=10, seeds=1)), costs.cost_of(LARGE)
    assert large.seconds == pytest.approx(10_000 * small.seconds)
    assert large.megabytes > 10 * (small.megabytes - costs.ALWAYS_MB)
    assert costs.takes_long(LARGE)
    assert not costs.takes_long(replace(LARGE, config=ExplainConfig()))


def test_what_is_said_to_fit_fits(limited):
    with pytest.raises(RunRefused) as refused:
        costs.check_run(LARGE)
    steps, seeds = re.search(r"steps ([\d,]+) and seeds (\d+) would fit$", str(refused.value)).groups()
    steps, seeds = int(steps.replace(",", "")), int(seeds)
    costs.check_run(asking(steps=steps, seeds=seeds))
    with pytest.raises(RunRefused):
        costs.check_run(asking(steps=2 * steps, seeds=seeds))
    assert "10 seconds and 1,024 MB" in str(refused.value)


def test_fewer_seeds_are_named_where_the_steps_fit(limited):
    with pytest.raises(RunRefused) as refused:
        costs.check_run(asking(steps=100))
    seeds = int(re.search(r"; seeds (\d+) would fit$", str(refused.value)).group(1))
    costs.check_run(asking(steps=100, seeds=seeds))
    with pytest.raises(RunRefused):
        costs.check_run(asking(steps=100, seeds=seeds + 1))


def test_usual_settings_fit_and_ones_own_process_has_no_limit(limited, monkeypatch):
    costs.check_run(replace(LARGE, config=ExplainConfig()))
    monkeypatch.setattr(jobs, "limits", lambda: None)
    costs.check_run(LARGE)
