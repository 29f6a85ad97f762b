"""Two networks on the Debug page: all counts agree, each cell opens its list, and each instance both explanations."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pyg_examples import LinkGCN, planetoid, trained_gcn
from streamlit.testing.v1 import AppTest
from torch_geometric.data import Data

import explainer_core as xc
from dashboard import services
from dashboard.catalogue import launched
from dashboard.catalogue.given import entry_of
from dashboard.schema import OUTCOMES, InstanceFilter
from dashboard.services import two_networks
from dashboard.tasks import Listed
from dashboard.view import versus_text
from tests.debugging.test_two_networks import made, with_counts

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "debug.py"
NAMES = ("GCN", "GAT")
EVERYWHERE = (("ba_shapes", "gat"), ("les_miserables", "gat"), ("molecules", "rgcn"), ("ba_2motifs", "gcn"))


def opened(dataset: str, **address) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"} | {name: str(value) for name, value in address.items()})
    app.run()
    assert not app.exception
    assert not app.error
    return app


def views(app: AppTest) -> dict[str, dict]:
    sent = [json.loads(each.proto.json or each.proto.mixed.json) for each in app.get("bidi_component")]
    return {data["key"]: data for data in sent}


def listed(app: AppTest):
    """The list under the table of two networks, which comes last."""
    return app.dataframe[-1].value if app.dataframe and "first" in app.dataframe[-1].value else None


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


@pytest.mark.parametrize(("dataset", "second"), EVERYWHERE)
def test_the_table_counts_what_both_networks_say(dataset, second):
    app = opened(dataset, second=second, split="all")
    first = next(card for card in services.all_cards() if card.dataset == dataset)
    one, other = (services.everything(dataset, model).instances for model in (first.model, second))
    cells = np.array(views(app)["versus"]["counts"])
    truth, said_by = one.truth, (one.predicted, other.predicted)
    right = [said_by[0] == truth, said_by[1] == truth]
    expected = [right[0] & right[1], right[0] & ~right[1], ~right[0] & right[1], ~right[0] & ~right[1]]
    assert cells[0, :4].tolist()[:3] == [int(each.sum()) for each in expected[:3]]
    assert cells[0, 3:].sum() == expected[3].sum()
    assert (cells[0] == cells[1:].sum(0)).all()
    assert cells[1:].sum(1).tolist() == np.bincount(truth, minlength=len(one.class_names)).tolist()
    assert cells[:, :2].sum(1)[1:].tolist() == [int((right[0] & (truth == c)).sum()) for c in range(len(cells) - 1)]
    changed = int(cells[0, 1] + cells[0, 2])
    assert (0 if listed(app) is None else len(listed(app))) == changed
    assert f"gains {cells[0, 2]:,} and loses {cells[0, 1]:,}" in said(app)


def test_every_cell_lists_as_many_as_it_counts_and_the_first_is_looked_at():
    found = services.versus("ba_shapes", ("gcn", "gin"), InstanceFilter(split=None))
    cells = found.cells()
    for row, column in np.argwhere(cells).tolist():
        some = found.listed((row, column))
        assert len(some) == cells[row, column]
        assert set(some.outcome) == {OUTCOMES[column]}
        assert row == 0 or set(some.first.truth) == {row - 1}
        apart = np.abs(some.first.probabilities - some.second.probabilities).sum(1)
        assert (np.diff(apart) <= 1e-12).all()
    row, column = next(cell for cell in np.argwhere(cells).tolist() if cell[1] == 2 and cell[0])
    app = opened("ba_shapes", second="gin", split="all", versus=f"{row},{column}")
    assert len(listed(app)) == cells[row, column]
    assert app.number_input(key="node").value == found.listed((row, column)).first.numbers[0]
    assert views(app)["versus"]["chosen"] == [row, column]


@pytest.mark.parametrize(("dataset", "second"), EVERYWHERE)
def test_an_instance_is_explained_under_both_on_one_layout_and_shared_edges_are_marked(dataset, second):
    app = opened(dataset, second=second)
    one, other = (views(app)[f"{which}_network"] for which in ("first", "second"))
    for column in ("nodes", "x", "y", "edges"):
        assert one["picture"][column] == other["picture"][column]
    kept = [set(view["panels"][0]["kept"]) for view in (one, other)]
    assert set(one["panels"][0]["shared"]) == set(other["panels"][0]["shared"]) == kept[0] & kept[1]
    title = services.datasets()[dataset].title
    assert one["subject"].startswith(f"{title} · ")
    assert one["subject"] != other["subject"]  # a saved picture names data, network and target
    assert views(app)["why"]["panels"][0]["kept"] == one["panels"][0]["kept"]


def test_until_another_network_is_chosen_nothing_is_compared():
    app = opened("karate")
    assert not {"versus", "first_network"} & set(views(app))
    assert app.selectbox(key="second").value == "none"
    app.selectbox(key="second").set_value("gat")
    app.run()
    assert {"versus", "first_network"} <= set(views(app))
    assert app.query_params["second"] in ("gat", ["gat"])


def test_a_cell_means_nothing_under_another_network():
    app = opened("ba_shapes", second="gat", versus="0,3", split="all")
    app.selectbox(key="second").set_value("gin")
    app.run()
    assert "versus" not in app.query_params
    app = opened("ba_shapes", second="gat", versus="0,3", split="all")
    app.selectbox(key="model").set_value("sage")
    app.run()
    assert "versus" not in app.query_params
    assert app.query_params["second"] in ("gat", ["gat"])


@pytest.mark.parametrize("asked", ["9,0", "0,9", "x", "0,-1"])
def test_a_cell_that_is_not_there_is_told(asked):
    app = opened("ba_shapes", second="gat", versus=asked)
    assert "versus must be a row below 5 and a column below 5" in app.warning[0].value.replace("\\", "").lower()


def test_filters_narrow_both_networks_alike():
    app = opened("ba_shapes", second="gat", split="all", with_degree="2,3")
    everyone = services.everything("ba_shapes", "gcn").instances
    assert sum(views(app)["versus"]["counts"][0]) == ((everyone.degree >= 2) & (everyone.degree <= 3)).sum()
    app = opened("les_miserables", second="gat", with_text="nobody is called so")
    assert "Nothing to compare" in said(app)


def test_without_labels_there_is_a_table_of_what_either_says(monkeypatch):
    known = {model: services.everything("karate", model).instances for model in ("gcn", "gat")}
    unknown = {model: Listed(replace(each, truth=np.full(len(each), -1))) for model, each in known.items()}
    monkeypatch.setattr(two_networks, "everything", lambda dataset, model, *rest: unknown[model])
    found = services.versus("karate", ("gcn", "gat"), InstanceFilter(split=None))
    expected = np.zeros((2, 2), dtype=int)
    np.add.at(expected, (known["gcn"].predicted, known["gat"].predicted), 1)
    assert found.cells().tolist() == expected.tolist()
    assert len(found.listed(None)) == expected[0, 1] + expected[1, 0]
    for cell in ((0, 1), (1, 1)):
        assert len(found.listed(cell)) == expected[cell]
    app = opened("karate", second="gat", split="all")
    assert views(app)["versus"]["counts"] == expected.tolist()
    assert f"They disagree about {expected[0, 1] + expected[1, 0]}" in said(app)


def test_links_are_listed_by_pair_and_opened_by_pair():
    app = opened("les_miserables", second="gat", split="all", versus="0,1")
    found = services.versus("les_miserables", ("gcn", "gat"), InstanceFilter(split=None))
    first = found.target(int(found.listed((0, 1)).first.numbers[0]))
    assert (app.selectbox(key="source").value, app.selectbox(key="head").value) == first


def test_a_list_as_a_file_has_both_networks_and_no_formula():
    found = services.versus("les_miserables", ("gcn", "gat"), InstanceFilter(split=None))
    some = found.listed(None)
    named = xc.TwoNetworks(replace(some.first, names=["=1+1"] * len(some)), some.second)
    rows = list(csv.DictReader(io.StringIO(services.versus_as_csv(named, NAMES))))
    assert len(rows) == len(some)
    assert {row["name"] for row in rows} == {"'=1+1"}
    for i, row in enumerate(rows):
        assert float(row["GCN P(joined)"]) == pytest.approx(some.first.probabilities[i, 1])
        assert float(row["GAT P(joined)"]) == pytest.approx(some.second.probabilities[i, 1])
        assert (row["true"] == row["GCN predicted"]) != (row["true"] == row["GAT predicted"])


# Why


def test_mistakes_of_one_network_only_are_compared_with_what_both_have_right():
    found = services.versus("les_miserables", ("gcn", "gat"), InstanceFilter(split=None))
    row = {pair: i for i, pair in enumerate(found.pairs)}
    numbers = found.both.first.numbers.tolist()
    for cell in ((0, 1), (0, 2), (2, 1)):
        wrong, groups = found.changed(cell)
        network = (found.both.first, found.both.second)[wrong]
        mistakes, right = ([numbers.index(row[pair]) for pair in some] for some in groups)
        assert len(mistakes) == len(right) == len(found.listed(cell))
        assert network.wrong[mistakes].all()
        assert found.both.first.right[right].all()
        assert found.both.second.right[right].all()
        if cell[0]:
            assert set(found.both.first.truth[[*mistakes, *right]]) == {cell[0] - 1}
    assert found.changed(None) is found.changed((0, 0)) is found.changed((0, 3)) is None


def test_what_they_have_in_common_is_said_or_that_there_is_nothing():
    services.clear_caches()
    app = opened("les_miserables", second="gat", split="all", versus="0,1")
    app.button(key="find_changed").click()
    app.run()
    assert not app.exception
    wrong, groups = services.versus("les_miserables", ("gcn", "gat"), InstanceFilter(split=None)).changed((0, 1))
    known = services.known_patterns("les_miserables", "gat", groups)
    assert wrong == 1
    assert "What these mistakes of GAT have in common" in said(app)
    texts = [each.trait.text for each in known.patterns[:6]] or ["no pattern is called"]
    assert all(text in said(app) for text in texts)
    assert "find_changed" not in [button.key for button in opened("les_miserables", second="gat", split="all").button]


# Networks of one's own


@pytest.fixture
def launch():
    def add(*args, **settings) -> str:
        launched.add(entry := entry_of(*args, **settings))
        return entry.info.name

    yield add
    for entry in launched.entries():
        launched.remove(entry.info.name)


def test_before_and_after_of_a_network_of_ones_own(launch):
    data = planetoid()
    dataset = launch({"before": trained_gcn(data, 1), "after": trained_gcn(data)}, data, name="Papers")
    app = opened(dataset, second="after")
    one, other = (services.everything(dataset, model).instances for model in ("before", "after"))
    tested = one.split == "test"
    cells = np.array(views(app)["versus"]["counts"])
    assert cells[0].sum() == tested.sum() > 0
    assert cells[0, 1] == (one.right & ~other.right & tested).sum()
    assert f"after gains {cells[0, 2]} and loses {cells[0, 1]}" in said(app)


def test_networks_of_ones_own_without_labels_are_compared_by_what_they_say(launch):
    data = planetoid()
    bare = Data(x=data.x, edge_index=data.edge_index)
    dataset = launch({"before": trained_gcn(data, 1), "after": trained_gcn(data)}, bare)
    one, other = (services.everything(dataset, model).instances for model in ("before", "after"))
    app = opened(dataset, second="after")
    assert np.array(views(app)["versus"]["counts"]).sum() == len(one)
    assert f"They disagree about {(one.predicted != other.predicted).sum():,}" in said(app)


def test_link_networks_of_ones_own_are_compared_on_the_pairs_that_both_were_asked_about(launch):
    torch.manual_seed(0)
    dataset = launch({"before": LinkGCN(), "after": LinkGCN()}, planetoid(), task="link", output="binary")
    found = [services.everything(dataset, model) for model in ("before", "after")]
    versus = services.versus(dataset, ("before", "after"), InstanceFilter(split=None))
    shared = set(found[0].pairs) & set(found[1].pairs)
    assert len(versus.both) == len(shared) > 0
    row = {pair: i for i, pair in enumerate(found[1].pairs)}
    for i, number in enumerate(versus.both.first.numbers.tolist()):
        pair = versus.target(number)
        assert versus.both.second.probabilities[i].tolist() == found[1].instances.probabilities[row[pair]].tolist()
    assert set(services.links(dataset, "before")["part"]) == {""}  # it does not tell how it was trained


def test_a_network_of_ones_own_is_known_by_its_weights(launch):
    data = planetoid()
    digests = []
    for seed in (1, 1, 2):
        dataset = launch({"mine": trained_gcn(data, seed)}, data, name="Papers")
        (card,) = [card for card in services.all_cards() if card.dataset == dataset]
        digests.append(services.weights_of(card))
    assert digests[0] == digests[1] != digests[2]
    assert len(digests[0]) == 64


# In words


def test_chance_is_called_chance_and_more_than_chance_is_not():
    title, words = versus_text.who_is_better(with_counts(90, 1, 5, 4), NAMES, "test node")
    assert title == "GAT gains 5 and loses 1"
    assert "91.0\u00a0% right with GCN, 95.0\u00a0% with GAT, of 100 test nodes (+4.0 points" in words
    assert "That may well be chance (p 0.22, exact McNemar test)" in words
    _, words = versus_text.who_is_better(with_counts(80, 15, 1, 4), NAMES, "test node")
    assert "That is more than chance (p under 0.001, exact McNemar test): GCN is better here." in words
    _, words = versus_text.who_is_better(with_counts(5, 0, 0, 5), NAMES, "node")
    assert "both are right about the very same ones" in words


def test_what_is_no_test_is_told():
    words = {split: said(opened("ba_shapes", second="gin", split=split)) for split in ("test", "val", "train", "all")}
    warned = {split: "the test part tells more" in each for split, each in words.items()}
    assert warned == {"test": False, "val": False, "train": True, "all": True}


def test_a_class_is_named_only_where_its_own_change_is_more_than_chance():
    truth = [0] * 10 + [1] * 10
    one, other = made([1] * 10 + [1] * 9 + [0], truth, classes=2), made([0] * 10 + [1] * 10, truth, classes=2)
    found = xc.compare_networks(one, other)
    assert versus_text.classes_said(found).startswith("More than chance in “a” (p 0.0039)")
    assert versus_text.classes_said(xc.compare_networks(other, made([0] * 9 + [1] * 11, truth, classes=2))) == "In no single class the difference is more than chance."  # fmt: skip


def test_no_difference_has_no_sign():
    assert [versus_text.points(share) for share in (0.0, -1e-9, 0.012, -0.012)] == ["0.0", "0.0", "+1.2", "−1.2"]


def test_names_are_escaped():
    found = with_counts(1, 1, 1, 1)
    table = versus_text.versus_table(found, ("<b>", "GAT"), ("#000000", "#ffffff"))
    assert "<b>" not in table.replace('<b style="', "")
    assert "&lt;b&gt;" in table
