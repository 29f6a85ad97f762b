"""What a visitor brought, in a real browser: a reload finds it by the cookie, nobody else does, not even by the link."""

import pytest
import torch
from playwright.sync_api import Page, expect
from pyg_examples import planetoid, trained_gcn
from safetensors.torch import save

import explainer_core as xc
from dashboard import launch
from dashboard.catalogue import own
from dashboard.gate import COOKIE
from explainer_core.models import GNN

expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def server():
    """A server in this very process, so that the test can bring data as a page does."""
    data = planetoid(60)
    page = launch(trained_gcn(data, 5), data, block=False, open_browser=False)
    yield page.url.partition("/?")[0]
    page.stop()


def token_of(page: Page) -> str:
    (cookie,) = [each for each in page.context.cookies() if each["name"] == COOKIE]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    return cookie["value"]


def bring(token: str, title: str) -> str:
    karate = xc.load_dataset("karate")
    name = own.add(token, title, karate)
    spec = xc.ModelSpec("gcn", "node", karate.num_features, karate.num_classes, hidden=8, num_layers=2)
    card = xc.list_cards("karate")[0]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        own.add_network(
            token, name, xc.Card(**card.to_dict() | {"architecture": spec.to_dict()}), save(GNN(spec).state_dict())
        )
    return name


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_reload_finds_it_and_another_browser_does_not(page, browser, server):
    page.goto("/")
    settled(page)
    name = bring(token_of(page), "Club <b>*mine*</b>")
    address = f"/?dataset={name}&node=3&steps=20"
    for _ in range(2):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_contain_text("Club <b>*mine*</b> · GCN · node 3")
        page.wait_for_function("() => globalThis.graphViews?.why")
        settled(page)
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Club <b>*mine*</b> · GCN · node 3")
        settled(page)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("in this browser only")).to_be_visible()

    stranger = browser.new_context(base_url=server).new_page()
    stranger.goto(address)
    expect(stranger.get_by_test_id("stAlert")).to_contain_text("needs your own data, which is not on this server")
    expect(stranger.get_by_text("mine")).to_have_count(0)
    stranger.context.close()

    page.goto(f"/data_and_models?dataset={name}")
    expect(page.get_by_role("heading", name="Club <b>*mine*</b>")).to_be_visible()
    settled(page)
    own.drop(token_of(page), name)
    page.goto(address)
    expect(page.get_by_test_id("stAlert")).to_contain_text("not on this server")
