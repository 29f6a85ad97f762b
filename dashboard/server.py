"""The server. It loads the libraries and the first data set while the first browser is still on its way."""

import importlib
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config

from dashboard import jobs
from dashboard.address import announcement, server_address
from dashboard.gate import Gate, streamlit_index
from dashboard.limits import Limits
from dashboard.private_folder import private_folder, remove_private_folder
from dashboard.seats import Seats

limits = Limits.from_environment()
seats = Seats(limits.visitors)


@asynccontextmanager
async def warm(_: st.App) -> AsyncIterator[None]:
    told = announcement(server_address(), limits.visitors, sys.stdout.encoding or "ascii", sys.stdout.isatty())
    sys.stdout.write(told)
    sys.stdout.flush()
    private_folder()  # before the workers, which are told where it is
    jobs.start_workers()
    threading.Thread(target=warm_up, name="warm up", daemon=True).start()
    yield
    jobs.stop_workers()
    remove_private_folder()


def warm_up() -> None:
    # not at the top: the server answers before torch is there
    own = importlib.import_module("dashboard.catalogue.own")
    own.watch_presence(seats.is_open)
    own.keep_tidy()
    importlib.import_module("dashboard.services").warm_up()


gate = Middleware(
    Gate,
    address=server_address,
    seats=seats,
    base=config.get_option("server.baseUrlPath"),
    index=streamlit_index(),
)
app = st.App("app.py", lifespan=warm, middleware=[gate])
