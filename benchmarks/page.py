"""How the Explain page feels: waiting times, traffic and memory, measured in a real Chromium on BA-Shapes.

Waiting is from the press of the mouse or key until the finished picture, with its verdict, is in the browser. Every figure
is a median but the layout shift, which is the largest. It ends within five minutes.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, TimeoutError, WebSocket, sync_playwright

from benchmarks import figures
from tests.browser.chromium import FLAGS, find_chromium
from tests.browser.serving import Served, serving

TARGET = "() => { const why = globalThis.graphViews?.why; return why && why.picture.nodes[why.picture.targets[0]] }"
HAS_TARGET = """node => { const why = globalThis.graphViews?.why;
  return why && why.picture.nodes[why.picture.targets[0]] === node && !why.badge.hidden && why.sentence.textContent }"""
TOP = "() => graphViews.why.panel.stage.canvas.getBoundingClientRect().top + document.querySelector('[data-testid=stMain]').scrollTop"
PART = "() => [JSON.stringify([...graphViews.why.panel.look.kept]), graphViews.why.draws]"
OTHER_PART = """([kept, draws]) => { const { panel, draws: now } = graphViews.why;
  return JSON.stringify([...panel.look.kept]) !== kept && now > draws }"""
HANDLE = """size => { const { track } = graphViews.why, box = track.slider.getBoundingClientRect();
  return [track.size, box.left + track.x(size ?? track.size), box.top + box.height / 2] }"""
WEIGHTS = "() => graphViews.why.data.panels[0].weights"
OTHER_WEIGHTS = "weights => graphViews.why.data.panels[0].weights !== weights"
IDLE = "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
SHOWN_NODES = "() => graphViews.near.picture.nodes"
WHERE = "node => graphViews.near.panels.neighbourhood.pointOf(node)"
MANY_SIZES = "/?dataset=ba_shapes&node=414"  # more of them than the slider is moved by
FULL = 40  # more clicks, after which the caches of answers, 64 at most, are full (dashboard/services/explanations.py)
BUSY = "/?dataset=ba_community&steps=1200&node={node}"  # runs for many seconds, and may: what takes over 30 is refused


def measure(report: figures.Report, quick: bool) -> None:
    clicks = 5 if quick else 15
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        began = time.perf_counter()
        with serving(Path(folder) / "log") as served:
            visitor = Visitor(browser, served)
            visitor.open("/")
            report.add("first picture after the server starts", time.perf_counter() - began, "s", 8, "lower")
            _clicks(report, visitor, clicks)
            _slider(report, visitor, clicks)
            _regularisation(report, visitor, clicks)
            _company(report, browser, served, visitor, 3 if quick else 7)
            _memory(report, served, visitor, *((5, 10) if quick else (FULL, 60)))
            report.add("requests to other hosts", len(visitor.elsewhere), "", 0, "lower")
            report.add(
                "times the network view was mounted", visitor.page.evaluate("graphViews.why.mounts"), "", 1, "lower"
            )
        browser.close()


class Visitor:
    """A person with a browser of their own, and a count of what was sent to it."""

    def __init__(self, browser: Browser, served: Served):
        self.page: Page = browser.new_context(base_url=served.url, viewport={"width": 1280, "height": 800}).new_page()
        self.received, self.sent, self.elsewhere = 0, 0, []
        self.random = random.Random(0)
        home = urlsplit(served.url).netloc
        self.page.on("websocket", self._listen)
        self.page.on(
            "request", lambda r: self.elsewhere.append(r.url) if urlsplit(r.url).netloc not in (home, "") else None
        )

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._received)
        socket.on("framesent", self._sent)

    def _received(self, frame: bytes | str) -> None:
        self.received += len(frame)

    def _sent(self, frame: bytes | str) -> None:
        self.sent += len(frame)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function(TARGET, polling="raf", timeout=120_000)

    def rest(self) -> None:
        """Until the script is done, the other seeds included."""
        self.page.wait_for_function(IDLE, timeout=120_000)
        self.page.wait_for_timeout(300)
        self.page.wait_for_function(IDLE, timeout=120_000)

    def click_another_node(self) -> float:
        """Clicks a node that is not the target, with the mouse; returns how long its explanation took to arrive."""
        self.rest()
        self.page.locator("section.panel canvas").first.scroll_into_view_if_needed()
        now = self.page.evaluate(TARGET)
        for node in self.random.sample(nodes := self.page.evaluate(SHOWN_NODES), len(nodes)):
            if node != now and self.page.evaluate(WHERE, node)["onTop"]:
                break
        return waited(lambda: self._click(node), lambda: self._wait_for(node))

    def _click(self, node: int) -> None:
        where = self.page.evaluate(WHERE, node)
        self.page.mouse.click(where["x"], where["y"])

    def _wait_for(self, node: int) -> None:
        """A click that missed, because the page moved under it, is made again; all of it counts as waiting."""
        for patience in (10_000, 10_000, 60_000):
            try:
                self.page.wait_for_function(HAS_TARGET, arg=node, polling="raf", timeout=patience)
                return
            except TimeoutError:
                self._click(node)
        raise RuntimeError(f"a click on node {node} must be answered (got nothing from three clicks)")

    def move_slider(self, key: str) -> tuple[float, int]:
        """Moves K_M by one: how long the other subgraph took to be drawn, which the browser does by itself, and the bytes
        that went either way until then. The size is sent once it is let go, which tests/browser/test_track.py watches."""
        self.rest()
        self.page.get_by_role("slider", name="K_M").focus()
        return self._redrawn(lambda: self.page.keyboard.press(key))

    def drag_slider(self, moves: int) -> list[tuple[float, int]]:
        """The same with the mouse, which takes the handle from size to size and is not let go between them."""
        self.rest()
        self.page.get_by_role("slider", name="K_M").scroll_into_view_if_needed()
        size, x, y = self.page.evaluate(HANDLE)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        found = []
        for each in range(size + 1, size + 1 + moves):
            _, x, y = self.page.evaluate(HANDLE, each)
            found.append(self._redrawn(lambda x=x, y=y: self.page.mouse.move(x, y)))
        self.page.mouse.up()
        return found

    def _redrawn(self, act: Callable[[], None]) -> tuple[float, int]:
        part, before = self.page.evaluate(PART), self.received + self.sent
        took = waited(act, lambda: self.page.wait_for_function(OTHER_PART, arg=part, polling="raf", timeout=60_000))
        return took, self.received + self.sent - before

    def move_regularisation(self, key: str) -> float:
        """Moves a weight of the loss and returns how long the mask that is learnt with it took to arrive."""
        self.rest()
        self.page.get_by_role("slider", name="Fewer edges").focus()
        weights = self.page.evaluate(WEIGHTS)
        return waited(
            lambda: self.page.keyboard.press(key),
            lambda: self.page.wait_for_function(OTHER_WEIGHTS, arg=weights, polling="raf", timeout=60_000),
        )


def waited(act: Callable[[], None], until: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    until()
    return time.perf_counter() - began


def _clicks(report: figures.Report, visitor: Visitor, clicks: int) -> None:
    times, sizes, shifts = [], [], []
    visitor.click_another_node()  # the first one folds the newcomer's sentence away
    for _ in range(clicks):
        visitor.rest()
        before, top = visitor.received, visitor.page.evaluate(TOP)
        times.append(visitor.click_another_node())
        sizes.append(visitor.received - before)
        shifts.append(abs(visitor.page.evaluate(TOP) - top))
    report.add("click to finished explanation", statistics.median(times), "s", 0.4, "lower")
    report.add("sent for a new target, all its sizes along", statistics.median(sizes) / 1024, "KB", 100, "lower")
    report.add("layout shift when the answer arrives, largest", max(shifts), "px", 5, "lower")


def _slider(report: figures.Report, visitor: Visitor, moves: int) -> None:
    visitor.open(MANY_SIZES)
    by_key = [visitor.move_slider("ArrowRight") for _ in range(moves)]
    visitor.open(MANY_SIZES)
    by_mouse = visitor.drag_slider(moves)
    for how, found in (("by keyboard", by_key), ("by mouse", by_mouse)):
        times, traffic = zip(*found, strict=True)
        report.add(f"K_M {how} to redrawn subgraph", statistics.median(times), "s", 0.1, "lower")
        report.add(f"sent either way while K_M moves {how}", statistics.median(traffic) / 1024, "KB", 0, "lower")


def _regularisation(report: figures.Report, visitor: Visitor, moves: int) -> None:
    """What a touch of a regularisation slider costs: the mask alone is learnt and shown, nothing is searched."""
    visitor.page.get_by_role("button", name="Settings").click()
    visitor.page.get_by_text("Regularisation", exact=True).click()
    times = [visitor.move_regularisation("ArrowRight") for _ in range(moves)]
    report.add("regularisation slider to redrawn mask", statistics.median(times), "s", 0.5, "lower")
    visitor.rest()
    visitor.page.get_by_role("button", name="Reset all settings").click()
    visitor.rest()
    visitor.page.keyboard.press("Escape")  # the drawer lies over the picture
    visitor.page.get_by_text("Regularisation", exact=True).wait_for(state="hidden")


def _company(report: figures.Report, browser: Browser, served: Served, visitor: Visitor, clicks: int) -> None:
    """How much slower a click is while another visitor's long run goes on."""
    alone = statistics.median(visitor.click_another_node() for _ in range(clicks))
    visitor.rest()
    times = []
    other = Visitor(browser, served)
    for node in range(clicks):
        other.page.goto(BUSY.format(node=500 + node))  # a new run each time, so that one is always going on
        other.page.get_by_role("button", name="Stop this run").wait_for(timeout=60_000)
        times.append(visitor.click_another_node())
    other.page.context.close()
    report.add("a click while another visitor's run goes on", statistics.median(times) / alone, "times", 2, "lower")


def _memory(report: figures.Report, served: Served, visitor: Visitor, fill: int, clicks: int) -> None:
    """Answers are kept until their caches are full; what counts is whether memory goes on growing after that."""
    before = resident(served.pid)
    for _ in range(fill):
        visitor.click_another_node()
    visitor.rest()
    full = resident(served.pid)
    for _ in range(clicks):
        visitor.click_another_node()
    visitor.rest()
    report.add(f"memory that the caches fill with, {fill} clicks", (full - before) / 1024, "MB")
    grown = resident(served.pid) / full
    report.add(f"memory after {clicks} more clicks, caches full", 100 * (grown - 1), "%", 10, "lower")


def resident(pid: int) -> int:
    """Kilobytes of memory a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    figures.run(measure, __doc__)
