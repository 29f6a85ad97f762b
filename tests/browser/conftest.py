"""A dashboard server of its own and a real Chromium that may talk to nothing else."""

from urllib.parse import urlsplit

import pytest
from chromium import FLAGS, find_chromium
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from serving import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a dashboard with an empty cache, no data folder and no network."""
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(log, environment={"GNN_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}) as served:
        yield served.url
    assert "Traceback" not in log.read_text(), log.read_text()


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
    page.on("console", lambda message: errors.append(message.text) if _is_ours(message) else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: (errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("websocket", lambda socket: _note_foreign(socket.url, server, elsewhere))
    yield page
    context.close()
    assert elsewhere == []
    assert errors == []


def _is_ours(message: ConsoleMessage) -> bool:
    """An error that is not Streamlit asking for its own files under a page's address before it asks under the root."""
    return message.type == "error" and "/_stcore/" not in message.location.get("url", "")


def _note_foreign(url: str, server: str, elsewhere: list[str]) -> None:
    if urlsplit(url).netloc != urlsplit(server).netloc:
        elsewhere.append(url)
