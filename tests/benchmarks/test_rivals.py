"""Every method of the faithfulness benchmark is cut to the same size and judged on the same targets."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import explainer_core as xc
from benchmarks.rivals import METHODS, Setting, row, sized


@pytest.fixture(scope="module")
def karate() -> Setting:
    graph, model, gat = (
        xc.load_dataset("karate"),
        xc.load_pretrained("karate", "gcn"),
        xc.load_pretrained("karate", "gat"),
    )
    return Setting("karate", graph, model, gat, [xc.Node(0), xc.Node(11), xc.Node(20)], [6, 4, 6], pyg_steps=2)


@pytest.mark.parametrize("method", ["random", "proximity"])
def test_a_cut_has_exactly_k_m_edges_that_hang_together(method):
    molecules, model = xc.load_dataset("molecules"), xc.load_pretrained("molecules")
    for explanation in xc.explain_many(model, molecules, [xc.WholeGraph(i) for i in range(5)], method=method):
        for size in (3, 6):
            kept = sized(explanation, size).subgraph()
            assert len(kept.edges) == size
            assert nx.is_connected(nx.Graph(kept.edges))


@pytest.mark.parametrize("method", ["random", "proximity"])
def test_a_cut_stays_at_its_target(karate, method):
    for explanation in xc.explain_many(karate.model, karate.data, [xc.Node(i) for i in range(34)], method=method):
        kept = sized(explanation, 4).subgraph()
        assert len(kept.edges) == 4
        assert nx.is_connected(nx.Graph([*kept.edges, (explanation.target.node,) * 2]))


def test_each_piece_of_a_links_cut_stays_at_one_of_its_ends():
    friends, model = xc.load_dataset("les_miserables"), xc.load_pretrained("les_miserables", "gcn")
    for head in range(1, 20):
        kept = sized(xc.explain(model, friends, xc.Link(0, head), method="gradient"), 5).subgraph()
        assert len(kept.edges) == 5
        assert nx.is_connected(nx.Graph([*kept.edges, (0, head)]))


def test_what_is_large_enough_as_it_is_stays_as_it_is(karate):
    config = xc.ExplainConfig(k_m=6, k_m_unit="edges")
    explanation = xc.explain(karate.model, karate.data, xc.Node(0), config, "gradient")
    kept = explanation.subgraph().edges
    assert set(sized(explanation, len(kept)).subgraph().edges) == set(kept)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_one_row_on_the_same_targets(karate, method):
    found = row(karate, method)
    assert [e.target for e in found.explanations] == karate.targets
    assert {e.predicted_class for e in found.explanations} <= {0, 1, 2, 3}
    assert np.isfinite(found.cut.total).all()
    assert ((found.cut.sufficiency >= 0) & (found.cut.sufficiency <= 1)).all()


def test_occlusion_leaves_out_what_is_too_large(karate):
    sizes = [len(frame.undirected()[0]) for frame in karate.frames]
    found = row(replace(karate, occluded=min(sizes)), "occlusion")
    left_out = np.array(sizes) > min(sizes)
    assert left_out.any()
    assert (np.isnan(found.cut.total) == left_out).all()


def test_exchanges_are_made_for_the_same_targets_by_every_method(karate):
    some = replace(karate, most_exchanged=2)
    for method in ("gradient", "random"):
        found = row(some, method)
        assert np.isnan(found.exchanged.total).tolist() == [False, True, False]
        assert np.isfinite(found.cut.total).all()
        assert (found.exchanged.edges[[0, 2]] == found.cut.edges[[0, 2]]).all()
