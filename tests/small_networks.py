"""Small graphs and networks for the tests of the explainers: random ones, and one whose answer is known on paper."""

import torch

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.config import ExplainConfig
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.methods.objective import Objective
from explainer_core.models import GNN, ModelSpec
from explainer_core.targets import Link, Node, WholeGraph

FEATURES, CLASSES, TYPES = 5, 3, 3
TYPE_NAMES = ("a", "b", "c")


def random_graph(num_nodes=30, num_edges=45, *, directed=False, typed=False, seed=0, **fields):
    """No self-loops and no repeats; undirected ones have both directions of every edge."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(num_nodes))
    if directed:
        pairs = torch.cat([pairs, pairs.flip(1)])
    pairs = pairs[torch.randperm(len(pairs), generator=generator)[:num_edges]]
    edge_index = pairs.t().contiguous() if directed else undirected(pairs)
    types = torch.randint(TYPES, (edge_index.shape[1],), generator=generator) if typed else None
    x = torch.randn(num_nodes, FEATURES, generator=generator)
    return Graph(x, edge_index, edge_types=types, edge_type_names=TYPE_NAMES if typed else (), **fields)


def random_set(count=4, *, typed=False):
    return GraphSet.from_graphs([random_graph(6 + i, 8 + i, typed=typed, seed=i) for i in range(count)])


def network(kind="gcn", task="node", *, seed=0, **changes):
    """Random weights, eval mode, frozen."""
    settings = {"in_features": FEATURES, "num_classes": CLASSES, "hidden": 8, "num_layers": 2} | changes
    if kind == "rgcn":
        settings |= {"num_edge_types": TYPES}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GNN(ModelSpec(kind, task, **settings)).eval()
    return model.requires_grad_(False)


def sharp(model, times=8.0):
    """The same network, surer of itself: edges matter more than in one with random weights."""
    head = model.head if isinstance(model.head, torch.nn.Linear) else model.head[-1]
    head.weight.mul_(times)
    head.bias.mul_(times)
    return model


def counting_network(num_layers=2, strength=1.0):
    """Sums its neighbours' first features along every path; class 1 wins by `strength` times that sum.

    All weights are one, so with non-negative features nothing is lost in a ReLU and the logit is on paper:
    the sum over walks that end in the node (standing still counts as a step) of the feature they start from.
    """
    spec = ModelSpec("gcn", "node", in_features=1, num_classes=2, hidden=1, num_layers=num_layers, normalize=False)
    model = GNN(spec).eval().requires_grad_(False)
    for layer in model.layers:
        layer.linear.weight.fill_(1.0)
    model.head.weight.copy_(torch.tensor([[0.0], [strength]]))
    model.head.bias.zero_()
    return model


def objective_of(model, data, targets, config=None, target_class=None):
    """What a method is handed for these targets; the classes asked about are the predicted ones unless given."""
    config = ExplainConfig() if config is None else config
    task = model.spec.task
    computation = computation_of(data, targets, model.num_layers, max_edges=config.max_edges, seed=config.seed)
    with torch.no_grad():
        logits = run(model, computation, task)
    asked = logits.argmax(-1) if target_class is None else torch.full((len(logits),), target_class)
    node_class = None
    if task == "node":
        with torch.no_grad():
            node_class = model(data.x, data.edge_index, edge_type=data.edge_types).argmax(-1)[computation.node_ids]
    goal = torch.nn.functional.one_hot(asked, logits.shape[1]).float()
    return Objective(model, computation, config, task, data.x, goal, node_class)


def case(task, kind="gcn", *, typed=False):
    """A network, data and a few targets for each task."""
    if task == "graph":
        return network(kind, "graph"), random_set(typed=typed), [WholeGraph(i) for i in (2, 0, 3)]
    graph = random_graph(20, 30, typed=typed)
    if task == "link":
        links = [Link(*pair) for pair in graph.edge_index.t()[:2].tolist()]
        return network(kind, "link", num_classes=2), graph, [*links, Link(18, 2)]
    return network(kind), graph, [Node(node) for node in (4, 0, 11, 19)]


def state_of(model):
    """All that an explanation must leave as it was: weights to the byte, gradients, flags, modes, attributes."""
    weights = {name: value.numpy().tobytes() for name, value in model.state_dict().items()}
    parameters = [(p.requires_grad, p.grad is None, p.data_ptr()) for p in model.parameters()]
    modules = [(name, m.training, sorted(vars(m)), len(m._forward_hooks)) for name, m in model.named_modules()]
    return weights, parameters, modules
