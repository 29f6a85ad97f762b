"""Equal states computed once: the numbers of the plain pass, for every kind of layer, and far fewer nodes."""

import itertools

import pytest
import torch

from explainer_core.models import GNN, KINDS, ModelSpec, deduplicated
from explainer_core.models.deduplicated import deduplicated_logits
from explainer_core.models.protocol import PredictionBatch
from explainer_core.models.spec import JUMPS, READOUTS

NUM_TYPES = 3


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setattr(deduplicated, "WORTH_IT", 0)


def network(kind, **changes):
    torch.manual_seed(0)
    settings = {"hidden": 64, "num_layers": 4, "num_edge_types": NUM_TYPES} | changes
    return GNN(ModelSpec(kind, "graph", in_features=5, num_classes=3, **settings)).eval()


def parts(copies=60, nodes=12, *, typed=True, shuffled=False):
    """Copies of one random graph, each without a few edges; equal features on some nodes, so that more is equal."""
    generator = torch.Generator().manual_seed(1)
    x = torch.eye(5)[torch.randint(5, (nodes,), generator=generator)]
    edges = torch.randint(nodes, (2, 2 * nodes), generator=generator)
    types = torch.randint(NUM_TYPES, (2 * nodes,), generator=generator)
    kept = torch.rand(copies, 2 * nodes, generator=generator) > 0.15
    part, edge = kept.nonzero().unbind(1)
    graph_of = torch.arange(copies).repeat_interleave(nodes)
    order = torch.randperm(copies * nodes, generator=generator) if shuffled else torch.arange(copies * nodes)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    return PredictionBatch(
        task="graph",
        x=x.repeat(copies, 1)[order],
        edge_index=place[edges[:, edge] + nodes * part],
        num_predictions=copies + 1,  # the last has no nodes at all
        graph_of=graph_of[order],
        edge_types=types[edge] if typed else None,
    )


@pytest.mark.parametrize(("kind", "jump", "readout"), list(itertools.product(KINDS, JUMPS, READOUTS)))
@pytest.mark.parametrize("normalize", [True, False])
def test_the_numbers_are_those_of_the_plain_pass(kind, jump, readout, normalize):
    model = network(kind, jump=jump, readout=readout, normalize=normalize, batch_norm=True)
    batch = parts(typed=kind == "rgcn")
    torch.testing.assert_close(deduplicated_logits(model, batch), model.logits(batch), atol=2e-5, rtol=2e-5)


def test_the_order_of_the_nodes_is_of_no_account():
    model, batch = network("gin"), parts(typed=False, shuffled=True)
    assert not bool((batch.graph_of[1:] >= batch.graph_of[:-1]).all())
    torch.testing.assert_close(deduplicated_logits(model, batch), model.logits(batch), atol=1e-5, rtol=1e-5)


def test_a_degree_that_is_given_counts_and_so_does_the_smallest_difference_of_a_feature():
    batch = parts(typed=False)
    generator = torch.Generator().manual_seed(2)
    degree = torch.randint(1, 9, (len(batch.x),), generator=generator)
    x = batch.x + 1e-3 * torch.rand(batch.x.shape, generator=generator)
    other = PredictionBatch("graph", x, batch.edge_index, batch.num_predictions, graph_of=batch.graph_of, degree=degree)
    for kind in ("gcn", "sage", "gin"):
        model = network(kind)
        torch.testing.assert_close(deduplicated_logits(model, other), model.logits(other), atol=1e-5, rtol=1e-5)


def test_nodes_with_the_same_surroundings_are_computed_once(monkeypatch):
    """Sixty copies of one graph cost as many rows as one of them, in every layer."""
    model, one = network("gin"), parts(copies=1, typed=False)
    nodes, copies = len(one.x), 60
    many = PredictionBatch(
        "graph",
        one.x.repeat(copies, 1),
        torch.cat([one.edge_index + nodes * i for i in range(copies)], 1),
        copies,
        graph_of=torch.arange(copies).repeat_interleave(nodes),
    )
    rows, finish = [], model.finish
    monkeypatch.setattr(model, "finish", lambda i, h: rows.append(len(h)) or finish(i, h))
    answers = deduplicated_logits(model, many)
    assert len(rows) == model.num_layers
    assert max(rows) <= nodes
    assert bool((answers == answers[0]).all())


def test_only_a_plain_network_of_whole_graphs_offers_it():
    class Other(GNN):
        pass

    spec = ModelSpec("gin", "graph", in_features=5, num_classes=3, hidden=64, num_layers=2)
    assert GNN(spec).eval().deduplicated is not None
    assert GNN(spec).train().deduplicated is None
    assert Other(spec).eval().deduplicated is None
    assert GNN(ModelSpec("gin", "node", in_features=5, num_classes=3)).eval().deduplicated is None


def test_round_numbers_have_names_of_their_own():
    """Their low bits are all zero. 200,000 different rows of ones and minus ones, and as many of zeros and twos."""
    rows = torch.randint(2, (200_000, 40), generator=torch.Generator().manual_seed(3))
    assert len(rows.unique(dim=0)) == len(rows)
    degree = torch.zeros(len(rows), dtype=torch.int64)
    for values in ((-1.0, 1.0), (0.0, 2.0), (0.0, 1.0)):
        x = torch.tensor(values)[rows]
        batch = PredictionBatch("graph", x, torch.empty(2, 0, dtype=torch.int64), 1)
        spec = ModelSpec("gin", "graph", in_features=40, num_classes=2)
        assert len(deduplicated._first_names(GNN(spec), batch, degree).unique()) == len(rows)
