"""Any network of four parts can be explained, and the zoo's fast paths give the numbers of its slow one."""

import numpy as np
import pytest
import torch
from small_networks import CLASSES, FEATURES, case, network, random_graph, random_set

import explainer_core as xc
from explainer_core.explanation.metrics import faithfulness
from explainer_core.models.protocol import Model, PredictionBatch
from explainer_core.predictions import link_pairs, predictions

TASKS = ("node", "graph", "link")
QUICK = xc.ExplainConfig(steps=10, k_m=4)
PLAIN = [name for name, method in xc.METHODS.items() if not method.needs_attention]
TARGETS = {"node": xc.Node(3), "graph": xc.WholeGraph(2), "link": xc.Link(3, 8)}


class Slow:
    """The same network, with nothing but what the protocol demands."""

    def __init__(self, gnn):
        self.gnn, self.task, self.num_classes, self.hops = gnn, gnn.task, gnn.num_classes, gnn.hops

    def logits(self, batch, edge_weight=None, x=None):
        settings = {"edge_type": batch.edge_types, "degree": batch.degree}
        z = self.gnn.embed(batch.x if x is None else x, batch.edge_index, edge_weight, **settings)
        if self.task == "graph":
            return self.gnn.head(self.gnn.read_out(z, batch.graph_of, batch.num_predictions, batch.node_weight))
        if self.task == "link":
            return self.gnn.decode(*z[batch.targets].unbind(1))
        return self.gnn.head(z[batch.targets])


class Minimal(torch.nn.Module):
    """What a user might write: two rounds of sums over neighbours, in plain torch."""

    hops = 2

    def __init__(self, task):
        super().__init__()
        self.task, self.num_classes = task, 2 if task == "link" else CLASSES
        self.first, self.last = torch.nn.Linear(FEATURES, 8), torch.nn.Linear(8, self.num_classes)

    def logits(self, batch, edge_weight=None, x=None):
        source, target = batch.edge_index
        weight = torch.ones(len(source)) if edge_weight is None else edge_weight
        h = self.first(batch.x if x is None else x)
        for _ in range(self.hops or 2):
            h = (h + torch.zeros_like(h).index_add(0, target, h[source] * weight[:, None])).tanh()
        if self.task == "graph":
            h = torch.zeros(batch.num_predictions, 8).index_add(0, batch.graph_of, h)
        else:
            h = h[batch.targets].prod(1) if self.task == "link" else h[batch.targets]
        return self.last(h)


def minimal(task):
    torch.manual_seed(1)
    return Minimal(task)


def data_for(task):
    return random_set() if task == "graph" else random_graph(20, 30)


def same(one, other):
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-5)
    np.testing.assert_allclose(one.edge_weight, other.edge_weight, atol=2e-5)
    assert one.subgraph() == other.subgraph()
    assert (one.verdict.level, one.verdict.keeps_class) == (other.verdict.level, other.verdict.keeps_class)
    np.testing.assert_allclose(one.verdict.alone, other.verdict.alone, atol=1e-5)
    np.testing.assert_allclose(one.verdict.without, other.verdict.without, atol=1e-5)
    if one.feature_weight is not None:
        np.testing.assert_allclose(one.feature_weight, other.feature_weight, atol=1e-4)


# The zoo's fast paths against its slow one


EVERY_METHOD = [(method, "gcn") for method in PLAIN]
EVERY_KIND = [(method, kind) for method in ("gradient", xc.DEFAULT_METHOD) for kind in ("sage", "gin", "gat", "gated")]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("method", "kind"), EVERY_METHOD + EVERY_KIND)
def test_a_network_without_its_fast_paths_gets_the_same_explanations(method, task, kind):
    model, data, targets = case(task, kind)
    quick = xc.explain_many(model, data, targets, QUICK, method)
    slow = xc.explain_many(Slow(model), data, targets, QUICK, method)
    for one, other in zip(quick, slow, strict=True):
        same(one, other)


def test_so_does_a_typed_network():
    model, data, targets = case("node", "rgcn", typed=True)
    same(xc.explain(model, data, targets[0], QUICK), xc.explain(Slow(model), data, targets[0], QUICK))


def test_the_paper_s_form_is_the_same_with_its_laplacian_and_joint_features():
    model, data, targets = case("node")
    paper = xc.ExplainConfig.paper(steps=10)
    found = (xc.explain(each, data, targets[0], paper, "gnnexplainer") for each in (model, Slow(model)))
    same(*found)


@pytest.mark.parametrize("task", TASKS)
def test_predictions_of_everything_are_the_same(task):
    model, data, _ = case(task)
    quick, slow = predictions(model, data), predictions(Slow(model), data)
    np.testing.assert_allclose(quick.probabilities, slow.probabilities, atol=1e-6)
    assert len(quick.embedding) == len(slow.embedding)
    if task == "link":
        for one, other in zip(link_pairs(model, data), link_pairs(Slow(model), data), strict=True):
            assert (one.source, one.head, one.exists) == (other.source, other.head, other.exists)
            assert one.probability == pytest.approx(other.probability, abs=1e-5)


# A network of one's own


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", PLAIN)
def test_a_minimal_network_is_explained_by_every_method_that_needs_no_attention(method, task):
    model, data = minimal(task), data_for(task)
    found = xc.explain(model, data, TARGETS[task], QUICK, method)
    assert np.isfinite(found.edge_weight).all()
    assert len(found.probabilities) == model.num_classes
    assert found.verdict is not None
    assert model.training  # left as it was
    assert xc.Explanation.from_json(found.to_json()).to_json() == found.to_json()


@pytest.mark.parametrize("task", TASKS)
def test_a_minimal_network_is_judged_as_one_does_by_hand(task):
    model, data = minimal(task), data_for(task)
    found = xc.explain(model, data, TARGETS[task], QUICK)
    (judged,) = faithfulness(model, data, [found])
    trusted = xc.trust(model, data, found)
    assert trusted.faithfulness.kept == pytest.approx(judged.kept, abs=1e-6)
    assert judged.kept == pytest.approx(found.verdict.alone, abs=1e-6)
    if task == "node":  # silent edges in the whole graph, nothing cut
        kept = {frozenset(edge) for edge in found.subgraph().edges}
        weight = torch.tensor([float(frozenset(ends) in kept) for ends in data.edge_index.t().tolist()])
        batch = PredictionBatch("node", data.x, data.edge_index, 1, targets=torch.tensor([3]))
        for edge_weight, expected in ((weight, judged.kept), (1 - weight, judged.without), (None, judged.full)):
            with torch.no_grad():
                row = model.logits(batch, edge_weight).softmax(-1)[0]
            assert row[found.predicted_class].item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("task", ["node", "graph"])
def test_a_minimal_network_has_prototypes(task):
    model, data = minimal(task), data_for(task)
    label = int(np.bincount(predictions(model, data).predicted).argmax())
    assert xc.prototype(model, data, label, instances=2, config=QUICK).members


def test_what_needs_attention_says_which_network_has_it():
    with pytest.raises(ValueError, match=r"attention needs a gat model \(got 'Minimal'\)"):
        xc.explain(minimal("node"), data_for("node"), xc.Node(3), QUICK, "attention")


# The whole graph


def with_and_without_hops(task, method):
    """Two hops are all that this network looks at: what it is given beyond them must not matter."""
    model, data = minimal(task), data_for(task)
    cut = xc.explain(model, data, TARGETS[task], QUICK, method)
    model.hops = None
    return model, data, cut, xc.explain(model, data, TARGETS[task], QUICK, method)


@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("method", ["gradient", "occlusion"])
def test_a_network_that_looks_at_everything_is_given_everything(method, task):
    _, data, cut, whole = with_and_without_hops(task, method)
    sides = 2 if task == "link" else 1
    assert len(whole.nodes) == sides * data.num_nodes
    asked = {frozenset((3, 8))} if task == "link" else set()
    shown = [ends for ends in data.edge_index.t().tolist() if frozenset(ends) not in asked]
    assert len(whole.edge_ids) == sides * len(shown)
    np.testing.assert_allclose(whole.probabilities, cut.probabilities, atol=1e-6)
    weight = dict(
        zip(zip(whole.edge_part.tolist(), whole.edge_ids.tolist(), strict=True), whole.edge_weight, strict=True)
    )
    for part, edge, expected in zip(cut.edge_part.tolist(), cut.edge_ids.tolist(), cut.edge_weight, strict=True):
        assert weight.pop((part, edge)) == pytest.approx(expected, abs=1e-5)
    # what is hidden both ways at once weighs the same both ways, though only one of them is within the hops
    ends = data.edge_index.t().tolist()
    both = {
        (part, frozenset(ends[edge])) for part, edge in zip(cut.edge_part.tolist(), cut.edge_ids.tolist(), strict=True)
    }
    both = both if method == "occlusion" else set()
    beyond = [value for (part, edge), value in weight.items() if (part, frozenset(ends[edge])) not in both]
    assert beyond == pytest.approx([0] * len(beyond), abs=1e-6)


@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("method", ["verified", "gnnexplainer"])
def test_a_mask_over_everything_keeps_what_the_network_looks_at(method, task):
    model, data, cut, whole = with_and_without_hops(task, method)
    assert len(whole.nodes) == (2 if task == "link" else 1) * data.num_nodes
    np.testing.assert_allclose(whole.probabilities, cut.probabilities, atol=1e-6)
    assert ((whole.edge_weight >= 0) & (whole.edge_weight <= 1)).all()
    seen = {frozenset(edge) for edge in cut.edge_index.T.tolist()}
    assert {frozenset(edge) for edge in whole.subgraph().edges} <= seen
    (judged,) = faithfulness(model, data, [whole])
    assert (whole.verdict.alone, whole.verdict.without) == pytest.approx((judged.kept, judged.without), abs=1e-6)


def test_nodes_that_no_path_joins_are_given_too():
    """A readout of all nodes beside the node's own state: a node elsewhere matters."""
    graph = xc.Graph(torch.tensor([[1.0], [2.0], [5.0]]), torch.tensor([[0, 1], [1, 0]]))

    class Everyone:
        task, num_classes, hops = "node", 2, None

        def logits(self, batch, edge_weight=None, x=None):
            x = batch.x if x is None else x
            assert len(x) == 3 * batch.num_predictions
            weight = torch.ones(batch.edge_index.shape[1]) if edge_weight is None else edge_weight
            total = x.sum() + weight.sum()
            return torch.stack([total * 0, total], -1).expand(batch.num_predictions, 2)

    found = xc.explain(Everyone(), graph, xc.Node(0), QUICK, "gradient")
    assert sorted(found.nodes.tolist()) == [0, 1, 2]
    assert found.probabilities[1] == pytest.approx(torch.sigmoid(torch.tensor(10.0)).item())


# What is refused


class Wrong(Minimal):
    """Its answer is made into something else."""

    def __init__(self, task, spoil):
        super().__init__(task)
        self.spoil = spoil

    def logits(self, batch, edge_weight=None, x=None):
        return self.spoil(super().logits(batch, edge_weight, x), batch)


def every_node(logits, batch):
    return logits[:1].expand(len(batch.x), -1)


@pytest.mark.parametrize("method", ["verified", "gradient", "random"])
@pytest.mark.parametrize("task", TASKS)
def test_a_row_for_every_node_is_refused(task, method):
    way_out = {"node": "rows of batch.targets", "link": "each pair in batch.targets", "graph": "by batch.graph_of"}
    expected = rf"a row of {2 if task == 'link' else 3} logits for each prediction.*\(got \(\d+, .*{way_out[task]}"
    with pytest.raises(ValueError, match=expected):
        xc.explain(Wrong(task, every_node), data_for(task), TARGETS[task], QUICK, method)


@pytest.mark.parametrize("task", TASKS)
def test_a_wrong_number_of_classes_is_refused(task):
    model = Wrong(task, lambda logits, batch: logits[:, :1])
    with pytest.raises(ValueError, match=r"\(got \(1, 1\)\); set num_classes to 1, or return \d columns"):
        xc.explain(model, data_for(task), TARGETS[task], QUICK)


@pytest.mark.parametrize("task", TASKS)
def test_numbers_that_are_none_are_refused(task):
    model = Wrong(task, lambda logits, batch: logits * float("nan"))
    with pytest.raises(ValueError, match=r"must give finite numbers \(got \[nan"):
        xc.explain(model, data_for(task), TARGETS[task], QUICK)


@pytest.mark.parametrize(
    ("spoil", "got"),
    [(lambda logits, batch: (logits,), r"got a tuple"), (lambda logits, batch: logits[0], r"got \(3,\)")],
)
def test_other_shapes_are_refused(spoil, got):
    with pytest.raises(ValueError, match=got):
        xc.explain(Wrong("node", spoil), data_for("node"), xc.Node(3), QUICK)


def test_a_network_that_ignores_the_mask_cannot_be_differentiated():
    class Deaf(Minimal):
        def logits(self, batch, edge_weight=None, x=None):
            return super().logits(batch, None, x)

    with pytest.raises(ValueError, match=r"multiply every message by its edge weight.*\(got logits that do not depend"):
        xc.explain(Deaf("node"), data_for("node"), xc.Node(3), QUICK)


def test_what_is_no_model_says_what_is_missing():
    graph = random_graph()
    with pytest.raises(ValueError, match=r"got a str without task, num_classes, hops, logits\)"):
        xc.explain("gcn", graph, xc.Node(0), QUICK)
    with pytest.raises(ValueError, match=r"\(got Linear, whose answer follows no edge weight\)"):
        xc.explain(torch.nn.Linear(5, 3), graph, xc.Node(0), QUICK)
    for name, value, message in (
        ("hops", 0, "hops of a model"),
        ("num_classes", 1, "num_classes"),
        ("task", "edge", "task"),
    ):
        model = minimal("node")
        setattr(model, name, value)
        with pytest.raises(ValueError, match=rf"{message} .*\(got {value!r}\)"):
            xc.explain(model, graph, xc.Node(0), QUICK)


def test_the_zoo_s_network_has_all_that_the_protocol_names():
    model: Model = network()
    assert (model.task, model.num_classes, model.hops, model.in_features) == ("node", CLASSES, 2, FEATURES)
    assert network("gcn").attention is None
    assert network("gat").attention is not None
