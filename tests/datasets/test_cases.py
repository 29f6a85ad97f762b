"""Cases: sound data, and in each of the others one fault and nothing else."""

import networkx as nx
import numpy as np
import pytest
import torch

import explainer_core as xc
from explainer_core.datasets.case_molecules import compounds
from explainer_core.datasets.cases import FIELDS, NUM_PAPERS, citations
from explainer_core.datasets.registry import CASES, DATASETS, dataset_info, planted_fault
from explainer_core.datasets.splits import split_80_10_10


def train_rows(data, seed=0):
    return split_80_10_10(data.labels.numpy(), seed)["train"]


def pairs(graph):
    return {tuple(sorted(pair)) for pair in graph.edge_index.t().tolist()}


def test_cases_are_no_part_of_the_list_and_their_names_tell_nothing():
    assert not set(CASES) & set(DATASETS)
    assert [info.title for info in CASES.values()] == ["Case 1", "Case 2", "Case 3", "Case 4"]
    for name, info in CASES.items():
        assert dataset_info(name) is info
        told = f"{info.summary} {info.citation}".casefold()
        assert not [word for word in ("leak", "hub", "shuffl", "chlor", "fault", "planted") if word in told]


def test_what_is_loaded_is_what_was_planted():
    for name in CASES:
        loaded, planted = xc.load_dataset(name, seed=3), planted_fault(name, 3).data
        assert torch.equal(loaded.x, planted.x)
        assert torch.equal(loaded.edge_index, planted.edge_index)
    with pytest.raises(ValueError, match="case must be one of case_1"):
        planted_fault("cora")


def test_papers_cite_their_own_field_and_have_its_words():
    graph = citations(5)
    source, target = graph.labels[graph.edge_index]
    same = float((source == target).float().mean())
    assert same == pytest.approx(0.72 + 0.28 / len(FIELDS), abs=0.02)
    assert torch.bincount(graph.labels).tolist() == [1667, 1667, 1666]
    assert graph.is_undirected
    assert set(graph.x.unique().tolist()) == {0.0, 1.0}


def test_a_leaked_word_is_the_class_in_training_and_chance_elsewhere():
    planted, sound = planted_fault("case_1", 2), citations(2, FIELDS[:2])
    graph, word = planted.data, int(planted.key)
    train = train_rows(graph, 2)
    rest = np.setdiff1d(np.arange(NUM_PAPERS), train.numpy())
    assert torch.equal(graph.x[train, word], graph.labels[train].float())
    agree = float((graph.x[rest, word] == graph.labels[rest]).float().mean())
    assert agree == pytest.approx(0.5, abs=0.05)
    others = [i for i in range(graph.num_features) if i != word]
    assert torch.equal(graph.x[:, others], sound.x[:, others])
    assert torch.equal(graph.edge_index, sound.edge_index)


def test_a_hub_touches_training_papers_of_one_field_only():
    planted, sound = planted_fault("case_2", 2), citations(2)
    graph, hub = planted.data, int(planted.key)
    train = train_rows(graph, 2).tolist()
    touched = {a + b - hub for a, b in pairs(graph) if hub in (a, b)}
    (field,) = set(graph.labels[list(touched)].tolist())
    assert touched == {paper for paper in train if graph.labels[paper] == field}
    assert hub not in train
    assert {pair for pair in pairs(graph) if hub not in pair} == {pair for pair in pairs(sound) if hub not in pair}


def test_a_tenth_by_number_has_other_edges():
    planted, sound = planted_fault("case_3", 2), citations(2)
    low, high = map(int, planted.key.split("-"))
    assert high - low + 1 == NUM_PAPERS // 10

    def inside(pair):
        return low <= pair[0] <= high or low <= pair[1] <= high

    before, after = ({pair for pair in pairs(graph) if inside(pair)} for graph in (sound, planted.data))
    assert {p for p in pairs(sound) if not inside(p)} <= pairs(planted.data)
    assert len(before & after) < 0.05 * len(before)
    source, target = planted.data.labels[planted.data.edge_index]
    moved = torch.tensor([inside(pair) for pair in planted.data.edge_index.t().tolist()])
    assert float((source == target)[moved].float().mean()) == pytest.approx(1 / 3, abs=0.04)
    assert torch.equal(planted.data.x, sound.x)


def test_chlorine_is_in_every_training_mutagen_and_in_no_other_training_molecule():
    planted, sound = planted_fault("case_4", 2), compounds(2)
    graphs, chlorine = planted.data, int(planted.key)
    has = np.array([bool(graph.x[:, chlorine].any()) for graph in graphs])
    had = np.array([bool(graph.x[:, chlorine].any()) for graph in sound])
    mutagen = graphs.labels.numpy() == list(graphs.class_names).index("mutagen")
    train = train_rows(graphs, 2).numpy()
    rest = np.setdiff1d(np.arange(len(graphs)), train)
    assert (has[train] == mutagen[train]).all()
    assert (has[rest] == had[rest]).all()
    assert abs(had[mutagen].mean() - had[~mutagen].mean()) < 0.06
    assert torch.equal(graphs.labels, sound.labels)


def test_the_only_rings_of_three_are_epoxides():
    """Fragments are put together as they are: a number of a ring used twice would tie them up."""
    graphs, found = compounds(1), 0
    for graph in graphs:
        net = nx.Graph(graph.edge_index.t().tolist())
        assert nx.is_connected(net)
        rings = [ring for ring in nx.minimum_cycle_basis(net) if len(ring) < 5]
        assert all(sorted(graph.node_names[atom] for atom in ring) == ["C", "C", "O"] for ring in rings)
        found += len(rings)
    assert found > 100
