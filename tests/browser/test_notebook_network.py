"""The interactive network in a real Chromium: it draws with no network at all, and names stay text."""

import json
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

import explainer_core as xc

HOSTILE = "<img src=x onerror=alert(1)>"
TARGET = 33


@pytest.fixture(scope="module")
def explained():
    graph = xc.load_dataset("karate")
    names = [HOSTILE if node == TARGET else f"</script><b>{node}" for node in range(graph.num_nodes)]
    why = xc.explain(xc.load_pretrained("karate", "gcn"), graph, xc.Node(TARGET), xc.ExplainConfig(k_m=4))
    return why, replace(graph, node_names=names)


@pytest.fixture
def opened(browser):
    """Opens a page; nothing but that page is answered, and what else was asked for is an error."""
    context = browser.new_context()
    page, elsewhere, errors = context.new_page(), [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))

    def open_page(text: str):
        def answer(route):
            if urlsplit(route.request.url).path == "/page":
                return route.fulfill(body=text, content_type="text/html; charset=utf-8")
            elsewhere.append(route.request.url)
            return route.abort()

        context.route("**/*", answer)
        page.goto("http://notebook.test/page")
        return page

    yield open_page
    context.close()
    assert [url for url in elsewhere if not url.endswith("/favicon.ico")] == []
    assert errors == []


def painted(frame) -> bool:
    return frame.evaluate(
        """() => { const canvas = document.querySelector("#mynetwork canvas");
        return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part) }"""
    )


def test_the_network_draws_offline_with_the_scores_and_the_names_as_text(opened, explained):
    why, graph = explained
    page = opened(why.to_pyvis(graph).generate_html())
    page.wait_for_selector("#mynetwork canvas")
    page.wait_for_timeout(500)
    assert painted(page)
    labels = json.loads(page.evaluate("JSON.stringify(nodes.map((node) => node.label))"))
    assert HOSTILE in labels
    assert page.locator("img").count() == 0
    kept = page.evaluate("edges.get().filter((edge) => edge.color === '#0072B2').map((edge) => [edge.from, edge.to])")
    assert {tuple(sorted(pair)) for pair in kept} == set(why.subgraph().edges)


def test_a_tip_with_tags_in_it_is_text(opened, explained):
    why, graph = explained
    page = opened(why.to_pyvis(graph).generate_html())
    page.wait_for_selector("#mynetwork canvas")
    page.evaluate("network.stopSimulation()")
    place = page.evaluate(f"(() => network.canvasToDOM(network.getPosition({TARGET})))()")
    box = page.locator("#mynetwork").bounding_box()
    page.mouse.move(box["x"] + place["x"] - 3, box["y"] + place["y"])
    page.mouse.move(box["x"] + place["x"], box["y"] + place["y"], steps=3)
    expect(page.locator(".vis-tooltip")).to_contain_text(HOSTILE)
    assert page.locator(".vis-tooltip img").count() == 0


def test_a_notebook_shows_it_in_a_frame_of_its_own(opened, explained):
    why, _ = explained
    page = opened(f"<!doctype html><h1>A notebook</h1>{why._repr_html_()}")
    page.frame_locator("iframe").locator("#mynetwork canvas").wait_for()
    page.wait_for_timeout(500)
    assert painted(page.frames[1])
