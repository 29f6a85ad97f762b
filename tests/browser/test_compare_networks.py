"""The Compare section in a real Chromium: panels in their order, and a second network beside the first."""

import re

import pytest
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("table.ranking").first).to_be_visible()
    settled(page)


def settled(page: Page) -> None:
    """Waits for the other starts too, which draw the main picture once more."""
    expect(page.locator(".explanation .starts").first).to_contain_text("other starts")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def second_network(page: Page) -> dict:
    page.wait_for_function("() => globalThis.graphViews?.second_network?.data")
    settled(page)
    return page.evaluate("JSON.parse(JSON.stringify(graphViews.second_network.data.panels[0]))")


def test_a_second_network_is_chosen_by_keyboard_drawn_beside_the_first_and_in_the_link(page):
    open_page(page, "/?dataset=karate&node=19")
    assert not page.evaluate("'second_network' in graphViews")
    select = page.get_by_role("combobox", name=re.compile("The same target under"))
    select.focus()
    select.press("ArrowDown")
    select.press_sequentially("GAT")
    select.press("Enter")
    expect(page).to_have_url(re.compile("second=gat"))
    found = second_network(page)
    assert found["title"] == "GAT"
    pictures = [page.locator(f".st-key-{which}_network canvas").bounding_box() for which in ("first", "second")]
    assert abs(pictures[0]["y"] - pictures[1]["y"]) <= 1  # level
    assert pictures[0]["width"] == pytest.approx(pictures[1]["width"], abs=1)
    assert page.evaluate("graphViews.first_network.camera()") == page.evaluate("graphViews.second_network.camera()")
    sentence = page.evaluate("graphViews.why.data.explained.sizes[graphViews.why.data.explained.chosen - 1].at(-1)")
    expect(page.locator(".st-key-two_networks")).to_contain_text(sentence)  # one number to the last digit
    page.reload()
    assert second_network(page) == found


def test_who_leaves_while_the_second_network_is_asked_gets_the_next_answer(page):
    open_page(page, "/?dataset=ba_shapes&second=gat&steps=500")
    page.goto("/?dataset=ba_shapes&second=gated&steps=900&node=500", wait_until="commit")
    page.wait_for_timeout(1500)
    page.goto("/?dataset=karate&second=gat")
    assert second_network(page)["title"] == "GAT"
    expect(page.get_by_role("heading", level=1)).to_contain_text("Karate")


@pytest.mark.parametrize("width", [390, 800, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)
def test_the_section_fits_its_page(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, "/?dataset=tree_cycles&second=gat&steps=20")
    second_network(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for table in page.locator("table.ranking").all():
        box, held = table.bounding_box(), table.locator("xpath=..").bounding_box()
        assert box["x"] + box["width"] <= held["x"] + held["width"] + 1
        marks = table.locator(".track i").all()
        assert marks
        for mark in marks[:4]:
            track = mark.locator("xpath=../..").bounding_box()
            middle = mark.bounding_box()["x"] + mark.bounding_box()["width"] / 2
            assert track["x"] <= middle <= track["x"] + track["width"]
    order = page.locator(".st-key-beside section.panel .title").all_inner_texts()
    assert [int(title.split(".")[0]) for title in order] == sorted(int(title.split(".")[0]) for title in order)
