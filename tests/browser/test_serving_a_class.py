"""A server for a class, started by the command: what it prints, whom it refuses, how many it lets in, and what its pages may do."""

import http.client
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from chromium import FLAGS, find_chromium
from playwright.sync_api import Browser, Page, expect
from serving import Served, serving

from dashboard.address import Address

VISITORS = 2
WATCH = """globalThis.blocked = [];
addEventListener("securitypolicyviolation", (event) => blocked.push(`${event.effectiveDirective} ${event.blockedURI}`));"""
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    log = tmp_path_factory.mktemp("class") / "log"
    options = ["--host", "0.0.0.0", "--visitors", str(VISITORS)]  # noqa: S104
    environment = {"GNN_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    with serving(log, options=options, environment=environment) as served:
        yield served
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture
def visit(browser: Browser, served: Served):
    """Opens the page as one more visitor, each with cookies of their own; returns the page and the status of its answer."""
    contexts = []

    def opened(address: str = "/", base: str = served.url) -> tuple[Page, int]:
        contexts.append(browser.new_context(base_url=base))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.add_init_script(WATCH)
        answer = page.goto(address)
        assert answer is not None
        return page, answer.status

    until(lambda: seats_are_free(served), "all seats to be free")
    yield opened
    for context in contexts:
        context.close()


def until(holds: Callable[[], bool], what: str, patience: float = 40) -> None:
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, f"waited {patience} s for {what}"
        time.sleep(0.3)


def ask(served: Served, path: str = "/", method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(served.url).port, timeout=60)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse()


def seats_are_free(served: Served) -> bool:
    """As a websocket without a cookie finds it, which takes no seat for longer than the question."""
    sockets = []
    for _ in range(VISITORS):
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(served.url).port, timeout=60)
        connection.request("GET", "/_stcore/stream", headers=HANDSHAKE)
        sockets.append((connection, connection.getresponse().status))
    for connection, _ in sockets:
        connection.close()
    time.sleep(3.5)  # their seats are kept a little while, as for a reload
    return all(status == 101 for _, status in sockets)


def is_in(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=60_000)


def waits(page: Page) -> None:
    expect(page.get_by_role("heading", name="All seats are taken")).to_be_visible()
    expect(page.get_by_text(f"{VISITORS} open pages at a time")).to_be_visible()


def test_the_terminal_says_what_people_type(served):
    port = urlsplit(served.url).port
    printed = served.log.read_text()
    assert f"http://localhost:{port}" in printed
    for address in Address("0.0.0.0", port).for_others():  # noqa: S104
        assert address in printed
    assert f"At most {VISITORS} at a time" in printed
    assert len(re.findall(r"^  [█▀▄ ]{21,}$", printed, re.MULTILINE)) >= 13  # half as many lines as the code has rows
    assert "External URL" not in printed


def test_headers_and_closed_doors(served):
    page = ask(served)
    assert page.status == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["referrer-policy"] == "same-origin"
    assert ask(served, "/_stcore/health").status == 200
    for path in (
        "/_stcore/metrics",
        "//_stcore/metrics",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/mcp",
        "/auth/login",
    ):
        assert ask(served, path).status == 404, path
    assert ask(served, "/_stcore/upload_file/a/b", "PUT").status == 403  # Streamlit's own token against other pages


def test_strangers_are_refused(served):
    for path, headers in {"/": {}, "/_stcore/stream": HANDSHAKE}.items():
        answer = ask(served, path, Host="evil.example", **headers)
        assert answer.status == 403
        assert b"the Host must be a name of this server (got 'evil.example')" in answer.read()
        answer = ask(served, path, Origin="http://evil.example", **headers)
        assert answer.status == 403
        assert b"the Origin must be this server's own (got 'http://evil.example')" in answer.read()


def test_no_page_is_hindered_by_the_policy_and_it_bites(visit):
    page, _ = visit("/?dataset=karate&node=19&steps=20")
    complaints = []
    page.on(
        "console",
        lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None,
    )
    expect(page.locator(".explanation .starts")).to_contain_text("other starts", timeout=90_000)
    page.get_by_role("button", name="Export").click()
    for name in ("SVG picture", "HTML page, opens offline", "Interactive network"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.failure() is None
    page.keyboard.press("Escape")
    for name in ("Prototypes", "Data sets and models"):
        page.get_by_role("link", name=name).first.click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=90_000)
    assert page.evaluate("blocked") == []
    assert complaints == []
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'globalThis.ran = 1'}))"
    )
    page.evaluate("new Image().src = 'http://evil.example/x.png'")
    page.wait_for_function("blocked.length === 2")
    assert page.evaluate("globalThis.ran") is None
    assert page.evaluate("blocked") == ["script-src-elem inline", "img-src http://evil.example/x.png"]


def test_a_link_copied_at_the_teachers_machine_leads_here(visit, served):
    port = urlsplit(served.url).port
    typed = Address("0.0.0.0", port).for_others()[0]  # noqa: S104
    page, _ = visit("/?dataset=karate&node=19&steps=20")
    page.get_by_role("button", name="Share").click(timeout=90_000)
    expect(page.get_by_test_id("stCode").first).to_contain_text(f"{typed}/?dataset=karate")
    other, status = visit("/", base=typed)
    assert status == 200
    is_in(other)  # the number of the machine is answered, and so is the websocket from there


def test_the_next_visitor_waits_and_gets_in_when_one_leaves(visit):
    inside = [visit()[0] for _ in range(VISITORS)]
    for page in inside:
        is_in(page)
    next_one, status = visit()
    assert status == 503
    waits(next_one)
    assert next_one.evaluate("blocked") == []
    again = inside[0].reload()
    assert again is not None
    assert again.status == 200
    is_in(inside[0])  # a reload keeps its seat
    waits(next_one)
    inside[1].close()
    is_in(next_one)  # by itself


def test_a_browser_that_is_killed_makes_room(visit, served, tmp_path):
    command = [
        find_chromium(),
        *FLAGS,
        "--headless",
        f"--user-data-dir={tmp_path}",
        "--remote-debugging-port=0",
        served.url,
    ]
    browsers = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        page, _ = visit()
        is_in(page)
        until(lambda: ask(served, Accept="text/html").status == 503, "the other browser to connect")
        time.sleep(21)  # it has its seat because it is connected, and not because it was given the page
        next_one, status = visit()
        assert status == 503
    finally:
        os.killpg(browsers.pid, signal.SIGKILL)
        browsers.wait()
    is_in(next_one)
