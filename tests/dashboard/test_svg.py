"""SVG pictures: what is drawn can be counted, hostile names stay text, and files stay small."""

import re
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from dashboard.view.drawing import bond_lines
from dashboard.view.picture import DOT, SQUARE, Panel, Picture
from dashboard.view.svg import frame, svg, theme_rules, thumbnail
from dashboard.view.svg_shapes import escaped

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "]]>",
    "a & b",
    "\"quoted\" 'twice'",
    "nul\x00 tab\x0b",
    "half a pair \ud800",
    "</title><script>alert(1)</script>",
)
SVG = "{http://www.w3.org/2000/svg}"


def path_of(nodes: int, **changes) -> Picture:
    """A chain of nodes, 50 apart."""
    columns = {
        "nodes": tuple(range(nodes)),
        "x": tuple(50.0 * i for i in range(nodes)),
        "y": tuple(20.0 * (i % 2) for i in range(nodes)),
        "colours": ("#E69F00",) * nodes,
        "labels": ("",) * nodes,
        "tips": tuple(f"node {i}" for i in range(nodes)),
        "edges": tuple((i, i + 1) for i in range(nodes - 1)),
    }
    return Picture(**columns | changes)


def grid_of(side: int) -> Picture:
    nodes = side * side
    right = [(i, i + 1) for i in range(nodes) if (i + 1) % side]
    down = [(i, i + side) for i in range(nodes - side)]
    return path_of(
        nodes,
        x=tuple(50.3 * (i % side) for i in range(nodes)),
        y=tuple(49.7 * (i // side) for i in range(nodes)),
        edges=tuple(right + down),
    )


GRAPH = path_of(6)
MASK = Panel(
    "mask", "Mask", ("edge AUC 0.9",), weights=(0.1, 0.4, 0.7, 1.0, 0.2), kept=(1, 2, 3), kept_nodes=(1, 2, 3, 4)
)
MOLECULE = path_of(4, labels=("C", "C", "N", "O"), bonds=(1, 2, 3))
GROWN = 1.4  # so much do kept edges grow at most, and do here: the picture is drawn 2.2 times its size
BARE = Panel("graph", "The graph")


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314, our own text


def all_of(text: str, tag: str, name: str | None = None) -> list[ET.Element]:
    found = parsed(text).iter(SVG + tag)
    return [element for element in found if name is None or name in element.get("class", "").split()]


def lines_in(path: ET.Element) -> int:
    return path.get("d").count("M")


def test_the_graph_itself_has_every_node_once_and_no_weight():
    text = svg(GRAPH, BARE)
    assert len(all_of(text, "circle")) == 6
    assert not all_of(text, "line")
    (edges,) = all_of(text, "path")
    assert edges.get("d") == "M45 229.5l110 44 110-44 110 44 110-44 110 44"  # all five in one go, 2.2 times as large


def brightness(colour: str) -> int:
    return sum(bytes.fromhex(colour[1:]))


def test_kept_edges_are_wider_and_deeper_the_heavier_they_are():
    text = svg(GRAPH, MASK)
    kept = all_of(text, "line", "gx-weight")
    widths = [float(line.get("stroke-width")) for line in kept]
    depths = [brightness(line.get("stroke")) for line in kept]
    assert widths == pytest.approx([(2.6 + 3.9 * weight) * GROWN for weight in (0.4, 0.7, 1.0)], abs=0.02)
    assert depths == sorted(depths, reverse=True)
    assert kept[-1].get("stroke") == "#0072B2"
    dropped = [path for path in all_of(text, "path") if path.get("fill") == "none"]
    assert max(float(path.get("stroke-width")) for path in dropped) < min(widths)
    assert [path.get("d") for path in dropped] == ["M45 238.2l110 44", "M485 238.2l110 44"]


def test_nodes_outside_the_explanation_recede_and_the_target_does_not():
    (group,) = all_of(svg(GRAPH, MASK), "g", "gx-fade")
    assert len(group.findall(SVG + "circle")) == 2
    assert brightness(group.get("fill")) > brightness(GRAPH.colours[0])
    (group,) = all_of(svg(replace(GRAPH, targets=(0,)), MASK), "g", "gx-fade")
    assert len(group.findall(SVG + "circle")) == 1


def test_a_target_has_a_ring_and_a_square_is_a_square():
    text = svg(replace(GRAPH, targets=(2,), shapes=(SQUARE,) + (DOT,) * 5), BARE)
    assert len([c for c in all_of(text, "circle", "gx-line") if c.get("fill") == "none"]) == 1
    assert len(all_of(text, "rect")) == 2  # the ground and the square


def test_truth_is_dashed_on_both_sides_of_the_weight_and_unstable_edges_are_dotted():
    text = svg(replace(GRAPH, truth=(3,)), replace(MASK, unstable=(2, 0)))
    (dashes,) = [path for path in all_of(text, "path", "gx-line") if path.get("stroke-linecap") == "butt"]
    assert lines_in(dashes) == 2
    assert dashes.get("stroke-dasharray")
    dotted = [line for line in all_of(text, "line", "gx-weight") if line.get("stroke-dasharray")]
    assert len(dotted) == 1
    assert len([path for path in all_of(text, "path") if path.get("stroke-dasharray")]) == 2  # the dropped one, too


def test_only_directed_graphs_have_arrow_heads_and_both_ways_lie_side_by_side():
    assert not all_of(svg(GRAPH, MASK), "polygon")
    assert len(all_of(svg(replace(GRAPH, directed=True), MASK), "polygon")) == 3
    both = path_of(2, edges=((0, 1), (1, 0)), directed=True)
    there, back = all_of(svg(both, Panel("", "", weights=(1, 1), kept=(0, 1))), "line", "gx-weight")
    middle = (float(there.get("y1")) + float(back.get("y2"))) / 2
    assert float(there.get("y1")) > middle > float(back.get("y2"))  # each keeps to the right of its own way


def test_bonds_are_one_two_and_three_lines():
    (bonds,) = all_of(svg(MOLECULE, BARE), "path")
    assert lines_in(bonds) == 6
    double = replace(path_of(2, labels=("C", "O")), bonds=(2,))
    (bonds,) = all_of(svg(double, BARE), "path")
    assert lines_in(bonds) == 2


def test_the_second_line_of_a_double_bond_lies_inside_the_ring_even_with_hydrogens_outside():
    corners = [(0, 0), (50, 0), (50, 50), (0, 50), (-35, -35), (85, -35)]
    ring = path_of(
        6,
        x=tuple(float(x) for x, _ in corners),
        y=tuple(float(y) for _, y in corners),
        labels=("",) * 4 + ("H", "H"),
        edges=((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5)),
        bonds=(2, 1, 1, 1, 1, 1),
    )
    (bonds,) = all_of(svg(ring, BARE), "path")
    lines = [line for line in bond_lines(ring) if line.edge == 0]
    assert lines[0].aside == 0
    assert lines[1].aside > 0  # below the bond, where the ring is
    assert lines_in(bonds) > 1


def test_atoms_are_letters_and_kept_bonds_lie_on_a_band():
    text = svg(MOLECULE, Panel("m", "M", weights=(0.1, 0.5, 0.9), kept=(1, 2), kept_nodes=(1, 2, 3)), title=False)
    assert [letter.text for letter in all_of(text, "text")] == ["C", "C", "N", "O"]
    widths = [float(band.get("stroke-width")) for band in all_of(text, "line", "gx-weight")]
    assert widths == sorted(widths)
    assert len(widths) == 2
    faded = [float(path.get("stroke-opacity", 1)) for path in all_of(text, "path")]
    assert min(faded) >= 0.55


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("bonds", [(), (1, 2)])
def test_hostile_names_are_text(name, bonds):
    picture = path_of(3, labels=(name,) * 3, tips=(name,) * 3, colours=(name,) * 3, bonds=bonds)
    panel = Panel(name, name, (name,))
    for text in (svg(picture, panel), thumbnail(picture, panel), frame(picture, (0.5, 0.6))):
        tags = {element.tag.removeprefix(SVG) for element in parsed(text).iter()}
        assert tags <= {"svg", "g", "path", "line", "circle", "rect", "text", "title"}
        assert "onerror" not in {key for element in parsed(text).iter() for key in element.attrib}
        text.encode()
    tips = {tip.text for tip in all_of(svg(picture, panel), "title")}
    assert tips == {name.translate({0: "\ufffd", 0x0B: "\ufffd", 0xD800: "\ufffd"})}


def test_escaping_keeps_what_xml_can_hold():
    assert escaped("α — 分子\n") == "α — 分子\n"


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_graphs_with_no_edges_are_drawn(nodes):
    empty = path_of(nodes, edges=(), targets=(0,) if nodes else ())
    for text in (svg(empty, BARE), svg(empty, Panel("", "", weights=())), frame(empty, ()), thumbnail(empty)):
        box = [float(part) for part in parsed(text).get("viewBox").split()]
        assert box[2] > 0
        assert box[3] > 0
    assert len([c for c in all_of(svg(empty, BARE), "circle") if c.get("fill") != "none"]) == nodes


def test_an_edge_to_itself_is_a_loop_and_a_weight_that_is_no_number_is_nothing():
    loops = path_of(2, edges=((0, 0), (0, 1), (1, 1)))
    text = svg(loops, Panel("", "", weights=(0.5, float("nan"), 7.0), kept=(0, 1)))
    (loop,) = all_of(text, "circle", "gx-weight")
    assert loop.get("fill") == "none"
    (line,) = all_of(text, "line", "gx-weight")
    assert float(line.get("stroke-width")) == pytest.approx(2.6 * GROWN, abs=0.05)


def test_every_node_lies_inside_the_view_under_the_heading():
    text = svg(replace(GRAPH, x=(-900.0, 50, 60, 70, 80, 2000)), MASK)
    x, y, width, height = (float(part) for part in parsed(text).get("viewBox").split())
    for circle in all_of(text, "circle"):
        assert x < float(circle.get("cx")) < x + width
        assert y < float(circle.get("cy")) < y + height
    lowest = max(float(row.get("y")) for row in all_of(text, "text"))
    assert lowest < min(float(circle.get("cy")) for circle in all_of(text, "circle"))


def test_panels_without_titles_share_one_view():
    boxes = {parsed(svg(GRAPH, panel, title=False)).get("viewBox") for panel in (BARE, MASK)}
    assert len(boxes) == 1


def test_labels_never_lie_on_one_another_and_the_target_keeps_its_own():
    crowd = path_of(9, x=tuple(float(i) for i in range(9)), labels=tuple(f"name {i}" for i in range(9)), targets=(7,))
    assert "name 7" in [text.text for text in all_of(svg(crowd, BARE, title=False), "text")]
    assert len(all_of(svg(crowd, BARE, title=False), "text")) < 9
    assert not all_of(svg(crowd, BARE, title=False, labels=False), "text")


def test_same_input_same_bytes():
    again = path_of(6)
    assert svg(again, MASK) == svg(GRAPH, MASK)
    assert thumbnail(again, MASK) == thumbnail(GRAPH, MASK)
    assert frame(again, MASK.weights) == frame(GRAPH, MASK.weights)


def test_dark_ground_changes_colours_and_nothing_else():
    light, dark = svg(GRAPH, MASK), svg(GRAPH, MASK, dark=True)
    assert re.sub("#[0-9A-F]{6}", "", light) == re.sub("#[0-9A-F]{6}", "", dark)
    assert {"#FCFCFB", "#1F2328", "#0072B2"} <= set(re.findall("#[0-9A-F]{6}", light))
    assert {"#14171A", "#E6E8EA", "#56B4E9"} <= set(re.findall("#[0-9A-F]{6}", dark))


def test_the_rules_of_a_theme_reach_every_class_in_a_picture():
    picture = replace(GRAPH, targets=(1,), truth=(1,), directed=True, labels=("a", "") * 3)
    for drawn in (svg(picture, MASK), svg(MOLECULE, replace(MASK, weights=(1, 1, 1), kept=(0,)))):
        for element in parsed(drawn).iter():
            for name in element.get("class", "").split():
                assert f".{name}{{" in theme_rules(dark=True)


def test_a_frame_shows_weights_by_width_and_needs_no_kept_edges():
    paths = all_of(frame(GRAPH, (0.0, 0.25, 0.5, 0.5, 1.0)), "path", "gx-weight")
    widths = [float(path.get("stroke-width")) for path in paths]
    assert len(paths) == 4  # both of one half are one path
    assert widths == sorted(widths)


def test_a_frame_is_made_in_a_blink():
    picture = grid_of(15)  # 225 nodes, 420 edges
    weights = [i % 97 / 97 for i in range(len(picture.edges))]

    def seconds() -> float:
        start = time.process_time()
        frame(picture, weights)
        return time.process_time() - start

    assert min(seconds() for _ in range(10)) < 0.02  # 2 ms on a quiet machine


def test_a_thumbnail_is_a_skeleton_that_suits_both_grounds():
    text = thumbnail(MOLECULE)
    assert [letter.text for letter in all_of(text, "text")] == ["N", "O"]
    assert "currentColor" in text
    assert "#FCFCFB" not in text
    methane = path_of(3, labels=("H", "C", "O"), bonds=(1, 2))
    (bonds,) = all_of(thumbnail(methane), "path")
    assert lines_in(bonds) == 2  # the hydrogen goes without saying
    assert "currentColor" not in thumbnail(MOLECULE, dark=True)


def test_thumbnails_are_small():
    chain = path_of(30, labels=("C", "C", "N", "C", "O") * 6, bonds=(1, 2, 1) * 9 + (1, 1))
    panel = Panel("", "", weights=(0.5,) * 29, kept=tuple(range(12)), kept_nodes=tuple(range(13)))
    assert len(thumbnail(chain)) <= 4096
    assert len(thumbnail(chain, panel)) <= 4096
    big = grid_of(39)
    assert len(big.edges) == 2964
    assert len(thumbnail(big)) < 40_000
