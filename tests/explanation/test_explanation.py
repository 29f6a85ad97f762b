"""The result: subgraphs cut out as the paper says, and files that come back as they were written or not at all."""

import json
import math
from dataclasses import fields, replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from small_networks import case

from explainer_core.api import explain
from explainer_core.config import ExplainConfig
from explainer_core.explanation.judging import edge_rows
from explainer_core.explanation.result import Explanation, extract
from explainer_core.explanation.verdict import Judged, Verdict
from explainer_core.targets import Link, Node, WholeGraph


def explanation(edges, weights, target=None, **fields):
    """An explanation with these directed edges; all the rest is as plain as can be."""
    edge_index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    nodes = np.unique(edge_index)
    settings = {
        "target": WholeGraph() if target is None else target,
        "method": "gradient",
        "config": ExplainConfig(),
        "explained_class": 1,
        "predicted_class": 1,
        "probabilities": (0.25, 0.75),
        "masked_probabilities": None,
        "edge_index": edge_index,
        "edge_ids": np.arange(len(weights)),
        "edge_weight": np.array(weights, dtype=float),
        "edge_part": np.zeros(len(weights), dtype=np.int64),
        "nodes": nodes,
        "hop": np.zeros_like(nodes),
        "feature_weight": np.array([0.1, 0.9, 0.5, 0.9]),
    }
    return Explanation(**settings | fields)


# Extraction


def slow_extraction(pairs, scores, roots, k_m, unit, connected, hop):
    """All edges are looked at again for each one that comes in: the heaviest, then the nearest, then the first."""
    kept, nodes = [], set(roots)
    while True:
        free = [e for e in range(len(pairs)) if e not in kept]
        if connected and nodes:
            free = [e for e in free if nodes & set(pairs[e].tolist())]
        if not free:
            break
        best = min(free, key=lambda e: (-scores[e], hop[e], e))
        grown = nodes | set(pairs[best].tolist())
        if (len(kept) + 1 if unit == "edges" else len(grown)) > k_m:
            break
        kept.append(best)
        nodes = grown
    threshold = min((scores[e] for e in kept), default=max(scores))
    edges = tuple(tuple(pairs[e].tolist()) for e in sorted(kept))
    return tuple(sorted(nodes)), edges, threshold, int(sum(scores >= threshold)) - len(kept)


def random_scores(seed, levels=None):
    """Pairs of a random graph with random scores; with `levels`, many of them tie."""
    chance = np.random.default_rng(seed)
    net = nx.gnm_random_graph(14, 18, seed=seed)
    pairs = np.array(sorted(net.edges))
    scores = chance.random(len(pairs)) if levels is None else chance.integers(levels, size=len(pairs)) / levels
    return pairs, scores


@pytest.mark.parametrize("roots", [(3,), (3, 8), ()], ids=["node", "link", "graph"])
@pytest.mark.parametrize("levels", [None, 4], ids=["distinct", "ties"])
@pytest.mark.parametrize("unit", ["nodes", "edges"])
@pytest.mark.parametrize("connected", [True, False])
def test_extraction_is_what_a_slow_search_finds(roots, levels, unit, connected):
    for seed in range(12):
        pairs, scores = random_scores(seed, levels)
        hop = np.random.default_rng(seed).integers(3, size=len(pairs))
        for k_m in (1, 2, 3, 5, 8, 50):
            found = extract(pairs, scores, roots, k_m, unit=unit, connected=connected, hop=hop)
            expected = slow_extraction(pairs, scores, roots, k_m, unit, connected, hop)
            assert (found.nodes, found.edges, found.threshold, found.dropped) == expected, (seed, k_m)


@pytest.mark.parametrize("roots", [(3,), (3, 8), ()], ids=["node", "link", "graph"])
@pytest.mark.parametrize("unit", ["nodes", "edges"])
def test_never_more_than_k_m_is_kept_and_it_hangs_together(roots, unit):
    """However many edges weigh the same. A target counts, so that a link has two nodes at least."""
    for seed in range(12):
        pairs, scores = random_scores(seed, levels=2)
        for k_m in range(1, 14):
            found = extract(pairs, scores, roots, k_m, unit=unit)
            size = len(getattr(found, unit))
            assert size <= max(k_m, len(roots)) if unit == "nodes" else size <= k_m
            net = nx.Graph(found.edges)
            net.add_nodes_from(roots)
            assert all(set(part) & set(roots) for part in nx.connected_components(net)) or not roots
            assert roots or not found.edges or nx.is_connected(net)


def test_a_whole_graph_grows_from_its_heaviest_edge():
    """Though the part on the left has more edges, and more that are heavy."""
    pairs = np.array([(0, 1), (0, 2), (1, 2), (10, 11), (11, 12)])
    scores = np.array([0.8, 0.8, 0.8, 0.9, 0.1])
    assert [extract(pairs, scores, (), k_m, unit="edges").edges for k_m in (1, 2, 5)] == [
        ((10, 11),),
        ((10, 11), (11, 12)),
        ((10, 11), (11, 12)),
    ]
    assert extract(pairs, scores, (), 2, unit="nodes").edges == ((10, 11),)
    assert extract(pairs, scores, (), 1, unit="nodes").nodes == ()


def test_of_equals_the_nearer_comes_first_then_the_smaller_number():
    pairs, scores = np.array([(0, 1), (0, 2), (0, 3), (1, 4)]), np.full(4, 0.3)
    for hop, first in (([0, 0, 0, 1], (0, 1)), ([1, 0, 0, 0], (0, 2)), ([1, 1, 0, 0], (0, 3))):
        assert extract(pairs, scores, (0,), 1, unit="edges", hop=np.array(hop)).edges == (first,)
    assert extract(pairs, scores, (0,), 3, unit="edges").edges == ((0, 1), (0, 2), (0, 3))


def test_edges_between_nodes_that_are_in_already_cost_nothing():
    pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 3)])
    assert extract(pairs, np.array([0.9, 0.8, 0.7, 0.6]), (0,), 3).edges == ((0, 1), (0, 2), (1, 2))
    assert extract(pairs, np.array([0.9, 0.8, 0.5, 0.6]), (0,), 3).edges == ((0, 1), (0, 2))  # a beginning of the order


def test_extraction_on_paper():
    """A chain 0-1-2-3 with a heavy edge far away: it counts as dropped, not as part of the answer."""
    pairs, scores = np.array([(0, 1), (1, 2), (2, 3), (7, 8)]), np.array([0.9, 0.5, 0.4, 0.8])
    found = extract(pairs, scores, (0,), 3)
    assert (found.nodes, found.edges, found.threshold, found.dropped) == ((0, 1, 2), ((0, 1), (1, 2)), 0.5, 1)
    loose = extract(pairs, scores, (0,), 4, connected=False)
    assert (loose.nodes, loose.edges, loose.dropped) == ((0, 1, 7, 8), ((0, 1), (7, 8)), 0)
    assert extract(pairs, scores, (0,), 3, connected=False).edges == ((0, 1),)
    assert extract(pairs, scores, (0,), 2, unit="edges").edges == ((0, 1), (1, 2))


def test_a_graph_smaller_than_asked_is_kept_whole():
    pairs, scores = random_scores(0)
    assert extract(pairs, scores, (), 200, connected=False).edges == tuple(map(tuple, pairs.tolist()))
    component = nx.node_connected_component(nx.Graph(pairs.tolist()), 3)
    assert set(extract(pairs, scores, (3,), 200).nodes) == component


def test_a_target_that_stands_alone_is_its_own_explanation():
    none = np.empty((0, 2), dtype=np.int64), np.empty(0)
    assert extract(*none, (5,), 6).nodes == (5,)
    assert extract(*none, (5, 2), 6).nodes == (2, 5)
    assert extract(*none, (), 6).nodes == ()
    far = extract(np.array([(0, 1)]), np.array([1.0]), (5,), 3)
    assert (far.nodes, far.edges, far.dropped) == ((5,), (), 1)


@pytest.mark.parametrize("k_m", [0, -1])
def test_a_size_below_one_is_refused(k_m):
    with pytest.raises(ValueError, match=rf"k_m must be at least 1 .+ \(got {k_m} nodes\)"):
        extract(*random_scores(0), (), k_m)
    with pytest.raises(ValueError, match=r"counted in nodes or edges \(got 3 grams\)"):
        extract(*random_scores(0), (), 3, unit="grams")
    with pytest.raises(ValueError, match=rf"k_f must be at least 1 \(got {k_m}\)"):
        explanation([(0, 1)], [0.5]).top_features(k_m)


@pytest.mark.parametrize("unit", ["nodes", "edges"])
@pytest.mark.parametrize("connected", [True, False])
def test_a_larger_subgraph_holds_the_smaller_one(unit, connected):
    for seed in range(8):
        pairs, scores = random_scores(seed, levels=6)
        found = [extract(pairs, scores, (3,), k_m, unit=unit, connected=connected) for k_m in range(1, 15)]
        for less, more in pairwise(found):
            assert set(less.nodes) <= set(more.nodes)
            assert set(less.edges) <= set(more.edges)
            assert less.threshold >= more.threshold


# What an explanation says


def test_an_undirected_edge_weighs_the_mean_of_its_directions():
    found = explanation([(0, 1), (1, 0), (2, 1)], [0.2, 0.6, 0.9])
    pairs, scores = found.undirected()
    assert pairs.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_allclose(scores, [0.4, 0.9])
    np.testing.assert_allclose(found.undirected(np.array([1.0, 3.0, 5.0]))[1], [2.0, 5.0])


def test_where_both_ends_of_a_link_look_at_an_edge_the_one_it_matters_more_to_counts():
    edges, weights = [(0, 1), (1, 0), (2, 1), (0, 1), (1, 0)], [0.2, 0.4, 0.5, 0.7, 0.9]
    found = explanation(edges, weights, Link(1, 5), edge_part=np.array([0, 0, 0, 1, 1]))
    pairs, scores = found.undirected()
    assert pairs.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_allclose(scores, [0.8, 0.5])


def test_the_roots_are_the_nodes_asked_about():
    assert explanation([(0, 1)], [1.0], Node(7)).roots == (7,)
    assert explanation([(0, 1)], [1.0], Link(7, 2)).roots == (7, 2)
    assert explanation([(0, 1)], [1.0], WholeGraph(3)).roots == ()


def test_the_subgraph_follows_the_settings_unless_told_otherwise():
    chain = [(0, 1), (1, 2), (2, 3), (7, 8)]
    settings = ExplainConfig(k_m=2, k_m_unit="edges")
    found = explanation(chain, [0.9, 0.5, 0.4, 0.8], Node(0), config=settings, size=2)
    assert found.subgraph().edges == ((0, 1), (1, 2))
    assert found.subgraph(3, unit="nodes").nodes == (0, 1, 2)
    assert found.subgraph(2, connected=False).edges == ((0, 1), (7, 8))


def test_the_heaviest_features_come_first_and_ties_in_order():
    found = explanation([(0, 1)], [1.0])
    assert found.top_features(3) == (1, 3, 2)
    assert found.top_features() == (1, 3, 2, 0)
    assert all(type(feature) is int for feature in found.top_features())
    assert replace(found, feature_weight=None).top_features(3) == ()


def test_the_table_has_a_row_for_each_edge_heaviest_first():
    table = explanation([(0, 1), (1, 0), (2, 1)], [0.2, 0.6, 0.9]).to_pandas()
    assert list(table.columns) == ["source", "head", "weight", "mask", "edge", "part"]
    rows = [[2, 1, 0.9, 0.9, 2, 0], [0, 1, 0.4, 0.2, 0, 0], [1, 0, 0.4, 0.6, 1, 0]]
    assert table.values.tolist() == rows  # the score of a pair is one, whichever direction
    assert len(explanation([], []).to_pandas()) == 0


def test_the_networkx_graph_has_every_node_and_marks_what_is_kept():
    chain = [(0, 1), (1, 0), (1, 2), (2, 3)]
    found = explanation(chain, [0.9, 0.7, 0.5, 0.4], Node(0), hop=np.array([0, 1, 2, 3]))
    net = found.to_networkx(3)
    assert dict(net.nodes(data="hop")) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert [node for node, kept in net.nodes(data="kept") if kept] == [0, 1, 2]
    assert [node for node, target in net.nodes(data="target") if target] == [0]
    assert list(net.edges(data="weight")) == [(0, 1, pytest.approx(0.8)), (1, 2, 0.5), (2, 3, 0.4)]
    assert [edge[:2] for edge in net.edges(data="kept") if edge[2]] == [(0, 1), (1, 2)]


# Files


def assert_equal(one, other):
    for name in (field.name for field in fields(one)):
        value, back = getattr(one, name), getattr(other, name)
        if isinstance(value, np.ndarray):
            assert value.dtype == back.dtype, name
            assert value.shape == back.shape, name
            assert np.array_equal(value, back), name
        elif name == "snapshots":
            assert [step for step, _ in value] == [step for step, _ in back]
            assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(value, back, strict=True))
        else:
            assert type(value) is type(back), name
            assert value == back, name


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("method", ["verified", "gnnexplainer", "gradient", "proximity"])
def test_an_explanation_comes_back_from_its_file_as_it_was(task, method):
    model, data, targets = case(task)
    settings = ExplainConfig(steps=5, seeds=3, k_m=4, feature_fill="zero")
    for target_class in ("predicted", "distribution"):
        found = explain(model, data, targets[0], settings, method, target_class=target_class)
        back = Explanation.from_json(found.to_json())
        assert_equal(found, back)
        assert found.verdict is not None
        assert bool(found.table) == (method == "verified")
        for k_m in (1, 2, 4, 9):
            assert back.subgraph(k_m) == found.subgraph(k_m)


@pytest.mark.parametrize("task", ["node", "graph", "link"])
@pytest.mark.parametrize("method", ["verified", "gnnexplainer"])
def test_every_export_gives_a_pair_the_same_score_to_the_last_digit(task, method):
    model, data, targets = case(task)
    found = explain(model, data, targets[0], ExplainConfig(steps=5, k_m=5), method)
    pairs, scores = found.undirected()
    score = dict(zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True))
    table = found.to_pandas()
    for source, head, weight in table[["source", "head", "weight"]].itertuples(index=False):
        assert weight == score[min(source, head), max(source, head)]
    assert {(min(a, b), max(a, b)): weight for a, b, weight in found.to_networkx().edges(data="weight")} == score
    written = json.loads(found.to_json())
    for source, head, weight in zip(*written["edge_index"], written["edge_score"], strict=True):
        assert weight == score[min(source, head), max(source, head)]
    kept = set(found.subgraph().edges)
    if method == "verified":  # what the model was asked about comes before all others
        assert min(score[edge] for edge in kept) > max(score[edge] for edge in set(score) - kept)


def test_an_explanation_with_no_edges_comes_back_too():
    found = explanation([], [], Node(3), nodes=np.array([3]), hop=np.array([0]))
    assert_equal(found, Explanation.from_json(found.to_json()))


VALID = explanation(
    [(0, 1), (1, 0), (2, 1)],
    [0.2, 0.6, 0.9],
    Node(1),
    edge_spread=np.array([0.1, 0.1, 0.1]),
    seed_weights=np.full((2, 3), 0.5),
    history={"size": [0.5, 0.4]},
    snapshots=((1, np.array([0.1, 0.2, 0.3])),),
    steps=2,
    feature_mask=np.array([0.5, 0.5, 0.5, 0.5]),
    feature_absent=np.array([True, False, False, False]),
    verdict=Verdict("mostly", 0.75, 0.5, 0.25, 0.125, keeps_class=True, winner="mask"),
    table=(Judged(((0, 1), (1, 2)), 0.7, 0.2, True, "mask"), Judged(((1, 2),), 0.5, 0.25, True, "growth")),
).to_json()


def changed(**changes):
    return json.dumps(json.loads(VALID) | changes)


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "3", '"text"', "{}", "[" * 100_000, '{"target": 1}', "NaN"])
def test_what_is_no_explanation_is_refused(text):
    with pytest.raises(ValueError, match="not an explanation written by to_json"):
        Explanation.from_json(text)


MAY_BE_MISSING = {
    *("history", "sampled", "steps", "feature_weight", "feature_mask", "feature_absent"),
    *("edge_spread", "seed_weights", "edge_score", "protocol", "verdict", "table"),
}


@pytest.mark.parametrize("name", [name for name in json.loads(VALID) if name not in MAY_BE_MISSING])
def test_a_file_with_a_part_missing_is_refused(name):
    values = json.loads(VALID)
    del values[name]
    with pytest.raises(ValueError, match="not an explanation written by to_json"):
        Explanation.from_json(json.dumps(values))


def judged(**changes):
    return json.loads(VALID)["table"][0] | changes


def verdict(**changes):
    return json.loads(VALID)["verdict"] | changes


HOSTILE = {
    "unknown part": {"surprise": 1},
    "target of no kind": {"target": {"kind": "edge", "node": 1}},
    "kind no name": {"target": {"kind": [], "node": 1}},
    "target without number": {"target": {"kind": "node"}},
    "target with text": {"target": {"kind": "node", "node": "<script>"}},
    "target below zero": {"target": {"kind": "node", "node": -1}},
    "target not there": {"target": {"kind": "node", "node": 99}},
    "target with a fraction": {"target": {"kind": "node", "node": 0.5}},
    "target a list": {"target": [1, 2]},
    "method a number": {"method": 5},
    "config a list": {"config": [1]},
    "config out of range": {"config": {"k_m": 0}},
    "config unknown": {"config": {"surprise": 0}},
    "config huge": {"config": {"k_m": 10**400}},
    "class text": {"predicted_class": "one"},
    "class not there": {"predicted_class": 7},
    "asked class text": {"explained_class": "one"},
    "probabilities none": {"probabilities": None},
    "probabilities text": {"probabilities": ["a", "b"]},
    "probabilities nan": {"probabilities": [math.nan, 1.0]},
    "probabilities huge": {"probabilities": [10**400, 1.0]},
    "masked text": {"masked_probabilities": "ab"},
    "weights none": {"edge_weight": None},
    "weights text": {"edge_weight": "abc"},
    "weights a number": {"edge_weight": 0.5},
    "weights nested": {"edge_weight": [[0.1, 0.2], [0.1, 0.2], [0.1, 0.2]]},
    "weights a dictionary": {"edge_weight": {"a": 1}},
    "weights too few": {"edge_weight": [0.1, 0.2]},
    "weights nan": {"edge_weight": [0.1, math.nan, 0.3]},
    "weights infinite": {"edge_weight": [0.1, math.inf, 0.3]},
    "weights huge": {"edge_weight": [0.1, 10**400, 0.3]},
    "edges none": {"edge_index": None},
    "edges flat": {"edge_index": [0, 1, 2, 1, 0, 1]},
    "edges ragged": {"edge_index": [[0, 1, 2], [1, 0]]},
    "edges three rows": {"edge_index": [[0, 1], [2, 1], [0, 1]]},
    "edges huge": {"edge_index": [[0, 1, 10**30], [1, 0, 1]]},
    "edges below zero": {"edge_index": [[0, 1, -2], [1, 0, 1]]},
    "edges to strangers": {"edge_index": [[0, 1, 77], [1, 0, 1]]},
    "edges with fractions": {"edge_index": [[0, 1, 1.5], [1, 0, 1]]},
    "numbers none": {"edge_ids": None},
    "numbers too few": {"edge_ids": [0, 1]},
    "parts of three": {"edge_part": [0, 1, 2]},
    "parts below zero": {"edge_part": [0, 0, -1]},
    "nodes none": {"nodes": None},
    "nodes too many": {"nodes": [0, 1, 2, 3]},
    "hops text": {"hop": ["a", "b", "c"]},
    "features nan": {"feature_weight": [0.1, math.nan]},
    "features nested": {"feature_weight": [[0.1], [0.2]]},
    "spread too short": {"edge_spread": [0.1]},
    "seeds too short": {"seed_weights": [[0.1], [0.2]]},
    "seeds flat": {"seed_weights": [0.1, 0.2, 0.3]},
    "history a number": {"history": 5},
    "history text": {"history": {"size": "long"}},
    "history of text": {"history": {"size": ["a", "b"]}},
    "snapshots a number": {"snapshots": 5},
    "snapshots too short": {"snapshots": [[1, [0.1]]]},
    "snapshots text": {"snapshots": [["first", [0.1, 0.2, 0.3]]]},
    "snapshots huge": {"snapshots": [[1, [0.1, 0.2, 10**400]]]},
    "size none": {"size": None},
    "size zero": {"size": 0},
    "size text": {"size": "auto"},
    "size with a fraction": {"size": 2.5},
    "size true": {"size": True},
    "feature mask of others": {"feature_mask": [0.5]},
    "absent as numbers": {"feature_absent": [1, 0, 0, 0]},
    "absent of others": {"feature_absent": [True]},
    "table a number": {"table": 5},
    "table of numbers": {"table": [5]},
    "table of strangers": {"table": [judged(edges=[[5, 9]])]},
    "table the wrong way round": {"table": [judged(edges=[[1, 0]])]},
    "table of three ends": {"table": [judged(edges=[[0, 1, 2]])]},
    "table with fractions": {"table": [judged(edges=[[0.0, 1]])]},
    "table above one": {"table": [judged(alone=1.5)]},
    "table below zero": {"table": [judged(without=-0.5)]},
    "table nan": {"table": [judged(alone=math.nan)]},
    "table text": {"table": [judged(alone="high")]},
    "table keeps one": {"table": [judged(keeps_class=1)]},
    "table from a number": {"table": [judged(origin=3)]},
    "table with more": {"table": [judged(surprise=1)]},
    "table with less": {"table": [{"edges": [[0, 1]]}]},
    "verdict text": {"verdict": "mostly"},
    "verdict empty": {"verdict": {}},
    "verdict of no level": {"verdict": verdict(level="<script>")},
    "verdict level a list": {"verdict": verdict(level=["mostly"])},
    "verdict above one": {"verdict": verdict(alone=7.0)},
    "verdict nan": {"verdict": verdict(empty=math.nan)},
    "verdict text for a number": {"verdict": verdict(full="0.5")},
    "verdict keeps text": {"verdict": verdict(keeps_class="yes")},
    "verdict won by a number": {"verdict": verdict(winner=1)},
    "verdict agrees too much": {"verdict": verdict(agreement=1.5)},
    "verdict with more": {"verdict": verdict(surprise=1)},
    "sampled text": {"sampled": "yes"},
    "steps text": {"steps": "many"},
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_was_tampered_with_is_refused(changes):
    """By a ValueError and nothing else: what gets through must be safe to draw."""
    with pytest.raises(ValueError, match="not an explanation written by to_json"):
        Explanation.from_json(changed(**changes))


def test_a_file_of_an_earlier_version_still_opens():
    """It had a core, and neither a table nor a verdict; its settings had fewer knobs, and K_M was a number."""
    values = json.loads(VALID)
    for name in ("size", "verdict", "table", "feature_mask", "feature_absent", "edge_score"):
        del values[name]
    settings = {k: v for k, v in values["config"].items() if k not in ("necessity", "features")} | {"k_m": 4}
    old = Explanation.from_json(json.dumps(values | {"config": settings, "core": [[0, 1]]}))
    assert (old.size, old.verdict, old.table) == (4, None, ())
    assert old.subgraph().edges == ((0, 1), (1, 2))
    np.testing.assert_array_equal(old.edge_weight, values["edge_weight"])


def test_the_file_that_was_not_tampered_with_is_taken():
    assert Explanation.from_json(changed()).to_json() == VALID


@pytest.mark.parametrize("number", [np.int64(1), np.uint8(1), np.int32(1)], ids=lambda n: n.dtype.name)
def test_numbers_of_numpy_in_a_target_are_written_like_any_others(number):
    for target in (Node(number), Link(number, np.int64(2)), WholeGraph(number)):
        assert all(type(value) is int for value in vars(target).values())
        assert target == type(target)(*(int(value) for value in vars(target).values()))
        found = explanation([(0, 1), (1, 2)], [0.2, 0.6], target)
        assert Explanation.from_json(found.to_json()).target == target


def test_what_is_no_whole_number_stays_as_it_was_given():
    for value in (True, 1.0, "1", None):
        assert Node(value).node is value
    assert WholeGraph().index is None


def test_positions_are_those_of_the_pairs_and_what_is_none_has_none():
    model, data, targets = case("node")
    found = explain(model, data, targets[0], ExplainConfig(steps=2))
    pairs = [(a, b) for a, b in found.pairs.tolist()]
    assert found.positions(pairs[::-1]).tolist() == list(range(len(pairs)))[::-1]
    assert found.positions([]).tolist() == []
    a, b = pairs[0]
    assert found.positions([(b, a), (10**6, 10**6 + 1), pairs[-1]], strict=False).tolist() == [-1, -1, len(pairs) - 1]
    with pytest.raises(ValueError, match="edges of the explanation"):
        edge_rows(found, [[(b, a)]])
