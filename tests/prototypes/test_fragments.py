"""Fragments of molecules: each is a real, possible piece of a member, and in as many members as it claims."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher, categorical_edge_match, categorical_node_match
from rdkit import Chem

import explainer_core as xc
from explainer_core.graph import GraphSet
from explainer_core.layout.molecule import bond_orders
from explainer_core.prototypes.fragments import (
    LEAST_ATOMS,
    LEAST_SHARE,
    common_fragments,
    contains,
    formal_charges,
    matching_molecule,
)
from explainer_core.prototypes.joining import join_explanations

NITROS = ("O=[N+]([O-])c1ccccc1", "Cc1ccccc1[N+](=O)[O-]", "O=[N+]([O-])c1ccc2ccccc2c1", "C[N+](=O)[O-]")


def molecules_of(*texts: str) -> GraphSet:
    graphs = [replace(xc.molecule_from_smiles(text), label=0) for text in texts]
    return GraphSet.from_graphs(graphs, name="typed")


def keeping(data: GraphSet, *edges: list[tuple[int, int]]):
    """A prototype of all graphs in which each explanation keeps just these bonds."""
    model = xc.load_pretrained("mutagenicity")
    made = []
    for i, kept in enumerate(edges):
        found = xc.explain(model, data, xc.WholeGraph(i), xc.ExplainConfig(k_m=1, steps=1), "gradient")
        wanted = {tuple(sorted(pair)) for pair in kept}
        weight = [float(tuple(sorted(pair)) in wanted) for pair in found.edge_index.T.tolist()]
        config = replace(found.config, k_m=max(1, len(wanted)), k_m_unit="edges")
        made.append(replace(found, edge_weight=np.array(weight), config=config, size=len(wanted)))
        assert set(made[-1].subgraph().edges) == wanted
    return join_explanations(made, data, clusters=1)


def nitro_bonds(graph) -> list[tuple[int, int]]:
    nitrogen = next(i for i, name in enumerate(graph.node_names) if name == "N")
    return [(a, b) for a, b in graph.edge_index.T.tolist() if a == nitrogen]


def as_networkx(graph, bonds=None) -> nx.Graph:
    """By elements and by bonds as the matching molecule types them."""
    mol = matching_molecule(graph)
    net = nx.Graph()
    for bond in mol.GetBonds():
        pair = tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())))
        if bonds is None or pair in bonds:
            net.add_edge(*pair, kind=str(bond.GetBondType()))
    nx.set_node_attributes(net, {node: graph.node_name(node) for node in net}, "element")
    return net


def has(whole: nx.Graph, part: nx.Graph) -> bool:
    matcher = GraphMatcher(
        whole, part, node_match=categorical_node_match("element", ""), edge_match=categorical_edge_match("kind", "")
    )
    return matcher.subgraph_is_monomorphic()


@pytest.fixture(scope="module")
def compounds():
    data = xc.load_dataset("molecules")
    model = xc.load_pretrained("molecules")
    config = xc.ExplainConfig(steps=30)
    return data, [xc.prototype(model, data, label, instances=15, config=config) for label in (0, 1)]


def test_a_nitro_group_that_all_keep_is_found_whole_and_charged():
    data = molecules_of(*NITROS)
    (first,) = common_fragments(keeping(data, *(nitro_bonds(graph) for graph in data)), data, most=1)
    graph = data[first.target.index]
    assert sorted(graph.node_name(atom) for atom in first.atoms) in (["C", "N", "O", "O"], ["N", "O", "O"])
    assert first.share == 1.0
    assert first.members == (0, 1, 2, 3)
    charges = formal_charges(graph)
    assert sorted(charges[atom] for atom in first.atoms if graph.node_name(atom) != "C") == [-1, 0, 1]


def test_shares_are_those_of_members_that_keep_it_and_not_of_molecules_that_have_it():
    data = molecules_of(*NITROS)
    bonds = [nitro_bonds(graph) for graph in data]
    prototype = keeping(data, bonds[0], bonds[1], bonds[2], [p for p in bonds[3] if data[3].node_name(p[1]) == "C"])
    (first,) = common_fragments(prototype, data, most=1)
    assert len(first.members) == 3
    assert first.share == 0.75
    assert first.in_molecules >= 3


def test_how_a_ring_is_drawn_makes_no_difference():
    """Of two neighbouring bonds of benzene one is double, and which one is chance: all six atoms are alike."""
    data = molecules_of("c1ccccc1")
    kinds = {str(bond.GetBondType()) for bond in matching_molecule(data[0]).GetBonds()}
    assert kinds == {"AROMATIC", "SINGLE"}


def test_where_nothing_is_shared_there_is_no_fragment():
    data = molecules_of("CCO", "CCO", "c1ccccc1")
    one = [[(0, 1)] for _ in data]
    assert common_fragments(keeping(data, *one), data) == ()


@pytest.mark.parametrize("label", [0, 1])
def test_every_fragment_is_in_the_members_it_claims_and_in_no_other(compounds, label):
    data, prototypes = compounds
    prototype = prototypes[label]
    kept = [
        as_networkx(data[m.target.index], set(map(tuple, m.explanation.subgraph().edges))) for m in prototype.members
    ]
    found = common_fragments(prototype, data)
    assert 0 < len(found) <= 3
    for fragment in found:
        graph = data[fragment.target.index]
        part = as_networkx(graph, set(fragment.bonds))
        assert nx.is_connected(part)
        assert set(part) == set(fragment.atoms)
        assert len(fragment.atoms) >= LEAST_ATOMS
        having = tuple(i for i, whole in enumerate(kept) if has(whole, part))
        assert fragment.members == having
        assert fragment.share == len(having) / len(kept) >= LEAST_SHARE
        assert fragment.in_molecules == sum(has(as_networkx(data[m.target.index]), part) for m in prototype.members)
        for i, member in enumerate(prototype.members):
            assert contains(member.explanation, data, fragment, data) == (i in having)


@pytest.mark.parametrize("label", [0, 1])
def test_every_fragment_is_chemically_possible_as_it_is_drawn(compounds, label):
    data, prototypes = compounds
    for fragment in common_fragments(prototypes[label], data):
        graph = data[fragment.target.index]
        order = dict(zip(map(tuple, graph.edge_index.T.tolist()), bond_orders(graph), strict=True))
        charges, index = formal_charges(graph), {atom: i for i, atom in enumerate(fragment.atoms)}
        mol = Chem.RWMol()
        for atom in fragment.atoms:
            mol.AddAtom(Chem.Atom(graph.node_name(atom)))
            mol.GetAtomWithIdx(index[atom]).SetFormalCharge(charges[atom])
        kinds = {1: Chem.BondType.SINGLE, 2: Chem.BondType.DOUBLE, 3: Chem.BondType.TRIPLE}
        for a, b in fragment.bonds:
            assert (a, b) in order  # a bond of the molecule it was cut out of
            mol.AddBond(index[a], index[b], kinds[order[a, b]])
        assert Chem.SanitizeMol(mol, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE


@pytest.mark.parametrize("label", [0, 1])
def test_no_fragment_lies_within_another(compounds, label):
    data, prototypes = compounds
    parts = [as_networkx(data[f.target.index], set(f.bonds)) for f in common_fragments(prototypes[label], data)]
    assert not [1 for one in parts for other in parts if one is not other and has(one, other)]
