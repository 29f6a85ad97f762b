"""Masks that are learnt: the objective on paper, the same numbers in any company, and nothing left behind."""

import importlib
import math
import threading
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torch
from small_networks import (
    FEATURES,
    case,
    counting_network,
    network,
    objective_of,
    random_graph,
    sharp,
    state_of,
)

from explainer_core.api import explain, explain_many, explain_steps
from explainer_core.config import ExplainConfig
from explainer_core.graph import Graph, undirected
from explainer_core.methods import losses
from explainer_core.methods.gnnexplainer import gnnexplainer, gnnexplainer_steps
from explainer_core.models import GNN, ModelSpec
from explainer_core.targets import Node

learning = importlib.import_module("explainer_core.methods.gnnexplainer")  # the package has a function of that name
TASKS = ("node", "graph", "link")
QUICK = ExplainConfig(steps=30)


def config(**changes):
    return ExplainConfig(**{"steps": 30} | changes)


def joint(**changes):
    """The masks of edges and features learnt together by sufficiency alone, as in the paper."""
    return config(**{"features": "joint", "necessity": 0.0} | changes)


def masked(model, data, target, settings, **asked):
    """What the learnt mask says by itself."""
    return explain(model, data, target, settings, "gnnexplainer", **asked)


def assert_same(one, other, atol=1e-4):
    assert (one.target, one.size) == (other.target, other.size)
    assert one.subgraph().nodes == other.subgraph().nodes
    assert one.subgraph().edges == other.subgraph().edges
    assert np.array_equal(one.edge_ids, other.edge_ids)
    for name in (
        "edge_weight",
        "feature_weight",
        "feature_mask",
        "probabilities",
        "masked_probabilities",
        "seed_weights",
    ):
        if getattr(one, name) is None:
            assert getattr(other, name) is None
        else:
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol, rtol=0, err_msg=name)
    assert [part.edges for part in one.table] == [part.edges for part in other.table]
    for part, same in zip(one.table, other.table, strict=True):
        assert (part.alone, part.without) == pytest.approx((same.alone, same.without), abs=atol)
    assert_same_verdict(one.verdict, other.verdict, atol)


def assert_same_verdict(one, other, atol=1e-4):
    assert (one.level, one.keeps_class, one.winner) == (other.level, other.keeps_class, other.winner)
    numbers = [(v.full, v.alone, v.without, v.empty) for v in (one, other)]
    assert numbers[0] == pytest.approx(numbers[1], abs=atol)


# In company and alone


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("changes", "method"),
    [
        ({}, "verified"),
        ({"k_m": 4, "k_m_unit": "edges", "connected": False}, "verified"),
        ({}, "gnnexplainer"),
        ({"seeds": 3, "features": "joint"}, "gnnexplainer"),
        ({"direction": "symmetric", "feature_mask": "per_node", "features": "joint"}, "gnnexplainer"),
        (
            {"feature_fill": "zero", "entropy": 0.5, "feat_entropy": 0.5, "laplacian": 0.5, "seeds": 2, "k_m": 5},
            "verified",
        ),
        (
            {"feature_fill": "zero", "entropy": 0.5, "feat_entropy": 0.5, "laplacian": 0.5, "features": "joint"},
            "gnnexplainer",
        ),
    ],
    ids=["verified", "wherever", "mask", "seeds", "tied", "every term", "every term at once"],
)
def test_a_batch_gives_the_numbers_of_one_by_one(task, changes, method):
    model, data, targets = case(task)
    together = explain_many(model, data, targets, config(**changes), method)
    for target, found in zip(targets, together, strict=True):
        assert_same(found, explain(model, data, target, config(**changes), method))


@pytest.mark.parametrize("method", ["verified", "gnnexplainer"])
@pytest.mark.parametrize("kind", ["gat", "gin", "sage", "gated", "rgcn"])
def test_a_batch_gives_the_numbers_of_one_by_one_for_every_kind_of_network(kind, method):
    model, data, targets = case("node", kind, typed=True)
    together = explain_many(model, data, targets, QUICK, method)
    for target, found in zip(targets, together, strict=True):
        assert_same(found, explain(model, data, target, QUICK, method))


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat"])
@pytest.mark.parametrize("task", TASKS)
def test_a_batch_gives_the_parts_of_one_by_one_where_edges_matter_much(task, kind):
    model, data, targets = case(task, kind)
    sharp(model)
    for settings in (config(k_m=5), config(k_m_unit="edges", seed=3)):
        together = explain_many(model, data, targets, settings)
        for target, found in zip(targets, together, strict=True):
            assert found.table
            assert_same(found, explain(model, data, target, settings))


@pytest.mark.parametrize("task", TASKS)
def test_pieces_of_a_batch_give_the_numbers_of_the_whole(task, monkeypatch):
    model, data, targets = case(task)
    whole = explain_many(model, data, targets * 3, QUICK)
    monkeypatch.setattr("explainer_core.api.BATCH_EDGES", 40)
    for one, other in zip(whole, explain_many(model, data, targets * 3, QUICK), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(task):
    model, data, targets = case(task)
    one, same, other = (explain(model, data, targets[0], config(seed=seed)) for seed in (3, 3, 4))
    assert np.array_equal(one.edge_weight, same.edge_weight)
    assert np.array_equal(one.feature_weight, same.feature_weight)
    assert one.history == same.history
    assert (one.edge_weight != other.edge_weight).all()


@pytest.mark.parametrize("task", TASKS)
def test_each_of_several_seeds_gives_what_it_would_alone(task):
    model, data, targets = case(task)
    found = explain(model, data, targets[0], config(seed=2, seeds=4))
    alone = [explain(model, data, targets[0], config(seed=2 + r)) for r in range(4)]
    assert found.seed_weights.shape == (4, len(found.edge_ids))
    for weights, one in zip(found.seed_weights, alone, strict=True):
        np.testing.assert_allclose(weights, one.edge_weight, atol=1e-4)
    np.testing.assert_allclose(found.edge_weight, np.mean([one.edge_weight for one in alone], 0), atol=1e-4)
    np.testing.assert_allclose(found.edge_spread, np.std([one.edge_weight for one in alone], 0), atol=1e-4)
    np.testing.assert_allclose(found.feature_weight, np.mean([one.feature_weight for one in alone], 0), atol=1e-4)
    masked = np.mean([one.masked_probabilities for one in alone], 0)
    np.testing.assert_allclose(found.masked_probabilities, masked, atol=1e-4)


def test_the_steps_end_where_the_explanation_is():
    model, data, targets = case("link")
    *_, last = explain_steps(model, data, targets[0], QUICK)
    whole = explain(model, data, targets[0], QUICK)
    assert_same(last.explanation(), whole, atol=0)
    assert np.array_equal(last.edge_weight, whole.edge_weight)
    assert last.number == whole.steps
    assert whole.history["prediction"][-1] == last.terms["prediction"]
    assert {len(values) for values in whole.history.values()} == {whole.steps}
    assert whole.snapshots[0][0] == 1
    assert np.array_equal(whole.snapshots[-1][1], whole.edge_weight)


def test_an_explanation_taken_on_the_way_stays_as_it_was():
    model, data, targets = case("node")
    steps = explain_steps(model, data, targets[0], QUICK)
    early = [next(steps) for _ in range(5)][-1].explanation()
    before = early.to_json()
    list(steps)
    assert early.to_json() == before
    assert len(early.history["prediction"]) == 5


# Nothing left behind


class Breaking(GNN):
    """Fails in its fifth pass."""

    passes = 0

    def forward(self, *args, **kwargs):
        type(self).passes += 1
        if type(self).passes == 5:
            raise RuntimeError("out of order")
        return super().forward(*args, **kwargs)


def in_training(kind="gcn", cls=GNN):
    torch.manual_seed(0)
    spec = ModelSpec(kind, "node", in_features=5, num_classes=3, hidden=8, num_layers=2, dropout=0.5, batch_norm=True)
    return cls(spec).train()


@pytest.mark.parametrize("kind", ["gcn", "gat"])
@pytest.mark.parametrize("training", [False, True])
def test_the_model_is_as_it_was_after_an_explanation(kind, training):
    model, graph = in_training(kind) if training else network(kind), random_graph()
    before = state_of(model)
    explain(model, graph, Node(3), QUICK)
    explain_many(model, graph, [Node(3), Node(4)], QUICK)
    assert state_of(model) == before


@pytest.mark.parametrize("training", [False, True])
def test_the_model_is_as_it_was_after_a_failure(training):
    model, graph = in_training(cls=Breaking), random_graph()
    if not training:
        model = model.eval().requires_grad_(False)
    before = state_of(model)
    for request in (explain, lambda *args: explain_many(*args[:2], [args[2]], args[3])):
        Breaking.passes = 0
        with pytest.raises(RuntimeError, match="out of order"):
            request(model, graph, Node(3), QUICK)
        assert state_of(model) == before


def test_the_model_is_as_it_was_after_numbers_that_are_none():
    model = in_training()
    torch.nn.init.constant_(model.head.bias, float("nan"))
    before = state_of(model)
    with pytest.raises(ValueError, match="must give finite numbers"):
        explain(model, random_graph(), Node(3), QUICK)
    assert state_of(model) == before


@pytest.mark.parametrize("training", [False, True])
def test_the_model_is_as_it_was_when_the_loop_is_left(training):
    model = in_training() if training else network()
    before = state_of(model)
    steps = explain_steps(model, random_graph(), Node(3), QUICK)
    for step in steps:
        if step.number == 5:
            break
    assert state_of(model) == before
    steps.close()
    assert state_of(model) == before


def test_a_model_in_training_is_explained_as_it_will_be_used():
    """Dropout is off and the running statistics count, though the model itself stays in training."""
    model, graph = in_training(), random_graph()
    found = explain(model, graph, Node(3), QUICK)
    assert model.training
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    model.eval().requires_grad_(False)
    assert_same(found, explain(model, graph, Node(3), QUICK), atol=0)
    with torch.no_grad():
        whole = model(graph.x, graph.edge_index)[3].softmax(-1)
    np.testing.assert_allclose(found.probabilities, whole, atol=1e-6)


@pytest.mark.parametrize("training", [False, True])
def test_two_people_with_one_model_get_what_each_would_get_alone(training):
    model, graph = in_training() if training else network(), random_graph()
    settings = [config(), config(seed=5, direction="symmetric"), config(feature_fill="zero")]
    alone = [explain(model, graph, Node(i), own) for i, own in enumerate(settings)]
    found, start = [None] * len(settings), threading.Barrier(len(settings))

    def work(i):
        start.wait()
        found[i] = explain(model, graph, Node(i), settings[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(settings))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, found, strict=True):
        assert_same(one, other, atol=0)


def test_the_global_seed_is_not_moved():
    state = torch.get_rng_state()
    explain(network(), random_graph(), Node(3), QUICK)
    assert torch.equal(torch.get_rng_state(), state)


# Answers known on paper


def one_path():
    """Node 0 has three arms of two edges; only at the end of the first, in node 4, is there anything to hear.

    Many silent nodes elsewhere make sure that values of other nodes are silent too.
    """
    x = torch.zeros(100, 1)
    x[4] = 3.0
    return Graph(x, undirected([(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)]))


@pytest.mark.parametrize("fill", ["zero", "marginal"])
@pytest.mark.parametrize("direction", ["directed", "symmetric"])
def test_the_only_path_that_carries_the_prediction_wins(fill, direction):
    settings = ExplainConfig(
        steps=100, k_m=3, feature_fill=fill, direction=direction, size=0.05, feat_size=0.0, seeds=3
    )
    found = explain(counting_network(), one_path(), Node(0), settings)
    assert found.predicted_class == 1
    weight = dict(zip(map(tuple, found.edge_index.T.tolist()), found.edge_weight, strict=True))
    path, others = {(4, 1), (1, 0)}, set(weight) - {(4, 1), (1, 0), (1, 4), (0, 1)}
    assert min(weight[edge] for edge in path) > 0.8
    assert max(weight[edge] for edge in others) < 0.2
    assert found.subgraph().nodes == (0, 1, 4)
    assert found.subgraph().edges == ((0, 1), (1, 4))


def test_the_reverse_direction_of_the_path_is_let_go():
    settings = ExplainConfig(steps=100, feature_fill="zero", size=0.05, feat_size=0.0)
    found = explain(counting_network(), one_path(), Node(0), settings)
    weight = dict(zip(map(tuple, found.edge_index.T.tolist()), found.edge_weight, strict=True))
    assert weight[0, 1] < 0.2 < 0.8 < weight[1, 0]


def planted_zero():
    """Feature 0 speaks against class 1 and is missing around the target alone; the other two are the same everywhere."""
    x = torch.ones(30, 3)
    x[:4, 0] = 0
    graph = Graph(x, undirected([(0, 1), (0, 2), (0, 3), *((a, a + 1) for a in range(4, 29))]))
    spec = ModelSpec("gcn", "node", in_features=3, num_classes=2, hidden=1, num_layers=1, normalize=False)
    model = GNN(spec).eval().requires_grad_(False)
    model.layers[0].linear.weight.copy_(torch.tensor([[-2.0, 1.0, 1.0]]))
    model.head.weight.copy_(torch.tensor([[0.0], [1.0]]))
    model.head.bias.copy_(torch.tensor([1.0, 0.0]))
    return model, graph


def test_a_feature_that_matters_by_being_zero_is_found_by_other_values_and_missed_by_zero():
    """Why the paper marginalises: zeroing a zero hides nothing."""
    model, graph = planted_zero()
    ranked = {}
    for fill in ("marginal", "zero"):
        found = masked(model, graph, Node(0), joint(feature_fill=fill, size=0.0, seeds=3, steps=100))
        assert found.predicted_class == 1
        ranked[fill] = found.top_features(3)
    assert ranked["marginal"][0] == 0
    assert ranked["zero"][-1] == 0


def test_auto_hides_one_hot_types_with_zero_and_all_else_with_other_values():
    """The type of another atom is a different atom, not a hidden one."""
    plain = random_graph(20, 30)
    kind = torch.arange(20) % FEATURES
    typed = replace(plain, x=torch.nn.functional.one_hot(kind, FEATURES).float())
    one_type = replace(plain, x=torch.nn.functional.one_hot(0 * kind, FEATURES).float())
    twice = replace(plain, x=2 * typed.x)
    for graph, same in ((plain, "marginal"), (typed, "zero"), (one_type, "marginal"), (twice, "marginal")):
        auto, explicit = (explain(network(), graph, Node(4), config(feature_fill=fill)) for fill in ("auto", same))
        np.testing.assert_array_equal(auto.edge_weight, explicit.edge_weight)
        np.testing.assert_array_equal(auto.feature_weight, explicit.feature_weight)


@pytest.mark.parametrize("kind", ["gcn", "gin"])
def test_a_larger_size_weight_never_keeps_more(kind):
    """From a small start. A start that is already strong drops nearly all, and then Adam's last twitches decide."""
    model, graph = network(kind), random_graph(20, 30)
    kept = [
        masked(model, graph, Node(4), config(size=size, size_start=0.02, steps=80)).edge_weight.sum()
        for size in (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    ]
    assert all(more >= less - 1e-6 for more, less in pairwise(kept)), kept
    assert kept[-1] < 0.5 * kept[0]


def test_a_larger_feature_size_weight_never_keeps_more():
    model, graph = network(), random_graph(20, 30)
    kept = [
        masked(model, graph, Node(4), joint(feat_size=size, feature_fill="zero")).feature_weight.sum()
        for size in (0.0, 0.1, 0.5, 2.0)
    ]
    assert all(more >= less - 0.01 for more, less in pairwise(kept)), kept


# The objective


def test_the_entropy_of_one_half_is_ln_2():
    shares = torch.tensor([0.5, 0.0, 1.0, 0.25])
    expected = [math.log(2), 0, 0, -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))]
    np.testing.assert_allclose(losses.binary_entropy(shares), expected, atol=1e-7)


def test_the_first_terms_on_paper(monkeypatch):
    """Every mask at one half: each entropy is ln 2, half the edges and half the features count."""
    monkeypatch.setattr(learning, "START_NOISE", 0.0)
    model, data, targets = case("node")
    weights = {"size": 0.4, "size_start": 0.02, "entropy": 3.0, "feat_size": 0.7, "feat_entropy": 2.0}
    step = next(explain_steps(model, data, targets[0], joint(start=0.0, **weights)))
    assert "necessity" not in step.terms
    assert step.terms["size"] == pytest.approx(0.02 / 2, rel=1e-5)  # at the start all edges share one weight
    assert step.terms["entropy"] == pytest.approx(3.0 * math.log(2), rel=1e-5)
    assert step.terms["feat_size"] == pytest.approx(0.7 / 2, rel=1e-5)
    assert step.terms["feat_entropy"] == pytest.approx(2.0 * math.log(2), rel=1e-5)
    assert step.terms.get("laplacian", 0) == 0


def test_the_size_weight_rises_geometrically_and_then_holds():
    model, data, targets = case("node")
    steps = list(explain_steps(model, data, targets[0], config(steps=20, size=0.4, size_start=0.5)))
    first = 0.5 / len(steps[0].edge_weight)
    terms = [step.terms["size"] for step in steps]
    sums = [step.edge_weight.sum() for step in steps]
    sizes = np.array(terms[1:]) / sums[:-1]  # terms are those a step starts from
    expected = [first * (0.4 / first) ** min(1, t / 16) for t in range(1, 20)]
    np.testing.assert_allclose(sizes, expected, rtol=1e-4)


def test_the_laplacian_term_is_that_of_the_masked_graph():
    """f^T L f with the Laplacian of networkx, on a graph whose nodes are predicted to differ."""
    graph = Graph(
        torch.tensor([[1.0], [2.0], [-1.0], [-2.0], [3.0]]), undirected([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)])
    )
    model = counting_network(num_layers=3)
    scores = model(graph.x, graph.edge_index)[:, 1]
    model.head.bias.copy_(torch.stack([scores.median(), torch.tensor(0.0)]))
    classes = model(graph.x, graph.edge_index).argmax(-1).numpy()
    assert 0 < classes.sum() < 5
    steps = list(gnnexplainer_steps(objective_of(model, graph, [Node(0)], config(laplacian=2.5, steps=3))))
    computation = objective_of(model, graph, [Node(0)]).computation
    for before, after in pairwise(steps):
        masked = nx.Graph()
        masked.add_nodes_from(range(5))
        ends = computation.node_ids[computation.edge_index].t().tolist()
        for (a, b), weight in zip(ends, before.weights.edge.tolist(), strict=True):
            known = masked.get_edge_data(a, b, {"weight": 0.0})["weight"]
            masked.add_edge(a, b, weight=known + weight / 2)  # the mean of the two directions
        laplacian = nx.laplacian_matrix(masked, nodelist=range(5)).toarray()
        assert after.terms[-1]["laplacian"].item() == pytest.approx(2.5 * classes @ laplacian @ classes, rel=1e-5)


def said_under(objective, mask, x):
    """What the network says under a mask. Of a whole graph, a node counts in the readout as much as the edge it keeps most."""
    c, model = objective.computation, objective.model
    if objective.task != "graph" or objective.config.readout == "plain":
        return objective.logits(mask, x)
    z = model.embed(x, c.edge_index, mask, edge_type=c.edge_types)
    rows = []
    for graph in range(c.num_instances):
        nodes = (c.node_instance == graph).nonzero().flatten().tolist()
        at = [mask[(c.edge_index == node).any(0)] for node in nodes]
        weight = torch.stack([own.amax() if len(own) else torch.ones(()) for own in at])
        rows.append((weight[:, None] * z[nodes]).sum(0) / weight.sum())
    return model.head(torch.stack(rows))


def slow_objective(objective, logits, feature_logits, step):
    """The objective of every prediction, term by term and edge by edge, as the paper writes it: a list of dicts.

    `logits` has one row for each directed edge; features are filled from the first node's, or zero.
    """
    c, settings = objective.computation, objective.config
    mask, gate = logits.sigmoid(), feature_logits.sigmoid()
    per_node = gate if settings.feature_mask == "per_node" else gate[c.node_instance]
    fill = torch.zeros_like(c.x) if settings.feature_fill == "zero" else objective.values[:1].expand_as(c.x)
    output = said_under(objective, mask, fill + (c.x - fill) * per_node) / settings.temperature
    left = said_under(objective, 1 - mask, c.x) / settings.temperature
    share = min(1, step / (0.8 * settings.steps))
    ends = 2 if objective.task == "link" else 1
    found = []
    for p in range(len(objective.goal)):
        terms = {"prediction": -(objective.goal[p] * output[p].softmax(-1).log()).sum(), "laplacian": torch.zeros(())}
        parts = range(p * ends, (p + 1) * ends)
        edges = [mask[c.edge_instance == part] for part in parts]
        if settings.necessity:
            terms["necessity"] = -settings.necessity * (1 - (objective.goal[p] * left[p].softmax(-1)).sum()).log()
        own = [c.node_instance == part if settings.feature_mask == "per_node" else part for part in parts]
        terms["size"] = sum(size_at(settings, share, len(part)) * part.sum() for part in edges)
        terms["entropy"] = settings.entropy * sum(entropy_of(part).mean() for part in edges if len(part))
        terms["feat_size"] = settings.feat_size * sum(gate[rows].mean() for rows in own)
        terms["feat_entropy"] = settings.feat_entropy * sum(entropy_of(gate[rows]).mean() for rows in own)
        for e in (c.edge_instance == p).nonzero().flatten().tolist() if objective.task == "node" else ():
            a, b = objective.node_class[c.edge_index[:, e]].tolist()
            terms["laplacian"] = terms["laplacian"] + settings.laplacian * mask[e] * float(a != b) / 2
        found.append(terms)
    return found


def size_at(settings, share, num_edges):
    first = min(settings.size_start / max(num_edges, 1), settings.size / 3)
    return first * (settings.size / first) ** share


def entropy_of(share):
    return -share * share.log() - (1 - share) * (1 - share).log()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("necessity", [0.0, 2.5])
@pytest.mark.parametrize("fill", ["zero", "marginal"])
@pytest.mark.parametrize(("direction", "features"), [("directed", "shared"), ("symmetric", "per_node")])
def test_terms_and_steps_are_those_of_autograd_and_torchs_adam(task, necessity, fill, direction, features, monkeypatch):
    """The manual gradients, and our own Adam, against the whole objective through autograd and torch.optim."""
    monkeypatch.setattr(learning, "START_NOISE", 0.0)
    monkeypatch.setattr(learning, "hashed_index", lambda size, *names: torch.zeros_like(names[-1]))
    settings = all_terms(necessity=necessity, feature_fill=fill, direction=direction, feature_mask=features)
    objective = objective_of(*case(task), settings)
    c = objective.computation
    tie = torch.arange(c.num_edges) if direction == "directed" else torch.tensor(ties(c))
    edge = torch.full((int(tie.max()) + 1,), 1.0, requires_grad=True)
    rows = c.num_nodes if features == "per_node" else c.num_instances
    feature = torch.zeros(rows, c.x.shape[1], requires_grad=True)
    for step in descended(objective, edge, tie, feature):
        assert ("necessity" in step.terms[-1]) == bool(necessity)
        gate = step.weights.node_feature if features == "per_node" else step.weights.feature
        torch.testing.assert_close(gate, feature.detach().sigmoid(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["gcn", "sage", "gat", "gin", "gated", "rgcn"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("necessity", "readout"), [(0.0, "weighed"), (2.5, "weighed"), (2.5, "plain")])
def test_with_the_features_as_they_are_the_steps_are_those_of_autograd_too(task, necessity, readout, kind, monkeypatch):
    """Both sides of the mask go through the network in one pass; the objective has two."""
    monkeypatch.setattr(learning, "START_NOISE", 0.0)
    settings = all_terms(necessity=necessity, readout=readout, features="none", feat_size=0.0, feat_entropy=0.0)
    objective = objective_of(*case(task, kind, typed=True), settings)
    c = objective.computation
    edge = torch.full((c.num_edges,), 1.0, requires_grad=True)
    shown = torch.full((c.num_instances, c.x.shape[1]), 50.0, requires_grad=True)  # sigmoid is one
    for step in descended(objective, edge, torch.arange(c.num_edges), shown):
        assert step.weights.feature is None
        assert not {"feat_size", "feat_entropy"} & set(step.terms[-1])


def all_terms(**changes):
    """Every term weighs something."""
    weights = {"size": 0.3, "size_start": 0.01, "entropy": 0.7, "feat_entropy": 0.3, "laplacian": 0.4}
    return joint(**{"steps": 10, "learning_rate": 0.15, "start": 1.0, "temperature": 2.0} | weights | changes)


def descended(objective, edge, tie, feature):
    """Yields the steps of the method while torch's own Adam walks along on the slow objective; both must agree."""
    adam = torch.optim.Adam([edge, feature], lr=objective.config.learning_rate)
    for number, step in enumerate(gnnexplainer_steps(objective)):
        terms = slow_objective(objective, edge[tie], feature, number)
        for name, values in step.terms[-1].items():
            expected = torch.stack([torch.as_tensor(of_one[name]) for of_one in terms]).detach()
            torch.testing.assert_close(
                values, expected, atol=1e-5, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}"
            )
        adam.zero_grad()
        sum(value for of_one in terms for name, value in of_one.items() if name in step.terms[-1]).backward()
        adam.step()
        torch.testing.assert_close(step.weights.edge, edge.detach().sigmoid()[tie], atol=1e-4, rtol=0)
        yield step


def ties(computation):
    """The number of its undirected edge for every directed one, by a dictionary."""
    numbers = {}
    return [numbers.setdefault(frozenset(pair), len(numbers)) for pair in computation.edge_index.t().tolist()]


# Options


def test_symmetric_masks_give_both_directions_the_same_weight():
    model, data, targets = case("node")
    for direction in ("symmetric", "directed"):
        found = explain(model, data, targets[0], config(direction=direction))
        weight = dict(zip(map(tuple, found.edge_index.T.tolist()), found.edge_weight, strict=True))
        both = [(weight[a, b], weight[b, a]) for a, b in weight if (b, a) in weight]
        assert len(both) > 4
        assert all(one == other for one, other in both) == (direction == "symmetric")


@pytest.mark.parametrize("direction", ["directed", "symmetric"])
def test_edges_of_different_types_have_masks_of_their_own(direction):
    """Two nodes joined twice: type 0 carries the prediction, type 1 carries nothing."""
    edge_index = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]])
    types = {"edge_types": torch.tensor([0, 0, 1, 1]), "edge_type_names": ("loud", "silent")}
    graph = Graph(torch.tensor([[1.0], [2.0]]), edge_index, **types)
    spec = ModelSpec("rgcn", "node", in_features=1, num_classes=2, hidden=1, num_layers=1, num_edge_types=2)
    model = GNN(spec).eval().requires_grad_(False)
    model.layers[0].weight.copy_(torch.tensor([[[1.0]], [[0.0]]]))
    model.layers[0].own.weight.zero_()
    model.layers[0].own.bias.zero_()
    model.head.weight.copy_(torch.tensor([[0.0], [3.0]]))
    model.head.bias.zero_()
    found = explain(model, graph, Node(0), ExplainConfig(steps=80, direction=direction, size=0.1, feature_fill="zero"))
    weight = dict(zip(found.edge_ids.tolist(), found.edge_weight, strict=True))
    assert set(weight) == {1, 3}
    assert weight[1] > 0.8
    assert weight[3] < 0.2


@pytest.mark.parametrize("task", TASKS)
def test_a_mask_for_each_node_has_its_shape_and_its_mean_is_the_features_weight(task):
    objective = objective_of(*case(task), joint(feature_mask="per_node"))
    found, c = gnnexplainer(objective), objective.computation
    assert found.node_feature.shape == c.x.shape
    assert found.feature.shape == (c.num_instances, c.x.shape[1])
    for instance in range(c.num_instances):
        mean = found.node_feature[c.node_instance == instance].mean(0)
        torch.testing.assert_close(found.feature[instance], mean)


def test_for_a_node_by_itself_one_mask_and_a_mask_for_each_node_are_the_same():
    graph = Graph(random_graph(6, 5).x, torch.empty(2, 0, dtype=torch.int64))
    shared, own = (masked(network(), graph, Node(2), joint(feature_mask=kind)) for kind in ("shared", "per_node"))
    np.testing.assert_allclose(shared.feature_weight, own.feature_weight, atol=1e-6)


def test_a_mask_for_each_node_knows_whose_feature_matters():
    """Only node 4 has anything to say."""
    settings = joint(steps=80, feature_mask="per_node", feature_fill="zero", feat_size=0.5, size=0.0)
    objective = objective_of(counting_network(), one_path(), [Node(0)], settings)
    weight = dict(zip(objective.computation.node_ids.tolist(), gnnexplainer(objective).node_feature[:, 0], strict=True))
    assert max(weight, key=weight.get) == 4
    assert all(weight[4] > weight[node] + 0.3 for node in weight if node != 4)


def test_where_all_nodes_look_alike_no_feature_is_weighed():
    graph = Graph(torch.ones(20, 5), random_graph(20, 30).edge_index)
    for method in ("verified", "gnnexplainer"):
        for features in ("after", "joint"):
            assert explain(network(), graph, Node(3), config(features=features), method).feature_weight is None
    assert masked(network(), graph, Node(3), joint(feature_fill="zero")).feature_weight.any()


def two_voices(one, other):
    """Neighbour 1 speaks for class 0, neighbour 2 for class 1, so loud; the node itself says nothing."""
    graph = Graph(torch.tensor([[0.0, 0.0], [one, 0.0], [0.0, other]]), undirected([(0, 1), (0, 2)]))
    spec = ModelSpec("gcn", "node", in_features=2, num_classes=2, hidden=2, num_layers=1, normalize=False)
    model = GNN(spec).eval().requires_grad_(False)
    for matrix in (model.layers[0].linear.weight, model.head.weight):
        matrix.copy_(torch.eye(2))
    model.head.bias.zero_()
    return model, graph


@pytest.mark.parametrize("asked", [0, 1])
def test_what_speaks_for_a_class_is_found_whether_it_is_predicted_or_not(asked):
    model, graph = two_voices(4.0, 5.0)
    settings = joint(steps=100, size=0.05, feat_size=0.0, feature_fill="zero")
    found = masked(model, graph, Node(0), settings, target_class=asked)
    assert (found.predicted_class, found.explained_class) == (1, asked)
    weight = dict(zip(found.edge_index[0].tolist(), found.edge_weight, strict=True))
    assert weight[1 + asked] > 0.8
    assert weight[2 - asked] < 0.2
    assert found.masked_probabilities[asked] > 0.8
    assert found.top_features(1) == (asked,)


def test_the_predicted_class_is_what_is_asked_unless_another_is():
    model, data, targets = case("node")
    predicted = explain(model, data, targets[0], QUICK)
    assert predicted.explained_class == predicted.predicted_class
    assert_same(predicted, explain(model, data, targets[0], QUICK, target_class=predicted.predicted_class), atol=0)


def test_the_distribution_is_never_met_better_than_by_itself():
    """The cross-entropy is at least the entropy of the prediction (Gibbs), and comes near it while all is kept."""
    graph = Graph(torch.ones(20, 5), random_graph(20, 30).edge_index)
    settings = config(temperature=1.0, start=5.0, size=0.0)
    found = explain(network(), graph, Node(3), settings, target_class="distribution")
    entropy = -sum(p * math.log(p) for p in found.probabilities)
    assert found.explained_class is None
    assert min(found.history["prediction"]) >= entropy - 1e-6
    assert found.history["prediction"][0] == pytest.approx(entropy, abs=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_the_distribution_is_kept_whatever_the_temperature(temperature):
    """Both voices together make the prediction what it is; to silence one of them would change it."""
    model, graph = two_voices(2.0, 3.0)
    settings = joint(size=0.0, feat_size=0.0, feature_fill="zero", temperature=temperature)
    found = masked(model, graph, Node(0), settings, target_class="distribution")
    np.testing.assert_allclose(found.masked_probabilities, found.probabilities, atol=0.02)


# When to stop


def test_masks_that_have_settled_are_left_alone():
    settings = ExplainConfig(steps=300, feature_fill="zero")
    found = masked(counting_network(), one_path(), Node(0), settings)
    assert 240 < found.steps < 300
    assert found.steps % learning.CHECK == 0
    assert {len(values) for values in found.history.values()} == {found.steps}


def settled_at_different_times():
    model, graph = network(seed=1), random_graph(20, 30, seed=1)
    settings, targets = ExplainConfig(steps=100, learning_rate=0.05, seeds=2), [Node(node) for node in range(8)]
    return model, graph, targets, settings, [masked(model, graph, target, settings) for target in targets]


def test_who_settles_early_is_not_moved_by_the_others():
    model, graph, targets, settings, alone = settled_at_different_times()
    assert len({one.steps for one in alone}) > 1
    for one, other in zip(alone, explain_many(model, graph, targets, settings, "gnnexplainer"), strict=True):
        assert_same(one, other)


def test_each_of_a_batch_knows_how_many_steps_it_took():
    model, graph, targets, settings, alone = settled_at_different_times()
    together = explain_many(model, graph, targets, settings, "gnnexplainer")
    assert [one.steps for one in together] == [one.steps for one in alone]
