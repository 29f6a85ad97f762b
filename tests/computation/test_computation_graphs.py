"""Computation graphs: all that can influence a prediction, nothing else, and the same answer from it."""

import gc
import weakref
from dataclasses import replace

import networkx as nx
import pytest
import torch
from small_networks import network, random_graph, random_set
from torch_geometric.utils import k_hop_subgraph

from explainer_core.computation import in_edges
from explainer_core.computation.batches import check_targets, computation_of, computations
from explainer_core.computation.computation_graph import undirected_edges
from explainer_core.computation.forward import run
from explainer_core.computation.in_edges import InEdges
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import KINDS
from explainer_core.targets import Link, Node, WholeGraph

ALL = 10**6  # more edges than any graph here has


def around(graph, targets, num_layers=2, **settings):
    return computation_of(graph, targets, num_layers, **{"max_edges": ALL} | settings)


def hops_by_networkx(graph, node, num_layers):
    """Hops of all nodes from which a walk of at most L steps leads to this one."""
    net = nx.DiGraph()
    net.add_nodes_from(range(graph.num_nodes))
    net.add_edges_from(graph.edge_index.t().tolist())
    return dict(nx.single_source_shortest_path_length(net.reverse(), node, cutoff=num_layers))


def without(graph, a, b):
    """The graph with no edge between two nodes, in either direction."""
    source, head = graph.edge_index
    keep = ~(((source == a) & (head == b)) | ((source == b) & (head == a)))
    types = None if graph.edge_types is None else graph.edge_types[keep]
    return replace(graph, edge_index=graph.edge_index[:, keep], edge_types=types)


def instance_edges(computation, instance):
    return computation.edge_ids[computation.edge_instance == instance].tolist()


GRAPHS = {
    "undirected": random_graph(30, 40),
    "directed": random_graph(30, 50, directed=True, seed=1),
    "sparse": random_graph(30, 12, directed=True, seed=2),
    "dense": random_graph(12, 60, seed=3),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("num_layers", [1, 2, 4])
def test_a_computation_graph_is_what_a_search_backwards_finds(name, num_layers):
    graph = GRAPHS[name]
    for node in range(graph.num_nodes):
        found = around(graph, [Node(node)], num_layers)
        hops = hops_by_networkx(graph, node, num_layers)
        assert dict(zip(found.node_ids.tolist(), found.hop.tolist(), strict=True)) == hops
        heads = graph.edge_index[1].tolist()
        assert sorted(found.edge_ids.tolist()) == [e for e, h in enumerate(heads) if hops.get(h, ALL) < num_layers]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_nodes_are_those_of_pyg(name):
    graph = GRAPHS[name]
    for node in range(graph.num_nodes):
        theirs = k_hop_subgraph(node, 3, graph.edge_index, num_nodes=graph.num_nodes)[0]
        assert around(graph, [Node(node)], 3).node_ids.sort().values.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_nodes_and_edges_are_those_of_the_graph(name):
    graph = GRAPHS[name]
    found = around(graph, [Node(node) for node in range(graph.num_nodes)], 3)
    assert torch.equal(found.x, graph.x[found.node_ids])
    assert torch.equal(found.node_ids[found.edge_index], graph.edge_index[:, found.edge_ids])
    assert torch.equal(found.degree, graph.in_degree[found.node_ids])
    assert not found.sampled.any()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("copies", [1, 3])
def test_everything_is_sorted_by_hop_and_each_layer_takes_a_prefix(name, copies):
    graph, targets = GRAPHS[name], [Node(3), Node(0), Node(7)]
    found = around(graph, targets, 3).repeated(copies)
    count = len(targets) * copies
    assert found.node_ids[:count].tolist() == [target.node for target in targets for _ in range(copies)]
    assert found.node_instance[:count].tolist() == list(range(count))
    head_hop = found.hop[found.edge_index[1]]
    assert (found.hop.diff() >= 0).all()
    assert (head_hop.diff() >= 0).all()
    for layer, (nodes, edges) in enumerate(found.prefixes, start=1):
        assert nodes == (found.hop <= 3 - layer).sum()
        assert edges == (head_hop <= 3 - layer).sum()


@pytest.mark.parametrize("copies", [1, 4])
def test_no_edge_leaves_its_instance(copies):
    found = around(GRAPHS["undirected"], [Node(i) for i in range(10)]).repeated(copies)
    assert torch.equal(found.node_instance[found.edge_index], found.edge_instance.expand(2, -1))
    links = around(GRAPHS["dense"], [Link(0, 1), Link(2, 5)])
    assert torch.equal(links.node_instance[links.edge_index], links.edge_instance.expand(2, -1))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_batch_holds_what_each_would_be_alone(name):
    graph, nodes = GRAPHS[name], [5, 0, 11, 5]
    together = around(graph, [Node(node) for node in nodes], 3)
    for instance, node in enumerate(nodes):
        alone = around(graph, [Node(node)], 3)
        assert instance_edges(together, instance) == alone.edge_ids.tolist()
        mine = together.node_instance == instance
        assert together.node_ids[mine].tolist() == alone.node_ids.tolist()
        assert together.hop[mine].tolist() == alone.hop.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_the_answer_for_a_node_is_that_of_the_whole_graph(kind, directed):
    graph = random_graph(30, 45, directed=directed, typed=True, seed=4)
    model = network(kind, num_layers=3)
    whole = model(graph.x, graph.edge_index, edge_type=graph.edge_types)
    found = around(graph, [Node(node) for node in range(30)], 3)
    torch.testing.assert_close(run(model, found, "node"), whole, atol=1e-5, rtol=1e-5)
    copies = run(model, found.repeated(3), "node")
    torch.testing.assert_close(copies, whole.repeat_interleave(3, 0), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("kind", "normalize"), [*((kind, True) for kind in KINDS), ("gcn", False), ("gat", False)])
def test_the_answer_for_a_link_is_that_of_the_graph_without_it(kind, normalize):
    graph = random_graph(12, 30, typed=True, seed=5)
    model = network(kind, "link", normalize=normalize)
    pairs = [*map(tuple, graph.edge_index.t()[:8].tolist()), (0, 1), (10, 11), (11, 10)]
    expected = []
    for a, b in pairs:
        rest = without(graph, a, b)
        expected.append(model(rest.x, rest.edge_index, edge_type=rest.edge_types, links=torch.tensor([[a], [b]])))
    found = around(graph, [Link(a, b) for a, b in pairs])
    torch.testing.assert_close(run(model, found, "link"), torch.cat(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gat"])
def test_a_link_of_a_directed_graph_is_hidden_in_both_directions(kind):
    graph = random_graph(12, 60, directed=True, seed=6)
    model = network(kind, "link")
    for a, b in graph.edge_index.t()[:10].tolist():
        rest = without(graph, a, b)
        whole = model(rest.x, rest.edge_index, links=torch.tensor([[a], [b]]))
        torch.testing.assert_close(run(model, around(graph, [Link(a, b)]), "link"), whole, atol=1e-5, rtol=1e-5)


def test_each_link_hides_itself_and_not_the_others():
    graph = Graph(torch.ones(4, 1), undirected([(0, 1), (1, 2), (2, 3), (3, 0)]))
    found = around(graph, [Link(0, 1), Link(1, 2)], 3)
    for instance, hidden in enumerate([(0, 1), (0, 1), (1, 2), (1, 2)]):
        seen = {tuple(sorted(graph.edge_index[:, e].tolist())) for e in instance_edges(found, instance)}
        assert seen == {(0, 1), (1, 2), (2, 3), (0, 3)} - {hidden}


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_for_a_whole_graph_is_that_of_the_graph_alone(kind):
    graphs, model = random_set(typed=True), network(kind, "graph", readout="sum")
    order = [2, 0, 3, 2]
    alone = torch.cat([model(graphs[i].x, graphs[i].edge_index, edge_type=graphs[i].edge_types) for i in order])
    found = around(graphs, [WholeGraph(i) for i in order])
    torch.testing.assert_close(run(model, found, "graph"), alone, atol=1e-5, rtol=1e-5)
    copies = run(model, found.repeated(2), "graph")
    torch.testing.assert_close(copies, alone.repeat_interleave(2, 0), atol=1e-5, rtol=1e-5)
    single = run(model, around(graphs[1], [WholeGraph()]), "graph")
    whole = model(graphs[1].x, graphs[1].edge_index, edge_type=graphs[1].edge_types)
    torch.testing.assert_close(single, whole, atol=1e-5, rtol=1e-5)


def test_a_whole_graph_keeps_every_node_and_edge_by_its_own_number():
    graphs = random_set()
    found = around(graphs, [WholeGraph(3), WholeGraph(1)])
    for instance, graph in enumerate((graphs[3], graphs[1])):
        nodes, edges = found.node_instance == instance, found.edge_instance == instance
        assert found.node_ids[nodes].tolist() == list(range(graph.num_nodes))
        assert found.edge_ids[edges].tolist() == list(range(graph.num_edges))
        assert torch.equal(found.node_ids[found.edge_index[:, edges]], graph.edge_index)
    assert found.prefixes is None
    assert not found.hop.any()


@pytest.mark.parametrize(
    "edge_index", [torch.empty(2, 0, dtype=torch.int64), undirected([(0, 1)])], ids=["none", "one"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_isolated_node_is_a_computation_graph_of_its_own(edge_index, kind):
    types = {"edge_types": torch.zeros(edge_index.shape[1], dtype=torch.int64), "edge_type_names": ("a", "b", "c")}
    graph, model = Graph(torch.ones(4, 5), edge_index, **types), network(kind, num_layers=3)
    found = around(graph, [Node(2), Node(3)], 3)
    assert found.node_ids.tolist() == [2, 3]
    assert found.num_edges == 0
    assert found.prefixes == ((2, 0),) * 3
    whole = model(graph.x, graph.edge_index, edge_type=graph.edge_types)
    torch.testing.assert_close(run(model, found, "node"), whole[2:])


def test_graphs_without_edges_are_computation_graphs_too():
    empty = Graph(torch.ones(3, 5), torch.empty(2, 0, dtype=torch.int64))
    found = around(GraphSet.from_graphs([empty, empty]), [WholeGraph(1), WholeGraph(0)])
    assert (found.num_nodes, found.num_edges, found.num_instances) == (6, 0, 2)
    assert around(empty, [Link(0, 2)]).node_ids.tolist() == [0, 2]


def star(leaves=50):
    """Node 0 in the middle of leaves, and a path of three far from it."""
    pairs = [(0, leaf) for leaf in range(1, leaves + 1)]
    return Graph(torch.ones(leaves + 4, 1), undirected([*pairs, (leaves + 1, leaves + 2), (leaves + 2, leaves + 3)]))


def test_a_hub_is_sampled_to_exactly_as_many_edges_as_allowed():
    graph = star()
    for limit in (1, 7, 49):
        found = around(graph, [Node(0)], 1, max_edges=limit)
        assert found.num_edges == limit
        assert len(found.edge_ids.unique()) == limit
        assert found.sampled.tolist() == [True]
        assert (graph.edge_index[1, found.edge_ids] == 0).all()
    whole = around(graph, [Node(0)], 1, max_edges=50)
    assert whole.num_edges == 50
    assert whole.sampled.tolist() == [False]


def test_the_limit_counts_all_hops():
    for limit in (20, 60, 99):
        found = around(star(), [Node(0)], 2, max_edges=limit)
        assert found.num_edges == limit
        assert found.sampled.all()
        assert set(found.edge_index.unique().tolist()) == set(range(found.num_nodes))
    assert not around(star(), [Node(0)], 2, max_edges=100).sampled.any()


def test_a_sample_depends_on_its_seed_alone():
    def sample(seed, *others):
        return instance_edges(around(star(), [Node(0), *others], 1, max_edges=10, seed=seed), 0)

    assert sample(0) == sample(0) == sample(0, Node(51), Node(0))
    assert set(sample(0)) != set(sample(1))


def test_over_the_seeds_every_edge_has_the_same_chance():
    counts = torch.zeros(star().num_edges)
    for seed in range(200):
        counts[around(star(), [Node(0)], 1, max_edges=10, seed=seed).edge_ids] += 1
    chances = counts[counts > 0]  # 200 draws of 10 out of 50: 40 each, give or take 5.7
    assert len(chances) == 50
    assert (chances - 40).abs().max() < 25


def test_a_small_neighbourhood_is_left_whole_beside_a_sampled_one():
    graph = star()
    found = around(graph, [Node(52), Node(0), Node(53)], 2, max_edges=10)
    assert found.sampled.tolist() == [False, True, False]
    for instance, node in ((0, 52), (2, 53)):
        assert instance_edges(found, instance) == around(graph, [Node(node)], 2).edge_ids.tolist()


def test_a_hidden_link_takes_no_room_in_the_sample():
    """The asked link does not count: 49 edges are left at the hub, and 49 fit."""
    found = around(star(), [Link(0, 1)], 1, max_edges=49)
    assert len(instance_edges(found, 0)) == 49
    assert not found.sampled.any()
    for seed in range(20):
        assert len(instance_edges(around(star(), [Link(0, 1)], 1, max_edges=10, seed=seed), 0)) == 10


def test_the_index_is_built_once_for_each_graph_and_freed_with_it():
    gc.collect()  # graphs of other tests are gone before we count
    graph = random_graph()
    index = InEdges.of(graph)
    assert InEdges.of(graph) is index
    held, before = weakref.ref(index), len(in_edges._indexes)
    del graph, index
    gc.collect()
    assert held() is None
    assert len(in_edges._indexes) == before - 1


def test_the_index_lists_the_edges_into_every_node():
    graph = GRAPHS["directed"]
    index = InEdges.of(graph)
    for node in range(graph.num_nodes):
        mine = index.edges[index.start[node] : index.start[node + 1]]
        assert mine.tolist() == (graph.edge_index[1] == node).nonzero().flatten().tolist()


@pytest.mark.parametrize("budget", [1, 40, 300, ALL])
def test_pieces_cover_all_targets_in_order_and_keep_to_their_budget(budget):
    graph = GRAPHS["undirected"]
    targets = [Node(node) for node in (*range(30), *range(29, -1, -1))]
    pieces = list(computations(graph, targets, 2, max_edges=ALL, budget=budget))
    assert [target for piece, _ in pieces for target in piece] == targets
    for piece, found in pieces:
        assert found.node_ids[: len(piece)].tolist() == [target.node for target in piece]
        assert len(piece) == 1 or found.num_edges <= 2 * budget
    assert budget != 1 or all(len(piece) == 1 for piece, _ in pieces)
    assert list(computations(graph, [], 2, max_edges=ALL, budget=budget)) == []


def test_targets_that_fit_together_are_one_piece():
    ring = torch.stack([torch.arange(100), torch.arange(1, 101) % 100])
    graph, targets = Graph(torch.ones(100, 1), ring), [Node(node) for node in range(100)]
    assert [len(piece) for piece, _ in computations(graph, targets, 1, max_edges=ALL, budget=200)] == [100]


def test_a_hub_among_light_targets_is_cut_off_and_the_others_stay_together():
    """Without the hub all fit, with it none does: pieces must neither grow and shrink for ever nor fall to single ones."""
    spokes = torch.stack([torch.arange(1, 500), torch.zeros(499, dtype=torch.int64)])
    graph = Graph(torch.ones(600, 1), torch.cat([spokes, torch.tensor([[501, 502], [502, 503]])], 1))
    targets = [Node(node) for node in [*range(510, 540), 0, *range(540, 580)]]
    sizes = [len(piece) for piece, _ in computations(graph, targets, 1, max_edges=ALL, budget=100)]
    assert sum(sizes) == len(targets)
    assert len(sizes) <= 10


def test_both_directions_of_an_edge_share_a_number_and_types_do_not():
    types = {"edge_types": torch.tensor([0, 0, 1, 1, 0]), "edge_type_names": ("a", "b")}
    graph = Graph(torch.ones(3, 1), torch.tensor([[0, 1, 0, 1, 1], [1, 0, 1, 0, 2]]), **types)
    number, count = undirected_edges(around(graph, [WholeGraph()]))
    assert count == 3
    assert number[0] == number[1] != number[2] == number[3]
    assert number[4] not in number[:4]
    doubled, count = undirected_edges(around(graph, [WholeGraph()]).repeated(2))
    assert (len(doubled), count) == (10, 6)


ONE, MANY = GRAPHS["undirected"], random_set()


@pytest.mark.parametrize(
    ("data", "targets", "message"),
    [
        (ONE, [Node(30)], r"node must be 0 to 29 \(got 30\)"),
        (ONE, [Node(-1)], r"node must be 0 to 29 \(got -1\)"),
        (ONE, [Node(True)], r"node must be 0 to 29 \(got True\)"),
        (ONE, [Node(1.0)], r"node must be 0 to 29 \(got 1.0\)"),
        (ONE, [Node("1")], r"node must be 0 to 29 \(got '1'\)"),
        (ONE, [Node(None)], r"node must be 0 to 29 \(got None\)"),
        (ONE, [Node(0), Node(99)], r"\(got 99\)"),
        (ONE, [Link(0, 30)], r"node must be 0 to 29 \(got 30\)"),
        (ONE, [Link(-2, 0)], r"node must be 0 to 29 \(got -2\)"),
        (ONE, [Link(3, 3)], r"a link must join two different nodes \(got Link\(source=3, head=3\)\)"),
        (ONE, [Node(0), Link(0, 1)], r"targets must all be Node, .+ \(got \['Link', 'Node'\]\)"),
        (ONE, [5], r"targets must all be Node, .+ \(got \['int'\]\)"),
        (ONE, [WholeGraph(0)], r"WholeGraph takes no number for a single graph \(got 0\); pass WholeGraph\(\)"),
        (MANY, [Node(0)], r"a Node lies in one graph \(got a GraphSet\); pass graphs\[i\]"),
        (MANY, [Link(0, 1)], r"a Link lies in one graph"),
        (MANY, [WholeGraph()], r"WholeGraph needs the number of the graph .+ pass WholeGraph\(i\) or graphs\[i\]"),
        (MANY, [WholeGraph(4)], r"graph must be 0 to 3 \(got 4\)"),
        (MANY, [WholeGraph(-1)], r"graph must be 0 to 3 \(got -1\)"),
        (MANY, [WholeGraph(True)], r"graph must be 0 to 3 \(got True\)"),
    ],
)
def test_a_target_that_is_not_there_says_so(data, targets, message):
    with pytest.raises(ValueError, match=message):
        check_targets(data, targets)


def test_targets_that_are_there_pass():
    for data, targets in ((ONE, [Node(0), Node(29)]), (ONE, [Link(0, 29)]), (MANY, [WholeGraph(3)]), (ONE, [])):
        check_targets(data, targets)


def test_the_graph_of_one_target_is_cut_once_until_the_data_change():
    graph = random_graph()
    asked = {"hops": 2, "max_edges": 1000}
    first = computation_of(graph, [Node(3)], **asked)
    assert computation_of(graph, [Node(3)], **asked, seed=7) is first  # nothing is drawn by chance
    assert computation_of(graph, [Node(4)], **asked) is not first
    few = {"hops": 2, "max_edges": 2}
    assert computation_of(graph, [Node(3)], **few) is computation_of(graph, [Node(3)], **few)
    assert computation_of(graph, [Node(3)], **few) is not computation_of(graph, [Node(3)], **few, seed=7)
    graph.x.add_(1)
    changed = computation_of(graph, [Node(3)], **asked)
    assert torch.equal(changed.x, graph.x[changed.node_ids])
