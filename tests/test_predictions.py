"""Predictions of everything at once: the same numbers as one by one."""

import numpy as np
import pytest
import torch
from pyg_examples import planetoid, trained_gcn
from small_networks import case, network, random_graph, random_set, state_of

import explainer_core as xc
import explainer_core.predictions as module
from explainer_core.api import explain
from explainer_core.datasets.registry import load_dataset
from explainer_core.graph import Graph, undirected
from explainer_core.predictions import link_pairs, predictions
from explainer_core.targets import Link, Node, WholeGraph
from explainer_core.zoo.pretrained import find_card, load_pretrained

KINDS = ("gcn", "sage", "gin", "gat", "gated", "rgcn")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["node", "graph"])
def test_all_at_once_is_what_explain_says_of_each(task, kind):
    model, data, targets = case(task, kind, typed=kind == "rgcn")
    found = predictions(model, data)
    for target in targets:
        row = target.node if task == "node" else target.index
        explained = explain(model, data, target, method="random")
        assert np.allclose(found.probabilities[row], explained.probabilities, atol=1e-5)
        assert found.predicted[row] == explained.predicted_class


def test_nodes_are_what_the_model_itself_says():
    model, graph = network(), random_graph()
    logits = model(graph.x, graph.edge_index)
    found = predictions(model, graph)
    assert np.allclose(found.probabilities, logits.softmax(-1).numpy(), atol=1e-6)
    assert np.allclose(found.embedding, model.embed(graph.x, graph.edge_index).numpy(), atol=1e-6)
    assert np.allclose(found.confidence, found.probabilities.max(1))


def test_a_trained_network_is_as_good_as_its_card_says():
    graph, card = load_dataset("ba_shapes"), find_card("ba_shapes")
    found = predictions(load_pretrained("ba_shapes"), graph)
    accuracies = (card.train_accuracy, card.val_accuracy, card.test_accuracy)
    assert min(accuracies) - 0.01 <= found.right.mean() <= max(accuracies) + 0.01
    for node in (3, 400, 699):
        explained = explain(load_pretrained("ba_shapes"), graph, Node(node), method="random")
        assert np.allclose(found.probabilities[node], explained.probabilities, atol=1e-5)


@pytest.mark.parametrize("budget", [1, 20, 10_000])
def test_batches_change_nothing(monkeypatch, budget):
    model, graphs = network(task="graph"), random_set(7)
    whole = graphs.batch(range(7))
    logits = model(whole.x, whole.edge_index, graph_of=whole.graph_of, num_graphs=7)
    monkeypatch.setattr(module, "BATCH_EDGES", budget)
    found = predictions(model, graphs)
    assert np.allclose(found.probabilities, logits.softmax(-1).numpy(), atol=1e-6)
    assert found.embedding.shape == (7, model.embedding_size)


def test_right_and_wrong():
    model = network()
    blank = predictions(model, random_graph())
    assert blank.truth is None
    assert blank.right is None
    labels = torch.from_numpy(blank.predicted.copy())
    labels[3] = (labels[3] + 1) % 3
    found = predictions(model, random_graph(labels=labels, class_names=("a", "b", "c")))
    assert found.right.tolist() == [node != 3 for node in range(30)]


def test_a_single_graph_is_one_row():
    model, graphs = network(task="graph"), random_set()
    alone = predictions(model, graphs[2])
    assert np.allclose(alone.probabilities, predictions(model, graphs).probabilities[2:3], atol=1e-6)


def test_a_link_model_says_nothing_of_a_single_node():
    model, graph, _ = case("link")
    found = predictions(model, graph)
    assert found.probabilities.shape == (20, 0)
    assert found.embedding.shape == (20, model.embedding_size)
    assert found.truth is None
    assert np.isnan(found.confidence).all()


def test_a_node_without_edges_and_a_graph_without_edges_are_judged():
    graph = Graph(torch.ones(3, 5), undirected([(0, 1)]))
    assert predictions(network(), graph).probabilities.shape == (3, 3)
    bare = Graph(torch.ones(1, 5), torch.empty(2, 0, dtype=torch.int64))
    assert predictions(network(), bare).probabilities.sum() == pytest.approx(1)
    assert predictions(network(task="graph"), bare).probabilities.sum() == pytest.approx(1)


def test_the_model_is_left_as_it_was():
    model = network(dropout=0.5).train().requires_grad_(True)
    before = state_of(model)
    first, second = (predictions(model, random_graph()).probabilities for _ in range(2))
    assert np.array_equal(first, second)
    assert state_of(model) == before


def test_wrong_data_is_an_error():
    with pytest.raises(ValueError, match="pass graphs"):
        predictions(network(), random_set())
    with pytest.raises(ValueError, match=r"reads 5 features a node \(got data with 2\)"):
        predictions(network(), Graph(torch.ones(3, 2), undirected([(0, 1)])))


# Links


@pytest.mark.parametrize("kind", ["gcn", "gat", "sage"])
def test_links_are_judged_as_explain_judges_them(kind):
    model, graph, _ = case("link", kind)
    scores = link_pairs(model, graph)
    assert len(scores) == 20 * 19 // 2
    assert sum(score.exists for score in scores) == 30
    chosen = [score for score in scores if score.exists][:6] + [score for score in scores if not score.exists][::30]
    for score in chosen:
        explained = explain(model, graph, Link(score.source, score.head), method="random")
        assert score.probability == pytest.approx(explained.probabilities[1], abs=1e-4)


def test_a_small_graph_over_the_limit_keeps_its_links_and_the_most_probable_others():
    model, graph, _ = case("link")
    everything = link_pairs(model, graph)
    some = link_pairs(model, graph, limit=80)
    assert len(some) == 80
    assert set(some) <= set(everything)
    assert sum(score.exists for score in some) == 30
    missing = sorted((score for score in everything if not score.exists), key=lambda score: -score.probability)
    assert set(missing[:25]) <= set(some)
    assert some == link_pairs(model, graph, limit=80)
    assert some != link_pairs(model, graph, limit=80, seed=1)


def test_a_large_graph_is_sampled_half_and_half(monkeypatch):
    monkeypatch.setattr(module, "ALL_PAIRS", 10)
    graph, model = random_graph(40, 60), network("gcn", "link", num_classes=2)
    joined = {tuple(sorted(pair)) for pair in graph.edge_index.t().tolist()}
    scores = link_pairs(model, graph, limit=30)
    pairs = [(score.source, score.head) for score in scores]
    assert sum(score.exists for score in scores) == 15
    assert len(set(pairs)) == len(pairs) == 30
    assert all(score.exists == (pair in joined) for score, pair in zip(scores, pairs, strict=True))
    assert all(a < b for a, b in pairs)


def test_a_graph_without_links_and_a_single_node():
    model = network("gcn", "link", num_classes=2)
    bare = Graph(torch.ones(3, 5), torch.empty(2, 0, dtype=torch.int64))
    assert [(score.source, score.head, score.exists) for score in link_pairs(model, bare)] == [
        (0, 1, False),
        (0, 2, False),
        (1, 2, False),
    ]
    assert link_pairs(model, Graph(torch.ones(1, 5), torch.empty(2, 0, dtype=torch.int64))) == []


def test_only_link_models_judge_links():
    with pytest.raises(ValueError, match="judged by a link model"):
        link_pairs(network(), random_graph())
    with pytest.raises(ValueError, match=r"limit must be at least 2 \(got 1\)"):
        link_pairs(*case("link")[:2], limit=1)


def test_targets_of_the_tasks_are_numbered_like_the_rows():
    model, graphs, _ = case("graph")
    assert len(predictions(model, graphs).predicted) == len(graphs)
    assert (
        explain(model, graphs, WholeGraph(1), method="random").predicted_class
        == predictions(model, graphs).predicted[1]
    )
    node_model, graph, _ = case("node")
    assert (
        explain(node_model, graph, Node(5), method="random").predicted_class
        == predictions(node_model, graph).predicted[5]
    )


def test_predict_gives_what_explain_gives_of_any_network():
    data = planetoid(60)
    graph, model, targets = xc.Graph.from_pyg(data), trained_gcn(data, 5), [xc.Node(3), xc.Node(59)]
    found = xc.predict(model, graph, targets)
    assert [each.target for each in found] == targets
    for each in found:
        why = xc.explain(model, graph, each.target, xc.ExplainConfig(steps=1))
        assert each.predicted_class == why.predicted_class
        np.testing.assert_allclose(each.probabilities, why.probabilities, atol=1e-6)
    assert xc.predict(model, graph, []) == []
