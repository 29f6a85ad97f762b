"""A dashboard server of its own and a real Chromium that may talk to nothing else."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import FLAGS, find_chromium
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = "http://127.0.0.1:9"  # a proxy at the discard port: every download is refused at once


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a dashboard with an empty cache, no data folder and no network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "GNN_DATA_DIR"} | {
        "GNN_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "http_proxy": NO_NETWORK,
        "https_proxy": NO_NETWORK,
    }
    command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py", "--server.port", str(port)]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_healthy(process, port, log)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()


def wait_until_healthy(process: subprocess.Popen, port: int, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(240):
        assert process.poll() is None, log.read_text()
        try:
            with opener.open(f"http://localhost:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the dashboard did not start in a minute: {log.read_text()}")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(params=["light"])
def colours(request) -> str:
    """The colour scheme the browser asks for; a test may ask for another by parametrising it."""
    return request.param


@pytest.fixture
def page(browser: Browser, server: str, colours: str):
    """A fresh page. Fails the test if anything but the server was asked for, or the console saw an error."""
    context = browser.new_context(base_url=server, viewport={"width": 1280, "height": 800}, color_scheme=colours)
    elsewhere, errors = [], []

    def only_home(route):
        if urlsplit(route.request.url).netloc == urlsplit(server).netloc:
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    context.route("**/*", only_home)
    page: Page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: (errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("websocket", lambda socket: _note_foreign(socket.url, server, elsewhere))
    yield page
    context.close()
    assert elsewhere == []
    assert errors == []


def _note_foreign(url: str, server: str, elsewhere: list[str]) -> None:
    if urlsplit(url).netloc != urlsplit(server).netloc:
        elsewhere.append(url)
