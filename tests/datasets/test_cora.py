"""Truths about Cora: four papers made by hand, and the real ones where they are."""

import pytest
import torch
from archive_server import tarred

from explainer_core.datasets import cora
from explainer_core.datasets.cora import CITATIONS, PAPERS
from explainer_core.datasets.download import Archive, DataUnavailable, fingerprint, is_available

CONTENT = "31\t0\t1\t1\tTheory\n7\t1\t0\t0\tNeural_Networks\n12\t0\t0\t0\tCase_Based\n40\t1\t1\t1\tTheory\n"
CITES = "31\t7\n7\t31\n12\t31\n12\t12\n"  # two papers that cite each other, one that cites itself, one without


@pytest.fixture
def hand_made(tmp_path, monkeypatch):
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))

    def read(content: str = CONTENT, cites: str = CITES):
        files = {PAPERS: content.encode(), CITATIONS: cites.encode()}
        (tmp_path / "tiny.tgz").write_bytes(tarred(files))
        members = {name: fingerprint(text) for name, text in files.items()}
        return cora.read_cora(Archive("tiny.tgz", "https://example.org/tiny.tgz", members, 1 << 20, 1 << 20))

    return read


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_four_papers_come_out_as_written(hand_made, line_end):
    papers = hand_made(CONTENT.replace("\n", line_end), CITES.replace("\n", line_end) + line_end)
    assert papers.class_names == ("case based", "neural networks", "theory")
    assert papers.labels.tolist() == [2, 1, 0, 2]
    assert papers.node_names == ["paper 31", "paper 7", "paper 12", "paper 40"]
    assert papers.x.tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert papers.x.dtype == torch.float32
    assert papers.feature_names == ("word 0", "word 1", "word 2")
    assert papers.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "lines of one length"),
        ("31\n", "plain text"),
        ("31\tTheory\n", "lines of one length"),
        (CONTENT.replace("0\t1\t1\tT", "0\t1\tT", 1), "lines of one length"),
        (CONTENT.replace("1\t0\t0", "2\t0\t0"), "a 0 or a 1"),
        (CONTENT.replace("1\t0\t0", "1\t000"), "a 0 or a 1"),
        (CONTENT.replace("40", "31"), "every paper once .got 1 repeats."),
        (CONTENT.replace("Case_Based", ""), "plain text"),
        (CONTENT.replace("Case_Based", "Fälle"), "plain text"),
        ("\n" + CONTENT, "plain text"),
    ],
)
def test_malformed_papers_are_refused(hand_made, content, reason):
    with pytest.raises(DataUnavailable, match=rf"{PAPERS} in tiny\.tgz must .*{reason}.*fresh copy of https"):
        hand_made(content)


@pytest.mark.parametrize("cites", ["31\t8\n", "31\n", "31\t7\t12\n", "31 7\n", "31\t7\n\n7\t31\n", "31\t\u00e9\n"])
def test_malformed_citations_are_refused(hand_made, cites):
    with pytest.raises(DataUnavailable, match=rf"{CITATIONS} in tiny\.tgz must .*fresh copy of https"):
        hand_made(cites=cites)


@pytest.mark.skipif(not is_available(cora.CORA), reason="cora is neither cached nor in GNN_DATA_DIR")
def test_the_real_cora_has_its_published_counts():
    papers = cora.cora()
    assert papers.x.shape == (2708, 1433)
    assert papers.x.unique().tolist() == [0, 1]
    assert papers.x.sum(1).min() >= 1
    assert papers.edge_index.shape == (2, 2 * 5278)
    assert papers.is_undirected
    assert papers.in_degree.sum() == papers.num_edges
    assert papers.in_degree.min() >= 1
    assert papers.class_names == (
        *("case based", "genetic algorithms", "neural networks", "probabilistic methods"),
        *("reinforcement learning", "rule learning", "theory"),
    )
    assert torch.bincount(papers.labels).tolist() == [298, 418, 818, 426, 217, 180, 351]
    assert papers.node_name(0) == "paper 31336"
    assert papers.labels[0] == 2
