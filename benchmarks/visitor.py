"""A visitor without a browser: a websocket that speaks Streamlit's protocol, and waits for what a person waits for."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from benchmarks.streamlit_page import PICTURE, Page, Reply, rerun

PROTOTYPE = "prototype"
NO_TOKEN = "PLACEHOLDER_AUTH_TOKEN"  # noqa: S105 what a browser that is not logged in sends
PATIENCE = 60.0  # seconds until a visitor gives up


class NoPicture(Exception):
    """Why a click was not answered with a picture."""


@dataclass(frozen=True)
class Target:
    """What is asked about: the query string, and by what its answer is known, the nodes in the picture or the graph's number."""

    dataset: str
    query: str
    nodes: tuple[int, ...] = ()
    graph: int | None = None


class Visitor:
    """One open page. Use `async with`: at the end the socket is closed as a browser closes it."""

    def __init__(self, url: str, page_name: str = ""):
        self.url, self.page_name, self.page = url, page_name, Page()
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task | None = None
        self._timers: dict[str, asyncio.Task] = {}
        self._changed = asyncio.Event()

    async def __aenter__(self) -> "Visitor":
        await self.connect()
        return self

    async def __aexit__(self, *_) -> None:
        await self.leave()

    async def connect(self) -> None:
        """Opens the socket, or opens it again for the same session."""
        protocols = ["streamlit", NO_TOKEN, *([self.page.session] if self.page.session else [])]
        self._socket = await connect(
            f"ws://{urlsplit(self.url).netloc}/_stcore/stream",
            origin=Origin(self.url),
            subprotocols=[Subprotocol(each) for each in protocols],
            max_size=None,
            proxy=None,
            open_timeout=PATIENCE,
            ping_timeout=None,
        )
        self._reader = asyncio.create_task(self._read())

    async def leave(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        await self._stop()

    async def vanish(self) -> None:
        """As a browser that is killed: the connection is gone without a word."""
        self._open_socket.transport.abort()
        await self._stop()

    async def _stop(self) -> None:
        self._end_timers()
        if self._reader is not None:
            await self._reader

    async def _read(self) -> None:
        runs = self.page.runs
        with contextlib.suppress(ConnectionClosed):  # `is_connected` says so to whoever waits
            async for frame in self._open_socket:
                message = ForwardMsg.FromString(cast(bytes, frame))  # Streamlit sends no text
                replies = self.page.read(message)
                if self.page.runs != runs:
                    runs = self.page.runs
                    self._end_timers()
                for reply in replies:
                    await self._answer(reply)
                self._changed.set()
        self._changed.set()

    async def _answer(self, reply: Reply) -> None:
        if not reply.repeats:
            await self._send(rerun(self.page, url=self.url, reply=reply))
            return
        if old := self._timers.pop(reply.fragment, None):
            old.cancel()
        self._timers[reply.fragment] = asyncio.create_task(self._repeat(reply))

    async def _repeat(self, reply: Reply) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(reply.after)
                await self._send(rerun(self.page, url=self.url, reply=reply))

    def _end_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    async def _send(self, message) -> None:
        await self._open_socket.send(message.SerializeToString())

    @property
    def _open_socket(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError("a visitor must be connected first; await connect()")
        return self._socket

    @property
    def is_connected(self) -> bool:
        return self._reader is not None and not self._reader.done()

    @property
    def is_settled(self) -> bool:
        return self.page.is_settled and not self._timers

    async def ask(self, query: str) -> int:
        """Asks for another target, or opens the page; returns the number of the run that will answer."""
        if not self.is_connected:
            raise NoPicture("the connection was lost")
        number = self.page.runs + 1
        name = self.page_name if self.page.runs == 0 else ""
        try:
            await self._send(rerun(self.page, url=self.url, query=query, name=name))
        except ConnectionClosed as error:
            raise NoPicture("the connection was lost") from error
        self.page.query = query
        return number

    async def until(self, is_so: Callable[[], bool], patience: float = PATIENCE) -> bool:
        """Waits for something to be so on the page; False if it is not in time, or if the connection was lost."""
        end = time.monotonic() + patience
        while not is_so():
            left = end - time.monotonic()
            if left <= 0 or not self.is_connected:
                return False
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
        return True

    async def click(self, target: Target, patience: float = PATIENCE) -> float:
        """Seconds until the picture of the target is there with its verdict; raises NoPicture."""
        began = time.perf_counter()
        run = await self.ask(target.query)
        arrived = await self.until(lambda: self._is_answered(target, run) or self._is_refused(run), patience)
        if self._is_answered(target, run):
            return time.perf_counter() - began
        if not self.is_connected:
            raise NoPicture("the connection was lost")
        why = self.page.words or "it is empty" if arrived else f"after {patience:g} s"
        raise NoPicture(f"no picture of {target.query}: {why}")

    def _is_answered(self, target: Target, run: int) -> bool:
        # A run that was on its way when the click was made may come in between, with the target of before.
        if self.page.runs < run or not self.page.has_verdict:
            return False
        picture = self.page.view(PICTURE)
        if picture is None or set(picture.targets) != set(target.nodes):
            return False
        return target.graph is None or self.page.number("graph") == target.graph

    def _is_refused(self, run: int) -> bool:
        """True if the page is done without a picture, or tells of an error."""
        return self.page.runs >= run and bool(self.page.failures or (self.is_settled and not self.page.view(PICTURE)))
