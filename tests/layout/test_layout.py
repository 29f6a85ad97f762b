"""Layouts on graphs whose picture is known on paper: lines are straight, rings are round, nothing hides anything."""

import networkx as nx
import numpy as np
import pytest
import torch
from rdkit.Chem import rdDepictor
from scipy.spatial.distance import pdist

from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.datasets.social import karate
from explainer_core.datasets.synthetic import ba_shapes
from explainer_core.graph import Graph, undirected
from explainer_core.layout.graph import EDGE_LENGTH, LEAST_DISTANCE, map_layout, neighbourhood_layout
from explainer_core.layout.molecule import bond_orders, is_molecule, molecule_layout

PATH = [(i, i + 1) for i in range(6)]
RING = [(i, (i + 1) % 6) for i in range(6)]
GRAPHS = {
    "star": nx.star_graph(60),
    "tree": nx.balanced_tree(3, 3),
    "clique": nx.complete_graph(30),
    "hubs": nx.barabasi_albert_graph(150, 2, seed=1),
    "beyond small": nx.barabasi_albert_graph(450, 2, seed=1),
    "parts": nx.disjoint_union_all([nx.cycle_graph(5), nx.star_graph(9), nx.empty_graph(7), nx.path_graph(3)]),
}


def edge_lengths(positions, pairs):
    ends = np.asarray(pairs)
    return np.linalg.norm(positions[ends[:, 0]] - positions[ends[:, 1]], axis=1)


def middle(positions):
    return (positions.min(0) + positions.max(0)) / 2


def test_a_path_is_a_level_line_of_equal_steps():
    positions = neighbourhood_layout(7, PATH, (3,))
    assert np.allclose(positions[:, 1], 0, atol=0.5)
    assert np.allclose(np.abs(np.diff(positions[:, 0])), EDGE_LENGTH, atol=0.5)


def test_the_target_in_the_middle_of_a_path_is_in_the_middle_of_the_picture():
    assert np.allclose(neighbourhood_layout(7, PATH, (3,))[3], 0, atol=0.5)


def test_a_ring_is_round():
    positions = neighbourhood_layout(6, RING, (0,))
    radii = np.linalg.norm(positions - positions.mean(0), axis=1)
    assert np.allclose(radii, radii.mean(), rtol=0.01)
    assert np.allclose(edge_lengths(positions, RING), EDGE_LENGTH, rtol=0.01)


def test_the_leaves_of_a_hub_fan_out_around_it():
    positions = neighbourhood_layout(9, [(0, i) for i in range(1, 9)], (0,))
    out = positions[1:] - positions[0]
    angles = np.sort(np.arctan2(out[:, 1], out[:, 0]))
    assert np.allclose(np.linalg.norm(out, axis=1), EDGE_LENGTH, rtol=0.1)
    assert np.diff(angles).min() > np.pi / 8


@pytest.mark.parametrize("name", GRAPHS)
def test_no_two_nodes_touch(name):
    net = GRAPHS[name]
    positions = neighbourhood_layout(len(net), list(net.edges), (0,))
    assert positions.shape == (len(net), 2)
    assert np.isfinite(positions).all()
    assert pdist(positions).min() >= LEAST_DISTANCE - 1e-6
    assert np.allclose(middle(positions), 0)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_graph_has_the_same_picture(name):
    net = GRAPHS[name]
    for layout in (
        lambda: neighbourhood_layout(len(net), list(net.edges), (0,)),
        lambda: map_layout(len(net), net.edges),
    ):
        assert np.array_equal(layout(), layout())


def test_direction_order_repeats_and_loops_of_pairs_do_not_matter():
    twice = [(b, a) for a, b in reversed(PATH)] + PATH + [(2, 2)]
    assert np.array_equal(neighbourhood_layout(7, twice, (0,)), neighbourhood_layout(7, PATH, (0,)))


def test_parts_that_do_not_hang_together_do_not_overlap():
    net = GRAPHS["parts"]
    positions = neighbourhood_layout(len(net), list(net.edges), ())
    boxes = [(positions[list(part)].min(0), positions[list(part)].max(0)) for part in nx.connected_components(net)]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert ((high < other_low) | (other_high < low)).any()


@pytest.mark.parametrize("layout", [neighbourhood_layout, map_layout])
@pytest.mark.parametrize("num_nodes", [0, 1, 2, 5])
def test_nodes_without_edges_stand_apart(layout, num_nodes):
    positions = layout(num_nodes, [])
    assert positions.shape == (num_nodes, 2)
    assert len(np.unique(positions.round(6), axis=0)) == num_nodes


def test_a_pair_is_one_edge_apart():
    assert pdist(neighbourhood_layout(2, [(0, 1)], (0, 1))) == pytest.approx(EDGE_LENGTH)


@pytest.mark.parametrize("layout", [neighbourhood_layout, map_layout])
def test_an_edge_to_a_node_that_is_not_there_is_an_error(layout):
    with pytest.raises(ValueError, match=r"pairs must join nodes 0 to 2 \(got 0 to 3\)"):
        layout(3, [(0, 3)])


def test_a_target_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match=r"a target must be a node, 0 to 2 \(got 3\)"):
        neighbourhood_layout(3, [(0, 1)], (3,))


# A map


@pytest.mark.parametrize("graph", [karate(), ba_shapes()], ids=lambda graph: graph.name)
def test_a_map_fills_the_unit_square_and_joined_nodes_are_near(graph):
    positions = map_layout(graph.num_nodes, graph.edge_index.t().numpy())
    assert positions.min() == pytest.approx(0)
    assert positions.max() == pytest.approx(1)
    assert edge_lengths(positions, graph.edge_index.t().numpy()).mean() < 0.6 * pdist(positions).mean()
    assert pdist(positions).min() > 0


def test_a_house_is_smaller_than_the_map():
    graph = ba_shapes()
    positions = map_layout(graph.num_nodes, graph.edge_index.t().numpy())
    sizes = [np.ptp(positions[(graph.node_motif == house).numpy()], axis=0).max() for house in range(80)]
    assert np.median(sizes) < 0.15


def test_a_large_tree_unfolds():
    tree = nx.balanced_tree(2, 9)
    positions = map_layout(len(tree), list(tree.edges))
    to_child = edge_lengths(positions, list(tree.edges))
    assert np.median(to_child) < 0.05
    halves = [[n for n in nx.descendants(nx.bfs_tree(tree, 0), child)] for child in (1, 2)]
    apart = np.linalg.norm(positions[halves[0]].mean(0) - positions[halves[1]].mean(0))
    assert apart > 0.2


# A molecule


def aromatic_ring(symbols):
    size = len(symbols)
    edges = undirected([(i, (i + 1) % size) for i in range(size)])
    types = torch.zeros(edges.shape[1], dtype=torch.int64)
    return Graph(
        torch.ones(size, 1),
        edges,
        edge_types=types,
        edge_type_names=("aromatic", "single", "double", "triple"),
        node_names=list(symbols),
    )


@pytest.mark.parametrize("graph", [molecule_from_smiles("c1ccccc1"), aromatic_ring("CCCCCC")], ids=["typed", "MUTAG"])
def test_benzene_is_a_regular_hexagon(graph):
    carbons = [i for i, name in enumerate(graph.node_names) if name == "C"]
    positions = molecule_layout(graph)
    radii = np.linalg.norm(positions[carbons] - positions[carbons].mean(0), axis=1)
    assert np.allclose(radii, EDGE_LENGTH, rtol=0.02)  # a hexagon's radius is its side


def test_benzene_alternates_single_and_double_bonds():
    for graph in (molecule_from_smiles("c1ccccc1"), aromatic_ring("CCCCCC")):
        ring = [graph.node_names[a] == graph.node_names[b] == "C" for a, b in graph.edge_index.t().tolist()]
        orders = [order for order, inside in zip(bond_orders(graph), ring, strict=True) if inside]
        assert sorted(orders) == [1] * 6 + [2] * 6


def test_both_directions_of_a_bond_are_of_one_order():
    graph = molecule_from_smiles("CC#N")
    orders = dict(zip(map(tuple, graph.edge_index.t().tolist()), bond_orders(graph), strict=True))
    assert all(orders[a, b] == orders[b, a] for a, b in orders)
    assert sorted(orders.values()) == [1] * 8 + [3] * 2


def test_an_aromatic_ring_without_a_pattern_has_single_bonds():
    assert set(bond_orders(aromatic_ring("CCCCN"))) <= {1, 2}
    assert set(bond_orders(aromatic_ring("OOOOO"))) == {1}


@pytest.mark.parametrize("smiles", ["CC(=O)Oc1ccccc1C(=O)O", "Cn1c(=O)c2c(ncn2C)n(C)c1=O", "O=[N+]([O-])c1ccccc1"])
def test_bonds_are_of_nearly_one_length_and_atoms_apart(smiles):
    graph = molecule_from_smiles(smiles)
    positions = molecule_layout(graph)
    lengths = edge_lengths(positions, graph.edge_index.t().numpy())
    assert np.median(lengths) == pytest.approx(EDGE_LENGTH, rel=0.02)
    assert lengths.min() > 0.5 * EDGE_LENGTH
    assert lengths.max() < 1.3 * EDGE_LENGTH
    assert pdist(positions).min() >= LEAST_DISTANCE - 1e-6
    assert np.allclose(middle(positions), 0)


@pytest.mark.parametrize("smiles", ["[Na]", "[Na].[Cl]", "O"])
def test_lone_atoms_have_a_position(smiles):
    graph = molecule_from_smiles(smiles)
    assert is_molecule(graph)
    assert molecule_layout(graph).shape == (graph.num_nodes, 2)
    assert np.isfinite(molecule_layout(graph)).all()


def test_what_rdkit_cannot_draw_is_still_drawn(monkeypatch):
    def fail(*args, **settings):
        raise RuntimeError("no")

    graph = molecule_from_smiles("CCO")
    monkeypatch.setattr(rdDepictor, "Compute2DCoords", fail)
    assert np.array_equal(molecule_layout(graph), neighbourhood_layout(graph.num_nodes, graph.edge_index.t().numpy()))


def test_other_graphs_are_no_molecules():
    assert not is_molecule(karate())
    assert bond_orders(karate()) is None
    with pytest.raises(ValueError, match="use neighbourhood_layout"):
        molecule_layout(karate())
