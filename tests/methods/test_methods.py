"""What every method promises, and for each of the simpler ones the same numbers computed slowly by hand."""

import numpy as np
import pytest
import torch
from small_networks import case, counting_network, network, objective_of, random_graph, random_set, state_of

from explainer_core.api import explain, explain_many
from explainer_core.config import ExplainConfig
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.methods import METHODS
from explainer_core.methods import occlusion as occlusion_method
from explainer_core.models import GNN, ModelSpec
from explainer_core.targets import Link, Node, WholeGraph

TASKS = ("node", "graph", "link")
QUICK = ExplainConfig(steps=10)
FEATURELESS = [name for name, method in METHODS.items() if not method.features]
LEARNS = [name for name, method in METHODS.items() if method.mask]
NO_EDGES = torch.empty(2, 0, dtype=torch.int64)


def for_method(method, task, **settings):
    return case(task, "gat" if METHODS[method].needs_attention else "gcn", **settings)


def weight_of(objective, weights):
    """Edge weights by (prediction's instance, source, head) in the numbers of the graph."""
    c = objective.computation
    ends = c.node_ids[c.edge_index].t().tolist()
    keys = [(instance, *pair) for instance, pair in zip(c.edge_instance.tolist(), ends, strict=True)]
    return dict(zip(keys, weights.edge.tolist(), strict=True))


# What all promise


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS)
def test_weights_are_finite_and_there_is_one_for_each_edge_and_feature(method, task):
    model, data, targets = for_method(method, task)
    objective = objective_of(model, data, targets, QUICK)
    found = METHODS[method](objective)
    assert found.edge.shape == (objective.computation.num_edges,)
    assert found.edge.isfinite().all()
    assert (found.edge >= 0).all()
    assert not found.edge.requires_grad
    if method in FEATURELESS or method in LEARNS:  # whose features are weighed after the edges
        assert found.feature is None
    else:
        assert found.feature.shape == (objective.computation.num_instances, data.num_features)
        assert found.feature.isfinite().all()
        assert (found.feature >= 0).all()
        assert not found.feature.requires_grad


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS)
def test_an_explanation_is_about_edges_that_can_matter(method, task):
    model, data, targets = for_method(method, task)
    for target, found in zip(targets, explain_many(model, data, targets, QUICK, method), strict=True):
        graph = data[target.index] if task == "graph" else data
        assert np.array_equal(found.edge_index, graph.edge_index[:, found.edge_ids].numpy())
        assert set(found.edge_index.flatten().tolist()) <= set(found.nodes.tolist())
        if task == "graph":
            assert len(found.edge_ids) == graph.num_edges
        else:
            hop = {}
            for node, steps in zip(found.nodes.tolist(), found.hop.tolist(), strict=True):
                hop[node] = min(steps, hop.get(node, steps))
            assert all(hop[head] < model.num_layers for head in found.edge_index[1].tolist())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_what_each_target_gets_alone(method, task):
    model, data, targets = for_method(method, task)
    together = explain_many(model, data, targets, QUICK, method)
    for target, found in zip(targets, together, strict=True):
        alone = explain(model, data, target, QUICK, method)
        np.testing.assert_allclose(found.edge_weight, alone.edge_weight, atol=1e-5)
        if found.feature_weight is not None:
            np.testing.assert_allclose(found.feature_weight, alone.feature_weight, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_request_gives_the_same_numbers(method):
    model, data, targets = for_method(method, "node")
    one, same = (explain(model, data, targets[0], QUICK, method) for _ in range(2))
    assert np.array_equal(one.edge_weight, same.edge_weight)
    assert one.to_json() == same.to_json()


@pytest.mark.parametrize("method", METHODS)
def test_the_model_and_the_data_are_left_as_they_were(method):
    model, data, targets = for_method(method, "node")
    model = model.train().requires_grad_(True)
    before, x, edges = state_of(model), data.x.clone(), data.edge_index.clone()
    explain(model, data, targets[0], QUICK, method)
    assert state_of(model) == before
    assert torch.equal(data.x, x)
    assert torch.equal(data.edge_index, edges)
    assert not data.x.requires_grad


@pytest.mark.parametrize("method", METHODS)
def test_a_node_by_itself_has_only_its_own_features(method):
    model = network("gat" if METHODS[method].needs_attention else "gcn")
    graph = Graph(random_graph(6, 5).x, undirected([(0, 1)]))
    found = explain(model, graph, Node(4), QUICK, method)
    assert found.nodes.tolist() == [4]
    assert found.edge_weight.shape == (0,)
    assert found.subgraph().nodes == (4,)
    assert (found.feature_weight is None) == (method in FEATURELESS)
    if method not in FEATURELESS:
        assert found.feature_weight.any()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS)
def test_a_graph_without_edges_can_be_explained(method, task):
    model = for_method(method, task)[0]
    graph = Graph(random_graph(6, 5).x, NO_EDGES)
    data, target = {
        "node": (graph, Node(3)),
        "link": (graph, Link(3, 5)),
        "graph": (GraphSet.from_graphs([graph, graph]), WholeGraph(1)),
    }[task]
    found = explain(model, data, target, QUICK, method)
    assert found.edge_index.shape == (2, 0)
    assert found.subgraph().edges == ()
    assert np.isfinite(found.probabilities).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_node_alone_beside_others_in_a_batch_is_no_trouble(method):
    model = network("gat" if METHODS[method].needs_attention else "gcn")
    graph = Graph(random_graph(6, 5).x, undirected([(0, 1), (1, 2)]))
    found = explain_many(model, graph, [Node(4), Node(0), Node(5)], QUICK, method)
    assert [len(one.edge_ids) for one in found] == [0, 3, 0]


@pytest.mark.parametrize("method", METHODS)
def test_typed_edges_are_explained(method):
    kind = "gat" if METHODS[method].needs_attention else "rgcn"
    model, data, targets = case("node", kind, typed=True)
    assert np.isfinite(explain(model, data, targets[0], QUICK, method).edge_weight).all()


# Gradients


@pytest.mark.parametrize("task", TASKS)
def test_the_gradient_is_that_of_finite_differences(task):
    """Against finite differences in double precision, for edges and for features."""
    model, data, targets = case(task)
    objective = objective_of(model.double(), double(data), targets[:1])
    found, c, small = METHODS["gradient"](objective), objective.computation, 1e-6
    for e in range(c.num_edges):
        weight = torch.ones(c.num_edges, dtype=torch.float64)
        weight[e] += small
        difference = (objective.loss(objective.logits(weight)) - objective.loss(objective.logits())).item() / small
        assert found.edge[e].item() == pytest.approx(abs(difference), abs=1e-5)
    differences = torch.zeros(c.num_instances, c.x.shape[1], dtype=torch.float64)
    for node in range(c.num_nodes):
        for feature in range(c.x.shape[1]):
            x = c.x.clone()
            x[node, feature] += small
            difference = (objective.loss(objective.logits(None, x)) - objective.loss(objective.logits())).item() / small
            differences[c.node_instance[node], feature] += abs(difference)
    torch.testing.assert_close(found.feature.double(), differences, atol=1e-4, rtol=1e-4)


def double(data):
    if isinstance(data, GraphSet):
        return GraphSet(data.x.double(), data.edge_index, data.node_start, data.edge_start)
    return Graph(data.x.double(), data.edge_index)


def test_the_gradient_on_paper():
    """One edge brings 2 to the node: the loss is ln(1 + e^-2s), its derivative at s = 1 is 2 / (1 + e^2)."""
    graph = Graph(torch.tensor([[0.0], [2.0]]), undirected([(0, 1)]))
    found = explain(counting_network(1), graph, Node(0), method="gradient")
    assert found.edge_index.T.tolist() == [[1, 0]]
    assert found.edge_weight[0] == pytest.approx(2 / (1 + np.exp(2)), rel=1e-5)
    assert found.feature_weight[0] == pytest.approx(2 / (1 + np.exp(2)), rel=1e-5)  # both nodes count: 1 + 1 walks


@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_integrated_gradients_add_up_to_what_is_explained(num_layers):
    """Completeness, where all speak for the class: nothing is lost in the absolute values."""
    graph = Graph(torch.rand(8, 1, generator=torch.Generator().manual_seed(0)), random_graph(8, 12).edge_index)
    model = counting_network(num_layers, strength=0.5)
    objective = objective_of(model, graph, [Node(0)], ExplainConfig(feature_fill="zero"), target_class=1)
    found = METHODS["integrated_gradients"](objective)
    c = objective.computation
    nothing = objective.loss(objective.logits(torch.zeros(c.num_edges), torch.zeros_like(c.x)))
    rise = (nothing - objective.loss(objective.logits())).item()
    assert (found.edge.sum() + found.feature.sum()).item() == pytest.approx(rise, rel=0.01)


def test_integrated_gradients_of_a_single_edge_on_paper():
    """The node itself brings nothing: s x_1 = 4 s^2 along the way, half for the edge and half for the feature."""
    graph = Graph(torch.tensor([[0.0], [4.0]]), undirected([(0, 1)]))
    found = explain(counting_network(1), graph, Node(0), ExplainConfig(feature_fill="zero"), "integrated_gradients")
    rise = np.log(2) - np.log(1 + np.exp(-4))
    assert found.edge_weight[0] == pytest.approx(rise / 2, rel=0.01)
    assert found.feature_weight[0] == pytest.approx(rise / 2, rel=0.01)


def test_from_average_features_an_average_node_has_nothing_to_add():
    graph = Graph(torch.full((6, 1), 2.0), random_graph(6, 8).edge_index)
    found = explain(counting_network(), graph, Node(0), method="integrated_gradients")
    assert not found.feature_weight.any()
    assert found.edge_weight.any()


# Occlusion


def slow_occlusion(objective):
    """Zeroes every undirected edge (of one type) of every instance by hand, one after another."""
    c = objective.computation
    base, grown = objective.loss(objective.logits()), torch.zeros(c.num_edges)
    types = torch.zeros(c.num_edges, dtype=torch.int64) if c.edge_types is None else c.edge_types
    for e in range(c.num_edges):
        a, b = c.edge_index[:, e].tolist()
        weight = torch.ones(c.num_edges)
        for other in range(c.num_edges):
            if set(c.edge_index[:, other].tolist()) == {a, b} and types[other] == types[e]:
                weight[other] = 0
        p = int(c.edge_instance[e]) // (2 if objective.task == "link" else 1)
        grown[e] = (objective.loss(objective.logits(weight)) - base)[p].clamp(min=0)
    return grown


def slow_feature_occlusion(objective, fill):
    """Fills in every feature of all nodes by hand: (P, F)."""
    c, base = objective.computation, objective.loss(objective.logits())
    grown = []
    for feature in range(c.x.shape[1]):
        x = c.x.clone()
        x[:, feature] = fill[feature]
        grown.append((objective.loss(objective.logits(None, x)) - base).clamp(min=0))
    return torch.stack(grown, dim=1)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("at_once", [1, 200, 300_000])
def test_occlusion_is_what_a_slow_loop_finds(task, typed, at_once, monkeypatch):
    monkeypatch.setattr(occlusion_method, "BATCH_SIZE", at_once)
    model, data, targets = case(task, "rgcn" if typed else "gcn", typed=typed)
    objective = objective_of(model, data, targets)
    found = METHODS["occlusion"](objective)
    torch.testing.assert_close(found.edge, slow_occlusion(objective), atol=1e-5, rtol=1e-4)
    by_prediction = slow_feature_occlusion(objective, data.x.mean(0))
    expected = by_prediction[objective.predictions_of_instances]
    torch.testing.assert_close(found.feature, expected, atol=1e-5, rtol=1e-4)
    assert found.edge.any()


def test_occlusion_with_zeros_fills_in_zeros():
    objective = objective_of(*case("node"), ExplainConfig(feature_fill="zero"))
    expected = slow_feature_occlusion(objective, torch.zeros(objective.computation.x.shape[1]))
    torch.testing.assert_close(METHODS["occlusion"](objective).feature, expected, atol=1e-5, rtol=1e-4)


# Attention


@pytest.mark.parametrize("normalize", [True, False])
def test_attention_is_the_mean_over_heads_and_the_layers_that_aggregate_an_edge(normalize):
    """Layer l aggregates edges into nodes within L - l hops; the numbers are those of the network on the whole graph."""
    model, graph = network("gat", num_layers=3, normalize=normalize), random_graph(20, 30)
    with torch.no_grad():
        layers = [paid.mean(1) for paid in model.layer_attention(graph.x, graph.edge_index)]  # 3 of (E,)
    for node in (0, 4, 11):
        found = explain(model, graph, Node(node), method="attention")
        hop = dict(zip(found.nodes.tolist(), found.hop.tolist(), strict=True))
        for e, head, weight in zip(found.edge_ids, found.edge_index[1], found.edge_weight, strict=True):
            paid_there = layers[: 3 - hop[int(head)]]
            assert weight == pytest.approx(np.mean([paid[e].item() for paid in paid_there]), abs=1e-6)


def test_attention_over_a_whole_graph_is_the_mean_over_all_layers():
    model, graphs = network("gat", "graph"), random_set()
    with torch.no_grad():
        layers = model.layer_attention(graphs[2].x, graphs[2].edge_index)
    found = explain(model, graphs, WholeGraph(2), method="attention")
    np.testing.assert_allclose(found.edge_weight, torch.stack(layers).mean((0, 2)), atol=1e-6)


def test_attention_on_paper():
    """All nodes alike: a node with two neighbours gives a third to each and keeps one."""
    graph = Graph(torch.ones(4, 5), undirected([(0, 1), (0, 2), (2, 3)]))
    found = explain(network("gat"), graph, Node(0), method="attention")
    weight = dict(zip(map(tuple, found.edge_index.T.tolist()), found.edge_weight, strict=True))
    assert weight == pytest.approx({(1, 0): 1 / 3, (2, 0): 1 / 3, (0, 1): 1 / 2, (0, 2): 1 / 3, (3, 2): 1 / 3})


# The trivial ones


def test_proximity_is_one_over_the_hop():
    graph = Graph(torch.ones(5, 5), undirected([(0, 1), (1, 2), (2, 3), (3, 4)]))
    found = explain(network(num_layers=3), graph, Node(0), method="proximity")
    weight = dict(zip(map(tuple, found.edge_index.T.tolist()), found.edge_weight, strict=True))
    near, middle, far = 1.0, 1 / 2, 1 / 3
    assert weight == pytest.approx({(1, 0): near, (0, 1): middle, (2, 1): middle, (1, 2): far, (3, 2): far})


def test_chance_depends_on_its_seed_and_not_on_the_model():
    graph = random_graph()
    one, same, other = (
        explain(network(seed=model), graph, Node(3), ExplainConfig(seed=seed), "random")
        for model, seed in ((0, 1), (7, 1), (0, 2))
    )
    assert np.array_equal(one.edge_weight, same.edge_weight)
    assert np.array_equal(one.feature_weight, same.feature_weight)
    assert (one.edge_weight != other.edge_weight).all()
    assert ((one.edge_weight > 0) & (one.edge_weight < 1)).all()
    assert len(np.unique(one.edge_weight)) == len(one.edge_weight)


def test_several_seeds_of_chance_are_the_mean_of_each():
    graph, settings = random_graph(), ExplainConfig(seed=1, seeds=3)
    found = explain(network(), graph, Node(3), settings, "random")
    alone = [explain(network(), graph, Node(3), ExplainConfig(seed=seed), "random") for seed in (1, 2, 3)]
    np.testing.assert_allclose(found.seed_weights, [one.edge_weight for one in alone], atol=1e-6)
    np.testing.assert_allclose(found.feature_weight, np.mean([one.feature_weight for one in alone], 0), atol=1e-6)


@pytest.mark.parametrize("method", ["gradient", "occlusion", "integrated_gradients", "gnnexplainer", "verified"])
def test_every_method_that_asks_the_model_finds_the_edge_that_carries_the_prediction(method):
    """Node 0 receives 5 along one edge and nothing along three others."""
    x = torch.zeros(50, 1)
    x[1] = 5.0
    graph = Graph(x, undirected([(0, leaf) for leaf in range(1, 5)]))
    found = explain(counting_network(1), graph, Node(0), ExplainConfig(k_m=2, size=0.05, feat_size=0.0), method)
    assert found.subgraph().edges == ((0, 1),)


def test_a_class_is_asked_about_in_every_method():
    spec = ModelSpec("gcn", "node", in_features=5, num_classes=3, hidden=8, num_layers=2)
    torch.manual_seed(0)
    model, graph = GNN(spec), random_graph()
    for method in ("gradient", "occlusion", "integrated_gradients"):
        found = [explain(model, graph, Node(3), method=method, target_class=c) for c in range(3)]
        assert [one.explained_class for one in found] == [0, 1, 2]
        assert not np.allclose(found[0].edge_weight, found[1].edge_weight)
