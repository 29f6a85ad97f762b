"""How a class is served: CPU of a click, waiting, memory, and what one visitor or one dead worker does to the others.

Visitors are websockets that speak Streamlit's protocol and click fresh targets of all data sets on this machine; one of them is a
real Chromium. All figures are from outside the server: its messages, and its processes as the system counts them. Every data set
is visited before anything is measured. On a machine that does other work the figures are worse. "nan" could not be measured.
The full version takes half an hour where goals hold, and more than an hour where they do not.
"""

import asyncio
import os
import statistics
import time

from playwright.async_api import Browser, async_playwright

from benchmarks import figures
from benchmarks.bad_visits import add_errors, measure_gone, measure_killed, measure_worst
from benchmarks.crowd import Crowd, Targets, opened, percentile
from benchmarks.load_plan import FULL, QUICK, Plan
from benchmarks.load_server import REST, Server, started, warm
from benchmarks.process_tree import Peak
from benchmarks.visitor import Visitor
from tests.browser.chromium import FLAGS, find_chromium

GB = 2**30


GOALS = {25: 1.5, 50: 3.0}  # seconds to the picture, 95 %
LOOK = 3.0  # seconds between two looks at the memory of all processes: each takes a tenth of a second that a crowd waits for


def measure(report: figures.Report, quick: bool) -> None:
    asyncio.run(measure_plan(report, QUICK if quick else FULL))


async def measure_plan(report: figures.Report, plan: Plan) -> None:
    targets = Targets.here(plan.datasets)
    report.add("load of the machine by others, before", os.getloadavg()[0], f"on {os.cpu_count()} cores")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        began = time.perf_counter()
        async with started() as server:
            async with opened(browser, server.url):
                report.add("first picture after the server starts", time.perf_counter() - began, "s", 5, "lower")
            await warm(server, targets)
            await _alone(report, browser, server, targets, plan)
            for visitors in plan.crowds:
                peak = await _crowd(report, browser, server, targets, visitors, plan)
            await _many_clicks(report, server, targets, plan, peak)
            await measure_killed(report, server, targets, plan)
            await measure_gone(report, server, plan)
        await browser.close()
    await measure_worst(report, targets, plan)


async def _alone(report: figures.Report, browser: Browser, server: Server, targets: Targets, plan: Plan) -> None:
    """What one click costs, and how long a visitor waits who is alone: nothing can be faster."""
    tree = server.tree
    spent, idle = tree.cpu(), 2.0
    await asyncio.sleep(idle)
    report.add("CPU of the server without visitors, of one core", 100 * (tree.cpu() - spent) / idle, "%")
    waits, pictures, agreements = [], [], []
    async with Visitor(server.url) as visitor:
        await visitor.click(targets.draw())
        for _ in range(plan.alone):
            await tree.until_idle(REST)
            before = tree.cpu()
            waits.append(await visitor.click(targets.draw()))
            pictures.append(tree.cpu() - before)
            # a fragment that is drawn once more for its dotted edges is part of the click
            if await visitor.until(lambda: visitor.page.has_agreement) and await tree.until_idle(REST) is not None:
                agreements.append(tree.cpu() - before)
    report.add("CPU of one click: picture with its verdict, mean", statistics.mean(pictures), "s", 0.25, "lower")
    report.add("– with the agreement over starts, mean", _mean(agreements), "s", 0.6, "lower")
    report.add("– clicks without a word on other starts", plan.alone - len(agreements), "", 0, "lower")
    report.add("one visitor: time to the picture, 50 %", percentile(waits, 50), "s")
    report.add("one visitor: time to the picture, 95 %", percentile(waits, 95), "s")
    async with opened(browser, server.url) as page:
        clicks = await Crowd(server.url, targets, 1, plan.thinking, page).work(plan.crowd / 2)
    report.add("one visitor in a real browser: 50 %", percentile(clicks.in_browser, 50), "s")
    report.add("one visitor in a real browser: 95 %", percentile(clicks.in_browser, 95), "s")


def _mean(values: list[float]) -> float:
    return statistics.mean(values) if values else float("nan")


async def _crowd(
    report: figures.Report, browser: Browser, server: Server, targets: Targets, visitors: int, plan: Plan
) -> Peak:
    async with opened(browser, server.url) as page, Peak(server.tree, LOOK) as peak:
        before, spent, began = os.times(), server.tree.cpu(), time.monotonic()
        clicks = await Crowd(server.url, targets, visitors, plan.thinking, page).work(plan.crowd)
        after, spent, took = os.times(), server.tree.cpu() - spent, time.monotonic() - began
    goal, who = GOALS.get(visitors), f"{visitors} visitors"
    report.add(f"{who}: time to the picture, 50 %", percentile(clicks.waits, 50), "s")
    report.add(f"{who}: time to the picture, 95 %", percentile(clicks.waits, 95), "s", goal, "lower")
    report.add(f"{who}: in the real browser among them, 50 %", percentile(clicks.in_browser, 50), "s")
    report.add(f"{who}: in the real browser among them, 95 %", percentile(clicks.in_browser, 95), "s", goal, "lower")
    report.add(f"{who}: the first picture of each, 95 %", percentile(clicks.arrivals, 95), "s")
    add_errors(report, f"{who}: errors", clicks)
    report.add(f"{who}: clicks answered", (clicks.count - len(clicks.problems)) / took, "a second")
    report.add(f"{who}: cores used by the server", spent / took, "")
    visiting = after.user + after.system - before.user - before.system
    report.add(f"{who}: cores used by the visitors, without the browser", visiting / took, "")
    report.add(f"{who}: memory of server and workers", peak.most / GB, "GB", 3 if visitors == 50 else None, "lower")
    return peak


async def _many_clicks(report: figures.Report, server: Server, targets: Targets, plan: Plan, before: Peak) -> None:
    """Memory while the largest crowd goes on clicking."""
    crowd = Crowd(server.url, targets, plan.crowds[-1], plan.thinking)
    async with Peak(server.tree, LOOK) as peak:
        clicks = await crowd.work(plan.clicks_time, plan.clicks)
    name = f"memory after {clicks.count:,} more clicks"
    report.add(f"{name} of {plan.clicks:,}", peak.last / GB, "GB", 3, "lower")
    report.add(f"{name}: growth", 100 * (peak.last / before.most - 1), "%", 10, "lower")
    add_errors(report, f"errors in {clicks.count:,} more clicks", clicks)


if __name__ == "__main__":
    figures.run(measure, __doc__)
