"""An ordinary PyTorch Geometric script with two more lines: the page opens on its network, and every part of it works."""

import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import NO_NETWORK, ROOT

from explainer_core import Explanation, Node

expect.set_options(timeout=60_000)
ENDING = 100  # seconds: a server that is busy may take a minute until it lets its visitors go (dashboard/launching.py)
SCRIPT = """
import torch
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from torch_geometric.nn import GCN

torch.manual_seed(0)
y = torch.randint(4, (300,))
cites = torch.triu(torch.rand(300, 300) < torch.where(y[:, None] == y, 0.04, 0.004), 1).nonzero().t()
words = (torch.rand(300, 64) < torch.where(torch.arange(64) % 4 == y[:, None], 0.12, 0.04)).float()
train_mask = torch.rand(300) < 0.5
data = Data(x=words, edge_index=torch.cat([cites, cites.flip(0)], 1), y=y, train_mask=train_mask, test_mask=~train_mask)

model = GCN(in_channels=64, hidden_channels=16, num_layers=2, out_channels=4, dropout=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(40):
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    cross_entropy(out[train_mask], y[train_mask]).backward()
    optimizer.step()
"""
TWO_MORE_LINES = """
from dashboard import launch
launch(model, data)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    yield from begun_in(tmp_path_factory.mktemp("program"))


@pytest.fixture
def another_program(tmp_path):
    yield from begun_in(tmp_path)


def begun_in(folder):
    """The script as a program of its own, and where it says that the page is."""
    path = folder / "train.py"
    path.write_text(SCRIPT + TWO_MORE_LINES)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "http_proxy": NO_NETWORK,
        "https_proxy": NO_NETWORK,
    }
    log = (folder / "log").open("w+")
    running = subprocess.Popen(
        [sys.executable, str(path)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        # as in a terminal: what a shell runs in the background ignores Ctrl-C, and so would all that it starts
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    )
    said = running.stdout.readline()
    found = re.search(r"http://localhost:\d+/\?dataset=\S+", said)
    assert found, said + Path(log.name).read_text()
    yield running, found[0]
    if running.poll() is None:
        running.kill()
        running.wait(20)
    assert "Traceback" not in Path(log.name).read_text(), Path(log.name).read_text()


@pytest.fixture(scope="module")
def server(program) -> str:
    return program[1].partition("/?")[0]


@pytest.fixture(scope="module")
def given() -> dict:
    """What the script itself knows of its network."""
    values: dict = {}
    exec(SCRIPT, values)  # noqa: S102  (the script above)
    return values


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function("() => globalThis.graphViews?.why")
    expect(page.locator(".explanation .starts")).to_contain_text("other starts")
    settled(page)


def test_the_page_opens_on_it_and_a_click_explains_another_node(page, program):
    opened(page, program[1])
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your graph · GCN · node")
    first = page.evaluate("() => graphViews.why.picture.nodes[graphViews.why.picture.targets[0]]")
    near = page.evaluate(
        """() => { const { picture } = graphViews.near; const node = picture.targets[0];
        return picture.nodes[picture.neighbours[node][0]]; }"""
    )
    assert near != first
    page.locator("section.panel canvas").first.scroll_into_view_if_needed()
    where = page.evaluate(f"graphViews.near.panels.neighbourhood.pointOf({near})")
    page.mouse.click(where["x"], where["y"])
    expect(page).to_have_url(re.compile(f"node={near}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"node {near}")
    settled(page)


def test_what_is_exported_is_the_explanation_of_the_network(page, given):
    opened(page, "/?dataset=launched-your-graph&node=12")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON, all numbers").click()
    assert download.value.suggested_filename == "Your-graph-GCN-node-12.json"
    shown = Explanation.from_json(Path(download.value.path()).read_text())
    lines = page.get_by_test_id("stCode").inner_text()
    assert "xc.Graph.from_pyg(data)" in lines
    exec(lines, given)  # noqa: S102  (what the page offers to copy)
    assert given["explanation"].subgraph() == shown.subgraph()
    assert shown.target == Node(12)
    for name in ("SVG picture", "HTML page", "Interactive network", "GraphML", "CSV"):
        with page.expect_download() as download:
            page.get_by_role("button", name=re.compile(name)).click()
        assert Path(download.value.path()).stat().st_size > 500


def test_a_wrong_prediction_is_followed_to_the_change_that_flips_it(page):
    page.goto("/debug?dataset=launched-your-graph")
    page.wait_for_function("() => globalThis.graphViews?.confusion && globalThis.graphViews?.what_if?.data")
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("% right")
    wrong = page.get_by_role("button", name=re.compile(r"true class 0, predicted class [123]: [1-9]")).first
    wrong.click()
    expect(wrong).to_have_attribute("aria-pressed", "true")
    settled(page)
    page.goto("/debug?dataset=launched-your-graph&node=12")
    page.wait_for_function("() => globalThis.graphViews?.what_if?.data")
    settled(page)
    page.get_by_role("button", name="Find it").click()
    expect(page.get_by_text(re.compile("makes it “"))).to_be_visible()
    assert page.evaluate("() => graphViews.why.pictureText === graphViews.why_not.pictureText")  # one drawing for both
    settled(page)


def test_prototypes_and_the_page_of_data_know_it(page):
    page.goto("/prototypes?dataset=launched-your-graph&instances=2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("looks like to the network")
    page.wait_for_function("() => globalThis.graphViews?.prototype")
    settled(page)
    page.goto("/data_and_models?dataset=launched-your-graph")
    expect(page.get_by_role("heading", name="Your graph")).to_be_visible()
    page.get_by_text(re.compile(r"GCN · \d+\.\d % · main model")).click()
    expect(page.get_by_text(re.compile("a network of your own"))).to_be_visible()
    settled(page)


def test_a_link_to_the_data_of_another_server_says_so(page):
    page.goto(f"/?dataset=own-{'0' * 32}")
    expect(page.get_by_test_id("stAlert")).to_contain_text("needs your own data, which is not on this server")
    page.goto("/?dataset=launched-other")
    expect(page.get_by_test_id("stAlert")).to_contain_text("data that its server was started with")


def test_the_last_control_c_stops_it(program):
    running, _ = program
    running.send_signal(signal.SIGINT)
    assert running.wait(ENDING) == 0


def test_control_c_stops_it_from_the_moment_it_is_promised(another_program):
    running, _ = another_program
    running.send_signal(signal.SIGINT)
    assert running.wait(ENDING) == 0
