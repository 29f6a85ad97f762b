"""What the model says of hard parts, against slow ways of asking it: masks in the whole graph, and parts as graphs."""

import networkx as nx
import numpy as np
import pytest
import torch
from small_networks import case, network, random_graph, sharp

from explainer_core.api import explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation import cutting, judging
from explainer_core.explanation.judging import Judge, edge_rows
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.targets import Link, Node, WholeGraph

QUICK = ExplainConfig()
KINDS = {
    "gcn": ("gcn", {}),
    "gcn that sums": ("gcn", {"normalize": False}),
    "sage": ("sage", {}),
    "sage that sums": ("sage", {"normalize": False}),
    "gin": ("gin", {}),
    "gat": ("gat", {}),
    "gat with a sigmoid": ("gat", {"normalize": False}),
    "gated": ("gated", {}),
    "rgcn": ("rgcn", {}),
}


def framed(model, data, targets):
    """Explanations whose weights do not matter: only their computation graphs are looked at."""
    return explain_many(model, data, targets, QUICK, "proximity")


def random_rows(explanation, seed, count=7):
    """Nothing, everything, and random parts that need not hang together."""
    chance = np.random.default_rng(seed)
    rows = chance.random((count, len(explanation.pairs))) < np.linspace(0.1, 0.9, count)[:, None]
    return np.concatenate([rows, np.zeros_like(rows[:1]), np.ones_like(rows[:1])])


@torch.no_grad()
def slow_masked(model, graph, explanation, row):
    """The whole graph with a weight of one on the edges of a part and zero on all others; a link's own edge is gone."""
    inside = {tuple(pair) for pair in explanation.pairs[row].tolist()}
    target, ends = explanation.target, graph.edge_index.t().tolist()
    weight = torch.tensor([float(tuple(sorted(pair)) in inside) for pair in ends])
    if isinstance(target, Node):
        return model(graph.x, graph.edge_index, weight, edge_type=graph.edge_types)[target.node].softmax(-1)
    shown = torch.tensor([set(pair) != {target.source, target.head} for pair in ends])
    types = None if graph.edge_types is None else graph.edge_types[shown]
    links = torch.tensor([[target.source], [target.head]])
    return model(graph.x, graph.edge_index[:, shown], weight[shown], edge_type=types, links=links)[0].softmax(-1)


@torch.no_grad()
def slow_own_graph(model, graph, explanation, row, *, without=False):
    """The part built by networkx as a graph of its own; taken away, nodes that lose all their edges go with it."""
    inside = {tuple(pair) for pair in explanation.pairs[row].tolist()}
    types = [0] * graph.num_edges if graph.edge_types is None else graph.edge_types.tolist()
    whole = nx.MultiDiGraph()
    whole.add_nodes_from(range(graph.num_nodes))
    for (a, b), kind in zip(graph.edge_index.t().tolist(), types, strict=True):
        whole.add_edge(a, b, kind=kind)
    kept = [(a, b, kind) for a, b, kind in whole.edges(data="kind") if (tuple(sorted((a, b))) in inside) != without]
    nodes = {end for a, b, _ in kept for end in (a, b)}
    if without:
        nodes |= {node for node, degree in whole.degree if degree == 0}
    nodes = sorted(nodes)
    number = {node: i for i, node in enumerate(nodes)}
    ends = torch.tensor([(number[a], number[b]) for a, b, _ in kept], dtype=torch.int64).reshape(-1, 2).t()
    kinds = None if graph.edge_types is None else torch.tensor([kind for *_, kind in kept], dtype=torch.int64)
    part = torch.zeros(len(nodes), dtype=torch.int64)
    return model(graph.x[nodes], ends, edge_type=kinds, graph_of=part, num_graphs=1)[0].softmax(-1)


def check(model, data, targets, slow_alone, slow_without):
    explanations = framed(model, data, targets)
    judge = Judge(model, data, explanations)
    asked = [(i, random_rows(e, i)) for i, e in enumerate(explanations)]
    alone, without = judge.alone(asked), judge.without(asked)
    for (i, rows), of_alone, of_without in zip(asked, alone, without, strict=True):
        assert of_alone.shape == of_without.shape == (len(rows), model.spec.num_classes)
        for row, a, w in zip(rows, of_alone, of_without, strict=True):
            np.testing.assert_allclose(a, slow_alone(explanations[i], row), atol=1e-5)
            np.testing.assert_allclose(w, slow_without(explanations[i], row), atol=1e-5)


DEEP = {
    "what every layer says": {"jump": "cat"},
    "the most any layer says": {"jump": "max"},
    "of length one": {"jump": "cat", "unit_length": True},
    "normed": {"batch_norm": True},
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("kind", ["gcn", "sage", "gin", "gated", "gat"])
@pytest.mark.parametrize("task", ["node", "link"])
def test_parts_around_a_target_of_a_deep_network_are_masks_in_the_whole_graph(shape, kind, task):
    """Sparse enough for some of the nodes to be too far from the target to be felt in time."""
    classes = {"num_classes": 2} if task == "link" else {}
    model = sharp(network(kind, task, num_layers=4, **DEEP[shape], **classes))
    for i, norm in enumerate(model.norms):
        chance = torch.Generator().manual_seed(i)
        norm.running_mean.copy_(torch.rand(8, generator=chance))
        norm.running_var.copy_(0.5 + torch.rand(8, generator=chance))
    graph = random_graph(40, 45, directed=kind == "gin")
    pairs = graph.edge_index.t().tolist()
    targets = [Node(n) for n in (4, 0, 11)] if task == "node" else [Link(*pairs[0]), Link(*pairs[7]), Link(18, 2)]
    check(
        model,
        graph,
        targets,
        lambda e, row: slow_masked(model, graph, e, row),
        lambda e, row: slow_masked(model, graph, e, ~row),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_parts_around_a_target_are_masks_in_the_whole_graph(kind, task, directed):
    name, settings = KINDS[kind]
    model = sharp(network(name, task, **settings, **({"num_classes": 2} if task == "link" else {})))
    graph = random_graph(20, 45, directed=directed, typed=True)
    pairs = graph.edge_index.t().tolist()
    targets = [Node(n) for n in (4, 0, 11)] if task == "node" else [Link(*pairs[0]), Link(*pairs[7]), Link(18, 2)]
    check(
        model,
        graph,
        targets,
        lambda e, row: slow_masked(model, graph, e, row),
        lambda e, row: slow_masked(model, graph, e, ~row),
    )


def graphs_with_loners(*, directed=False, typed=False):
    """The second has two nodes that no edge touches, the last has no edges at all."""
    some = [random_graph(8 + i, 9, directed=directed, typed=typed, seed=i) for i in range(2)]
    names = {"edge_type_names": some[0].edge_type_names} if typed else {}
    ends = some[1].edge_index
    types = {"edge_types": some[1].edge_types} if typed else {}
    loners = Graph(torch.cat([some[1].x, some[0].x[:2]]), ends, **types, **names)
    none = {"edge_types": torch.empty(0, dtype=torch.int64)} if typed else {}
    return GraphSet.from_graphs(
        [some[0], loners, Graph(some[0].x, torch.empty(2, 0, dtype=torch.int64), **none, **names)]
    )


@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_parts_of_a_whole_graph_are_graphs_of_their_own(kind, directed, readout):
    name, settings = KINDS[kind]
    model = sharp(network(name, "graph", readout=readout, **settings))
    data = graphs_with_loners(directed=directed, typed=True)
    check(
        model,
        data,
        [WholeGraph(i) for i in (1, 0)],
        lambda e, row: slow_own_graph(model, data[e.target.index], e, row),
        lambda e, row: slow_own_graph(model, data[e.target.index], e, row, without=True),
    )


def test_a_graph_without_edges_has_no_part_but_nothing():
    model, data = network("gcn", "graph"), graphs_with_loners()
    (found,) = framed(model, data, [WholeGraph(2)])
    judge, none = Judge(model, data, [found]), np.zeros((1, 0), dtype=bool)
    nothing = slow_own_graph(model, data[2], found, none[0])
    np.testing.assert_allclose(judge.alone([(0, none)])[0][0], nothing, atol=1e-6)
    np.testing.assert_allclose(judge.without([(0, none)])[0][0], found.probabilities, atol=1e-6)


def test_without_a_part_go_its_edges_and_the_nodes_that_lose_them_all_but_not_those_that_had_none():
    """The readout sums ones, so that it counts nodes: a star of three leaves and a node by itself."""
    graph = Graph(torch.ones(5, 1), undirected([(0, 1), (0, 2), (0, 3)]))
    model = network("gcn", "graph", in_features=1, num_classes=2, hidden=1, num_layers=1, readout="sum")
    for weight, value in ((model.layers[0].linear.weight, 0.0), (model.layers[0].bias, 1.0)):
        weight.fill_(value)
    model.head[0].weight.fill_(1.0)
    model.head[0].bias.fill_(0.0)
    model.head[2].weight.copy_(torch.tensor([[0.0], [0.1]]))
    model.head[2].bias.fill_(0.0)
    (found,) = framed(model, graph, [WholeGraph()])
    judge, rows = Judge(model, graph, [found]), edge_rows(found, [[], [(0, 1)], [(0, 1), (0, 2)], found.pairs.tolist()])

    def nodes(answer):
        return np.log(answer[:, 1] / answer[:, 0]) / 0.1

    np.testing.assert_allclose(nodes(judge.alone([(0, rows)])[0]), [0, 2, 3, 4], atol=1e-4)
    np.testing.assert_allclose(nodes(judge.without([(0, rows)])[0]), [5, 4, 3, 1], atol=1e-4)


@pytest.mark.parametrize("at_once", [1, 30, 200])
@pytest.mark.parametrize("kind", ["gcn", "gat", "rgcn"])
@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_pieces_give_the_numbers_of_the_whole(task, kind, at_once, monkeypatch):
    model, data, targets = case(task, kind, typed=True)
    explanations = framed(model, data, targets)
    asked = [(i, random_rows(e, i)) for i, e in enumerate(explanations)]
    judge = Judge(model, data, explanations)
    whole = judge.alone(asked), judge.without(asked)
    monkeypatch.setattr(cutting, "BATCH_EDGES", at_once)
    for one, other in zip(whole, (judge.alone(asked), judge.without(asked)), strict=True):
        for some, same in zip(one, other, strict=True):
            np.testing.assert_allclose(some, same, atol=1e-6)


def test_one_may_be_asked_twice_and_another_not_at_all():
    model, data, targets = case("node")
    explanations = framed(model, data, targets)
    judge = Judge(model, data, explanations)
    rows = [random_rows(e, i) for i, e in enumerate(explanations)]
    none = np.zeros((0, rows[1].shape[1]), dtype=bool)
    found = judge.alone([(2, rows[2]), (0, rows[0]), (1, none), (2, rows[2][:3])])
    assert [len(answers) for answers in found] == [len(rows[2]), len(rows[0]), 0, 3]
    np.testing.assert_allclose(found[0][:3], found[3], atol=1e-6)


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat", "rgcn"])
@pytest.mark.parametrize("task", ["node", "link"])
def test_a_sampled_neighbourhood_is_judged_as_it_was_sampled(task, kind):
    """The two ends of a link have samples of their own: an edge may be in the one and not in the other."""
    model = sharp(network(kind, task, **({"num_classes": 2} if task == "link" else {})))
    graph = random_graph(20, 60, typed=True)
    links = [Link(*pair) for pair in graph.edge_index.t()[:20:4].tolist()]
    for max_edges in (6, 10, 20):
        settings = ExplainConfig(max_edges=max_edges)
        targets = [Node(n) for n in range(6)] if task == "node" else links
        found = explain_many(model, graph, targets, settings, "proximity")
        assert any(one.sampled for one in found)
        judge, everything = (
            Judge(model, graph, found),
            [(i, np.ones((1, len(e.pairs)), dtype=bool)) for i, e in enumerate(found)],
        )
        nothing = [(i, ~rows) for i, rows in everything]
        for one, alone, without in zip(found, judge.alone(everything), judge.without(nothing), strict=True):
            np.testing.assert_allclose(alone[0], one.probabilities, atol=1e-5)
            np.testing.assert_allclose(without[0], one.probabilities, atol=1e-5)


def test_edges_as_rows():
    graph = Graph(torch.ones(4, 5), undirected([(0, 1), (1, 2), (2, 3)]))
    (found,) = framed(network(num_layers=3), graph, [Node(0)])
    assert found.pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert edge_rows(found, [(), [(1, 2)], [(2, 3), (0, 1)]]).tolist() == [
        [False, False, False],
        [False, True, False],
        [True, False, True],
    ]


def test_what_is_sure_is_not_rounded_to_one():
    """Differences of a class that is nearly sure are what necessity is made of; float32 ends at 1 - 6e-8."""
    chances = judging._probabilities(torch.tensor([[0.0, 20.0], [0.0, 25.0]]))[:, 1]
    np.testing.assert_allclose(1 - chances, np.exp([-20.0, -25.0]), rtol=1e-4)
