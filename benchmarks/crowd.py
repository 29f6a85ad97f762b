"""A class at work: visitors who click fresh targets of all data sets and think in between, and one real browser among them."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
from playwright.async_api import Browser
from playwright.async_api import Error as BrowserError
from playwright.async_api import Page as BrowserPage
from websockets.exceptions import WebSocketException

import explainer_core as xc
from benchmarks.visitor import PATIENCE, NoPicture, Target, Visitor
from explainer_core.datasets.download import is_available

# Nodes or graphs of each data set. Reading all of them to count would take a quarter of a minute.
SIZES = {
    "ba_shapes": 700,
    "ba_community": 1400,
    "tree_cycles": 991,
    "tree_grid": 1231,
    "ba_2motifs": 1000,
    "karate": 34,
    "les_miserables": 77,
    "mutagenicity": 4337,
    "mutag": 188,
    "reddit_binary": 2000,
    "cora": 2708,
    "molecules": 94,
}
THINKING = 5.0  # seconds between a picture and the next click
GO = "query => { history.pushState({}, '', '?' + query); dispatchEvent(new PopStateEvent('popstate')); }"
# the picture that is drawn and its words are of the same target, and nothing is waited for
SHOWN = """nodes => {
  const why = globalThis.graphViews?.why;
  return why?.data.explained && !why.root.classList.contains("waiting") && nodes.every((node) => why.picture.targets.some((i) => why.picture.nodes[i] === node));
}"""
ERRORS = "[data-testid=stException], [data-testid=stAlertContentError]"


class Targets:
    """Targets of all data sets in turn, each in an order of chance, none twice: a data set that is used up begins anew
    with another seed of the run, which no cache knows."""

    def __init__(self, sizes: dict[str, tuple[str, int]], seed: int = 0):
        self.sizes = sizes
        self.random = random.Random(seed)
        self._next = {name: self._of(name, *size) for name, size in sizes.items()}
        self._order = iter(())

    @classmethod
    def here(cls, only: Sequence[str] = (), seed: int = 0) -> "Targets":
        """Of the data sets that are on this machine, or of some of them."""
        here = [info for info in xc.DATASETS.values() if info.archive is None or is_available(info.archive)]
        here = [info for info in here if not only or info.name in only]
        return cls({info.name: (info.task, SIZES[info.name]) for info in here}, seed)

    def draw(self) -> Target:
        """Of the next data set; each comes once in a round, in an order of chance."""
        try:
            name = next(self._order)
        except StopIteration:
            self._order = iter(self.random.sample(names := list(self.sizes), len(names)))
            name = next(self._order)
        return self.of(name)

    def of(self, name: str) -> Target:
        return next(self._next[name])

    def _of(self, name: str, task: str, count: int) -> Iterator[Target]:
        """All targets of a data set in an order of chance, then all of them again with another seed."""
        pairs = [(i, j) for i in range(count) for j in range(count) if i != j] if task == "link" else []
        for seed in range(2**31):
            more = f"&seed={seed}" if seed else ""
            for a, b in self.random.sample(pairs, len(pairs)):
                yield Target(name, f"dataset={name}&source={a}&head={b}{more}", (a, b))
            for number in self.random.sample(range(count), 0 if pairs else count):
                query = f"dataset={name}&{task}={number}{more}"
                yield Target(name, query, (number,)) if task == "node" else Target(name, query, graph=number)


@dataclass
class Clicks:
    """What came of the clicks: seconds to each picture, and what went wrong."""

    arrivals: list[float] = field(default_factory=list)  # of the first pictures
    waits: list[float] = field(default_factory=list)
    in_browser: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.arrivals) + len(self.waits) + len(self.in_browser) + len(self.problems)


def percentile(waits: list[float], percent: float) -> float:
    """The wait that so many percent do not exceed; NaN where there was none."""
    return float(np.percentile(waits, percent)) if waits else float("nan")


@dataclass
class Crowd:
    """So many visitors of a server; with `page` one of them is a real browser."""

    url: str
    targets: Targets
    visitors: int
    thinking: float = THINKING
    page: BrowserPage | None = None
    clicks: Clicks = field(default_factory=Clicks)

    async def work(self, seconds: float, most_clicks: int | None = None) -> Clicks:
        """Until the time is over, or so many clicks were made, and everyone has clicked twice; all come within one thinking time."""
        self._end = time.monotonic() + seconds
        self._most = most_clicks
        sockets = self.visitors - (self.page is not None)
        pace = self.thinking / max(self.visitors, 1)
        everyone = [self._visit(pace * number) for number in range(sockets)]
        if self.page is not None:
            everyone.append(self._visit_in_browser(self.page))
        await asyncio.gather(*everyone)
        return self.clicks

    @property
    def _is_over(self) -> bool:
        return time.monotonic() > self._end or (self._most is not None and self.clicks.count >= self._most)

    async def _visit(self, arrives_after: float) -> None:
        await asyncio.sleep(arrives_after)
        clicked = 0
        while not self._is_over or clicked < 2:
            try:
                async with Visitor(self.url) as visitor:
                    while not self._is_over or clicked < 2:
                        clicked += 1
                        waited = await visitor.click(self.targets.draw())
                        (self.clicks.arrivals if clicked == 1 else self.clicks.waits).append(waited)
                        await asyncio.sleep(self.thinking)
                        self.clicks.problems += [f"beside the picture: {each.text}" for each in visitor.page.failures]
            except (NoPicture, OSError, WebSocketException) as problem:  # the visitor loads the page anew
                self.clicks.problems.append(str(problem))
                await asyncio.sleep(self.thinking)

    async def _visit_in_browser(self, page: BrowserPage) -> None:
        """Data sets of nodes only: there the picture says which target it is of."""
        nodes = [name for name, (task, _) in self.targets.sizes.items() if task == "node"]
        while not self._is_over:
            try:
                await asyncio.sleep(self.thinking)
                waited = await click_in_browser(page, self.targets.of(self.targets.random.choice(nodes)))
                self.clicks.in_browser.append(waited)
            except BrowserError as problem:
                self.clicks.problems.append(f"in the browser: {problem}")


async def click_in_browser(page: BrowserPage, target: Target) -> float:
    """Seconds until a real browser has drawn the picture of the target and shows its verdict."""
    began = time.perf_counter()
    await page.evaluate(GO, target.query)
    await page.wait_for_function(SHOWN, arg=list(target.nodes), polling="raf", timeout=1000 * PATIENCE)
    waited = time.perf_counter() - began
    if errors := await page.locator(ERRORS).all_inner_texts():
        raise BrowserError(f"errors on the page: {errors}")
    return waited


@asynccontextmanager
async def opened(browser: Browser, url: str, query: str = ""):
    """A page in a context of its own, open at its first picture."""
    context = await browser.new_context(base_url=url, viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    await page.goto(f"/?{query}")
    await page.wait_for_function(SHOWN, arg=[], polling="raf", timeout=1000 * PATIENCE)
    try:
        yield page
    finally:
        await context.close()
