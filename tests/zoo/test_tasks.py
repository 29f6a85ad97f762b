"""What networks are trained for: splits that never overlap, links that are never leaked, edges dropped as asked."""

import pytest
import torch

from explainer_core.datasets.molecules import molecules
from explainer_core.datasets.registry import load_dataset
from explainer_core.datasets.splits import split_80_10_10
from explainer_core.graph import Graph
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.tasks import (
    GraphTask,
    LinkTask,
    NodeTask,
    dropped_edges,
    make_task,
    swapped_features,
)

CPU = torch.device("cpu")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_split_shares_every_example_out_once_in_the_right_shares(seed):
    labels = load_dataset("ba_shapes").labels
    split = split_80_10_10(labels.numpy(), seed)
    assert {part: len(chosen) for part, chosen in split.items()} == {"train": 560, "val": 70, "test": 70}
    assert torch.cat(list(split.values())).sort().values.tolist() == list(range(700))
    assert torch.bincount(labels[split["test"]]).tolist() == [30, 8, 16, 16]


def test_a_split_depends_on_its_seed_alone():
    labels = load_dataset("tree_grid").labels.numpy()
    one, same, other = (split_80_10_10(labels, seed)["test"] for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_class_too_small_to_share_out_does_not_stop_the_split():
    labels = torch.tensor([0] * 30 + [1] * 6).numpy()
    split = split_80_10_10(labels, 0)
    assert sum(map(len, split.values())) == 36


def test_link_prediction_never_sees_the_edges_it_predicts():
    graph = load_dataset("les_miserables")
    task = LinkTask(graph, 0, CPU)
    seen = set(map(tuple, task.message_edges.t().tolist()))
    for part in ("val", "test"):
        for a, b in task._pairs[:, task.split[part]].t().tolist():
            assert (a, b) not in seen
            assert (b, a) not in seen
    assert len(seen) == 2 * len(task.split["train"])


def test_sampled_negatives_are_never_edges():
    graph = load_dataset("les_miserables")
    task = LinkTask(graph, 0, CPU)
    edges = set(map(tuple, graph.edge_index.t().tolist()))
    negatives = task._sampled_negatives(2000, torch.Generator().manual_seed(0))
    assert negatives.shape == (2, 2000)
    assert (negatives[0] != negatives[1]).all()
    assert not edges & set(map(tuple, negatives.t().tolist()))


def test_in_training_the_supervised_links_carry_no_messages():
    """The network is handed a graph from which every asked pair is missing."""
    task = LinkTask(load_dataset("les_miserables"), 0, CPU)
    asked_of_it = []

    class Spy(GNN):
        def forward(self, x, edge_index, edge_weight=None, *, links=None, **rest):
            asked_of_it.append((edge_index, links))
            return super().forward(x, edge_index, edge_weight, links=links, **rest)

    model = Spy(ModelSpec("gcn", "link", in_features=77, num_classes=2))
    list(task.losses(model, _Config(), torch.Generator().manual_seed(0)))
    ((edge_index, links),) = asked_of_it
    seen = set(map(tuple, edge_index.t().tolist()))
    assert links.shape[1] > 50
    assert not any(pair in seen or pair[::-1] in seen for pair in map(tuple, links.t().tolist()))


class _Config:
    edge_drop, feature_swap, parts, weigh_parts, batch_size = 0.0, 0.0, 0.0, False, 32


def test_every_graph_is_trained_on_once_an_epoch():
    data = molecules()
    task = GraphTask(data, 0, CPU)
    sizes = []

    class Spy(GNN):
        def forward(self, x, edge_index, edge_weight=None, **rest):
            sizes.append((len(x), rest["num_graphs"]))
            return super().forward(x, edge_index, edge_weight, **rest)

    model = Spy(ModelSpec("gcn", "graph", in_features=14, num_classes=2))
    list(task.losses(model, _Config(), torch.Generator().manual_seed(0)))
    train = task.split["train"]
    assert sum(graphs for _, graphs in sizes) == len(train)
    assert sum(nodes for nodes, _ in sizes) == int(data.node_start.diff()[train].sum())
    assert max(graphs for _, graphs in sizes) == 32


def test_with_parts_every_graph_is_met_whole_and_in_part_and_the_loss_is_shared():
    task = GraphTask(molecules(), 0, CPU)
    seen = []

    class Spy(GNN):
        def forward(self, x, edge_index, edge_weight=None, **rest):
            seen.append((rest["graph_of"], super().forward(x, edge_index, edge_weight, **rest)))
            return seen[-1][1]

    class Config(_Config):
        parts = 0.25

    model = Spy(ModelSpec("gcn", "graph", in_features=14, num_classes=2)).eval()
    losses = list(task.losses(model, Config(), torch.Generator().manual_seed(0)))
    assert sum(len(logits) for _, logits in seen) == 2 * len(task.split["train"])
    order = task.split["train"][torch.randperm(len(task.split["train"]), generator=torch.Generator().manual_seed(0))]
    graph_of, logits = seen[0]
    sizes = torch.bincount(graph_of)
    assert torch.equal(sizes[:32], task.graphs.node_start.diff()[order[:32]])
    assert (sizes[32:] <= sizes[:32]).all()
    assert sizes[32:].sum() < 0.8 * sizes[:32].sum()
    truth = task.graphs.labels[order[:32]]
    of_graphs, of_parts = (torch.nn.functional.cross_entropy(rows, truth) for rows in logits.split(32))
    assert losses[0].item() == pytest.approx((0.75 * of_graphs + 0.25 * of_parts).item())


def test_a_part_counts_by_the_share_of_its_graph_if_asked_to():
    task = GraphTask(molecules(), 0, CPU)
    seen = []

    class Spy(GNN):
        def forward(self, x, edge_index, edge_weight=None, **rest):
            seen.append((rest["graph_of"][edge_index[0]], super().forward(x, edge_index, edge_weight, **rest)))
            return seen[-1][1]

    class Config(_Config):
        parts, weigh_parts = 0.25, True

    model = Spy(ModelSpec("gcn", "graph", in_features=14, num_classes=2)).eval()
    losses = list(task.losses(model, Config(), torch.Generator().manual_seed(0)))
    order = task.split["train"][torch.randperm(len(task.split["train"]), generator=torch.Generator().manual_seed(0))]
    whole_edges, part_edges = torch.bincount(seen[0][0], minlength=64).split(32)
    losses_of = [
        torch.nn.functional.cross_entropy(rows, task.graphs.labels[order[:32]], reduction="none")
        for rows in seen[0][1].split(32)
    ]
    expected = 0.75 * losses_of[0].mean() + 0.25 * (part_edges / whole_edges * losses_of[1]).mean()
    assert losses[0].item() == pytest.approx(expected.item())


def test_judging_in_chunks_equals_judging_one_by_one(monkeypatch):
    monkeypatch.setattr("explainer_core.zoo.tasks.EVALUATION_NODES", 100)
    data = molecules()
    task = GraphTask(data, 0, CPU)
    torch.manual_seed(0)
    model = GNN(ModelSpec("gin", "graph", in_features=14, num_classes=2)).eval()
    with torch.no_grad():
        together = task.logits_of(model, torch.arange(len(data)))
        alone = torch.cat([model(graph.x, graph.edge_index) for graph in data])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


def test_the_given_share_of_edges_gets_weight_zero():
    generator = torch.Generator().manual_seed(0)
    keep = dropped_edges(100_000, 0.3, generator, CPU)
    assert set(keep.unique().tolist()) == {0.0, 1.0}
    assert keep.mean() == pytest.approx(0.7, abs=0.01)
    assert dropped_edges(10, 0.0, generator, CPU) is None


def test_swapped_features_stay_in_their_column():
    x = torch.stack([torch.arange(1000.0), 5000 + torch.arange(1000.0)], dim=1)
    swapped = swapped_features(x, 0.5, torch.Generator().manual_seed(0))
    assert (swapped[:, 0] < 1000).all()
    assert (swapped[:, 1] >= 5000).all()
    assert (swapped != x).float().mean() == pytest.approx(0.5, abs=0.05)
    assert swapped_features(x, 0.0, torch.Generator()) is x


def test_a_task_on_the_wrong_data_is_refused():
    karate = load_dataset("karate")
    with pytest.raises(ValueError, match=r"a graph task needs a GraphSet \(got Graph\)"):
        make_task(karate, "graph", 0, CPU)
    with pytest.raises(ValueError, match="needs the labels of the nodes"):
        NodeTask(load_dataset("les_miserables"), 0, CPU)
    with pytest.raises(ValueError, match="needs an undirected graph"):
        LinkTask(Graph(torch.ones(3, 1), torch.tensor([[0, 1], [1, 2]])), 0, CPU)


def test_the_loss_on_parts_is_the_same_every_time():
    task = GraphTask(molecules(), 0, CPU)
    model = GNN(ModelSpec("gin", "graph", in_features=14, num_classes=2)).eval()
    with torch.no_grad():
        for weigh in (False, True):
            assert task.loss_of_parts(model, "val", weigh) == task.loss_of_parts(model, "val", weigh)
        # every part keeps at most nine tenths of its graph, rounded up to whole edges
        assert task.loss_of_parts(model, "val", True) < task.loss_of_parts(model, "val")


def test_a_network_for_graphs_is_measured_on_another_set_too():
    task = GraphTask(load_dataset("ba_2motifs"), 0, CPU)
    model = GNN(ModelSpec("gin", "graph", in_features=10, num_classes=2)).eval()
    other = load_dataset("ba_2motifs", seed=1)
    with torch.no_grad():
        predicted = torch.cat([model(graph.x, graph.edge_index).argmax(1) for graph in other])
        assert task.accuracy_on(model, other) == pytest.approx(float((predicted == other.labels).float().mean()))
