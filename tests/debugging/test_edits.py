"""What-if edits: written and read, and applied to graphs; predictions are those of a graph built so from scratch."""

import json
from urllib.parse import parse_qs, urlencode

import pytest
import torch

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.debugging.editing import apply_edits
from explainer_core.debugging.edits import (
    MOST_EDITS,
    AddEdge,
    CutEdge,
    DeleteNode,
    HideFeature,
    RestoreEdge,
    SetFeature,
    SetType,
    edits_from_json,
    edits_from_text,
    edits_to_json,
    edits_to_text,
)
from explainer_core.graph import Graph, undirected
from explainer_core.targets import Link, Node, WholeGraph
from tests.small_networks import network, random_graph

ALL = (
    CutEdge(3, 5),
    RestoreEdge(3, 5),
    AddEdge(1, 2),
    HideFeature(None, 4),
    HideFeature(7, 0),
    SetFeature(12, 7, -0.5),
    SetFeature(0, 1, 1e-07),
    SetType(4, 2),
    DeleteNode(9),
)


def square(**fields):
    """Nodes 0-1-2-3-0, features 0 to 3 and all ones."""
    x = torch.stack([torch.arange(4.0), torch.ones(4)], dim=1)
    return Graph(x, undirected([(0, 1), (1, 2), (2, 3), (3, 0)]), **fields)


def pairs(graph):
    return sorted({tuple(sorted(pair)) for pair in graph.edge_index.t().tolist()})


# Written and read


def test_edits_survive_a_query_parameter_and_json():
    assert edits_from_text(edits_to_text(ALL)) == ALL
    asked = parse_qs(urlencode({"edits": edits_to_text(ALL)}))["edits"][0]
    assert edits_from_text(asked) == ALL
    assert edits_from_json(json.loads(json.dumps(edits_to_json(ALL)))) == ALL
    assert edits_from_text(edits_to_text(())) == () == edits_from_json([])


def test_a_query_parameter_needs_no_escapes():
    assert urlencode({"e": edits_to_text(ALL)}) == "e=" + edits_to_text(ALL)


@pytest.mark.parametrize(
    "text",
    [
        "cut", "cut-1", "cut-1-2-3", "cut-1-x", "cut--1-2", "explode-1-2", "set-1-2-nan", "set-1-2-inf", "set-1-2-1e16",
        "set-1-2-x", "cut-1-99999999999999", "cut-1-²", "_", "cut-1-2_", "drop-all", "cut-all-2", "set-all-1-0.5",
        "_".join(["cut-1-2"] * (MOST_EDITS + 1)), "drop-1_" * 400,
    ],
)  # fmt: skip
def test_text_that_is_no_list_of_edits_is_refused(text):
    with pytest.raises(ValueError, match=r"must be|at most"):
        edits_from_text(text)


@pytest.mark.parametrize(
    "rows",
    [
        {}, "cut", [["cut", 1]], [["cut", 1, 2.0]], [["cut", True, 2]], [["set", 1, 2, float("nan")]], [[]], [None],
        [["hide", "all", 2]], [["cut", -1, 2]], [["set", 1, 2, "3"]], [[["cut"], 1, 2]], [["cut", 1, 2]] * 51,
    ],
)  # fmt: skip
def test_json_that_is_no_list_of_edits_is_refused(rows):
    with pytest.raises(ValueError, match=r"must be|at most"):
        edits_from_json(rows)


# Applied


def test_edges_are_cut_restored_and_added_in_both_directions():
    graph = square()
    assert pairs(apply_edits(graph, [CutEdge(1, 0)]).graph) == [(0, 3), (1, 2), (2, 3)]
    assert apply_edits(graph, [CutEdge(0, 1)]).graph.num_edges == 6
    assert pairs(apply_edits(graph, [CutEdge(0, 1), RestoreEdge(1, 0)]).graph) == pairs(graph)
    assert pairs(apply_edits(graph, [AddEdge(2, 0)]).graph) == sorted([*pairs(graph), (0, 2)])
    assert pairs(apply_edits(graph, [AddEdge(2, 0), CutEdge(0, 2)]).graph) == pairs(graph)
    assert pairs(graph) == [(0, 1), (0, 3), (1, 2), (2, 3)]  # the old one is as it was


def test_a_directed_graph_loses_one_direction():
    graph = Graph(torch.ones(3, 1), torch.tensor([[0, 1, 1], [1, 0, 2]]))
    assert apply_edits(graph, [CutEdge(0, 1)]).graph.edge_index.tolist() == [[1, 1], [0, 2]]
    assert apply_edits(graph, [AddEdge(2, 0)]).graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 0]]


def test_features_are_hidden_and_set():
    graph = square()
    assert apply_edits(graph, [SetFeature(2, 0, 9.0)]).graph.x[:, 0].tolist() == [0, 1, 9, 3]
    assert apply_edits(graph, [HideFeature(2, 0)]).graph.x[:, 0].tolist() == [0, 1, 1.5, 3]  # the mean
    assert apply_edits(graph, [HideFeature(None, 0)]).graph.x[:, 0].tolist() == [1.5] * 4
    types = Graph(torch.eye(2)[[0, 1, 1]], undirected([(0, 1), (1, 2)]))
    assert apply_edits(types, [HideFeature(1, 1)]).graph.x.tolist() == [[1, 0], [0, 0], [0, 1]]


def test_a_deleted_node_takes_its_edges_and_its_rows_along():
    graph = square(labels=torch.tensor([0, 1, 0, 1]), class_names=("a", "b"), node_names=list("wxyz"))
    edited = apply_edits(graph, [DeleteNode(1), CutEdge(2, 3)])  # numbers are those before
    assert edited.kept.tolist() == [0, 2, 3]
    assert edited.graph.node_names == ["w", "y", "z"]
    assert pairs(edited.graph) == [(0, 2)]
    assert edited.graph.labels.tolist() == [0, 0, 1]
    assert edited.target(Node(3)) == Node(2)
    assert edited.target(Link(0, 3)) == Link(0, 2)
    assert edited.target(WholeGraph(5)) == WholeGraph()
    with pytest.raises(ValueError, match="must not be deleted"):
        edited.target(Node(1))


@pytest.mark.parametrize(
    "edits",
    [
        [CutEdge(0, 2)], [RestoreEdge(0, 1)], [AddEdge(0, 1)], [AddEdge(1, 1)], [CutEdge(0, 1), AddEdge(0, 1)], [CutEdge(0, 4)],
        [SetFeature(0, 2, 1.0)], [SetType(1, 0)], [DeleteNode(0), CutEdge(0, 1)], [DeleteNode(i) for i in range(4)],
        [CutEdge(0, 1), CutEdge(1, 0)], [HideFeature(9, 0)], ["cut"],
    ],
)  # fmt: skip
def test_an_edit_that_the_graph_cannot_have_is_refused(edits):
    with pytest.raises(ValueError, match=r"\(got .*\)"):
        apply_edits(square(), edits)


def test_columns_of_edges_stay_with_their_edges():
    graph = random_graph(8, 12, typed=True)
    names = {tuple(ends): int(t) for ends, t in zip(graph.edge_index.t().tolist(), graph.edge_types, strict=True)}
    common = int(torch.bincount(graph.edge_types).argmax())
    graph = Graph(graph.x, graph.edge_index, edge_types=graph.edge_types, edge_type_names=("a", "b", "c"), edge_data={"attr": graph.edge_types[:, None].float()})  # fmt: skip
    # types differ by direction here, so that it is a directed graph
    first = tuple(graph.edge_index[:, 0].tolist())
    free = next((a, b) for a in range(8) for b in range(8) if a != b and (a, b) not in names)
    edited = apply_edits(graph, [CutEdge(*first), AddEdge(*free)]).graph
    found = {tuple(e): int(t) for e, t in zip(edited.edge_index.t().tolist(), edited.edge_types, strict=True)}
    assert found == {key: value for key, value in names.items() if key != first} | {free: common}
    assert edited.edge_data["attr"][:, 0].tolist() == edited.edge_types.tolist()


@pytest.mark.parametrize("kind", ["gcn", "sage", "gat", "gin", "gated"])
def test_predictions_after_edits_are_those_of_a_graph_built_so_from_scratch(kind):
    """The other graph is made from lists of pairs and rows by hand."""
    graph, model = random_graph(12, 20), network(kind)
    (a, b), (c, d) = pairs(graph)[0], pairs(graph)[5]
    free = next((i, j) for i in range(12) for j in range(i + 1, 12) if (i, j) not in pairs(graph))
    edits = [CutEdge(a, b), CutEdge(d, c), AddEdge(*free), SetFeature(3, 1, 2.5), HideFeature(4, 0)]
    x = graph.x.clone()
    x[3, 1], x[4, 0] = 2.5, graph.x[:, 0].mean()
    scratch = Graph(x, undirected([pair for pair in pairs(graph) if pair not in ((a, b), (c, d))] + [free]))
    edited = apply_edits(graph, edits).graph
    with torch.no_grad():
        assert torch.allclose(model(edited.x, edited.edge_index), model(scratch.x, scratch.edge_index), atol=1e-5)
        for node in range(12):
            cut = run(model, computation_of(edited, [Node(node)], 2, max_edges=1000), "node")[0]
            assert torch.allclose(cut, model(scratch.x, scratch.edge_index)[node], atol=1e-5)


# Molecules


def test_an_atom_holds_only_as_many_bonds_as_its_element():
    methane = molecule_from_smiles("C")
    elements = list(methane.feature_names)
    carbon = int(methane.x[:, elements.index("C")].argmax())
    silent = apply_edits(methane, [SetType(carbon, elements.index("S"))]).graph  # sulphur holds six
    assert int(silent.x[carbon].argmax()) == elements.index("S")
    with pytest.raises(ValueError, match=r"an atom of O holds at most 2 bonds .*4 at atom"):
        apply_edits(methane, [SetType(carbon, elements.index("O"))])
    hydrogens = [i for i in range(methane.num_nodes) if i != carbon]
    water = apply_edits(
        methane, [DeleteNode(hydrogens[0]), DeleteNode(hydrogens[1]), SetType(carbon, elements.index("O"))]
    )
    assert water.graph.num_nodes == 3
    assert water.graph.num_edges == 4
    with pytest.raises(ValueError, match=r"an atom of H holds at most 1 bond \("):
        apply_edits(methane, [AddEdge(hydrogens[0], hydrogens[1])])


def test_atoms_that_an_edit_does_not_strain_are_let_be():
    """Perchlorate has a chlorine of seven bonds: the data says so, and cutting one of them is no mistake."""
    salt = molecule_from_smiles("O=Cl(=O)(=O)O")
    chlorine = int(salt.x[:, list(salt.feature_names).index("Cl")].argmax())
    bond = next(pair for pair in pairs(salt) if chlorine in pair)
    assert apply_edits(salt, [CutEdge(*bond)]).graph.num_edges == salt.num_edges - 2
    with pytest.raises(ValueError, match="an atom of Cl holds"):
        apply_edits(salt, [CutEdge(*bond), RestoreEdge(*bond), AddEdge(*_free(salt, chlorine))])


def _free(graph, node):
    return next((node, i) for i in range(graph.num_nodes) if i != node and tuple(sorted((node, i))) not in pairs(graph))
