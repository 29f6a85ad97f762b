"""The Prototypes page in a real Chromium: somebody who knows nothing picks a class and sees its shape."""

import re

import networkx as nx
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)
KEPT = "() => { const {picture, data} = graphViews.prototype; return data.panels[0].kept.map(e => [0, 1].map(end => picture.nodes[picture.edges[2 * e + end]])) }"

SMALL_TEXT = """() => {
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot);
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      const shown = own && element.checkVisibility() && !element.closest("svg");
      if (shown && parseFloat(getComputedStyle(element).fontSize) < 13.9) found.push(element.textContent);
    }
  };
  look(document.querySelector('[data-testid="stMainBlockContainer"]'));
  return found;
}"""


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function("() => globalThis.graphViews?.prototype && globalThis.graphViews?.members")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_the_top_of_a_house_shows_a_house_and_a_member_opens_beside_it(page):
    open_page(page, "/prototypes?dataset=ba_shapes&label=1")
    expect(page.get_by_role("heading", name="What “top” looks like")).to_be_visible()
    house = nx.Graph([(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)])
    assert nx.is_isomorphic(nx.Graph(page.evaluate(KEPT)), house)
    page.get_by_role("button", name=re.compile(r"node \d+")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("BA-Shapes · GCN · node")
    expect(page.get_by_role("heading", name="Beside the prototype of “top”")).to_be_visible()
    expect(page.get_by_text(re.compile(r"\d\s% alike"))).to_be_visible()


def test_the_way_back_from_a_member_leads_to_its_class(page):
    open_page(page, "/prototypes?dataset=ba_shapes&label=3&instances=4")
    page.get_by_role("button", name=re.compile(r"node \d+")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("BA-Shapes · GCN · node")
    page.go_back()
    expect(page.get_by_role("heading", name="What “bottom” looks like")).to_be_visible()


def test_the_data_set_comes_along_from_page_to_page(page):
    page.goto("/?dataset=tree_cycles")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Tree-Cycles")
    page.get_by_role("link", name="Prototypes").click()
    expect(page.get_by_text("Tree-Cycles · GCN. The explanations")).to_be_visible()


def test_a_page_opened_by_its_own_address_has_the_whole_house_around_it(page):
    open_page(page, "/prototypes?dataset=tree_cycles&label=1&instances=4")
    expect(page.get_by_role("link", name="Explain")).to_be_visible()
    assert nx.is_isomorphic(nx.Graph(page.evaluate(KEPT)), nx.cycle_graph(6))


def test_another_class_is_one_choice_away_and_all_come_to_stand_in_a_row(page):
    open_page(page, "/prototypes?dataset=tree_cycles&label=1&instances=4")
    row = page.get_by_role("button", name=re.compile(r"^(tree|cycle)\b"))
    expect(row).to_have_count(2)
    row.first.click()
    expect(page.get_by_role("heading", name="What “tree” looks like")).to_be_visible()
    expect(page).to_have_url(re.compile("label=0"))


def test_the_first_look_at_a_class_of_molecules_is_there_at_once(page):
    page.goto("/prototypes?dataset=karate")  # the server has loaded what it needs
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto("/prototypes?dataset=molecules")
    page.wait_for_function('() => globalThis.graphViews?.["fragment 1"]', timeout=5_000)
    expect(page.get_by_role("heading", name="What “mutagen” looks like")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile(r"Found in \d+ % of the members")).first).to_be_visible()
    lines = page.evaluate('() => graphViews["fragment 1"].picture.bondLines.map((lines) => lines.length)')
    assert len(lines) >= 2
    assert set(lines) <= {1, 2, 3}


def test_a_member_that_is_a_molecule_is_opened_by_keyboard_beside_its_class(page):
    page.goto("/prototypes?dataset=molecules")
    page.wait_for_function('() => globalThis.graphViews?.["fragment 1"] && globalThis.graphViews?.members')
    card = page.get_by_role("button", name=re.compile("keeps")).first
    card.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Beside the prototype of “mutagen”")).to_be_visible()
    expect(page.get_by_text(re.compile("This explanation (keeps|does not keep)")).first).to_be_visible()


def test_titles_have_one_size_on_all_pages_and_nothing_here_is_smaller_than_14_pixels(page):
    sizes = set()
    for address in ("/?dataset=karate", "/prototypes?dataset=karate", "/data_and_models?dataset=karate"):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        sizes.add(page.get_by_role("heading", level=1).evaluate("title => getComputedStyle(title).fontSize"))
    assert len(sizes) == 1
    open_page(page, "/prototypes?dataset=karate")
    small = page.evaluate(SMALL_TEXT)
    assert small == []
