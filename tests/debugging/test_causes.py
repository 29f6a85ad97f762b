"""Causes of mistakes: each rule on a graph made by hand, and silence where none holds."""

import torch
from torch import nn

import explainer_core as xc
from explainer_core.debugging.causes import RULES, causes_of, truth_of
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import PredictionBatch
from explainer_core.targets import Link, Node, WholeGraph
from tests.small_networks import network, random_graph, random_set

CLASSES = ("a", "b", "c")


class OwnAndNeighbours(nn.Module):
    """Adds a node's own row times `own`, the mean of its neighbours' rows times `theirs`, and a bias: rows are class scores."""

    task, num_classes, hops = "node", 3, 1

    def __init__(self, own=1.0, theirs=1.0, bias=(0.0, 0.0, 0.0)):
        super().__init__()
        self.own, self.theirs, self.bias = own, theirs, torch.tensor(bias)

    def logits(self, batch: PredictionBatch, edge_weight=None, x=None):
        x = batch.x if x is None else x
        weight = x.new_ones(batch.edge_index.shape[1]) if edge_weight is None else edge_weight
        sums = torch.zeros_like(x).index_add(0, batch.edge_index[1], x[batch.edge_index[0]] * weight[:, None])
        degree = torch.zeros(len(x)).index_add(0, batch.edge_index[1], torch.ones(batch.edge_index.shape[1]))
        mean = sums / degree.clamp(min=1)[:, None]
        return (self.own * x + self.theirs * mean + self.bias)[batch.targets]


def graph(edges, rows, labels):
    return Graph(
        torch.tensor(rows, dtype=torch.float32), undirected(edges), labels=torch.tensor(labels), class_names=CLASSES
    )


def triangles(rows_of_first, label_of_first, joined_to):
    """Node 0 with these scores, joined to one of two triangles: 1 to 3 are sure to be a, 4 to 6 sure to be b."""
    edges = [(1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)] + [(0, node) for node in joined_to]
    rows = [rows_of_first] + [[3.0, 0.0, 0.0]] * 3 + [[0.0, 3.0, 0.0]] * 3
    return graph(edges, rows, [label_of_first, 0, 0, 0, 1, 1, 1])


def rules(model, data, target=None):
    return [cause.rule for cause in causes_of(model, data, [Node(0) if target is None else target])[0]]


def test_a_node_without_edges_is_isolated():
    data = triangles([0.0, 2.0, 0.0], 0, ())
    assert rules(OwnAndNeighbours(), data)[0] == "isolated"
    assert "isolated" not in rules(OwnAndNeighbours(), triangles([0.0, 2.0, 0.0], 0, (4,)))
    loop = Graph(
        data.x, torch.cat([data.edge_index, torch.tensor([[0], [0]])], 1), labels=data.labels, class_names=CLASSES
    )
    assert rules(OwnAndNeighbours(), loop)[0] == "isolated"  # a loop is no neighbour


def test_no_neighbour_of_the_true_class_within_reach():
    model = OwnAndNeighbours(own=0.0)
    assert rules(model, triangles([0.0, 0.0, 0.0], 0, (4, 5)))[0] == "out_of_reach"
    assert "out_of_reach" not in rules(model, triangles([0.0, 0.0, 0.0], 0, (4, 5, 1)))
    cause = xc.cause_of(model, triangles([0.0, 0.0, 0.0], 0, (4, 5)), Node(0))
    assert cause.text == "None of the 2 nodes within its reach is a."


def test_where_neighbours_do_not_tell_the_class_they_are_no_cause():
    """A star whose leaves are b and whose centre is a: no node has a neighbour of its own class."""
    data = graph([(0, 1), (0, 2), (0, 3)], [[0.0, 2.0, 0.0]] * 4, [0, 1, 1, 1])
    assert not {"out_of_reach", "contradicted"} & set(rules(OwnAndNeighbours(), data))


def test_a_near_tie_with_the_true_class():
    model = OwnAndNeighbours(theirs=0.0)
    assert rules(model, triangles([1.0, 1.1, 0.0], 0, (1, 4)))[0] == "near_tie"
    assert "near_tie" not in rules(model, triangles([1.0, 3.0, 0.0], 0, (1, 4)))
    assert "near_tie" not in rules(model, triangles([1.0, 1.1, 0.0], 2, (1, 4)))  # the true class is far behind
    assert "near_tie" not in rules(model, triangles([1.1, 1.0, 0.0], 0, (1, 4)))  # it is right


def test_neighbours_of_the_predicted_class_contradict():
    model = OwnAndNeighbours(own=0.0)
    assert rules(model, triangles([0.0, 0.0, 0.0], 0, (4, 5, 1)))[0] == "contradicted"
    cause = causes_of(model, triangles([0.0, 0.0, 0.0], 0, (4, 5, 1)), [Node(0)])[0][0]
    assert cause.numbers == {"neighbours": 3, "predicted": 2, "true": 1}
    assert "contradicted" not in rules(OwnAndNeighbours(bias=(0.0, 9.0, 0.0)), triangles([0.0, 0.0, 0.0], 0, (1, 2, 4)))


def test_the_default_class_where_nothing_moves_the_network():
    model = OwnAndNeighbours(own=0.01, theirs=0.01, bias=(0.0, 4.0, 0.0))
    graph = triangles([0.0, 0.0, 0.0], 0, (1, 2))
    assert rules(model, graph)[0] == "default"
    (cause,) = [each for each in causes_of(model, graph, [Node(0)])[0] if each.rule == "default"]
    assert f"({100 * cause.numbers['probability']:.0f}\u00a0%)." in cause.text  # the figure, and no more than it says
    assert "default" not in rules(OwnAndNeighbours(), triangles([0.0, 2.0, 0.0], 0, (1, 4)))


def test_structure_misleads_where_the_network_is_right_without_edges():
    data = triangles([2.0, 0.0, 0.0], 0, (4, 1, 5))
    model = OwnAndNeighbours(own=1.0, theirs=4.0, bias=(0.0, 1.9, 0.0))
    assert "structure" in rules(model, data)
    assert "features" not in rules(model, data)


def test_features_mislead_where_the_network_is_right_with_features_hidden():
    """The bias says a; the features of the node say b, and nobody else speaks for a."""
    data = triangles([0.0, 9.0, 0.0], 0, (1, 4))
    model = OwnAndNeighbours(own=1.0, theirs=0.0, bias=(2.0, 0.0, 0.0))
    assert rules(model, data) == ["features"]


def test_where_no_rule_holds_nothing_is_said():
    right = triangles([3.0, 0.0, 0.0], 0, (1, 2))
    assert xc.cause_of(OwnAndNeighbours(), right, Node(0)) is None
    unknown = triangles([0.0, 3.0, 0.0], -1, (1, 2))
    assert xc.cause_of(OwnAndNeighbours(), unknown, Node(0)) is None
    # c is wrong for reasons that no rule knows: own features say c, and so do the hidden ones by way of the bias
    other = triangles([0.0, 0.0, 9.0], 0, (1, 2))
    assert xc.cause_of(OwnAndNeighbours(own=2.0, bias=(0.0, 0.0, 1.0)), other, Node(0)) is None


def test_many_at_once_are_each_as_alone():
    data, model = random_graph(20, 30, labels=torch.arange(20) % 3, class_names=CLASSES), network("gat")
    targets = [Node(i) for i in range(20)]
    together = causes_of(model, data, targets)
    assert together == [causes_of(model, data, [target])[0] for target in targets]
    assert any(together)
    assert {cause.rule for causes in together for cause in causes} <= set(RULES)


def test_graphs_and_links_have_causes_too():
    graphs = random_set()
    graphs = GraphSet(**vars(graphs) | {"labels": torch.tensor([0, 1, 2, 0]), "class_names": CLASSES})
    lonely = Graph(torch.ones(2, 5), torch.empty(2, 0, dtype=torch.int64), label=0, class_names=CLASSES)
    model = network("gin", "graph")
    assert len(causes_of(model, graphs, [WholeGraph(i) for i in range(4)])) == 4
    wrong = 1 + int(model(lonely.x, lonely.edge_index).argmax())
    assert causes_of(model, lonely, [WholeGraph()], [wrong % 3])[0][0].rule == "isolated"
    data = random_graph()
    a, b = data.edge_index[:, 0].tolist()
    assert truth_of(data, Link(a, b)) == truth_of(data, Link(b, a)) == 1
    lone = Graph(torch.ones(3, 5), undirected([(0, 1)]))
    assert truth_of(lone, Link(0, 2)) == 0
    linker = network("gcn", "link")
    for truth in (0, 1):
        found = causes_of(linker, lone, [Link(0, 1)], [truth])[0]
        assert not found or found[0].text == "Both ends of the link have no edges to learn from."
