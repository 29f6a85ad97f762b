"""What adapting leaves behind (nothing), what it finds out, what it refuses, and all that works on an adapted network."""

import threading
import warnings

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from pyg_networks import CLASSES, FEATURES, GRAPH_NETWORKS, HIDDEN, LAYERS, Stack, made, mlp
from small_networks import random_graph, state_of
from test_layers_of_pyg import graph_set, node_graph
from torch import nn

import explainer_core as xc
from explainer_core.api import agreement_over_starts
from explainer_core.explanation.metrics import faithfulness
from explainer_core.predictions import link_pairs, predictions

QUICK = xc.ExplainConfig(steps=5, k_m=4)


def everything_on(network):
    """Weights, flags, attributes and every kind of hook."""
    hooks = [
        [
            (name, len(value))
            for name, value in sorted(vars(part).items())
            if "hook" in name and hasattr(value, "__len__")
        ]
        for part in network.modules()
    ]
    return *state_of(network), hooks


# Nothing is left


@pytest.mark.parametrize("name", [*LAYERS, *GRAPH_NETWORKS])
def test_nothing_is_left_on_the_network(name):
    network = made(name).train()
    data, target = (graph_set(3), xc.WholeGraph(1)) if name in GRAPH_NETWORKS else (node_graph(), xc.Node(4))
    before = everything_on(network)
    xc.explain(network, data, target, QUICK)
    assert everything_on(network) == before


class Failing(nn.Module):
    """Raises after so many passes, in the middle of a layer."""

    def __init__(self, after):
        super().__init__()
        self.inner, self.counter = made("GCNConv"), [after]

    def forward(self, x, edge_index):
        h = self.inner.one(x, edge_index)
        self.counter[0] -= 1
        if self.counter[0] < 0:
            raise RuntimeError("enough")
        return self.inner.head(self.inner.two(h, edge_index))

    def __deepcopy__(self, memo):
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        nn.Module.__init__(copied)
        copied.inner, copied.counter = (
            __import__("copy").deepcopy(self.inner, memo),
            self.counter,
        )  # one counter for all
        return copied


@pytest.mark.parametrize("after", [0, 3, 40])
def test_nor_after_an_exception(after):
    network, graph = Failing(after), node_graph()
    before = everything_on(network)
    with pytest.raises((RuntimeError, ValueError), match="enough"):
        xc.explain_many(network, graph, [xc.Node(3), xc.Node(7)], QUICK)
    assert everything_on(network) == before
    network.counter[0] = 10**9
    assert xc.explain(network, graph, xc.Node(3), QUICK).verdict is not None


@pytest.mark.parametrize("name", ["GCNConv", "GATConv", "RGCNConv"])
def test_two_threads_share_a_network(name):
    network, graph = made(name), node_graph()
    model = xc.adapt(network, graph)
    before = everything_on(network)
    expected = {node: xc.explain(network, graph, xc.Node(node), QUICK, "gnnexplainer").edge_weight for node in (2, 13)}
    found, errors = {}, []

    def work(node):
        try:
            for each in (network, model, network, model):
                found.setdefault(node, []).append(
                    xc.explain(each, graph, xc.Node(node), QUICK, "gnnexplainer").edge_weight
                )
        except Exception as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(node,)) for node in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for node, weights in expected.items():
        for each in found[node]:
            np.testing.assert_allclose(each, weights, atol=1e-6)
    assert everything_on(network) == before


def test_a_network_that_is_trained_on_is_measured_anew():
    network, graph = made("GCNConv"), node_graph()
    one = xc.explain(network, graph, xc.Node(3), QUICK).probabilities
    with torch.no_grad():
        network.head.bias.add_(torch.tensor([2.0, 0.0, 0.0]))
    other = xc.explain(network, graph, xc.Node(3), QUICK).probabilities
    assert other[0] > one[0] + 0.1


def test_the_cache_of_a_layer_is_not_taken_for_another_graph():
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = pyg.GCNConv(FEATURES, HIDDEN, cached=True), pyg.GCNConv(HIDDEN, CLASSES, cached=True)

        def forward(self, x, edge_index):
            return self.two(self.one(x, edge_index).tanh(), edge_index)

    network, graph = Cached().eval(), node_graph(40)
    with torch.no_grad():
        expected = network(graph.x, graph.edge_index).softmax(-1)[6]  # fills the cache
    found = xc.explain(network, graph, xc.Node(6), QUICK)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
    assert len(found.nodes) < 40
    assert network.one._cached_edge_index is not None


# What is found out


def test_outputs_of_every_kind_give_the_same_probabilities():
    class Ending(nn.Module):
        def __init__(self, inner, end):
            super().__init__()
            self.inner, self.end = inner, end

        def forward(self, x, edge_index):
            return self.end(self.inner(x, edge_index))

    inner, graph = made("GINConv").eval(), node_graph()
    ends = {
        "logits": lambda z: z,
        "log_probs": lambda z: z.log_softmax(-1),
        "probs": lambda z: z.softmax(-1),
    }
    expected = inner(graph.x, graph.edge_index).softmax(-1).detach()
    for output, end in ends.items():
        model = xc.adapt(Ending(inner, end), graph)
        assert model.facts.output == output
        np.testing.assert_allclose(predictions(model, graph).probabilities, expected, atol=1e-5)
    binary = xc.adapt(Ending(inner, lambda z: 9 * z[:, :1]), graph)
    chance = (9 * inner(graph.x, graph.edge_index)[:, 0]).sigmoid().detach()
    assert (binary.facts.output, binary.num_classes) == ("binary", 2)
    np.testing.assert_allclose(predictions(binary, graph).probabilities[:, 1], chance, atol=1e-5)
    share = Ending(inner, lambda z: z[:, 0].sigmoid())
    with pytest.raises(ValueError, match=r"logit or a probability.*output='binary'.*output='probs'"):
        xc.adapt(share, graph)
    told = predictions(xc.adapt(share, graph, output="probs"), graph)
    np.testing.assert_allclose(
        told.probabilities[:, 1], inner(graph.x, graph.edge_index)[:, 0].sigmoid().detach(), atol=1e-5
    )


def test_a_network_in_plain_torch_takes_the_mask_as_edge_weight():
    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, CLASSES)

        def forward(self, x, edge_index, edge_weight=None):
            for layer in (self.one, self.two):
                x = layer(x)
                sent = x[edge_index[0]] if edge_weight is None else x[edge_index[0]] * edge_weight[:, None]
                x = (x + torch.zeros_like(x).index_add(0, edge_index[1], sent)).tanh()
            return x

    network, graph = Plain(), node_graph(40)
    model = xc.adapt(network, graph)
    assert (model.hops, model.facts.hooks, model.silent_is_absent) == (2, False, True)
    found = xc.explain(network, graph, xc.Node(3), QUICK)
    np.testing.assert_allclose(
        found.probabilities, network(graph.x, graph.edge_index).softmax(-1)[3].detach(), atol=1e-5
    )


def test_links_are_judged_by_a_network_that_takes_pairs():
    class Pairs(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.SAGEConv(FEATURES, HIDDEN)

        def forward(self, x, edge_index, edge_label_index):
            z = self.conv(x, edge_index)
            return 5 * (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)

    class Split(Pairs):
        def encode(self, x, edge_index):
            return self.conv(x, edge_index)

        def decode(self, z, pairs):
            return 5 * (z[pairs[0]] * z[pairs[1]]).sum(-1)

    graph = node_graph()
    torch.manual_seed(0)
    pairs, split = Pairs(), Split()
    split.load_state_dict(pairs.state_dict())
    assert xc.adapt(pairs, graph).task == "link"
    chance = pairs(graph.x, graph.edge_index, torch.tensor([[2], [11]])).sigmoid().item()
    for network in (pairs, split):
        found = xc.explain(network, graph, xc.Link(2, 11), QUICK)
        assert found.probabilities[1] == pytest.approx(chance, abs=1e-5)
        assert len(link_pairs(network, graph, limit=20)) == 20


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_attention_is_what_the_layers_say(name):
    network, graph = made(name).eval(), node_graph()
    found = xc.explain(network, graph, xc.Node(4), QUICK, "attention")
    assert (found.edge_weight > 0).any()
    if name == "GATConv":  # of the last layer it is known without us
        h = network.one(graph.x, graph.edge_index).tanh()
        _, (edges, alpha) = network.two(h, graph.edge_index, return_attention_weights=True)
        _, (_, first) = network.one(graph.x, graph.edge_index, return_attention_weights=True)
        both = ((alpha + first) / 2).mean(1)
        expected = {tuple(ends): value for ends, value in zip(edges.t().tolist(), both.tolist(), strict=True)}
        inner = [i for i, (_, target) in enumerate(found.edge_index.T.tolist()) if target == 4]
        for i in inner:
            assert found.edge_weight[i] == pytest.approx(expected[tuple(found.edge_index[:, i].tolist())], abs=1e-5)


def test_a_network_without_attention_says_so():
    with pytest.raises(ValueError, match="attention needs"):
        xc.explain(made("GCNConv"), node_graph(), xc.Node(3), QUICK, "attention")


EVERY_METHOD = [(method, name) for method in xc.METHODS for name in ("GCNConv", "GATConv", "SAGPooling")]


@pytest.mark.parametrize(("method", "name"), [m for m in EVERY_METHOD if m[0] != "attention" or m[1] == "GATConv"])
def test_every_method_works(method, name):
    network = made(name)
    data, target = (graph_set(3), xc.WholeGraph(1)) if name in GRAPH_NETWORKS else (node_graph(), xc.Node(4))
    found = xc.explain(network, data, target, QUICK, method)
    assert np.isfinite(found.edge_weight).all()
    (judged,) = faithfulness(network, data, [found])
    assert judged.kept == pytest.approx(found.verdict.alone, abs=1e-5)
    assert xc.trust(network, data, found).faithfulness.without == pytest.approx(found.verdict.without, abs=1e-5)


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GINConv", "GATConv"])
def test_a_part_is_judged_as_silent_edges_in_the_whole_graph(name):
    """Whatever is cut, trimmed or left out on the way there."""
    network, graph = made(name).eval(), node_graph(40)
    found = xc.explain(network, graph, xc.Node(4), QUICK)
    kept = {frozenset(edge) for edge in found.subgraph().edges}
    silent = torch.tensor([frozenset(ends) not in kept for ends in graph.edge_index.t().tolist()])

    def masked(weight):
        def hook(layer, inputs, messages):
            full = torch.cat([weight, torch.ones(len(messages) - len(weight))])
            return messages * full.view(-1, *[1] * (messages.ndim - 1))

        handles = [layer.register_message_forward_hook(hook) for layer in (network.one, network.two)]
        with torch.no_grad():
            chance = network(graph.x, graph.edge_index).softmax(-1)[4, found.predicted_class].item()
        for handle in handles:
            handle.remove()
        return chance

    assert found.verdict.alone == pytest.approx(masked((~silent).float()), abs=1e-5)
    assert found.verdict.without == pytest.approx(masked(silent.float()), abs=1e-5)


def test_prototypes_steps_and_starts_work_too():
    network, graph = made("GINConv"), node_graph(30)
    label = int(np.bincount(predictions(network, graph).predicted).argmax())
    assert xc.prototype(network, graph, label, instances=2, config=QUICK).members
    steps = list(xc.explain_steps(network, graph, xc.Node(3), QUICK))
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    found = steps[-1].explanation()
    assert 0 <= agreement_over_starts(network, graph, found, starts=2).share <= 1


# What is refused


class Odd(nn.Module):
    """A layer, and something done to its answer."""

    def __init__(self, spoil):
        super().__init__()
        self.conv, self.spoil = pyg.GCNConv(FEATURES, CLASSES), spoil

    def forward(self, x, edge_index):
        return self.spoil(self.conv(x, edge_index))


class AsksForMore(Odd):
    def forward(self, x, edge_index, colour):
        return self.conv(x * colour, edge_index)


class Bypass(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, CLASSES)

    def forward(self, x, edge_index):
        return self.linear(x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]))


REFUSED = {
    "call signature": (AsksForMore(None), r"called with what the data has.*forward asks for 'colour'.*node_data"),
    "features": (Stack(pyg.GCNConv), r"must run when called as \(x, edge_index\) with x \(24, 2\)"),
    "output shape": (Odd(lambda z: z[:5]), r"a row for each of 24 nodes \(got \(5, 3\)\)"),
    "no tensor": (Odd(lambda z: {"z": z}), r"answer with a tensor of numbers \(got a dict\)"),
    "nan": (Odd(lambda z: z * float("nan")), r"finite numbers \(got nan\)"),
    "no gradient": (Bypass(), r"through torch_geometric's propagate.*\(got Bypass"),
    "randomness": (Odd(lambda z: nn.functional.dropout(z, 0.5)), r"same numbers twice in eval mode.*self.training"),
    "lazy": (nn.Sequential(nn.LazyLinear(3)), r"lazy layer"),
    "scripted": (torch.jit.script(nn.Linear(4, 3)), r"plain Python \(got a ScriptModule\)"),
    "no network": ("gcn", r"a model must have|must be a torch.nn.Module"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_said_in_one_sentence(name):
    network, message = REFUSED[name]
    graph = node_graph()
    if name == "features":
        graph = xc.Graph(graph.x[:, :2], graph.edge_index)
    for request in (lambda: xc.adapt(network, graph, "node"), lambda: xc.explain(network, graph, xc.Node(3), QUICK)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=message):
                request()


def test_wrong_settings_and_data_are_refused():
    network, graph = made("GCNConv"), node_graph()
    for settings, message in (
        ({"task": "edge"}, "task must be one of node, graph, link"),
        ({"output": "scores"}, "output must be one of logits, log_probs, probs, binary"),
        ({"output": "binary"}, r"output='binary' must be one number for each prediction \(got 3\)"),
        ({"hops": 0}, r"hops must be a whole number from 1 \(got 0\)"),
    ):
        with pytest.raises(ValueError, match=message):
            xc.adapt(network, graph, **settings)
    with pytest.raises(ValueError, match=r"looks at one graph \(got a GraphSet\)"):
        xc.adapt(network, graph_set(2), "node")
    for data in (graph.to_pyg(), [graph], None):
        with pytest.raises(ValueError, match=r"data must be a Graph or a GraphSet \(got a .*from_pyg"):
            xc.explain(network, data, xc.Node(3))
        with pytest.raises(ValueError, match=r"data must be a Graph or a GraphSet"):
            predictions(network, data)


def test_a_graph_network_that_pools_nothing_is_told_so():
    with pytest.raises(ValueError, match=r"a row for each of \d graphs.*pool nodes by batch"):
        xc.explain(made("GCNConv"), graph_set(3), xc.WholeGraph(1), QUICK)


def test_a_graph_without_edges_and_with_loops_is_explained():
    network = Stack(lambda i, o: pyg.GINConv(mlp(i, o)))
    alone = random_graph(4, 0)
    alone = xc.Graph(alone.x[:, :FEATURES], alone.edge_index)
    assert xc.explain(network, alone, xc.Node(0), QUICK).subgraph().edges == ()
    base = node_graph(12)
    looped = xc.Graph(base.x, torch.cat([base.edge_index, torch.tensor([[3, 5], [3, 5]])], 1))
    for name in ("GINConv", "GCNConv", "GATConv"):
        network = made(name).eval()
        expected = network(looped.x, looped.edge_index).softmax(-1)[3].detach()
        found = xc.explain(network, looped, xc.Node(3), QUICK)
        np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
        assert (3, 3) in {tuple(pair) for pair in found.pairs.tolist()}
