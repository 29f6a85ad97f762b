"""The request: what is refused and how, what is reported on the way, and what the answer says of the model."""

import numpy as np
import pytest
import torch
from small_networks import case, network, random_graph, random_set

import explainer_core as xc
from explainer_core.api import explain, explain_many, explain_steps
from explainer_core.config import ExplainConfig
from explainer_core.graph import Graph
from explainer_core.methods import METHODS
from explainer_core.models import KINDS
from explainer_core.targets import Link, Node, WholeGraph

QUICK = ExplainConfig(steps=5)
GRAPH, SET = random_graph(20, 30), random_set()
NODE, LINK, WHOLE = network(), network(task="link", num_classes=2), network(task="graph")


def unreadable():
    model = network()
    model.head.bias[1] = float("nan")
    return model


REFUSED = {
    "unknown method": (NODE, GRAPH, Node(0), {"method": "magic"}, r"method must be one of verified, .+'magic'"),
    "link for a node model": (
        NODE,
        GRAPH,
        Link(0, 1),
        {},
        r"a node model explains a node \(got Link.+load a link model",
    ),
    "graph for a node model": (NODE, GRAPH, WholeGraph(), {}, r"a node model .+ \(got WholeGraph.+load a graph model"),
    "node for a link model": (LINK, GRAPH, Node(3), {}, r"a link model explains a link \(got Node\(node=3\)\)"),
    "node for a graph model": (WHOLE, GRAPH, Node(3), {}, r"a graph model explains a graph \(got Node\(node=3\)\)"),
    "node not there": (NODE, GRAPH, Node(20), {}, r"node must be 0 to 19 \(got 20\)"),
    "node of a set": (NODE, SET, Node(0), {}, r"a Node lies in one graph \(got a GraphSet\)"),
    "graph without number": (WHOLE, SET, WholeGraph(), {}, "WholeGraph needs the number"),
    "too few features": (
        NODE,
        Graph(GRAPH.x[:, :2], GRAPH.edge_index),
        Node(0),
        {},
        r"the model reads 5 features a node \(got data with 2\)",
    ),
    "class too high": (NODE, GRAPH, Node(0), {"target_class": 3}, r"target_class must be .+ or 0 to 2 \(got 3\)"),
    "class too low": (NODE, GRAPH, Node(0), {"target_class": -1}, r"\(got -1\)"),
    "class true": (NODE, GRAPH, Node(0), {"target_class": True}, r"\(got True\)"),
    "class a fraction": (NODE, GRAPH, Node(0), {"target_class": 1.0}, r"\(got 1.0\)"),
    "class text": (NODE, GRAPH, Node(0), {"target_class": "best"}, r"\(got 'best'\)"),
    "class none": (NODE, GRAPH, Node(0), {"target_class": None}, r"\(got None\)"),
    "no numbers": (
        unreadable(),
        GRAPH,
        Node(7),
        {},
        r"must give finite numbers \(got \[.*nan.*\] for Node\(node=7\)\)",
    ),
    "attention of a gcn": (NODE, GRAPH, Node(0), {"method": "attention"}, r"attention needs a gat model \(got 'gcn'\)"),
}


@pytest.mark.parametrize(("model", "data", "target", "settings", "message"), REFUSED.values(), ids=REFUSED)
def test_a_request_that_makes_no_sense_says_why(model, data, target, settings, message):
    with pytest.raises(ValueError, match=message):
        explain(model, data, target, QUICK, **settings)
    with pytest.raises(ValueError, match=message):
        explain_many(model, data, [target], QUICK, **settings)
    if "method" not in settings:
        with pytest.raises(ValueError, match=message):
            next(explain_steps(model, data, target, QUICK, **settings))


def test_a_bad_target_among_good_ones_is_found_before_anything_is_computed():
    calls = []
    with pytest.raises(ValueError, match=r"\(got 99\)"):
        explain_many(NODE, GRAPH, [Node(0), Node(99)], QUICK, progress=lambda *done: calls.append(done))
    with pytest.raises(ValueError, match="targets must all be Node"):
        explain_many(NODE, GRAPH, [Node(0), Link(0, 1)], QUICK)
    assert not calls


def test_the_target_that_has_no_numbers_is_named():
    """Only the node whose features are as large as can be overflows."""
    x, model = GRAPH.x.clone(), network()
    x[3] = 1e15
    model.head.weight.mul_(1e30)
    alone = Graph(x, torch.empty(2, 0, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"for Node\(node=3\)"):
        explain_many(model, alone, [Node(1), Node(2), Node(3), Node(4)], QUICK)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_asked_is_nothing_answered(method):
    model = network("gat") if METHODS[method].needs_attention else NODE
    assert explain_many(model, GRAPH, [], QUICK, method) == []


def test_progress_is_reported_to_the_end(monkeypatch):
    monkeypatch.setattr("explainer_core.api.BATCH_EDGES", 60)
    calls = []
    targets = [Node(node) for node in range(20)]
    found = explain_many(NODE, GRAPH, targets, QUICK, progress=lambda *done: calls.append(done))
    assert [one.target for one in found] == targets
    assert len(calls) > 2
    assert calls == sorted(set(calls))
    assert calls[-1] == (20, 20)
    assert {total for _, total in calls} == {20}


def test_an_exception_from_progress_stops_the_work(monkeypatch):
    monkeypatch.setattr("explainer_core.api.BATCH_EDGES", 60)
    calls = []

    def stop_soon(done, total):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_many(NODE, GRAPH, [Node(node) for node in range(20)], QUICK, progress=stop_soon)
    assert len(calls) == 2
    assert calls[-1] < 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["node", "graph"])
def test_the_probabilities_are_those_of_the_model_on_the_whole_graph(kind, task):
    model, data, targets = case(task, kind, typed=True)
    for target, found in zip(targets, explain_many(model, data, targets, QUICK, "proximity"), strict=True):
        graph = data if task == "node" else data[target.index]
        with torch.no_grad():
            logits = model(graph.x, graph.edge_index, edge_type=graph.edge_types)
        row = logits[target.node if task == "node" else 0].softmax(-1)
        np.testing.assert_allclose(found.probabilities, row, atol=1e-5)
        assert found.predicted_class == int(row.argmax())
        assert sum(found.probabilities) == pytest.approx(1)


def test_the_answer_carries_the_request():
    settings = ExplainConfig(steps=5, seed=9, k_m=3)
    for method in ("gnnexplainer", "gradient"):
        found = explain(NODE, GRAPH, Node(4), settings, method, target_class=2)
        assert (found.target, found.method, found.config, found.explained_class) == (Node(4), method, settings, 2)
        assert found.nodes[0] == 4
        assert found.hop[0] == 0
    assert explain(NODE, GRAPH, Node(4), QUICK, target_class="distribution").explained_class is None


def test_a_links_edges_come_end_by_end():
    a, b = GRAPH.edge_index[:, 0].tolist()
    found = explain(LINK, GRAPH, Link(a, b), QUICK)
    assert (np.diff(found.edge_part) >= 0).all()
    assert set(found.edge_part.tolist()) == {0, 1}
    shown = set(map(tuple, found.edge_index.T.tolist()))
    assert not shown & {(a, b), (b, a)}
    for part in (0, 1):
        ids = found.edge_ids[found.edge_part == part]
        assert len(ids) == len(set(ids.tolist()))


def test_a_sampled_neighbourhood_says_so():
    assert explain(NODE, GRAPH, Node(0), ExplainConfig(steps=5, max_edges=3), "gradient").sampled
    assert not explain(NODE, GRAPH, Node(0), QUICK, "gradient").sampled


def test_only_a_method_of_chance_has_a_spread_over_seeds():
    several = ExplainConfig(steps=5, seeds=3)
    for method in METHODS:
        model = network("gat") if METHODS[method].needs_attention else NODE
        found = explain(model, GRAPH, Node(0), several, method)
        assert (found.edge_spread is not None) == METHODS[method].stochastic
        assert explain(model, GRAPH, Node(0), QUICK, method).edge_spread is None


def test_plain_data_crosses_the_border():
    """Nothing of torch is left in an explanation."""
    for task in ("node", "graph", "link"):
        model, data, targets = case(task)
        found = explain(model, data, targets[0], QUICK)
        assert not [name for name, value in vars(found).items() if isinstance(value, torch.Tensor)]
        assert all(type(p) is float for p in (*found.probabilities, *found.masked_probabilities))
        assert all(type(value) is float for values in found.history.values() for value in values)


def test_seeing_every_fifth_step_changes_nothing():
    model, data, targets = case("node")
    settings = ExplainConfig(steps=12, refine=False)
    all_steps = list(explain_steps(model, data, targets[0], settings))
    some = list(explain_steps(model, data, targets[0], settings, every=5))
    assert [step.number for step in some] == [1, 5, 10, 12]
    assert np.array_equal(some[-1].edge_weight, all_steps[-1].edge_weight)
    assert some[-1].explanation().history == all_steps[-1].explanation().history
    with pytest.raises(ValueError, match=r"every must be at least 1 \(got 0\)"):
        next(explain_steps(model, data, targets[0], settings, every=0))


def test_a_bar_in_the_terminal_reaches_the_end_and_changes_nothing(capsys):
    model, data, targets = case("node")
    settings = ExplainConfig(steps=3, refine=False)
    with_bar = explain_many(model, data, targets, settings, progress=True)
    assert f"{len(targets)}/{len(targets)}" in capsys.readouterr().err
    for one, other in zip(with_bar, explain_many(model, data, targets, settings), strict=True):
        assert np.array_equal(one.edge_weight, other.edge_weight)


@pytest.mark.parametrize("progress", [False, True])
def test_targets_may_come_from_any_iterable(progress, capsys):
    settings = ExplainConfig(steps=3, refine=False)
    for targets in ((Node(i) for i in (4, 0)), (Node(4), Node(0)), map(Node, (4, 0))):
        found = explain_many(NODE, GRAPH, targets, settings, progress=progress)
        assert [e.target for e in found] == [Node(4), Node(0)]
    assert explain_many(NODE, GRAPH, iter(()), settings, progress=progress) == []


def test_what_a_beginner_needs_is_at_the_top():
    """The function trust and its module share a name: the function is what one sees, the module is still there to import from."""
    import explainer_core as xc
    from explainer_core.explanation.trust import Trust, trust

    assert xc.trust is trust
    assert {"TrainConfig", "ModelSpec", "make_task", "train", "trust"} <= set(xc.__all__)
    assert all(hasattr(xc, name) for name in xc.__all__)
    found = xc.explain(NODE, GRAPH, xc.Node(4), QUICK)
    assert isinstance(xc.trust(NODE, GRAPH, found), Trust)


@pytest.mark.parametrize("method", ["gradient", "proximity", "gnnexplainer"])
def test_weights_alone_are_those_of_the_explanation(method):
    graph, model = xc.load_dataset("karate"), xc.load_pretrained("karate")
    config = xc.ExplainConfig(steps=5, seeds=2)
    alone, explained = (ask(model, graph, Node(5), config, method) for ask in (xc.weigh, xc.explain))
    assert np.array_equal(alone.edge_weight, explained.edge_weight)
    assert np.array_equal(alone.nodes, explained.nodes)
    assert alone.probabilities == explained.probabilities
    assert alone.verdict is None
    assert explained.verdict is not None
