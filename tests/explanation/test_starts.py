"""Several starts at once: each is what it would be alone, and leaving early leaves nothing behind."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import case, network, random_graph, sharp

from explainer_core.api import explain, explain_many, explain_starts, explain_steps
from explainer_core.config import ExplainConfig
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.judging import Judge
from explainer_core.explanation.metrics import faithfulness
from explainer_core.explanation.search import Search
from explainer_core.explanation.verifying import finished, judged_sizes
from explainer_core.targets import Node

QUICK = ExplainConfig(steps=15, seed=3)


def separate(model, data, explanation, starts):
    """Start s as a run of its own, with the seed that many runs further on."""
    config = explanation.config
    for start in range(1, starts):
        seed = (config.seed + start * config.seeds) % 2**31
        settings = replace(config, seed=seed, features="none")
        asked = "distribution" if explanation.explained_class is None else explanation.explained_class
        yield explain_many(model, data, [explanation.target], settings, explanation.method, target_class=asked)[0]


def same(one, other):
    assert (one.config, one.size) == (other.config, other.size)
    assert one.subgraph().edges == other.subgraph().edges
    assert [(part.edges, part.origin) for part in one.table] == [(part.edges, part.origin) for part in other.table]
    assert (one.verdict.level, one.verdict.winner) == (other.verdict.level, other.verdict.winner)
    figures = [(each.verdict.alone, each.verdict.without, each.verdict.empty) for each in (one, other)]
    assert figures[0] == pytest.approx(figures[1], abs=1e-6)
    np.testing.assert_allclose(one.edge_weight, other.edge_weight, atol=1e-5)
    assert np.array_equal(one.edge_ids, other.edge_ids)
    assert one.steps == other.steps
    if one.masked_probabilities is not None:
        assert one.masked_probabilities == pytest.approx(other.masked_probabilities, abs=1e-5)


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("method", ["verified", "gnnexplainer", "random", "gradient"])
@pytest.mark.parametrize("changes", [{}, {"seeds": 2, "k_m": 4}, {"seed": 2**31 - 3, "refine": False}], ids=str)
def test_every_start_is_what_it_is_alone(task, method, changes):
    model, data, targets = case(task)
    explanation = explain(sharp(model), data, targets[0], replace(QUICK, **changes), method)
    together = finished(explain_starts(model, data, explanation, starts=4))
    alone = list(separate(model, data, explanation, 4))
    assert len(together) == len(alone) == 3
    for one, other in zip(together, alone, strict=True):
        same(one, other)


@pytest.mark.parametrize("changes", [{"max_edges": 12}, {"connected": False}, {"k_m_unit": "edges", "k_m": 3}], ids=str)
def test_so_it_is_with_other_settings_and_classes(changes):
    """Where each start has a sample of its own, too."""
    model, graph = sharp(network()), random_graph(40, 90)
    for asked in ("distribution", 1):
        explanation = explain(model, graph, Node(4), replace(QUICK, **changes), target_class=asked)
        together = finished(explain_starts(model, graph, explanation, starts=3))
        for one, other in zip(together, separate(model, graph, explanation, 3), strict=True):
            same(one, other)


def test_so_it_is_where_starts_consider_edges_of_their_own():
    """Of more edges than a search considers, which come in depends on the start: none of its beginning is shared then."""
    model, graph = sharp(network(num_layers=3)), random_graph(150, 700)
    explanation = explain(model, graph, Node(4), QUICK)
    assert len(explanation.pairs) > 300
    together = finished(explain_starts(model, graph, explanation, starts=3))
    for one, other in zip(together, separate(model, graph, explanation, 3), strict=True):
        same(one, other)


def test_starts_that_are_known_are_left_out_and_the_others_are_the_same():
    model, data, targets = case("node")
    explanation = explain(sharp(model), data, targets[0], QUICK)
    all_of_them = finished(explain_starts(model, data, explanation, starts=5))
    rest = finished(explain_starts(model, data, explanation, starts=5, known=3))
    for one, other in zip(rest, all_of_them[2:], strict=True):
        same(one, other)
    with pytest.raises(ValueError, match="starts must be"):
        next(explain_starts(model, data, explanation, starts=3, known=3))


def test_the_model_is_asked_about_a_part_only_once(monkeypatch):
    model, data, targets = case("node")
    explanation, really, asked = explain(sharp(model), data, targets[0], QUICK), Judge.both, []

    def both(judge, *sides):
        asked.extend((side, row.tobytes()) for side, some in enumerate(sides) for _, rows in some for row in rows)
        return really(judge, *sides)

    monkeypatch.setattr(Judge, "both", both)
    together = finished(explain_starts(model, data, explanation, starts=5))
    assert len(together) == 4
    assert len(asked) == len(set(asked)) > 40


def test_the_share_that_is_done_grows_to_its_end():
    model, data, targets = case("graph")
    shares = list(explain_starts(model, data, explain(sharp(model), data, targets[0], QUICK)))
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.5 < shares[-1] <= 1


def test_leaving_in_the_middle_leaves_nothing_behind():
    model, data, targets = case("node")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    threads, training = torch.get_num_threads(), model.training
    explanation = explain(model, data, targets[0], QUICK)
    steps = explain_starts(model, data, explanation)
    next(steps)
    assert torch.get_num_threads() == threads
    steps.close()
    assert model.training == training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_search_is_seen_round_by_round_and_finds_the_same():
    model, data, targets = case("node")
    *_, last = explain_steps(sharp(model), data, targets[0], QUICK)
    threads, rounds, steps = torch.get_num_threads(), 0, last.explaining()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
        rounds += 1
        assert torch.get_num_threads() == threads
    assert rounds > 5
    same(found, last.explanation())
    same(found, explain(model, data, targets[0], QUICK))


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_what_the_model_has_said_before_changes_nothing_and_is_not_asked_again(task, monkeypatch):
    model, data, targets = case(task)
    answers = Answers()
    *_, last = explain_steps(sharp(model), data, targets[0], QUICK, answers=answers)
    explanation = last.explanation()
    asked = []
    monkeypatch.setattr(Judge, "both", counted(Judge.both, asked))
    alone = finished(explain_starts(model, data, explanation, starts=3))
    questions = sum(asked)
    asked.clear()
    again = finished(explain_starts(model, data, explanation, starts=3, answers=answers.copy()))
    for one, other in zip(again, alone, strict=True):
        same(one, other)
    assert sum(asked) < questions


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_every_size_is_judged_from_what_was_answered_while_it_was_searched_for(task, monkeypatch):
    """Not one part is asked about again; each figure is what the model says of that part when it is asked anew."""
    model, data, targets = case(task)
    sharp(model)
    answers = Answers()
    *_, last = explain_steps(model, data, targets[0], QUICK, answers=answers)
    explanation, asked = last.explanation(), []
    monkeypatch.setattr(Judge, "both", counted(Judge.both, asked))
    sizes = judged_sizes(model, data, explanation, answers)
    assert sum(asked) == 0
    assert sizes[explanation.size - 1][1] == explanation.verdict
    for part, verdict in sizes:
        (anew,) = faithfulness(model, data, [explanation], [part])
        assert (verdict.alone, verdict.without) == pytest.approx((anew.kept, anew.without), abs=1e-6)
        assert verdict.keeps_class == anew.keeps_class


@pytest.mark.parametrize("changes", [{}, {"temperature": 2.0}, {"connected": False}], ids=str)
def test_a_search_goes_on_from_where_another_has_begun_only_with_the_same_settings(changes, monkeypatch):
    """On more edges than a search considers, so that every start considers some of its own."""
    model, graph = sharp(network(num_layers=3)), random_graph(150, 700)
    answers = Answers()
    *_, last = explain_steps(model, graph, Node(4), QUICK, answers=answers)
    explanation = last.explanation()
    assert answers.begun is not None
    assert len(answers.begun.known) < len(answers.alone)  # it was put aside before the search went on
    before = len(answers.begun.known)
    other = explain(model, graph, Node(4), replace(QUICK, **changes))
    begins, begin = [], Search.begin
    monkeypatch.setattr(Search, "begin", lambda search: begins.append(search) or begin(search))
    together = finished(explain_starts(model, graph, other, starts=3, answers=answers.copy()))
    assert bool(begins) == bool(changes)
    monkeypatch.undo()
    for one, alone in zip(together, separate(model, graph, other, 3), strict=True):
        same(one, alone)
    assert len(answers.begun.known) == before  # whoever goes on does so on a copy
    assert explanation.table == last.explanation().table


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_only_the_mask_itself_depends_on_the_start(task):
    """The proposals beside it are equal to the last digit from every seed."""
    model, data, targets = case(task)
    sharp(model)
    found = []
    for seed in (3, 4):
        answers = Answers()
        *_, last = explain_steps(model, data, targets[0], replace(QUICK, seed=seed), answers=answers)
        last.explanation()
        assert answers.begun is not None
        found.append((last.edge_weight, answers.begun.prepared, answers.begun.steady))
    (mask, orders, steady), (other_mask, other_orders, _) = found
    assert len(steady) == 4
    assert not np.array_equal(mask, other_mask)
    assert {key: order for key, order in orders.items() if key[0] in steady} == {
        key: order for key, order in other_orders.items() if key[0] in steady
    }


def counted(ask, asked):
    """The same, with the number of parts noted each time."""

    def noted(judge, *sides):
        asked.append(sum(len(rows) for questions in sides for _, rows in questions))
        return ask(judge, *sides)

    return noted
