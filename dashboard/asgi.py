"""What the page's servers share: the gate before Streamlit, who is there, and what begins and ends with a server."""

import asyncio
import importlib
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from streamlit import config

from dashboard import jobs
from dashboard.address import announcement, server_address
from dashboard.gate import Gate, streamlit_index
from dashboard.limits import Limits, allow_open_files
from dashboard.private_folder import private_folder, remove_private_folder
from dashboard.seats import Seats

PAGE = Path(__file__).with_name("app.py")


def gate(seats: Seats) -> Middleware:
    base = config.get_option("server.baseUrlPath")
    return Middleware(Gate, address=server_address, seats=seats, base=base, index=streamlit_index())


def alone(limits: Limits, seats: Seats) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """The lifespan of a server that has its process to itself, and worker processes that explain."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        told = announcement(server_address(), limits.visitors, sys.stdout.encoding or "ascii", sys.stdout.isatty())
        sys.stdout.write(told)
        sys.stdout.flush()
        allow_open_files(limits.visitors)
        private_folder()  # before the workers, which are told where it is
        jobs.start_workers()
        _in_background(seats, alone=True)
        yield
        jobs.stop_workers()
        remove_private_folder()

    return lifespan


def beside(seats: Seats) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """The lifespan of a server in somebody's own program, where the threads of its visitors explain."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        preparing = _in_background(seats, alone=False)
        yield
        jobs.stop_workers()
        remove_private_folder()
        await asyncio.to_thread(preparing.join)  # a program that ends while torch works in a thread is aborted

    return lifespan


def _in_background(seats: Seats, *, alone: bool) -> threading.Thread:
    def prepare() -> None:
        # not at the top: the server answers before torch is there
        own = importlib.import_module("dashboard.catalogue.own")
        own.watch_presence(seats.is_open)
        own.keep_tidy()
        importlib.import_module("dashboard.services").warm_up(alone=alone)

    thread = threading.Thread(target=prepare, name="warm up", daemon=True)
    thread.start()
    return thread
