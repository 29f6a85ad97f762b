"""The Prototypes page in a real Chromium: somebody who knows nothing picks a class and sees its shape."""

import re

import networkx as nx
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)
KEPT = "() => { const {picture, data} = graphViews.prototype; return data.panels[0].kept.map(e => [0, 1].map(end => picture.nodes[picture.edges[2 * e + end]])) }"


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
