"""Trust in explanations, on networks whose answers are known on paper and on trained ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import case, counting_network, network, random_graph, sharp

from explainer_core.api import agreement_over_starts, explain
from explainer_core.config import ExplainConfig
from explainer_core.datasets.registry import load_dataset
from explainer_core.explanation.metrics import faithfulness
from explainer_core.explanation.trust import SizePoint, trust, with_size
from explainer_core.graph import Graph, undirected
from explainer_core.targets import Node
from explainer_core.zoo.pretrained import load_pretrained

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


def points(judged):
    """What the class gets alone, by size."""
    return {point.size: point.alone for point in judged.curve}


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("method", ["verified", "gnnexplainer"])
def test_curve_and_faithfulness_are_those_of_the_metrics(task, method):
    model, data, targets = case(task)
    explanation = explain(sharp(model), data, targets[0], FEW_STEPS, method)
    judged = trust(model, data, explanation)
    for point in judged.curve:
        (expected,) = faithfulness(model, data, [explanation], [explanation.subgraph(point.size)])
        assert (point.alone, point.without) == pytest.approx((expected.kept, expected.without), abs=1e-6)
        assert point.keeps_class == expected.keeps_class
        if point.size == 4:
            assert judged.faithfulness.sparsity == expected.sparsity
            assert judged.faithfulness.full == expected.full
    assert judged.faithfulness.kept == points(judged)[4]


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("unit", ["nodes", "edges"])
def test_every_point_of_the_curve_is_what_choosing_that_size_gives(task, unit):
    model, data, targets = case(task)
    explanation = explain(sharp(model), data, targets[0], ExplainConfig(steps=10, k_m_unit=unit))
    for point in trust(model, data, explanation).curve:
        chosen = explain(model, data, targets[0], ExplainConfig(steps=10, k_m_unit=unit, k_m=point.size))
        assert chosen.size == point.size
        assert chosen.subgraph() == explanation.subgraph(point.size)
        verdict = chosen.verdict
        assert (verdict.alone, verdict.without) == pytest.approx((point.alone, point.without), abs=1e-6)
        assert verdict.keeps_class == point.keeps_class


def test_sizes_run_up_to_what_there_is():
    model, graph = counting(), star(5)
    explanation = explain(model, graph, Node(0), FEW_STEPS)
    assert [point.size for point in trust(model, graph, explanation).curve] == [1, 2, 3, 4, 5, 6]
    edges = with_size(model, graph, explanation, 2, k_m_unit="edges")
    assert [point.size for point in trust(model, graph, edges).curve] == [1, 2, 3, 4, 5]
    assert [point.size for point in trust(model, graph, explanation, 7, sizes=(2, 50)).curve] == [2, 7, 50]


def test_without_edges_only_the_node_itself_counts():
    model, graph = counting(), star(5)
    judged = trust(model, graph, explain(model, graph, Node(0), FEW_STEPS))
    assert judged.faithfulness.full == pytest.approx(sigmoid(6 - 3))
    assert judged.empty_class == 0
    assert judged.empty_probability == pytest.approx(sigmoid(1 - 3))
    assert points(judged)[6] == pytest.approx(sigmoid(6 - 3))


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
    full = pytest.approx(judged.faithfulness.full, abs=1e-6)
    assert judged.curve == tuple(
        SizePoint(size, full, full, keeps_class=True) for size in (1, 4)
    )  # all there is, and K_M
    assert judged.empty_probability == pytest.approx(judged.faithfulness.full)
    assert judged.motif_class is None
    assert with_size(model, graph, explanation, 3).subgraph().nodes == (0,)


# Another size


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("changes", [{}, {"k_m_unit": "edges"}], ids=str)
def test_another_size_is_what_explain_gives_for_it(task, changes):
    model, data, targets = case(task)
    sharp(model)
    for target in targets:
        learnt = explain(model, data, target, replace(FEW_STEPS, k_m=6))
        for k_m in (2, 3, 5):
            resized = with_size(model, data, learnt, k_m, **changes)
            same(resized, explain(model, data, target, replace(FEW_STEPS, k_m=k_m, **changes)))


def same(one, other):
    assert (one.config, one.size, one.table) == (other.config, other.size, other.table)
    assert np.array_equal(one.edge_weight, other.edge_weight)
    assert one.subgraph() == other.subgraph()
    numbers = [(v.full, v.alone, v.without, v.empty) for v in (one.verdict, other.verdict)]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-6)
    assert (one.verdict.level, one.verdict.winner) == (other.verdict.level, other.verdict.winner)
    for name in ("feature_weight", "feature_mask"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)
    assert np.array_equal(one.feature_absent, other.feature_absent)


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_a_size_may_go_back_to_auto(task):
    model, data, targets = case(task)
    auto = explain(sharp(model), data, targets[0], replace(FEW_STEPS, k_m="auto"))
    fixed = with_size(model, data, auto, 3)
    assert (fixed.size, fixed.config.k_m) == (3, 3)
    same(with_size(model, data, fixed, "auto"), auto)


def test_other_methods_are_only_cut_anew():
    model, graph = network(), random_graph()
    for method in ("gradient", "gnnexplainer"):
        found = explain(model, graph, Node(4), FEW_STEPS, method)
        resized = with_size(model, graph, found, 7)
        assert resized.table == ()
        assert resized.subgraph() == found.subgraph(7)
        assert resized.verdict == explain(model, graph, Node(4), replace(FEW_STEPS, k_m=7), method).verdict
        np.testing.assert_array_equal(resized.edge_weight, found.edge_weight)
    assert np.array_equal(
        with_size(model, graph, explain(model, graph, Node(4), FEW_STEPS, "gradient"), 7).feature_weight,
        explain(model, graph, Node(4), FEW_STEPS, "gradient").feature_weight,
    )


def test_a_size_out_of_range_is_an_error():
    model, graph = network(), random_graph()
    with pytest.raises(ValueError, match=r"k_m must be 1 to 50 or 'auto' \(got 0\)"):
        with_size(model, graph, explain(model, graph, Node(4), FEW_STEPS), 0)


# Other starts


def loud_arm():
    """Node 0 receives 5 along the edges to 1 and from there to 2, and nothing along three others: one part is best."""
    x = torch.zeros(20, 1)
    x[2] = 5.0
    return counting(2), Graph(x, undirected([(0, 1), (1, 2), (0, 3), (0, 4), (0, 5), (5, 6)]))


def test_all_starts_agree_where_one_part_is_best():
    model, graph = loud_arm()
    explanation = explain(model, graph, Node(0), ExplainConfig(steps=30, k_m=2, k_m_unit="edges"))
    found = agreement_over_starts(model, graph, explanation, starts=4)
    assert (found.share, found.starts, found.unstable) == (1.0, 4, ())
    assert found.kept_by == {(0, 1): 1.0, (1, 2): 1.0}


def test_chance_agrees_as_much_as_its_own_draws_do():
    """Start s is the seed that many runs further on; what they share is counted by hand."""
    model, graph = network(), random_graph(20, 30)
    explanation = explain(model, graph, Node(4), ExplainConfig(seed=3, k_m=4, k_m_unit="edges"), "random")
    found = agreement_over_starts(model, graph, explanation, starts=3)
    kept = [
        set(explain(model, graph, Node(4), replace(explanation.config, seed=3 + i), "random").subgraph().edges)
        for i in range(3)
    ]
    overlaps = [len(a & b) / len(a | b) for a, b in ((kept[0], kept[1]), (kept[0], kept[2]), (kept[1], kept[2]))]
    assert found.share == pytest.approx(sum(overlaps) / 3)
    assert found.share < 1
    for edge, share in found.kept_by.items():
        assert share == sum(edge in some for some in kept) / 3
    assert set(found.unstable) == set.union(*kept) - set.intersection(*kept)


def test_after_the_last_seed_comes_the_first():
    model, graph = loud_arm()
    explanation = explain(model, graph, Node(0), replace(FEW_STEPS, seed=2**31 - 1), "random")
    assert agreement_over_starts(model, graph, explanation, starts=3).starts == 3


def test_one_start_has_nothing_to_agree_with():
    model, graph = loud_arm()
    with pytest.raises(ValueError, match=r"starts must be at least 2 \(got 1\)"):
        agreement_over_starts(model, graph, explain(model, graph, Node(0), FEW_STEPS), starts=1)
