"""A class on one server: all get their picture, nobody's run outlives them, and who asks for too much is told so."""

import re
import time
from urllib.parse import urlencode

import psutil
import pytest
from chromium import FLAGS, find_chromium
from playwright.sync_api import Page, expect
from serving import serving

from dashboard.jobs.pool import SPARE
from dashboard.limits import Limits

VERDICT = re.compile(r"alone give")
LONG = {"dataset": "ba_community", "node": 700, "steps": 1200}
TOO_MUCH = {"dataset": "ba_community", "node": 700, "steps": 2000, "seeds": 50}
TARGETS = range(300, 310)  # of BA-Shapes, each another one


@pytest.fixture
def class_server(tmp_path_factory):
    """A server of its own for every test: some kill its workers."""
    log = tmp_path_factory.mktemp("class") / "log"
    with serving(log, environment={"GNN_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}) as served:
        yield served
    assert "Traceback" not in log.read_text(), log.read_text()


def workers(pid: int) -> list[psutil.Process]:
    """The processes that explain: children of the server, on Linux and elsewhere."""
    found = psutil.Process(pid).children(recursive=True)
    return [process for process in found if "dashboard.jobs.worker" in " ".join(process.cmdline())]


def ready_workers(pid: int) -> list[psutil.Process]:
    """All of them, once they have nothing to do: they start one after another, the spare one last."""
    until = time.monotonic() + 60
    while len(found := workers(pid)) < Limits.from_environment().workers + SPARE or cpu_share(found) > 0.02:
        assert time.monotonic() < until, "the workers have not become ready"
    return found


def cpu_share(processes: list[psutil.Process], seconds: float = 0.3) -> float:
    """How many cores some processes keep busy."""
    before = [sum(process.cpu_times()[:2]) for process in processes]
    time.sleep(seconds)
    after = [sum(process.cpu_times()[:2]) for process in processes]
    return (sum(after) - sum(before)) / seconds


def idle_within(processes: list[psutil.Process], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if cpu_share(processes) < 0.02:
            return True
    return False


def address(url: str, params: dict) -> str:
    return f"{url}/?{urlencode(params)}"


def wait_for_run(page: Page) -> None:
    expect(page.get_by_text(re.compile("Learning the mask"))).to_be_visible(timeout=60_000)


def test_ten_visitors_at_once_all_get_their_picture(browser, class_server):
    contexts = [browser.new_context(viewport={"width": 1280, "height": 800}) for _ in TARGETS]
    pages = [context.new_page() for context in contexts]
    for page, node in zip(pages, TARGETS, strict=True):
        page.goto(address(class_server.url, {"dataset": "ba_shapes", "node": node}), wait_until="commit")
    for page, node in zip(pages, TARGETS, strict=True):
        expect(page.get_by_text(f"node {node}", exact=False).first).to_be_visible(timeout=60_000)
        expect(page.get_by_text(VERDICT).first).to_be_visible(timeout=60_000)
        assert page.locator('[data-testid="stAlertContentError"]').count() == 0
    for context in contexts:
        context.close()


def test_explaining_keeps_the_server_itself_free(browser, class_server):
    page = browser.new_page()
    page.goto(address(class_server.url, LONG))
    wait_for_run(page)
    found = workers(class_server.pid)
    server = psutil.Process(class_server.pid)
    before = sum(server.cpu_times()[:2])
    working = cpu_share(found, 2.0)
    assert working > 3 * (sum(server.cpu_times()[:2]) - before) / 2.0
    page.close()


@pytest.mark.parametrize("way", ["touch", "close"])
def test_a_run_ends_within_a_second_when_its_visitor_goes_on_or_leaves(way, browser, class_server):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    found = ready_workers(class_server.pid)
    page.goto(address(class_server.url, LONG | {"node": 701}))
    wait_for_run(page)
    if way == "touch":
        page.get_by_role("button", name="Stop this run").click()
    else:
        context.close()
    assert idle_within(found, 1.5)  # a look takes 0.3 s itself
    assert [process.pid for process in workers(class_server.pid)] == [process.pid for process in found]
    if way == "touch":
        expect(page.get_by_text("The run was stopped")).to_be_visible()
        context.close()


def test_a_run_ends_within_a_second_when_the_browser_is_killed(browser, class_server):
    mark = "--user-agent=about-to-be-killed"
    doomed = browser.browser_type.launch(executable_path=find_chromium(), args=[*FLAGS, mark])
    page = doomed.new_page()
    found = ready_workers(class_server.pid)
    page.goto(address(class_server.url, LONG | {"node": 702}))
    wait_for_run(page)
    killed = [process for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or [])]
    for process in killed:
        process.kill()
    assert killed
    assert idle_within(found, 1.5)


def test_what_cannot_fit_is_refused_before_it_starts_with_what_would_fit(browser, class_server):
    page = browser.new_page()
    page.goto(address(class_server.url, TOO_MUCH))
    refused = page.get_by_text(re.compile(r"A run may take 30 seconds and 1,024 MB .*would fit"))
    expect(refused).to_be_visible(timeout=60_000)
    fits = re.search(r"steps ([\d,]+) and seeds 1 would fit", refused.inner_text())
    assert fits
    page.close()
