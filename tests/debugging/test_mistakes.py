"""The mistakes at a glance: intervals and calibration known on paper, and counts that agree in all views."""

import csv
import io

import numpy as np
import pytest
import torch

from explainer_core.debugging.instances import InstanceFilter, csv_rows, instances_of, link_instances, split_column
from explainer_core.debugging.mistakes import Overview, Share, overview
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.predictions import LinkScore, Predictions, predictions
from tests.small_networks import network, random_graph

CLASSES = ("a", "b", "c")


def random_instances(seed=0, count=60, unknown=5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=count)
    labels[:unknown] = -1
    motif = torch.from_numpy(np.where(rng.random(count) < 0.5, 0, -1))
    graph = random_graph(
        count, 2 * count, seed=seed, labels=torch.from_numpy(labels), class_names=CLASSES, node_motif=motif
    )
    order = rng.permutation(count)
    split = {"train": order[: count // 2], "val": order[count // 2 : count // 2 + 10], "test": order[count // 2 + 10 :]}
    probabilities = rng.dirichlet(np.ones(3), size=count)
    said = Predictions(probabilities, probabilities.argmax(1), labels, probabilities)
    return graph, instances_of(graph, said, split), split


# On paper


def test_wilsons_interval():
    """Newcombe 1998, table I: 81 of 263 is .2553 to .3662, 15 of 148 .0624 to .1605, 0 of 20 0 to .1611, 1 of 29 .0061 to .1718."""
    for right, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)):  # fmt: skip
        assert Share(right, count).interval == pytest.approx((low, high), abs=5e-5)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert np.isnan(Share(0, 0).share)


def made(probabilities, truth):
    said = Predictions(
        np.array(probabilities), np.array(probabilities).argmax(1), np.array(truth), np.zeros((len(truth), 1))
    )
    graph = Graph(torch.ones(len(truth), 1), torch.empty(2, 0, dtype=torch.int64), labels=torch.tensor(truth), class_names=("a", "b"))  # fmt: skip
    return instances_of(graph, said)


def test_calibration_on_paper():
    """Two at .75, one of them right, and one at .95 that is right: (2 * .25 + 1 * .05) / 3."""
    view = Overview(made([[0.75, 0.25], [0.25, 0.75], [0.95, 0.05]], [0, 0, 0]))
    assert view.calibration_error == pytest.approx(0.55 / 3)
    full = [each for each in view.calibration if each.count]
    assert [(each.low, each.count) for each in full] == [(pytest.approx(0.7), 2), (pytest.approx(0.9), 1)]
    assert [each.accuracy for each in full] == [0.5, 1.0]


def test_a_bin_holds_its_upper_end():
    view = Overview(made([[1.0, 0.0], [0.5, 0.5], [0.7, 0.3]], [0, 0, 0]))
    assert [i for i, each in enumerate(view.calibration) if each.count] == [4, 6, 9]


def test_homophily_degree_and_motif_of_nodes():
    """A path 0-1-2-3 of classes a, a, b and unknown."""
    graph = Graph(
        torch.ones(4, 1),
        undirected([(0, 1), (1, 2), (2, 3)]),
        labels=torch.tensor([0, 0, 1, -1]),
        class_names=("a", "b"),
        node_motif=torch.tensor([0, -1, -1, -1]),
    )
    found = instances_of(
        graph, Predictions(np.full((4, 2), 0.5), np.zeros(4), np.array([0, 0, 1, -1]), np.zeros((4, 1)))
    )
    assert found.homophily[:3].tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(found.homophily[3])
    assert found.degree.tolist() == [1, 2, 2, 1]
    assert found.filtered(InstanceFilter(split=None, motif=True)).numbers.tolist() == [0]
    assert found.filtered(InstanceFilter(split=None, homophily=(0.0, 0.5))).numbers.tolist() == [1, 2]


# Counts agree


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "chosen",
    [
        InstanceFilter(), InstanceFilter(split=None), InstanceFilter(split="train"), InstanceFilter(split=None, degree=(0, 3)), InstanceFilter(split=None, motif=False),
        InstanceFilter(split=None, homophily=(0.2, 0.9)), InstanceFilter(split=None, text="1"), InstanceFilter(split="val", degree=(2, 99), motif=True),
    ],
)  # fmt: skip
def test_all_views_count_the_same(seed, chosen):
    _, everyone, _ = random_instances(seed)
    view = overview(everyone, chosen)
    total = view.accuracy.count
    assert total == view.confusion.sum() == sum(each.count for each in view.by_class)
    assert total == sum(each.count for each in view.calibration) == sum(each.count for each in view.by_split.values())
    assert view.accuracy.right == np.trace(view.confusion) == sum(each.right for each in view.by_class)
    assert total - view.accuracy.right == len(view.wrong)
    assert len(view.instances) == sum(map(len, view.predicted_as))
    for truth in range(3):
        assert view.confusion[truth].sum() == view.by_class[truth].count
        for predicted in range(3):
            cell = view.cell(truth, predicted)
            assert len(cell) == view.confusion[truth, predicted]
            assert (cell.truth == truth).all()
            assert (cell.predicted == predicted).all()
            assert (np.diff(cell.confidence) <= 0).all()  # the surest first


def test_test_part_unless_told_otherwise():
    _, everyone, split = random_instances()
    assert sorted(overview(everyone).instances.numbers.tolist()) == sorted(split["test"].tolist())
    nobody_knows = made([[0.9, 0.1], [0.1, 0.9]], [0, 0])
    assert overview(nobody_knows).accuracy.count == 2  # where there is no split, all are looked at


def test_filters_are_what_they_say():
    graph, everyone, _ = random_instances()
    found = everyone.filtered(InstanceFilter(split=None, degree=(3, 5)))
    assert found.numbers.tolist() == [i for i in range(60) if 3 <= int(graph.in_degree[i]) <= 5]
    assert everyone.filtered(InstanceFilter(split=None, text="59")).numbers.tolist() == [59]
    with pytest.raises(ValueError, match="must be a range"):
        InstanceFilter(degree=(5, 3))
    with pytest.raises(ValueError, match="split must be one of"):
        InstanceFilter(split="all")


def test_without_labels_there_are_lists_by_prediction():
    model, graph = network(), random_graph()
    view = overview(instances_of(graph, predictions(model, graph)))
    assert view.accuracy.count == 0 == view.confusion.sum()
    assert np.isnan(view.calibration_error)
    assert sum(map(len, view.predicted_as)) == 30


def test_graphs_and_links():
    graphs = GraphSet.from_graphs([random_graph(6 + i, 8, seed=i, label=i % 3, class_names=CLASSES) for i in range(6)])
    view = overview(instances_of(graphs, predictions(network("gin", "graph"), graphs)), InstanceFilter(size=(7, 9)))
    assert view.instances.numbers.tolist() == [1, 2, 3]
    scores = [LinkScore(0, 1, True, 0.9), LinkScore(0, 2, True, 0.2), LinkScore(1, 2, False, 0.7)]
    links = overview(link_instances(random_graph(), scores))
    assert links.confusion.tolist() == [[0, 1], [1, 1]]
    assert links.wrong.numbers.tolist() == [1, 2]  # .8 sure, then .7


def test_a_list_as_csv_can_be_read_again():
    _, everyone, _ = random_instances()
    text = io.StringIO()
    csv.writer(text).writerows(csv_rows(everyone))
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert len(rows) == 60
    assert [row["true"] for row in rows[:5]] == [""] * 5
    assert all(row["predicted"] in CLASSES for row in rows)
    assert float(rows[7]["P(b)"]) == pytest.approx(everyone.probabilities[7, 1])


def test_a_split_names_its_parts():
    assert split_column(4, {"train": [0, 1], "test": [3]}).tolist() == ["train", "train", "", "test"]
    with pytest.raises(ValueError, match="split must be one of"):
        split_column(4, {"holdout": [0]})
