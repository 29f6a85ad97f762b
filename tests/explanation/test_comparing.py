"""Methods beside an explanation: each judged by its own part, of the same size; equal figures rank the same."""

from dataclasses import replace

import numpy as np
import pytest
from small_networks import case

import explainer_core as xc
from explainer_core.explanation.comparing import beside, judged_beside, on_edges_of, ranks, score
from explainer_core.explanation.metrics import Faithfulness, faithfulness
from explainer_core.explanation.verdict import Judged

QUICK = xc.ExplainConfig(steps=5)
TASKS = ("node", "graph", "link")


def shown_and_other(task: str, method: str = "random"):
    model, data, targets = case(task)
    shown = xc.explain(model, data, targets[0], QUICK)
    return model, data, shown, xc.explain(model, data, targets[0], QUICK, method)


@pytest.mark.parametrize("task", TASKS)
def test_weights_laid_on_a_searched_explanation_are_cut_by_themselves(task):
    """Nothing of the search may stay: its own table would answer for the other method."""
    _, _, shown, other = shown_and_other(task)
    assert shown.table
    laid = on_edges_of(shown, other)
    assert (laid.table, laid.verdict) == ((), None)
    np.testing.assert_array_equal(laid.edge_weight, other.edge_weight)
    assert beside(shown, laid).subgraph() == beside(shown, other).subgraph()


@pytest.mark.parametrize("task", TASKS)
def test_another_network_need_not_look_as_far(task):
    _, _, shown, other = shown_and_other(task)
    nearer = replace(
        other,
        **{name: getattr(other, name)[..., ::2] for name in ("edge_index", "edge_ids", "edge_weight", "edge_part")},
    )
    laid = on_edges_of(shown, nearer)
    np.testing.assert_array_equal(laid.edge_weight[::2], other.edge_weight[::2])
    assert not laid.edge_weight[1::2].any()


@pytest.mark.parametrize("task", TASKS)
def test_what_is_shown_is_judged_beside_itself_as_in_its_verdict(task):
    model, data, shown, other = shown_and_other(task)
    own, its = judged_beside(model, data, [shown, shown], [shown, other])
    assert own.kept == pytest.approx(shown.verdict.alone, abs=1e-6)
    assert own.without == pytest.approx(shown.verdict.without, abs=1e-6)
    (by_itself,) = faithfulness(model, data, [beside(shown, other)])
    assert its.kept == pytest.approx(by_itself.kept, abs=1e-6)
    assert len(beside(shown, other).subgraph().nodes) <= max(shown.size, len(shown.roots))  # both ends are always in


def figures(kept: float, without: float, full: float) -> Faithfulness:
    return Faithfulness(full, kept, without, keeps_class=True, sparsity=0.5)


def test_the_score_is_the_searchs_own_from_figures_as_they_are_shown():
    _, _, shown, _ = shown_and_other("node")
    full = shown.probabilities[shown.predicted_class]
    for kept, without in ((full / 2, 0.1), (full, 0.0), (1.0, full), (0.0, 1.0)):
        exact = Judged((), kept, without, keeps_class=True).score(full, full)
        assert score(shown, figures(kept, without, full)) == pytest.approx(exact, abs=3e-3)
    assert score(shown, figures(0.20004, 0.1, full)) == score(shown, figures(0.19996, 0.1, full))
    assert score(shown, figures(0.202, 0.1, full)) > score(shown, figures(0.2, 0.1, full))


def test_equals_share_a_rank_and_the_next_one_counts_them():
    assert ranks([1.0, 1.5, 1.0, 0.2]) == [2, 1, 2, 4]
    assert ranks([]) == []
