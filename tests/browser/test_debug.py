"""The Debug page in a real Chromium: from a cell of the confusion matrix to the change that flips the prediction."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function("() => globalThis.graphViews?.confusion && globalThis.graphViews?.what_if?.data")
    settled(page)


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def bars(page: Page) -> str:
    return page.locator(".what-if .bars").get_attribute("aria-label") or ""


def bars_moved(page: Page, before: str) -> None:
    page.wait_for_function("(was) => document.querySelector('.what-if .bars')?.ariaLabel !== was", arg=before)


def middle_of(page: Page, one: int, other: int) -> tuple[float, float]:
    """Where to press for the edge between two nodes."""
    page.locator(".st-key-what_if canvas").first.scroll_into_view_if_needed()
    script = """([one, other]) => { const view = Object.values(graphViews.what_if.panels)[0];
        const [p, q] = [view.pointOf(one), view.pointOf(other)]; return [(p.x + q.x) / 2, (p.y + q.y) / 2]; }"""
    return tuple(page.evaluate(script, [one, other]))


def edges_are_cut(page: Page, count: int) -> None:
    """The picture may come after the bars."""
    page.wait_for_function("(count) => graphViews.what_if.data.panels[0].cut.length === count", arg=count)


def test_the_whole_way_from_a_cell_to_the_change_that_flips_it(page):
    open_page(page, "/debug?dataset=ba_shapes")
    cell = page.get_by_role("button", name="true top, predicted bottom: 2", exact=True)
    cell.click()
    expect(page).to_have_url(re.compile("cell=1%2C3"))
    expect(cell).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("“top” taken for “bottom”: 2 nodes")).to_be_visible()
    settled(page)

    table = page.get_by_test_id("stDataFrame")
    box = table.bounding_box()
    page.mouse.click(box["x"] + 150, box["y"] + 38 + 35 + 17)  # its second row
    expect(page).to_have_url(re.compile("node=549"))
    expect(page.get_by_role("heading", name="Node 549")).to_be_visible()
    settled(page)

    panels = page.evaluate("[graphViews.why, graphViews.why_not].map((view) => view.data.panels[0].title)")
    assert panels == ["For “bottom”, predicted", "For “top”, true"]
    assert page.evaluate("graphViews.why.pictureText === graphViews.why_not.pictureText")

    before = bars(page)
    edge = page.evaluate(
        """() => { const { picture } = graphViews.what_if, node = picture.nodes.indexOf(549);
        return [549, picture.nodes[picture.neighbours[node][0]]]; }"""
    )
    page.mouse.click(*middle_of(page, *edge))
    bars_moved(page, before)
    edges_are_cut(page, 1)
    expect(page).to_have_url(re.compile(r"edits=cut-\d+-\d+"))
    page.get_by_role("button", name="Undo").click()
    bars_moved(page, bars(page) if bars(page) != before else "")
    expect(page).not_to_have_url(re.compile("edits="))

    page.get_by_role("button", name="Find it").click()
    expect(page.get_by_text(re.compile("makes it “"))).to_be_visible()
    expect(page.get_by_text(re.compile("^Now “"))).to_be_visible()
    settled(page)
    flipped, address = bars(page), page.url
    edges_are_cut(page, 1)
    assert flipped != before
    page.goto(address)
    page.wait_for_function("() => globalThis.graphViews?.what_if?.data")
    settled(page)
    assert bars(page) == flipped  # all of it is in the link

    page.get_by_label("A line about it").fill("one edge of the house decides it")
    page.get_by_role("radio", name="spurious").click()
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text("Saved: ✗ spurious: “one edge of the house decides it”")).to_be_visible()
    settled(page)
    expect(page.get_by_label("A line about it")).to_have_value("")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Report").click()
    report = page.context.new_page()
    report.set_content(Path(saved.value.path()).read_text())
    expect(report.get_by_role("heading", level=2)).to_have_text("✗ Spurious: node 549")
    expect(report.get_by_text("one edge of the house decides it")).to_be_visible()
    expect(report.get_by_text(re.compile("^1 change: cut "))).to_be_visible()
    assert report.evaluate("[...document.images].map((each) => each.complete && each.naturalWidth > 0)") == [True, True]
    report.close()
    page.goto("/debug?dataset=ba_shapes&node=3")  # and from the note back to the instance
    page.wait_for_function("() => globalThis.graphViews?.what_if?.data")
    settled(page)
    table = page.get_by_test_id("stDataFrame").last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    page.mouse.click(box["x"] + 300, box["y"] + 38 + 17)
    expect(page).to_have_url(re.compile("node=549"))


def test_keys_alone_choose_a_cell_and_part_two_nodes(page):
    open_page(page, "/debug?dataset=ba_shapes&node=534")
    first = page.get_by_role("button", name="true base, predicted base: 30", exact=True)
    first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="true top, predicted bottom: 2", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cell=1%2C3"))
    settled(page)
    before = bars(page)
    canvas = page.locator(".st-key-what_if canvas").first
    canvas.focus()
    page.keyboard.press("ArrowRight")  # the walk begins at the target
    assert canvas.get_attribute("data-focus") == "534"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert canvas.get_attribute("data-focus") != "534"
    page.keyboard.press("Enter")
    bars_moved(page, before)
    edges_are_cut(page, 1)


def test_bars_follow_at_once(page):
    """The goal is 0.2 s; the test leaves room for a machine that is busy."""
    open_page(page, "/debug?dataset=ba_shapes&node=534")
    took = []
    for _ in range(4):
        before, place = bars(page), middle_of(page, 530, 534)
        began = time.monotonic()
        page.mouse.click(*place)
        bars_moved(page, before)
        took.append(time.monotonic() - began)
        settled(page)
    assert min(took) < 0.5, took


def test_an_atom_is_changed_where_it_holds_its_bonds_and_refused_where_not(page):
    open_page(page, "/debug?dataset=molecules&graph=3")
    page.get_by_role("radio", name="Atoms").or_(page.get_by_role("button", name="Atoms", exact=True)).first.click()
    settled(page)
    page.wait_for_function("() => graphViews.what_if.data.joins === false")
    carbon = page.evaluate("graphViews.what_if.picture.nodes[graphViews.what_if.picture.labels.indexOf('C')]")
    page.locator(".st-key-what_if canvas").first.scroll_into_view_if_needed()
    place = page.evaluate("(atom) => Object.values(graphViews.what_if.panels)[0].pointOf(atom)", carbon)
    page.mouse.click(place["x"], place["y"])
    expect(page.get_by_text(f"C (atom {carbon})")).to_be_visible()
    element = page.get_by_role("combobox", name=re.compile("Element"))
    element.focus()
    element.press("ArrowDown")
    element.press_sequentially("F")
    element.press("Enter")
    expect(page.get_by_text("An atom of F holds at most 1 bond (")).to_be_visible()
    expect(page).not_to_have_url(re.compile("edits="))
    page.get_by_role("button", name="Delete it").click()
    expect(page).to_have_url(re.compile(f"edits=drop-{carbon}"))


@pytest.mark.parametrize("width", [390, 800, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)
@pytest.mark.parametrize("dataset", ["tree_grid", "les_miserables"])
def test_the_page_fits_its_width(page, width, dataset):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, f"/debug?dataset={dataset}&steps=20")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for place in (".confusion", "table.shares", ".what-if .bars"):
        for each in page.locator(place).all():
            box = each.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
