"""Any network of PyTorch Geometric: a mask of ones is the network, a planted edge wins, and a batch is one by one."""

import inspect

import numpy as np
import pytest
import torch
from pyg_networks import ATTRIBUTES, CLASSES, FEATURES, GRAPH_NETWORKS, LAYERS, RELATIONS, made
from torch_geometric.data import Batch

import explainer_core as xc
from explainer_core.adapters.adapted import AdaptedPath
from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import prediction_batch, whole_graph_batch

CPU = torch.device("cpu")
QUICK = xc.ExplainConfig(steps=10, k_m=4)
HOPS = {
    **dict.fromkeys(LAYERS, 2),
    **{"ChebConv": 4, "TAGConv": 5, "ARMAConv": 3, "APPNP": 3, "position-aware": None},
}


def node_graph(num_nodes=24, seed=0):
    """A ring with chords, so that there is something beyond every hop."""
    generator = torch.Generator().manual_seed(seed)
    ring = torch.arange(num_nodes)
    chords = torch.randint(num_nodes, (2, 6), generator=generator)
    pairs = torch.cat([torch.stack([ring, (ring + 1) % num_nodes]), chords[:, chords[0] != chords[1]]], 1)
    edges = torch.cat([pairs, pairs.flip(0)], 1).unique(dim=1)
    return with_extras(torch.randn(num_nodes, FEATURES, generator=generator), edges, generator)


def with_extras(x, edges, generator):
    types = torch.randint(RELATIONS, (edges.shape[1],), generator=generator)
    return xc.Graph(
        x,
        edges,
        edge_types=types,
        edge_type_names=("a", "b"),
        edge_data={"edge_attr": 0.3 * torch.randn(edges.shape[1], ATTRIBUTES, generator=generator)},
    )


def stars(count=30, seed=1):
    """Stars beside each other; half of them have one leaf that is marked, their third. Classes are those of the centres."""
    generator = torch.Generator().manual_seed(seed)
    edges, rows, centres = [], [], []
    for number in range(count):
        first, leaves = sum(map(len, rows)), 4 + number % 3
        x = 0.2 * torch.randn(leaves + 1, FEATURES, generator=generator)
        x[3, 0] = 3.0 if number % 2 else x[3, 0]
        ends = torch.stack([torch.arange(1, leaves + 1), torch.zeros(leaves, dtype=torch.int64)]) + first
        edges.append(torch.cat([ends, ends.flip(0)], 1))
        rows.append(x)
        centres.append(first)
    graph = with_extras(torch.cat(rows), torch.cat(edges, 1), generator)
    return graph, torch.tensor(centres), torch.arange(count) % 2


def taught(network, graph, centres, classes):
    """The network after it has learnt which stars have a marked leaf."""
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(60):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(by_hand(network, graph)[centres], classes).backward()
        optimiser.step()
    return network


def by_hand(network, graph):
    """The network's own logits for every node, called as its author would."""
    data = graph.to_pyg()
    names = list(inspect.signature(network.eval().forward).parameters)
    if names == ["data"]:
        return network(data)
    return network(
        data.x, data.edge_index, **{name: data[name] for name in names if name in ("edge_type", "edge_attr")}
    )


@pytest.mark.parametrize("name", LAYERS)
def test_a_mask_of_ones_is_the_network(name):
    network, graph = made(name), node_graph()
    expected = by_hand(network, graph).detach()
    model = xc.adapt(network, graph)
    assert (model.task, model.num_classes) == ("node", CLASSES)
    whole = AdaptedPath(model, whole_graph_batch(graph, CPU)).logits(torch.ones(graph.num_edges))
    torch.testing.assert_close(whole, expected, atol=1e-5, rtol=0)
    nodes = [0, 5, 11, 23]
    cut = computation_of(graph, [xc.Node(node) for node in nodes], model.hops, max_edges=10_000)
    found = model.logits(prediction_batch(cut, "node"), torch.ones(cut.num_edges))
    torch.testing.assert_close(found, expected[nodes], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", LAYERS)
def test_how_far_it_looks_is_measured(name):
    assert xc.adapt(made(name), node_graph(40)).hops == HOPS[name]


@pytest.mark.parametrize("name", LAYERS)
def test_a_planted_edge_wins(name):
    graph, centres, classes = stars()
    network = taught(made(name), graph, centres, classes)
    assert (by_hand(network, graph)[centres].argmax(-1) == classes).float().mean() > 0.9
    marked = [int(node) for node in centres[classes == 1][:3]]
    for method in ("occlusion", "gnnexplainer"):
        found = xc.explain_many(network, graph, [xc.Node(node) for node in marked], xc.ExplainConfig(), method)
        for node, one in zip(marked, found, strict=True):
            assert one.predicted_class == 1
            pairs, scores = one.undirected()
            assert tuple(pairs[scores.argmax()]) == (node, node + 3), method


@pytest.mark.parametrize("name", LAYERS)
def test_a_batch_is_one_by_one(name):
    network, graph = made(name), node_graph()
    targets = [xc.Node(node) for node in (3, 9, 16)]
    for method in ("gnnexplainer", "occlusion"):
        together = xc.explain_many(network, graph, targets, QUICK, method)
        for target, one in zip(targets, together, strict=True):
            alone = xc.explain(network, graph, target, QUICK, method)
            np.testing.assert_allclose(one.edge_weight, alone.edge_weight, atol=1e-4)
            np.testing.assert_allclose(one.probabilities, alone.probabilities, atol=1e-5)
            assert one.subgraph().edges == alone.subgraph().edges


# Whole graphs


def graph_set(count=5):
    graphs = [node_graph(7 + i, seed=i) for i in range(count)]
    return xc.GraphSet.from_graphs(graphs)


@pytest.mark.parametrize("name", GRAPH_NETWORKS)
def test_graphs_are_judged_as_the_network_does_and_one_by_one(name):
    network, graphs = made(name).eval(), graph_set()
    model = xc.adapt(network, graphs)
    with torch.no_grad():
        if name == "one graph only":
            expected = torch.cat([network(g.x, g.edge_index) for g in graphs])
        else:
            batch = Batch.from_data_list(graphs.to_pyg())
            expected = network(batch.x, batch.edge_index, batch.batch)
    targets = [xc.WholeGraph(i) for i in range(len(graphs))]
    many = prediction_batch(computation_of(graphs, targets, None, max_edges=10_000), "graph")
    found = model.logits(many, torch.ones(many.edge_index.shape[1]))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    for method in ("verified", "gnnexplainer"):
        together = xc.explain_many(network, graphs, targets[:3], QUICK, method)
        for target, one in zip(targets[:3], together, strict=True):
            alone = xc.explain(network, graphs, target, QUICK, method)
            np.testing.assert_allclose(one.edge_weight, alone.edge_weight, atol=1e-4)
            assert one.subgraph().edges == alone.subgraph().edges


@pytest.mark.parametrize("name", GRAPH_NETWORKS)
def test_a_planted_edge_of_a_graph_wins(name):
    """Two nodes that say something, joined by one edge, among others that say little."""
    network = made(name).eval()
    x = torch.full((7, FEATURES), 0.05)
    x[2], x[3] = 2.0, 2.0
    pairs = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]])
    graph = xc.Graph(x, torch.cat([pairs, pairs.flip(0)], 1))
    batch = torch.zeros(7, dtype=torch.int64)
    model = xc.adapt(network, graph, "graph")

    def log_share(edges):
        with torch.no_grad():
            given = (x, edges) if name == "one graph only" else (x, edges, batch)
            return network(*given).log_softmax(-1)[0]

    cut = (graph.edge_index.sort(0).values == torch.tensor([[2], [3]])).all(0)
    label = int((log_share(graph.edge_index) - log_share(graph.edge_index[:, ~cut])).argmax())
    found = xc.explain(model, graph, xc.WholeGraph(), xc.ExplainConfig(), "occlusion", target_class=label)
    pairs, scores = found.undirected()
    assert tuple(pairs[scores.argmax()]) == (2, 3)
