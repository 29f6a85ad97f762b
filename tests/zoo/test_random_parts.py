"""Random connected parts: each a piece of its own graph, in one piece, of the size asked for, grown without favour."""

from collections import Counter

import networkx as nx
import pytest
import torch
from small_networks import network, random_set

from explainer_core.datasets.molecules import molecules
from explainer_core.graph import Batch, Graph, GraphSet, undirected
from explainer_core.zoo.random_parts import joined, random_parts, shares_kept

KITE = ((0, 1), (1, 2), (2, 0), (2, 3), (3, 4))  # a triangle with a tail


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def numbered(edge_index, num_nodes, **fields):
    """A graph whose only feature is the node's number, so that a part's nodes can be told."""
    return Graph(torch.arange(float(num_nodes)).unsqueeze(1), edge_index, **fields)


def edge_sets(batch: Batch) -> list[set]:
    """The directed edges of each graph of a batch, by the nodes' numbers in their first feature."""
    found = [set() for _ in range(batch.num_graphs)]
    owner = batch.graph_of[batch.edge_index[0]]
    for graph, ends in zip(owner.tolist(), batch.x[:, 0].long()[batch.edge_index].t().tolist(), strict=True):
        found[graph].add(tuple(ends))
    return found


def batch_of(*graphs):
    return GraphSet.from_graphs(graphs).batch(range(len(graphs)))


def test_every_part_is_a_connected_graph_of_its_own():
    data = molecules()
    batch = data.batch(range(len(data)))
    graphs = Batch(torch.arange(len(batch.x)).unsqueeze(1).float(), batch.edge_index, batch.graph_of, batch.num_graphs)
    for seed in range(5):
        parts = random_parts(graphs, seeded(seed))
        assert parts.num_graphs == len(data)
        for graph, (edges, all_edges) in enumerate(zip(edge_sets(parts), edge_sets(graphs), strict=True)):
            assert edges <= all_edges
            assert {pair[::-1] for pair in edges} == edges
            net = nx.Graph(list(edges))
            assert nx.is_connected(net)
            assert set(net) == set(parts.x[parts.graph_of == graph, 0].long().tolist())


@pytest.mark.parametrize("share", [0.1, 0.35, 0.5, 0.9])
def test_a_part_has_the_share_of_the_edges_that_was_asked_for(share):
    graphs = [numbered(undirected(nx.random_regular_graph(3, size, seed=1).edges), size) for size in (10, 20, 40)]
    parts = random_parts(batch_of(*graphs), seeded(), share, share)
    for graph, edges in zip(graphs, edge_sets(parts), strict=True):
        assert len(edges) == 2 * torch.tensor(share * graph.num_edges / 2).ceil()


def test_sizes_are_spread_evenly_between_the_bounds():
    ring = numbered(undirected(nx.cycle_graph(100).edges), 100)
    sizes = torch.tensor([len(edges) / 200 for edges in edge_sets(random_parts(batch_of(*[ring] * 500), seeded()))])
    assert sizes.min() >= 0.1
    assert sizes.max() <= 0.91
    assert sizes.quantile(torch.tensor([0.25, 0.5, 0.75])).tolist() == pytest.approx([0.3, 0.5, 0.7], abs=0.05)


def exact_growth(pairs, size) -> Counter:
    """How likely each part is if it starts from any edge, and any edge that touches it may be the next."""
    chances = Counter({frozenset([pair]): 1 / len(pairs) for pair in pairs})
    for _ in range(size - 1):
        grown = Counter()
        for part, chance in chances.items():
            touching = [p for p in pairs if p not in part and any(set(p) & set(q) for q in part)]
            for pair in touching:
                grown[part | {pair}] += chance / len(touching)
        chances = grown
    return chances


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_parts_are_as_likely_as_on_paper(size):
    copies, share = 4000, (size - 0.5) / len(KITE)
    parts = random_parts(batch_of(*[numbered(undirected(KITE), 5)] * copies), seeded(), share, share)
    pairs = tuple(tuple(sorted(pair)) for pair in KITE)
    seen = Counter(frozenset(tuple(sorted(pair)) for pair in edges) for edges in edge_sets(parts))
    expected = exact_growth(pairs, size)
    assert set(seen) == set(expected)
    for part, chance in expected.items():
        assert seen[part] / copies == pytest.approx(chance, abs=0.035)  # more than four standard errors


def test_a_graph_without_edges_is_its_own_part():
    parts = random_parts(batch_of(*[numbered(undirected([]), 3)] * 2), seeded())
    assert parts.x.flatten().tolist() == [0, 1, 2, 0, 1, 2]
    assert parts.edge_index.shape == (2, 0)
    mixed = random_parts(batch_of(numbered(undirected([]), 1), numbered(undirected(KITE), 5)), seeded())
    assert mixed.graph_of.tolist().count(0) == 1
    assert mixed.edge_index.shape[1] > 0


def test_a_part_never_leaves_its_component_and_lone_nodes_are_not_in_it():
    salt = numbered(undirected([(0, 1), (1, 2), (3, 4), (4, 5)]), 7)
    for edges in edge_sets(random_parts(batch_of(*[salt] * 50), seeded(), 0.9, 0.9)):
        assert set(map(tuple, map(sorted, edges))) in ({(0, 1), (1, 2)}, {(3, 4), (4, 5)})


def test_types_stay_with_their_edges_and_directed_edges_stay_directed():
    edges = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 3]])
    graph = numbered(edges, 4, edge_types=torch.tensor([0, 1, 2, 3]), edge_type_names=("a", "b", "c", "d"))
    kind = {pair: i for i, pair in enumerate(map(tuple, edges.t().tolist()))}
    parts = random_parts(batch_of(*[graph] * 20), seeded())
    ends = parts.x[:, 0].long()[parts.edge_index].t().tolist()
    assert [kind[tuple(pair)] for pair in ends] == parts.edge_types.tolist()


def test_parts_come_from_their_generator_alone():
    batch = batch_of(*[numbered(undirected(KITE), 5)] * 30)
    before = torch.get_rng_state()
    one, same, other = (edge_sets(random_parts(batch, seeded(seed))) for seed in (3, 3, 4))
    assert one == same != other
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("kind", ["gin", "rgcn"])
def test_joined_batches_give_the_logits_of_one_by_one(kind):
    graphs, model = random_set(typed=True), network(kind, "graph")
    one, other = graphs.batch([0, 1, 2]), graphs.batch([3, 1])
    judged = [
        model(b.x, b.edge_index, edge_type=b.edge_types, graph_of=b.graph_of, num_graphs=b.num_graphs)
        for b in (joined(one, other), one, other)
    ]
    torch.testing.assert_close(judged[0], torch.cat(judged[1:]))


def test_the_share_a_part_keeps_is_of_its_own_graph():
    batch = batch_of(numbered(undirected([(i, i + 1) for i in range(10)]), 11), numbered(undirected([]), 2))
    assert shares_kept(batch, random_parts(batch, seeded(), 0.3, 0.3)).tolist() == pytest.approx([0.3, 1.0])
    assert shares_kept(batch, batch).tolist() == [1.0, 1.0]
