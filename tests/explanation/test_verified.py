"""The verified search: against all parts there are, on paper, and what it promises of every table it fills."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from small_networks import FEATURES, case, counting_network, network, random_graph, sharp

from explainer_core.api import explain, explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation import search
from explainer_core.explanation.judging import Judge, edge_rows
from explainer_core.explanation.metrics import explained_class
from explainer_core.explanation.verifying import asked_of, finished, verifying
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import GNN, ModelSpec
from explainer_core.targets import Link, Node, WholeGraph

TASKS = ("node", "graph", "link")
QUICK = ExplainConfig(steps=15, features="none")
PROPOSALS = {
    "mask",
    "occlusion",
    "gradient",
    "integrated gradients",
    "mask, necessity 10",
    "growth",
}


def small_case(task, seed, kind="gcn"):
    """A network that is sure of itself, and targets whose computation graphs have at most nine edges."""
    model = sharp(network(kind, task, seed=seed, **({"num_classes": 2} if task == "link" else {})), 30.0)
    graphs = [random_graph(8, 9, seed=seed), random_graph(7, 9, seed=seed + 50)]
    targets = {
        "node": [Node(0), Node(1)],
        "link": [Link(0, 1), Link(2, 3)],
        "graph": [WholeGraph(0), WholeGraph(1)],
    }[task]
    return model, GraphSet.from_graphs(graphs) if task == "graph" else graphs[0], targets


def net_of(explanation, edges):
    net = nx.Graph(list(edges))
    net.add_nodes_from(explanation.roots)
    return net


def hangs_together(explanation, edges):
    """Every piece holds a node that is asked about. A whole graph has none, and may fall into pieces."""
    pieces = nx.connected_components(net_of(explanation, edges))
    return not explanation.roots or all(piece & set(explanation.roots) for piece in pieces)


def all_parts(explanation):
    """Every part there is, as rows over the pairs."""
    numbers = np.arange(1, 2 ** len(explanation.pairs))
    rows = (numbers[:, None] >> np.arange(len(explanation.pairs)) & 1).astype(bool)
    kept = [hangs_together(explanation, map(tuple, explanation.pairs[row].tolist())) for row in rows]
    return rows[np.array(kept, dtype=bool)]


def scores_of(model, data, explanation, rows):
    """Sufficiency + necessity by a fresh judgement, less what further pieces and another class cost: (rows,)."""
    judge, asked = Judge(model, data, [explanation]), asked_of(explanation)
    (alone,), (without,) = judge.alone([(0, rows)]), judge.without([(0, rows)])
    pieces = [nx.number_connected_components(nx.Graph(explanation.pairs[row].tolist())) for row in rows]
    cost = search.PIECE * (np.array(pieces) - 1) if not explanation.roots else 0.0
    kept = np.minimum(1, alone[:, asked.label] / asked.ceiling)
    other_class = search.LOSES_CLASS * (alone.argmax(1) != asked.label)
    return kept + asked.full - without[:, asked.label] - cost - other_class


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_the_best_of_each_size_is_nearly_always_the_best_of_all_there_are(task, share, monkeypatch):
    """Up to just above the size that is as good as any, and never better. Of equals any will do: here none are equal.

    Over 160 seeds 99.75 % of these sizes are exact on nodes, 99.8 % on links and all on graphs. Of all sizes 99.86 %,
    100 % and 100 % are within 0.005, and the worst misses by 0.0406, 0.0005 and 0.0001: the search exchanges and adds
    edges while that helps, so it may end in a local optimum. BY_CHANCE has no part in the larger misses.
    """
    monkeypatch.setattr(search, "EQUAL", 1e-9)
    near, every = [], []  # what is missed, at sizes up to just above the plateau and at all sizes
    for seed in range(share(160)):
        for kind in ("gcn", "gin"):
            model, data, targets = small_case(task, seed, kind)
            for explanation in explain_many(model, data, targets, QUICK):
                if not len(explanation.pairs):  # of a node without edges there is nothing to find
                    continue
                rows = all_parts(explanation)
                listed = edge_rows(explanation, [part.edges for part in explanation.table])
                best, reached = (best_by_size(model, data, explanation, some) for some in (rows, listed))
                assert best.keys() == reached.keys()
                enough = min(size for size in best if best[size] >= search.PLATEAU * max(best.values()))
                every += [best[size] - reached[size] for size in best]
                near += [best[size] - reached[size] for size in best if size <= enough + 2]
    assert min(every) > -1e-5
    assert np.mean(np.array(near) <= 1e-6) >= 0.99, sorted(near)[-10:]
    assert np.mean(np.array(every) <= 0.005) >= 0.995, sorted(every)[-10:]
    assert max(every) < 0.05


def best_by_size(model, data, explanation, rows):
    scores, sizes = scores_of(model, data, explanation, rows), rows.sum(1)
    return {int(size): scores[sizes == size].max() for size in np.unique(sizes)}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["gcn", "gat"])
def test_every_part_in_the_table_is_what_it_says(task, kind):
    for seed in range(3):
        model, data, targets = case(task, kind)
        for explanation in explain_many(sharp(model), data, targets, replace(QUICK, seed=seed)):
            label, judge = explained_class(explanation), Judge(model, data, [explanation])
            rows = edge_rows(explanation, [part.edges for part in explanation.table])
            (alone,), (without,) = judge.alone([(0, rows)]), judge.without([(0, rows)])
            for part, a, w in zip(explanation.table, alone, without, strict=True):
                assert len(set(part.edges)) == len(part.edges)
                assert part.edges == tuple(sorted(part.edges))
                assert hangs_together(explanation, part.edges)
                assert part.alone == pytest.approx(a[label], abs=1e-6)
                assert part.without == pytest.approx(w[label], abs=1e-6)
                assert part.keeps_class == (int(a.argmax()) == label)
                assert part.origin in PROPOSALS


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("unit", ["nodes", "edges"])
def test_there_is_a_part_of_every_size_and_never_a_larger_one(task, unit):
    model, data, targets = case(task)
    for explanation in explain_many(sharp(model), data, targets, replace(QUICK, k_m_unit=unit)):
        for k_m in range(1, 51):
            kept = explanation.subgraph(k_m)
            least = len(explanation.roots) if unit == "nodes" else 0
            assert len(getattr(kept, unit)) <= max(k_m, least)
            assert set(explanation.roots) <= set(kept.nodes)
            if unit == "edges":
                assert len(kept.edges) == min(k_m, len(explanation.pairs))


@pytest.mark.parametrize("task", TASKS)
def test_what_is_shown_of_a_size_is_what_was_preferred_among_equals(task, monkeypatch):
    """Whether nodes are counted or edges, and though a part for the one may be of a size that another is for in the other."""
    searches = []

    class Watched(search.Search):
        def _table(self):
            searches.append(self)
            return super()._table()

    monkeypatch.setattr("explainer_core.explanation.verifying.Search", Watched)
    for seed in range(3):
        model, data, targets = small_case(task, seed)
        searches.clear()
        explanations = explain_many(model, data, targets, QUICK)
        tables = {id(s.explanation.target): s for s in searches}
        for explanation in explanations:
            one = tables[id(explanation.target)]
            known = [part for part in one.known.values() if part.without is not None]
            for unit in ("nodes", "edges"):
                by_size = {}
                for part in known:
                    edges = one._judged(part).edges
                    size = len(edges) if unit == "edges" else len(set(sum(edges, ())) | set(explanation.roots))
                    by_size.setdefault(size, []).append(part)
                for size, parts in by_size.items():
                    best = max(part.score for part in parts)
                    preferred = min((p for p in parts if p.score >= best - search.EQUAL), key=one._preference)
                    assert explanation.judged(size, unit) == one._judged(preferred)


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("unit", ["nodes", "edges"])
def test_auto_is_the_smallest_size_within_a_tenth_of_the_best(task, unit, share):
    """Of the sizes that keep the class, where any does."""
    for seed in range(share(80)):
        model, data, targets = small_case(task, seed)
        for explanation in explain_many(model, data, targets, replace(QUICK, k_m_unit=unit)):
            if not len(explanation.pairs):
                continue  # one of many random nodes may have no edges, and then there are no sizes to choose from
            there = len(explanation.pairs) if unit == "edges" else len(set(explanation.nodes.tolist()))
            rows = edge_rows(explanation, [explanation.subgraph(k_m).edges for k_m in range(1, there + 1)])
            judge, label = Judge(model, data, [explanation]), explained_class(explanation)
            (classes,), without = judge.alone([(0, rows)]), judge.without([(0, rows)])[0][:, label]
            alone, keeps = classes[:, label], classes.argmax(1) == label
            full = explanation.probabilities[label]
            scores = np.minimum(1, alone / full) + full - without
            scores = np.where(keeps | ~keeps.any(), scores, -np.inf)
            good = scores >= scores.max() - 0.1 * abs(scores.max()) - 1e-6
            assert explanation.size == 1 + int(good.argmax())
            assert explanation.verdict.alone == pytest.approx(alone[good.argmax()], abs=1e-6)


def test_auto_never_goes_beyond_thirty():
    """A star of sixty leaves, each of which counts as much: every edge more is better."""
    graph = Graph(torch.ones(61, 1), undirected([(0, leaf) for leaf in range(1, 61)]))
    model = counting_network(1, strength=0.2)
    model.head.bias.copy_(torch.tensor([9.0, 0.0]))
    explanation = explain(model, graph, Node(0), ExplainConfig(steps=5, k_m_unit="edges"))
    assert 25 < explanation.size <= 30
    assert len(explanation.subgraph().edges) == explanation.size
    assert len(explanation.subgraph(45).edges) == 45


# On paper


def test_a_ring_whose_last_edge_is_needed_is_found():
    """A ring of five with tails: only the closed ring alone gives the class, and no part that lacks an edge of it does."""
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    graph = Graph(torch.ones(9, 1), undirected([*ring, (0, 5), (1, 6), (2, 7), (3, 8)]))
    model = closed_network()
    found = explain(model, graph, WholeGraph(), ExplainConfig(steps=30, features="none"), target_class=1)
    best = max(found.table, key=lambda part: part.alone)
    assert best.alone > 0.9
    assert set(best.edges) == set(ring)
    others = [part for part in found.table if not set(ring) <= set(part.edges)]
    assert others
    assert all(part.alone < 0.5 for part in others)
    assert found.subgraph(5).edges == tuple(sorted(ring))


def closed_network():
    """One layer sums the neighbours' ones and the own: 3 in a node of a ring, 2 at a loose end, 4 at a branch.

    Three units make a bump around 3: relu(h - 2) - 2 relu(h - 3) + relu(h - 4) is 1 at 3 and 0 at 2 and 4. Its mean
    is 1 in a ring alone and less in whatever has an end or a branch; the threshold of the class is 0.9.
    """
    spec = ModelSpec("gcn", "graph", in_features=1, num_classes=2, hidden=3, num_layers=1, normalize=False)
    model = GNN(spec).eval().requires_grad_(False)
    model.layers[0].linear.weight.fill_(1.0)
    model.layers[0].bias.copy_(torch.tensor([-2.0, -3.0, -4.0]))
    model.head[0].weight.zero_()
    model.head[0].weight[0] = torch.tensor([1.0, -2.0, 1.0])
    model.head[0].bias.zero_()
    model.head[2].weight.zero_()
    model.head[2].weight[1, 0] = 60.0
    model.head[2].bias.copy_(torch.tensor([54.0, 0.0]))
    return model


def test_two_edges_that_are_of_no_use_alone_are_found_together():
    """Class 1 needs the feature of node 2, and node 1 on the way to it has nothing to say."""
    x = torch.tensor([[0.01], [0.0], [5.0], [0.5], [0.5]])
    graph = Graph(x, undirected([(0, 1), (1, 2), (0, 3), (0, 4)]))
    model = counting_network(num_layers=2)
    model.head.bias[0] = 4.0
    found = explain(model, graph, Node(0), ExplainConfig(steps=5, k_m=2, k_m_unit="edges"), target_class=1)
    assert found.subgraph().edges == ((0, 1), (1, 2))
    assert found.verdict.keeps_class


# What the settings say


@pytest.mark.parametrize("task", TASKS)
def test_without_exchanges_only_the_proposals_are_chosen_among(task):
    """Every part is then a beginning of the order that one proposal has of the edges."""
    model, data, targets = case(task)
    for target in targets:
        plain = explain(sharp(model, 2.0), data, target, replace(QUICK, refine=False))
        refined = explain(model, data, target, QUICK)
        asked = asked_of(plain)
        assert {part.origin for part in plain.table} <= PROPOSALS - {"growth"}
        assert len(plain.table) > 2
        for part in plain.table:
            score = part.score(asked.full, asked.ceiling)
            same_size = [p.score(asked.full, asked.ceiling) for p in refined.table if len(p.edges) == len(part.edges)]
            slack = search.EQUAL + (search.PIECE * len(part.edges) if not plain.roots else 0)
            assert max(same_size) >= score - slack - 1e-6


@pytest.mark.parametrize("task", TASKS)
def test_without_exchanges_every_part_is_the_beginning_of_a_proposal(task):
    model, data, targets = case(task)
    for found in explain_many(sharp(model), data, targets, replace(QUICK, refine=False)):
        scores = {"one": np.random.default_rng(0).random(len(found.pairs)), "other": found.undirected()[1]}
        one = search.Search(found, scores, asked_of(found), exchanges=False)
        (orders,) = one.groups  # none of them is the same from every start
        beginnings = {(name, frozenset(order[: i + 1])) for name, order in orders for i in range(len(order))}
        rows, origins = one._proposed(orders)
        assert {
            (name, frozenset(np.flatnonzero(row).tolist())) for name, row in zip(origins, rows, strict=True)
        } == beginnings


@pytest.mark.parametrize("task", TASKS)
def test_the_mask_and_its_order_below_the_subgraph_are_untouched(task):
    model, data, targets = case(task)
    sharp(model)
    for target in targets:
        verified, mask = (explain(model, data, target, replace(QUICK, k_m=5), m) for m in ("verified", "gnnexplainer"))
        np.testing.assert_allclose(verified.edge_weight, mask.edge_weight, atol=1e-6)  # beside other masks in one batch
        kept = set(verified.subgraph().edges)
        orders = []
        for one in (verified, mask):
            pairs, scores = one.undirected()
            falling = map(tuple, pairs[np.argsort(-scores, kind="stable")].tolist())
            orders.append([pair for pair in falling if pair not in kept])
        assert orders[0] == orders[1]
        assert Counter(len(order) for order in orders) == {len(verified.pairs) - len(kept): 2}


def test_the_winner_is_where_the_shown_part_came_from():
    for task in TASKS:
        model, data, targets = case(task)
        for found in explain_many(sharp(model), data, targets, replace(QUICK, k_m=5)):
            (shown,) = (part for part in found.table if part.edges == found.subgraph().edges)
            assert found.verdict.winner == shown.origin
            assert found.verdict.winner in PROPOSALS


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_table_and_another_seed_another_mask(task):
    model, data, targets = case(task)
    sharp(model)
    one, same, other = (explain(model, data, targets[0], replace(QUICK, seed=seed)) for seed in (3, 3, 4))
    assert (one.table, one.size, one.verdict) == (same.table, same.size, same.verdict)
    assert one.subgraph() == same.subgraph()
    assert (one.edge_weight != other.edge_weight).all()


# Two that are the same graph


def twins():
    """The same graph twice in a set, and another one between."""
    graph = random_graph(8, 12)
    return sharp(network("gcn", "graph")), GraphSet.from_graphs([graph, random_graph(6, 8, seed=1), graph])


@pytest.mark.parametrize("method", ["random", "gnnexplainer"])
def test_chance_goes_by_the_number_of_a_graph_and_not_by_its_company(method):
    """After one step the mask is still its start: noise of its own for each of two graphs that are the same."""
    model, data = twins()
    settings = ExplainConfig(steps=1, features="none")
    one, _, twin = explain_many(model, data, [WholeGraph(i) for i in range(3)], settings, method)
    assert np.array_equal(one.edge_index, twin.edge_index)
    assert (one.edge_weight != twin.edge_weight).all()
    if method == "random":
        assert (one.feature_weight != twin.feature_weight).all()
    for found in (one, twin):
        for company in ([found.target], [WholeGraph(1), found.target], [found.target, WholeGraph(0)]):
            alone = explain_many(model, data, company, settings, method)[company.index(found.target)]
            np.testing.assert_allclose(alone.edge_weight, found.edge_weight, atol=1e-6)
    assert data.num_features == FEATURES


def test_another_start_changes_a_part_only_where_it_is_clearly_better(monkeypatch):
    """Whatever masks propose, a part that the other proposals lead to stays unless one of theirs beats it by far."""
    monkeypatch.setattr(search, "ROUNDS", 1)  # so that masks have something to find
    model = sharp(network("gcn", "graph", seed=5), 8.0)
    data = GraphSet.from_graphs([random_graph(30, 40, seed=5)])
    (bare,) = explain_many(model, data, [WholeGraph(0)], QUICK, "proximity")
    judge, asked, rng = Judge(model, data, [bare]), asked_of(bare), np.random.default_rng(0)

    def table(masks):
        steady = {"occlusion": np.arange(len(bare.pairs), dtype=float)}
        (found,) = finished(verifying(judge, [bare], [steady | masks], ["occlusion"]))
        return {len(part.edges): part for part in reversed(found.table)}  # the first of a size is the one for edges

    without_masks, changes = table({}), 0
    for _ in range(5):
        for size, part in table({"mask": rng.random(len(bare.pairs))}).items():
            before = without_masks.get(size)
            if before is not None and part.edges != before.edges and part.keeps_class == before.keeps_class:
                changes += 1
                pieces = [nx.number_connected_components(nx.Graph(list(each.edges))) for each in (part, before)]
                score, old = (each.score(asked.full, asked.ceiling) for each in (part, before))
                gain = score - old - search.PIECE * (pieces[0] - pieces[1])
                assert gain > search.BY_CHANCE - search.EQUAL - 1e-6
    assert changes
