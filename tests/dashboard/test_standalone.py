"""The HTML export: one file, no network, names as text, and a policy that lets nothing else run."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from dashboard.view.definitions import used_in
from dashboard.view.picture import Panel, Picture
from dashboard.view.standalone import SCRIPT, html
from dashboard.widgets.export import Shown, picture

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</title></style></script><script>alert(1)</script>",
    "]]> & \"quotes\" 'too'",
    "nul\x00 tab\x0b \ud800",
)
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = Picture(
    nodes=(0, 1, 2),
    x=(0.0, 50.0, 100.0),
    y=(0.0, 30.0, 0.0),
    colours=("#0072B2",) * 3,
    labels=("", "b", ""),
    tips=("one", "two", "three"),
    edges=((0, 1), (1, 2)),
    targets=(1,),
)
PANELS = (
    Panel("graph", "The graph"),
    Panel("gradient", "Gradient", ("edge AUC 0.8",), weights=(0.9, 0.1), kept=(0,), kept_nodes=(0, 1)),
)


def page(title="Node 1", sentences=("It rests on one edge.",), **rest) -> str:
    return html(title, sentences, PICTURE, PANELS, **rest)


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314, our own text


def texts(text: str, tag: str) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(text).iter(tag)]


def test_the_page_says_what_it_was_given():
    text = page(
        features={"GNNExplainer": [("degree", 0.9)], "Gradient": [("age", 0.25)]}, settings={"K_M": 6, "steps": 100}
    )
    assert texts(text, "h1") == ["Node 1"]
    assert "It rests on one edge." in texts(text, "p")
    assert texts(text, "figcaption") == ["The graph", "Gradientedge AUC 0.8"]
    *given, sentence, _ = texts(text, "td")
    assert given == ["0.90", "", "", "0.25", "6", "100"]
    assert (
        sentence == used_in(["edge AUC"])["edge AUC"].sentence
    )  # the one word of ours under the pictures, in the glossary
    assert re.findall(r"width:(\d+)%\"", text) == ["90", "25"]


def test_all_panels_share_one_view():
    boxes = [element.get("viewBox") for element in parsed(page()).iter(SVG + "svg")]
    assert len(boxes) == 2
    assert len(set(boxes)) == 1


def test_nothing_comes_from_the_network():
    text = page().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.|url\(|@import|<link|<iframe|src=", text)


def test_the_policy_lets_only_our_own_script_run():
    text = page()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}';" in policy
    assert "eval" not in script
    assert SCRIPT.count("\n") <= 60


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name):
    panel = Panel(name, name, (name,))
    text = html(name, [name], PICTURE, [panel], features={name: [(name, 0.5)]}, settings={name: name})
    text.encode()
    plain = name.translate({0: "\ufffd", 0x0B: "\ufffd", 0xD800: "\ufffd"})
    assert texts(text, "h1") == [plain]
    assert texts(text, "strong") == [plain]
    assert len(list(parsed(text).iter("script"))) == 1
    assert not list(parsed(text).iter("img"))


def test_features_may_come_as_pairs_and_tables_only_when_there_is_something_in_them():
    assert "Features" in texts(page(features=(("Gradient", (("age", 0.25),)),)), "h2")
    assert texts(page(features={"Gradient": []}, settings={}), "h2") == ["Words"]  # of the panel's figures


def test_light_follows_the_reader_and_dark_stays_dark_except_on_paper():
    assert "prefers-color-scheme:dark" in page()
    assert "prefers-color-scheme" not in page(dark=True)
    assert "@media print{:root{color-scheme:light" in page(dark=True)


def test_the_key_names_only_marks_that_are_there():
    assert "Ring" in page()
    assert "Dotted" not in page()
    assert "Dashed" not in page()


def test_only_of_made_graphs_is_said_that_something_was_planted():
    made = replace(PICTURE, truth=(0,))
    assert "Dashed outline: the planted answer." in html("Node 1", (), made, PANELS)
    molecule = html("Nitrobenzene", (), replace(made, bonds=(1, 2)), PANELS)
    assert "Dashed outline: groups known to do harm." in molecule
    assert "planted" not in molecule


def test_the_picture_that_is_saved_says_of_what_it_is():
    shown = Shown("BA-Shapes · GCN · node 414", (), PICTURE, PANELS[1:], 1, {})
    words = "".join(element.text or "" for element in parsed(picture(shown)).iter(f"{SVG}text"))
    assert "BA-Shapes · GCN · node 414" in words
    assert "Gradient" in words


def test_same_input_same_bytes():
    assert page() == page()
