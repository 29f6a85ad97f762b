"""Runs of one batch: each is what it would be alone, with its own seed, necessity and learning rate."""

from dataclasses import replace

import pytest
import torch
from small_networks import case, network, objective_of, random_set, sharp

from explainer_core.api import explain, explain_many, explain_steps
from explainer_core.config import ExplainConfig
from explainer_core.methods.gnnexplainer import gnnexplainer
from explainer_core.methods.runs import FURTHER, Runs
from explainer_core.methods.verified import NECESSITIES, other_masks
from explainer_core.targets import WholeGraph

TASKS = ("node", "graph", "link")
BESIDE = {"without": 0.0, "ten": 10.0}


def asked(task, **changes):
    model, data, targets = case(task)
    return objective_of(sharp(model), data, targets, ExplainConfig(steps=12, learning_rate=0.1, **changes))


def alone(objective, seed, **changes):
    config = replace(objective.config, seed=seed, **changes)
    return gnnexplainer(Runs([seed]).of(replace(objective, config=config))).edge


@pytest.mark.parametrize("direction", ["directed", "symmetric"])
@pytest.mark.parametrize("task", TASKS)
def test_each_run_is_what_it_would_be_alone(task, direction):
    objective = asked(task, direction=direction)
    runs = Runs([3, 4], BESIDE)
    together = gnnexplainer(runs.of(objective))
    own = runs.own(together)
    for of_seed, seed in zip(own.edge.view(-1, 2).unbind(1), [3, 4], strict=True):
        torch.testing.assert_close(of_seed, alone(objective, seed), atol=1e-5, rtol=0)
    assert list(own.proposals) == list(BESIDE)
    for name, necessity in BESIDE.items():
        changes = {"necessity": necessity, "learning_rate": objective.config.learning_rate * FURTHER}
        torch.testing.assert_close(own.proposals[name], alone(objective, 0, **changes), atol=1e-5, rtol=0)
    assert own.steps is not None
    assert own.steps.tolist() == [12] * 2 * len(objective.goal)


def test_without_others_beside_the_user_s_runs_are_all_there_is():
    objective = asked("node")
    found = gnnexplainer(Runs([5]).of(objective))
    assert Runs([5]).own(found) is found
    assert not found.proposals


@pytest.mark.parametrize("necessity", [0.0, 3.0])
def test_the_loss_terms_are_those_of_the_user_s_runs(necessity):
    model, data, targets = case("node")
    config = ExplainConfig(steps=4, necessity=necessity, k_m=3)
    beside, own = (list(explain_steps(model, data, targets[0], config, m)) for m in ("verified", "gnnexplainer"))
    assert len(beside) == len(own) == 4
    for one, other in zip(beside, own, strict=True):
        assert one.terms == pytest.approx(other.terms, abs=1e-4)
        assert one.edge_weight == pytest.approx(other.edge_weight, abs=1e-5)


def test_masks_beside_are_left_out_where_necessity_plays_no_part_or_the_graph_is_large(monkeypatch):
    objective = asked("node")
    names, proposes = other_masks(objective)
    assert list(names.values()) == list(NECESSITIES)
    assert proposes.all()
    for another in (replace(objective, distribution=True), asked("node", features="joint")):
        names, proposes = other_masks(another)
        assert names == {}
        assert not proposes.any()
    monkeypatch.setattr("explainer_core.methods.verified.LARGE", 3)
    assert other_masks(objective)[0] == {}


def test_a_small_graph_is_searched_from_the_same_masks_beside_a_large_one(monkeypatch):
    graphs = random_set(6)
    edges = sorted(graphs[i].num_edges for i in range(6))
    monkeypatch.setattr("explainer_core.methods.verified.LARGE", edges[2])
    monkeypatch.setattr("explainer_core.methods.verified.OCCLUSION_EDGES", 11 * edges[3])  # 10 to 12 are tried, by size
    model, config = sharp(network("gin", "graph")), ExplainConfig(steps=12)
    targets = [WholeGraph(i) for i in range(6)]
    for together, target in zip(explain_many(model, graphs, targets, config), targets, strict=True):
        by_itself = explain(model, graphs, target, config)
        assert [part.edges for part in together.table] == [part.edges for part in by_itself.table]
        assert [part.origin for part in together.table] == [part.origin for part in by_itself.table]
