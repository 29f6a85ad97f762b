"""The faithfulness benchmark asks about what it says it does: unseen targets, known truths, hidden words."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import explainer_core as xc
from benchmarks import figures, truth, word_features
from benchmarks.faithfulness import PLANS, SETS, Plan, measure, setting_of
from benchmarks.figures import Report
from benchmarks.networks import untrained
from benchmarks.rivals import Setting, row
from benchmarks.rule_molecules import RULES, labelled
from explainer_core.graph import undirected
from explainer_core.models import GNN, ModelSpec


def test_no_target_is_asked_for_more_than_half_of_its_edges():
    setting = setting_of(Plan("les_miserables", "gcn", 8), 30)
    assert len(setting.targets) == len(setting.sizes) == 30
    for frame, size in zip(setting.frames, setting.sizes, strict=True):
        assert 1 <= size <= min(8, len(frame.undirected()[0]) / 2)


def test_a_small_test_part_is_no_sample():
    assert len(setting_of(Plan("karate", "gcn", 6), 100).targets) == 34


def test_every_network_of_the_plan_has_its_own_name():
    names = [plan.name for plan in PLANS if plan.dataset in xc.DATASETS]
    assert len(set(names)) == len(names)


def test_the_truth_of_a_molecule_is_its_group_once():
    graph = labelled(xc.molecule_from_smiles("CC(=O)O"), RULES["carboxyl"])
    found = truth._truth(graph)
    assert len(found.edges) == 2
    assert len(found.nodes) == 3
    assert all(a < b for a, b in found.edges)


def test_hiding_words_that_never_vary_loses_nothing():
    """A word that every paper has is its own mean: only words 0 to 4 can matter."""
    ring = undirected([(i, (i + 1) % 12) for i in range(12)])
    x = torch.cat([torch.randn(12, 5, generator=torch.Generator().manual_seed(0)), torch.ones(12, 5)], dim=1)
    graph = xc.Graph(x, ring, labels=torch.arange(12) % 2, class_names=("a", "b"))
    model = untrained(GNN(ModelSpec("gcn", "node", 10, 2, num_layers=2)))
    setting = Setting("ring", graph, model, None, [xc.Node(3), xc.Node(7)], [2, 2])
    found = row(setting, "gradient")
    for words, matter in ((np.arange(10) < 5, True), (np.arange(10) >= 5, False)):
        chosen = [replace(e, feature_weight=words.astype(float)) for e in found.explanations]
        lost = word_features._lost(setting, replace(found, explanations=chosen))
        for where in (word_features.EVERYWHERE, word_features.ON_PART):
            assert ((np.abs(lost[where]) > 1e-5) == matter).all()  # more than rounding


def test_one_set_may_be_measured_alone(monkeypatch, tmp_path):
    path = tmp_path / "figures.json"
    monkeypatch.setattr("sys.argv", ["faithfulness", "--quick", "--only", "karate", "--json", str(path)])
    figures.run(measure, "", sets=SETS)
    names = [figure["name"] for figure in json.loads(path.read_text())["figures"]]
    assert names
    assert all(name.startswith("karate gcn: ") for name in names)
    assert "karate gcn: stability of G_S over 3 starts (4 targets)" in names


def test_a_set_that_is_not_measured_is_refused_with_those_that_are(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["faithfulness", "--only", "atlantis"])
    with pytest.raises(SystemExit):
        figures.run(measure, "", sets=SETS)
    assert "karate" in capsys.readouterr().err


def test_what_a_benchmark_prints_itself_is_in_its_report_too():
    report = Report()
    report.note({"a figure": 0.5})
    assert [(f.name, f.value, f.holds) for f in report.figures] == [("a figure", 0.5, None)]


def test_the_mean_of_several_graphs_is_shown_with_its_spread():
    report = Report()
    report.add("a figure", 0.5, goal=0.4, spread=0.1)
    (figure,) = report.figures
    assert figure.row() == ("a figure", "0.5 ± 0.100", "", ">= 0.4", "holds")
