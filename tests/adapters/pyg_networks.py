"""Small networks on PyTorch Geometric's layers, as its users write them, and graphs to try them on."""

import torch
import torch_geometric.nn as pyg
from torch import nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import degree, to_networkx  # noqa: F401

FEATURES, CLASSES, HIDDEN, ATTRIBUTES, RELATIONS = 4, 3, 8, 3, 2


class Stack(nn.Module):
    """Two layers and a head; what they take beside x and edge_index is named by `extra`."""

    def __init__(self, make, hidden=HIDDEN, first=HIDDEN):
        super().__init__()
        self.one, self.two = make(FEATURES, HIDDEN), make(first, HIDDEN)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x, edge_index):
        return self.head(self.two(self.one(x, edge_index).tanh(), edge_index).tanh())


class WithAttributes(Stack):
    def forward(self, x, edge_index, edge_attr):
        return self.head(self.two(self.one(x, edge_index, edge_attr).tanh(), edge_index, edge_attr).tanh())


class WithTypes(Stack):
    def forward(self, x, edge_index, edge_type):
        return self.head(self.two(self.one(x, edge_index, edge_type).tanh(), edge_index, edge_type).tanh())


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = pyg.GatedGraphConv(HIDDEN, num_layers=2), nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        return self.head(self.conv(x, edge_index))


class Personalised(nn.Module):
    """APPNP: a network for each node, then ten rounds without weights."""

    def __init__(self):
        super().__init__()
        self.read, self.spread = mlp(FEATURES, CLASSES), pyg.APPNP(K=3, alpha=0.1)

    def forward(self, x, edge_index):
        return self.spread(self.read(x), edge_index)


class Jumping(nn.Module):
    """Skip connections, jumping knowledge, batch norm and dropout."""

    def __init__(self):
        super().__init__()
        self.one, self.two = pyg.GCNConv(FEATURES, HIDDEN), pyg.GCNConv(HIDDEN, HIDDEN)
        self.norm, self.drop = nn.BatchNorm1d(HIDDEN), nn.Dropout(0.5)
        self.jump, self.head = pyg.JumpingKnowledge("cat"), nn.Linear(2 * HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        h = self.drop(self.norm(self.one(x, edge_index)).relu())
        return self.head(self.jump([h, h + self.two(h, edge_index)]))


class EdgeUpdates(nn.Module):
    """A graph network: edges have states that change with those of their ends."""

    class Block(MessagePassing):
        def __init__(self, inputs, edges):
            super().__init__(aggr="add")
            self.edge, self.node = mlp(2 * inputs + edges, HIDDEN), mlp(inputs + HIDDEN, HIDDEN)

        def forward(self, x, edge_index, state):
            state = self.edge_updater(edge_index, x=x, state=state)
            return self.node(torch.cat([x, self.propagate(edge_index, state=state, size=(len(x), len(x)))], -1)), state

        def edge_update(self, x_i, x_j, state):
            return self.edge(torch.cat([x_i, x_j, state], -1))

        def message(self, state):
            return state

    def __init__(self):
        super().__init__()
        self.one, self.two = self.Block(FEATURES, ATTRIBUTES), self.Block(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, edge_index, edge_attr):
        x, state = self.one(x, edge_index, edge_attr)
        x, state = self.two(x.tanh(), edge_index, state)
        return self.head(x)


class LineGraph(nn.Module):
    """Messages between edges that follow on each other, then from edges to nodes."""

    class Between(MessagePassing):
        def __init__(self):
            super().__init__(aggr="add")
            self.linear = nn.Linear(HIDDEN, HIDDEN)

        def forward(self, state, line):
            return state + self.linear(self.propagate(line, x=state)).tanh()

    class ToNodes(MessagePassing):
        def __init__(self):
            super().__init__(aggr="add")

        def forward(self, state, edge_index, num_nodes):
            return self.propagate(edge_index, state=state, size=(num_nodes, num_nodes))

        def message(self, state):
            return state

    def __init__(self):
        super().__init__()
        self.read, self.between, self.to_nodes = nn.Linear(2 * FEATURES, HIDDEN), self.Between(), self.ToNodes()
        self.head = nn.Linear(HIDDEN + FEATURES, CLASSES)

    def forward(self, x, edge_index):
        source, target = edge_index
        state = self.read(torch.cat([x[source], x[target]], -1)).tanh()
        follows = (target[:, None] == source[None, :]) & (source[:, None] != target[None, :])
        state = self.between(state, follows.nonzero().t())
        return self.head(torch.cat([self.to_nodes(state, edge_index, len(x)), x], -1))


class PositionAware(nn.Module):
    """Each node knows its share of all edges: no cut can tell it, and other graphs beside it disturb."""

    def __init__(self):
        super().__init__()
        self.one, self.two = pyg.SAGEConv(FEATURES + 1, HIDDEN), pyg.SAGEConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        share = degree(edge_index[1], len(x)) / edge_index.shape[1] * 10
        return self.two(self.one(torch.cat([x, share[:, None]], -1), edge_index).tanh(), edge_index)


class WholeData(nn.Module):
    """Called with one Data, which has all."""

    def __init__(self):
        super().__init__()
        self.one, self.two = pyg.GINEConv(mlp(FEATURES, HIDDEN), edge_dim=ATTRIBUTES), pyg.GCNConv(HIDDEN, CLASSES)

    def forward(self, data):
        h = self.one(data.x, data.edge_index, data.edge_attr).tanh()
        return self.two(h, data.edge_index).log_softmax(-1)


class Pooled(nn.Module):
    """A graph network with a pooling layer between two rounds."""

    def __init__(self, pool=pyg.SAGPooling):
        super().__init__()
        self.one, self.pool, self.two = (
            pyg.GraphConv(FEATURES, HIDDEN),
            pool(HIDDEN, ratio=0.7),
            pyg.GraphConv(HIDDEN, HIDDEN),
        )
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, edge_index, batch):
        h = self.one(x, edge_index).tanh()
        h, edge_index, _, batch, *_ = self.pool(h, edge_index, None, batch)
        return self.head(pyg.global_mean_pool(self.two(h, edge_index).tanh(), batch))


class Unbatched(nn.Module):
    """A graph network that knows of one graph only."""

    def __init__(self):
        super().__init__()
        self.one, self.head = pyg.GINConv(mlp(FEATURES, HIDDEN)), nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        return self.head(self.one(x, edge_index).mean(0, keepdim=True))


def pna(inputs, outputs):
    histogram = torch.tensor([0, 2, 6, 6, 3, 1])
    return pyg.PNAConv(inputs, outputs, ["mean", "max", "std"], ["identity", "amplification"], histogram)


def nn_conv(inputs, outputs):
    return pyg.NNConv(inputs, outputs, nn.Linear(ATTRIBUTES, inputs * outputs), aggr="mean")


LAYERS = {
    "GCNConv": lambda: Stack(pyg.GCNConv),
    "SAGEConv": lambda: Stack(pyg.SAGEConv),
    "GATConv": lambda: Stack(lambda i, o: pyg.GATConv(i, o, heads=2), 2 * HIDDEN, 2 * HIDDEN),
    "GATv2Conv": lambda: Stack(lambda i, o: pyg.GATv2Conv(i, o // 2, heads=2)),
    "GINConv": lambda: Stack(lambda i, o: pyg.GINConv(mlp(i, o))),
    "GINEConv": lambda: WithAttributes(lambda i, o: pyg.GINEConv(mlp(i, o), edge_dim=ATTRIBUTES)),
    "ChebConv": lambda: Stack(lambda i, o: pyg.ChebConv(i, o, K=2)),
    "TransformerConv": lambda: Stack(lambda i, o: pyg.TransformerConv(i, o // 2, heads=2)),
    "RGCNConv": lambda: WithTypes(lambda i, o: pyg.RGCNConv(i, o, RELATIONS)),
    "GatedGraphConv": Gated,
    "PNAConv": lambda: Stack(pna),
    "ResGatedGraphConv": lambda: Stack(pyg.ResGatedGraphConv),
    "TAGConv": lambda: Stack(lambda i, o: pyg.TAGConv(i, o, K=2)),
    "ARMAConv": lambda: Stack(lambda i, o: pyg.ARMAConv(i, o, num_stacks=2)),
    "NNConv": lambda: WithAttributes(nn_conv),
    "EdgeConv": lambda: Stack(lambda i, o: pyg.EdgeConv(mlp(2 * i, o))),
    "APPNP": Personalised,
    "JumpingKnowledge": Jumping,
    "edge updates": EdgeUpdates,
    "line graph": LineGraph,
    "position-aware": PositionAware,
    "forward(data)": WholeData,
    "pyg.GCN": lambda: pyg.GCN(FEATURES, HIDDEN, 2, CLASSES),
}
GRAPH_NETWORKS = {"SAGPooling": Pooled, "TopKPooling": lambda: Pooled(pyg.TopKPooling), "one graph only": Unbatched}


def made(name):
    """Random weights, the same each time; left in training mode, as a network is after training."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return (LAYERS | GRAPH_NETWORKS)[name]()
