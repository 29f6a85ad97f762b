"""Truths about data sets in the TUDataset layout: two molecules drawn by hand, and the real ones where they are."""

import pytest
import torch
from archive_server import zipped

from explainer_core.datasets import tu
from explainer_core.datasets.download import Archive, DataUnavailable, fingerprint, is_available

ATOMS, BONDS = ("C", "O", "H", "N"), ("single", "double")

# Nitromethane without hydrogens (C1, N2, O3, O4) and water with a lone carbon (O5, H6, H7, C8); the bond 5-6 comes
# twice, atom 7 is bound to itself, and 5-7 is written in one direction only.
HAND_MADE = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 2\n2, 4\n5, 6\n6, 5\n5, 6\n7, 7\n7, 5\n",
    "edge_labels": "0\n0\n1\n1\n0\n0\n0\n0\n0\n1\n0\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n3\n1\n1\n1\n2\n2\n0\n",
}
CLASSES = {-1: "harmless", 1: "harmful"}


@pytest.fixture
def hand_made(tmp_path, monkeypatch):
    """Writes the hand-made set, with some files exchanged, and reads it."""
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))

    def read(typed: bool = True, **changes: str):
        files = {f"SET/SET_{part}.txt": text.encode() for part, text in (HAND_MADE | changes).items()}
        (tmp_path / "SET.zip").write_bytes(zipped(files))
        members = {name: fingerprint(content) for name, content in files.items()}
        archive = Archive("SET.zip", "https://example.org/SET.zip", members, 1 << 20, 1 << 20)
        return tu.read_tu(archive, CLASSES, **({"atoms": ATOMS, "bonds": BONDS} if typed else {}))

    return read


def test_two_molecules_come_out_as_drawn(hand_made):
    molecules = hand_made()
    nitromethane, water = molecules
    assert molecules.name == "SET"
    assert molecules.class_names == ("harmless", "harmful")
    assert [nitromethane.label, water.label] == [1, 0]
    assert nitromethane.node_names == ["C", "N", "O", "O"]
    assert water.node_names == ["O", "H", "H", "C"]
    assert nitromethane.edge_index.tolist() == [[0, 1, 1, 1, 2, 3], [1, 0, 2, 3, 1, 1]]
    assert nitromethane.edge_types.tolist() == [0, 0, 1, 0, 1, 0]
    assert water.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]
    assert water.edge_types.tolist() == [0, 0, 0, 0]
    assert water.x.argmax(1).tolist() == [1, 2, 2, 0]
    assert molecules.feature_names == ATOMS
    assert molecules.edge_type_names == BONDS


def test_the_nitro_group_is_the_ground_truth(hand_made):
    nitromethane, water = hand_made()
    assert nitromethane.node_motif.tolist() == [-1, 0, 0, 0]
    assert nitromethane.edge_motif.tolist() == [-1, -1, 0, 0, 0, 0]
    assert (water.node_motif == -1).all()
    assert (water.edge_motif == -1).all()


def test_without_types_every_node_has_the_feature_one(hand_made):
    graphs = hand_made(typed=False)
    assert graphs.feature_names == ("constant",)
    assert torch.equal(graphs.x, torch.ones(8, 1))
    assert graphs.node_names is None
    assert graphs.edge_types is None
    assert graphs.node_motif is None
    assert graphs.edge_index.shape == (2, 10)


def test_line_ends_and_blanks_do_not_matter(hand_made):
    other = {part: text.replace("\n", "\r\n").replace(", ", ",") for part, text in HAND_MADE.items()}
    assert torch.equal(hand_made(**other).edge_index, hand_made().edge_index)


@pytest.mark.parametrize(
    ("part", "text", "reason"),
    [
        ("A", HAND_MADE["A"].replace("7, 5", "7, 9"), "nodes 1 to 8 .got 9."),
        ("A", HAND_MADE["A"].replace("7, 5", "0, 5"), "nodes 1 to 8 .got 0."),
        ("A", HAND_MADE["A"].replace("7, 5", "7, 4"), "nodes of one graph .got .7, 4.."),
        ("A", HAND_MADE["A"].replace("7, 5", "7"), "2 whole numbers"),
        ("A", HAND_MADE["A"].replace("7, 5", "7, 5, 6"), "2 whole numbers"),
        ("A", HAND_MADE["A"].replace(", ", "\t"), "2 whole numbers"),
        ("A", HAND_MADE["A"].replace("7, 5", "7, five"), "2 whole numbers"),
        ("A", HAND_MADE["A"].replace("7, 5", "7, 5.5"), "2 whole numbers"),
        ("A", HAND_MADE["A"].replace("7, 5", f"7, {10**30}"), "2 whole numbers"),
        ("A", "", "2 whole numbers"),
        ("edge_labels", HAND_MADE["edge_labels"] + "0\n", "must have 11 lines, one label each .got 12."),
        ("edge_labels", HAND_MADE["edge_labels"].replace("1\n1", "1\n0"), "one label .got two."),
        ("edge_labels", HAND_MADE["edge_labels"].replace("1\n1", "2\n2"), "labels among 0, 1 .got 2."),
        ("node_labels", HAND_MADE["node_labels"][:-2], "must have 8 lines, one label each .got 7."),
        ("node_labels", HAND_MADE["node_labels"].replace("3", "-1"), "labels among 0, 1, 2, 3 .got -1."),
        ("graph_labels", "1\n0\n", "labels among -1, 1 .got 0."),
        ("graph_labels", "1\n-1\n1\n", "rise from 1 to 3"),
        ("graph_labels", "1\n", "rise from 1 to 1"),
        ("graph_indicator", "1\n1\n1\n2\n1\n2\n2\n2\n", "rise from 1 to 2"),
        ("graph_indicator", "0\n1\n1\n1\n2\n2\n2\n2\n", "rise from 1 to 2"),
        ("graph_indicator", "2\n" * 8, "rise from 1 to 2"),
        ("graph_indicator", HAND_MADE["graph_indicator"][:-2], "must have 7 lines, one label each .got 8."),
    ],
)
def test_malformed_files_are_named(hand_made, part, text, reason):
    with pytest.raises(DataUnavailable, match=f"SET_.*{reason}.*fresh copy of https://example.org/SET.zip") as caught:
        hand_made(**{part: text})
    assert "\n" not in str(caught.value)


REAL = {
    "mutagenicity": (tu.mutagenicity, tu.MUTAGENICITY, 4337, 131_488, 133_447, [2401, 1936]),
    "mutag": (tu.mutag, tu.MUTAG, 188, 3371, 3721, [63, 125]),
    "reddit_binary": (tu.reddit_binary, tu.REDDIT_BINARY, 2000, 859_254, 995_508, [1000, 1000]),
}


def real(name: str):
    return pytest.mark.skipif(not is_available(REAL[name][1]), reason=f"{name} is neither cached nor in GNN_DATA_DIR")


@pytest.mark.parametrize("name", [pytest.param(name, marks=real(name)) for name in REAL])
def test_real_sets_have_their_published_counts(name):
    load, _, num_graphs, num_nodes, num_pairs, class_sizes = REAL[name]
    graphs = load()
    assert len(graphs) == num_graphs
    assert len(graphs.x) == num_nodes
    assert graphs.edge_index.shape == (2, 2 * num_pairs)
    assert torch.bincount(graphs.labels).tolist() == class_sizes
    assert torch.equal(graphs.x.sum(1), torch.ones(num_nodes))
    out_degree, in_degree = (torch.bincount(ends, minlength=num_nodes) for ends in graphs.edge_index)
    assert torch.equal(out_degree, in_degree)
    assert in_degree.sum() == 2 * num_pairs
    forward, backward = (a * num_nodes + b for a, b in (graphs.edge_index, graphs.edge_index.flip(0)))
    assert (forward.diff() > 0).all()  # sorted, and no edge twice
    assert torch.equal(forward, backward.sort().values)
    assert all(graphs[i].is_undirected for i in range(0, num_graphs, 97))


@real("mutagenicity")
def test_mutagenicity_is_as_its_makers_left_it():
    molecules = tu.mutagenicity()
    assert molecules.class_names == ("mutagen", "nonmutagen")
    assert molecules.x.sum(0).long().tolist()[:5] == [53_856, 10_645, 1312, 58_205, 6006]  # C O Cl H N
    assert torch.bincount(molecules.edge_types).tolist() == [221_000, 45_674, 220]
    alone = torch.bincount(molecules.edge_index[0], minlength=len(molecules.x)) == 0
    graph_of = torch.repeat_interleave(torch.arange(len(molecules)), molecules.node_start.diff())
    assert int(alone.sum()) == 2401
    assert len(graph_of[alone].unique()) == 121
    assert molecules.node_names[:3] == ["C", "C", "C"]


@real("mutag")
def test_mutag_holds_nitro_compounds_without_hydrogens():
    molecules = tu.mutag()
    assert molecules.class_names == ("nonmutagen", "mutagen")
    assert molecules.x.sum(0).long().tolist() == [2395, 345, 593, 12, 1, 23, 2]
    assert torch.bincount(molecules.edge_types).tolist() == [4708, 2008, 724, 2]
    nitro = [bool((graph.node_motif >= 0).any()) for graph in molecules]
    assert sum(nitro) > 0.9 * len(molecules)


@real("reddit_binary")
def test_threads_about_questions_are_larger():
    threads = tu.reddit_binary()
    sizes = threads.node_start.diff()
    questions, discussions = (sizes[threads.labels == i].median() for i in (0, 1))
    assert questions > 3 * discussions
