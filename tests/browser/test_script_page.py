"""`graph-explainer run --script`: a server with workers, on the network that a script defines."""

import re

import pytest
from playwright.sync_api import expect
from serving import serving

expect.set_options(timeout=90_000)
SCRIPT = """
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GAT

edges = torch.randint(40, (2, 90))  # other edges and weights in every process: the server's count
data = Data(x=torch.randn(40, 6), edge_index=torch.cat([edges, edges.flip(0)], 1))
model = {"narrow": GAT(6, 8, 2, 3), "wide": GAT(6, 32, 2, 3)}
class_names = ["red", "green", "blue"]
name = "Random colours"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("script")
    (folder / "my_model.py").write_text(SCRIPT)
    with serving(folder / "log", options=["--script", str(folder / "my_model.py"), "--workers", "1"]) as served:
        yield served.url
    assert "Traceback" not in (folder / "log").read_text(), (folder / "log").read_text()


def test_the_page_opens_on_the_script_and_its_workers_explain(page):
    page.goto("/")
    page.wait_for_function("() => globalThis.graphViews?.why")
    expect(page.locator(".explanation .starts")).to_contain_text("other starts")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Random colours · narrow · node")
    expect(page.get_by_role("application", name=re.compile("GAT attention"))).to_be_visible()
    page.goto("/debug?dataset=launched-random-colours&model=wide&node=5")
    page.wait_for_function("() => globalThis.graphViews?.what_if?.data")
    expect(page.get_by_text("No true class is known of them")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("Node 5"))).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
