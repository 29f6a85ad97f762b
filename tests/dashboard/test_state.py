"""The address is the one truth: what is clicked, typed or chosen goes to it, and what is in it is never believed."""

from dataclasses import fields
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
import streamlit

from dashboard import services, state
from dashboard.services import COLOURS, ExplainConfig, Request
from dashboard.tasks.subjects import card_of

NODES, GRAPHS, LINKS = card_of("karate", "gcn"), card_of("molecules", "gin"), card_of("les_miserables", "gcn")
IMAGE = "<img src=x onerror=alert(1)>"


class Address(dict):
    """Query parameters as Streamlit has them: text to text."""

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, values: dict[str, str]) -> None:
        self.clear()
        self.update(values)

    def __setitem__(self, name: str, value: str) -> None:
        assert isinstance(value, str)
        super().__setitem__(name, value)


class Visit:
    """A visitor's address and session, in place of Streamlit's."""

    def __init__(self):
        self.query_params, self.session_state = Address(), {}
        self.context = SimpleNamespace(url="http://localhost:8501/?node=1")

    def at(self, session: dict | None = None, **address) -> "Visit":
        self.query_params.from_dict({name: str(value) for name, value in address.items()})
        self.session_state |= session or {}
        return self

    def after(self, name: str, *args) -> dict[str, str]:
        """The address after a function of `state` was called."""
        getattr(state, name)(*args)
        return self.query_params.to_dict()

    def read(self, name: str, *args) -> tuple:
        """What is made of the address, and what there is to complain of."""
        complaints: list[str] = []
        return getattr(state, f"{name}_from_query")(*args, complaints.append), complaints


@pytest.fixture
def visit(monkeypatch):
    made = Visit()
    for name in ("query_params", "session_state", "context"):
        monkeypatch.setattr(streamlit, name, getattr(made, name))
    return made


# Clicks


def test_a_click_on_a_node_or_a_graph_makes_it_the_target(visit):
    old = {"node": 3, "smiles": "CC", "class": 1, "steps": 5}
    assert visit.at({"near": {"clicked": 8}}, **old).after("clicked", "near", NODES) == {"node": "8", "steps": "5"}
    assert visit.at({"near": {"clicked": 0}}, **old).after("clicked", "near", GRAPHS) == {"graph": "0", "steps": "5"}


def test_a_click_in_a_links_picture_moves_its_second_end_but_never_onto_the_first(visit):
    moved = visit.at({"near": {"clicked": 5}}).after("clicked", "near", LINKS, (73, 48))
    assert moved == {"source": "73", "head": "5"}
    assert visit.at({"near": {"clicked": 73}}).after("clicked", "near", LINKS, (73, 48)) == {}


def test_a_click_on_nothing_changes_nothing(visit):
    assert visit.at({"near": {"clicked": None}}, node=3).after("clicked", "near", NODES) == {"node": "3"}


@pytest.mark.parametrize("sent", [IMAGE, -4, 1e300, [1, 2], {"a": 1}, True, "9" * 10_000])
def test_whatever_a_browser_sends_as_a_click_is_checked_like_any_address(sent, visit):
    after = visit.at({"near": {"clicked": sent}}).after("clicked", "near", NODES)
    (_, place), complaints = visit.read("target", NODES, 34)
    assert place in range(34)
    assert len(complaints) == ("node" in after)


def test_a_row_of_the_list_of_links_is_chosen_by_its_place_in_the_list(visit):
    pairs = [(1, 2), (3, 4)]
    chosen = {"links": {"selection": {"cells": [(1, "score")]}}}
    assert visit.at(chosen).after("row_chosen", "links", pairs) == {"source": "3", "head": "4"}
    none = {"links": {"selection": {"cells": []}}}
    assert visit.at(none, source=1).after("row_chosen", "links", pairs) == {"source": "1"}


@pytest.mark.parametrize(
    ("picked", "ends"), [((48, 48), ("48", "73")), ((73, 73), ("48", "73")), ((1, 48), ("1", "48"))]
)
def test_picking_the_other_ends_node_swaps_the_two(picked, ends, visit):
    after = visit.at({"source": picked[0], "head": picked[1]}).after("end_chosen", (73, 48))
    assert (after["source"], after["head"]) == ends


def test_a_typed_molecule_takes_the_place_of_a_graph_and_an_empty_box_gives_it_back(visit):
    assert visit.at({"smiles": " CCO "}, graph=3, steps=5).after("typed") == {"smiles": "CCO", "steps": "5"}
    assert visit.at({"smiles": "  "}, smiles="CCO").after("typed") == {}


def test_an_emptied_number_box_changes_nothing(visit):
    assert visit.at({"node": None}, node=3).after("number_typed", NODES, "node") == {"node": "3"}
    assert visit.at({"node": 0}, node=3).after("number_typed", NODES, "node") == {"node": "0"}


def test_another_data_set_forgets_the_target_and_its_sizes_but_not_how_it_is_learnt(visit):
    old = {
        "dataset": "karate",
        "model": "gat",
        "node": 3,
        "class": 1,
        "k_m": 9,
        "k_f": 2,
        "steps": 5,
        "methods": "none",
    }
    new = visit.at({"dataset": "tree_cycles"}, **old).after("dataset_to_query")
    assert new == {"dataset": "tree_cycles", "steps": "5", "methods": "none"}


# What stays


def test_what_was_chosen_comes_back_with_a_visitor_who_was_on_another_page(visit):
    visit.at(dataset="karate", node=3).after("enter", "explain")
    assert visit.at().after("enter", "data") == {"dataset": "karate"}
    assert visit.at().after("enter", "explain") == {"dataset": "karate", "node": "3"}
    assert visit.at(dataset="mutag").after("enter", "explain") == {"dataset": "mutag"}


def test_the_data_set_and_the_model_come_along_to_another_page(visit):
    visit.at(dataset="karate", model="gcn", node=3).after("enter", "explain")
    assert visit.at().after("enter", "prototypes") == {"dataset": "karate", "model": "gcn"}
    visit.at(dataset="karate", model="gcn", label=1).after("enter", "prototypes")
    assert visit.at().after("enter", "explain") == {"dataset": "karate", "model": "gcn", "node": "3"}
    visit.at().after("enter", "prototypes")
    visit.at(dataset="tree_grid", label=1).after("enter", "prototypes")
    assert visit.at().after("enter", "explain") == {"dataset": "tree_grid"}  # node 3 was of another data set


def test_a_click_is_not_lost_where_the_next_run_starts_with_the_address_of_before(visit):
    visit.at(dataset="karate", node=3).after("enter", "explain")
    assert visit.after("set_query_param", "node", 5) == {"dataset": "karate", "node": "5"}
    assert visit.at(dataset="karate", node=3).after("enter", "explain") == {"dataset": "karate", "node": "5"}
    assert visit.at(dataset="karate", node=8).after("enter", "explain") == {"dataset": "karate", "node": "8"}  # once


def test_no_method_at_all_is_a_choice(visit):
    possible = ("verified", "gnnexplainer", "paper", "gradient", "attention", "occlusion")
    beside, usual = possible[1:], ("gnnexplainer", "gradient", "attention")
    assert state.methods_from_query(possible, beside, usual, print) == usual
    visit.at({"methods": []}).after("methods_to_query")
    assert state.methods_from_query(possible, beside, usual, print) == ()


def test_what_the_main_picture_shows_is_not_drawn_beside_it(visit):
    visit.at(methods="occlusion,gradient,gnnexplainer")
    possible, complaints = ("verified", "gnnexplainer", "gradient", "occlusion"), []
    for main, drawn in (
        ("verified", ("gnnexplainer", "gradient", "occlusion")),
        ("gnnexplainer", ("gradient", "occlusion")),
    ):
        beside = services.beside_main(possible, main)
        assert state.methods_from_query(possible, beside, (), complaints.append) == drawn
    assert complaints == []  # the link was made with another main picture


def test_the_gallery_is_never_past_its_ends(visit):
    state.turn_page(-1)
    assert state.gallery_page(2) == 0
    for _ in range(9):
        state.turn_page(1)
    assert state.gallery_page(2) == 2
    state.turn_page(-1)
    assert state.gallery_page(2) == 1


def choice(request: Request, **changes) -> state.Choice:
    plain = {"methods": ("gradient",), "colour": "right", "view": "whole data set", "layout": "embedding"}
    return state.Choice(request=request, **plain | {"everything": True} | changes)


# The main picture


def test_the_verified_picture_is_shown_unless_the_address_says_mask(visit):
    for shown, method in (("verified", "verified"), ("mask", "gnnexplainer")):
        assert visit.at(shown=shown).read("method") == (method, [])
    assert visit.at().read("method") == ("verified", [])
    method, complaints = visit.at(shown=IMAGE).read("method")
    assert method == "verified"
    assert complaints[0].startswith("shown must be one of verified, mask")


def test_a_setting_that_changes_the_mask_shows_the_mask(visit):
    for name in ("necessity", "size", "entropy", "feat_size", "feat_entropy", "laplacian", "steps", "seed", "features"):
        after = visit.at({name: 1}, dataset="karate").after("setting_changed", name)
        assert after == {"dataset": "karate", name: "1", "shown": "mask"}
    for name in state.BESIDE_THE_MASK:
        assert visit.at({name: 1}, shown="verified").after("setting_changed", name) == {name: "1", "shown": "verified"}


def test_the_paper_sets_every_setting_and_shows_the_mask_and_the_reset_is_the_way_back(visit):
    for dataset in ("karate", "tree_grid"):
        old = {"dataset": dataset, "size": 2, "k_m_unit": "edges", "seeds": 3, "refine": "True"}
        visit.at(**old).after("as_in_the_paper", dataset)
        assert visit.read("config", dataset) == (ExplainConfig.paper(), [])
        assert visit.query_params["shown"] == "mask"
        assert visit.after("reset", *ExplainConfig().to_dict(), state.SHOWN) == {"dataset": dataset}


def test_a_size_is_a_number_or_auto(visit):
    for asked, size in (("auto", "auto"), ("6", 6), (None, "auto")):
        config, complaints = visit.at(**({} if asked is None else {"k_m": asked})).read("config", "karate")
        assert (config.k_m, complaints) == (size, [])
    assert visit.at({"k_m_auto": False}).after("auto_changed", 7) == {"k_m": "7"}
    assert visit.at({"k_m_auto": True}, k_m=7).after("auto_changed", 7) == {"k_m": "auto"}
    for sent, query in ((5, {"k_m": "5"}), ("auto", {"k_m": "auto"})):
        assert visit.at({"why": {"sized": sent}}).after("size_chosen", "why") == query
    for sent in (0, 51, True, 2.5, "<img>", None, [1]):  # a browser may send anything
        assert visit.at({"why": {"sized": sent}}).after("size_chosen", "why") == {}


def test_links_from_before_open(visit):
    visit.at(dataset="karate", node=3, k_m=6, refine="False", connected="True", methods="gradient,gnnexplainer")
    config, complaints = visit.read("config", "karate")
    assert (config.k_m, config.refine, complaints) == (6, False, [])
    assert state.methods_from_query(("verified", "gnnexplainer", "gradient"), ("gradient",), (), print) == ("gradient",)


def off_default(setting):
    """A value of this setting that is not its default."""
    rule = setting.metadata
    if rule["choices"]:
        return next(each for each in rule["choices"] if each != setting.default)
    if isinstance(setting.default, bool):
        return not setting.default
    if rule["auto"]:
        return rule["high"]
    return rule["high"] / 2 if isinstance(setting.default, float) else rule["high"]


ALL_CHANGED = ExplainConfig(**{setting.name: off_default(setting) for setting in fields(ExplainConfig)})


@pytest.mark.parametrize(
    ("card", "request_"),
    [
        (NODES, Request("karate", "gcn", "node", 8, 1, ALL_CHANGED)),
        (NODES, Request("karate", "gcn", "node", 8, 1, ExplainConfig.paper(), "gnnexplainer")),
        (NODES, Request("karate", "gcn", "node", 0, "distribution", ExplainConfig())),
        (LINKS, Request("les_miserables", "gcn", "link", (4, 2), "true", ExplainConfig(k_m=3))),
        (GRAPHS, Request("molecules", "gin", "graph", 3, 0, ExplainConfig(size=1.25))),
        (GRAPHS, Request("molecules", "gin", "smiles", "O=[N+]([O-])c1ccc(cc1)/C=C\\Cl", "predicted", ExplainConfig())),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_link_opens_the_same_choice(card, request_, visit):
    for each in (choice(request_, second="gat"), choice(request_, methods=(), everything=False)):
        text = state.link(each)
        assert text.startswith("http://localhost:8501/?")
        visit.at(**dict(parse_qsl(text.split("?", 1)[1], keep_blank_values=True)))
        assert state.dataset_from_query(["ba_shapes", request_.dataset]) is None
        (kind, place), unknown = visit.read("target", card, 1000)
        target_class, no_class = visit.read("class", ("one", "two"))
        config, bad = visit.read("config", card.dataset)
        method, unknown_method = visit.read("method")
        usual = ("gnnexplainer", "gradient", "attention")
        opened = state.Choice(
            request=Request(visit.session_state["dataset"], card.model, kind, place, target_class, config, method),
            methods=state.methods_from_query(usual, usual, (), print),
            colour=state.one_of("colour", tuple(COLOURS), "predicted", print),
            view=state.one_of("view", state.VIEWS, state.VIEWS[0], print),
            layout=state.query_param("layout"),
            everything=state.query_param("everything") == "True",
            second=state.one_of("second", ("none", "gat"), "none", print),
        )
        assert opened == each
        assert (unknown, no_class, bad, unknown_method) == ([], [], [], [])


# Bad addresses


@pytest.mark.parametrize("asked", [10**9, -1, "nan", "1.5", "", " 3", "٣", "9" * 10_000, IMAGE, "0x1"])
def test_a_number_that_is_none_becomes_the_default_with_a_word(asked, visit):
    usual, none = visit.read("target", NODES, 34)
    found, complaints = visit.at(node=asked).read("target", NODES, 34)
    assert (found, none) == (usual, [])
    assert str(asked)[:30] in complaints[0]
    assert len(complaints[0]) < 200


def test_a_link_needs_two_different_ends(visit):
    for end in (5, 76):
        (_, ends), complaints = visit.at(source=end, head=end).read("target", LINKS, 77)
        assert ends[0] != ends[1]
        assert max(ends) < 77
        assert len(complaints) == 1
    assert len(visit.at(source="x", head=10**9).read("target", LINKS, 77)[1]) == 2


@pytest.mark.parametrize("asked", ["2", "-1", "x", IMAGE, "1" * 400, "predicted "])
def test_an_unknown_class_becomes_the_predicted_one(asked, visit):
    found, complaints = visit.at(**{"class": asked}).read("class", ("one", "two"))
    assert found == "predicted"
    assert asked[:30] in complaints[0]


@pytest.mark.parametrize("asked", ["NaN", "inf", "-1e400", "1e999", IMAGE, "", "None", "x" * 10_000])
def test_no_setting_believes_the_address(asked, visit):
    for name in ExplainConfig().to_dict():
        config, complaints = visit.at(**{name: asked}).read("config", "karate")
        assert config == state.default_config("karate")
        assert complaints[0].startswith(f"{name} must be")
        assert len(complaints[0]) < 250, name


def test_one_bad_setting_does_not_spoil_the_others(visit):
    visit.at(k_m=0, size=-1, entropy="0.25", steps=7, connected="False")
    config, complaints = visit.read("config", "karate")
    assert (config.entropy, config.steps, config.connected) == (0.25, 7, False)
    assert (config.k_m, config.size) == (state.default_config("karate").k_m, ExplainConfig().size)
    assert len(complaints) == 2
