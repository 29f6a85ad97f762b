"""The smallest change that flips a prediction: known on paper, equal to brute force, and verified from scratch."""

from itertools import combinations

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

import explainer_core as xc
from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.debugging.editing import apply_edits
from explainer_core.debugging.edits import AddEdge, CutEdge, SetFeature, SetType
from explainer_core.debugging.site import graph_of_target
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.targets import Link, Node, WholeGraph
from tests.small_networks import counting_network, network, random_graph, sharp, state_of


def star(leaves=5, more=2):
    """Node 0 with so many leaves, and a path of others that it does not know; every feature is one."""
    edges = [(0, i) for i in range(1, leaves + 1)] + [(leaves + i, leaves + i + 1) for i in range(1, more)]
    return Graph(torch.ones(leaves + more + 1, 1), undirected(edges))


def counter(threshold):
    """One layer: class 1 where a node and its neighbours are more than the threshold."""
    model = counting_network(num_layers=1)
    model.head.bias.copy_(torch.tensor([0.0, -threshold]))
    return model


def logits_anew(model, data, target, edits):
    edited = apply_edits(graph_of_target(data, target), edits, molecules=False)
    computation = computation_of(edited.graph, [edited.target(target)], model.hops, max_edges=10_000)
    with torch.no_grad():
        return run(model, computation, model.task)[0]


def check(model, data, found):
    """A flip flips, and does not with any one change left out."""
    before = logits_anew(model, data, found.target, [])
    assert int(before.argmax()) == found.predicted
    assert np.allclose(before.softmax(0), found.before, atol=1e-5)
    if not found.found:
        assert found.size is None
        assert found.reached is None
        assert found.after is None
        return
    after = logits_anew(model, data, found.target, found.changes)
    assert int(after.argmax()) == found.reached != found.predicted
    assert np.allclose(after.softmax(0), found.after, atol=1e-5)
    assert found.wanted in (None, found.reached)
    for change in found.changes:
        left = logits_anew(model, data, found.target, [each for each in found.changes if each != change])
        flips = int(left.argmax()) != found.predicted if found.wanted is None else int(left.argmax()) == found.wanted
        assert not flips


# On paper


def test_two_of_five_leaves_must_go():
    """Six in all, more than 4.5; without two leaves four are left."""
    found = xc.flip(counter(4.5), star(), Node(0))
    assert found.found
    assert found.size == 2
    assert found.proven
    assert found.exhausted == 1
    assert (found.predicted, found.reached) == (1, 0)
    assert all(isinstance(change, CutEdge) and 0 in (change.source, change.target) for change in found.changes)
    assert found.after[1] == pytest.approx(1 / (1 + np.exp(0.5)), abs=1e-5)


def test_none_within_so_many_is_a_plain_answer():
    found = xc.flip(counter(4.5), star(), Node(0), most=1)
    assert not found.found
    assert found.changes is None
    assert found.proven
    assert found.exhausted == 1
    alone = xc.flip(counter(4.5), Graph(torch.ones(2, 1), torch.empty(2, 0, dtype=torch.int64)), Node(0))
    assert not alone.found
    assert alone.proven
    assert alone.candidates == 0
    assert alone.exhausted == alone.most


def test_edges_are_added_where_that_is_asked():
    """Six in all, and 7.5 are needed."""
    found = xc.flip(counter(7.5), star(more=4), Node(0), kinds=("add",))
    assert found.size == 2
    assert found.reached == 1
    assert all(isinstance(change, AddEdge) and 0 in (change.source, change.target) for change in found.changes)
    assert not xc.flip(counter(7.5), star(more=1), Node(0), kinds=("add",)).found  # there is nobody left


def test_features_change_within_the_range_of_the_data():
    """Features are zero or one: of six ones two must become zero."""
    graph = star(more=2)
    x = graph.x.clone()
    x[-1] = 0.0
    graph = Graph(x, graph.edge_index)
    found = xc.flip(counter(4.5), graph, Node(0), kinds=("feature",))
    assert found.size == 2
    assert all(isinstance(change, SetFeature) and change.value == 0 for change in found.changes)
    constant = xc.flip(counter(4.5), star(), Node(0), kinds=("feature",))
    assert not constant.found
    assert constant.proven
    assert constant.candidates == 0  # the data knows no other value


def test_a_type_becomes_another_type():
    """Class 1 where more than one and a half of a node and its neighbours are of the first type."""
    types = torch.eye(3)[[0, 0, 0, 1, 2]]
    graph = Graph(types, undirected([(0, 1), (0, 2), (0, 3), (3, 4)]))
    model = network(in_features=3, num_classes=2, num_layers=1, hidden=1, normalize=False)
    model.layers[0].linear.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
    model.head.weight.copy_(torch.tensor([[0.0], [1.0]]))
    model.head.bias.copy_(torch.tensor([0.0, -1.5]))
    found = xc.flip(model, graph, Node(0), kinds=("feature",))
    assert found.size == 2
    assert all(isinstance(change, SetType) and change.type != 0 for change in found.changes)
    assert len({change.node for change in found.changes}) == 2  # no node has two types
    check(model, graph, found)


def test_a_class_that_is_there_already_needs_no_change():
    found = xc.flip(counter(4.5), star(), Node(0), to=1)
    assert found.found
    assert found.size == 0
    assert found.proven
    assert found.before == found.after


def test_a_flipped_molecule_can_be_drawn():
    """Every flip of a molecule is an edit that the valence check lets pass."""
    model = network("gin", "graph", in_features=14, num_classes=2, seed=3)
    data = xc.load_dataset("molecules")
    targets = [WholeGraph(i) for i in range(0, len(data), 9)]
    balance(model, data, targets)
    found = xc.flip_many(model, data, targets, kinds=("delete", "add", "feature"), most=3)
    assert any(isinstance(change, SetType) for flip in found if flip.found for change in flip.changes)
    for flip in found:
        check(model, data, flip)
        if flip.found:
            apply_edits(data[flip.target.index], flip.changes)  # raises where an atom has too many bonds


# Against brute force


def brute_force(model, graph, target, most, to=None):
    """The fewest edges that flip it, trying every set of all edges of its computation graph."""
    edges = computation_of(graph, [target], model.hops, max_edges=10_000).edge_ids
    pairs = sorted({tuple(sorted(pair)) for pair in graph.edge_index[:, edges].t().tolist()})
    predicted = int(logits_anew(model, graph, target, []).argmax())
    for size in range(1, most + 1):
        for chosen in combinations(pairs, size):
            got = int(logits_anew(model, graph, target, [CutEdge(*pair) for pair in chosen]).argmax())
            if got != predicted if to is None else got == to:
                return size
    return None


@pytest.mark.parametrize("kind", ["gcn", "sage", "gat", "gin"])
def test_as_few_as_brute_force_finds(kind):
    graph, sizes = random_graph(9, 12, seed=3), []
    for seed in range(4):
        model = sharp(network(kind, seed=seed))
        for found in xc.flip_many(model, graph, [Node(i) for i in range(0, 9, 2)], most=3):
            sizes.append(found.size)
            assert found.size == brute_force(model, graph, found.target, 3)
            assert found.proven
            check(model, graph, found)
    assert None in sizes or len(set(sizes)) > 1  # else nothing was tested


def test_a_chosen_class_is_reached_with_as_few_as_brute_force():
    graph, model = random_graph(9, 12, seed=3), sharp(network("gin", seed=1))
    for node in range(9):
        for to in range(3):
            found = xc.flip(model, graph, Node(node), to=to, most=3)
            if found.predicted != to:
                assert found.size == brute_force(model, graph, Node(node), 3, to)
                check(model, graph, found)


def balance(model, data, targets):
    """Moves the bias so that no class wins everywhere: else nothing flips."""
    head = model.head if isinstance(model.head, nn.Linear) else model.head[-1]
    logits = torch.stack([logits_anew(model, data, target, []) for target in targets])
    head.bias -= (logits[:, 1:] if model.task == "link" else logits).median(0).values


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("kinds", [("delete",), ("add",), ("feature",), ("delete", "add", "feature")])
def test_every_flip_flips_and_is_minimal_and_a_batch_finds_the_same(task, kinds):
    model = sharp(network("gcn" if task != "graph" else "gin", task, seed=2))
    if task == "graph":
        data = GraphSet.from_graphs([random_graph(6 + i, 8 + i, seed=i) for i in range(6)])
        targets = [WholeGraph(i) for i in range(6)]
    else:
        data = random_graph(20, 30)
        links = [Link(*pair) for pair in data.edge_index.t()[::9].tolist()]
        targets = [Node(i) for i in range(0, 20, 3)] if task == "node" else [*links, Link(0, 19)]
    balance(model, data, targets)
    together = xc.flip_many(model, data, targets, kinds=kinds)
    assert any(found.found for found in together)
    for target, found in zip(targets, together, strict=True):
        check(model, data, found)
        alone = xc.flip(model, data, target, kinds=kinds)
        assert alone.changes == found.changes
        assert alone.proven == found.proven


# What surrounds it


class MeanOfNeighbours(nn.Module):
    """A network of somebody else's: no method of ours, a matrix of its own."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 3)

    def forward(self, x, edge_index, edge_weight=None):
        weight = x.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight
        sums = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]] * weight[:, None])
        return self.linear(x + sums)


def test_a_network_of_ones_own_is_flipped():
    torch.manual_seed(0)
    module, graph = MeanOfNeighbours().eval(), random_graph(12, 20)
    for node in range(12):
        found = xc.flip(module, graph, Node(node), kinds=("delete", "feature"))
        if found.found:
            edited = apply_edits(graph, found.changes).graph
            with torch.no_grad():
                assert int(module(edited.x, edited.edge_index)[node].argmax()) == found.reached != found.predicted


class ThreeConvolutions(nn.Module):
    """A plain network of PyTorch Geometric."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(GCNConv(*sizes) for sizes in ((5, 8), (8, 8), (8, 3)))

    def forward(self, x, edge_index):
        for layer in self.layers[:-1]:
            x = layer(x, edge_index).relu()
        return self.layers[-1](x, edge_index)


def test_a_network_of_pytorch_geometric_is_flipped():
    torch.manual_seed(0)
    module, graph = ThreeConvolutions().eval(), random_graph(14, 24)
    with torch.no_grad():
        module.layers[-1].bias -= module(graph.x, graph.edge_index).median(0).values  # or one class wins everywhere
    found = xc.flip_many(module, graph, [Node(i) for i in range(14)], most=2)
    assert any(flip.found for flip in found)
    for flip in found:
        if flip.found:
            edited = apply_edits(graph, flip.changes).graph
            with torch.no_grad():
                answer = int(module(edited.x, edited.edge_index)[flip.target.node].argmax())
            assert answer == flip.reached != flip.predicted


def test_directed_edges_are_cut_one_way():
    graph = Graph(torch.ones(4, 1), torch.tensor([[1, 2, 3, 0], [0, 0, 0, 1]]))
    found = xc.flip(counter(3.5), graph, Node(0))
    assert found.size == 1
    assert found.changes[0].target == 0


def test_nothing_is_left_on_the_model_and_progress_may_stop_it():
    class Stop(Exception):
        pass

    seen = []

    def stop(done, total):
        seen.append((done, total))
        raise Stop

    model, graph = network().train().requires_grad_(True), random_graph()
    before = state_of(model)
    with pytest.raises(Stop):
        xc.flip_many(model, graph, [Node(0), Node(1)], progress=stop)
    assert seen == [(0, 2)]
    assert state_of(model) == before
    calls = []
    xc.flip_many(model, graph, [Node(0), Node(1)], progress=lambda *now: calls.append(now))
    assert calls[-1] == (2, 2)
    assert calls == sorted(calls)
    assert state_of(model) == before
    tried = []
    found = xc.flip(model, graph, Node(0), progress=lambda done, _: tried.append(done))
    assert tried == sorted(tried)
    assert tried[-1] == found.tried


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kinds": ("cut",)}, "kinds must be some of delete, add, feature"),
        ({"kinds": "delete"}, "kinds must be some of"),
        ({"kinds": ()}, "kinds must be some of"),
        ({"most": 0}, "most must be 1 to 5"),
        ({"most": 6}, "most must be 1 to 5"),
        ({"to": 3}, "to must be 0 to 2"),
        ({"target": Node(99)}, "node must be 0 to 29"),
        ({"target": WholeGraph()}, "a node model predicts a node"),
    ],
)
def test_what_cannot_be_asked_is_refused(changes, message):
    settings = {"target": Node(0)} | changes
    with pytest.raises(ValueError, match=message):
        xc.flip(network(), random_graph(), **settings)
