"""Each layer against PyTorch Geometric's own, with the same weights."""

import pytest
import torch
from torch_geometric import nn as pyg

from explainer_core.models.layers import (
    GatedLayer,
    GATLayer,
    GCNLayer,
    GINLayer,
    LayerInputs,
    RelationalLayer,
    SAGELayer,
)

NODES, EDGES, IN, OUT, TYPES = 40, 160, 6, 8, 3


@pytest.fixture
def data():
    """A random directed graph with isolated nodes, random edge weights and types; no self-loops, no repeats."""
    generator = torch.Generator().manual_seed(3)
    pairs = torch.cartesian_prod(torch.arange(NODES - 3), torch.arange(NODES - 3))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    edge_index = pairs[torch.randperm(len(pairs), generator=generator)[:EDGES]].t()
    x = torch.randn(NODES, IN, generator=generator)
    weight = torch.rand(EDGES, generator=generator)
    types = torch.randint(TYPES, (EDGES,), generator=generator)
    return x, edge_index, weight, types


def inputs_of(edge_index, weight=None, types=None):
    degree = torch.bincount(edge_index[1], minlength=NODES).float()
    return LayerInputs(edge_index[0], edge_index[1], NODES, degree, weight, types)


def assert_close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("out", [OUT, IN - 2], ids=["widening", "narrowing"])
def test_gcn_equals_pyg(data, out):
    x, edge_index, _, _ = data
    ours, theirs = GCNLayer(IN, out), pyg.GCNConv(IN, out)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data.normal_()
    assert_close(ours(x, inputs_of(edge_index)), theirs(x, edge_index))


def test_gcn_edge_weights_scale_messages_but_not_the_normalisation(data):
    x, edge_index, weight, _ = data
    ours, theirs = GCNLayer(IN, OUT), pyg.GCNConv(IN, OUT, normalize=False)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data
    degree = torch.bincount(edge_index[1], minlength=NODES) + 1
    loops = torch.arange(NODES).expand(2, -1)
    scale = degree.rsqrt()
    norm = torch.cat([scale[edge_index[0]] * scale[edge_index[1]] * weight, 1 / degree])
    assert_close(ours(x, inputs_of(edge_index, weight)), theirs(x, torch.cat([edge_index, loops], 1), norm))


def test_summing_gcn_equals_pyg_without_normalisation(data):
    x, edge_index, weight, _ = data
    ours, theirs = GCNLayer(IN, OUT, normalize=False), pyg.GCNConv(IN, OUT, normalize=False)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data.normal_()
    loops = torch.arange(NODES).expand(2, -1)
    with_loops = torch.cat([edge_index, loops], 1), torch.cat([weight, torch.ones(NODES)])
    assert_close(ours(x, inputs_of(edge_index, weight)), theirs(x, *with_loops))


@pytest.mark.parametrize(("normalize", "aggregation"), [(True, "mean"), (False, "sum")])
def test_sage_equals_pyg(data, normalize, aggregation):
    x, edge_index, _, _ = data
    ours, theirs = SAGELayer(IN, OUT, normalize=normalize), pyg.SAGEConv(IN, OUT, aggr=aggregation)
    theirs.lin_l.weight.data, theirs.lin_l.bias.data = ours.neighbors.weight.data, ours.neighbors.bias.data
    theirs.lin_r.weight.data = ours.own.weight.data
    assert_close(ours(x, inputs_of(edge_index)), theirs(x, edge_index))


def test_gin_equals_pyg(data):
    x, edge_index, _, _ = data
    ours = GINLayer(IN, OUT)
    ours.epsilon.data.fill_(0.3)
    theirs = pyg.GINConv(ours.mlp, eps=0.3)
    assert_close(ours(x, inputs_of(edge_index)), theirs(x, edge_index))


def test_gat_equals_pyg_with_its_attention(data):
    x, edge_index, _, _ = data
    ours, theirs = GATLayer(IN, OUT, heads=2), pyg.GATConv(IN, OUT // 2, heads=2)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data.normal_()
    theirs.att_src.data, theirs.att_dst.data = ours.source_score.data[None], ours.head_score.data[None]
    out, (seen, attention) = theirs(x, edge_index, return_attention_weights=True)
    mine, on_edge = ours.forward_with_attention(x, inputs_of(edge_index))
    assert_close(mine, out)
    assert torch.equal(seen[:, :EDGES], edge_index)  # PyG puts its self-loops behind the edges
    assert_close(on_edge, attention[:EDGES])


def test_gat_attention_sums_to_one_at_every_node(data):
    x, edge_index, weight, _ = data
    layer, inputs = GATLayer(IN, OUT, heads=4), inputs_of(edge_index, weight)
    on_edge, on_self = layer.attention(layer.transform(x), inputs)
    total = on_self.index_add(0, edge_index[1], on_edge)
    assert_close(total, torch.ones(NODES, 4))


@pytest.mark.parametrize("layer", [GATLayer, GCNLayer, SAGELayer])
def test_only_without_normalisation_can_neighbours_be_counted(layer, data):
    """With equal features everywhere an average receives the same from two neighbours as from one. A sum does not."""
    edge_index = torch.tensor([[1, 2, 0], [0, 0, 1]])  # node 0 receives from two, node 1 from one
    x = torch.ones(NODES, IN)
    received = layer(IN, OUT, normalize=False)(x, inputs_of(edge_index))
    assert not torch.allclose(received[0], received[1])
    if layer is not GCNLayer:  # its average is by the root of the degrees, which leaves a trace of them
        received = layer(IN, OUT)(x, inputs_of(edge_index))
        torch.testing.assert_close(received[0], received[1])


def test_gat_survives_huge_scores(data):
    x, edge_index, _, _ = data
    assert torch.isfinite(GATLayer(IN, OUT)(x * 1e4, inputs_of(edge_index))).all()


def test_gated_equals_pyg(data):
    x, edge_index, weight, _ = data
    ours, theirs = GatedLayer(IN, OUT), pyg.GatedGraphConv(OUT, num_layers=1)
    theirs.weight.data = ours.linear.weight.data.t()[None]
    theirs.rnn.load_state_dict(ours.cell.state_dict())
    assert_close(ours(x, inputs_of(edge_index, weight)), theirs(x, edge_index, weight))


def test_relational_equals_pyg(data):
    x, edge_index, _, types = data
    ours, theirs = RelationalLayer(IN, OUT, num_edge_types=TYPES), pyg.RGCNConv(IN, OUT, TYPES)
    theirs.weight.data, theirs.root.data, theirs.bias.data = (
        ours.weight.data,
        ours.own.weight.data.t(),
        ours.own.bias.data,
    )
    assert_close(ours(x, inputs_of(edge_index, types=types)), theirs(x, edge_index, types))


LAYERS = {
    "gcn": lambda: GCNLayer(IN, OUT),
    "summing gcn": lambda: GCNLayer(IN, OUT, normalize=False),
    "sage": lambda: SAGELayer(IN, OUT),
    "summing sage": lambda: SAGELayer(IN, OUT, normalize=False),
    "gin": lambda: GINLayer(IN, OUT),
    "gat": lambda: GATLayer(IN, OUT),
    "summing gat": lambda: GATLayer(IN, OUT, normalize=False),
    "gated": lambda: GatedLayer(IN, OUT),
    "relational": lambda: RelationalLayer(IN, OUT, num_edge_types=TYPES),
}


@pytest.mark.parametrize("name", LAYERS)
def test_weights_of_one_change_nothing_to_the_bit(name, data):
    x, edge_index, _, types = data
    layer = LAYERS[name]()
    with_ones = layer(x, inputs_of(edge_index, torch.ones(EDGES), types))
    assert torch.equal(with_ones, layer(x, inputs_of(edge_index, None, types)))


@pytest.mark.parametrize("name", LAYERS)
def test_weights_of_zero_leave_each_node_its_own_state(name, data):
    """No message gets through, so a change elsewhere is not felt; the node's own state still counts."""
    x, edge_index, _, types = data
    layer, inputs = LAYERS[name](), inputs_of(edge_index, torch.zeros(EDGES), types)
    node = int(edge_index[1, 0])
    elsewhere = x.clone()
    elsewhere[torch.arange(NODES) != node] += 1.0
    at_home = x.clone()
    at_home[node] += 1.0
    before = layer(x, inputs)[node]
    if "gat" not in name:  # attention looks at the neighbours even where their messages are silent
        torch.testing.assert_close(layer(elsewhere, inputs)[node], before)
    assert not torch.allclose(layer(at_home, inputs)[node], before)


@pytest.mark.parametrize("name", LAYERS)
def test_messages_are_linear_in_their_weight(name, data):
    """With one edge at weight w and all others at zero, what Update is handed grows in proportion to w."""
    x, edge_index, _, types = data
    layer = LAYERS[name]()
    aggregated = []
    layer.update = lambda received, own, inputs, plain=layer.update: (
        aggregated.append(received) or plain(received, own, inputs)
    )
    for weight in (0.5, 1.0):
        only = torch.zeros(EDGES)
        only[7] = weight
        layer(x, inputs_of(edge_index, only, types))
    assert_close(2 * aggregated[0], aggregated[1])
    assert aggregated[1][edge_index[1, 7]].abs().sum() > 0


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="multiple of the number of heads, 3"):
        GATLayer(4, 8, heads=3)
    with pytest.raises(ValueError, match="cannot be narrower than its input, 9"):
        GatedLayer(9, 8)
    with pytest.raises(ValueError, match="type of every edge"):
        RelationalLayer(1, 2, num_edge_types=2)(torch.ones(NODES, 1), inputs_of(torch.tensor([[0], [1]])))
