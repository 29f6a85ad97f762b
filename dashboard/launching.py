"""`launch`: the page on a network and a graph of one's own, served and explained in one's own process."""

import builtins
import os
import socket
import sys
import threading
import tomllib
import webbrowser
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
import uvicorn
from streamlit.runtime import Runtime
from streamlit.web import bootstrap

from dashboard.address import server_address
from dashboard.asgi import PAGE, beside, gate
from dashboard.catalogue import launched, script
from dashboard.catalogue.given import entry_of
from dashboard.limits import Limits
from dashboard.seats import Seats

HOST = "127.0.0.1"
PATIENCE = 60.0  # seconds for a server to start, on the slowest of machines
LOOK = 0.2  # seconds between two looks whether Ctrl-C was pressed
SETTINGS = ("dashboard/.streamlit/config.toml", ".streamlit/config.toml")  # in a wheel, in a checkout


class Launched:
    """The page of one `launch`: where it is, and how to end it."""

    def __init__(self, dataset: str, server: "_Server"):
        self._dataset, self._server = dataset, server
        self.url = f"{server.url}/?{urlencode({'dataset': dataset})}"

    def stop(self) -> None:
        """Takes the data off the page; with the last one the server ends, and nothing is left in this process."""
        launched.remove(self._dataset)
        if not launched.entries():
            self._server.stop()

    def wait(self) -> None:
        """Until the server ends, or Ctrl-C is pressed, which ends it."""
        try:
            with _one_thread():  # nobody else works here meanwhile, and more threads would wait for each other
                # not by joining its thread: Python 3.11 takes one for ended whose join Ctrl-C interrupts, and would not wait for it
                while not self._server.ended.wait(LOOK):
                    pass
        except KeyboardInterrupt:
            self.stop()

    def __repr__(self) -> str:
        return f"Graph Explainer at {self.url}" if self._server.is_running else "Graph Explainer, stopped"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">Graph Explainer</a>' if self._server.is_running else repr(self)


def launch(
    model: Any,
    data: Any,
    *,
    name: str | None = None,
    class_names: Any = None,
    feature_names: Any = None,
    node_names: Any = None,
    split: Mapping[str, Any] | None = None,
    task: str | None = None,
    output: str | None = None,
    port: int | None = None,
    open_browser: bool = True,
    block: bool | None = None,
) -> Launched:
    """Opens the page on a network and its data; Ctrl-C stops it. From a notebook it returns at once: `.url`, `.stop()`.

    `model` is any torch.nn.Module, as `explainer_core.adapt` takes it, or several by their names: {"before": a,
    "after": b}. `data` is a Data of PyTorch Geometric or a list of them, a Graph or a GraphSet, or a networkx graph. `split`
    holds masks or numbers of nodes (or graphs) under "train", "val" and "test"; without it, the masks of the data count.
    `task` and `output` are as in `adapt`. The networks are shown as they are now. `block` says whether to wait, where that cannot be told by itself.
    """
    if script.is_running():
        raise ValueError(
            "a script of --script must not call launch (got one); take it out, or: if __name__ == '__main__':"
        )
    entry = entry_of(
        model,
        data,
        name=name,
        class_names=class_names,
        feature_names=feature_names,
        node_names=node_names,
        split=split,
        task=task,
        output=output,
    )
    server = _running(port)
    launched.add(entry)
    page = Launched(entry.info.name, server)
    waits = not _is_interactive() if block is None else block
    if waits:
        _one_thread()  # before Ctrl-C is promised: an import that it cuts off keeps its lock, and the server would never end
    try:
        sys.stdout.write(f"Graph Explainer: {page.url}{'  (Ctrl-C stops it)' if waits else ''}\n")
        sys.stdout.flush()
        if open_browser and _has_screen():
            webbrowser.open(page.url)
        if waits:
            page.wait()
    except KeyboardInterrupt:  # from the moment it is promised
        page.stop()
        if not waits:
            raise
    return page


def _one_thread() -> AbstractContextManager[None]:
    """Imported here, since Streamlit complains of caches that are made before it runs."""
    from dashboard.services import one_thread

    return one_thread()


# One server in a process: Streamlit can have no second


class _Server:
    def __init__(self, port: int | None):
        self._socket = _listen(port)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        bootstrap.load_config_options(_settings() | {"server.port": self.port, "server.address": "localhost"})
        server_address.cache_clear()  # of a server before this one
        seats = Seats(Limits.from_environment().visitors)
        app = st.App(PAGE, lifespan=beside(seats), middleware=[gate(seats)])
        # no logging of its own: that is the user's to set up
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="on"
            )
        )
        self.thread = threading.Thread(target=self._run, name="Graph Explainer", daemon=True)
        self.ended = threading.Event()

    @property
    def is_running(self) -> bool:
        return self.thread.is_alive()

    def start(self) -> None:
        self.thread.start()
        for _ in range(int(PATIENCE / LOOK)):
            if self._uvicorn.started or not self.is_running:
                break
            self.thread.join(LOOK / 4)
        if not self._uvicorn.started:
            raise RuntimeError(f"the page's server must start within {PATIENCE:.0f} s (it did not); see the log above")

    def _run(self) -> None:
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()
            Runtime._instance = None  # else Streamlit would refuse the next server of this process
            self.ended.set()

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self.thread.join(PATIENCE)


_servers: list[_Server] = []


def _running(port: int | None) -> _Server:
    """The server of this process; a second `launch` comes beside the first."""
    found = next((each for each in _servers if each.is_running), None)
    if found is not None:
        if port not in (None, found.port):
            raise ValueError(
                f"one process serves at one port, {found.port} (got {port}); leave it out, or .stop() that first"
            )
        return found
    if Runtime.exists():
        raise ValueError("launch must be called from a program of its own (got one that is a Streamlit app already)")
    server = _Server(port)
    server.start()
    _servers[:] = [server]
    return server


def _listen(port: int | None) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port or 0))
    except (OSError, OverflowError, TypeError) as error:
        listening.close()
        raise ValueError(
            f"port must be one that is free (got {port!r}: {error}); leave it out to have one found"
        ) from None
    listening.listen(128)
    return listening


def _settings() -> dict[str, Any]:
    """Our own settings by their full names, whatever folder the program is run from."""
    root = Path(__file__).parents[1]
    found = next(path for path in (root / each for each in SETTINGS) if path.exists())
    return _flat(tomllib.loads(found.read_text(encoding="utf-8")))


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found = {}
    for name, value in settings.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def _is_interactive() -> bool:
    """Whether someone goes on typing: in a notebook, in IPython, or at Python's own prompt."""
    return hasattr(builtins, "get_ipython") or hasattr(builtins, "__IPYTHON__") or hasattr(sys, "ps1")


def _has_screen() -> bool:
    """Without one, Python would open a browser of letters in the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
