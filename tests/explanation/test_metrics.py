"""The scores of explanations: known answers on small graphs, and agreement with the model itself."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import case, counting_network, network, random_graph

from explainer_core.api import explain, explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation import metrics
from explainer_core.explanation.extraction import Subgraph
from explainer_core.graph import Graph, undirected
from explainer_core.targets import Node

QUICK = ExplainConfig(steps=5, refine=False)


def two_motifs():
    """A path 0-1-2-3-4-5: edges 0-1 and 1-2 are motif 0, edges 3-4 and 4-5 motif 1, edge 2-3 neither."""
    edges = undirected([(i, i + 1) for i in range(5)])
    motif = torch.tensor([{0: 0, 1: 0, 3: 1, 4: 1}.get(min(pair), -1) for pair in edges.t().tolist()])
    return Graph(torch.ones(6, 1), edges, node_motif=torch.tensor([0, 0, 0, 1, 1, 1]), edge_motif=motif)


def ranked(graph, node, weight_of):
    """An explanation of a node in which the edge between a and a + 1 weighs weight_of[a]."""
    found = explain(counting_network(num_layers=5), graph, Node(node), QUICK, "proximity")
    return replace(
        found, edge_weight=np.array([weight_of[min(pair)] for pair in found.edge_index.T.tolist()], dtype=float)
    )


def test_edge_auc_on_paper():
    """Own motif 0-1, 1-2 at the top: 1. At the bottom: 0. One of the two pairs of edges swapped: 5 of 6 pairs are right."""
    graph = two_motifs()
    assert metrics.edge_auc(graph, [ranked(graph, 0, [5, 4, 3, 2, 1])]) == 1
    assert metrics.edge_auc(graph, [ranked(graph, 0, [1, 2, 3, 4, 5])]) == 0
    assert metrics.edge_auc(graph, [ranked(graph, 0, [5, 3, 4, 2, 1])]) == pytest.approx(5 / 6)
    assert metrics.edge_auc(graph, [ranked(graph, 0, [1, 1, 1, 1, 1])]) == 0.5


def test_protocols_differ_as_named():
    graph = two_motifs()
    found = ranked(graph, 0, [5, 4, 1, 3, 2])
    assert metrics.edge_auc(graph, [found]) == 1
    assert metrics.edge_auc(graph, [found], protocol="any_motif") == 1
    other = ranked(graph, 0, [5, 4, 3, 2, 1])
    assert metrics.edge_auc(graph, [other], protocol="any_motif") == pytest.approx(2 / 4)
    # pooled, the second explanation's weights are all above the first's; one by one both are perfect
    heavy = ranked(graph, 5, [10, 10, 10, 40, 50])
    assert metrics.edge_auc(graph, [other, heavy], protocol="per_instance") == 1
    assert metrics.edge_auc(graph, [other, heavy]) < 1
    with pytest.raises(ValueError, match="protocol must be one of paper"):
        metrics.edge_auc(graph, [found], protocol="best")


def test_within_hops_counts_only_near_edges():
    graph = two_motifs()
    found = ranked(graph, 0, [2, 1, 0, 5, 4])
    assert metrics.edge_auc(graph, [found]) == pytest.approx(2 / 6)
    assert metrics.edge_auc(graph, [found], within=3) == 1  # edges 3-4 and 4-5 are further away


def test_without_ground_truth_there_is_no_auc():
    graph = random_graph()
    found = explain(network(), graph, Node(0), QUICK, "random")
    with pytest.raises(ValueError, match="has no ground truth"):
        metrics.edge_auc(graph, [found])
    with_none = replace(graph, edge_motif=torch.full((graph.num_edges,), -1), node_motif=torch.full((30,), -1))
    assert np.isnan(metrics.edge_auc(with_none, [found]))


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_a_subgraph_of_everything_keeps_everything_and_of_nothing_takes_nothing_away(task):
    model, data, targets = case(task)
    found = explain_many(model, data, targets, QUICK, "random")
    whole = [Subgraph((), tuple(map(tuple, e.undirected()[0].tolist())), 0.0, 0) for e in found]
    for judged in metrics.faithfulness(model, data, found, whole):
        assert judged.fidelity_minus == pytest.approx(0, abs=1e-5)
        assert judged.keeps_class
        assert judged.sparsity == 0
    for judged in metrics.faithfulness(model, data, found, [Subgraph((), (), 0.0, 0)] * len(found)):
        assert judged.fidelity_plus == pytest.approx(0, abs=1e-5)
        assert judged.sparsity == 1


def test_faithfulness_equals_the_model_on_a_graph_without_those_edges():
    """An independent way: edges are really removed. A summing network receives the same."""
    model, graph = network(normalize=False), random_graph(20, 30)
    found = explain(model, graph, Node(4), QUICK)
    (judged,) = metrics.faithfulness(model, graph, [found])
    kept = set(found.subgraph().edges)
    inside = torch.tensor([tuple(sorted(pair)) in kept for pair in graph.edge_index.t().tolist()])
    label = found.predicted_class
    with torch.no_grad():
        alone = model(graph.x, graph.edge_index[:, inside]).softmax(-1)[4]
        without = model(graph.x, graph.edge_index[:, ~inside]).softmax(-1)[4]
    assert judged.kept == pytest.approx(float(alone[label]), abs=1e-5)
    assert judged.without == pytest.approx(float(without[label]), abs=1e-5)
    assert judged.keeps_class == (int(alone.argmax()) == label)


def test_characterization_is_a_harmonic_mean():
    assert metrics.characterization(1.0, 0.0) == 1
    assert metrics.characterization(0.5, 0.5) == 0.5
    assert metrics.characterization(0.6, 0.0) == pytest.approx(2 * 0.6 / 1.6)
    assert metrics.characterization(0.0, 0.0) == 0
    assert metrics.characterization(-0.2, 0.1) == 0


def test_agreement_on_paper():
    """The Jaccard overlap of each two, and their mean: 1/3, 0 and 1/2."""
    one, two, three = (Subgraph.of(edges) for edges in ([(0, 1), (1, 2)], [(1, 2), (2, 3)], [(2, 3)]))
    assert metrics.agreement([one, two]) == pytest.approx(1 / 3)
    assert metrics.agreement([one, three]) == 0
    assert metrics.agreement([one, two, three]) == pytest.approx((1 / 3 + 0 + 1 / 2) / 3)
    assert metrics.agreement([two, two, two]) == 1
    assert metrics.agreement([Subgraph.of([]), Subgraph.of([])]) == 1  # nothing is the same as nothing


def test_a_random_subgraph_hangs_on_the_target_and_has_the_size_asked_for():
    graph = random_graph(20, 40)
    found = explain(network(), graph, Node(4), QUICK)
    like = Subgraph((), tuple(map(tuple, found.undirected()[0].tolist()))[:5], 0.0, 0)
    one, same, other = (metrics.random_subgraph(found, like, seed=seed) for seed in (0, 0, 1))
    assert one == same != other
    assert len(one.edges) == 5
    reached, left = {4}, set(one.edges)
    while touching := {edge for edge in left if set(edge) & reached}:
        reached |= {node for edge in touching for node in edge}
        left -= touching
    assert not left


def test_the_soft_hard_gap_is_the_difference():
    model, graph = network(), random_graph(20, 30)
    found = explain(model, graph, Node(4), QUICK)
    (judged,) = metrics.faithfulness(model, graph, [found])
    label = found.predicted_class
    assert metrics.soft_hard_gap(found, judged) == pytest.approx(found.masked_probabilities[label] - judged.kept)
    with pytest.raises(ValueError, match="only a learnt mask has a soft side"):
        metrics.soft_hard_gap(explain(model, graph, Node(4), QUICK, "gradient"), judged)


def test_a_node_s_own_motif_needs_the_motifs_of_the_nodes():
    graph = replace(two_motifs(), node_motif=None, name="half known")
    found = ranked(graph, 0, [5, 4, 1, 3, 2])
    for protocol in ("paper", "per_instance"):
        with pytest.raises(ValueError, match=r"got none in 'half known'.*node_motif, or use the protocol any_motif"):
            metrics.edge_auc(graph, [found], protocol=protocol)
    assert metrics.edge_auc(graph, [found], protocol="any_motif") == 1


def test_where_nothing_can_be_ranked_the_auc_is_nan():
    """A truth without edges, or of all edges, has no second side to rank against."""
    graph = two_motifs()
    for motif in (-1, 0):
        same = replace(graph, node_motif=torch.zeros(6, dtype=torch.int64), edge_motif=torch.full((10,), motif))
        for protocol in metrics.PROTOCOLS:
            assert np.isnan(metrics.edge_auc(same, [ranked(same, 0, [5, 4, 3, 2, 1])], protocol=protocol))
    assert np.isnan(metrics.edge_auc(graph, []))


@pytest.mark.parametrize("task", ["node", "graph", "link"])
def test_the_figures_of_a_verdict_are_those_of_asking_again(task):
    model, data, targets = case(task)
    found = explain(model, data, targets[0], replace(QUICK, refine=True))
    (asked,), told = metrics.faithfulness(model, data, [found]), metrics.of_verdict(found, found.verdict)
    assert vars(told) == pytest.approx(vars(asked), abs=1e-6)
