"""What changes when edges fall silent, worked out alone: the numbers of the network asked with those edges at zero."""

import numpy as np
import pytest
import torch

from explainer_core.models.delta import LINEAR_KINDS, DeltaGNN
from explainer_core.models.protocol import PredictionBatch, ask
from explainer_core.models.spec import JUMPS
from tests.small_networks import network, random_graph


def hops_to(roots, edge_index, nodes, most):
    """Steps along the edges to the nearest root; `most` for a node from which none is reached in fewer."""
    hop = np.full(nodes, most)
    hop[roots] = 0
    for _ in range(most):
        for a, b in edge_index.T.tolist():
            hop[a] = min(hop[a], hop[b] + 1)
    return hop


def asked_about(task, *, directed, num_layers):
    graph = random_graph(30, 60, directed=directed, seed=3)
    targets = torch.tensor([[4, 9]]) if task == "link" else torch.tensor([4])
    degree = torch.bincount(graph.edge_index[1], minlength=30)
    batch = PredictionBatch(
        task=task, x=graph.x, edge_index=graph.edge_index, num_predictions=1, targets=targets, degree=degree
    )
    return batch, hops_to(targets.flatten().numpy(), graph.edge_index.numpy(), 30, num_layers)


def some_silent(edges):
    """No edge, all of them, a single one, a few and many."""
    shares = np.array([0, 1, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9])
    silent = np.random.default_rng(0).random((len(shares), edges)) < shares[:, None]
    return np.concatenate([silent, np.eye(edges, dtype=bool)])


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", LINEAR_KINDS)
def test_the_numbers_are_those_of_the_whole_pass(kind, directed, task, jump):
    model = network(kind, task, num_layers=3, jump=jump, batch_norm=True)
    batch, hop = asked_about(task, directed=directed, num_layers=3)
    silent = some_silent(batch.edge_index.shape[1])
    found = DeltaGNN(model, batch, hop).logits(silent)
    whole = torch.cat([ask(model, batch, torch.from_numpy(~row).float()) for row in silent])
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-5)


def test_only_what_changes_and_can_be_felt_is_computed():
    model = network("gcn", num_layers=3)
    batch, hop = asked_about("node", directed=False, num_layers=3)
    last = batch.edge_index[1] == batch.targets
    delta = DeltaGNN(model, batch, hop)
    layers = delta._layers((last & (last.cumsum(0) == 1)).numpy()[None])  # one edge into the target
    assert [len(layer.nodes) for layer in layers][-1] == 1
    assert all(layer.nodes.tolist().count(4) == 1 for layer in layers)
    assert layers[0].nodes.tolist() == [4]
    neighbours = set(batch.edge_index[1, batch.edge_index[0] == 4].tolist())
    assert set(layers[1].nodes.tolist()) == {4} | {node for node in neighbours if hop[node] <= 1}
