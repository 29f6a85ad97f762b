"""The synthetic graphs: counts known on paper, motifs checked against networkx, the same graph for the same seed."""

from collections import Counter

import networkx as nx
import pytest
import torch

from explainer_core.datasets import synthetic
from explainer_core.datasets.registry import load_dataset

HOUSE = nx.house_graph()
GRID = nx.grid_2d_graph(3, 3)
# name, motif, nodes, undirected edges (base + motifs + hooks + noise), nodes in each class, copies of a motif
FACTS = {
    "ba_shapes": (HOUSE, 700, 1475 + 480 + 80 + 70, [300, 80, 160, 160], 80),
    "ba_community": (HOUSE, 1400, 2 * (1475 + 480 + 80 + 70) + 70, [300, 80, 160, 160] * 2, 160),
    "tree_cycles": (nx.cycle_graph(6), 991, 510 + 480 + 80 + 99, [511, 480], 80),
    "tree_grid": (GRID, 1231, 510 + 960 + 80 + 123, [511, 720], 80),
}
SEEDS = (0, 7)


@pytest.fixture(params=[(name, seed) for name in FACTS for seed in SEEDS], ids=str, scope="module")
def planted(request):
    name, seed = request.param
    return name, load_dataset(name, seed=seed)


def test_counts_are_those_on_paper(planted):
    name, graph = planted
    _, nodes, edges, classes, _ = FACTS[name]
    assert graph.num_nodes == nodes
    assert graph.num_edges == 2 * edges
    assert torch.bincount(graph.labels).tolist() == classes


def test_edges_run_both_ways_once_and_degrees_add_up(planted):
    _, graph = planted
    assert graph.is_undirected
    assert len(set(map(tuple, graph.edge_index.t().tolist()))) == graph.num_edges
    assert int(graph.in_degree.sum()) == graph.num_edges
    assert nx.is_connected(graph.to_networkx())


def test_every_motif_is_a_copy_of_the_shape(planted):
    name, graph = planted
    shape, *_, copies = FACTS[name]
    assert graph.node_motif.max() == copies - 1
    for motif in range(copies):
        edges = graph.edge_index[:, graph.edge_motif == motif].t().tolist()
        drawn = nx.Graph(edges)
        assert nx.is_isomorphic(drawn, shape)
        assert set(drawn) == set((graph.node_motif == motif).nonzero().flatten().tolist())
        node = next(iter(drawn))
        assert torch.equal(graph.motif_edges(node), graph.edge_motif == motif)


def test_base_nodes_belong_to_no_motif(planted):
    _, graph = planted
    base = graph.node_motif == -1
    names = [graph.class_names[label] for label in graph.labels]
    assert all((name.startswith(("base", "tree"))) == bool(is_base) for name, is_base in zip(names, base, strict=True))
    assert not graph.motif_edges(int(base.nonzero()[0])).any()


def test_each_motif_hangs_on_a_base_node_of_its_own(planted):
    """But for noise, the only edge out of a motif leaves from its first node; two motifs never share a hook."""
    name, graph = planted
    first = {}
    for node, motif in enumerate(graph.node_motif.tolist()):
        first.setdefault(motif, node)
    hooked = {
        motif
        for motif, node in first.items()
        if motif >= 0
        and any(graph.node_motif[other] == -1 for other in graph.edge_index[1, graph.edge_index[0] == node].tolist())
    }
    assert len(hooked) == FACTS[name][-1]


def test_the_roles_of_a_house_are_its_degrees_and_triangle():
    graph = synthetic.ba_shapes(seed=3)
    house = nx.Graph(graph.edge_index[:, graph.motif_edges(300)].t().tolist())
    triangles = nx.triangles(house)
    role = {node: graph.class_names[graph.labels[node]] for node in house}
    for node in house:
        expected = {(3, 1): "middle", (2, 1): "top", (2, 0): "bottom"}[house.degree(node), triangles[node]]
        assert role[node] == expected
    assert Counter(role.values()) == {"middle": 2, "bottom": 2, "top": 1}


@pytest.mark.parametrize("name", FACTS)
def test_a_seed_gives_the_same_graph_and_another_seed_another(name):
    one, same, other = (load_dataset(name, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(one.edge_index, same.edge_index)
    assert torch.equal(one.x, same.x)
    assert torch.equal(one.edge_motif, same.edge_motif)
    assert not torch.equal(one.edge_index, other.edge_index)


def test_making_a_graph_leaves_the_global_generators_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    synthetic.ba_community(seed=1)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("name", ["ba_shapes", "tree_cycles", "tree_grid"])
def test_features_are_constant(name):
    assert (load_dataset(name).x == 1).all()


def test_one_feature_of_ba_community_tells_the_communities_apart_and_the_rest_say_nothing():
    """Means over 700 nodes have a standard error of 0.038, their difference 0.053: five of those are never passed by chance."""
    for seed in SEEDS:
        graph = synthetic.ba_community(seed=seed)
        assert graph.x.shape == (1400, 10)
        difference = graph.x[700:].mean(0) - graph.x[:700].mean(0)
        expected = torch.zeros(10)
        expected[synthetic.INFORMATIVE_FEATURE] = 1.0
        assert synthetic.INFORMATIVE_FEATURE == 2
        assert ((difference - expected).abs() < 5 * 0.0535).all()
        assert ((graph.x[:700].std(0) - 1).abs() < 0.15).all()


def test_the_two_communities_are_joined_by_seventy_bridges():
    graph = synthetic.ba_community(seed=2)
    side = graph.edge_index >= 700
    assert int((side[0] != side[1]).sum()) == 2 * 70


@pytest.mark.long
def test_a_noise_edge_inside_a_motif_is_not_the_motif_s(share):
    """Over many seeds some noise falls inside a motif; the motif keeps its six edges all the same."""
    found = 0
    for seed in range(share(600)):
        graph = synthetic.tree_cycles(seed=seed)
        ends = graph.node_motif[graph.edge_index]
        inside = (ends[0] == ends[1]) & (ends[0] >= 0)
        found += int((inside & (graph.edge_motif == -1)).sum())
        assert int((graph.edge_motif >= 0).sum()) == 2 * 480
    assert found > 0
