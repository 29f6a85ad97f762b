"""Training: the same numbers for the same seed, the best epoch kept, nothing of the caller's changed."""

from dataclasses import replace

import pytest
import torch

from explainer_core.datasets.registry import load_dataset
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import ModelSpec
from explainer_core.zoo.tasks import GraphTask, NodeTask
from explainer_core.zoo.training import TrainConfig, measure, train

CPU = torch.device("cpu")
SPEC = ModelSpec("gcn", "node", in_features=34, num_classes=2, hidden=8, num_layers=2, dropout=0.5)
CONFIG = TrainConfig(epochs=15, learning_rate=0.01, edge_drop=0.2, feature_swap=0.2)


@pytest.fixture
def karate_task():
    return NodeTask(load_dataset("karate"), 0, CPU)


def test_the_same_seed_gives_the_same_weights_to_the_bit(karate_task):
    one, same, other = (train(SPEC, karate_task, CONFIG, seed=seed) for seed in (1, 1, 2))
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, same.model.state_dict()[name])
    assert one.accuracy == same.accuracy
    assert not all(torch.equal(v, other.model.state_dict()[n]) for n, v in one.model.state_dict().items())


def test_training_leaves_the_global_generator_alone(karate_task):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    train(SPEC, karate_task, CONFIG)
    assert torch.equal(before, torch.get_rng_state())


def test_a_trained_network_is_frozen_and_in_eval_mode(karate_task):
    model = train(SPEC, karate_task, CONFIG).model
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_the_kept_epoch_is_the_best_on_the_validation_part(karate_task):
    seen = []
    trained = train(SPEC, karate_task, CONFIG, on_epoch=seen.append)
    assert [epoch.number for epoch in seen] == list(range(1, 16))
    assert {epoch.total for epoch in seen} == {15}
    best = max(epoch.val_accuracy for epoch in seen)
    assert seen[trained.best_epoch - 1].val_accuracy == best
    assert trained.accuracy["train"] == pytest.approx(seen[trained.best_epoch - 1].train_accuracy)
    assert trained.accuracy["val"] == pytest.approx(best)
    assert measure(trained.model, karate_task) == trained.accuracy


def test_the_last_epoch_is_kept_if_asked_for(karate_task):
    config = replace(CONFIG, epochs=40, learning_rate=0.1)
    seen = []
    trained = train(SPEC, karate_task, replace(config, keep_last=True), on_epoch=seen.append)
    assert trained.best_epoch == trained.epochs == 40
    assert trained.accuracy["val"] == pytest.approx(seen[-1].val_accuracy)


def test_leaving_by_an_exception_stops_the_training(karate_task):
    def stop(epoch):
        if epoch.number == 3:
            raise KeyboardInterrupt

    before = torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        train(SPEC, karate_task, CONFIG, on_epoch=stop)
    assert torch.equal(before, torch.get_rng_state())


def test_it_ends_with_the_best_epoch_so_far_when_it_is_enough(karate_task):
    seen = []

    def enough(epoch):
        seen.append(epoch)
        return epoch.number == 7

    trained = train(SPEC, karate_task, CONFIG, on_epoch=enough)
    assert trained.epochs == len(seen) == 7
    best = seen[trained.best_epoch - 1]
    assert best.val_accuracy == trained.accuracy["val"] == max(epoch.val_accuracy for epoch in seen)


def test_a_network_learns_what_only_the_neighbours_tell():
    """Pairs of nodes; the class of a node is the sign of its partner's feature. Its own feature says nothing."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 1, generator=generator)
    partner = torch.arange(400) ^ 1
    labels = (x[partner, 0] > 0).long()
    graph = Graph(x, undirected([(i, i + 1) for i in range(0, 400, 2)]), labels=labels, class_names=("minus", "plus"))
    spec = ModelSpec("sage", "node", in_features=1, num_classes=2, hidden=8, num_layers=1)
    trained = train(spec, NodeTask(graph, 0, CPU), TrainConfig(epochs=200, learning_rate=0.05))
    assert trained.accuracy["test"] >= 0.95
    cut = trained.model(graph.x, graph.edge_index, torch.zeros(graph.num_edges)).argmax(1)
    assert (cut == labels).float().mean() < 0.65


def test_parts_are_of_whole_graphs_only(karate_task):
    with pytest.raises(ValueError, match=r"parts must be 0 .* \(got 0.5 for a node task\)"):
        train(SPEC, karate_task, TrainConfig(epochs=1, parts=0.5))


def test_with_parts_a_network_knows_the_half_that_tells():
    """Graphs are chains; one end carries the sign of the class. A part with that end is as clear as the whole."""
    chain = undirected([(i, i + 1) for i in range(9)])
    graphs = []
    for label in (0, 1) * 60:
        x = torch.zeros(10, 2)
        x[0, label] = 1.0
        graphs.append(Graph(x, chain, label=label, class_names=("a", "b")))
    task = GraphTask(GraphSet.from_graphs(graphs), 0, CPU)
    spec = ModelSpec("gin", "graph", in_features=2, num_classes=2, hidden=8, num_layers=2)
    trained = train(spec, task, TrainConfig(epochs=30, learning_rate=0.01, parts=0.5, batch_size=16))
    assert trained.accuracy["test"] == 1
    half = chain[:, (chain < 5).all(0)]
    for graph in graphs[:2]:
        assert int(trained.model(graph.x[:5], half).argmax()) == graph.label


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("epochs", 0),
        ("learning_rate", -1.0),
        ("learning_rate", float("nan")),
        ("weight_decay", 2.0),
        ("edge_drop", 1.0),
        ("parts", 1.0),
        ("parts", -0.1),
        ("batch_size", 0),
    ],
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(ValueError, match=rf"{setting} must be .* \(got {value}\)"):
        TrainConfig(**{setting: value})
