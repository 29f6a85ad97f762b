"""A method describes itself: a newcomer's is a function and a description, and all that the library does follows from it."""

import dataclasses

import numpy as np
import pytest
import torch
from small_networks import case, network, random_graph

import explainer_core as xc
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Step, Weights
from explainer_core.prototypes.joining import join_explanations

QUICK = xc.ExplainConfig(steps=5, k_m=4)
TASKS = ("node", "graph", "link")


def degree(objective):
    """Edges into nodes with many neighbours first."""
    c = objective.computation
    return Weights(c.degree[c.edge_index[1]].float())


def half_steps(objective, every):
    for number in (1, 2):
        weights = Weights(torch.full((objective.computation.num_edges,), 0.5))
        yield Step(number, [{"prediction": torch.zeros(len(objective.goal))}], weights, number == 2)


DEGREE = Method("degree", "Degree", "The busiest nodes first.", degree, features=False)


@pytest.fixture
def registered(monkeypatch):
    """Adds a method to METHODS for one test."""

    def register(method):
        monkeypatch.setitem(xc.METHODS, method.name, method)
        return method.name

    return register


@pytest.mark.parametrize("task", TASKS)
def test_a_new_method_explains_and_its_answer_survives_a_file(registered, task):
    name = registered(DEGREE)
    model, data, targets = case(task)
    one = xc.explain(model, data, targets[0], QUICK, name)
    many = xc.explain_many(model, data, targets, QUICK, name)
    assert np.array_equal(one.edge_weight, many[0].edge_weight)
    assert one.method == name
    assert one.verdict is not None
    assert one.feature_weight is None
    assert xc.Explanation.from_json(one.to_json()).to_json() == one.to_json()
    assert join_explanations(many, data).members


def test_what_is_learnt_in_steps_can_be_watched_and_what_is_not_says_so(registered):
    model, data, targets = case("node")
    name = registered(dataclasses.replace(DEGREE, steps=half_steps, mask=True))
    assert [step.number for step in xc.explain_steps(model, data, targets[0], QUICK, name)] == [1, 2]
    assert xc.explain(model, data, targets[0], QUICK, name).masked_probabilities is not None
    registered(DEGREE)
    with pytest.raises(ValueError, match=r"a method that learns in steps is one of .* \(got 'degree'\); use explain"):
        next(xc.explain_steps(model, data, targets[0], QUICK, name))


def test_a_method_that_proposes_is_verified_by_asking_the_network(registered):
    model, data, targets = case("node")
    proposals = {"near": lambda objective: 1 / (1 + objective.computation.hop[objective.computation.edge_index[1]])}
    propose = lambda objective: {key: rank(objective).float() for key, rank in proposals.items()}  # noqa: E731
    name = registered(dataclasses.replace(DEGREE, propose=propose))
    found = xc.explain(model, data, targets[0], QUICK, name)
    assert found.table
    assert {judged.origin for judged in found.table} <= {"near", "degree", "growth"}


def test_only_a_stochastic_method_is_run_for_every_seed(registered):
    model, data, targets = case("node")
    several = xc.ExplainConfig(seeds=3)
    for stochastic in (False, True):
        name = registered(dataclasses.replace(DEGREE, stochastic=stochastic))
        assert (xc.explain(model, data, targets[0], several, name).seed_weights is not None) == stochastic


def test_a_method_that_needs_attention_refuses_other_networks(registered):
    name = registered(dataclasses.replace(DEGREE, needs=("attention",)))
    with pytest.raises(ValueError, match=r"degree needs a gat model \(got 'gcn'\)"):
        xc.explain(network(), random_graph(), xc.Node(0), QUICK, name)
    assert xc.explain(network("gat"), random_graph(), xc.Node(0), QUICK, name).method == name


def test_every_description_is_fit_for_a_page():
    assert xc.DEFAULT_METHOD in xc.METHODS
    titles = [method.title for method in xc.METHODS.values()]
    assert len(set(titles)) == len(titles)
    for name, method in xc.METHODS.items():
        assert method.name == name
        assert method.about.endswith(".")
        assert 20 <= len(method.about) <= 110


def test_a_description_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"needs of the method 'degree' must be among .* \(got 'luck'\)"):
        dataclasses.replace(DEGREE, needs=("luck",))
    with pytest.raises(ValueError, match=r"settings of the method 'degree' must be among .* \(got 'speed'\)"):
        dataclasses.replace(DEGREE, settings=("speed",))


@pytest.mark.parametrize("name", xc.METHODS)
def test_a_setting_that_a_method_does_not_name_leaves_its_weights_alone(name):
    """The other way round is not asked: not every setting shows in every graph."""
    method = xc.METHODS[name]
    model, data, targets = case("node", "gat" if method.needs_attention else "gcn")
    base = xc.ExplainConfig(steps=5, features="joint")
    others = {"necessity": 1.0, "size": 0.1, "feature_fill": "zero", "seed": 5, "direction": "symmetric", "start": 1.0}
    usual = xc.explain(model, data, targets[0], base, name)
    for setting, value in others.items():
        if setting not in method.settings:
            changed = xc.explain(model, data, targets[0], dataclasses.replace(base, **{setting: value}), name)
            assert np.array_equal(usual.edge_weight, changed.edge_weight), setting
