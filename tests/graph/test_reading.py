"""Graphs from PyTorch Geometric, networkx and arrays, and back: what is given is what is kept, or is refused with a way out."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.explain.metric import characterization_score, fidelity, unfaithfulness
from torch_geometric.nn import GCN

import explainer_core as xc

EDGES = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])  # a path of three, and a loop at its end


def data(**changes):
    fields = {"x": torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), "edge_index": EDGES}
    return Data(**fields | {"y": torch.tensor([0, 1, -1, 1])} | changes)


# PyTorch Geometric


def test_a_graph_of_pyg_is_kept_with_all_it_has():
    attributes, train = torch.randn(5, 2, dtype=torch.float64), torch.tensor([True, False, False, True])
    given = data(edge_attr=attributes, train_mask=train, pos=torch.zeros(4, 2), edge_type=torch.tensor([0, 1, 0, 1, 2]))
    graph = xc.Graph.from_pyg(given, class_names=("left", "right"), name="mine")
    torch.testing.assert_close(graph.x, given.x)
    assert torch.equal(graph.edge_index, EDGES)  # the loop is there, and node 3 has no edge
    assert (graph.labels.tolist(), graph.class_names, graph.name) == ([0, 1, -1, 1], ("left", "right"), "mine")
    assert graph.edge_types.tolist() == [0, 1, 0, 1, 2]
    assert torch.equal(graph.node_data["train_mask"], train)
    torch.testing.assert_close(graph.edge_data["edge_attr"], attributes.float())
    back = xc.Graph.from_pyg(graph.to_pyg())
    for field in ("x", "edge_index", "labels", "edge_types"):
        assert torch.equal(getattr(back, field), getattr(graph, field))
    assert (back.class_names, back.name) == (graph.class_names, "mine")
    assert set(back.node_data) == {"train_mask", "pos"}
    assert set(back.edge_data) == {"edge_attr"}


@pytest.mark.parametrize("kind", [torch.float64, torch.int64, torch.bool, torch.float16])
def test_features_of_any_kind_become_float32(kind):
    graph = xc.Graph.from_pyg(data(x=torch.tensor([[0], [1], [1], [0]]).to(kind)))
    assert graph.x.dtype == torch.float32
    assert graph.x.flatten().tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("y", "labels", "names"),
    [
        (None, None, ()),
        (torch.tensor([[1], [0], [2], [0]]), [1, 0, 2, 0], ("0", "1", "2")),
        (torch.tensor([1.0, float("nan"), 0.0, 1.0]), [1, -1, 0, 1], ("0", "1")),
        (["b", None, "a", "b"], [1, -1, 0, 1], ("a", "b")),
        (np.array([2, 2, 0, -1]), [2, 2, 0, -1], ("0", "1", "2")),
        (torch.full((4,), -1), None, ()),
    ],
)
def test_classes_of_any_kind_become_numbers(y, labels, names):
    graph = xc.Graph.from_pyg(data(y=y))
    assert (graph.labels if labels is None else graph.labels.tolist()) == labels
    assert graph.class_names == names


def test_a_single_class_is_that_of_the_graph():
    graph = xc.Graph.from_pyg(data(y=torch.tensor([1])))
    assert (graph.label, graph.labels, graph.class_names) == (1, None, ("0", "1"))


def test_a_set_of_pyg_is_kept_with_all_it_has():
    many = [data(y=torch.tensor([i % 2]), edge_attr=torch.full((5, 1), float(i))) for i in range(3)]
    many[2].y = torch.tensor([-1])
    for given in (many, Batch.from_data_list(many), iter(many)):
        graphs = xc.GraphSet.from_pyg(given, class_names=("no", "yes"))
        assert (len(graphs), graphs.labels.tolist(), graphs.class_names) == (3, [0, 1, -1], ("no", "yes"))
        assert graphs[1].edge_data["edge_attr"].unique().tolist() == [1.0]
        assert graphs[2].label is None
        assert torch.equal(
            graphs.batch([2, 1]).edge_data["edge_attr"].flatten(), torch.tensor([2.0, 1.0]).repeat_interleave(5)
        )
    assert [one.y.tolist() for one in graphs.to_pyg()[:2]] == [[0], [1]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (HeteroData(), r"one kind of nodes \(got HeteroData.*to_homogeneous"),
        (data(x=None), r"features x \(got none\); set data.x"),
        (data(edge_index=None), r"must have edge_index \(got none\)"),
        (data(edge_index=torch.eye(4).to_sparse()), r"edge_index must be a tensor of shape \(2, edges\)"),
        (data(edge_index=torch.tensor([[0], [9]])), r"nodes 0 to 3 \(got 9\)"),
        (data(y=torch.tensor([0.5, 1.0, 0.0, 1.0])), r"whole numbers from 0.*\(got 0.5\).*regressed"),
        (data(y=torch.eye(4)), r"one class for each node, 4 \(got shape \(4, 4\)\); of one-hot rows take argmax"),
        (data(x=torch.full((4, 1), float("nan"))), r"features must be finite \(got nan at node 0"),
        (5, r"torch_geometric.data.Data \(got a int\)"),
    ],
)
def test_what_is_no_graph_is_refused_with_a_way_out(given, message):
    with pytest.raises(ValueError, match=message):
        xc.Graph.from_pyg(given)


def test_a_sparse_adjacency_is_refused_with_a_way_out():
    given = data(edge_index=None)
    given.adj_t = torch.eye(4).to_sparse_csr()
    with pytest.raises(ValueError, match=r"adj_t, a SparseTensor.*leave out T.ToSparseTensor"):
        xc.Graph.from_pyg(given)


def test_what_is_no_set_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"a list or a dataset of Data \(got a Data\); pass \[data\]"):
        xc.GraphSet.from_pyg(data())
    with pytest.raises(ValueError, match=r"one class each in 'y' \(got 4 in graph 0\).*label="):
        xc.GraphSet.from_pyg([data()])
    assert xc.GraphSet.from_pyg([data()], label=None).labels is None
    half = [data(y=None, edge_attr=torch.ones(5, 1)), data(y=None)]
    with pytest.raises(ValueError, match=r"all have edge_data\['edge_attr'\], or none \(got none in graph 1\)"):
        xc.GraphSet.from_pyg(half)


# Arrays


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, tuple])
def test_edges_come_as_pairs_or_as_two_rows(kind):
    pairs = kind([[0, 1], [1, 2], [2, 2]])
    graph = xc.Graph.from_arrays(
        pairs, [[1.0], [2.0], [3.0]], ["b", "a", "b"], directed=False, edge_data={"w": [1, 2, 3]}
    )
    assert graph.edge_index.t().tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [2, 2]]
    assert graph.edge_data["w"].tolist() == [1, 1, 2, 2, 3]
    assert (graph.labels.tolist(), graph.class_names) == ([1, 0, 1], ("a", "b"))
    rows = xc.Graph.from_arrays(np.array(pairs).T.astype(float), np.ones((3, 2)))
    assert rows.edge_index.t().tolist() == [[0, 1], [1, 2], [2, 2]]


def test_without_features_every_node_has_a_one():
    graph = xc.Graph.from_arrays([(0, 1)], num_nodes=3)
    assert (graph.x.tolist(), graph.feature_names) == ([[1.0]] * 3, ("constant",))
    assert xc.Graph.from_arrays([], labels=[0, 1]).num_nodes == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([("a", "b")],), "edges must join numbers of nodes"),
        (([(0, 1, 2)],), r"shape \(2, edges\), or pairs"),
        (([(0, 1)], [["x"], ["y"]]), "x must be numbers"),
        (([(0, 1)], [[1], [2, 3]]), "rectangle of numbers"),
        (([(0, 1)], [[1], [2]], [0, 1, 1]), r"one class for each node, 2 \(got shape \(3,\)\)"),
        (([(0.5, 1)], [[1], [2]]), "edges must join numbers of nodes"),
        (([],), "at least one node"),
    ],
)
def test_arrays_that_fit_nothing_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        xc.Graph.from_arrays(*given)


# networkx


def test_a_network_of_networkx_is_kept():
    net = nx.Graph(name="friends")
    for name, age, club in (("ann", 3, "a"), ("bob", 5, "b"), ("cy", 4, None)):
        net.add_node(name, age=age, place=[1.0, age], club=club)
    net.add_edge("ann", "bob", since=7)
    net.add_edge("cy", "cy", since=1)
    graph = xc.Graph.from_networkx(net, ["age", "place"], "club", edge_attr="since")
    assert graph.x.tolist() == [[3, 1, 3], [5, 1, 5], [4, 1, 4]]
    assert graph.edge_index.t().tolist() == [[0, 1], [1, 0], [2, 2]]
    assert graph.edge_data["edge_attr"].flatten().tolist() == [7, 7, 1]
    assert (graph.labels.tolist(), graph.class_names) == ([0, 1, -1], ("a", "b"))
    assert (graph.name, graph.node_names) == ("friends", ("ann", "bob", "cy"))
    arrow = xc.Graph.from_networkx(nx.DiGraph([(0, 1)]), np.eye(2))
    assert arrow.edge_index.tolist() == [[0], [1]]
    for call, message in (
        (lambda: xc.Graph.from_networkx(net, label="team"), r"some of age, club, place \(got 'team'\)"),
        (
            lambda: xc.Graph.from_networkx(net, "club"),
            r"attributes club must be numbers \(got \['a'\] at 'ann'\)",
        ),
        (
            lambda: xc.Graph.from_networkx(net, ["age", "size"]),
            r"every node must have the attribute 'size' \(got none at 'ann'\)",
        ),
        (lambda: xc.Graph.from_networkx(nx.Graph()), "at least one node"),
        (lambda: xc.Graph.from_networkx([(0, 1)]), r"a networkx graph \(got a list\)"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# Explanations


def test_pyg_s_own_metrics_take_an_explanation():
    torch.manual_seed(0)
    graph = xc.Graph.from_networkx(nx.karate_club_graph(), np.eye(34), "club")
    network = GCN(34, 16, 2, 2).eval()
    explainer = Explainer(
        network,
        GNNExplainer(),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    why = xc.explain(network, graph, xc.Node(5), xc.ExplainConfig(steps=10, k_m=4))
    soft, hard = why.to_pyg(graph), why.to_pyg(graph, hard=True)
    assert soft.validate()
    kept = {frozenset(ends) for ends in graph.edge_index[:, hard.edge_mask == 1].t().tolist()}
    assert kept == {frozenset(edge) for edge in why.subgraph().edges}
    assert set(hard.edge_mask.unique().tolist()) == {0.0, 1.0}
    needed, enough = fidelity(explainer, hard)
    with torch.no_grad():
        alone = explainer.get_masked_prediction(graph.x, graph.edge_index, None, hard.edge_mask)[5]
    assert enough == float(int(alone.argmax()) != why.predicted_class)
    assert why.verdict.alone == pytest.approx(alone.softmax(-1)[why.predicted_class].item(), abs=1e-5)
    assert 0 <= float(characterization_score(torch.tensor(needed or 0.5), torch.tensor(enough))) <= 1
    assert 0 <= unfaithfulness(explainer, soft) <= 1
    with pytest.raises(ValueError, match="the graph that was explained"):
        why.to_pyg(xc.Graph.from_arrays([(0, 1)]))
