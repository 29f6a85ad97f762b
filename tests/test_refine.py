"""Refinement: it never loses what was kept, keeps to the size asked for, and leaves the ranking nested."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from small_networks import case, counting_network, network, random_graph

from explainer_core import metrics
from explainer_core.config import ExplainConfig
from explainer_core.datasets.registry import load_dataset
from explainer_core.explaining import explain, explain_many
from explainer_core.graph import Graph, undirected
from explainer_core.pretrained import load_pretrained
from explainer_core.refine import CELLS, LOCAL_KINDS, PAIRS, _Core, _judge_alone, _judge_in_place, _reach, refine
from explainer_core.targets import Node

SETTINGS = ExplainConfig(steps=5, k_m=4, k_m_unit="edges", refine=False)


def misled(model, graph, node):
    """An explanation whose weights point the wrong way: lightest where the model looks most."""
    found = explain(model, graph, Node(node), SETTINGS, "occlusion")
    return replace(
        found,
        edge_weight=1 / (1 + 50 * found.edge_weight)
        + 0.01 * np.random.default_rng(node).random(len(found.edge_weight)),
    )


@pytest.mark.parametrize("kind", ["gcn", "sage", "gin", "gated", "gat"])
def test_refinement_keeps_more_classes_and_loses_none(kind):
    model, graph = network(kind, seed=3), random_graph(25, 45)
    found = [misled(model, graph, node) for node in range(20)]
    before, after = (metrics.faithfulness(model, graph, part) for part in (found, refine(model, graph, found)))
    assert all(new.keeps_class for old, new in zip(before, after, strict=True) if old.keeps_class)
    assert sum(f.keeps_class for f in after) >= sum(f.keeps_class for f in before)


def test_some_lost_classes_are_brought_back():
    model, graph = network("gin", seed=3), random_graph(25, 45)
    found = [misled(model, graph, node) for node in range(25)]
    before, after = (metrics.faithfulness(model, graph, part) for part in (found, refine(model, graph, found)))
    assert sum(f.keeps_class for f in after) > sum(f.keeps_class for f in before)


def test_a_subgraph_that_holds_is_left_alone():
    model, graph = network(), random_graph(20, 30)
    found = explain_many(model, graph, [Node(n) for n in range(10)], SETTINGS)
    holding = [e for e, f in zip(found, metrics.faithfulness(model, graph, found), strict=True) if f.keeps_class]
    assert holding
    assert all(new is old for old, new in zip(holding, refine(model, graph, holding), strict=True))


@pytest.mark.parametrize("unit", ["edges", "nodes"])
def test_a_refined_subgraph_is_connected_and_no_larger(unit):
    model, graph = network("gin", seed=3), random_graph(25, 45)
    found = [replace(misled(model, graph, n), config=replace(SETTINGS, k_m_unit=unit, k_m=5)) for n in range(25)]
    refined = refine(model, graph, found)
    assert any(e.core for e in refined)
    for old, new in zip(found, refined, strict=True):
        if not new.core:
            continue
        assert set(new.subgraph().edges) == set(new.core)
        assert len(new.core) <= len(old.subgraph().edges)
        net = nx.Graph(new.core)
        assert new.target.node in net
        assert nx.is_connected(net)


def test_the_ranking_stays_nested_over_every_k():
    model, graph = network("gin", seed=3), random_graph(25, 45)
    (refined, *_) = [e for e in refine(model, graph, [misled(model, graph, n) for n in range(25)]) if e.core]
    sizes = [set(refined.subgraph(k, unit="edges").edges) for k in range(1, 15)]
    assert all(small <= large for small, large in itertools.pairwise(sizes))
    assert set(refined.core) in sizes


@pytest.mark.parametrize("kind", LOCAL_KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_judging_the_core_alone_equals_judging_it_in_its_place(kind, directed):
    model, graph = network(kind), random_graph(20, 40, directed=directed)
    cores = [_Core(e) for e in explain_many(model, graph, [Node(n) for n in range(6)], SETTINGS)]
    cores = [core for core in cores if core.edges]
    masks = [np.vstack([np.ones(len(core.edges)), 1 - np.eye(len(core.edges))]) for core in cores]
    for alone, in_place in zip(
        _judge_alone(model, graph, cores, masks), _judge_in_place(model, graph, cores, masks), strict=True
    ):
        np.testing.assert_allclose(alone, in_place, atol=1e-5)


@pytest.mark.parametrize("task", ["graph", "link"])
def test_graphs_and_links_are_refined_too(task):
    model, data, targets = case(task)
    found = explain_many(model, data, targets, SETTINGS)
    upside_down = [replace(e, edge_weight=1 - e.edge_weight) for e in found]
    before, after = (
        metrics.faithfulness(model, data, part) for part in (upside_down, refine(model, data, upside_down))
    )
    assert all(new.keeps_class for old, new in zip(before, after, strict=True) if old.keeps_class)


def test_the_path_is_found_from_a_wrong_start():
    """Class 1 needs the feature of node 3, three steps away. From a mask on the other branch, swaps find the path."""
    graph = Graph(
        x=counting_features(),
        edge_index=undirected([(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (1, 7), (2, 8)]),
    )
    model = counting_network(num_layers=3)
    model.head.bias[0] = 1.5  # class 0 unless enough arrives
    found = explain(
        model, graph, Node(0), ExplainConfig(steps=1, k_m=3, k_m_unit="edges", refine=False), target_class=1
    )
    wrong = {(0, 4), (4, 5), (5, 6)}
    weight = np.array([1.0 if tuple(sorted(pair)) in wrong else 0.5 for pair in found.edge_index.T.tolist()])
    weight += 0.001 * np.arange(len(weight))
    start = replace(found, edge_weight=weight)
    assert set(start.subgraph().edges) == wrong
    (refined,) = refine(model, graph, [start])
    assert set(refined.subgraph().edges) == {(0, 1), (1, 2), (2, 3)}


def test_two_edges_are_exchanged_at_once_where_neither_helps_alone():
    """Class 1 needs the feature of node 2, and node 1 on the way to it has nothing to say: one edge of the path is a loss."""
    x = torch.tensor([[0.01], [0.0], [5.0], [0.5], [0.5]])
    graph = Graph(x=x, edge_index=undirected([(0, 1), (1, 2), (0, 3), (0, 4)]))
    model = counting_network(num_layers=2)
    model.head.bias[0] = 4.0  # class 0 unless enough arrives
    settings = ExplainConfig(steps=1, k_m=2, k_m_unit="edges", refine=False)
    found = explain(model, graph, Node(0), settings, target_class=1)
    heavy = {(0, 3), (0, 4)}
    weight = np.array([1.0 if tuple(sorted(pair)) in heavy else 0.5 for pair in found.edge_index.T.tolist()])
    (refined,) = refine(model, graph, [replace(found, edge_weight=weight + 0.001 * np.arange(len(weight)))])
    assert set(refined.subgraph().edges) == {(0, 1), (1, 2)}


@pytest.mark.parametrize(("kind", "seed"), [("gin", 3), ("gat", 4)])
def test_a_batch_is_refined_as_each_would_be_alone(kind, seed):
    model, graph = network(kind, seed=seed, normalize=False), random_graph(25, 45)
    found = [misled(model, graph, node) for node in range(20)]
    together = refine(model, graph, found)
    assert any(e.core for e in together)
    assert [e.core for e in together] == [refine(model, graph, [e])[0].core for e in found]


def test_the_reach_of_options_equals_networkx():
    edges = [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (3, 4)]
    options = np.array(list(itertools.product([False, True], repeat=len(edges))))
    for roots in ((0,), (0, 5), ()):
        sizes, whole = _reach(edges, options, roots)
        for option, size, in_one_piece in zip(options, sizes, whole, strict=True):
            net = nx.Graph([edge for edge, kept in zip(edges, option, strict=True) if kept])
            pieces = list(nx.connected_components(net))
            assert size == len(set(net) | set(roots))
            assert in_one_piece == (all(piece & set(roots) for piece in pieces) if roots else len(pieces) <= 1)


def counting_features():
    x = torch.full((9, 1), 0.01)
    x[1, 0], x[2, 0], x[3, 0] = 0.1, 0.2, 2.0
    return x


def test_an_explanation_without_edges_stays_as_it_is():
    model = network()
    graph = Graph(random_graph(3, 1).x, undirected([(0, 1)]))
    (found,) = explain_many(model, graph, [Node(2)], SETTINGS)
    assert refine(model, graph, [found]) == [found]
    assert refine(model, graph, []) == []


def test_a_ring_is_closed_where_k_m_counts_nodes():
    """Six nodes are reached with five edges of the ring; the sixth edge costs no node and brings the class back."""
    graph, model = load_dataset("tree_cycles"), load_pretrained("tree_cycles")
    why = explain(model, graph, Node(598), ExplainConfig(k_m=6))
    kept = nx.Graph(why.subgraph().edges)
    assert nx.is_isomorphic(kept, nx.cycle_graph(6))
    assert metrics.faithfulness(model, graph, [why])[0].keeps_class
    assert len(explain(model, graph, Node(598), ExplainConfig(k_m=6, refine=False)).subgraph().edges) == 5


def test_ties_that_keep_thousands_of_edges_do_not_fill_the_memory():
    """A hub whose 2,000 edges all weigh the same, and a few lighter ones that could take their place."""
    spokes = torch.tensor([(0, leaf) for leaf in range(1, 2001)] + [(leaf, 2000 + leaf) for leaf in range(1, 21)])
    graph = Graph(torch.ones(2021, 5), undirected(spokes))
    found = explain(network(), graph, Node(0), SETTINGS, "proximity")
    heavy = (found.edge_index == 0).any(0)
    core = _Core(replace(found, edge_weight=np.where(heavy, 1.0, 0.1)))
    assert len(core.kept) == 2000
    for offer in (core.list_exchanges, lambda: core.list_double_exchanges(PAIRS)):
        offer()
        assert 0 < core.options.size <= CELLS
