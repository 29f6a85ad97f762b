"""Cora: machine-learning papers, the words they use and whom they cite."""

from collections.abc import Sequence

import numpy as np
import torch

from explainer_core.checks import shown
from explainer_core.datasets.download import Archive, Progress, read_archive
from explainer_core.graph import Graph, undirected

PAPERS, CITATIONS = "cora/cora.content", "cora/cora.cites"

CORA = Archive(
    "cora.tgz",
    "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz",
    {
        PAPERS: "3f68062607ed727038e80273ae87b37301667fb11c0efadcfa9bb96162fda9fe",
        CITATIONS: "e85e8f9435ce7228849369e9d591ed1d67961ca811f66ed353278b96bf2c6443",
    },
    max_bytes=8 << 20,
    max_unpacked=32 << 20,
)


def cora(progress: Progress | None = None) -> Graph:
    return read_cora(CORA, progress)


def read_cora(archive: Archive, progress: Progress | None = None) -> Graph:
    """The papers as one graph; the class of a paper is its field, in alphabetical order.

    Who cites whom becomes one undirected edge: of the 5,429 lines of the real file 5,278 edges remain, as 151 pairs
    of papers cite each other. It has no paper that cites itself, and none without a citation.
    """
    contents = read_archive(archive, progress)
    papers = [line.split(b"\t", 1) for line in contents[PAPERS].rstrip(b"\r\n").splitlines()]
    # number, words..., field: the words in the middle are cut out in one piece and read all at once
    cuts = [rest[0].rpartition(b"\t") if rest else (b"", b"", b"") for _, *rest in papers]
    numbers = [_text(archive, PAPERS, number) for number, *_ in papers]
    fields = [_text(archive, PAPERS, field) for _, _, field in cuts]
    words = _words(archive, [middle for middle, _, _ in cuts])  # (N, F)
    if len(set(numbers)) != len(numbers):
        raise archive.malformed(PAPERS, f"must list every paper once (got {len(numbers) - len(set(numbers))} repeats)")
    class_names = sorted(set(fields))
    class_of = {field: i for i, field in enumerate(class_names)}
    return Graph(
        x=torch.from_numpy(words),
        edge_index=_citations(archive, contents[CITATIONS], numbers),
        name="Cora",
        labels=torch.tensor([class_of[field] for field in fields]),
        node_names=[f"paper {number}" for number in numbers],
        class_names=tuple(name.replace("_", " ").lower() for name in class_names),
        feature_names=tuple(f"word {i}" for i in range(words.shape[1])),
    )


def _words(archive: Archive, rows: Sequence[bytes]) -> np.ndarray:
    """Rows of 0 and 1 with tabs between, so that every second byte is a word: (N, F) float32."""
    length = len(rows[0]) if rows else 0
    if length % 2 == 0 or any(len(row) != length for row in rows):
        raise archive.malformed(PAPERS, "must have lines of one length: a number, a 0 or 1 for each word, a field")
    table = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), length)
    words, tabs = table[:, ::2], table[:, 1::2]
    if (tabs != ord("\t")).any() or ((words != ord("0")) & (words != ord("1"))).any():
        raise archive.malformed(PAPERS, "must hold a 0 or a 1 for each word, with tabs between (got something else)")
    return (words == ord("1")).astype(np.float32)


def _citations(archive: Archive, content: bytes, numbers: Sequence[str]) -> torch.Tensor:
    node_of = {number: node for node, number in enumerate(numbers)}
    pairs = []
    for line in content.rstrip(b"\r\n").splitlines():
        papers = _text(archive, CITATIONS, line).split("\t")
        if len(papers) != 2 or not all(paper in node_of for paper in papers):
            raise archive.malformed(CITATIONS, f"must hold two papers of {PAPERS} on each line (got {shown(papers)})")
        pairs.append([node_of[paper] for paper in papers])
    return undirected(pairs)


def _text(archive: Archive, member: str, part: bytes) -> str:
    if not part or not part.isascii():
        raise archive.malformed(member, f"must have plain text in every column (got {part[:20]!r})")
    return part.decode("ascii")
