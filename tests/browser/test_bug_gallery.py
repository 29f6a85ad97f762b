"""Find the bug in a real Chromium: from the gallery to the reason in a few clicks, and a page that fits."""

import re

import pytest
from playwright.sync_api import Page, expect

from explainer_core.datasets.registry import CASES, planted_fault

expect.set_options(timeout=60_000)
ASK = "What do these mistakes have in common?"


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def open_gallery(page: Page) -> None:
    page.goto("/find_the_bug")
    expect(page.get_by_role("button", name="Look for the bug")).to_have_count(len(CASES))
    settled(page)


def test_pictures_side_by_side_are_level(page):
    """However many lines of words stand above them."""
    open_gallery(page)
    tops = [below.bounding_box()["y"] for below in page.get_by_role("button", name="Look for the bug").all()]
    assert tops[0] == tops[1]
    assert tops[2] == tops[3]


def find_patterns(page: Page) -> None:
    """Asks for the patterns, unless another visitor has done so."""
    ask, found = page.get_by_role("button", name=ASK), page.get_by_text("were compared")
    expect(ask.or_(found).first).to_be_visible()
    if ask.count():
        ask.click()
    expect(found).to_be_visible()
    settled(page)


def named(case: str) -> str:
    """What the first pattern must name."""
    planted = planted_fault(case)
    words = {"feature": f"“word {planted.key}”", "neighbour": f"node {planted.key}", "type": "an atom “Cl”"}
    return words.get(planted.kind, f"Its number is {planted.key.replace('-', ' to ')}.")


@pytest.mark.parametrize("case", CASES)
def test_the_reason_is_two_clicks_away(page, case):
    open_gallery(page)
    page.get_by_role("button", name="Look for the bug").nth(list(CASES).index(case)).click()
    expect(page).to_have_url(re.compile(f"/debug\\?dataset={case}"))
    page.get_by_role("button", name=ASK).click()
    first = page.get_by_text(re.compile(r"of [\d,]+ right ones \(p ")).first
    expect(first).to_contain_text(named(case))
    settled(page)


def test_hints_and_the_solution_come_when_asked_for(page):
    open_gallery(page)
    page.get_by_role("button", name="Give me a hint").first.click()
    expect(page.get_by_text("Compare the parts of the split")).to_be_visible()
    expect(page.get_by_text("What was planted")).to_have_count(0)
    page.get_by_role("button", name="Show the solution").first.click()
    expect(page.get_by_text("What was planted")).to_be_visible()
    page.get_by_role("button", name="Look for the bug").first.click()
    expect(page).to_have_url(re.compile("dataset=case_1"))
    page.get_by_text(re.compile("^Find the bug: ")).click()
    expect(page.get_by_text("What was planted")).to_be_visible()  # a visitor keeps what was seen


def test_a_name_stays_and_a_typical_mistake_is_looked_at(page):
    page.goto("/debug?dataset=case_4")
    find_patterns(page)
    box = page.get_by_placeholder("Name this group").first
    box.fill("only chlorine")
    box.press("Enter")
    settled(page)
    look = page.get_by_role("button", name=re.compile("Look at graph")).first
    number = (look.text_content() or "").split()[-1]
    look.click()
    expect(page).to_have_url(re.compile(f"graph={number}"))
    settled(page)
    expect(page.get_by_placeholder("Name this group").first).to_have_value("only chlorine")
    with page.expect_download() as download:
        page.get_by_role("button", name="Groups").click()
    assert "only chlorine" in download.value.path().read_text()


@pytest.mark.parametrize("width", [390, 800, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)
def test_both_pages_fit_their_width(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_gallery(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto("/debug?dataset=case_3")
    find_patterns(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for picture in page.get_by_test_id("stImage").all():
        box = picture.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
