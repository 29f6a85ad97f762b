"""Runs that cannot fit are refused before they begin, with what would fit."""

import re
from dataclasses import replace

import pytest

from dashboard import jobs
from dashboard.jobs import RunRefused
from dashboard.limits import Limits
from dashboard.services import ClassRequest, ExplainConfig, Request, costs, prototypes
from explainer_core.datasets.download import is_available
from explainer_core.datasets.registry import dataset_info

needs_cora, needs_reddit = (
    pytest.mark.skipif(not is_available(dataset_info(name).archive), reason=f"{name} is not on this machine")
    for name in ("cora", "reddit_binary")
)
LARGE = Request("ba_community", "sage", "node", 5, config=ExplainConfig(steps=2000, seeds=50))


@pytest.fixture
def limited(monkeypatch):
    limits = Limits(run_seconds=10, run_memory=1024)
    monkeypatch.setattr(jobs, "limits", lambda: limits)


def asking(**changes) -> Request:
    return replace(LARGE, config=replace(LARGE.config, **changes))


def test_a_run_grows_with_what_is_asked():
    small, large = costs.cost_of(asking(steps=10, seeds=1)), costs.cost_of(LARGE)
    mask, masks = (costs.cost_of(replace(each, method="gnnexplainer")) for each in (asking(steps=10, seeds=1), LARGE))
    assert masks.seconds == pytest.approx(10_000 * mask.seconds)
    assert small.seconds - mask.seconds == pytest.approx(large.seconds - masks.seconds)  # the search, once
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


def refusal(request: ClassRequest, members: list[int]) -> str:
    with pytest.raises(RunRefused) as refused:
        costs.check_class(request, members)
    return str(refused.value)


def test_a_class_is_refused_with_the_number_of_members_that_would_fit(limited):
    request = ClassRequest("ba_shapes", "gcn", 1, 200, ExplainConfig())
    text = refusal(request, list(range(300, 700)))
    fitting = int(re.search(r"of 201 members\); (\d+) members beside the reference would fit$", text).group(1))
    costs.check_class(replace(request, instances=fitting), list(range(300, 700)))
    refusal(replace(request, instances=fitting + 2), list(range(300, 700)))
    costs.check_class(request, [300, 301, 302])  # there are no more, however many are asked for


@pytest.mark.parametrize("seeds", [1, 50])
def test_settings_that_not_even_two_members_fit_are_refused_with_settings_that_do(limited, seeds):
    """The reference and one more are the fewest that can be asked for."""
    request = ClassRequest("ba_community", "sage", 1, 10, replace(LARGE.config, seeds=seeds))
    text = refusal(request, [5, 5])
    found = re.search(r"; with 1 member beside the reference steps ([\d,]+) and seeds 1 would fit$", text)
    steps = int(found.group(1).replace(",", ""))
    fitting = replace(request, instances=1, config=replace(LARGE.config, steps=steps, seeds=1))
    costs.check_class(fitting, [5, 5])
    refusal(replace(fitting, config=replace(fitting.config, steps=2 * steps)), [5, 5])


def test_fewer_seeds_are_named_where_two_members_fit_with_them(limited):
    request = ClassRequest("les_miserables", "gcn", 1, 10, ExplainConfig(steps=2000, seeds=50))
    pairs = [(0, 1), (0, 2), (2, 3)]
    seeds = int(
        re.search(r"; with 1 member beside the reference seeds (\d+) would fit$", refusal(request, pairs)).group(1)
    )
    costs.check_class(replace(request, instances=1, config=ExplainConfig(steps=2000, seeds=seeds)), pairs[:2])


def test_a_class_that_does_not_fit_is_never_handed_to_a_worker(limited, monkeypatch):
    monkeypatch.setattr(jobs, "call", lambda *asked, **how: pytest.fail("it was begun"))
    with pytest.raises(RunRefused, match="a run may take 10 seconds"):
        prototypes.make_prototype(ClassRequest("ba_community", "sage", 1, 200, LARGE.config), lambda progress: None)


@needs_cora
def test_a_mask_for_thousands_of_words_counts():
    """Measured: on Cora's hub 14.7 MB and 24.2 MB for each seed, with one mask for all nodes and with one for each."""
    hub = Request("cora", "gcn", "node", 163, method="gnnexplainer")
    per_seed = {}
    for features, mask in (("after", "shared"), ("joint", "shared"), ("joint", "per_node")):
        config = ExplainConfig(features=features, feature_mask=mask, steps=100, seeds=50)
        per_seed[features, mask] = (costs.cost_of(replace(hub, config=config)).megabytes - costs.ALWAYS_MB) / 50
    assert per_seed["joint", "shared"] > 14
    assert per_seed["joint", "per_node"] > 0.9 * 24.2
    assert per_seed["after", "shared"] > 7.9


@needs_reddit
def test_what_fits_on_the_largest_thread_stays_below_the_limit(limited):
    """Measured: 35.9 bytes for each value, 52 MB for each seed; 32 seeds took 1.3 GB."""
    thread = Request(
        "reddit_binary", "gin", "graph", 594, config=ExplainConfig(steps=3, seeds=18), method="gnnexplainer"
    )
    costs.check_run(thread)
    with pytest.raises(RunRefused, match=r"seeds 1[5-8] would fit"):
        costs.check_run(replace(thread, config=ExplainConfig(steps=3, seeds=32)))
