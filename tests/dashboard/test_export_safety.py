"""Names from anywhere in every file the page writes: they stay text, and every reader can open the file."""

import csv
import io
import re
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import replace

import networkx as nx
import pytest
from test_services import LINK, QUICK, answered, forget_everything

import explainer_core as xc
from dashboard import services
from dashboard.services import Request
from dashboard.tasks import subjects
from dashboard.view.picture import Panel, Picture
from dashboard.view.plain_text import for_spreadsheet, for_xml
from dashboard.view.svg import svg

NAMES = (
    "=1+1",
    "\r=1+1",
    "a\rb",
    "\n@SUM(A1)",
    "\t+1",
    "-1",
    "＝1+1",
    "＋1",
    "－1",
    "＠A1",
    " \u200b=1",
    "\ufeff=1",
    "\x00=1",
    "a\r\n=1,=2",
    'say "=1"',
    "nul\x00 bell\x07 \x0b\x0c\x1b\x85",
    "lone \ud800 surrogate",
    "\ufffe\uffff",
    "]]><graph/>&amp;",
    "",
)
FORMULA = "=+-@＝＋－＠"


@pytest.fixture(scope="module")
def answer():
    """The karate club, whose members and classes have such names."""
    forget_everything()
    graph = xc.load_dataset("karate")
    names = [NAMES[i % len(NAMES)] for i in range(graph.num_nodes)]
    subjects._DATA.put("karate", replace(graph, node_names=names, class_names=NAMES[14:16]))
    yield answered(Request("karate", "gcn", "node", 0, config=replace(QUICK, k_m=20)))
    forget_everything()


def begins_like_a_formula(cell: str) -> bool:
    """What is left once everything invisible is taken off, as a spreadsheet may."""
    seen = "".join(letter for letter in cell if unicodedata.category(letter)[0] not in "CZ")
    return seen[:1] in tuple(FORMULA) or cell[:1] in ("\t", "\r", "\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_is_no_formula_and_holds_the_name(name):
    cell = for_spreadsheet(name)
    assert not begins_like_a_formula(cell)
    assert cell.encode("utf-8").decode("utf-8") == cell  # a lone surrogate could not be written
    assert [letter for letter in cell.removeprefix("'") if letter.isprintable() and letter != "\ufffd"] == [
        letter for letter in name if letter.isprintable()
    ]


@pytest.mark.parametrize("name", ["(+)-catechin", "a-b", "1,3-diene", "N=N", "'tis", "Jean Valjean"])
def test_an_ordinary_name_is_left_as_it_is(name):
    assert for_spreadsheet(name) == for_xml(name) == name


def test_a_csv_has_a_row_for_each_edge_however_line_ends_are_read(answer):
    text = services.as_csv(answer)
    edges = len(answer.explanation.edge_weight)
    assert len(list(csv.reader(io.StringIO(text, newline="")))) == edges + 1
    # outside quotes no line end stands but the one after each row: whoever ends rows at a lone \r reads the same table
    bare = re.sub(r'"(?:[^"]|"")*"', "", text)
    assert "\r" not in bare
    assert bare.count("\n") == edges + 1


def test_no_cell_of_a_csv_is_a_formula(answer):
    rows = list(csv.DictReader(io.StringIO(services.as_csv(answer), newline="")))
    cells = [row[column] for row in rows for column in ("source_name", "head_name")]
    assert not any(begins_like_a_formula(cell) for cell in cells)
    assert {"a\rb", "'\r=1+1", "'＝1+1"} <= set(cells)


def test_graphml_opens_in_networkx_and_elementtree_with_the_names_in_it(answer):
    text = services.as_graphml(answer)
    ET.fromstring(text.encode("utf-8"))  # noqa: S314, our own file
    net = nx.parse_graphml(text, node_type=int)
    graph = subjects.graph_of(answer.request)
    assert {node: values["name"] for node, values in net.nodes(data=True)} == {
        node: for_xml(graph.node_name(node)) for node in net
    }
    assert {values["class"] for _, values in net.nodes(data=True)} <= set(map(for_xml, NAMES[14:16]))


def test_the_interactive_network_and_the_numbers_can_be_written_to_a_file(answer):
    assert services.as_network(answer).encode("utf-8")
    assert services.as_json(answer).isascii()
    assert xc.Explanation.from_json(services.as_json(answer)).subgraph() == answer.explanation.subgraph()


def test_a_picture_with_such_names_opens_in_elementtree(answer):
    picture: Picture = answer.question.drawing.picture
    named = replace(picture, labels=tuple(NAMES[i % len(NAMES)] for i in range(len(picture.nodes))))
    ET.fromstring(svg(named, Panel("main", "\x00\r=1")).encode("utf-8"))  # noqa: S314, our own file


def test_the_list_of_links_can_be_saved_as_csv_by_its_own_button():
    """Streamlit writes that file itself, and quotes neither a lone carriage return nor a formula."""
    forget_everything()
    graph = xc.load_dataset(LINK.dataset)
    names = [NAMES[i % len(NAMES)] for i in range(graph.num_nodes)]
    subjects._DATA.put(LINK.dataset, replace(graph, node_names=names))
    table = services.links(LINK.dataset, LINK.model)
    cells = [*table["one"], *table["other"]]
    forget_everything()
    assert cells
    assert not any(begins_like_a_formula(cell) or "\r" in cell or "\n" in cell for cell in cells)
