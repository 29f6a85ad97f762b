"""Networks for data of one's own: trained on the user's split or a fair one, stopped in time, told what cannot be trained."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.nn import GCN

from explainer_core.datasets.registry import load_dataset
from explainer_core.datasets.splits import split_80_10_10, split_of
from explainer_core.files import SentFile, read_files
from explainer_core.files.examples import example_files
from explainer_core.graph import Graph, undirected
from explainer_core.graph.files import from_bytes, to_bytes
from explainer_core.models.spec import KINDS
from explainer_core.predictions import predict
from explainer_core.targets import Node
from explainer_core.zoo.own_data import judged_card, kinds_for, plan, tasks_for, train_own, training_bytes

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def clubs() -> Graph:
    return read_files("csv", example_files("csv")).data


def quick(wanted, **changes):
    return replace(wanted, config=replace(wanted.config, **changes))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "rgcn"])
def test_every_kind_learns_the_clubs_of_the_example(clubs, kind):
    """Three clubs of equal size: guessing gets a third."""
    model, card = train_own(clubs, plan(clubs, "node", kind), device=CPU)
    assert card.test_accuracy >= 0.7
    assert card.majority_accuracy <= 0.5
    assert card.split["train"] + card.split["val"] + card.split["test"] == 85  # five have no club
    assert model.spec.kind == card.model == kind
    assert not model.training


def test_molecules_are_learnt_as_graphs():
    data = read_files("smiles", example_files("smiles")).data
    assert tasks_for(data) == ("graph",)
    assert "rgcn" in kinds_for(data)
    wanted = quick(plan(data, "graph", "rgcn"), epochs=40)
    _, card = train_own(data, wanted, device=CPU)
    assert card.train_accuracy >= 0.8
    assert card.epochs == 40


def test_a_graph_without_classes_is_trained_for_links():
    graph = replace(load_dataset("les_miserables"), labels=None)
    assert tasks_for(graph) == ("link",)
    _, card = train_own(graph, plan(graph, "link", "gcn"), device=CPU)
    assert card.test_auc >= 0.75
    assert tasks_for(Graph.from_arrays([[0, 1], [1, 2]], directed=True)) == ()


def test_where_features_are_equal_neighbours_are_counted(clubs):
    plain = replace(clubs, x=torch.ones(90, 1), feature_names=("constant",))
    assert not plan(plain, "node", "gcn").spec.normalize
    assert plan(clubs, "node", "gcn").spec.normalize


def test_training_ends_when_it_gets_no_better(clubs):
    seen = []
    wanted = quick(plan(clubs, "node", "gcn"), epochs=5000, patience=20)
    _, card = train_own(clubs, wanted, device=CPU, on_epoch=seen.append)
    assert card.epochs == len(seen) < 5000
    best = max(epoch.val_accuracy for epoch in seen)
    assert card.val_accuracy == pytest.approx(best, abs=1e-4)
    assert card.best_epoch <= card.epochs


def test_training_ends_when_its_time_is_over_and_keeps_the_best(clubs, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr("explainer_core.zoo.training.time.monotonic", lambda: float(next(clock)))
    _, card = train_own(clubs, quick(plan(clubs, "node", "gcn"), max_seconds=7.0), device=CPU)
    assert card.epochs == 7


def test_the_data_s_own_split_is_used(clubs):
    masks = {f"{part}_mask": torch.zeros(90, dtype=torch.bool) for part in ("train", "val", "test")}
    masks["train_mask"][::2] = True
    masks["test_mask"][1::4] = True
    graph = replace(clubs, node_data=masks)
    split = split_of(graph, graph.labels, 0)
    known = (graph.labels >= 0).numpy()
    assert set(split["test"].tolist()) == {i for i in range(1, 90, 4) if known[i]}
    both = [*split["train"].tolist(), *split["val"].tolist()]  # no validation part was given: an eighth is taken
    assert sorted(both) == [i for i in range(0, 90, 2) if known[i]]
    assert len(split["val"]) == -(-len(both) // 8)
    _, card = train_own(graph, quick(plan(graph, "node", "gcn"), epochs=2), device=CPU)
    assert card.split["rule"] == "as the data say"
    without = replace(graph, node_data=masks | {"test_mask": torch.zeros(90, dtype=torch.bool)})
    _, card = train_own(without, quick(plan(graph, "node", "gcn"), epochs=2), device=CPU)
    assert card.test_accuracy is None
    assert card.majority_accuracy is None


@pytest.mark.parametrize("counts", [[50, 50], [60, 3, 1], [1] * 12, [2] * 40, [11, 1, 1, 1], [5] * 9])
def test_a_split_by_chance_shares_out_all_whose_class_is_known(counts):
    labels = torch.tensor([label for label, count in enumerate(counts) for _ in range(count)] + [-1] * 7)
    split = split_80_10_10(labels.numpy(), 3)
    everyone = torch.cat(list(split.values())).sort().values.tolist()
    assert everyone == list(range(sum(counts)))
    assert all(len(split[part]) for part in split)
    large = [label for label, count in enumerate(counts) if count >= 50]
    for label in large:
        members = sum(int((labels[split[part]] == label).sum()) for part in ("val", "test"))
        assert abs(members - counts[label] * 0.2) <= 2


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0] * 5 + [1] * 4 + [-1] * 20, r"at least 10 examples whose class is known \(got 9\)"),
        ([0] * 29, "none: give at least two classes"),
        ([-1] * 29, "none: give at least two classes"),
    ],
)
def test_what_cannot_be_trained_is_said(labels, sentence):
    edges = undirected([(i, i + 1) for i in range(28)])[:, ::2]  # one direction: no link network either
    graph = Graph(torch.ones(29, 1), edges, labels=torch.tensor(labels), class_names=("a", "b"))
    with pytest.raises(ValueError, match=sentence):
        train_own(graph, plan(graph, "node", "gcn"), device=CPU)


def test_a_training_part_of_one_class_is_refused(clubs):
    masks = {f"{part}_mask": torch.zeros(90, dtype=torch.bool) for part in ("train", "val", "test")}
    masks["train_mask"][:30] = True  # all of one club
    graph = replace(clubs, node_data=masks)
    with pytest.raises(ValueError, match=r"the training part must have at least two classes \(got 1\)"):
        train_own(graph, plan(graph, "node", "gcn"), device=CPU)


def test_memory_grows_with_edges_width_and_layers(clubs):
    small = training_bytes(clubs, plan(clubs, "node", "gcn", hidden=8, layers=2))
    assert training_bytes(clubs, plan(clubs, "node", "gcn", hidden=64, layers=2)) > 4 * small
    assert training_bytes(clubs, plan(clubs, "node", "gcn", hidden=8, layers=8)) > 2 * small


def test_a_network_from_elsewhere_is_judged_on_everything_or_on_the_data_s_own_split(clubs):
    model, _ = train_own(clubs, quick(plan(clubs, "node", "gcn"), epochs=30), device=CPU)
    known = clubs.labels >= 0
    right = (model(clubs.x, clubs.edge_index).argmax(1) == clubs.labels)[known].float().mean()
    judged = judged_card(clubs, model)
    assert judged.test_accuracy == pytest.approx(float(right), abs=1e-4)
    assert judged.train_accuracy is None
    assert "those it was trained on too" in judged.notes[0]
    masks = {f"{part}_mask": torch.arange(90) % 3 == i for i, part in enumerate(("train", "val", "test"))}
    judged = judged_card(replace(clubs, node_data=masks), model)
    test = known & masks["test_mask"]
    right = (model(clubs.x, clubs.edge_index).argmax(1) == clubs.labels)[test].float().mean()
    assert judged.test_accuracy == pytest.approx(float(right), abs=1e-4)
    assert judged.notes == []


def test_a_network_for_other_data_is_refused(clubs):
    model, _ = train_own(clubs, quick(plan(clubs, "node", "gcn"), epochs=1), device=CPU)
    narrow = replace(clubs, x=clubs.x[:, :2], feature_names=())
    with pytest.raises(ValueError, match=r"in_features must be that of the data, 2 \(got 4\)"):
        judged_card(narrow, model)
    unlabelled = replace(clubs, labels=None)
    assert judged_card(unlabelled, model).test_accuracy is None


def test_weights_of_edges_are_kept_and_read_by_networks_that_ask_for_them_alone(clubs):
    """As the note of the reading says: to a network of the zoo every edge counts the same."""
    edges, nodes = example_files("csv")
    lines = edges.data.decode().split()
    weighted = "\n".join([f"{lines[0]},weight", *(f"{line},{i % 7 / 2}" for i, line in enumerate(lines[1:]))])
    found = read_files("csv", [SentFile("edges.csv", weighted.encode()), nodes])
    (note,) = [note for note in found.notes if note.startswith("weights of edges ('weight') are kept with the graph")]
    assert note.endswith("the networks here do not read them: to these every edge counts the same")
    assert from_bytes(to_bytes(found.data)).edge_data["edge_weight"].unique().tolist() == [i / 2 for i in range(7)]
    wanted = quick(plan(clubs, "node", "gcn"), epochs=20)
    one, other = (train_own(data, wanted, device=CPU)[0] for data in (clubs, found.data))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert predict(one, clubs, [Node(0)]) == predict(one, found.data, [Node(0)])
    torch.manual_seed(0)
    reads = GCN(clubs.num_features, 8, 2, clubs.num_classes).eval()
    with_weights, without = (predict(reads, data, [Node(0)])[0] for data in (found.data, clubs))
    assert with_weights.probabilities != pytest.approx(without.probabilities, abs=1e-4)
