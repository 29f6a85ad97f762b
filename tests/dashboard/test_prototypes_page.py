"""The Prototypes page without a browser: every class opens or says why not, and bad addresses do no harm."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services, state

APP = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "prototypes.py"
QUICK = {"steps": "20", "instances": "3"}


def opened(dataset: str, **address) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(QUICK | {"dataset": dataset} | {name: str(value) for name, value in address.items()})
    app.run()
    assert not app.exception
    return app


def texts(elements) -> str:
    return "\n".join(element.value for element in elements).replace("\\", "")


def request_for(dataset: str, label: int, **settings) -> services.ClassRequest:
    model = next(card.model for card in services.all_cards() if card.dataset == dataset and card.main)
    config = services.ExplainConfig(**state.default_config(dataset).to_dict() | {"steps": 20} | settings)
    return services.ClassRequest(dataset, model, label, 3, config)


@pytest.mark.parametrize(
    ("dataset", "label"), [("karate", 0), ("tree_cycles", 1), ("molecules", 0), ("les_miserables", 1)]
)
def test_every_kind_of_target_has_prototypes(dataset, label):
    app = opened(dataset, label=label)
    names = services.LINK_CLASSES if dataset == "les_miserables" else services.class_names(dataset, "node")
    assert f"“{names[label]}”" in texts(app.title)
    prototype = services.found_prototype(request_for(dataset, label))
    assert 2 <= len(prototype.members) <= 4


def test_the_picture_and_the_members_say_the_same_as_the_prototype():
    opened("tree_cycles", label=1)
    request = request_for("tree_cycles", 1)
    prototype = services.found_prototype(request)
    picture, panel = services.prototype_picture(request, prototype)
    kept = {tuple(sorted(picture.nodes[end] for end in picture.edges[edge])) for edge in panel.kept}
    assert kept == set(prototype.cut().edges)
    for (a, b), weight in zip(picture.edges, panel.weights, strict=True):
        assert weight == pytest.approx(prototype.agreement[picture.nodes[a], picture.nodes[b]], abs=1e-3)
    cards = services.member_cards(request, prototype)
    assert [card.id for card in cards] == list(range(len(prototype.members)))
    likeness = [int(card.note.split(" ")[0]) for card in cards]
    assert likeness == sorted(likeness)  # the least alike first
    address = services.member_query_params(request, prototype, 0)
    assert int(address["node"]) == prototype.outliers[0].target.node


def test_beside_a_prototype_what_is_drawn_is_compared():
    graph, model = xc.load_dataset("tree_cycles"), xc.load_pretrained("tree_cycles")
    ring = xc.prototype(model, graph, 1, instances=6, config=xc.ExplainConfig(k_m=6))
    assert nx.is_isomorphic(nx.Graph(ring.cut().edges), nx.cycle_graph(6))
    whole = next(
        m.explanation
        for m in ring.members
        if len(m.explanation.subgraph().edges) == 6 == len(m.explanation.subgraph().nodes)
    )
    asked = request_for("tree_cycles", 1).one(whole.target.node)
    assert services.beside_prototype(ring, asked, whole) == (1.0, 0, 0)
    part = replace(whole, config=xc.ExplainConfig(k_m=2), size=2)
    kept = len(part.subgraph().edges)
    assert 0 < kept < 6
    assert services.beside_prototype(ring, asked, part) == (pytest.approx(kept / 6), 6 - kept, 0)


@pytest.mark.parametrize(
    ("name", "value"), [("label", "99"), ("label", "<img src=x>"), ("instances", "10000"), ("k_m", "0")]
)
def test_a_bad_link_falls_back_with_a_word(name, value):
    app = opened("karate", **{name: value})
    assert value in texts(app.warning)


def test_a_class_without_members_is_one_sentence(monkeypatch):
    def empty(request, progress):
        raise ValueError("a class needs members (got none)")

    monkeypatch.setattr(services, "make_prototype", empty)
    app = opened("karate", label=1, seed=77)
    assert texts(app.error) == "A class needs members (got none)."


def test_all_classes_come_to_stand_in_a_row_and_one_without_members_is_left_out_with_a_word(monkeypatch):
    make = services.make_prototype

    def without_the_officer(request, progress):
        if request.label == 1:
            raise ValueError("a class needs members (got none)")
        return make(request, progress)

    monkeypatch.setattr(services, "make_prototype", without_the_officer)
    app = opened("karate", label=0, seed=78)
    assert texts(app.warning) == "A class needs members (got none)."
    assert services.found_prototype(request_for("karate", 1, seed=78)) is None
    monkeypatch.undo()
    opened("karate", label=0, seed=78)
    assert services.found_prototype(request_for("karate", 1, seed=78)) is not None


def test_the_script_runs_once_however_many_classes_are_missing(monkeypatch):
    """Every run of the page asks for the list of data sets once."""
    runs, made = [], []
    datasets, make = services.datasets, services.make_prototype
    monkeypatch.setattr(services, "datasets", lambda: (runs.append(1), datasets())[1])
    monkeypatch.setattr(services, "make_prototype", lambda *asked: (made.append(asked[0].label), make(*asked))[1])
    opened("ba_shapes", label=1, seed=80)
    assert sorted(made) == [0, 1, 2, 3]
    assert len(runs) == 1


def test_the_row_is_left_alone_once_it_is_stopped():
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(QUICK | {"dataset": "karate", "label": "0", "seed": "79"})
    app.session_state["stopped run"] = ("all classes", request_for("karate", 0, seed=79))
    app.run()
    assert services.found_prototype(request_for("karate", 1, seed=79)) is None
    next(button for button in app.button if button.label == "Draw the other classes too").click()
    app.run()
    assert services.found_prototype(request_for("karate", 1, seed=79)) is not None


def test_a_stopped_run_can_be_started_again():
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(QUICK | {"dataset": "karate", "label": "0", "seed": "5"})
    app.session_state["stopped run"] = request_for("karate", 0, seed=5)
    app.run()
    assert texts(app.info) == "The run was stopped."
    next(button for button in app.button if button.label == "Run it again").click()
    app.run()
    assert not app.info
    assert services.found_prototype(request_for("karate", 0, seed=5)) is not None


def test_a_network_of_links_offers_pairs_and_no_classes_of_nodes():
    """Cora's papers have classes, but its link network tells joined pairs from others."""
    assert services.class_names("karate", "link") == services.LINK_CLASSES != services.class_names("karate", "node")
    if not services.is_here(services.datasets()["cora"]):
        return  # the page offers to fetch it then
    app = opened("cora", model="link", label=1)
    assert app.selectbox(key="label").options == list(services.LINK_CLASSES)
    assert "“joined”" in texts(app.title)
