"""The two small networks and the registry."""

import pytest
import torch

from explainer_core.datasets.registry import DATASETS, load_dataset


def test_karate_club_on_paper():
    graph = load_dataset("karate")
    assert (graph.num_nodes, graph.num_edges) == (34, 2 * 78)
    assert torch.bincount(graph.labels).tolist() == [17, 17]
    assert graph.node_name(0) == "Mr. Hi"
    assert graph.node_name(33) == "Officer"
    assert graph.class_names[graph.labels[0]] == "Mr. Hi"
    assert graph.class_names[graph.labels[33]] == "Officer"
    assert (graph.in_degree[0], graph.in_degree[33]) == (16, 17)
    assert graph.is_undirected


def test_les_miserables_on_paper():
    graph = load_dataset("les_miserables")
    assert (graph.num_nodes, graph.num_edges) == (77, 2 * 254)
    valjean = graph.node_names.index("Valjean")
    assert graph.in_degree[valjean] == graph.in_degree.max() == 36
    assert list(graph.node_names) == sorted(graph.node_names)
    assert graph.labels is None


@pytest.mark.parametrize("name", ["karate", "les_miserables"])
def test_a_person_s_only_feature_is_who_they_are(name):
    graph = load_dataset(name)
    assert torch.equal(graph.x, torch.eye(graph.num_nodes))
    assert graph.feature_names == graph.node_names


def test_an_unknown_data_set_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"data set must be one of ba_shapes, .* \(got 'imagenet'\)"):
        load_dataset("imagenet")


def test_the_registry_describes_every_set():
    for name, info in DATASETS.items():
        assert info.name == name
        assert info.task in ("node", "graph", "link")
        assert info.summary.endswith((".", "?"))
        assert (info.archive is not None) == (name in {"mutagenicity", "mutag", "reddit_binary", "cora"})
