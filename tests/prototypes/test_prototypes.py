"""Prototypes: what is known on paper, what is planted and found again, and what a request is refused for."""

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from small_networks import case, network, random_graph, random_set

from explainer_core.api import explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph
from explainer_core.prototypes.joining import compare, join_explanations
from explainer_core.prototypes.parts import LARGER, densest_part
from explainer_core.prototypes.prototype import Prototype
from explainer_core.prototypes.request import prototype
from explainer_core.targets import Link, Node, WholeGraph

QUICK = ExplainConfig(steps=5, refine=False)
HOUSE = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))
CYCLE = tuple((i, (i + 1) % 6) for i in range(6))
GRID = tuple(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)).edges)
STAR = ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6))
BLANK = Graph(torch.ones(200, 1), torch.empty(2, 0, dtype=torch.int64))
LABELS = torch.tensor([0, 1, 2] * 10)


def hand_made(edges, weights=None, *, target=0, k_m=8, unit="edges"):
    """An explanation of node `target` with these undirected edges and weights."""
    weights = np.ones(len(edges)) if weights is None else np.asarray(weights, dtype=float)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    nodes = np.array([target, *sorted(set(ends.ravel().tolist()) - {target})])
    return Explanation(
        target=Node(target),
        method="gnnexplainer",
        config=ExplainConfig(k_m=k_m, k_m_unit=unit),
        explained_class=0,
        predicted_class=0,
        probabilities=(1.0,),
        masked_probabilities=None,
        edge_index=np.concatenate([ends, ends[::-1]], axis=1),
        edge_ids=np.arange(2 * len(edges)),
        edge_weight=np.concatenate([weights, weights]),
        edge_part=np.zeros(2 * len(edges), dtype=np.int64),
        nodes=nodes,
        hop=np.zeros(len(nodes), dtype=np.int64),
        feature_weight=None,
        size=k_m,
    )


def planted(motif, rng, *, extra):
    """The motif under random numbers among as many other nodes, with so many random edges more, weights at random."""
    names = rng.permutation(200)[: 2 * (1 + max(map(max, motif)))]
    edges = {tuple(sorted((int(names[a]), int(names[b])))) for a, b in motif}
    while len(edges) < len(motif) + extra:
        a, b = rng.choice(names, 2, replace=False)
        edges.add((int(min(a, b)), int(max(a, b))))
    return hand_made(sorted(edges), rng.uniform(0.1, 1, len(edges)), target=int(names[0]))


def same_graph(edges, motif):
    """The same graph with node 0 in the same role."""
    nets = [nx.Graph(list(some)) for some in (edges, motif)]
    for net in nets:
        nx.set_node_attributes(net, {node: node == 0 for node in net}, "target")
    return nx.is_isomorphic(*nets, node_match=lambda a, b: a == b)


def truth_known(num_nodes=30):
    return random_graph(num_nodes, 45, labels=LABELS, class_names=("a", "b", "c"))


def knowing_network(graph):
    """A network, and the graph with the network's own answers as the truth: every class that it uses has members."""
    model = network()
    with torch.no_grad():
        predicted = model(graph.x, graph.edge_index).argmax(1)
    return model, replace(graph, labels=predicted), int(predicted.bincount().argmax())


# What is known on paper


def test_the_median_mean_and_agreement_of_three_explanations():
    """Three triangles around the target, one of which lacks its far edge."""
    triangle = [(0, 1), (0, 2), (1, 2)]
    found = join_explanations(
        [
            hand_made(triangle, [0.9, 0.5, 0.4]),
            hand_made([(10, 11), (10, 12), (11, 12)], [0.8, 0.5, 0.6], target=10),
            hand_made([(20, 21), (20, 22)], [0.7, 0.2], target=20),
        ],
        BLANK,
    )
    assert found.num_roles == 3
    assert found.roots == (0,)
    far = (1, 2)
    assert found.agreement[far] == pytest.approx(2 / 3)
    assert found.median[far] == pytest.approx(0.4)
    assert found.mean[far] == pytest.approx(1 / 3)
    near = sorted([(found.median[0, 1], found.mean[0, 1]), (found.median[0, 2], found.mean[0, 2])])
    assert found.agreement[0, 1] == found.agreement[0, 2] == 1
    assert sum(mean for _, mean in near) == pytest.approx((0.9 + 0.5 + 0.8 + 0.5 + 0.7 + 0.2) / 3)
    assert found.presence.tolist() == [1, 1, 1]
    lacking = next(member for member in found.members if member.target == Node(20))
    assert lacking.missing == (far,)
    assert lacking.extra == ()
    assert lacking.distance == pytest.approx(1 / 3)
    assert found.outliers[0] is lacking
    assert {member.distance for member in found.members if member is not lacking} == {0.0}


def test_the_same_explanation_again_and_again_is_its_own_prototype():
    found = join_explanations([planted(HOUSE, np.random.default_rng(i), extra=0) for i in range(6)], BLANK)
    assert same_graph(found.edges, HOUSE)
    assert found.cost == 0
    assert found.quality == 1
    assert found.random_cost > 1
    assert not found.clusters


def test_a_node_that_nobody_else_has_is_reported_and_plays_no_role():
    tail = [*HOUSE, (4, 7), (7, 8)]
    found = join_explanations([hand_made(tail), *(hand_made(HOUSE) for _ in range(4))], BLANK)
    odd = found.members[0]
    assert odd.unaligned == (7, 8)
    assert set(odd.extra) == {(4, 7), (7, 8)}
    assert found.num_roles == 5
    assert all(member.unaligned == () for member in found.members[1:])


def test_the_target_has_the_first_role_in_every_member():
    rng = np.random.default_rng(0)
    found = join_explanations([planted(HOUSE, rng, extra=2) for _ in range(8)], BLANK)
    assert all(member.nodes[0] == member.target.node for member in found.members)


@pytest.mark.parametrize("motif", [HOUSE, CYCLE, GRID], ids=["house", "cycle", "grid"])
def test_a_planted_motif_is_recovered_from_random_numbers_and_extra_edges(motif):
    rng = np.random.default_rng(0)
    size = 1 + max(map(max, motif))
    for _ in range(3):
        members = [planted(motif, rng, extra=round(0.2 * len(motif))) for _ in range(11)]
        assert same_graph(join_explanations(members, BLANK, clusters=1).cut(size, len(motif)).edges, motif)


def test_two_planted_shapes_are_two_clusters_with_their_shares():
    rng = np.random.default_rng(0)
    mixed = [planted(HOUSE, rng, extra=0) for _ in range(8)] + [planted(STAR, rng, extra=0) for _ in range(4)]
    found = join_explanations(mixed, BLANK)
    assert [cluster.share for cluster in found.clusters] == pytest.approx([8 / 12, 4 / 12])
    assert same_graph(found.clusters[0].edges, HOUSE)
    assert same_graph(found.clusters[1].edges, STAR)
    assert not join_explanations(mixed, BLANK, clusters=1).clusters
    assert len(join_explanations(mixed, BLANK, clusters=6).clusters) == 2  # equals are never parted


def test_one_shape_with_the_target_in_another_role_is_another_shape():
    """The roof of a house and its ground floor: the same graph, but not for the target."""
    roof = tuple((a, b) for a, b in ((4, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 0)))
    rng = np.random.default_rng(1)
    found = join_explanations([planted(motif, rng, extra=0) for motif in (HOUSE, roof) for _ in range(6)], BLANK)
    assert len(found.clusters) == 2
    assert {same_graph(cluster.edges, roof) for cluster in found.clusters} == {True, False}


def test_features_join_like_with_like():
    """Two arms of the same length: one ends in a marked node, and that arm is always aligned with the marked arm."""
    x = torch.zeros(200, 2)
    x[:, 0] = 1
    arms = []
    for i in range(6):
        hub, plain, marked = 10 * i, 10 * i + 1 + i % 2, 10 * i + 2 - i % 2
        x[marked] = torch.tensor([0.0, 1.0])
        arms.append(hand_made([(hub, plain), (hub, marked)], target=hub))
    found = join_explanations(arms, replace(BLANK, x=x, feature_names=("a", "b")))
    marked_role = int(found.features[:, 1].argmax())
    assert all(x[member.nodes[marked_role], 1] == 1 for member in found.members)
    assert found.features[marked_role].tolist() == [0, 1]


def test_the_cut_keeps_what_hangs_together_and_is_joined_most():
    tailed = [*HOUSE, (2, 5), (5, 6)]
    found = join_explanations([hand_made(tailed) for _ in range(5)], BLANK)
    assert same_graph(found.cut(5).edges, HOUSE)
    assert same_graph(found.cut(5, 6).edges, HOUSE)
    assert same_graph(found.cut(num_edges=6).edges, HOUSE)
    assert len(found.cut().edges) == 8
    assert found.cut(1).edges == ()
    assert found.cut(1).nodes == (0,)
    assert found.cut(50).nodes == tuple(range(7))
    for wrong in ({"num_nodes": 0}, {"num_edges": -1}, {"num_nodes": 2.0}, {"num_edges": True}):
        with pytest.raises(ValueError, match="must be at least 1"):
            found.cut(**wrong)


def test_the_heart_of_two_roots_may_be_in_two_pieces():
    strength = np.zeros((5, 5))
    strength[0, 2] = strength[2, 0] = strength[1, 3] = strength[3, 1] = 1.0
    strength[2, 4] = strength[4, 2] = 0.5
    assert densest_part(strength, (0, 1), 4) == [0, 1, 2, 3]
    assert densest_part(strength, (), 2) == [0, 2]
    assert densest_part(np.zeros((0, 0)), (), 3) == []


def test_another_explanation_is_compared_with_the_prototype():
    found = join_explanations([hand_made(HOUSE) for _ in range(3)], BLANK)
    path = hand_made([(50, 51), (51, 52)], target=50)
    other = compare(found, path, BLANK)
    assert other.nodes[0] == 50
    assert len(other.missing) == 4
    assert other.distance == pytest.approx(4 / 6)
    assert compare(found, hand_made(HOUSE), BLANK).distance == 0
    with pytest.raises(ValueError, match=r"with its like, here a Node \(got WholeGraph"):
        compare(found, replace(path, target=WholeGraph()), BLANK)


# The request


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_a_prototype_of_every_task(task):
    model, data, targets = case(task)
    found = prototype(model, data, targets=targets, config=QUICK)
    assert {member.target for member in found.members} == set(targets)
    assert found.reference in targets
    assert found.roots == {"node": (0,), "graph": (), "link": (0, 1)}[task]
    for member in found.members:
        assert member.nodes[: len(found.roots)] == member.explanation.roots
        ends = {node for edge in member.edges for node in edge} | set(member.explanation.roots)
        played = {node for node in member.nodes if node is not None}
        assert played | set(member.unaligned) == ends
        assert not played & set(member.unaligned)
    assert (found.agreement == found.agreement.T).all()
    assert set(found.cut().edges) <= set(found.to_networkx().edges)
    assert not [name for name, value in vars(found).items() if isinstance(value, torch.Tensor)]


def test_members_of_a_class_are_those_the_model_puts_there_rightly():
    model, graph, label = knowing_network(truth_known())
    wrong = graph.labels.clone()
    members = (graph.labels == label).nonzero().flatten().tolist()
    wrong[members[0]] = (label + 1) % 3
    found = prototype(model, replace(graph, labels=wrong), label, instances=50, config=QUICK, clusters=1)
    assert sorted(member.target.node for member in found.members) == members[1:]
    blind = prototype(model, replace(graph, labels=None), label, instances=50, config=QUICK, clusters=1)
    assert sorted(member.target.node for member in blind.members) == members


def test_the_reference_is_nearest_the_mean_or_the_one_given():
    model, graph, label = knowing_network(truth_known())
    members = (graph.labels == label).nonzero().flatten()
    with torch.no_grad():
        z = model.embed(graph.x, graph.edge_index)[members]
    nearest = int(members[(z - z.mean(0)).norm(dim=1).argmin()])
    assert prototype(model, graph, label, instances=3, config=QUICK).reference == Node(nearest)
    other = Node(int(members[-1]))
    found = prototype(model, graph, label, instances=3, reference=other, config=QUICK)
    assert found.reference == other
    assert found.reference_member.target == other
    assert len(found.members) == 4


def test_the_same_seed_gives_the_same_prototype_and_another_draws_others():
    model, graph, label = knowing_network(truth_known())
    one, same, other = (prototype(model, graph, label, instances=4, config=QUICK, seed=seed) for seed in (3, 3, 4))
    assert one.to_json() == same.to_json()
    assert {m.target for m in one.members} != {m.target for m in other.members}


def test_the_explanations_are_those_of_explain_many():
    model, data, targets = case("node")
    found = prototype(model, data, targets=targets, config=QUICK)
    alone = {e.target: e for e in explain_many(model, data, targets, QUICK)}
    for member in found.members:
        np.testing.assert_allclose(member.explanation.edge_weight, alone[member.target].edge_weight, atol=1e-5)


def test_progress_shows_the_prototype_growing_and_ends_with_the_same():
    model, graph, label = knowing_network(truth_known())
    calls = []
    found = prototype(
        model,
        graph,
        label,
        instances=6,
        config=QUICK,
        progress=lambda done, total, so_far: calls.append((done, total, so_far)),
    )
    growing = [done for done, *_ in calls if done < 7]
    assert growing == sorted(set(growing))
    assert [done for done, *_ in calls[len(growing) :]] == [7] * (len(calls) - len(growing))
    assert {total for _, total, _ in calls} == {7}
    sizes = [len(so_far().members) for *_, so_far in calls]
    assert sizes == [done for done, *_ in calls]
    assert [m.nodes for m in calls[-1][2]().members] == [m.nodes for m in found.members]
    plain = prototype(model, graph, label, instances=6, config=QUICK)
    assert [m.target for m in plain.members] == [m.target for m in found.members]


def test_an_exception_from_progress_stops_the_work():
    model, graph, label = knowing_network(truth_known())
    calls = []

    def stop(done, total, so_far):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prototype(model, graph, label, instances=6, config=QUICK, progress=stop)
    assert len(calls) == 2


def test_a_search_for_several_shapes_can_be_stopped_too():
    model, graph, label = knowing_network(truth_known())
    calls = []

    def stop(done, total, so_far):
        calls.append(done)
        if calls.count(total) == 2:  # the first says that all are explained
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prototype(model, graph, label, instances=6, config=QUICK, progress=stop)
    assert calls[-2:] == [7, 7]


# What is refused, and what is trivial


REFUSED = {
    "label too high": ({"label": 3}, r"label must be 0 to 2 \(got 3\)"),
    "label below": ({"label": -1}, r"label must be 0 to 2 \(got -1\)"),
    "label true": ({"label": True}, r"label must be .+ \(got True\)"),
    "no label and no targets": ({}, r"targets or a label must say .+ pass targets="),
    "no instances": ({"label": 0, "instances": 0}, r"instances must be at least 1 \(got 0\)"),
    "clusters none": ({"label": 0, "clusters": 0}, r"clusters must be 'auto' or 1 to 6 \(got 0\)"),
    "clusters text": ({"label": 0, "clusters": "many"}, r"clusters must be .+ \(got 'many'\)"),
    "more clusters than members": ({"targets": [Node(1), Node(2)], "clusters": 3}, r"at most .+ members, 2 \(got 3\)"),
    "empty targets": ({"targets": []}, r"targets must name at least one .+ \(got none\)"),
    "mixed targets": ({"targets": [Node(0), Link(0, 1)]}, "targets must all be Node"),
    "another kind": ({"targets": [Link(0, 1)]}, r"a node model explains a node \(got Link"),
    "target not there": ({"targets": [Node(99)]}, r"\(got 99\)"),
    "reference not there": ({"label": 0, "reference": Node(99)}, r"\(got 99\)"),
}


@pytest.mark.parametrize(("asked", "message"), REFUSED.values(), ids=REFUSED)
def test_a_request_that_makes_no_sense_says_why(asked, message):
    with pytest.raises(ValueError, match=message):
        prototype(network(), truth_known(), config=QUICK, **asked)


def test_a_class_that_the_model_never_gets_right_says_so():
    model, graph, label = knowing_network(truth_known())
    other = replace(graph, labels=torch.full_like(graph.labels, (label + 1) % 3))
    with pytest.raises(
        ValueError, match=r"needs a member that the model gets right \(got none of its 0 in class .+ pass"
    ):
        prototype(model, other, label, config=QUICK)


def test_nothing_to_join_is_refused():
    with pytest.raises(ValueError, match=r"at least one explanation \(got none\)"):
        join_explanations([], BLANK)


def test_links_and_sets_need_what_they_need():
    model, graph, _ = case("link")
    with pytest.raises(ValueError, match="a link model has no class to draw from"):
        prototype(model, graph, 1, config=QUICK)
    with pytest.raises(ValueError, match=r"pass graphs\[i\]"):
        prototype(network(), random_set(), 0, config=QUICK)


def test_one_member_is_its_own_prototype():
    model, data, targets = case("node")
    found = prototype(model, data, targets=targets[:1], config=QUICK)
    member = found.members[0]
    assert len(found.members) == 1
    assert member.distance == 0
    assert member.unaligned == member.missing == member.extra == ()
    assert len(found.edges) == len(member.edges)
    assert found.cost == 0


def test_members_without_edges_are_a_target_and_nothing_else():
    alone = Graph(torch.randn(6, 5, generator=torch.Generator().manual_seed(0)), torch.empty(2, 0, dtype=torch.int64))
    found = prototype(network(), alone, targets=[Node(i) for i in range(6)], config=QUICK)
    assert found.num_roles == 1
    assert found.edges == found.cut().edges == ()
    assert found.to_networkx().number_of_edges() == 0
    assert Prototype.from_json(found.to_json()).num_roles == 1
    found = prototype(network(task="graph"), alone, targets=[WholeGraph()], config=QUICK)
    assert found.num_roles == 0
    assert found.cut().nodes == ()


def test_a_reference_without_edges_gives_way_unless_it_was_asked_for():
    bare, houses = hand_made([], target=9), [hand_made(HOUSE) for _ in range(3)]
    found = join_explanations([bare, *houses], BLANK)
    assert found.reference == Node(0)
    assert same_graph(found.edges, HOUSE)
    kept = join_explanations([bare, *houses], BLANK, keep_reference=True)
    assert kept.reference == Node(9)
    assert kept.edges == ()
    assert len(kept.members[1].unaligned) == 4


def test_graphs_of_very_different_sizes_are_aligned():
    path = [(i, i + 1) for i in range(15)]
    found = join_explanations([hand_made(HOUSE), hand_made(path), hand_made([(0, 1)])], BLANK)
    assert [len(member.edges) for member in found.members] == [6, 15, 1]
    assert found.members[1].unaligned
    assert found.members[2].nodes.count(None) == found.num_roles - 2


def test_no_more_than_a_few_times_k_m_is_aligned_even_where_all_weights_tie():
    star = [(0, i) for i in range(1, 120)]
    found = join_explanations([hand_made(star, np.zeros(len(star)), k_m=5) for _ in range(2)], BLANK)
    assert len(found.members[0].edges) == LARGER * 5
    assert found.agreement.max() == 1
    nodes = join_explanations([hand_made(star, np.zeros(len(star)), k_m=5, unit="nodes")], BLANK)
    assert len(nodes.members[0].edges) == LARGER * 5 - 1


# To a file and back


def test_a_file_gives_the_same_prototype_back():
    rng = np.random.default_rng(0)
    mixed = [planted(HOUSE, rng, extra=1) for _ in range(8)] + [planted(STAR, rng, extra=0) for _ in range(5)]
    for found in (
        join_explanations(mixed, BLANK, label=0),
        prototype(*case("graph")[:2], targets=case("graph")[2], config=QUICK),
    ):
        again = Prototype.from_json(found.to_json())
        assert again.to_json() == found.to_json()
        assert np.array_equal(again.agreement, found.agreement)
        assert again.reference == found.reference
        assert [m.distance for m in again.members] == [m.distance for m in found.members]
        assert [c.share for c in again.clusters] == [c.share for c in found.clusters]


def spoilt(change):
    values = json.loads(join_explanations([hand_made(HOUSE, target=0), hand_made(HOUSE)], BLANK, label=0).to_json())
    change(values["prototype"], values["prototype"]["members"][0], values["explanations"])
    return json.dumps(values)


SPOILT = {
    "role of a stranger": lambda p, m, e: m["nodes"].__setitem__(1, 77),
    "one node in two roles": lambda p, m, e: m["nodes"].__setitem__(1, m["nodes"][2]),
    "target elsewhere": lambda p, m, e: m["nodes"].reverse(),
    "an edge of nobody": lambda p, m, e: m["edges"].__setitem__(0, [0, 2]),
    "an edge twice": lambda p, m, e: m["edges"].__setitem__(0, m["edges"][1]),
    "a weight too few": lambda p, m, e: m["weights"].pop(),
    "a weight below zero": lambda p, m, e: m["weights"].__setitem__(0, -1),
    "a weight that is text": lambda p, m, e: m["weights"].__setitem__(0, "heavy"),
    "a role too few": lambda p, m, e: m["nodes"].pop(),
    "an explanation that is not there": lambda p, m, e: m.__setitem__("explanation", 9),
    "an explanation from the end": lambda p, m, e: m.__setitem__("explanation", -1),
    "an explanation twice": lambda p, m, e: m.__setitem__("explanation", 1),
    "no members": lambda p, m, e: p.__setitem__("members", []),
    "a reference that is not there": lambda p, m, e: p.__setitem__("reference", 5),
    "a label too high": lambda p, m, e: p.__setitem__("label", 1),
    "a share above one": lambda p, m, e: p.__setitem__("share", 1.5),
    "a cost that is no number": lambda p, m, e: p.__setitem__("cost", float("nan")),
    "features without a scale": lambda p, m, e: p.__setitem__("features", [[1.0]] * 5),
    "clusters in clusters": lambda p, m, e: p.__setitem__("clusters", [json.loads(json.dumps(p)) | {"clusters": [1]}]),
    "no such field": lambda p, m, e: p.pop("members"),
    "an explanation that is none": lambda p, m, e: e.__setitem__(0, {"target": 1}),
}


@pytest.mark.parametrize("change", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_is_refused(change):
    with pytest.raises(ValueError, match="this is not a prototype written by to_json"):
        Prototype.from_json(spoilt(change))


@pytest.mark.parametrize("text", ["", "[]", "3", "null", "{}", '{"explanations": [], "prototype": {}}', "[" * 10_000])
def test_what_is_no_prototype_at_all_is_refused(text):
    with pytest.raises(ValueError, match="this is not a prototype written by to_json"):
        Prototype.from_json(text)
