"""Features weighed on the kept subgraph: on networks whose answer is known, and against hiding them by hand."""

import numpy as np
import pytest
import torch
from small_networks import FEATURES, case, network, random_graph, sharp

from explainer_core.api import explain, explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation import features
from explainer_core.explanation.metrics import explained_class
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import GNN, ModelSpec
from explainer_core.targets import Node, WholeGraph

METHODS = ("verified", "gnnexplainer")


def weighing_network(weights, bias=0.0):
    """Class 1 by the sum over a node and its neighbours of the features, so weighed, less the bias."""
    spec = ModelSpec("gcn", "node", len(weights), 2, hidden=2, num_layers=1, normalize=False)
    model = GNN(spec).eval().requires_grad_(False)
    row = torch.tensor(weights)
    model.layers[0].linear.weight.copy_(torch.stack([row, -row]))  # both signs survive the ReLU, one in each unit
    model.head.weight.copy_(torch.tensor([[0.0, 0.0], [1.0, -1.0]]))
    model.head.bias.copy_(torch.tensor([bias, 0.0]))
    return model


def star_of_words(planted):
    """Node 0 and four neighbours among thirty nodes; every value is 0 or 1 by chance, but for what is planted."""
    x = torch.randint(2, (30, 6), generator=torch.Generator().manual_seed(0)).float()
    for feature, value in planted.items():
        x[:5, feature] = value
    return Graph(x, undirected([(0, leaf) for leaf in range(1, 5)] + [(a, a + 1) for a in range(5, 29)]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("j", [0, 3, 5])
def test_the_feature_that_the_class_needs_ranks_first(method, j):
    weights = [0.0] * 6
    weights[j] = 2.0
    graph = star_of_words({j: 1.0})
    found = explain(weighing_network(weights, bias=4.0), graph, Node(0), ExplainConfig(k_m=4), method)
    assert found.predicted_class == 1
    assert found.top_features(1) == (j,)
    assert not found.feature_absent[j]
    others = np.delete(found.feature_weight, j)
    assert found.feature_weight[j] > 0.01 > others.max()


@pytest.mark.parametrize("method", METHODS)
def test_a_feature_that_matters_by_being_absent_is_found_and_marked(method):
    """Feature 2 speaks against class 1, half of all nodes have it, and around the target nobody does."""
    graph = star_of_words({2: 0.0, 4: 1.0})
    model = weighing_network([0.0, 0.0, -2.0, 0.0, 0.5, 0.0], bias=1.0)
    found = explain(model, graph, Node(0), ExplainConfig(k_m=5), method)
    assert found.predicted_class == 1
    assert found.top_features(2) == (2, 4)
    assert found.feature_absent[2]
    assert not found.feature_absent[4]


@pytest.mark.parametrize("method", METHODS)
def test_absent_is_what_is_zero_in_all_kept_nodes(method):
    model, graph = network(), random_graph(20, 30)
    x = (graph.x > 0.5).float()
    graph = Graph(x, graph.edge_index)
    for found in explain_many(model, graph, [Node(n) for n in range(6)], ExplainConfig(steps=5, k_m=3), method):
        kept = list(found.subgraph().nodes)
        assert found.feature_absent.tolist() == [not x[kept, f].any() for f in range(FEATURES)]


@pytest.mark.parametrize("method", METHODS)
def test_no_features_are_weighed_where_none_are_asked_for(method):
    model, data, targets = case("node")
    found = explain(model, data, targets[0], ExplainConfig(steps=5, features="none"), method)
    assert found.feature_weight is found.feature_mask is found.feature_absent is None
    assert found.top_features() == ()


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_joint_features_are_the_learnt_mask(task):
    model, data, targets = case(task)
    settings = ExplainConfig(steps=5, features="joint")
    masked, verified = (explain(model, data, targets[0], settings, method) for method in ("gnnexplainer", "verified"))
    np.testing.assert_array_equal(masked.feature_weight, verified.feature_weight)
    assert ((masked.feature_weight > 0) & (masked.feature_weight < 1)).all()
    assert masked.feature_mask is masked.feature_absent is None


@torch.no_grad()
def slow_probability(model, data, explanation, hidden):
    """The explained class on G_S with some features at their mean over all nodes, asked of the model as it is."""
    graph = data[explanation.target.index] if isinstance(data, GraphSet) else data
    kept = set(explanation.subgraph().edges)
    inside = torch.tensor([tuple(sorted(pair)) in kept for pair in graph.edge_index.t().tolist()], dtype=torch.bool)
    x = graph.x.clone()
    x[:, hidden] = data.x.mean(0)[hidden]
    label = explained_class(explanation)
    target = explanation.target
    if isinstance(target, Node):
        return float(model(x, graph.edge_index, inside.float())[target.node].softmax(-1)[label])
    if isinstance(target, WholeGraph):
        nodes = torch.tensor(explanation.subgraph().nodes, dtype=torch.int64)
        number = torch.full((graph.num_nodes,), -1).scatter(0, nodes, torch.arange(len(nodes)))
        of = {"graph_of": torch.zeros(len(nodes), dtype=torch.int64), "num_graphs": 1}
        return float(model(x[nodes], number[graph.edge_index[:, inside]], **of)[0].softmax(-1)[label])
    ends = torch.tensor([[target.source], [target.head]])
    own = torch.tensor([set(pair) == {target.source, target.head} for pair in graph.edge_index.t().tolist()])
    weight = inside.float()[~own]
    return float(model(x, graph.edge_index[:, ~own], weight, links=ends)[0].softmax(-1)[label])


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("method", METHODS)
def test_the_ranking_is_that_of_hiding_feature_after_feature_by_hand(task, method):
    model, data, targets = case(task)
    sharp(model)
    for found in explain_many(model, data, targets, ExplainConfig(steps=5, k_m=5, k_f=3), method):
        hidden, lost, before = [], [], slow_probability(model, data, found, [])
        for _ in range(3):
            left = [f for f in range(FEATURES) if f not in hidden]
            chances = [slow_probability(model, data, found, [*hidden, f]) for f in left]
            hidden.append(left[int(np.argmin(chances))])
            lost.append(max(0.0, before - min(chances)))
            before = min(chances)
        lost = [max(lost[i:]) for i in range(3)]
        np.testing.assert_allclose(found.feature_weight[hidden], lost, atol=1e-5)
        assert found.feature_weight.argmax() in (
            hidden[0],
            *[f for f, w in zip(hidden, lost, strict=True) if w == lost[0]],
        )
        alone = slow_probability(model, data, found, [])
        for f in set(range(FEATURES)) - set(hidden):
            by_itself = np.clip(alone - slow_probability(model, data, found, [f]), 0, lost[-1])
            assert found.feature_weight[f] == pytest.approx(by_itself, abs=1e-5)


def test_of_many_features_those_that_occur_and_those_the_mask_keeps_are_tried():
    """Seventy present, thirty absent: three quarters of the places go to the foremost present ones."""
    mask = np.linspace(1, 0, 100)
    absent = np.arange(100) % 10 >= 7
    tried = features._worth_trying(mask, absent)
    assert len(tried) == len(set(tried.tolist())) == features.TRIED
    present, missing = tried[~absent[tried]], tried[absent[tried]]
    assert present.tolist() == np.flatnonzero(~absent)[: len(present)].tolist()
    assert missing.tolist() == np.flatnonzero(absent)[: len(missing)].tolist()
    assert len(missing) == features.TRIED // 4


def test_what_is_filled_in_does_not_depend_on_the_company():
    """The learnt mask of a target is the same alone and after others."""
    model, graph = sharp(network()), random_graph(20, 30)
    targets = [Node(n) for n in (7, 4, 0)]
    settings = ExplainConfig(steps=5, k_m=4, feature_fill="marginal")
    for target, found in zip(targets, explain_many(model, graph, targets, settings), strict=True):
        (alone,) = explain_many(model, graph, [target], settings)
        np.testing.assert_allclose(found.feature_mask, alone.feature_mask, atol=1e-5)


def test_how_many_are_asked_about_together_changes_no_weight(monkeypatch):
    model, graph = sharp(network(num_layers=2)), random_graph(30, 60)
    targets = [Node(i) for i in range(6)]
    together = explain_many(model, graph, targets, ExplainConfig(steps=10))
    monkeypatch.setattr(features, "HELD", 1)
    for one, other in zip(together, explain_many(model, graph, targets, ExplainConfig(steps=10)), strict=True):
        np.testing.assert_allclose(one.feature_weight, other.feature_weight, atol=1e-6)
    assert len({len(each.subgraph().nodes) for each in together}) > 1
