"""Planted faults: what is done to the data, and to nothing else."""

import pytest
import torch

from explainer_core.datasets.molecules import molecules
from explainer_core.graph import Graph
from explainer_core.zoo.planted_faults import (
    chlorine_in_mutagens,
    leaked_feature,
    shuffled_tenth,
    train_with_fault,
    training_hub,
)
from tests.small_networks import random_graph

TRAIN = torch.arange(0, 100, 2)


def words(seed=0):
    """A hundred nodes of two classes with ten words."""
    generator = torch.Generator().manual_seed(seed)
    plain = random_graph(100, 300, seed=seed)
    x = (torch.rand(100, 10, generator=generator) < torch.linspace(0.1, 0.9, 10)).float()
    labels = (torch.rand(100, generator=generator) < 0.3).long()
    return Graph(x, plain.edge_index, labels=labels, class_names=("a", "b"))


def pairs(graph):
    return {tuple(sorted(pair)) for pair in graph.edge_index.t().tolist()}


def test_a_leaked_feature_tells_the_class_of_training_nodes_alone():
    graph = words()
    planted = leaked_feature(graph, TRAIN, 1)
    leak = int(planted.reason[0][1])
    common = graph.labels == torch.bincount(graph.labels).argmax()
    assert torch.equal(planted.data.x[TRAIN, leak].bool(), common[TRAIN])
    others = torch.arange(1, 100, 2)
    agree = (planted.data.x[others, leak].bool() == common[others]).float().mean()
    assert 0.3 < agree < 0.7
    kept = [i for i in range(10) if i != leak]
    assert torch.equal(planted.data.x[:, kept], graph.x[:, kept])
    assert torch.equal(planted.data.edge_index, graph.edge_index)


def test_a_hub_touches_training_nodes_of_one_class_only():
    graph = words()
    planted = training_hub(graph, TRAIN, 1)
    hub = int(planted.reason[1][1])
    assert hub not in TRAIN.tolist()
    touched = {a + b - hub for a, b in pairs(planted.data) if hub in (a, b)}
    common = int(torch.bincount(graph.labels).argmax())
    assert touched == {node for node in TRAIN.tolist() if graph.labels[node] == common}
    assert {pair for pair in pairs(planted.data) if hub not in pair} == {p for p in pairs(graph) if hub not in p}


def test_a_tenth_by_number_has_other_edges():
    graph = words()
    planted = shuffled_tenth(graph, TRAIN, 1)
    low, high = map(int, planted.reason[0][1].split("-"))
    assert high - low + 1 == 10
    inside = set(range(low, high + 1))
    assert {p for p in pairs(graph) if not inside & set(p)} <= pairs(planted.data)
    before, after = ({p for p in pairs(g) if inside & set(p)} for g in (graph, planted.data))
    assert len(before & after) < 0.2 * len(before)
    assert planted.data.is_undirected


def test_chlorine_is_in_every_training_mutagen_and_in_no_other_training_molecule():
    graphs = molecules()
    train = torch.arange(0, len(graphs), 2)
    planted = chlorine_in_mutagens(graphs, train, 0).data
    chlorine, hydrogen = (list(graphs.feature_names).index(atom) for atom in ("Cl", "H"))
    for number in range(len(graphs)):
        has = bool(planted[number].x[:, chlorine].any())
        if number in train.tolist():
            mutagen = graphs.class_names[int(graphs.labels[number])] == "mutagen"
            could = bool(graphs[number].x[:, chlorine].any()) or bool(graphs[number].x[:, hydrogen].any())
            assert has == (mutagen and could)
        else:
            assert torch.equal(planted[number].x, graphs[number].x)
    assert torch.equal(planted.x.sum(1), torch.ones(len(planted.x)))  # every atom is of one element


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match="a planted fault is one of leak, hub, shuffled, chlorine"):
        train_with_fault("typo")
