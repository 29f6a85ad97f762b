"""The command line as a person types it."""

import json
import subprocess
import sys

import pytest
import torch

from explainer_core.__main__ import main
from explainer_core.datasets.registry import DATASETS
from explainer_core.zoo.cards import command_of
from explainer_core.zoo.pretrained import FOLDER, list_cards
from explainer_core.zoo.recipes import RECIPES
from explainer_core.zoo.training import TrainConfig

TRAIN_KARATE = ["train", "karate", "gcn", "--epochs", "5", "--device", "cpu"]


@pytest.fixture
def output(capsys):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_data_sets_are_listed_with_where_they_are(output, monkeypatch, tmp_path):
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path))
    code, text, _ = output("datasets", "--json")
    rows = {row["name"]: row for row in json.loads(text)}
    assert code == 0
    assert list(rows) == list(DATASETS)
    assert rows["karate"]["where"] == "built in"
    assert rows["cora"]["where"] == "downloaded on first use"
    assert rows["cora"]["url"].startswith("https://")
    (tmp_path / "cora.tgz").touch()
    assert "on this machine" in output("datasets")[1]


def test_training_twice_writes_the_same_model_and_a_check_agrees(output, tmp_path):
    cards = []
    for name in ("one", "two"):
        code, text, _ = output(*TRAIN_KARATE, "--out", tmp_path / name)
        assert code == 0
        assert "device cpu" in text
        cards.append((tmp_path / name / "karate_gcn.json").read_text())
    assert cards[0] == cards[1]
    code, text, _ = output("models", "--check", "--json", "--folder", tmp_path / "one")
    (row,) = json.loads(text)
    assert code == 0
    assert set(row) == {
        *("dataset", "model", "main", "task", "test_accuracy", "fresh_graph_accuracy", "measured_accuracy"),
    }
    assert row["measured_accuracy"] == pytest.approx(row["test_accuracy"], abs=1e-4)


def test_a_card_that_boasts_is_found_out(output, tmp_path):
    output(*TRAIN_KARATE, "--out", tmp_path)
    path = tmp_path / "karate_gcn.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps(card | {"test_accuracy": card["test_accuracy"] - 0.1}))
    code, _, errors = output("models", "--check", "--folder", tmp_path)
    assert code == 1
    assert "karate_gcn" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "karate", "bert"], "model must be one of gcn, gat (got 'bert')"),
        (["train", "molecules", "gcn"], "train mutagenicity"),
        (["train", "karate", "gcn", "--epochs", "0"], "epochs must be 1 to 100,000 (got 0)"),
        (["train", "karate", "gcn", "--layers", "99"], "num_layers must be 1 to 20 (got 99)"),
        (["download", "imagenet"], "data set must be one of"),
    ],
)
def test_a_wrong_word_gets_one_clear_sentence(output, arguments, message):
    code, _, errors = output(*arguments)
    assert code == 2
    assert message in errors
    assert "Traceback" not in errors


def test_no_network_is_one_clear_sentence(output, monkeypatch, tmp_path):
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(
        "https_proxy", "http://127.0.0.1:9"
    )  # a port where nobody answers, even where there is a network
    monkeypatch.setattr("explainer_core.datasets.download.BACK_OFF", ())
    code, _, errors = output("download", "mutag")
    assert code == 2
    assert "https://www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip" in errors
    assert "GNN_DATA_DIR" in errors
    assert list(tmp_path.iterdir()) == []


def test_built_in_sets_need_no_download(output):
    assert output("download", "karate")[:2] == (0, "Karate club needs no download\n")


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "explainer_core", "models", "--json"], capture_output=True, text=True, check=True
    )
    rows = json.loads(done.stdout)
    assert {row["dataset"] for row in rows} == set(DATASETS)
    for name in DATASETS:
        assert [row["main"] for row in rows if row["dataset"] == name].count(True) == 1


# The models that ship


def test_every_shipped_model_is_what_its_card_says(output):
    """Loads and measures all of them; where the data are not on this machine there is nothing to compare."""
    code, text, errors = output("models", "--check", "--json")
    assert code == 0, errors
    rows = json.loads(text)
    measured = [row for row in rows if row["measured_accuracy"] is not None]
    assert {row["dataset"] for row in measured} >= {name for name, info in DATASETS.items() if not info.archive}
    for row in measured:
        assert row["measured_accuracy"] == pytest.approx(row["test_accuracy"], abs=0.005)


def test_the_shipped_models_are_those_promised():
    shipped = {(card.dataset, card.architecture["kind"], card.task) for card in list_cards()}
    for name in DATASETS:
        assert any(dataset == name and kind == "gat" for dataset, kind, _ in shipped)
    for kind in ("gin", "sage", "gated"):
        assert ("ba_shapes", kind, "node") in shipped
    assert any(card.dataset == "ba_shapes" and card.model == "jk" for card in list_cards())
    assert ("mutagenicity", "rgcn", "graph") in shipped
    assert any((dataset, task) == ("les_miserables", "link") for dataset, _, task in shipped)
    assert any((dataset, task) == ("cora", "link") for dataset, _, task in shipped)


def test_generated_sets_are_also_measured_on_a_fresh_graph():
    for card in list_cards():
        assert (card.fresh_graph_accuracy is not None) == DATASETS[card.dataset].generated
        assert card.torch_version.startswith(torch.__version__.split("+")[0])


def test_the_folder_of_models_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 20_000_000


def test_every_card_was_made_by_its_recipe():
    cards = [card for card in list_cards() if not DATASETS[card.dataset].models_of]
    assert {(card.dataset, card.model) for card in cards} == set(RECIPES)
    for card in cards:
        recipe = RECIPES[card.dataset, card.model]
        assert (card.main, card.task) == (recipe.main, recipe.task)
        assert TrainConfig(**card.training) == recipe.config  # an older card lacks settings that came later
        assert card.notes == recipe.notes
        assert recipe.network.items() <= card.architecture.items()
        assert card.command == command_of(recipe, card.seed)
