"""Sums by CSR against the same sums edge by edge."""

import pytest
import torch
from small_networks import network, random_graph

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import prediction_batch
from explainer_core.models import KINDS, gnn
from explainer_core.models.csr import CSRAggregation
from explainer_core.models.layers import LayerInputs
from explainer_core.targets import Link, Node, WholeGraph

IN, OUT, WIDTH = 12, 7, 6


def random_edges(count, seed=0):
    """In no order, with repeats, and with nodes that neither send nor receive."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(size - 2, (count,), generator=generator) for size in (IN, OUT))


@pytest.mark.parametrize("count", [0, 1, 40])
@pytest.mark.parametrize("heads", [1, 3])
def test_totals_and_gradients_equal_those_edge_by_edge(count, heads):
    source, target = random_edges(count)
    table = torch.randn(IN, WIDTH, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(count, heads, dtype=torch.float64).squeeze(-1).requires_grad_()
    degree = torch.zeros(IN)
    plain = LayerInputs(source, target, OUT, degree).total(table, weight)
    planned_total = LayerInputs(
        source, target, OUT, degree, csr=CSRAggregation.of(source, target, IN, OUT, heads)
    ).total(table, weight)
    torch.testing.assert_close(planned_total, plain)
    gradient = torch.randn_like(plain)
    for ours, theirs in zip(
        *(torch.autograd.grad(y, (table, weight), gradient) for y in (planned_total, plain)), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_gradients_are_those_of_finite_differences():
    source, target = random_edges(20)
    plan = CSRAggregation.of(source, target, IN, OUT)
    table = torch.randn(IN, WIDTH, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(plan.total, (table, weight))


def test_numbers_of_two_kinds_become_the_wider():
    source, target = random_edges(20)
    total = CSRAggregation.of(source, target, IN, OUT).total(torch.randn(IN, WIDTH).double(), torch.rand(20))
    assert total.dtype == torch.float64


TARGETS = {"node": [Node(5), Node(9)], "link": [Link(3, 8)], "graph": [WholeGraph()]}


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planned_pass_gives_the_same_logits_and_gradients(kind, task, monkeypatch):
    monkeypatch.setattr(gnn, "WORTH_IT", 0)
    graph, model = random_graph(30, 60, typed=True), network(kind, task=task)
    c = computation_of(graph, TARGETS[task], model.num_layers, max_edges=10**6)
    plan = model.plan(c.edge_index, c.num_nodes, c.prefixes)
    assert (plan is None) == (kind == "rgcn")  # an R-GCN adds up by type
    found = []
    for planned in (None, plan):
        weight = torch.linspace(0, 1, c.num_edges).requires_grad_()
        x = c.x.clone().requires_grad_()
        logits = model.run(prediction_batch(c, task), weight, x, None, planned)
        found.append((logits, *torch.autograd.grad(logits.square().sum(), (weight, x))))
    for plain, planned_total in zip(*found, strict=True):
        torch.testing.assert_close(planned_total, plain, atol=1e-5, rtol=0)


def test_layers_with_the_same_edges_share_their_plan(monkeypatch):
    monkeypatch.setattr(gnn, "WORTH_IT", 0)
    model = network("gcn")
    plan = model.plan(torch.stack(random_edges(30)), IN)
    assert len(plan) == model.num_layers
    assert len(set(map(id, plan))) == 1


def test_few_edges_are_not_worth_a_plan():
    assert network("gcn").plan(torch.stack(random_edges(30)), IN) is None
