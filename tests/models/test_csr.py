"""Sums along planned routes against the same sums edge by edge."""

import pytest
import torch
from small_networks import network, random_graph

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.models import KINDS, gnn
from explainer_core.models.csr import Routes
from explainer_core.models.layers import Wiring
from explainer_core.targets import Link, Node, WholeGraph

IN, OUT, WIDTH = 12, 7, 6


def random_edges(count, seed=0):
    """In no order, with repeats, and with nodes that neither send nor hear."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(size - 2, (count,), generator=generator) for size in (IN, OUT))


@pytest.mark.parametrize("count", [0, 1, 40])
@pytest.mark.parametrize("heads", [1, 3])
def test_totals_and_slopes_equal_those_edge_by_edge(count, heads):
    source, head = random_edges(count)
    table = torch.randn(IN, WIDTH, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(count, heads, dtype=torch.float64).squeeze(-1).requires_grad_()
    degree = torch.zeros(IN)
    plain = Wiring(source, head, OUT, degree).total(table, weight)
    routed = Wiring(source, head, OUT, degree, routes=Routes.of(source, head, IN, OUT, heads)).total(table, weight)
    torch.testing.assert_close(routed, plain)
    slope = torch.randn_like(plain)
    for ours, theirs in zip(*(torch.autograd.grad(y, (table, weight), slope) for y in (routed, plain)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_slopes_are_those_of_finite_differences():
    source, head = random_edges(20)
    routes = Routes.of(source, head, IN, OUT)
    table = torch.randn(IN, WIDTH, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(routes.total, (table, weight))


def test_numbers_of_two_kinds_become_the_wider():
    source, head = random_edges(20)
    total = Routes.of(source, head, IN, OUT).total(torch.randn(IN, WIDTH).double(), torch.rand(20))
    assert total.dtype == torch.float64


TARGETS = {"node": [Node(5), Node(9)], "link": [Link(3, 8)], "graph": [WholeGraph()]}


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planned_pass_gives_the_same_logits_and_slopes(kind, task, monkeypatch):
    monkeypatch.setattr(gnn, "WORTH_IT", 0)
    graph, model = random_graph(30, 60, typed=True), network(kind, task=task)
    c = computation_of(graph, TARGETS[task], model.num_layers, max_edges=10**6)
    routes = model.plan(c.edge_index, c.num_nodes, c.prefixes)
    assert (routes is None) == (kind == "rgcn")  # an R-GCN adds up by type
    found = []
    for planned in (None, routes):
        weight = torch.linspace(0, 1, c.num_edges).requires_grad_()
        x = c.x.clone().requires_grad_()
        logits = run(model, c, task, weight, x, planned)
        found.append((logits, *torch.autograd.grad(logits.square().sum(), (weight, x))))
    for plain, routed in zip(*found, strict=True):
        torch.testing.assert_close(routed, plain, atol=1e-5, rtol=0)


def test_layers_with_the_same_edges_share_their_routes(monkeypatch):
    monkeypatch.setattr(gnn, "WORTH_IT", 0)
    model = network("gcn")
    routes = model.plan(torch.stack(random_edges(30)), IN)
    assert len(routes) == model.num_layers
    assert len(set(map(id, routes))) == 1


def test_few_edges_are_not_worth_a_plan():
    assert network("gcn").plan(torch.stack(random_edges(30)), IN) is None
