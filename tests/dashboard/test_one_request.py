"""One click goes down once and up once: the page runs once, and asks for nothing twice."""

import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services, state
from dashboard.services import answer
from explainer_core.computation import batches
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Weights

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
NETWORKS = {"karate": {"gcn", "gat"}, "molecules": {"gin", "gat"}, "les_miserables": {"gcn", "gat"}}
LEVERS = {"k_m": 3, "k_f": 2, "size": 1.0, "steps": 9}


class Counted:
    """What one run of the page has worked out."""

    def __init__(self, monkeypatch):
        self.pages, self.facts, self.cuts = [], [], []
        self._wrap(monkeypatch, state, "enter", self.pages)
        self._wrap(monkeypatch, answer, "target_facts", self.facts)
        self._wrap(monkeypatch, batches, "_cut", self.cuts)

    def _wrap(self, monkeypatch, owner, name: str, calls: list) -> None:
        really = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args: calls.append(args) or really(*args))

    def forget(self) -> None:
        for calls in (self.pages, self.facts, self.cuts):
            calls.clear()


@pytest.fixture
def counted(monkeypatch):
    st.cache_data.clear()
    services.clear_caches()
    yield Counted(monkeypatch)
    services.clear_caches()


def opened(dataset: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"})
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    assert not app.error
    return app


@pytest.mark.parametrize("dataset", NETWORKS)
def test_a_page_load_runs_once_asks_once_and_cuts_once_a_network(dataset, counted):
    """All methods, the other starts and the judge share the computation graph; attention has another network's."""
    opened(dataset)
    assert len(counted.pages) == 1
    assert len(counted.facts) == 1
    assert 1 <= len(counted.cuts) <= len(NETWORKS[dataset])
    assert len(set(map(str, (args[1:4] for args in counted.cuts)))) == len(counted.cuts)


@pytest.mark.parametrize("lever", LEVERS)
def test_a_lever_runs_the_page_once_and_cuts_nothing_again(lever, counted):
    app = opened("karate")
    counted.forget()
    if lever == "k_m":
        app.query_params["k_m"] = "3"  # as the track under the picture sets it
    else:
        app.slider(key=lever).set_value(LEVERS[lever])
    run(app)
    assert (len(counted.pages), len(counted.facts), len(counted.cuts)) == (1, 1, 0)


def test_another_target_is_cut_once(counted):
    app = opened("karate")
    counted.forget()
    app.number_input(key="node").set_value(3)
    run(app)
    assert (len(counted.pages), len(counted.facts)) == (1, 1)
    assert len(counted.cuts) <= len(NETWORKS["karate"])


def test_a_method_registered_in_one_line_is_offered_and_says_what_it_does(counted, monkeypatch):
    def busiest(problem):
        c = problem.computation
        return Weights(c.degree[c.edge_index[1]].float())

    toy = Method("toy", "Busiest first", "Edges into the *busiest* nodes first.", busiest, features=False)
    monkeypatch.setitem(xc.METHODS, toy.name, toy)
    app = opened("karate")
    assert "Busiest first" in app.pills(key="methods").options
    app.pills(key="methods").set_value(["gradient", "toy"])
    run(app)
    beside = next(
        json.loads(each.proto.json or each.proto.mixed.json)
        for each in app.get("bidi_component")
        if '"beside"' in (each.proto.json or each.proto.mixed.json)
    )
    said = {panel["name"]: panel["lines"] for panel in beside["panels"]}
    assert "Edges into the *busiest* nodes first." in said["toy"]
    assert xc.METHODS["gradient"].about in said["gradient"]
    assert len(counted.pages) == 2
