"""A graph of one's own in a real Chromium: each format read, shown and explained; a network trained, stopped, brought; nobody else's."""

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from safetensors.torch import load

from explainer_core.files.examples import example_files

expect.set_options(timeout=60_000)
IDLE = "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
TITLES = {"csv": "CSV", "graphml": "GraphML", "json": "Node-link JSON", "smiles": "SMILES"}
SIGNS = {"csv": "Edges", "graphml": "GRAPHML", "json": "JSON", "smiles": "Molecules"}
NODES = {"csv": "90", "graphml": "90", "json": "90", "smiles": "2,197"}
NOT_HERE = "needs your own data, which is not on this server"


def settled(page: Page) -> None:
    page.wait_for_timeout(150)  # a touch takes a moment to reach the server
    page.wait_for_function(IDLE)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def open_page(page: Page) -> None:
    page.goto("/your_own_graph")
    expect(page.get_by_role("heading", name="Your own graph")).to_be_visible()
    settled(page)


def send(page: Page, name: str, data: bytes, place: int = 0) -> None:
    page.get_by_test_id("stFileUploaderDropzoneInput").nth(place).set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    expect(page.get_by_test_id("stFileUploader").nth(place)).to_contain_text(name)
    settled(page)


def choose_format(page: Page, format: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(TITLES[format], exact=True).click()
    expect(page.get_by_test_id("stFileUploader").first).to_contain_text(SIGNS[format])  # that of the new format
    settled(page)


def bring(page: Page, format: str = "csv") -> str:
    """Sends the example and keeps it; returns the name it goes by."""
    open_page(page)
    choose_format(page, format)
    for place, file in enumerate(example_files(format)):
        send(page, file.name, file.data, place)
    expect(page.get_by_test_id("stMetric").filter(has_text="Nodes")).to_contain_text(NODES[format])
    page.get_by_role("button", name="Use this graph").click()
    expect(page.get_by_role("button", name="Remove it")).to_be_visible()
    settled(page)
    return parse_qs(urlsplit(page.url).query)["dataset"][0]


def train(page: Page) -> None:
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Explain it").first).to_be_visible()
    settled(page)


def choose_epochs(page: Page, epochs: int, early: bool) -> None:
    page.get_by_text("Sizes and settings").click()
    box = page.get_by_label("Epochs at most")
    box.fill(str(epochs))
    box.press("Enter")
    settled(page)
    toggle = page.get_by_role("checkbox", name="Stop when it gets no better").or_(
        page.get_by_role("switch", name="Stop when it gets no better")
    )
    if toggle.is_checked() != early:
        page.get_by_text("Stop when it gets no better").click()
        settled(page)


def explained(page: Page) -> None:
    expect(page.locator(".prediction").first).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("because of|nothing to explain|rests on")).first).to_be_visible()
    settled(page)


@pytest.mark.parametrize("format", TITLES)
def test_a_graph_of_each_format_is_read_trained_on_and_explained(page, format):
    bring(page, format)
    if format == "smiles":
        choose_epochs(page, 30, early=False)
    train(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("of the test part right")
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)  # the curves stay
    page.get_by_role("button", name="Explain it").last.click()
    expect(page).to_have_url(re.compile(r"/\?dataset=own-[0-9a-f]{32}&model=gcn"))
    explained(page)


def test_every_page_works_on_it(page):
    bring(page)
    train(page)
    for name, sign in (
        ("Debug", "right"),
        ("Prototypes", "looks like to the network"),
        ("Data sets and models", "My graph"),
    ):
        page.get_by_role("link", name=name).first.click()
        expect(page.get_by_role("heading", name=re.compile(sign)).first).to_be_visible()
        settled(page)
        assert "dataset=own-" in page.url
        expect(page.get_by_test_id("stAlert").filter(has_text=NOT_HERE)).to_have_count(0)


def test_the_preview_shows_what_was_read(page):
    open_page(page)
    edges, nodes = example_files("csv")
    send(page, nodes.name, nodes.data, 1)
    expect(page.get_by_text("Now the edges")).to_be_visible()
    send(page, edges.name, edges.data, 0)
    expect(page.get_by_test_id("stTable")).to_contain_text("p01")
    expect(page.get_by_text("The class is read from 'label'")).to_be_visible()
    expect(page.get_by_text("5 have no class")).to_be_visible()
    expect(page.get_by_role("img", name="A picture of the graph")).to_be_visible()
    settled(page)
    page.get_by_text("Read it otherwise").click()
    page.wait_for_timeout(600)  # it opens slowly
    page.get_by_role("combobox", name="Classes").click()
    page.get_by_role("option", name="interest").click()
    expect(page.get_by_text("The class is read from 'interest'")).to_be_visible()


@pytest.mark.parametrize(
    ("format", "files", "sentence"),
    [
        ("csv", (b"source,target\na,b\n", b"id,age\na,1\nb,x\n"), "file1.csv, line 3, column 'age': a feature must be a number (got 'x')"),
        ("graphml", (b"<!DOCTYPE a [<!ENTITY b 'c'>]><graphml>&b;</graphml>",), "file0.graphml, line 1: a GraphML file must have no document type"),
        ("json", (b'{"nodes": [\n{"id": 1},\n{"id": 1}], "links": []}',), "file0.json, line 3, field 'id': each node must have an id of its own"),
        ("smiles", (b"CCO a\nC? b\n",), "file0.csv, line 2, column 'smiles': a molecule must be valid SMILES (got 'C?')"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_beside_its_file(page, format, files, sentence):
    open_page(page)
    choose_format(page, format)
    ending = {"smiles": "csv"}.get(format, format)
    for place, data in enumerate(files):
        send(page, f"file{place}.{ending}", data, place)
    alert = page.get_by_test_id("stAlert").filter(has_text=sentence)
    expect(alert).to_be_visible()
    file, said = page.get_by_test_id("stFileUploader").nth(len(files) - 1).bounding_box(), alert.bounding_box()
    assert abs(said["x"] - file["x"]) < 5
    assert 0 <= said["y"] - (file["y"] + file["height"]) < 60
    expect(page.get_by_role("button", name="Use this graph")).to_have_count(0)


def test_lines_that_are_no_molecule_are_told_before_anything_is_kept(page):
    open_page(page)
    choose_format(page, "smiles")
    send(page, "molecules.csv", b"smiles,label\nCCO,a\nC?,b\nCCN,b\nCCC,a\n")
    told = page.get_by_test_id("stAlert")
    expect(told).to_contain_text("1 of 4 lines is no molecule and is left out:")
    expect(told).to_contain_text("Line 3: a molecule must be valid SMILES (got 'C?')")
    expect(page.get_by_test_id("stMetric").filter(has_text="Graphs")).to_contain_text("3")
    expect(page.get_by_role("button", name="Use this graph")).to_be_visible()


def test_a_file_above_the_limit_is_refused(page):
    open_page(page)
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        {"name": "large.csv", "mimeType": "text/csv", "buffer": bytes(21 * 2**20)}
    )
    expect(page.get_by_text("20MB", exact=False).first).to_be_visible()
    expect(page.get_by_test_id("stFileUploader").first).to_contain_text(
        re.compile("must be|exceed|large", re.IGNORECASE)
    )
    expect(page.get_by_role("button", name="Use this graph")).to_have_count(0)


def begin_long_training(page: Page) -> None:
    """About a minute's."""
    choose_epochs(page, 5000, early=False)
    for size, value in (("Layers", "8"), ("Units of a layer", "256")):
        page.get_by_label(size, exact=True).fill(value)
        page.get_by_label(size, exact=True).press("Enter")
        settled(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"Epoch [\d,]+ of at most 5,000: loss"))


def epoch(page: Page) -> int:
    bar = page.get_by_test_id("stProgress")
    expect(bar).to_contain_text("Epoch")
    return int(re.search(r"Epoch ([\d,]+)", bar.inner_text())[1].replace(",", ""))


def later_than(page: Page, first: int) -> None:
    page.wait_for_function(
        "(first) => Number(document.querySelector('[data-testid=stProgress]')?.innerText.match(/Epoch ([\\d,]+)/)?.[1].replace(',', '')) > first",
        arg=first,
    )


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Explain it").first).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_contain_text("stopped early")
    settled(page)


def test_a_training_draws_its_curves_and_stops_with_what_it_has(page):
    bring(page)
    begin_long_training(page)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)
    later_than(page, epoch(page))
    began = time.monotonic()
    stop(page)
    assert time.monotonic() - began < 5  # two seconds where nobody else works
    expect(page.get_by_test_id("stAlert")).to_contain_text(re.compile(r"trained for [\d,]+ epochs"))
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)  # the curves stay
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("button", name="Explain it")).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="Train", exact=True).click()
    later_than(page, 0)  # the worker is free again
    page.get_by_role("button", name="Stop", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Explain it").first).to_be_visible()
    settled(page)


def test_a_training_goes_on_through_touches_pages_and_reloads(page):
    bring(page)
    begin_long_training(page)
    before = epoch(page)
    choose_format(page, "json")  # any other widget
    later_than(page, before)
    before = epoch(page)
    page.goto("/?dataset=karate")
    explained(page)  # no picture waits for it
    page.get_by_role("link", name="Your own graph").first.click()
    later_than(page, before)
    before = epoch(page)
    page.reload()
    expect(page.get_by_role("heading", name="My graph")).to_be_visible()
    later_than(page, before)
    stop(page)
    page.get_by_role("button", name="Explain it").last.click()
    explained(page)


def test_a_training_ends_with_the_graph_that_is_removed(page):
    bring(page)
    begin_long_training(page)
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.get_by_role("heading", name="My graph")).to_have_count(0)
    settled(page)
    bring(page)
    train(page)


def test_weights_are_brought_with_their_sizes(page):
    bring(page)
    train(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Weights").click()
    data = open(download.value.path(), "rb").read()  # noqa: SIM115
    assert "layers.0.linear.weight" in load(data)
    page.get_by_test_id("stButtonGroup").get_by_text("Bring its weights").click()
    settled(page)
    send(page, "network.safetensors", data)
    layers = page.get_by_label("Layers", exact=True)
    expect(layers).to_have_value("2")  # read from the file
    layers.fill("3")
    layers.press("Enter")
    settled(page)
    page.get_by_role("button", name="Use these weights").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="The tensor 'layers.2.bias' must be")).to_be_visible()
    layers.fill("2")
    layers.press("Enter")
    settled(page)
    page.get_by_role("button", name="Use these weights").click()
    expect(page.get_by_role("button", name="Explain it")).to_have_count(2)
    expect(page.get_by_test_id("stAlert").filter(has_text="of all that have a class right")).to_be_visible()
    send(page, "bad.safetensors", b"not a network")
    expect(page.get_by_test_id("stAlert").filter(has_text="Weights must be a safetensors file")).to_be_visible()


def test_a_reload_finds_it_again_and_a_button_removes_it(page):
    name = bring(page)
    page.reload()
    expect(page.get_by_role("heading", name="My graph")).to_be_visible()
    settled(page)
    assert name in page.url
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("heading", name="My graph")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove it")).to_have_count(0)
    settled(page)
    page.goto(f"/?dataset={name}")
    expect(page.get_by_test_id("stAlert").filter(has_text=NOT_HERE)).to_be_visible()


def test_nobody_else_can_open_its_link(page, browser, server):
    name = bring(page)
    train(page)
    stranger = browser.new_context(base_url=server, viewport={"width": 1280, "height": 800})
    try:
        other = stranger.new_page()
        other.set_default_timeout(60_000)
        for address in ("/", "/debug", "/prototypes", "/data_and_models", "/your_own_graph"):
            other.goto(f"{address}?dataset={name}&model=gcn")
            expect(other.get_by_test_id("stAlert").filter(has_text=NOT_HERE)).to_be_visible()
            expect(other.get_by_text("My graph", exact=True)).to_have_count(0)
    finally:
        stranger.close()
    page.goto(f"/?dataset={name}&model=gcn")
    explained(page)


def test_examples_can_be_downloaded_and_are_what_is_read(page):
    open_page(page)
    for format in TITLES:
        choose_format(page, format)
        for file in example_files(format):
            with page.expect_download() as download:
                page.get_by_role("button", name=file.name).click()
            assert open(download.value.path(), "rb").read() == file.data  # noqa: SIM115


def test_a_phone_needs_no_sideways_scrolling(page):
    page.set_viewport_size({"width": 390, "height": 844})
    bring(page, "smiles")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_from_a_file_are_never_markup(page):
    hostile = "<img src=x onerror=alert(1)>"
    nodes = [{"id": hostile, "label": "**bold**"}, {"id": "b", "label": "[link](javascript:alert(1))"}]
    data = json.dumps({"nodes": nodes, "links": [{"source": hostile, "target": "b"}]}).encode()
    open_page(page)
    choose_format(page, "json")
    send(page, "a*b*.json", data)
    expect(page.get_by_test_id("stTable")).to_contain_text(hostile)
    page.get_by_role("button", name="Use this graph").click()
    expect(page.get_by_role("heading", name="a*b*")).to_be_visible()
    settled(page)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
