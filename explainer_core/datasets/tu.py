"""Graph data sets in the text layout of TUDataset: Mutagenicity, MUTAG and REDDIT-BINARY."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from explainer_core.checks import cut
from explainer_core.datasets.chemistry import BONDS, MUTAGENICITY_ATOMS, MUTAGENICITY_CLASSES, functional_groups
from explainer_core.datasets.download import Archive, Progress, read_archive
from explainer_core.graph import GraphSet

HOME = "https://www.chrsmrrs.com/graphkerneldatasets"
MEGABYTE = 1 << 20

MUTAGENICITY = Archive(
    "Mutagenicity.zip",
    f"{HOME}/Mutagenicity.zip",
    {
        "Mutagenicity/Mutagenicity_A.txt": "8a7e49844a5e8d34972cc51da99c62bad33b262f710ce466d10788b55de8cad3",
        "Mutagenicity/Mutagenicity_graph_indicator.txt": "683469895ee5443449b2984c9ca7bbdeb88c7f164632058dd9027aa9b5c1bc7e",
        "Mutagenicity/Mutagenicity_graph_labels.txt": "972a2a372b7b2f54ca62473b202ba303360c2bd1e7ec27c0da10a00e066bf8b2",
        "Mutagenicity/Mutagenicity_node_labels.txt": "bc5d2b6048ee5a034b38b9e5b1b70b84fa789071193ddbfc0605e3771653a909",
        "Mutagenicity/Mutagenicity_edge_labels.txt": "7fd4f24716361fa90b381d2114bd65c01cc3216d7a6e29f3bb8201aa6611354d",
    },
    max_bytes=16 * MEGABYTE,
    max_unpacked=32 * MEGABYTE,
)
MUTAG = Archive(
    "MUTAG.zip",
    f"{HOME}/MUTAG.zip",
    {
        "MUTAG/MUTAG_A.txt": "692aa71bcba2953bb3a41cb6de97615bb512eaff87236ef881d8aa8822550147",
        "MUTAG/MUTAG_graph_indicator.txt": "f4b33293ace23bb2574ece47425080874d4a3eac002f2f42b218b48c09be9e2c",
        "MUTAG/MUTAG_graph_labels.txt": "61a76b08007e68b78c40bcbe6fbc54954ede5b86496ebaa63acbe6f3dad64a1c",
        "MUTAG/MUTAG_node_labels.txt": "16984a3e338aa842d6b876cbaaa2547ed56df29e4b868974dc62d6d39d64309c",
        "MUTAG/MUTAG_edge_labels.txt": "e365ce2f7a990d365687b95b434ff8f9249a44ac773aa437e68b1b0b9df3ece4",
    },
    max_bytes=1 * MEGABYTE,
    max_unpacked=2 * MEGABYTE,
)
REDDIT_BINARY = Archive(
    "REDDIT-BINARY.zip",
    f"{HOME}/REDDIT-BINARY.zip",
    {
        "REDDIT-BINARY/REDDIT-BINARY_A.txt": "a032c23c4225a36a2f130569bc5d8ab0651ab2084c3ae90345a674deee2d7e56",
        "REDDIT-BINARY/REDDIT-BINARY_graph_indicator.txt": "12cd27c9ff43a4f2249cb06274c3241fac0c6d8d91578cd281601549fa154b67",
        "REDDIT-BINARY/REDDIT-BINARY_graph_labels.txt": "4498d668efad0eedbb7dcbcfcff9f1c1be2c03554cc0ea521597543807f3de3a",
    },
    max_bytes=64 * MEGABYTE,
    max_unpacked=128 * MEGABYTE,
)

MUTAG_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
MUTAG_BONDS = ("aromatic", *BONDS)


def mutagenicity(progress: Progress | None = None) -> GraphSet:
    classes = dict(enumerate(MUTAGENICITY_CLASSES))
    return read_tu(MUTAGENICITY, classes, atoms=MUTAGENICITY_ATOMS, bonds=BONDS, progress=progress)


def mutag(progress: Progress | None = None) -> GraphSet:
    """Its files leave the hydrogens out, so that nitro groups are the only ground truth."""
    return read_tu(MUTAG, {-1: "nonmutagen", 1: "mutagen"}, atoms=MUTAG_ATOMS, bonds=MUTAG_BONDS, progress=progress)


def reddit_binary(progress: Progress | None = None) -> GraphSet:
    # The files do not say which label is which. The graphs do, if not loudly: those labelled -1 are three times larger
    # (half of them above 397 users, of the others above 119), as threads of the two big question forums would be.
    return read_tu(REDDIT_BINARY, {-1: "question and answer", 1: "discussion"}, progress=progress)


def read_tu(
    archive: Archive,
    classes: Mapping[int, str],
    *,
    atoms: Sequence[str] = (),
    bonds: Sequence[str] = (),
    progress: Progress | None = None,
) -> GraphSet:
    """A TUDataset archive as graphs. `classes` gives the labels in the file their names, in the order of our classes.

    With `atoms` and `bonds` nodes and edges have types and the graphs are molecules, whose functional groups are
    the ground truth. Without, every node has the one feature 1.
    """
    files = _Files(archive, read_archive(archive, progress))
    labels = _renumber(files, "graph_labels", list(classes))
    node_start = _node_starts(files, len(labels))
    num_nodes = int(node_start[-1])
    edge_index, edge_types = _edges(files, node_start, len(bonds))
    columns = {}
    if atoms:
        kinds = _renumber(files, "node_labels", range(len(atoms)), num_nodes)
        x = torch.eye(len(atoms))[torch.from_numpy(kinds)]  # (sum N, F)
        columns["node_names"] = np.array(atoms)[kinds].tolist()
        columns["node_motif"], columns["edge_motif"] = functional_groups(x, edge_index, atoms)
    else:
        x = torch.ones(num_nodes, 1)
    return GraphSet(
        x=x,
        edge_index=edge_index,
        node_start=torch.from_numpy(node_start),
        edge_start=torch.from_numpy(np.searchsorted(edge_index[0].numpy(), node_start)),
        name=archive.name.removesuffix(".zip"),
        labels=torch.from_numpy(labels),
        edge_types=edge_types,
        class_names=tuple(classes.values()),
        feature_names=tuple(atoms) or ("constant",),
        edge_type_names=tuple(bonds),
        **columns,
    )


class _Files:
    """The numbers in the archive's files, and the sentence for a file that breaks a rule."""

    def __init__(self, archive: Archive, contents: Mapping[str, bytes]):
        self._archive = archive
        self._contents = contents
        self._stem = archive.name.removesuffix(".zip")

    def numbers(self, part: str, columns: int) -> np.ndarray:
        """Whole numbers, `columns` to a line: (lines, columns) int64."""
        content = self._contents[self._path(part)]
        if not content.strip():
            raise self.malformed(part, f"must hold {columns} whole numbers on each line (got an empty file)")
        try:
            table = np.loadtxt(io.BytesIO(content), dtype=np.int64, delimiter=",", comments=None, ndmin=2)
        except ValueError as error:
            reason = cut(" ".join(str(error).split()))
            raise self.malformed(part, f"must hold {columns} whole numbers on each line ({reason})") from error
        if table.shape[1] != columns:
            raise self.malformed(part, f"must hold {columns} whole numbers on each line (got {table.shape[1]})")
        return table

    def malformed(self, part: str, problem: str) -> Exception:
        return self._archive.malformed(self._path(part), problem)

    def _path(self, part: str) -> str:
        return f"{self._stem}/{self._stem}_{part}.txt"


def _renumber(files: _Files, part: str, known: Sequence[int], size: int | None = None) -> np.ndarray:
    """The index of each label of a file in `known`: (size,) int64."""
    values = files.numbers(part, 1)[:, 0]
    if size is not None and len(values) != size:
        raise files.malformed(part, f"must have {size} lines, one label each (got {len(values)})")
    order = np.argsort(known)
    ranked = np.asarray(known)[order]
    index = np.searchsorted(ranked, values).clip(max=len(ranked) - 1)
    unknown = values[ranked[index] != values]
    if len(unknown):
        raise files.malformed(part, f"must hold labels among {', '.join(map(str, known))} (got {unknown[0]})")
    return order[index]


def _node_starts(files: _Files, num_graphs: int) -> np.ndarray:
    """Where the nodes of each graph begin, and where the last ones end: (G + 1,) int64."""
    graph_of = files.numbers("graph_indicator", 1)[:, 0]
    sizes = np.zeros(0, dtype=np.int64)
    if graph_of.min() >= 1 and graph_of.max() <= num_graphs and (np.diff(graph_of) >= 0).all():
        sizes = np.bincount(graph_of - 1, minlength=num_graphs)
    if not sizes.all() or len(sizes) != num_graphs:
        raise files.malformed(
            "graph_indicator",
            f"must rise from 1 to {num_graphs}, the number of graph labels, without a gap "
            f"(got {len(graph_of)} lines from {graph_of.min()} to {graph_of.max()})",
        )
    return np.concatenate([[0], np.cumsum(sizes)])


def _edges(files: _Files, node_start: np.ndarray, num_types: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Every edge in both directions, once and sorted, without self-loops: (2, E), and types (E,) if there are any."""
    ends = files.numbers("A", 2) - 1
    num_nodes = int(node_start[-1])
    _check_ends(files, ends, node_start)
    kinds = _renumber(files, "edge_labels", range(num_types), len(ends)) if num_types else np.zeros_like(ends[:, 0])
    base = max(num_types, 1)

    # One number for each edge, since numbers sort fast: smaller node, larger node, type. 860,000 nodes squared fit.
    unlooped = ends[:, 0] != ends[:, 1]
    low, high = ends.min(axis=1), ends.max(axis=1)
    edges = np.sort(((low * num_nodes + high) * base + kinds)[unlooped])
    edges = edges[np.diff(edges, prepend=-1) != 0]  # np.unique hashes, ten times slower
    pairs, kinds = np.divmod(edges, base)
    if (np.diff(pairs) == 0).any():
        raise files.malformed("edge_labels", "must give the two directions of an edge one label (got two)")
    low, high = np.divmod(pairs, num_nodes)
    edges = np.sort(np.concatenate([edges, (high * num_nodes + low) * base + kinds]))
    pairs, kinds = np.divmod(edges, base)
    edge_index = torch.from_numpy(np.stack(np.divmod(pairs, num_nodes)))
    return edge_index, torch.from_numpy(kinds) if num_types else None


def _check_ends(files: _Files, ends: np.ndarray, node_start: np.ndarray) -> None:
    low, high, num_nodes = ends.min(), ends.max(), node_start[-1]
    if low < 0 or high >= num_nodes:
        raise files.malformed("A", f"must join nodes 1 to {num_nodes} (got {(low if low < 0 else high) + 1})")
    graph_of = np.repeat(np.arange(len(node_start) - 1), np.diff(node_start))  # (sum N,)
    apart = graph_of[ends[:, 0]] != graph_of[ends[:, 1]]
    if apart.any():
        raise files.malformed("A", f"must join nodes of one graph (got {(ends[apart][0] + 1).tolist()})")
