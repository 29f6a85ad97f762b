"""Files of each format: what they hold arrives, whatever way it was written, and what is wrong is said with its place."""

import json

import networkx as nx
import numpy as np
import pytest
import torch

from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.files import FORMATS, FileProblem, Options, SentFile, read_files
from explainer_core.files.examples import club_network, example_files
from explainer_core.graph import Graph, GraphSet

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,label,age\na,x,1\nb,y,2\nc,x,3\nd,,4\n"


def read(format: str, *texts: str | bytes, **options):
    names = {"csv": ("edges.csv", "nodes.csv"), "graphml": ("g.graphml",), "json": ("g.json",), "smiles": ("m.csv",)}
    files = [
        SentFile(name, text if isinstance(text, bytes) else text.encode())
        for name, text in zip(names[format], texts, strict=False)
    ]
    return read_files(format, files, Options(**options))


def refused(format: str, *texts: str | bytes, **options) -> str:
    with pytest.raises(FileProblem) as problem:
        read(format, *texts, **options)
    assert len(str(problem.value)) <= 500
    return str(problem.value)


def pairs(graph: Graph) -> list[tuple[int, int]]:
    return sorted(map(tuple, graph.edge_index.t().tolist()))


def graphml(nodes: str, edges: str = "", keys: str = "", default: str = "undirected") -> str:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{head}\n{keys}\n<graph edgedefault="{default}">\n{nodes}\n{edges}\n</graph>\n</graphml>'


def test_nodes_and_edges_in_two_tables():
    graph = read("csv", EDGES, NODES).data
    assert pairs(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.x.flatten().tolist() == [1, 2, 3, 4]
    assert graph.feature_names == ("age",)
    assert graph.labels.tolist() == [0, 1, 0, -1]
    assert graph.class_names == ("x", "y")
    assert graph.node_names == ("a", "b", "c", "d")  # d has no edges and is there


def test_the_three_formats_of_a_graph_hold_the_same():
    """Written by three programs, read by three readers: networkx itself says what the graph is."""
    net = club_network()
    graphs = [read_files(format, example_files(format)).data for format in ("csv", "graphml", "json")]
    truth = {frozenset(edge) for edge in net.edges}
    for graph in graphs:
        names = list(graph.node_names)
        assert names == list(net)
        assert {frozenset((names[a], names[b])) for a, b in pairs(graph)} == truth
        clubs = [graph.class_names[label] if label >= 0 else "" for label in graph.labels.tolist()]
        assert clubs == [club for _, club in net.nodes(data="label")]
        assert torch.equal(graph.x, graphs[0].x)
        assert set(graph.feature_names) == {"age", "interest games", "interest music", "interest water"}


def test_every_example_is_read():
    for format in FORMATS:
        assert read_files(format, example_files(format)).data.num_classes >= 2


@pytest.mark.parametrize(
    "text",
    [
        "source,target\na,b\nb,c\n",
        "Source;Target\r\na;b\r\nb;c\r\n",
        "a\tb\nb\tc\n",
        "\ufeffsource,target\na,b\nb,c",
        "# a comment\na b\nb c\n",
        "target,source\nb,a\nc,b\n",
        "from,to,since\na,b,2001\nb,c,2002\n",
        '"source","target"\n"a","b"\n"b","c"\n',
        "a,b\rb,c\r",
        "\n\na,b\n\nb,c\n\n",
    ],
)
def test_tables_as_people_write_them(text):
    graph = read("csv", text).data
    assert pairs(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert sorted(graph.node_names) == ["a", "b", "c"]


def test_a_directed_graph_keeps_its_directions():
    assert pairs(read("csv", EDGES, directed=True).data) == [(0, 1), (1, 2)]
    text = graphml('<node id="a"/><node id="b"/>', '<edge source="b" target="a"/>', default="directed")
    assert pairs(read("graphml", text).data) == [(1, 0)]
    assert pairs(read("graphml", text, directed=False).data) == [(0, 1), (1, 0)]


def test_an_edge_listed_twice_is_one_and_a_self_loop_stays():
    found = read("csv", "source,target\na,b\nb,a\na,b\nc,c\n")
    assert pairs(found.data) == [(0, 1), (1, 0), (2, 2)]
    assert any("2 edges are listed more than once" in note for note in found.notes)
    assert any("1 edge is from a node to itself" in note for note in found.notes)
    assert pairs(read("csv", "a,b\nb,a\na,b\n", directed=True).data) == [(0, 1), (1, 0)]


def test_types_and_weights_of_edges():
    graph = read("csv", "source,target,type,weight\na,b,likes,0.5\nb,a,likes,2\nb,c,knows,1\n").data
    assert graph.edge_type_names == ("knows", "likes")
    assert graph.edge_types.tolist() == [1, 1, 0, 0]
    assert graph.edge_data["edge_weight"].tolist() == [0.5, 0.5, 1, 1]
    assert read("csv", "a,b,0.5\nb,c,1.5\n").data.edge_data["edge_weight"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert read("csv", "a,b,likes\nb,c,knows\n").data.edge_type_names == ("knows", "likes")


@pytest.mark.parametrize(
    ("column", "labels", "names"),
    [
        ("0 1 2", [0, 1, 2], ("0", "1", "2")),
        ("0 2 0", [0, 2, 0], ("0", "1", "2")),  # class 2 is a network's third column
        ("1 2 -1", [0, 1, -1], ("1", "2")),
        ("10 9 10", [1, 0, 1], ("9", "10")),
        ("b a ?", [1, 0, -1], ("a", "b")),
        ("NA nan NULL", None, ()),
    ],
)
def test_classes_as_people_write_them(column, labels, names):
    rows = "\n".join(f"{node},{label}" for node, label in zip("abc", column.split(), strict=True))
    graph = read("csv", EDGES, f"id,label\n{rows}\n").data
    assert (None if graph.labels is None else graph.labels.tolist()) == labels
    assert tuple(graph.class_names) == names


def test_another_column_can_be_the_classes_or_a_feature():
    nodes = "id,label,age,town\na,x,1,Ulm\nb,y,2,Bonn\nc,x,3,Ulm\n"
    found = read("csv", EDGES, nodes, label="town", features=("age",))
    assert found.label_field == "town"
    assert found.data.class_names == ("Bonn", "Ulm")
    assert found.data.feature_names == ("age",)
    assert set(found.fields) == {"label", "age", "town"}
    unlabelled = read("csv", EDGES, nodes, label="").data
    assert unlabelled.labels is None
    assert unlabelled.feature_names == ("age", "label x", "label y", "town Ulm", "town Bonn")


def test_words_become_columns_and_large_numbers_are_scaled():
    nodes = "id,income,colour\na,1000,red\nb,3000,blue\nc,5000,\n"
    found = read("csv", EDGES, nodes)
    assert found.data.feature_names == ("income", "colour red", "colour blue")
    np.testing.assert_allclose(found.data.x[:, 0], [-(1.5**0.5), 0, 1.5**0.5], atol=1e-6)
    assert found.data.x[:, 1:].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert any("'income' is scaled" in note for note in found.notes)
    assert read("csv", EDGES, nodes, scale=False).data.x[:, 0].tolist() == [1000, 3000, 5000]


def test_a_split_comes_along_as_masks():
    graph = read("csv", EDGES, "id,split\na,train\nb,Validation\nc,TEST\nd,\n").data
    assert graph.node_data["train_mask"].tolist() == [True, False, False, False]
    assert graph.node_data["val_mask"].tolist() == [False, True, False, False]
    assert graph.node_data["test_mask"].tolist() == [False, False, True, False]


def test_nodes_without_features_have_one_or_one_each():
    assert read("csv", EDGES).data.x.tolist() == [[1], [1], [1]]
    graph = read("csv", EDGES, own_feature=True).data
    assert torch.equal(graph.x, torch.eye(3))
    assert graph.feature_names == ("a", "b", "c")


def test_graphml_of_networkx_with_defaults():
    net = nx.path_graph(3)
    nx.set_node_attributes(net, {0: 1.5, 1: 2.5, 2: 3.5}, "height")
    net.nodes[1]["label"] = "middle"
    net.graph["node_default"] = {"label": "end"}
    graph = read("graphml", "\n".join(nx.generate_graphml(net))).data
    assert graph.x.flatten().tolist() == [1.5, 2.5, 3.5]
    assert graph.labels.tolist() == [0, 1, 0]
    assert graph.class_names == ("end", "middle")


@pytest.mark.parametrize("edges", ["links", "edges"])
def test_json_of_networkx(edges):
    net = nx.les_miserables_graph()
    text = json.dumps(nx.node_link_data(net, edges=edges))
    graph = read("json", text).data
    assert graph.num_nodes == 77
    assert graph.num_edges == 2 * 254


def test_json_of_d3_by_id_by_place_and_by_name():
    by_id = {"nodes": [{"id": "A", "group": 1}, {"id": "B", "group": 2}], "links": [{"source": "A", "target": "B"}]}
    by_place = {"nodes": [{"name": "A"}, {"name": "B"}], "links": [{"source": 0, "target": 1, "value": 3}]}
    by_name = {"nodes": [{"name": "A"}, {"name": "B"}], "links": [{"source": "A", "target": "B"}]}
    for value in (by_id, by_place, by_name):
        graph = read("json", json.dumps(value)).data
        assert pairs(graph) == [(0, 1), (1, 0)]
        assert graph.node_names == ("A", "B")
    assert read("json", json.dumps(by_id)).data.class_names == ("1", "2")


def test_lists_of_numbers_in_json_are_features():
    value = {"nodes": [{"id": 0, "x": [1, 2]}, {"id": 1, "x": [3, 4]}], "links": []}
    graph = read("json", json.dumps(value)).data
    assert graph.x.tolist() == [[1, 2], [3, 4]]
    assert graph.feature_names == ("x 0", "x 1")


@pytest.mark.parametrize(
    "text",
    [
        "smiles,label\nCCO,safe\nC1CO1,unsafe\nC,\n",
        "CCO safe\nC1CO1 unsafe\nC\n",
        "label;SMILES\nsafe;CCO\nunsafe;C1CO1\n;C\n",
    ],
)
def test_molecules_with_classes(text):
    graphs = read("smiles", text).data
    assert isinstance(graphs, GraphSet)
    assert graphs.labels.tolist() == [0, 1, -1]
    assert graphs.class_names == ("safe", "unsafe")
    for graph, smiles in zip(graphs, ("CCO", "C1CO1", "C"), strict=True):
        truth = molecule_from_smiles(smiles)
        assert torch.equal(graph.x, truth.x)
        assert torch.equal(graph.edge_index, truth.edge_index)
        assert torch.equal(graph.edge_types, truth.edge_types)
        assert graph.node_motif is None


WRONG = [
    ("csv", (EDGES, NODES.replace("c,x,3", "c,x,abc")), "nodes.csv, line 4, column 'age': a feature must be a number (got 'abc')"),
    ("csv", (EDGES, NODES.replace("c,x,3", "c,x,")), "nodes.csv, line 4, column 'age': a feature must be a number (got nothing)"),
    ("csv", (EDGES, NODES.replace("c,x,3", "c,x,1e40")), "column 'age': a feature must be a number up to 1e+15"),
    ("csv", (EDGES, NODES.replace("c,x,3", "a,x,3")), "nodes.csv, line 4, column 'id': each node must have an id of its own (got 'a', also on line 2)"),
    ("csv", (EDGES, NODES.replace("c,x,3", "c,x")), "nodes.csv, line 4: a row must have 3 values, one for each column (got 2)"),
    ("csv", (EDGES.replace("b,c", "b,z"), NODES), "edges.csv, line 3, column 'target': an edge must join nodes of nodes.csv (got 'z')"),
    ("csv", (EDGES.replace("b,c", "b,"),), "edges.csv, line 3, column 'target': an edge must join two nodes (got nothing)"),
    ("csv", (EDGES + '"a', NODES), "edges.csv, line 4: a row must be valid CSV"),
    ("csv", ("a\nb\n",), "edges.csv: an edge must have a source and a target (got 1 column on a line)"),
    ("csv", ("source,target\n",), "edges.csv: a file must have at least one edge (got none)"),
    ("csv", ("source,target,type\na,b,x\nb,c,\n",), "edges.csv, line 3, column 'type': an edge must have a type"),
    ("csv", ("source,target,weight\na,b,1\nb,c,heavy\n",), "edges.csv, line 3, column 'weight': a weight must be a number (got 'heavy')"),
    ("csv", ("",), "edges.csv: a file must hold something"),
    ("csv", ("source,target\ncafé,b".encode("latin-1"),), "edges.csv, line 2: a file must be text in UTF-8 (got the byte 0xe9)"),
    ("csv", ("a,b".encode("utf-16"),), "edges.csv: a file must be text in UTF-8 (got UTF-16)"),
    ("csv", (b"PK\x03\x04abc",), "(got a ZIP archive or a spreadsheet); unpack it"),
    ("csv", (b"\x80\x04\x95abc",), "(got a pickle); pickles are never read"),
    ("csv", (EDGES, "id,split\na,train\nb,later\n"), "nodes.csv, line 3, column 'split': a split must be train, val or test, or empty (got 'later')"),
    ("csv", (EDGES, "id,age,age\na,1,2\n"), "nodes.csv, line 1: columns must have different names (got 'age')"),
    ("graphml", (graphml('<node id="a"/>\n<node/>'),), "g.graphml, line 6, attribute 'id': a node must have the attribute id"),
    ("graphml", (graphml('<node id="a"/>', '<edge source="a" target="b"/>'),), "g.graphml, line 6, attribute 'target': an edge must join nodes of g.graphml (got 'b')"),
    ("graphml", (graphml('<node id="a"/>', '<edge source="a"'),), "must be valid XML"),
    ("graphml", (graphml('<node id="a"><data key="k">1</data></node>'),), "g.graphml, line 5: data of a node must have a key declared for it (got 'k')"),
    ("graphml", ("<html></html>",), "g.graphml, line 1: a GraphML file must begin with <graphml> (got 'html')"),
    ("graphml", ('<!DOCTYPE graphml SYSTEM "http://example.org/x.dtd"><graphml/>',), "must have no document type"),
    ("json", ('{"nodes": [\n{"id": 1},\n{"id": 1}], "links": []}',), "g.json, line 3, field 'id': each node must have an id of its own (got '1', also on line 2)"),
    ("json", ('{"nodes": [{"id": 1},\n 5], "links": []}',), "g.json, line 2: each of nodes must be an object (got 5)"),
    ("json", ('{"nodes": [{"id": 1}],\n "links": [\n{"source": 1, "target": 2}]}',), "g.json, line 3, field 'target': an edge must join nodes of g.json (got '2')"),
    ("json", ('{"nodes": [{"id": 1, "x": 1},\n{"id": 2, "x": "a"}, {"id": 3, "x": 2}], "links": []}',), "g.json, line 2, field 'x': a feature must be a number (got 'a')"),
    ("json", ('{"nodes": [\n',), "g.json, line 2, column 1: a file must be valid JSON"),
    ("json", ("[1, 2]",), 'a file must be {"nodes"'),
    ("json", ('{"nodes": [{"id": 1}]}',), "(got neither links nor edges)"),
    ("json", ("[" * 100_000,), "must not be nested deeply"),
    ("smiles", ("smiles,label\nCCO,a\nC?,b\n",), "m.csv, line 3, column 'smiles': a molecule must be valid SMILES (got 'C?')"),
    ("smiles", ("CCO a\n[Fe] b\n",), "m.csv, line 2, column 'smiles': atoms must be among"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "texts", "sentence"), WRONG, ids=[f"{w[0]} {w[2][:40]}" for w in WRONG])
def test_what_is_wrong_is_said_with_its_place(format, texts, sentence):
    assert sentence in refused(format, *texts)


def test_a_name_from_a_file_is_shown_short_and_on_one_line():
    found = refused("csv", EDGES, NODES.replace("age", f'"{"a" * 150}\u202e"').replace("c,x,3", "c,x,abc"))
    assert "\u202e" not in found
    with pytest.raises(FileProblem, match=r"^a\ufffdb"):
        read_files("csv", [SentFile("a\nb" + "c" * 1000, b"")])


def test_halves_of_letters_are_refused():
    text = '{"nodes": [{"id": "\\ud800"}], "links": []}'
    assert "must be letters that can be shown" in refused("json", text)


def test_a_format_must_be_known_and_have_its_files():
    with pytest.raises(ValueError, match="format must be one of csv, graphml, json, smiles"):
        read_files("pickle", [])
    with pytest.raises(ValueError, match=r"CSV must be 1 to 2 files, the first of them edges \(got 0\)"):
        read_files("csv", [None])


# Lines that are no molecule


def test_a_line_that_is_no_molecule_is_left_out_and_told_with_its_line():
    found = read("smiles", "smiles,label\nCCO,a\nC?,b\nC1CO1,b\n[Fe],c\nC,a\n")
    assert [graph.num_nodes for graph in found.data] == [
        molecule_from_smiles(s).num_nodes for s in ("CCO", "C1CO1", "C")
    ]
    assert found.data.class_names == ("a", "b")  # nobody is of class c any more
    assert found.data.labels.tolist() == [0, 1, 0]
    assert [line.partition(" must ")[0] for line in found.left_out] == ["line 3: a molecule", "line 5: atoms"]
    assert read("smiles", "smiles,label\nCCO,a\nC,b\n").left_out == ()


def test_a_file_of_which_half_is_no_molecule_is_refused_by_the_first():
    good, bad = "CCO a\n", "C? b\n"
    assert len(read("smiles", 4 * good + 3 * bad).left_out) == 3
    with pytest.raises(
        FileProblem, match=r"m.csv, line 4, column 'smiles': a molecule must be valid SMILES \(got 'C\?'\)"
    ):
        read("smiles", 3 * good + 3 * bad)


def test_a_line_that_is_left_out_takes_no_other_value_with_it():
    found = read("smiles", "smiles,label,split,name\nCCO,a,train,first\nC?,a,nonsense,second\nC,b,test,third\n")
    assert list(found.data.graph_names) == ["first", "third"]
    with pytest.raises(FileProblem, match="line 3, column 'split': a split must be train, val or test"):
        read("smiles", "smiles,label,split,name\nCCO,a,train,first\nC,a,nonsense,second\nC,b,test,third\n")


def test_no_edge_is_ever_left_out():
    """Predictions about others rest on it."""
    with pytest.raises(FileProblem, match="line 3, column 'weight': a weight must be a number"):
        read("csv", "source,target,weight\na,b,1\nb,c,x\nc,d,1\nd,e,2\n")
