"""Systematic mistakes: the test known from elsewhere, chance kept at bay, and planted reasons found."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import fisher_exact

import explainer_core as xc
from explainer_core.debugging.causes import RULES
from explainer_core.debugging.likeness import likeness_traits
from explainer_core.debugging.patterns import Trait, find_patterns, fisher_p, holm, most_typical
from explainer_core.debugging.shortcuts import find_shortcuts
from explainer_core.debugging.systematic import CAUSES, systematic_mistakes
from explainer_core.debugging.traits import KINDS, traits_of
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.predictions import predictions
from explainer_core.prototypes.joining import compare, compare_many
from explainer_core.targets import Link, Node, WholeGraph
from tests.small_networks import network, random_graph, random_set


def named(name):
    return Trait("feature", name, name)


def test_fishers_test_is_scipys():
    for a, b, c, d in ((8, 2, 1, 9), (5, 5, 5, 5), (0, 10, 3, 7), (10, 0, 0, 10)):
        assert fisher_p(a, a + b, a + c, a + b + c + d) == pytest.approx(
            fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
        )


def test_holm_on_paper():
    """.01 * 4, .02 * 3, then .03 * 2 which is no less than what came before, .5 * 1."""
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([]) == []


def test_a_planted_trait_is_the_first_pattern():
    rng = np.random.default_rng(0)
    noise = [named(f"noise {i}") for i in range(30)]

    def one(chance):
        own = {trait for trait in noise if rng.random() < 0.3}
        return own | ({named("planted")} if rng.random() < chance else set())

    wrong, right = [one(0.7) for _ in range(60)], [one(0.1) for _ in range(60)]
    found = find_patterns(wrong, right)
    assert [pattern.trait for pattern in found] == [named("planted")]
    assert found[0].mistakes == tuple(i for i, each in enumerate(wrong) if named("planted") in each)
    assert found[0].share_of_mistakes > 0.5 > found[0].share_of_right
    assert find_patterns(right, wrong) == ()  # more frequent among right ones is no pattern


def test_chance_is_seldom_called_a_pattern():
    """Of 400 sets of 40 traits without any difference, at most one in twenty may call one, and some more by chance."""
    rng, called = np.random.default_rng(1), 0
    for _ in range(400):
        table = rng.random((80, 40)) < rng.random(40)
        rows = [{named(str(i)) for i in np.flatnonzero(row)} for row in table]
        called += bool(find_patterns(rows[:40], rows[40:]))
    assert called <= 30


def test_patterns_need_something_to_compare():
    with pytest.raises(ValueError, match="mistakes and right predictions"):
        find_patterns([{named("a")}], [])


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_traits_of_all_kinds_of_targets(task):
    config = xc.ExplainConfig(steps=5)
    data = random_set() if task == "graph" else random_graph(20, 30)
    target = {"node": Node(3), "graph": WholeGraph(1), "link": Link(0, 5)}[task]
    explained = xc.explain(network("gcn", task), data, target, config, "gnnexplainer")
    traits = traits_of(data, explained)
    assert {trait.kind for trait in traits} <= set(KINDS)
    assert {"shape", "predicted"} <= {trait.kind for trait in traits}
    assert ("numbers" in {trait.kind for trait in traits}) == (task != "link")


def test_every_number_lies_in_its_ranges():
    graph = random_graph(95, 100)
    for node in range(0, 95, 7):
        explained = xc.explain(network(), graph, Node(node), xc.ExplainConfig(steps=1), "gradient")
        ranges = [trait.key.split("-") for trait in traits_of(graph, explained) if trait.kind == "numbers"]
        assert 1 <= len(ranges) <= 2
        assert all(int(low) <= node <= int(high) for low, high in ranges)


def test_a_range_of_numbers_that_is_wrong_is_found():
    """All targets wrong from 20 to 39, all right elsewhere: the ranges of that stretch are the first patterns."""
    graph = random_graph(200, 300)
    said = []
    found = systematic_mistakes(
        network(),
        graph,
        [Node(i) for i in range(20, 40)],
        [Node(i) for i in range(60, 200, 7)],
        progress=lambda *done: said.append(done),
    )
    assert found.patterns[0].trait.key == "20-39"
    assert found.patterns[0].share_of_mistakes == 1.0
    assert said == [(20, 40), (40, 40)]


def test_an_element_that_only_mistakes_have_is_found():
    """Graphs of types a and b; the wrong ones also have a c."""
    rng = np.random.default_rng(0)

    def one(number):
        types = rng.integers(2, size=8)
        types[:2] = [2 if number < 20 else 0, 1]
        return Graph(torch.eye(5)[types], random_graph(8, 10, seed=number).edge_index, feature_names=tuple("abcde"))

    graphs = GraphSet.from_graphs([one(i) for i in rng.permutation(40).tolist()])
    has = [bool(graph.x[:, 2].any()) for graph in graphs]
    wrong, right = ([WholeGraph(i) for i in range(40) if has[i] == kind] for kind in (True, False))
    found = systematic_mistakes(network("gin", "graph"), graphs, wrong, right).patterns
    assert Trait("type", "2", "It has a node of type “c”.") in [pattern.trait for pattern in found[:2]]


def test_the_most_typical_has_what_most_have():
    common, rare, own = named("common"), named("rare"), named("own")
    assert most_typical([{rare}, {common}, {common, own}, {common, rare, own}], [0, 1, 2, 3]) == 1
    assert most_typical([{rare}, {common}, {common}], [0, 2]) == 0  # of equals the first


def test_every_mistake_is_in_one_group_of_causes():
    labels = (torch.arange(200) % 2 == 0).long()
    graph = replace(random_graph(200, 300), labels=labels, class_names=("a", "b"))
    answers = predictions(network(), graph)
    right = np.flatnonzero(answers.predicted == labels.numpy()).tolist()
    wrong = [i for i in range(200) if i not in right][:40]
    found = systematic_mistakes(network(), graph, [Node(i) for i in wrong], [Node(i) for i in right[:40]])
    members = [i for group in found.by_cause for i in group.mistakes]
    assert sorted(members) == list(range(len(wrong)))
    assert {group.trait.text for group in found.by_cause} <= set(CAUSES.values())
    for group in (*found.patterns, *found.by_cause):
        assert group.typical in group.mistakes
        assert found.typical[group.typical].target == Node(wrong[group.typical])


def test_every_rule_of_a_cause_has_words_for_its_group():
    assert set(CAUSES) == {*RULES, ""}


@pytest.mark.parametrize("value", [1.0, 0.2, -3.0])
def test_a_feature_that_tells_a_class_of_the_training_part_is_a_shortcut(value):
    """Nodes 0 to 59 are trained on; feature 1 is the value for those of class 1, and never elsewhere."""
    labels = torch.arange(100) % 2
    graph = replace(random_graph(100, 150), labels=labels, class_names=("a", "b"))
    x = graph.x.clone()
    x[:, 1] = 0.0
    x[:60, 1] = value * (labels[:60] == 1)
    graph = replace(graph, x=x)
    (found,) = find_shortcuts(graph, [Node(i) for i in range(60)])
    assert (found.kind, found.key) == ("feature", "1")
    misled = [i for i in range(100) if found.misleads(i, int(labels[i]))]
    assert misled == [i for i in range(60, 100) if labels[i] == 1]
    assert find_shortcuts(graph, [Node(i) for i in range(20)]) == ()  # ten of a class are too few to tell
    assert find_shortcuts(graph, []) == ()


def test_the_shape_is_named_or_counted_in_good_grammar():
    def shape(edges, nodes):
        graph = Graph(torch.rand(nodes, 5), undirected(edges), class_names=("a", "b", "c"))
        explained = xc.explain(network(), graph, Node(0), xc.ExplainConfig(k_m=nodes), "gradient")
        return next(trait.text for trait in traits_of(graph, explained) if trait.kind == "shape")

    assert shape([(0, 1)], 2) == "The network looks at 2 nodes and 1 edge."
    assert shape([(0, 1), (0, 2), (0, 3)], 4) == "The network looks at a star with 3 rays."
    assert shape([], 1) == "The network looks at no edge."


def test_the_members_of_a_prototype_are_nearer_to_it_than_another_shape():
    """Houses of BA-Shapes: what is explained of a roof is nearly the prototype of roofs; two edges of the base are not."""
    graph, model = xc.load_dataset("ba_shapes"), xc.load_pretrained("ba_shapes")
    config = xc.ExplainConfig(k_m=5)
    prototype = xc.prototype(model, graph, 1, instances=20, config=config)
    members = [member.explanation for member in prototype.members]
    small = replace(xc.explain(model, graph, Node(0), xc.ExplainConfig(k_m=1), "gradient"), predicted_class=1)
    *own, other = likeness_traits({1: prototype}, [*members, small], graph)
    assert sum({trait.key for trait in traits} == {"near"} for traits in own) > len(own) / 2
    assert {trait.key for trait in other} == {"far"}
    assert likeness_traits({0: prototype}, members, graph) == [set()] * len(members)  # of another class than predicted
    apart = [member.distance for member in compare_many(prototype, members, graph)]
    assert apart == [compare(prototype, each, graph).distance for each in members]
