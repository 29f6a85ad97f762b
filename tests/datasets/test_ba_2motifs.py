"""BA-2motifs: counts known on paper, motifs checked against networkx, the same set for the same seed."""

import networkx as nx
import pytest
import torch

from explainer_core.datasets.registry import dataset_info, load_dataset

SHAPES = {"house": nx.house_graph(), "ring": nx.cycle_graph(5)}


@pytest.fixture(params=(0, 7), scope="module")
def graphs(request):
    return load_dataset("ba_2motifs", seed=request.param)


def drawn(graph, chosen):
    """The chosen edges as a networkx graph."""
    return nx.Graph(graph.edge_index[:, chosen].t().tolist())


def test_counts_are_those_on_paper(graphs):
    assert len(graphs) == 1000
    assert graphs.class_names == ("house", "ring")
    assert torch.bincount(graphs.labels).tolist() == [500, 500]
    assert (graphs.node_start.diff() == 25).all()
    edges = graphs.edge_start.diff() // 2  # the base, the hook and the motif
    assert edges[graphs.labels == 0].unique().tolist() == [19 + 1 + 6]
    assert edges[graphs.labels == 1].unique().tolist() == [19 + 1 + 5]


def test_features_are_ten_that_say_nothing(graphs):
    assert graphs.x.shape == (25_000, 10)
    assert (graphs.x == 0.1).all()


def test_every_graph_is_a_tree_and_a_motif_joined_by_one_edge(graphs):
    for graph in graphs:
        assert graph.is_undirected
        assert nx.is_connected(graph.to_networkx())
        ends = graph.node_motif[graph.edge_index]  # (2, E)
        base = drawn(graph, (ends == -1).all(0))
        assert nx.is_tree(base)
        assert len(base) == 20
        assert int((ends[0] != ends[1]).sum()) == 2  # the hook, in both directions


def test_the_truth_of_every_graph_is_the_shape_of_its_class(graphs):
    for graph in graphs:
        motif = drawn(graph, graph.edge_motif == 0)
        assert nx.is_isomorphic(motif, SHAPES[graph.class_names[graph.label]])
        assert set(motif) == set((graph.node_motif == 0).nonzero().flatten().tolist())
        assert set(graph.edge_motif.tolist()) == {-1, 0}


def test_hooks_are_spread_over_base_and_motif(graphs):
    """Every place is used about as often: 50 times of 1,000 in the base, 200 in the motif."""
    ends = graphs.node_motif[graphs.edge_index]
    base, motif = graphs.edge_index[:, (ends[0] == -1) & (ends[1] == 0)] % 25
    assert torch.bincount(base, minlength=20).min() > 20
    assert torch.bincount(motif - 20, minlength=5).min() > 140


def test_a_seed_gives_the_same_set_and_another_seed_another():
    one, same, other = (load_dataset("ba_2motifs", seed=seed) for seed in (5, 5, 6))
    assert torch.equal(one.edge_index, same.edge_index)
    assert torch.equal(one.edge_motif, same.edge_motif)
    assert one.edge_index.shape == other.edge_index.shape
    assert not torch.equal(one.edge_index, other.edge_index)


def test_the_registry_says_whose_idea_it_was():
    info = dataset_info("ba_2motifs")
    assert info.generated
    assert info.task == "graph"
    assert "Luo et al. 2020" in info.citation
