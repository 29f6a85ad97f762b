"""The server. It loads the libraries and the first data set while the first browser is still on its way."""

import importlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from dashboard import jobs


@asynccontextmanager
async def warm(_: st.App) -> AsyncIterator[None]:
    jobs.start_workers()
    threading.Thread(target=warm_up, name="warm up", daemon=True).start()
    yield
    jobs.stop_workers()


def warm_up() -> None:
    importlib.import_module("dashboard.services").warm_up()  # not at the top: the server answers before torch is there


app = st.App("app.py", lifespan=warm)
