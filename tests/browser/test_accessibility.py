"""What everyone can read and reach: axe-core finds nothing on any page, light and dark; words say what they mean."""

import json
import re

import pytest
import test_your_own_graph as own_graph
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from test_explain import QUICK, open_page

from dashboard.view.definitions import DEFINITIONS
from explainer_core.files.examples import example_files

IDLE = "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
TALL = {"width": 1280, "height": 3600}  # axe looks at the colours of what is in sight
PAGES = {
    "node": "/?dataset=karate&node=19" + QUICK,
    "mask": "/?dataset=karate&node=19&shown=mask" + QUICK,
    "map": "/?dataset=tree_cycles&view=whole+data+set&colour=right" + QUICK,
    "gallery": "/?dataset=molecules&view=whole+data+set" + QUICK,
    "links": "/?dataset=les_miserables&view=whole+data+set" + QUICK,
    "debug": "/debug?dataset=tree_cycles" + QUICK,
    "find the bug": "/find_the_bug",
    "debug, two networks": "/debug?dataset=ba_shapes&second=gin&split=all&versus=0,1" + QUICK,
    "prototype": "/prototypes?dataset=karate",
    "fragments": "/prototypes?dataset=molecules",
    "data and models": "/data_and_models?dataset=molecules",
    "your own graph": "/your_own_graph",
}
# What comes from inside Streamlit's own widgets and cannot be changed from here: rule, a part of its HTML, and the reason.
KNOWN = {
    (
        "presentation-role-conflict",
        'data-testid="stFileUploaderDropzone"',
    ): "a label on what is only the ground of its button"
}
both_grounds = pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)


DRAWN = """() => { const explained = document.querySelector(".st-key-switch");
  return !explained || Boolean(globalThis.graphViews?.why?.headline.textContent) }"""


def rest(page: Page) -> None:
    for _ in range(2):  # the other starts come in a second run
        page.wait_for_function(IDLE, timeout=120_000)
        page.wait_for_timeout(700)
    page.wait_for_function(DRAWN, timeout=120_000)  # a browser that is slow has the answer before it has drawn it


def violations(page: Page) -> str:
    found = Axe().run(page).response["violations"]
    seen = [
        (each["id"], str(node["target"]), node["failureSummary"])
        for each in found
        for node in each["nodes"]
        if not any(each["id"] == rule and part in node["html"] for rule, part in KNOWN)
    ]
    return json.dumps(seen, indent=1)


@both_grounds
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(page, name, colours):
    page.set_viewport_size(TALL)
    page.goto(PAGES[name])
    rest(page)
    assert violations(page) == "[]"


@both_grounds
def test_axe_finds_nothing_in_groups_of_mistakes(page, colours):
    page.set_viewport_size(TALL)
    page.goto("/debug?dataset=case_4" + QUICK)
    rest(page)
    if page.get_by_role("button", name="What do these mistakes have in common?").count():
        page.get_by_role("button", name="What do these mistakes have in common?").click()
    page.get_by_text("by their cause").click()
    page.get_by_text("Only mistakes have a cause").wait_for()
    page.get_by_text("Find the bug: ").click()
    rest(page)
    assert violations(page) == "[]"


@both_grounds
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_where_there_are_notes(page, colours, width):
    page.set_viewport_size({"width": width, "height": 6000})
    page.goto(PAGES["debug"])
    rest(page)
    page.get_by_label("A line about it").fill(f"seen at {width}, {colours}")
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text(f"Saved: ? unsure: “seen at {width}, {colours}”")).to_be_visible()
    rest(page)
    assert violations(page) == "[]"


@both_grounds
def test_axe_finds_nothing_in_what_can_be_opened(page, colours):
    page.set_viewport_size({"width": 1280, "height": 1400})
    open_page(page, "/?dataset=tree_cycles" + QUICK)
    for name in ("Pick one", "Settings", "Share", "Export"):
        page.get_by_role("button", name=name).click()
        page.wait_for_timeout(600)
        assert violations(page) == "[]", name
        page.keyboard.press("Escape")
    page.get_by_role("button", name="sparsity").first.focus()
    assert violations(page) == "[]"


@both_grounds
def test_axe_finds_nothing_on_a_graph_of_one_s_own(page, colours):
    page.set_viewport_size(TALL)
    own_graph.open_page(page)
    for place, file in enumerate(example_files("csv")):
        own_graph.send(page, file.name, file.data, place)
    page.get_by_text("Read it otherwise").click()
    expect(page.get_by_role("button", name="Use this graph")).to_be_visible()
    rest(page)
    assert violations(page) == "[]"
    page.get_by_role("button", name="Use this graph").click()
    own_graph.train(page)
    page.get_by_text("Sizes and settings").click()
    rest(page)
    assert violations(page) == "[]"


@both_grounds
def test_axe_finds_nothing_on_a_phone(page, colours):
    page.set_viewport_size({"width": 390, "height": 4000})
    open_page(page, "/?dataset=molecules" + QUICK)
    rest(page)
    assert violations(page) == "[]"


# ---- definitions ----


@pytest.mark.parametrize(
    "term", ["K_M", "G_S", "starts", "sufficiency", "necessity", "fidelity+", "sparsity", "edge AUC"]
)
def test_a_word_says_what_it_means_to_pointer_and_keyboard(page, term):
    open_page(page, "/?dataset=tree_cycles" + QUICK)
    rest(page)
    word = page.locator(".explanation").get_by_role("button", name=term, exact=True).first
    tip = page.get_by_role("tooltip").filter(has_text=DEFINITIONS[term].sentence)
    word.scroll_into_view_if_needed()
    word.hover()
    expect(tip).to_contain_text(DEFINITIONS[term].formula)
    box, width = tip.bounding_box(), page.viewport_size["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    word.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    word.evaluate("element => element.blur()")
    word.tap() if page.evaluate("'ontouchstart' in globalThis") else word.click()
    expect(tip).to_be_visible()


def test_the_figures_of_other_methods_say_what_they_mean_too(page):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    panel = page.locator("section.panel").filter(
        has=page.locator(".title").get_by_text(re.compile(r"^\d+\. Gradient$"))
    )
    panel.get_by_role("button", name="fidelity−").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(DEFINITIONS["fidelity−"].sentence)


# ---- sizes ----


def test_every_page_has_one_title_of_the_same_size(page):
    sizes = {}
    for address in (PAGES["node"], PAGES["prototype"], PAGES["data and models"], PAGES["your own graph"]):
        page.goto(address)
        rest(page)
        titles = page.get_by_role("heading", level=1)
        expect(titles).to_have_count(1)
        sizes[address] = titles.evaluate("e => [getComputedStyle(e).fontSize, getComputedStyle(e).fontWeight]")
    assert len({tuple(size) for size in sizes.values()}) == 1, sizes


@both_grounds
@pytest.mark.parametrize("name", ["node", "data and models", "your own graph"])
def test_captions_are_large_and_dark_enough_for_a_projector(page, name, colours):
    page.set_viewport_size(TALL)
    page.goto(PAGES[name])
    rest(page)
    found = (
        page.get_by_test_id("stCaptionContainer")
        .locator("p")
        .evaluate_all(
            """(all) => all.map((p) => { const shares = []; for (let e = p; e; e = e.parentElement) shares.push(Number(getComputedStyle(e).opacity));
        return [parseFloat(getComputedStyle(p).fontSize), Math.min(...shares)] })"""
        )
    )
    assert found
    assert all(size >= 16 and opacity == 1 for size, opacity in found), found
