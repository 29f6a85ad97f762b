"""Trust in explanations, on networks whose answers are known on paper and on trained ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import case, counting_network, network, random_graph

from explainer_core.config import ExplainConfig
from explainer_core.datasets.registry import load_dataset
from explainer_core.explaining import explain
from explainer_core.graph import Graph, undirected
from explainer_core.metrics import faithfulness, probability_curve
from explainer_core.pretrained import load_pretrained
from explainer_core.targets import Node
from explainer_core.trust import flips, trust, with_size

FEW_STEPS = ExplainConfig(steps=20, k_m=4)


@pytest.fixture(scope="module")
def shapes():
    return load_pretrained("ba_shapes", device="cpu"), load_dataset("ba_shapes")


def counting(num_layers=1):
    """Class 1 if the node and its neighbours sum to more than three."""
    model = counting_network(num_layers)
    model.head.bias.copy_(torch.tensor([3.0, 0.0]))
    return model


def star(num_leaves, **fields):
    edges = undirected([(0, leaf) for leaf in range(1, num_leaves + 1)])
    return Graph(torch.ones(num_leaves + 1, 1), edges, **fields)


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_curve_and_faithfulness_are_those_of_the_metrics(task):
    model, data, targets = case(task)
    explanation = explain(model, data, targets[0], FEW_STEPS)
    judged = trust(model, data, explanation)
    sizes = [size for size, _ in judged.curve]
    assert np.allclose(judged.curve, probability_curve(model, data, explanation, sizes), atol=1e-6)
    expected = faithfulness(model, data, [explanation])[0]
    for field in ("full", "kept", "without", "sparsity"):
        assert getattr(judged.faithfulness, field) == pytest.approx(getattr(expected, field), abs=1e-6)
    assert judged.faithfulness.keeps_class == expected.keeps_class
    assert judged.faithfulness.kept == pytest.approx(dict(judged.curve)[4], abs=1e-6)


def test_sizes_run_up_to_what_there_is():
    model, graph = counting(), star(5)
    explanation = explain(model, graph, Node(0), FEW_STEPS)
    assert [size for size, _ in trust(model, graph, explanation).curve] == [1, 2, 3, 4, 5, 6]
    edges = with_size(model, graph, explanation, 2, k_m_unit="edges")
    assert [size for size, _ in trust(model, graph, edges).curve] == [1, 2, 3, 4, 5]
    assert [size for size, _ in trust(model, graph, explanation, 7, sizes=(2, 50)).curve] == [2, 7, 50]


def test_without_edges_only_the_node_itself_counts():
    model, graph = counting(), star(5)
    judged = trust(model, graph, explain(model, graph, Node(0), FEW_STEPS))
    assert judged.faithfulness.full == pytest.approx(sigmoid(6 - 3))
    assert judged.empty_class == 0
    assert judged.empty_probability == pytest.approx(sigmoid(1 - 3))
    assert dict(judged.curve)[6] == pytest.approx(sigmoid(6 - 3))


def test_the_motif_is_judged_alone():
    edges = star(5).edge_index
    motif = torch.where((edges == 1).any(0) | (edges == 2).any(0), 0, -1)
    graph = star(5, edge_motif=motif, node_motif=torch.tensor([0, 0, 0, -1, -1, -1]))
    model = counting()
    judged = trust(model, graph, explain(model, graph, Node(0), FEW_STEPS))
    assert judged.motif_probability == pytest.approx(sigmoid(1 + 2 - 3))
    outside = trust(model, graph, explain(model, graph, Node(4), FEW_STEPS))
    assert outside.motif_class is None
    assert outside.motif_probability is None


def test_a_trained_network_knows_the_house_by_itself(shapes):
    model, graph = shapes
    judged = trust(model, graph, explain(model, graph, Node(400), FEW_STEPS))
    assert judged.motif_class == int(graph.labels[400])
    assert judged.motif_probability > 0.9


def test_edges_cannot_be_why_a_node_is_what_it_would_be_without_them(shapes):
    model, graph = shapes
    ground_floor, roof = (trust(model, graph, explain(model, graph, Node(node), FEW_STEPS)) for node in (400, 512))
    assert ground_floor.empty_probability < 0.1
    assert roof.empty_class == int(graph.labels[512])
    assert roof.empty_probability > 0.9


@pytest.mark.parametrize("edges", [[], [(1, 2)]], ids=["no edges", "isolated"])
def test_a_node_without_edges_is_its_own_explanation(edges):
    graph = Graph(torch.ones(3, 5), undirected(edges))
    model = network()
    explanation = explain(model, graph, Node(0), FEW_STEPS)
    judged = trust(model, graph, explanation)
    assert judged.curve[0] == (1, pytest.approx(judged.faithfulness.full))
    assert judged.empty_probability == pytest.approx(judged.faithfulness.full)
    assert judged.motif_class is None
    assert with_size(model, graph, explanation, 3).subgraph().nodes == (0,)


# Another size


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("changes", [{}, {"k_m_unit": "edges"}, {"connected": False}], ids=str)
def test_another_size_is_what_explain_gives_for_it(task, changes):
    model, data, targets = case(task)
    for target in targets:
        learnt = explain(model, data, target, replace(FEW_STEPS, k_m=6))
        for k_m in (2, 3, 5):
            resized = with_size(model, data, learnt, k_m, **changes)
            same(resized, explain(model, data, target, replace(FEW_STEPS, k_m=k_m, **changes)))


def test_another_size_is_refined_where_explain_refines(shapes):
    model, graph = shapes
    refined = 0
    for node in (400, 560, 690):
        learnt = explain(model, graph, Node(node), ExplainConfig(steps=15))
        for k_m in (2, 3, 4):
            resized = with_size(model, graph, learnt, k_m)
            same(resized, explain(model, graph, Node(node), ExplainConfig(steps=15, k_m=k_m)))
            refined += bool(resized.core)
    assert refined > 0


def same(one, other):
    assert one.config == other.config
    assert np.array_equal(one.edge_weight, other.edge_weight)
    assert one.core == other.core
    assert one.subgraph() == other.subgraph()


def test_other_methods_and_unrefined_explanations_are_only_cut_anew():
    model, graph = network(), random_graph()
    for config, method in ((FEW_STEPS, "gradient"), (replace(FEW_STEPS, refine=False), "gnnexplainer")):
        learnt = explain(model, graph, Node(4), config, method)
        resized = with_size(model, graph, learnt, 7)
        assert resized.core == ()
        assert resized.subgraph() == learnt.subgraph(7)


def test_a_size_out_of_range_is_an_error():
    model, graph = network(), random_graph()
    with pytest.raises(ValueError, match=r"k_m must be 1 to 50 \(got 0\)"):
        with_size(model, graph, explain(model, graph, Node(4), FEW_STEPS), 0)


# Seeds


def with_seeds(weights, k_m):
    """A star of three leaves whose seeds found these weights for the edges to leaf 1, 2 and 3."""
    learnt = explain(counting(), star(3), Node(0), ExplainConfig(steps=1, k_m=k_m, seeds=len(weights)))
    leaf = np.maximum(*learnt.edge_index) - 1
    return replace(learnt, seed_weights=np.array(weights, dtype=float)[:, leaf])


def test_pairs_that_some_seeds_keep_and_others_drop():
    explanation = with_seeds([[0.9, 0.8, 0.1], [0.9, 0.1, 0.8], [0.9, 0.8, 0.1], [0.8, 0.9, 0.1]], k_m=3)
    assert flips(explanation) == {(0, 2): 0.75, (0, 3): 0.25}
    assert flips(explanation, 2) == {(0, 1): 0.75, (0, 2): 0.25}
    assert flips(explanation, 4) == {}


def test_flips_need_seeds():
    explanation = explain(network(), random_graph(), Node(4), FEW_STEPS)
    with pytest.raises(ValueError, match="at least two seeds"):
        flips(explanation)
