"""The Explain page as a person meets it: in a real Chromium, by mouse, keyboard and link."""

import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from explainer_core import Explanation, Node

expect.set_options(timeout=60_000)
QUICK = "&steps=20"  # where the numbers do not matter
HOSTILE = "<img src=x onerror=alert(1)>"
KEPT = "() => { const {picture, data} = graphViews.why; return data.panels[0].kept.map(e => [0, 1].map(end => picture.nodes[picture.edges[2 * e + end]])) }"
TARGET = "() => { const {picture} = graphViews.why; return picture.targets.map(node => picture.nodes[node]) }"


def open_page(page: Page, address: str = "/") -> None:
    page.goto(address)
    page.wait_for_function("() => globalThis.graphViews?.why")
    settled(page)


def settled(page: Page) -> None:
    """Waits until the other starts were tried too, and sees that it all went without an exception."""
    expect(page.locator(".explanation .starts")).to_have_count(1)  # the picture of before is gone
    expect(page.locator(".explanation .starts")).to_contain_text("other starts")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def heading(page: Page):
    return page.get_by_role("heading", level=1)


def click_node(page: Page, node: int, view: str = "near", panel: str = "neighbourhood") -> None:
    page.locator("section.panel canvas").first.scroll_into_view_if_needed()
    where = page.evaluate(f"graphViews.{view}.panels.{panel}.pointOf({node})")
    assert where["onTop"], f"node {node} lies under another"
    page.mouse.click(where["x"], where["y"])


def drag_to(page: Page, size: int) -> None:
    """Takes the handle of the track to a size and holds it there."""
    slider = page.get_by_role("slider", name="K_M")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x = "size => graphViews.why.track.x(size)"
    page.mouse.move(box["x"] + page.evaluate(x, page.evaluate("graphViews.why.track.size")), box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + page.evaluate(x, size), box["y"] + 50, steps=8)


def shown_target(page: Page, *nodes: int) -> None:
    page.wait_for_function(f"() => JSON.stringify(({TARGET})()) === '{json.dumps(nodes, separators=(',', ':'))}'")


def test_a_newcomer_sees_a_finished_explanation(page):
    open_page(page)
    expect(heading(page)).to_have_text(re.compile(r"BA-Shapes · GCN · node \d+"))
    expect(page.get_by_text("what the prediction rests on")).to_be_visible()
    assert len(page.evaluate(KEPT)) >= 5
    expect(page.get_by_role("heading", level=2, name="“Top”, because of")).to_be_visible()
    for title in ("GNNExplainer mask", "Gradient", "GAT attention"):
        expect(page.locator("section.panel .title").get_by_text(re.compile(rf"^\d\. {title}$"))).to_be_visible()


def test_a_click_on_a_node_explains_it_and_nothing_jumps(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    for node in (2, 0):
        click_node(page, node)
        expect(heading(page)).to_contain_text(f"node {node},")
        shown_target(page, node)
        settled(page)
    expect(page).to_have_url(re.compile(r"node=0"))
    assert page.evaluate("[graphViews.near.mounts, graphViews.why.mounts, graphViews.beside.mounts]") == [1, 1, 1]
    page.go_back()
    shown_target(page, 2)


def test_the_same_by_keyboard(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    page.locator("section.panel canvas").first.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    focused = page.evaluate("Number(document.activeElement.shadowRoot.activeElement.dataset.focus)")
    page.keyboard.press("Enter")
    expect(heading(page)).to_contain_text(f"node {focused},")
    shown_target(page, focused)
    settled(page)


def test_the_number_box_and_the_random_button(page):
    open_page(page, "/?dataset=tree_cycles" + QUICK)
    box = page.get_by_label("Node, 0 to 990")
    box.fill("700")
    box.press("Enter")
    expect(heading(page)).to_contain_text("node 700")
    settled(page)
    page.get_by_role("button", name="Pick one").click()
    page.get_by_role("button", name="A wrong one").click()
    expect(page.get_by_text("✗ wrong")).to_be_visible()
    settled(page)


def test_dragging_the_size_keeps_more_edges_and_the_rest_where_it_is(page):
    open_page(page, "/?dataset=tree_grid" + QUICK)
    before, camera = page.evaluate(KEPT), page.evaluate("graphViews.why.camera()")
    drag_to(page, page.evaluate("graphViews.why.data.explained.chosen") + 6)
    page.mouse.up()
    page.wait_for_function("count => graphViews.why.data.panels[0].kept.length > count", arg=len(before))
    settled(page)
    assert page.evaluate("graphViews.why.camera()") == camera
    assert page.evaluate("graphViews.why.mounts") == 1
    expect(page).to_have_url(re.compile("k_m="))


def test_the_switch_shows_the_mask_and_back_and_the_camera_stays(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    kept, camera = page.evaluate(KEPT), page.evaluate("graphViews.why.camera()")
    page.get_by_role("radio", name="Mask").click()
    page.wait_for_function("() => graphViews.why.data.panels[0].name === 'gnnexplainer'")
    expect(page).to_have_url(re.compile("shown=mask"))
    settled(page)
    assert page.evaluate("graphViews.why.camera()") == camera
    page.get_by_role("radio", name="Verified").click()
    page.wait_for_function("() => graphViews.why.data.panels[0].title === 'Verified'")
    settled(page)
    assert page.evaluate(KEPT) == kept
    assert page.evaluate("[graphViews.near.mounts, graphViews.why.mounts]") == [1, 1]


def test_touching_a_regularisation_slider_shows_the_mask(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    page.get_by_role("button", name="Settings").click()
    page.get_by_text("Regularisation", exact=True).click()
    page.get_by_role("slider", name="Needed (necessity)").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => graphViews.why.data.panels[0].name === 'gnnexplainer'")
    expect(page).to_have_url(re.compile(r"(?=.*shown=mask)(?=.*necessity=3\.1)"))
    expect(page.get_by_role("radio", name="Mask")).to_be_checked()
    page.get_by_role("button", name="Reset all settings").click()
    page.wait_for_function("() => graphViews.why.data.panels[0].title === 'Verified'")


def test_the_size_is_found_until_one_is_chosen(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    auto, slider = page.get_by_role("button", name="Find the size"), page.get_by_role("slider", name="K_M")
    expect(auto).to_have_attribute("aria-pressed", "true")
    found = int(slider.get_attribute("aria-valuenow") or 0)
    assert len(page.evaluate("graphViews.why.data.panels[0].kept_nodes")) == found
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("count => graphViews.why.data.panels[0].kept_nodes.length === count", arg=found + 1)
    expect(auto).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile(f"k_m={found + 1}"))
    settled(page)
    auto.click()
    page.wait_for_function("count => graphViews.why.data.panels[0].kept_nodes.length === count", arg=found)
    expect(slider).to_have_attribute("aria-valuenow", str(found))
    expect(page).to_have_url(re.compile("k_m=auto"))


def test_the_paper_is_one_button_away(page):
    open_page(page, "/?dataset=karate&node=19&methods=paper,gradient")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="As in the paper").last.click()
    page.wait_for_function("() => graphViews.why.data.panels[0].name === 'gnnexplainer'")
    expect(page).to_have_url(re.compile(r"(?=.*necessity=0\.0)(?=.*features=joint)(?=.*entropy=1\.0)"))
    settled(page)
    assert page.evaluate("JSON.stringify(graphViews.why.data.panels[0].kept)") == page.evaluate(
        "JSON.stringify(graphViews.beside.data.panels.find((panel) => panel.name === 'paper').kept)"
    )  # the same mask beside


def test_a_shared_link_opens_the_same_picture(page, browser):
    open_page(page, "/?dataset=tree_cycles&node=700&k_m=8&size=0.4&methods=occlusion" + QUICK)
    page.get_by_role("button", name="Share").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    kept = page.evaluate(KEPT)
    other = browser.new_context().new_page()
    open_page(other, link)
    assert other.evaluate(KEPT) == kept
    assert heading(other).inner_text() == heading(page).inner_text()
    expect(other.locator("section.panel .title").get_by_text(re.compile(r"^\d\. Occlusion$"))).to_be_visible()
    other.context.close()


def saved(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def test_every_export_is_read_back(page, browser, tmp_path):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    kept = {tuple(sorted(pair)) for pair in page.evaluate(KEPT)}
    page.get_by_role("button", name="Export").click()
    why = Explanation.from_json(saved(page, "JSON").decode())
    assert why.target == Node(19)
    assert set(why.subgraph().edges) == kept
    net = nx.parse_graphml(saved(page, "GraphML").decode(), node_type=int)
    assert {tuple(sorted(pair)) for *pair, marked in net.edges(data="kept") if marked} == kept
    table = pd.read_csv(io.BytesIO(saved(page, "CSV")))
    assert {tuple(sorted(pair)) for pair in table.loc[table["kept"], ["source", "head"]].to_numpy().tolist()} == kept
    assert ElementTree.fromstring(saved(page, "SVG")).tag.endswith("svg")  # noqa: S314 - our own file
    assert b"new vis.DataSet" in saved(page, "Interactive network")
    file = tmp_path / "page.html"
    file.write_bytes(saved(page, "HTML"))
    offline = browser.new_context(offline=True).new_page()
    offline.goto(file.as_uri())
    expect(offline.get_by_role("heading", level=1)).to_contain_text("Karate club")
    assert offline.locator("figure svg").count() == 6  # the main picture and five methods
    offline.context.close()


def test_a_picture_is_saved_as_png(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    panel = page.locator(".explanation section.panel")
    panel.get_by_role("application").hover()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Save this panel as a picture").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_typed_molecules_good_and_bad(page):
    open_page(page, "/?dataset=molecules" + QUICK)
    box = page.get_by_role("textbox", name="Or type a molecule")
    box.fill("O=[N+]([O-])c1ccccc1")
    box.press("Enter")
    expect(heading(page)).to_contain_text("O=[N+]([O-])c1ccccc1")
    page.wait_for_function("() => graphViews.why.picture.nodes.length === 14")
    settled(page)
    for text in ("C1CC", "<img/src=x/onerror=alert(1)>"):
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_test_id("stAlert").filter(has_text=f"must be valid SMILES (got '{text}')")).to_be_visible()
        expect(page.locator("section.prediction")).to_be_visible()  # the page stays one to work with
    box.fill("C" * 1000)
    box.press("Enter")
    expect(page.get_by_test_id("stAlert").filter(has_text="at most")).to_be_visible()
    box.fill("CCO")
    box.press("Enter")
    page.wait_for_function("() => globalThis.graphViews?.why?.picture.nodes.length === 9")
    settled(page)
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_lies_over_a_molecule_that_is_typed(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    open_page(page, "/?dataset=molecules" + QUICK)
    box = page.get_by_role("textbox", name="Or type a molecule")
    box.fill("O=[N+]([O-])c1ccccc1O=[N+]([O-])c1ccccc1")
    over = box.evaluate(
        """(box) => { box.scrollIntoView({ block: "nearest", inline: "center" });
        const { left, right, top, bottom } = box.getBoundingClientRect(), y = (top + bottom) / 2, found = [];
        for (let x = left + 2; x < right - 2; x += 4) found.push(document.elementFromPoint(x, y));
        return found.filter((each) => each !== box).map((each) => each.outerHTML.slice(0, 200)) }"""
    )
    assert over == []


def test_the_map_the_gallery_and_the_list_choose(page):
    open_page(page, "/?dataset=tree_cycles&view=whole+data+set" + QUICK)
    page.wait_for_function("() => globalThis.graphViews?.map")
    before = page.evaluate(f"JSON.stringify(({TARGET})())")
    where = page.evaluate("graphViews.map.pointOf(900)")
    page.mouse.click(where["x"], where["y"])
    page.wait_for_function(f"before => JSON.stringify(({TARGET})()) !== before", arg=before)
    settled(page)
    open_page(page, "/?dataset=molecules&view=whole+data+set" + QUICK)
    page.get_by_role("button", name=re.compile("1-nitropyrene")).click()
    expect(heading(page)).to_contain_text("1-nitropyrene")
    settled(page)
    open_page(page, "/?dataset=les_miserables&view=whole+data+set" + QUICK)
    before = heading(page).inner_text()
    table = page.get_by_test_id("stDataFrame").bounding_box()
    page.mouse.click(table["x"] + 150, table["y"] + 90)  # on a name
    expect(heading(page)).not_to_have_text(before)
    settled(page)


def test_a_filter_of_the_gallery_is_still_there_after_a_look_elsewhere(page):
    open_page(page, "/?dataset=molecules&view=whole+data+set" + QUICK)
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Name contains").fill("nitropyrene")
    page.keyboard.press("Enter")
    few = page.get_by_text(re.compile(r"^1 to (\d) of \1$"))
    expect(few).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="What the network sees").click()
    page.wait_for_function("() => globalThis.graphViews?.map")
    page.get_by_role("radio", name="Gallery").click()
    expect(few).to_be_visible()


def test_a_long_run_is_shown_while_it_learns_and_can_be_stopped(page):
    page.goto("/?dataset=ba_shapes&steps=2000&seeds=3&size_start=100&size=0")
    expect(page.get_by_text("Learning the mask: step")).to_be_visible()
    expect(page.get_by_test_id("stImage").locator("img, svg").first).to_be_visible()
    page.get_by_role("button", name="Stop this run").click()
    expect(page.get_by_text("The run was stopped.")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.get_by_role("button", name="Run it again").click()
    expect(page.get_by_text("Learning the mask: step")).to_be_visible()
    page.get_by_role("button", name="Stop this run").click()
    expect(page.get_by_text("The run was stopped.")).to_be_visible()


def test_the_replay_needs_no_server(page):
    open_page(page, "/?dataset=karate&node=19")
    page.get_by_role("button", name="Watch it being learnt").click()
    panel = page.locator("section.panel").filter(has=page.get_by_role("button", name="Play")).first
    panel.locator("input[type=range]").wait_for()
    settled(page)
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    last = panel.get_attribute("data-frame")
    panel.locator("input[type=range]").fill("2")
    assert panel.get_attribute("data-frame") == "1" != last  # the mask after step 2
    panel.get_by_role("button", name="Play").click()
    expect(panel).to_have_attribute("data-frame", last)
    assert sent == []


def test_a_saved_picture_says_of_what_it_is(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    title = heading(page).text_content()
    for view, panel in (("why", "verified"), ("near", "neighbourhood"), ("beside", "gradient")):
        assert page.evaluate(f"graphViews.{view}.panels.{panel}.heading()")[0] == title
        with page.expect_download() as download:
            page.evaluate(f"graphViews.{view}.panels.{panel}.savePng()")
        assert download.value.suggested_filename == f"Karate_club_GCN_node_19_member_20_{panel}.png"


def test_two_visitors_do_not_mix(page, browser, server):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    other = browser.new_context(base_url=server).new_page()
    open_page(other, "/?dataset=tree_cycles&node=700" + QUICK)
    click_node(page, 2)
    shown_target(page, 2)
    expect(heading(other)).to_contain_text("node 700")
    shown_target(other, 700)
    other.context.close()


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        ("/?dataset=nonsense", "no data set called “nonsense”"),
        ("/?dataset=karate&model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", f"no model called “{HOSTILE}”"),
        ("/?dataset=karate&node=1000000000", "Node must be 0 to 33 (got “1000000000”)"),
        ("/?dataset=karate&size=NaN", "Size must be a number (got nan)"),
        ("/?dataset=karate&k_m=-4", "K_m must be 1 to 50 or 'auto' (got -4)"),
    ],
)
def test_a_bad_link_says_so_and_still_shows_something(page, address, answer):
    open_page(page, address + QUICK)
    expect(page.get_by_test_id("stAlert").first).to_contain_text(answer)
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate(KEPT)


def test_data_that_are_not_here_are_offered_and_the_page_goes_on(page):
    page.goto("/?dataset=cora")
    page.get_by_role("button", name="Download Cora").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="No data for 'cora.tgz'")).to_contain_text("GNN_DATA_DIR")
    page.get_by_role("combobox", name="Data set").click()
    page.get_by_role("option", name="Karate club").click()
    expect(heading(page)).to_contain_text("Karate club")
    settled(page)


@pytest.mark.parametrize("colours", ["dark"], indirect=True)
def test_a_browser_that_asks_for_dark_gets_dark(page):
    open_page(page, "/?dataset=karate" + QUICK)
    ground = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", ground)[:3]) < 60


def test_a_telephone_needs_no_sideways_scrolling(page):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, "/?dataset=karate" + QUICK)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_edges_on_which_other_starts_differ_are_dotted_without_another_page_and_the_picture_is_still_clicked(page):
    open_page(page, "/?dataset=karate&node=0&shown=mask&k_m=5&steps=5")
    page.wait_for_function("() => graphViews.why.data.panels[0].unstable.length > 0")
    assert page.evaluate("[graphViews.near.mounts, graphViews.why.mounts]") == [1, 1]
    click_node(page, 2, "why", "gnnexplainer")
    expect(heading(page)).to_contain_text("node 2,")
    shown_target(page, 2)
    settled(page)
