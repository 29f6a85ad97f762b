"""No click is lost: what the page sends by itself at the same moment must not take the place of what its visitor asks."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.streamlit_page import Reply, rerun
from benchmarks.visitor import Target, Visitor

BEFORE = Target("karate", "dataset=karate&node=3", (3,))
AFTER = Target("karate", "dataset=karate&node=8", (8,))


class Slow(Visitor):
    """A visitor whose browser holds back what it sends by itself."""

    held: Reply | None = None

    async def _answer(self, reply: Reply) -> None:
        self.held = reply


async def go_back_at_that_moment(url: str) -> None:
    """The browser's Back and the word that other starts can be shown, in one run, as Streamlit joins what waits for a run."""
    async with Slow(url) as visitor:
        await visitor.click(BEFORE)
        assert await visitor.until(lambda: visitor.held is not None)
        run = visitor.page.runs + 1
        together = rerun(visitor.page, url=url, query=AFTER.query, reply=visitor.held)
        together.rerun_script.fragment_id = ""
        together.rerun_script.is_history_navigation = True
        await visitor._send(together)
        assert await visitor.until(lambda: visitor._is_answered(AFTER, run), patience=20.0)


@pytest.mark.browser
def test_going_back_while_other_starts_come_in_shows_the_target_gone_to(server):
    with ThreadPoolExecutor(1) as own_thread:  # Playwright has an event loop in this one
        own_thread.submit(asyncio.run, go_back_at_that_moment(server)).result()
