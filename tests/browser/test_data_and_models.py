"""The page of data sets and models as a person meets it: in a real Chromium, by mouse, keyboard and link."""

import re

import pytest
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)
HOSTILE = "<img src=x onerror=alert(1)>"


def open_page(page: Page, address: str = "") -> None:
    page.goto("/data_and_models" + address)
    expect(page.get_by_role("heading", name="Data sets and models")).to_be_visible()
    settled(page)


def settled(page: Page) -> None:
    """Waits until the script has run to its end, and sees that it did so without an exception."""
    expect(page.get_by_role("heading", name="Models", exact=True)).to_have_count(1)  # the stale ones are gone
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def title(page: Page, text: str):
    return page.get_by_role("heading", name=text, exact=True)


def pill(page: Page, text: str):
    return page.get_by_test_id("stButtonGroup").get_by_text(text, exact=True)


def test_the_page_opens(page):
    open_page(page)
    expect(title(page, "BA-Shapes")).to_be_visible()
    expect(page.get_by_text("Networks run on:")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="Nodes")).to_contain_text("700")


def test_a_click_on_another_data_set_changes_page_and_address_and_back_returns(page):
    open_page(page)
    pill(page, "Karate club").click()
    expect(title(page, "Karate club")).to_be_visible()
    expect(page).to_have_url(re.compile(r"dataset=karate$"))
    settled(page)
    pill(page, "Tree-Cycles").click()
    expect(title(page, "Tree-Cycles")).to_be_visible()
    settled(page)
    page.go_back()
    expect(title(page, "Karate club")).to_be_visible()
    settled(page)


def test_a_link_opens_its_data_set(page):
    open_page(page, "?dataset=tree_grid")
    expect(title(page, "Tree-Grid")).to_be_visible()


def test_a_bad_link_says_so_and_the_page_goes_on(page):
    open_page(page, "?dataset=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(page.get_by_test_id("stAlert").first).to_contain_text(f"no data set called “{HOSTILE}”")
    assert page.locator("img[src=x]").count() == 0
    pill(page, "Tree-Grid").click()
    expect(title(page, "Tree-Grid")).to_be_visible()
    settled(page)
    expect(page.get_by_text("no data set called")).to_have_count(0)


def test_the_selector_is_reached_and_used_by_keyboard(page):
    open_page(page)
    expect(pill(page, "Tree-Cycles")).to_be_visible()  # its script is fetched apart, after the page has settled
    # From the top of the page: where a browser starts to count is its own affair until something has had the focus.
    page.get_by_role("heading", level=1).click()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('[data-testid=stButtonGroup]') !== null"):
            break
    else:
        pytest.fail("twenty times Tab did not reach the selector")
    for _ in range(12):
        if page.evaluate("document.activeElement.innerText.trim()") == "Tree-Cycles":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(title(page, "Tree-Cycles")).to_be_visible()
    settled(page)


def test_typed_molecules_good_bad_and_hostile(page):
    open_page(page, "?dataset=molecules")
    box = page.get_by_label("SMILES", exact=True)
    for text, answer in (
        ("C1CC", "must be valid SMILES (got 'C1CC')"),
        (HOSTILE, "must be plain letters, digits and signs without spaces"),
        ("<img/src=x/onerror=alert(1)>", "must be valid SMILES (got '<img/src=x/onerror=alert(1)>')"),
    ):
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_test_id("stAlert").filter(has_text=answer)).to_be_visible()
        settled(page)
    box.fill("Nc1ccccc1")
    box.press("Enter")
    expect(page.get_by_test_id("stMetric").filter(has_text="Atoms")).to_contain_text("14")
    expect(page.get_by_test_id("stMetric").filter(has_text="Bonds")).to_contain_text("14")
    settled(page)
    assert page.locator("img[src=x]").count() == 0


def test_a_download_without_a_network_ends_in_one_sentence(page):
    open_page(page, "?dataset=mutag")
    page.get_by_role("button", name="Download MUTAG").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="No data for 'MUTAG.zip'")).to_contain_text("GNN_DATA_DIR")
    settled(page)
    expect(page.get_by_test_id("stApp")).not_to_contain_text("Traceback")
    pill(page, "Karate club").click()
    expect(title(page, "Karate club")).to_be_visible()
    settled(page)


@pytest.mark.parametrize("colours", ["dark"], indirect=True)
def test_a_browser_that_asks_for_dark_gets_dark(page):
    open_page(page)
    ground = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", ground)[:3]) < 60


def test_a_telephone_needs_no_sideways_scrolling(page):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(pill(page, "Molecules")).to_be_in_viewport()
