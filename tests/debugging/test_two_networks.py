"""Two networks on the same instances: counts on paper, McNemar's test by scipy, and an interval that holds what it says."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

import explainer_core as xc
from explainer_core.debugging.instances import InstanceFilter, Instances
from explainer_core.debugging.two_networks import OUTCOMES, TwoNetworks, compare_networks, is_chance, mcnemar
from explainer_core.predictions import predictions
from tests.small_networks import network, random_graph

EVERY_PART = InstanceFilter(split=None)


def made(predicted, truth, split=None, classes=3) -> Instances:
    """Instances of which each is predicted with 80 %."""
    count = len(truth)
    probabilities = np.full((count, classes), 0.2 / (classes - 1))
    probabilities[np.arange(count), predicted] = 0.8
    nothing = np.full(count, np.nan)
    return Instances(
        numbers=np.arange(count),
        names=[f"node {i}" for i in range(count)],
        probabilities=probabilities,
        truth=np.array(truth),
        split=np.array([""] * count if split is None else split, dtype="<U5"),
        degree=np.arange(count, dtype=float),
        size=nothing,
        homophily=nothing,
        motif=nothing,
        class_names=tuple("abc"[:classes]),
    )


def with_counts(both: int, only_first: int, only_second: int, neither: int) -> TwoNetworks:
    """Two classes, all of the first one."""
    first = [0] * (both + only_first) + [1] * (only_second + neither)
    second = [0] * both + [1] * only_first + [0] * only_second + [1] * neither
    truth = [0] * len(first)
    return compare_networks(made(first, truth, classes=2), made(second, truth, classes=2))


# On paper


def test_each_instance_has_one_outcome():
    """Of each kind one, and one more whose class nobody knows."""
    found = compare_networks(
        made([0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, -1]), made([0, 1, 0, 1, 2, 1], [0, 0, 0, 0, 0, -1])
    )
    assert found.outcome.tolist() == ["both_right", "only_first", "only_second", "same_mistake", "two_mistakes", ""]
    assert found.disagree.tolist() == [False, True, True, False, True, True]
    assert found.counts == dict.fromkeys(OUTCOMES, 1)
    assert [(share.right, share.count) for share in found.accuracies] == [(2, 5), (2, 5)]
    assert found.with_outcome("two_mistakes").first.numbers.tolist() == [4]
    assert found.transitions.tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 0]]


def test_mcnemar_on_paper():
    """Of 6 changes 1 was a loss: 2 (1 + 6) / 64. Of 5 none: 2 / 32. As many as gained is no evidence, and none neither."""
    assert mcnemar(1, 5) == 14 / 64
    assert mcnemar(0, 5) == 1 / 16
    assert mcnemar(4, 4) == 1.0
    assert mcnemar(0, 0) == 1.0
    assert not is_chance(mcnemar(0, 6))
    assert is_chance(mcnemar(0, 5))


@pytest.mark.parametrize("total", [1, 2, 7, 30, 211])
def test_mcnemar_is_the_exact_binomial_test(total):
    for lost in range(total + 1):
        assert mcnemar(lost, total - lost) == pytest.approx(binomtest(lost, total).pvalue, rel=1e-9)


def test_mcnemar_of_thousands_is_neither_zero_nor_an_overflow():
    assert 0 < mcnemar(1_000, 2_000) < 1e-70
    assert mcnemar(3, 3_000) == pytest.approx(2 * sum(comb(3_003, i) for i in range(4)) / 2**3_003, rel=1e-12)


def test_the_interval_on_paper():
    """b = 2 lost, c = 12 gained of 50: (13 - 3) / 52 with sqrt((16 / 52 - (10 / 52)^2) / 52) to each side."""
    found = with_counts(both=20, only_first=2, only_second=12, neither=16)
    assert found.difference == pytest.approx(0.2)
    middle, half = 10 / 52, 1.959964 * ((16 / 52 - (10 / 52) ** 2) / 52) ** 0.5
    assert found.interval == pytest.approx((middle - half, middle + half))
    low, high = with_counts(5, 0, 0, 5).interval
    assert low == pytest.approx(-high)  # no change at all, and still not certain


@pytest.mark.parametrize("count", [10, 30, 80])
@pytest.mark.parametrize(("lost", "gained"), [(0.05, 0.05), (0.02, 0.2), (0.1, 0.3), (0.0, 0.1)])
def test_the_interval_holds_the_truth_as_often_as_it_says(count, lost, gained):
    """The probability of every possible outcome, summed where its interval holds the true difference: 95 %, hardly less."""
    covered = 0.0
    for b in range(count + 1):
        for c in range(count + 1 - b):
            low, high = with_counts(count - b - c, b, c, 0).interval
            if low <= gained - lost <= high:
                covered += multinomial.pmf([b, c, count - b - c], count, [lost, gained, 1 - lost - gained])
    assert covered >= 0.93


# Counts agree


@pytest.fixture
def random_pair() -> tuple[Instances, Instances]:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=200)
    truth[:20] = -1
    split = rng.choice(["train", "val", "test"], size=200)
    return tuple(
        made(np.where(rng.random(200) < 0.6, truth.clip(0), rng.integers(3, size=200)), truth, split) for _ in range(2)
    )


@pytest.mark.parametrize("only", [InstanceFilter(), EVERY_PART, InstanceFilter(split=None, degree=(30, 90))])
def test_all_views_count_the_same(random_pair, only):
    found = compare_networks(*random_pair, only)
    one, other = (xc.overview(each, only) for each in random_pair)
    assert found.accuracies == (one.accuracy, other.accuracy)
    assert sum(found.counts.values()) == one.accuracy.count == sum(len(each) for each in found.by_class)
    assert found.transitions.sum() == len(found) == len(one.instances)
    assert len(found) - np.trace(found.transitions) == found.disagree.sum()
    for name in OUTCOMES:
        assert len(found.with_outcome(name)) == found.counts[name] == sum(each.counts[name] for each in found.by_class)
    for label, each in enumerate(found.by_class):
        assert each.accuracies == (one.by_class[label], other.by_class[label])
    gained, lost = found.counts["only_second"], found.counts["only_first"]
    assert found.difference * one.accuracy.count == pytest.approx(gained - lost)


def test_to_swap_the_networks_swaps_the_signs(random_pair):
    here, there = compare_networks(*random_pair), compare_networks(*random_pair[::-1])
    assert here.difference == pytest.approx(-there.difference)
    assert here.interval == pytest.approx(tuple(-end for end in there.interval[::-1]))
    assert here.p_value == there.p_value
    assert here.counts["only_first"] == there.counts["only_second"]


def test_classes_are_corrected_for_their_number_and_one_without_a_change_is_not_tested():
    truth = [0] * 10 + [1] * 10 + [2] * 10
    first, second = made([1] * 10 + [0] * 10 + [2] * 10, truth), made([0] * 10 + [0] * 5 + [1] * 5 + [2] * 10, truth)
    found = compare_networks(first, second)
    assert found.class_p_values == (pytest.approx(2 * mcnemar(0, 10)), pytest.approx(mcnemar(0, 5)), 1.0)


def test_largest_change_comes_first():
    first, second = made([0, 0, 0], [0, 0, 0]), made([0, 1, 0], [0, 0, 0])
    third = second.probabilities.copy()
    third[2] = (0.3, 0.6, 0.1)
    found = compare_networks(first, replace(second, probabilities=third)).largest_change_first()
    assert found.first.numbers.tolist() == [1, 2, 0]


# What is compared with what


def test_only_what_was_a_test_for_both_is_a_test():
    truth = [0, 0, 0, 0]
    first = made([0, 0, 0, 0], truth, ["test", "test", "train", "val"])
    second = made([0, 1, 0, 0], truth, ["test", "train", "test", "val"])
    assert compare_networks(first, second).first.numbers.tolist() == [0]
    assert compare_networks(first, made([1] * 4, truth)).first.numbers.tolist() == [
        0,
        1,
    ]  # says nothing of its training
    assert len(compare_networks(first, second, EVERY_PART)) == 4
    apart = compare_networks(first.of(np.array([1])), second.of(np.array([1])))
    assert len(apart) == 0  # rather nobody than one that the second was trained with


def test_links_are_matched_by_their_pairs():
    first, second = made([0, 1, 2], [0, 0, 0]), made([2, 0], [0, 0])
    found = compare_networks(first, second, targets=([(0, 1), (0, 2), (3, 4)], [(3, 4), (0, 1)]))
    assert found.first.numbers.tolist() == [0, 2]
    assert found.second.predicted.tolist() == [0, 2]


def test_without_labels_there_are_disagreements_only():
    graph = random_graph()
    said = [xc.instances_of(graph, predictions(network(kind), graph)) for kind in ("gcn", "sage")]
    found = compare_networks(*said)
    assert sum(found.counts.values()) == 0
    assert np.isnan(found.difference)
    assert found.p_value == 1.0
    assert found.disagree.sum() == (said[0].predicted != said[1].predicted).sum()


def test_what_cannot_be_compared_is_told():
    one = made([0, 1], [0, 0])
    with pytest.raises(ValueError, match="same classes apart"):
        compare_networks(one, made([0, 1], [0, 0], classes=2))
    with pytest.raises(ValueError, match="true classes must be the same"):
        compare_networks(one, made([0, 1], [0, 1]))
    with pytest.raises(ValueError, match="same instances"):
        compare_networks(one, one, targets=([1, 2], [3, 4]))
    with pytest.raises(ValueError, match="outcome must be one of"):
        compare_networks(one, one).with_outcome("better")
