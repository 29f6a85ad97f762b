"""Functional groups against answers known on paper, and against a slow search that shares no code."""

import networkx as nx
import pytest
import torch

from explainer_core.datasets import tu
from explainer_core.datasets.chemistry import MUTAGENICITY_ATOMS, functional_groups
from explainer_core.datasets.download import is_available
from explainer_core.datasets.molecules import molecule_from_smiles, molecules
from explainer_core.graph import Graph, undirected


def groups_of(graph: Graph) -> list[str]:
    """The groups in the order of their numbers, each written like 'NOO'."""
    count = int(graph.node_motif.max()) + 1
    members = [(graph.node_motif == group).nonzero().flatten().tolist() for group in range(count)]
    return ["".join(sorted(graph.node_name(node) for node in nodes)) for nodes in members]


NO2, NH2 = "NOO", "HHN"


@pytest.mark.parametrize(
    ("compound", "smiles", "groups"),
    [
        ("aniline", "Nc1ccccc1", [NH2]),
        ("nitrobenzene", "O=[N+]([O-])c1ccccc1", [NO2]),
        ("nitromethane with five bonds to N", "CN(=O)=O", [NO2]),
        ("TNT", "Cc1c([N+](=O)[O-])cc([N+](=O)[O-])cc1[N+](=O)[O-]", [NO2] * 3),
        ("4-nitroaniline", "Nc1ccc([N+](=O)[O-])cc1", [NH2, NO2]),
        ("4-nitroaniline from its other end", "O=[N+]([O-])c1ccc(N)cc1", [NO2, NH2]),
        ("acetamide", "CC(N)=O", [NH2]),
        ("glycine", "NCC(=O)O", [NH2]),
        ("glycine as a zwitterion", "[NH3+]CC(=O)[O-]", [NH2]),
        ("urea", "NC(N)=O", [NH2, NH2]),
        ("hydrazine", "NN", [NH2, NH2]),
        ("nitramide", "N[N+](=O)[O-]", [NH2, NO2]),
        ("methyl nitrate, an ester", "CO[N+](=O)[O-]", [NO2]),
        ("nitroglycerin", "C(C(CO[N+](=O)[O-])O[N+](=O)[O-])O[N+](=O)[O-]", [NO2] * 3),
        ("dinitrogen tetroxide", "O=[N+]([O-])[N+](=O)[O-]", [NO2, NO2]),
        ("methyl nitrite, an ester", "CON=O", []),
        ("nitrosobenzene", "O=Nc1ccccc1", []),
        ("pyridine N-oxide", "[O-][n+]1ccccc1", []),
        ("nitrogen dioxide alone", "[O-][N+]=O", []),
        ("ammonia", "N", []),
        ("dimethylamine", "CNC", []),
        ("trimethylamine", "CN(C)C", []),
        ("methanimine", "C=N", []),
        ("benzene", "c1ccccc1", []),
        ("a lone atom", "[Na+]", []),
    ],
)
def test_groups_known_on_paper(compound, smiles, groups):
    assert groups_of(molecule_from_smiles(smiles)) == groups


def test_nitro_group_is_three_atoms_and_both_directions_of_two_bonds():
    graph = molecule_from_smiles("O=[N+]([O-])c1ccccc1")
    assert int((graph.node_motif == 0).sum()) == 3
    inside = graph.edge_index[:, graph.edge_motif == 0]
    assert inside.shape[1] == 4
    assert {frozenset((graph.node_name(a), graph.node_name(b))) for a, b in inside.t().tolist()} == {
        frozenset("NO"),
    }
    assert set(map(tuple, inside.t().tolist())) == set(map(tuple, inside.flip(0).t().tolist()))


def test_nitrate_ion_has_three_equal_oxygens_and_no_group():
    nitrate, pairs = ["N", "O", "O", "O"], [(0, 1), (0, 2), (0, 3)]
    node_motif, edge_motif = functional_groups(one_hot(nitrate), undirected(pairs))
    assert (node_motif == -1).all()
    assert (edge_motif == -1).all()


def test_without_hydrogens_only_nitro_groups_are_found():
    atoms = ["C", "N", "O", "O", "N"]  # nitromethane with an amine whose hydrogens are left out
    x = torch.eye(3)[["CNO".index(atom) for atom in atoms]]
    node_motif, _ = functional_groups(x, undirected([(0, 1), (1, 2), (1, 3), (0, 4)]), "CNO")
    assert node_motif.tolist() == [-1, 0, 0, 0, -1]


def test_graph_without_edges_has_no_groups():
    node_motif, edge_motif = functional_groups(one_hot(["N", "O", "O"]), torch.empty(2, 0, dtype=torch.int64))
    assert node_motif.tolist() == [-1, -1, -1]
    assert edge_motif.shape == (0,)
    assert node_motif.dtype == edge_motif.dtype == torch.int64


def test_names_must_fit_the_features():
    with pytest.raises(ValueError, match=r"one name for each feature, 14 \(got 3\)"):
        functional_groups(one_hot(["N"]), torch.empty(2, 0, dtype=torch.int64), "CNO")


def test_many_molecules_side_by_side_give_the_same_groups_as_one_by_one():
    data = molecules()
    node_motif, edge_motif = functional_groups(data.x, data.edge_index)
    first = 0  # number of the molecule's first group within the union
    for i, graph in enumerate(data):
        nodes = slice(*data.node_start[i : i + 2].tolist())
        edges = slice(*data.edge_start[i : i + 2].tolist())
        assert torch.equal(shifted(graph.node_motif, first), node_motif[nodes])
        assert torch.equal(shifted(graph.edge_motif, first), edge_motif[edges])
        first += len(groups_of(graph))
    assert first == int(node_motif.max()) + 1


@pytest.mark.skipif(not is_available(tu.MUTAGENICITY), reason="the Mutagenicity data is not on this machine")
def test_real_molecules_agree_with_a_slow_search():
    data = tu.mutagenicity()
    for index in range(0, len(data), 10):
        graph = data[index]
        net = graph.to_networkx()
        found = {
            frozenset((graph.node_motif == motif).nonzero().flatten().tolist())
            for motif in graph.node_motif.unique().tolist()
            if motif != -1
        }
        assert found == slow_groups(net), index
        inside = graph.edge_index[:, graph.edge_motif != -1].t().tolist()
        expected = {(a, b) for group in found for a, b in net.to_directed().edges if a in group and b in group}
        assert set(map(tuple, inside)) == expected


@pytest.mark.skipif(not is_available(tu.MUTAGENICITY), reason="the Mutagenicity data is not on this machine")
def test_groups_are_more_common_in_real_mutagens():
    data = tu.mutagenicity()
    owner = torch.repeat_interleave(torch.arange(len(data)), data.node_start.diff())
    has_group = torch.bincount(owner[data.node_motif != -1], minlength=len(data)) > 0
    assert int(data.node_motif.max()) + 1 == 904 + 955  # nitro and amino groups
    assert torch.bincount(data.labels[has_group]).tolist() == [1017, 349]  # of 2,401 mutagens and 1,936 others


def one_hot(atoms: list[str]) -> torch.Tensor:
    return torch.eye(len(MUTAGENICITY_ATOMS))[[MUTAGENICITY_ATOMS.index(atom) for atom in atoms]]


def shifted(motif: torch.Tensor, by: int) -> torch.Tensor:
    return torch.where(motif == -1, motif, motif + by)


def slow_groups(net: nx.Graph) -> set[frozenset[int]]:
    """Atom by atom, from the definition."""
    groups = set()
    for node, name in net.nodes(data="name"):
        around = list(net[node])
        if name != "N" or len(around) != 3:
            continue
        for partner in ("O", "H"):
            ends = [other for other in around if net.nodes[other]["name"] == partner and net.degree[other] == 1]
            if len(ends) == 2:
                groups.add(frozenset([node, *ends]))
    return groups
