"""How methods do over a data set, on the cards: plain, checked, and measured for every network that ships."""

import json
import shutil
from copy import deepcopy

import pytest

import explainer_core as xc
from explainer_core.datasets.registry import DATASETS
from explainer_core.zoo.compared import MOST_METHODS, MethodsCompared
from explainer_core.zoo.pretrained import PretrainedError, list_cards, read_card, read_cards, save_card
from explainer_core.zoo.shipped import FOLDER

FIGURES = {"alone": 0.9, "without": 0.1, "keeps": 1, "score": 1.8}
GOOD = {
    "targets": 40,
    "part": "test",
    "k_m": "auto",
    "k_m_unit": "nodes",
    "protocol": "a graph of its own",
    "command": "python -m benchmarks.compared",
    "full": 0.95,
    "methods": {"verified": FIGURES, "random": FIGURES | {"score": -0.5}},
}
BAD = {
    "targets": (0, -1, 10**9, 1.5, True, "40", None),
    "part": ("train", "", None, ["test"]),
    "k_m": (6, "6"),
    "k_m_unit": ("atoms", None),
    "protocol": ("x" * 201, 3, None),
    "command": ("x" * 201, {}),
    "full": (1.01, -0.1, float("nan"), float("inf"), "1", True, 10**400),
    "methods": (
        {},
        [],
        None,
        {"verified": None},
        {"verified": {"alone": 0.9}},
        {"verified": FIGURES | {"extra": 1}},
        {"<img src=x>": FIGURES},
        {"v" * 41: FIGURES},
        {"": FIGURES},
        {f"method{i}": FIGURES for i in range(MOST_METHODS + 1)},
        *({"verified": FIGURES | {name: value}} for name in FIGURES for value in (2.01, -1.01, float("nan"), "1", [])),
    ),
}


def test_figures_come_back_as_they_were_written():
    found = MethodsCompared.from_dict(json.loads(json.dumps(GOOD)))
    assert found.to_dict() == GOOD
    assert found.methods["random"].score == -0.5


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_is_no_comparison_is_refused(name, value):
    with pytest.raises(ValueError, match="must"):
        MethodsCompared.from_dict(GOOD | {name: value})


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_field_is_named(name):
    with pytest.raises(ValueError, match=name):
        MethodsCompared.from_dict({key: value for key, value in GOOD.items() if key != name})


@pytest.fixture
def folder(tmp_path):
    for path in FOLDER.glob("karate_*"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.parametrize("field", ["compared", "shelf_compared"])
def test_a_bad_comparison_hides_only_its_own_network(folder, field):
    values = json.loads((folder / "karate_gcn.json").read_text())
    values[field] = GOOD | {"full": 7}
    (folder / "karate_gcn.json").write_text(json.dumps(values))
    cards, broken = read_cards(folder)
    assert [card.model for card in cards] == ["gat"]
    assert list(broken) == ["karate_gcn"]
    assert f"{field} on a card must be a comparison of methods: full must be 0 to 1" in str(broken["karate_gcn"])


def test_a_card_cut_short_anywhere_hides_only_its_own_network(folder):
    text = (folder / "karate_gcn.json").read_text()
    for length in range(0, len(text.rstrip()), 97):
        (folder / "karate_gcn.json").write_text(text[:length])
        cards, broken = read_cards(folder)
        assert ([card.model for card in cards], list(broken)) == (["gat"], ["karate_gcn"])


def test_a_card_without_a_comparison_is_a_card(folder):
    values = json.loads((folder / "karate_gcn.json").read_text())
    del values["compared"], values["shelf_compared"]
    (folder / "karate_gcn.json").write_text(json.dumps(values))
    assert read_card(folder / "karate_gcn.json").methods_compared is None


def test_a_card_is_written_only_if_it_could_be_read(folder):
    card = read_card(folder / "karate_gcn.json")
    before = (folder / "karate_gcn.json").read_bytes()
    broken = deepcopy(card.to_dict()) | {"compared": GOOD | {"targets": 0}}
    with pytest.raises(ValueError, match="targets must be"):
        save_card(xc.Card(**broken), folder=folder)
    assert (folder / "karate_gcn.json").read_bytes() == before
    save_card(card, folder=folder)
    assert read_card(folder / "karate_gcn.json") == card


def test_a_borrowed_network_shows_what_was_measured_on_the_molecules():
    own, borrowed = list_cards("mutagenicity"), list_cards("molecules")
    for card in borrowed:
        lender = next(each for each in own if each.model == card.model)
        assert card.compared == lender.shelf_compared != lender.compared
        assert card.shelf_compared is None
    with pytest.raises((PretrainedError, ValueError), match="weights"):
        save_card(borrowed[0])


@pytest.mark.parametrize("card", [card for name in DATASETS for card in list_cards(name)], ids=lambda card: card.name)
def test_every_network_that_ships_was_measured(card):
    """The search is never behind chance, over a data set, and every figure is of at least ten targets."""
    found = card.methods_compared
    assert found is not None
    assert found.targets >= 10
    assert f"--only {card.dataset} " in found.command
    assert {"verified", "gnnexplainer", "paper", "gradient", "random", "proximity"} <= set(found.methods)
    assert found.methods["verified"].score > found.methods["random"].score
