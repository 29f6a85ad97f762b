"""How long `launch` takes to its first picture: a PyTorch Geometric program of its own, and a real Chromium that waits for it.

From the line that imports `launch` until the explanation and its verdict are in the browser; torch and PyG are there by then,
since the program has trained its network with them.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import figures
from tests.browser.chromium import FLAGS, find_chromium

ROOT = Path(__file__).resolve().parents[1]
PICTURE = (
    "() => { const why = globalThis.graphViews?.why; return why && !why.badge.hidden && why.sentence.textContent }"
)
PROGRAM = """
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN

torch.manual_seed(0)
y = torch.randint(7, (2700,))
edges = torch.randint(2700, (2, 40_000))
edges = edges[:, (y[edges[0]] == y[edges[1]]) | (torch.rand(40_000) < 0.03)]
data = Data(x=(torch.rand(2700, 1400) < 0.01).float(), edge_index=torch.cat([edges, edges.flip(0)], 1), y=y)
model = GCN(1400, 64, 2, 7)
model(data.x, data.edge_index)
print("ready", flush=True)
from dashboard import launch
launch(model, data, open_browser=False)
"""


def measure_launch(report: figures.Report, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        found = [_first_picture(program, browser) for _ in range(times)]
        browser.close()
    served, picture = (statistics.median(column) for column in zip(*found, strict=True))
    report.add("launch of a GCN on 2,700 nodes: the page is served", served, "s")
    report.add("launch of a GCN on 2,700 nodes: first picture", picture, "s", 10, "lower")


def _first_picture(program: Path, browser: Browser) -> tuple[float, float]:
    command = [sys.executable, str(program)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603  (our own program)
    assert running.stdout is not None
    try:
        while running.stdout.readline().strip() != "ready":
            if running.poll() is not None:
                raise RuntimeError("the program must come as far as launch (it ended before)")
        began = time.perf_counter()
        url = running.stdout.readline().split()[2]
        served = time.perf_counter() - began
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(url)
        page.wait_for_function(PICTURE, timeout=120_000)
        picture = time.perf_counter() - began
        page.context.close()
        return served, picture
    finally:
        running.terminate()
        running.wait(20)
