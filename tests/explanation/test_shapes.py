"""A shape is named only where the part is one: hand-made graphs, and groups of real molecules."""

import networkx as nx
import pytest

from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.explanation.shapes import group_of, shape_of
from explainer_core.layout.molecule import bond_orders

HOUSE = [(7, 8), (8, 9), (9, 10), (10, 7), (7, 3), (8, 3)]


@pytest.mark.parametrize(
    ("edges", "name"),
    [
        (HOUSE, "house"),
        (HOUSE[:-1], None),  # a roof with one side
        ([*HOUSE, (7, 9)], None),  # a house with a brace
        ([*HOUSE, (3, 99)], None),  # a house with a chimney
        (nx.cycle_graph(3).edges, "triangle"),
        (nx.cycle_graph(6).edges, "ring of 6"),
        (nx.cycle_graph(4).edges, "ring of 4"),
        (nx.path_graph(5).edges, None),
        (nx.star_graph(3).edges, "star with 3 rays"),
        (nx.star_graph(2).edges, None),  # that is a path
        (nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)).edges, "3 by 3 grid"),
        (nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 3)).edges, "2 by 3 grid"),
        (nx.complete_graph(4).edges, None),
        ([*nx.cycle_graph(3).edges, (5, 6), (6, 7), (7, 5)], None),  # two triangles
        ([(0, 1)], None),
        ([], None),
        (nx.cycle_graph(60).edges, None),
    ],
)
def test_shapes(edges, name):
    assert shape_of(list(edges)) == name


def molecule(smiles: str):
    graph = molecule_from_smiles(smiles)
    pairs = sorted({tuple(sorted(edge)) for edge in graph.edge_index.t().tolist()})
    known = dict(zip(map(tuple, graph.edge_index.t().tolist()), bond_orders(graph), strict=True))
    return [graph.node_name(i) for i in range(graph.num_nodes)], pairs, [known[pair] for pair in pairs]


def kept_between(pairs, atoms):
    return [pair for pair in pairs if set(pair) <= set(atoms)]


def test_functional_groups():
    atoms, bonds, orders = molecule("O=[N+]([O-])c1ccccc1")
    nitro = [i for i, atom in enumerate(atoms) if atom in "NO"]
    ring = [i for i, atom in enumerate(atoms) if atom == "C"]
    assert group_of(kept_between(bonds, nitro), atoms, bonds, orders) == "nitro group"
    anchor = next(a if atoms[a] == "C" else b for a, b in bonds if {atoms[a], atoms[b]} == {"C", "N"})
    assert group_of(kept_between(bonds, [*nitro, anchor]), atoms, bonds, orders) == "nitro group"
    assert group_of(kept_between(bonds, ring), atoms, bonds, orders) == "benzene ring"
    assert group_of(kept_between(bonds, nitro[:2]), atoms, bonds, orders) is None  # half a group is none
    assert group_of([], atoms, bonds, orders) is None


@pytest.mark.parametrize(
    ("smiles", "elements", "name"),
    [
        ("Nc1ccccc1", "NH", "amino group"),
        ("OC", "OH", "hydroxyl group"),
        ("ClC", "ClC", "chlorine atom"),
        ("COC", "CO", None),  # an ether's oxygen hangs on two
    ],
)
def test_more_groups(smiles, elements, name):
    atoms, bonds, orders = molecule(smiles)
    first = next(i for i, atom in enumerate(atoms) if atom == ("Cl" if "Cl" in smiles else elements[0]))
    around = [b if a == first else a for a, b in bonds if first in (a, b)]
    kept = [first, *(i for i in around if atoms[i] in (["C"] if name in (None, "chlorine atom") else ["H"]))]
    assert group_of(kept_between(bonds, kept), atoms, bonds, orders) == name


def test_a_ring_of_six_carbons_is_only_benzene_with_three_double_bonds():
    atoms, bonds, orders = molecule("C1CCCCC1")
    carbon = [i for i, atom in enumerate(atoms) if atom == "C"]
    kept = kept_between(bonds, carbon)
    assert (group_of(kept, atoms, bonds, orders), shape_of(kept)) == (None, "ring of 6")


def test_an_oxygen_pair_within_a_chain_is_no_nitro_group():
    atoms, bonds, orders = molecule("CON(C)OC")
    kept = [i for i, atom in enumerate(atoms) if atom in "NO"]
    assert group_of(kept_between(bonds, kept), atoms, bonds, orders) is None
