"""Notes and two networks in a real Chromium: two tabs, a server that is killed, visitors of a shared server, cells by keyboard."""

import os
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from serving import serving
from test_debug import open_page, settled

expect.set_options(timeout=60_000)
ADDRESS = "/debug?dataset=karate&node=19&steps=20"
NOTES = "GRAPH_EXPLAINER_NOTES"


def write(page: Page, text: str) -> None:
    page.get_by_label("A line about it").fill(text)
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text(f"Saved: ? unsure: “{text}”")).to_be_visible()
    settled(page)


def shown(page: Page) -> list[str]:
    """The texts of the notes of this instance."""
    found = page.get_by_text(re.compile(r"^\? unsure: “")).all_inner_texts()
    return [text.strip().removeprefix("? unsure: “").removesuffix("”") for text in found]


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_context(base_url=url, viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(60_000)
    open_page(page, ADDRESS)
    return page


def test_what_was_shown_as_saved_outlives_the_server_and_two_tabs_lose_nothing(browser, tmp_path):
    environment = {NOTES: str(tmp_path / "notes")}
    with serving(tmp_path / "log", environment=environment) as served:
        one, other = opened(browser, served.url), opened(browser, served.url)
        write(one, "from the first tab")
        write(other, "from the second tab")
        write(one, "once more")
        os.kill(served.pid, signal.SIGKILL)
        one.context.close()
        other.context.close()
    with serving(tmp_path / "log2", environment=environment) as served:
        page = opened(browser, served.url)
        assert shown(page) == ["once more", "from the second tab", "from the first tab"]
        page.context.close()


def test_on_a_shared_server_nobody_sees_anothers_notes(browser, tmp_path):
    environment = {NOTES: str(tmp_path / "notes")}
    with serving(tmp_path / "log", environment=environment, options=["--host", "0.0.0.0"]) as served:  # noqa: S104
        one, other = opened(browser, served.url), opened(browser, served.url)
        write(one, "for my eyes only")
        assert shown(one) == ["for my eyes only"]
        write(other, "mine")
        assert shown(other) == ["mine"]
        with one.expect_download() as saved:
            one.get_by_role("button", name="Report").click()
        report = Path(saved.value.path()).read_text()
        assert "for my eyes only" in report
        assert "mine" not in re.sub('base64,[^"]*', "", report)
        for page in (one, other):
            page.context.close()
    assert not (tmp_path / "notes").exists()


def test_two_networks_from_a_cell_by_keyboard_to_both_explanations(page):
    open_page(page, "/debug?dataset=ba_shapes&split=all&steps=20")
    select = page.get_by_role("combobox", name=re.compile("Compare with"))
    select.focus()
    select.press("ArrowDown")
    select.press_sequentially("GIN")
    select.press("Enter")
    expect(page).to_have_url(re.compile("second=gin"))
    page.wait_for_function("() => globalThis.graphViews?.versus && globalThis.graphViews?.second_network?.data")
    settled(page)
    lost = page.get_by_role("button", name=re.compile(r"^true all, right only GCN: [1-9]"))
    lost.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("versus=0%2C1"))
    expect(page.get_by_text(re.compile("^Right: only GCN: "))).to_be_visible()
    settled(page)
    both = page.evaluate(
        "[graphViews.first_network, graphViews.second_network].map((view) => view.data.panels[0].lines[0])"
    )
    assert [line[-5:] for line in both] == ["right", "wrong"]
    assert page.evaluate("graphViews.first_network.camera()") == page.evaluate("graphViews.second_network.camera()")
    same = "[graphViews.first_network, graphViews.second_network].map((view) => view.data.panels[0].shared.join())"
    assert len(set(page.evaluate(same))) == 1


@pytest.mark.parametrize("width", [390, 800, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)
def test_the_sections_fit_their_page(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, "/debug?dataset=les_miserables&second=gat&split=all&steps=20")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for place in ("table.versus", ".st-key-versus", ".st-key-save_note", "[data-testid=stForm]"):
        for each in page.locator(place).all():
            box = each.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
