"""The manual backward against the one autograd records."""

import itertools

import pytest
import torch
from small_networks import network, random_graph

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.models import GNN, KINDS, gcn_backward
from explainer_core.targets import Node

SPECS = [
    {
        "normalize": normalize,
        "unit_length": unit_length,
        "batch_norm": batch_norm,
        "jump": jump,
        "hidden": hidden,
        "num_layers": layers,
    }
    for normalize, unit_length, batch_norm, jump, (hidden, layers) in itertools.product(
        (False, True),
        (False, True),
        (False, True),
        ("last", "cat"),
        ((8, 3), (3, 2), (5, 1)),  # wider than the features, narrower, as wide
    )
]


def used(model):
    """The same network with statistics and weights of its norms as training leaves them."""
    for i, norm in enumerate(model.norms):
        generator = torch.Generator().manual_seed(i)
        for values, low in ((norm.running_mean, -1), (norm.running_var, 0.5), (norm.weight, -1), (norm.bias, -1)):
            values.uniform_(low, 2, generator=generator)
    return model


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: "-".join(map(str, spec.values())))
@pytest.mark.parametrize("targets", [[Node(3)], [Node(7), Node(0), Node(11)]], ids=["one", "three"])
def test_logits_and_gradients_are_those_of_autograd(spec, targets):
    model = used(network(**spec).double())
    graph = random_graph(20, 40, directed=True)
    c = computation_of(graph, targets, model.num_layers, max_edges=10**6)
    x, weight = c.x.double(), torch.linspace(0.1, 1, c.num_edges, dtype=torch.float64).requires_grad_()
    recorded = run(model, c, "node", weight, x)
    gradient = torch.randn_like(recorded)
    (expected,) = torch.autograd.grad(recorded, weight, gradient)
    inputs = model.layer_inputs(x, c.edge_index, degree=c.degree, prefixes=c.prefixes)
    logits, vjp = gcn_backward.logits_and_vjp(model, x, inputs, weight.detach())
    torch.testing.assert_close(logits, recorded.detach())
    torch.testing.assert_close(vjp(gradient), expected)
    torch.testing.assert_close(vjp(2 * gradient), 2 * expected)  # it can be called again


def test_a_node_nobody_speaks_to_has_a_gradient_of_nothing():
    model = network(unit_length=True)
    graph = random_graph(5, 0)
    c = computation_of(graph, [Node(2)], model.num_layers, max_edges=10)
    inputs = model.layer_inputs(c.x, c.edge_index, degree=c.degree, prefixes=c.prefixes)
    logits, vjp = gcn_backward.logits_and_vjp(model, c.x, inputs, torch.empty(0))
    torch.testing.assert_close(logits, run(model, c, "node"))
    assert vjp(torch.ones_like(logits)).shape == (0,)


def test_states_of_zeros_give_finite_gradients():
    model = network(unit_length=True)
    for layer in model.layers:
        layer.bias.zero_()
    graph = random_graph(20, 30)
    c = computation_of(graph, [Node(3)], model.num_layers, max_edges=1000)
    x = torch.zeros_like(c.x)
    inputs = model.layer_inputs(x, c.edge_index, degree=c.degree, prefixes=c.prefixes)
    logits, vjp = gcn_backward.logits_and_vjp(model, x, inputs, torch.ones(c.num_edges))
    assert torch.isfinite(vjp(torch.ones_like(logits))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_gcn_for_nodes_has_a_manual_backward(kind):
    assert gcn_backward.has_manual_backward(network(kind)) == (kind == "gcn")
    assert not gcn_backward.has_manual_backward(network(kind, "graph"))
    assert not gcn_backward.has_manual_backward(network(kind, jump="max"))


def test_who_overrides_anything_has_no_fast_path():
    class Doubled(GNN):
        def run(self, *args):
            return 2 * super().run(*args)

    spec = network().spec
    assert GNN(spec).eval().fast is not None
    assert GNN(spec).eval().delta is not None
    assert Doubled(spec).eval().fast is None
    assert Doubled(spec).eval().delta is None
