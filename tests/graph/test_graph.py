"""Graph and GraphSet: the rules they keep, the sentences they say, and batches that equal their parts."""

import networkx as nx
import pytest
import torch

from explainer_core.graph import Graph, GraphSet, undirected

TRIANGLE = undirected([(0, 1), (1, 2), (2, 0)])


def triangle(**changes):
    return Graph(**{"x": torch.ones(4, 2), "edge_index": TRIANGLE} | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": torch.ones(4)}, r"x must be floats of shape \(nodes, features\).*got torch.float32 \(4,\)"),
        ({"x": torch.ones(0, 2)}, "at least one node"),
        ({"x": torch.ones(4, 2, dtype=torch.int64)}, "x must be floats"),
        (
            {"x": torch.tensor([[1.0], [2.0], [float("nan")], [0.0]])},
            "finite .got nan at node 2, feature 0.*fill or drop",
        ),
        ({"x": torch.tensor([[1.0], [2.0], [0.0], [float("inf")]])}, "got inf at node 3"),
        ({"edge_index": TRIANGLE.t()}, r"shape \(2, edges\).*\.t\(\)"),
        ({"edge_index": TRIANGLE.float()}, "edge_index must be int64"),
        ({"edge_index": torch.tensor([[0], [4]])}, r"nodes 0 to 3 \(got 4\); number the nodes from 0"),
        ({"edge_index": torch.tensor([[-1], [0]])}, r"nodes 0 to 3 \(got -1\)"),
        ({"labels": torch.zeros(4, dtype=torch.int64)}, "labels need class_names .got none"),
        ({"labels": torch.zeros(3, dtype=torch.int64), "class_names": ("a",)}, r"one for each node: shape \(4,\)"),
        ({"labels": torch.zeros(4), "class_names": ("a",)}, "labels must be int64"),
        ({"labels": torch.tensor([0, 1, 2, 0]), "class_names": ("a", "b")}, r"labels must be 0 to 1.*got 2"),
        (
            {"labels": torch.tensor([0, -2, 0, 0]), "class_names": ("a", "b")},
            r"labels must be 0 to 1.*or -1 where it is not known.*got -2",
        ),
        ({"label": 2, "class_names": ("a", "b")}, r"label must be 0 to 1.*got 2"),
        ({"label": 0}, "label need class_names"),
        (
            {"edge_types": -torch.ones(6, dtype=torch.int64), "edge_type_names": ("a",)},
            r"edge_types must be 0 to 0.*got -1",
        ),
        ({"edge_types": torch.zeros(6, dtype=torch.int64)}, "edge_types need edge_type_names"),
        ({"node_motif": torch.full((4,), -2)}, r"motif number, or -1 for none \(got -2\)"),
        ({"edge_motif": torch.zeros(5, dtype=torch.int64)}, r"one for each edge: shape \(6,\)"),
        ({"feature_names": ("one",)}, r"feature_names must have one name for each feature, 2 \(got 1\)"),
        ({"node_names": ("a",)}, r"node_names must have one name for each node, 4 \(got 1\)"),
    ],
)
def test_a_broken_rule_is_named_with_its_value_and_the_way_out(changes, message):
    with pytest.raises(ValueError, match=message):
        triangle(**changes)


def test_a_graph_without_edges_is_a_graph():
    graph = triangle(edge_index=torch.empty(2, 0, dtype=torch.int64))
    assert graph.num_edges == 0
    assert graph.in_degree.tolist() == [0, 0, 0, 0]
    assert graph.is_undirected


def test_undirected_drops_repeats_and_self_loops_and_adds_the_other_direction():
    assert undirected([(1, 0), (0, 1), (2, 2), (1, 2)]).t().tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert undirected([]).shape == (2, 0)


def test_degrees_sum_to_the_number_of_edges():
    graph = triangle()
    assert graph.in_degree.tolist() == [2, 2, 2, 0]
    assert int(graph.in_degree.sum()) == graph.num_edges


def test_direction_and_type_decide_whether_a_graph_is_undirected():
    assert triangle().is_undirected
    assert not triangle(edge_index=TRIANGLE[:, :-1]).is_undirected
    two_way = torch.tensor([[0, 1], [1, 0]])
    for types, answer in (([1, 1], True), ([0, 1], False)):
        assert (
            triangle(edge_index=two_way, edge_types=torch.tensor(types), edge_type_names=("a", "b")).is_undirected
            is answer
        )


def test_networkx_gets_names_labels_types_and_motifs():
    graph = triangle(
        labels=torch.tensor([0, 1, 0, 1]),
        class_names=("a", "b"),
        node_names=("w", "x", "y", "z"),
        edge_types=torch.zeros(6, dtype=torch.int64),
        edge_type_names=("bond",),
        node_motif=torch.tensor([0, 0, 0, -1]),
    )
    net = graph.to_networkx()
    assert nx.is_isomorphic(net, nx.disjoint_union(nx.cycle_graph(3), nx.empty_graph(1)))
    assert net.nodes[3] == {"name": "z", "label": 1, "motif": -1}
    assert net.edges[0, 1] == {"type": 0}


def test_the_motif_of_a_node_is_its_own():
    graph = triangle(node_motif=torch.tensor([0, 0, 1, -1]), edge_motif=torch.tensor([0, -1, 0, -1, 1, 1]))
    assert graph.motif_edges(0).tolist() == [True, False, True, False, False, False]
    assert graph.motif_edges(2).tolist() == [False, False, False, False, True, True]
    assert not graph.motif_edges(3).any()
    assert not triangle().motif_edges(0).any()
    with pytest.raises(ValueError, match=r"node must be 0 to 3 \(got 4\)"):
        graph.motif_edges(4)


def three_graphs():
    names = {"class_names": ("a", "b"), "feature_names": ("f",), "edge_type_names": ("s", "d")}
    parts = []
    for size, pairs, label in ((3, [(0, 1), (1, 2)], 0), (1, [], 1), (4, [(0, 3)], 1)):
        edges = undirected(pairs)
        types = torch.arange(edges.shape[1]) % 2
        x = torch.arange(size).float().unsqueeze(1) + 10 * len(parts)
        parts.append(Graph(x, edges, name=f"g{len(parts)}", label=label, edge_types=types, **names))
    return parts


def test_a_set_gives_back_the_graphs_it_was_made_of():
    parts = three_graphs()
    graphs = GraphSet.from_graphs(parts, name="three")
    assert len(graphs) == 3
    for part, back in zip(parts, graphs, strict=True):
        assert torch.equal(part.x, back.x)
        assert torch.equal(part.edge_index, back.edge_index)
        assert torch.equal(part.edge_types, back.edge_types)
        assert (part.label, part.name, part.class_names) == (back.label, back.name, back.class_names)
    with pytest.raises(IndexError, match=r"graph must be 0 to 2 \(got 3\)"):
        graphs[3]


def test_a_batch_is_the_disjoint_union_in_the_order_asked():
    parts = three_graphs()
    batch = GraphSet.from_graphs(parts).batch([2, 0])
    assert torch.equal(batch.x, torch.cat([parts[2].x, parts[0].x]))
    assert torch.equal(batch.edge_index, torch.cat([parts[2].edge_index, parts[0].edge_index + 4], dim=1))
    assert torch.equal(batch.edge_types, torch.cat([parts[2].edge_types, parts[0].edge_types]))
    assert batch.graph_of.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert batch.num_graphs == 2


def test_a_batch_of_a_graph_without_edges_still_counts_it():
    batch = GraphSet.from_graphs(three_graphs()).batch([1, 1])
    assert batch.num_graphs == 2
    assert batch.graph_of.tolist() == [0, 1]
    assert batch.edge_index.shape == (2, 0)


@pytest.mark.parametrize("indices", [[], [3], [-1]])
def test_a_batch_of_graphs_that_are_not_there_is_refused(indices):
    with pytest.raises(ValueError, match="a batch needs graphs from 0 to 2"):
        GraphSet.from_graphs(three_graphs()).batch(indices)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node_start": torch.tensor([0, 2, 3])}, "node_start must be int64, rising from 0 to 4"),
        ({"node_start": torch.tensor([0, 5, 4])}, "node_start must be int64, rising"),
        ({"edge_start": torch.tensor([0, 6])}, "describe the same number of graphs .got 2 and 1"),
        ({"node_start": torch.tensor([0, 2, 4])}, "join two nodes of its own graph"),
        ({"labels": torch.tensor([0]), "class_names": ("a",)}, "one for each graph"),
        ({"labels": torch.tensor([0, 1])}, "labels need class_names"),
        ({"graph_names": ("a",)}, "one name for each graph, 2"),
    ],
)
def test_a_set_out_of_order_is_refused(changes, message):
    settings = {"node_start": torch.tensor([0, 3, 4]), "edge_start": torch.tensor([0, 6, 6])} | changes
    with pytest.raises(ValueError, match=message):
        GraphSet(torch.ones(4, 2), TRIANGLE, **settings)


def test_graphs_with_other_names_do_not_join():
    one, _, other = three_graphs()
    stranger = Graph(other.x, other.edge_index, label=0, class_names=("b", "a"), feature_names=("f",))
    with pytest.raises(ValueError, match="must share class_names"):
        GraphSet.from_graphs([one, stranger])
    with pytest.raises(ValueError, match="at least one graph"):
        GraphSet.from_graphs([])


MOTIFS = {"node_motif": torch.tensor([0, 0, 0, -1]), "edge_motif": torch.zeros(6, dtype=torch.int64)}
COLUMNS = {
    "label": {"label": 1},
    "edge_types": {"edge_types": torch.zeros(6, dtype=torch.int64)},
    "node_motif": {"node_motif": MOTIFS["node_motif"]},
    "edge_motif": {"edge_motif": MOTIFS["edge_motif"]},
}


@pytest.mark.parametrize("field", COLUMNS)
def test_a_set_never_drops_what_only_some_of_its_graphs_have(field):
    names = {"class_names": ("a", "b"), "edge_type_names": ("bond",)}
    having, lacking = triangle(**COLUMNS[field], **names), triangle(name="bare", **names)
    with pytest.raises(
        ValueError, match=rf"must all have {field}, or none \(got none in graph 1, 'bare'.*leave these out"
    ):
        GraphSet.from_graphs([having, lacking, having])
    column = "labels" if field == "label" else field
    assert getattr(GraphSet.from_graphs([lacking, lacking]), column) is None
    assert getattr(GraphSet.from_graphs([having, having]), column) is not None
