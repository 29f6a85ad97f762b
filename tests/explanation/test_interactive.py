"""The interactive network: edges by score, G_S in the accent, and nothing loaded until it is asked for."""

import subprocess
import sys

import pytest

import explainer_core as xc
from explainer_core.explanation import interactive
from explainer_core.extras import MissingExtra


@pytest.fixture(scope="module")
def explained():
    graph = xc.load_dataset("karate")
    return xc.explain(xc.load_pretrained("karate", "gcn"), graph, xc.Node(33), xc.ExplainConfig(k_m=4)), graph


def test_wider_is_heavier_and_the_explanation_is_blue(explained):
    why, graph = explained
    net = why.to_pyvis(graph)
    scores = dict(zip(map(tuple, why.undirected()[0].tolist()), why.undirected()[1].tolist(), strict=True))
    edges = {tuple(sorted((edge["from"], edge["to"]))): edge for edge in net.edges}
    assert set(edges) == set(scores)
    order = sorted(scores, key=scores.get)
    widths = [edges[pair]["width"] for pair in order]
    assert widths == sorted(widths)
    assert {pair for pair, edge in edges.items() if edge["color"] == interactive.ACCENT} == set(why.subgraph().edges)
    (target,) = [node for node in net.nodes if node["borderWidth"] > 1]
    assert target["id"] == 33
    assert len({node["color"]["background"] for node in net.nodes}) == 2  # the two clubs


def test_a_large_neighbourhood_is_cut_to_what_lies_nearest(explained):
    why, graph = explained
    net = interactive.to_pyvis(why, graph, max_nodes=6)
    assert {node["id"] for node in net.nodes} >= set(why.subgraph().nodes)
    assert len(net.nodes) == 6


def test_the_page_names_no_other(explained, tmp_path):
    why, _ = explained
    text = why.to_pyvis().generate_html()
    assert "cdn.jsdelivr" not in text
    assert "cdnjs" not in text
    assert "Content-Security-Policy" in text
    why.to_pyvis().save_graph(str(tmp_path / "net.html"))  # pyvis' own way to write it
    assert "cdn.jsdelivr" not in (tmp_path / "net.html").read_text()


def test_without_pyvis_a_notebook_shows_the_text(explained, monkeypatch):
    why, _ = explained

    def missing(*_):
        raise MissingExtra("an interactive network needs pyvis")

    monkeypatch.setattr(interactive, "_offline_network", missing)
    assert why._repr_html_() is None
    with pytest.raises(MissingExtra):
        why.to_pyvis()


def test_pyvis_is_loaded_when_asked_for_only():
    code = "import sys, explainer_core; assert not [name for name in sys.modules if name.startswith('pyvis')]"
    subprocess.run([sys.executable, "-c", code], check=True)
