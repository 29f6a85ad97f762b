"""Whole networks: prefixes, heads, jumping knowledge, and masks that leave nothing behind."""

import itertools

import pytest
import torch
from torch_geometric.utils import k_hop_subgraph

from explainer_core.datasets.synthetic import ba_shapes
from explainer_core.models import GNN, KINDS, ModelSpec
from explainer_core.models.spec import JUMPS, READOUTS

NUM_TYPES = 3


def network(kind, task="node", **changes):
    torch.manual_seed(0)
    settings = {"hidden": 16, "num_layers": 3, "num_edge_types": NUM_TYPES} | changes
    return GNN(ModelSpec(kind, task, in_features=5, num_classes=4, **settings)).eval()


@pytest.fixture(scope="module")
def inputs():
    graph = ba_shapes(seed=1)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(graph.num_nodes, 5, generator=generator)
    weight = torch.rand(graph.num_edges, generator=generator)
    types = torch.randint(NUM_TYPES, (graph.num_edges,), generator=generator)
    return x, graph.edge_index, weight, types


def hop_ordered(target, num_layers, x, edge_index, weight, types):
    """The computation graph of one node by PyG's k-hop search: nodes by hop, edges by the hop of their head, and prefixes."""
    hop = torch.full((len(x),), num_layers + 1)
    for hops in range(num_layers, -1, -1):
        hop[k_hop_subgraph(target, hops, edge_index)[0]] = hops
    nodes = (hop <= num_layers).nonzero().flatten()
    nodes = nodes[hop[nodes].argsort(stable=True)]
    new_number = torch.full((len(x),), -1)
    new_number[nodes] = torch.arange(len(nodes))
    edges = (hop[edge_index[1]] <= num_layers - 1).nonzero().flatten()
    edges = edges[hop[edge_index[1, edges]].argsort(stable=True)]
    heads = hop[edge_index[1, edges]]
    prefixes = [(int((hop[nodes] <= left).sum()), int((heads <= left).sum())) for left in range(num_layers - 1, -1, -1)]
    degree = torch.bincount(edge_index[1], minlength=len(x))[nodes]
    return x[nodes], new_number[edge_index[:, edges]], weight[edges], types[edges], degree, prefixes


@pytest.mark.parametrize(("kind", "jump"), list(itertools.product(KINDS, JUMPS)))
def test_prefixes_give_the_target_the_same_answer(kind, jump, inputs):
    model = network(kind, jump=jump, batch_norm=True)
    x, edge_index, weight, types = inputs
    whole = model(x, edge_index, weight, edge_type=types)
    for target in (0, 350, 699):
        local_x, local_edges, local_weight, local_types, degree, prefixes = hop_ordered(target, 3, *inputs)
        assert prefixes[-1][0] == 1
        answer = model(local_x, local_edges, local_weight, edge_type=local_types, degree=degree, prefixes=prefixes)
        torch.testing.assert_close(answer[0], whole[target], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("kind", "normalize"), [*((kind, True) for kind in KINDS), ("gcn", False)])
def test_edge_weights_of_one_equal_none_to_the_bit(kind, normalize, inputs):
    x, edge_index, weight, types = inputs
    model = network(kind, unit_length=True, normalize=normalize)
    ones = model(x, edge_index, torch.ones_like(weight), edge_type=types)
    assert torch.equal(ones, model(x, edge_index, edge_type=types))


@pytest.mark.parametrize("kind", KINDS)
def test_an_edge_further_away_than_the_layers_reach_changes_nothing(kind):
    """On a path 0-1-2-3-4 two layers let node 0 know of node 2, and not of the edge between 3 and 4."""
    edge_index = torch.tensor([[1, 0, 2, 1, 3, 2, 4, 3], [0, 1, 1, 2, 2, 3, 3, 4]])
    types = torch.zeros(8, dtype=torch.int64)
    model, x = network(kind, num_layers=2), torch.randn(5, 5, generator=torch.Generator().manual_seed(1))
    cut = torch.ones(8)
    cut[6:] = 0
    near, far = model(x, edge_index, edge_type=types), model(x, edge_index, cut, edge_type=types)
    torch.testing.assert_close(near[0], far[0])
    assert not torch.allclose(near[3], far[3])


@pytest.mark.parametrize("readout", READOUTS)
def test_a_batch_of_graphs_gives_what_each_gives_alone(readout):
    model = network("gin", "graph", readout=readout)
    generator = torch.Generator().manual_seed(0)
    one = torch.randn(4, 5, generator=generator), torch.tensor([[0, 1, 2], [1, 2, 3]])
    two = torch.randn(2, 5, generator=generator), torch.tensor([[0], [1]])
    alone = torch.cat([model(*one), model(*two)])
    together = model(
        torch.cat([one[0], two[0]]),
        torch.cat([one[1], two[1] + 4], dim=1),
        graph_of=torch.tensor([0, 0, 0, 0, 1, 1]),
        num_graphs=2,
    )
    torch.testing.assert_close(together, alone)


def test_readouts_on_paper():
    z = torch.tensor([[1.0, -4.0], [3.0, -2.0], [5.0, 7.0]])
    graph_of = torch.tensor([0, 0, 1])
    expected = {"mean": [[2, -3], [5, 7]], "sum": [[4, -6], [5, 7]], "max": [[3, -2], [5, 7]]}
    for readout, rows in expected.items():
        got = network("gcn", "graph", readout=readout).read_out(z, graph_of, 2)
        assert torch.equal(got, torch.tensor(rows, dtype=torch.float32))


def test_a_link_does_not_depend_on_the_order_of_its_ends(inputs):
    model = network("gcn", "link")
    x, edge_index, _, _ = inputs
    links = torch.tensor([[3, 10], [9, 600]])
    logits = model(x, edge_index, links=links)
    assert logits.shape == (2, 2)
    torch.testing.assert_close(logits, model(x, edge_index, links=links.flip(0)))


def test_jumping_knowledge_on_paper(inputs):
    """The concatenation holds every layer's output, the maximum the largest of them."""
    x, edge_index, _, _ = inputs
    cat = network("gcn", jump="cat")
    last, most = network("gcn"), network("gcn", jump="max")
    for other in (last, most):
        other.layers.load_state_dict(cat.layers.state_dict())
    z = cat.embed(x, edge_index)
    assert z.shape[1] == 3 * 16
    assert torch.equal(z[:, 32:], last.embed(x, edge_index))
    assert torch.equal(z.view(-1, 3, 16).amax(1), most.embed(x, edge_index))


def test_attention_comes_for_every_layer_and_edge(inputs):
    x, edge_index, _, _ = inputs
    attention = network("gat").layer_attention(x, edge_index)
    assert [a.shape for a in attention] == [(edge_index.shape[1], 4)] * 3
    assert all(((a > 0) & (a < 1)).all() for a in attention)
    with pytest.raises(ValueError, match="only a gat network has attention"):
        network("gcn").layer_attention(x, edge_index)


def test_a_forward_pass_with_masks_leaves_nothing_on_the_network(inputs):
    model = network("gat")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    attributes = set(vars(model))
    x, edge_index, weight, _ = inputs
    mask = weight.clone().requires_grad_()
    model(x, edge_index, mask).sum().backward()
    assert mask.grad.abs().sum() > 0
    assert set(vars(model)) == attributes
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "transformer"}, "kind must be one of gcn"),
        ({"task": "edge"}, "task must be one of node"),
        ({"hidden": 0}, r"hidden must be 1 to 4,096 \(got 0\)"),
        ({"num_layers": 10**6}, "num_layers must be 1 to 20"),
        ({"hidden": 2.5}, r"hidden must be 1 to 4,096 \(got 2.5\)"),
        ({"dropout": 1.0}, "dropout must be 0 up to 1"),
        ({"kind": "rgcn", "num_edge_types": 0}, "needs 1 to 1,000 edge types"),
    ],
)
def test_a_spec_out_of_range_says_so(changes, message):
    settings = {"kind": "gcn", "task": "node", "in_features": 3, "num_classes": 2} | changes
    with pytest.raises(ValueError, match=message):
        ModelSpec(**settings)


def test_wrong_inputs_say_so(inputs):
    x, edge_index, _, _ = inputs
    with pytest.raises(ValueError, match=r"reads 5 features a node \(got shape \(700, 2\)\)"):
        network("gcn")(x[:, :2], edge_index)
    with pytest.raises(ValueError, match="pass links of shape"):
        network("gcn", "link")(x, edge_index)
    with pytest.raises(ValueError, match="prefixes need one entry for each of 3 layers"):
        network("gcn")(x, edge_index, prefixes=[(1, 1)])


@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
def test_a_node_of_no_weight_is_not_in_the_readout(readout):
    model = GNN(ModelSpec("gin", "graph", 2, 2, hidden=4, num_layers=1, readout=readout)).eval()
    z, weight = torch.rand(5, 4), torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0])
    there = weight > 0
    torch.testing.assert_close(model.read_out(z, node_weight=weight), model.read_out(z[there]))
    torch.testing.assert_close(model.read_out(z, node_weight=torch.ones(5)), model.read_out(z))
