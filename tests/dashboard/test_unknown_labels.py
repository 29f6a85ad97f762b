"""Nodes and graphs whose class nobody knows (-1): no page breaks, and none of them is called right, wrong or the last class."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from test_explain_page import APP, views

from dashboard import services, state
from dashboard.services import browse, pictures, predict
from dashboard.tasks import subjects
from dashboard.view.palette import QUIET
from explainer_core.graph import NO_LABEL

NODE = 19


@pytest.fixture
def unlabelled(monkeypatch):
    """Karate club without the class of one member, molecules without that of the first."""

    def without(data, number: int):
        labels = data.labels.clone()
        labels[number] = NO_LABEL
        return replace(data, labels=labels)

    services.clear_caches()
    whole = {name: subjects.load_data(name) for name in ("karate", "molecules")}
    partial = {"karate": without(whole["karate"], NODE), "molecules": without(whole["molecules"], 0)}
    monkeypatch.setattr("explainer_core.load_dataset", lambda name, **settings: partial[name])
    services.clear_caches()
    yield
    services.clear_caches()


def request(kind: str = "node") -> services.Request:
    dataset, model, target = ("karate", "gcn", NODE) if kind == "node" else ("molecules", "gin", 0)
    return services.Request(dataset, model, kind, target, config=services.ExplainConfig(steps=10))


@pytest.mark.parametrize("kind", ["node", "graph"])
def test_the_truth_of_it_is_not_known(unlabelled, kind):
    facts = predict.target_facts(request(kind))
    assert (facts.truth, facts.right) == (None, None)
    assert predict.asked_class(replace(request(kind), target_class="true")) == facts.predicted


def test_its_colour_and_its_tip_claim_nothing(unlabelled):
    for colour in ("class", "right"):
        assert pictures.node_colours("karate", "gcn", [NODE], colour)[0] == (QUIET,)
        assert pictures.node_legend("karate", "gcn", colour)[-1] == (pictures.UNKNOWN, QUIET)
        points = services.points("karate", "gcn", "graph", colour)
        assert points.legend[points.colour_of[NODE]] == (pictures.UNKNOWN, QUIET)
        assert "class:" not in points.tips[NODE]
    assert pictures.UNKNOWN not in dict(pictures.node_legend("karate", "gcn", "predicted"))


def test_it_is_neither_right_nor_wrong_in_a_list(unlabelled):
    assert NODE not in services.candidates("karate", "gcn", "wrong").tolist()
    for right in (True, False):
        assert 0 not in services.filtered_graphs("molecules", "gin", services.GraphFilter(right=right)).tolist()
    card = browse.gallery("molecules", "gin", np.array([0]), 0)[0]
    assert "✓" not in card.note
    assert "✗" not in card.note


def test_files_and_facts_leave_it_out(unlabelled):
    answer = services.explain(services.ask(request()))
    net = nx.parse_graphml(services.as_graphml(answer), node_type=int)
    assert "class" not in net.nodes[NODE]
    assert "class" in net.nodes[0]
    facts = services.dataset_facts("karate")
    assert sum(count for _, count in facts.class_counts) == 33


@pytest.mark.parametrize(
    "address",
    [
        {"dataset": "karate", "node": NODE, "colour": "class", "steps": 10},
        {"dataset": "karate", "node": NODE, "colour": "right", "view": state.VIEWS[1], "steps": 10},
        {"dataset": "molecules", "graph": 0, "view": state.VIEWS[1], "steps": 10},
    ],
)
def test_the_page_stands(unlabelled, address):
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({name: str(value) for name, value in address.items()})
    app.run()
    assert not app.exception
    assert not app.error
    assert "why" in views(app)
