"""The server of the load benchmark: started with the data of this machine, warmed, and ended with all it has started."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.crowd import Targets
from benchmarks.process_tree import ProcessTree
from benchmarks.visitor import Visitor
from tests.browser.serving import serving

DATA = "GNN_DATA_DIR"
REST = 60.0  # seconds a server may take to come to rest


@dataclass(frozen=True)
class Server:
    url: str
    tree: ProcessTree


@asynccontextmanager
async def started() -> AsyncIterator[Server]:
    environment = {DATA: os.environ[DATA]} if DATA in os.environ else {}
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log", environment=environment) as served:
        server = Server(served.url, ProcessTree(served.pid))
        try:
            yield server
        finally:
            for process in reversed(server.tree.processes()):  # a long run would keep it from ending
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


async def warm(server: Server, targets: Targets, names: list[str] | None = None) -> None:
    """Shows a target of each data set to as many visitors at once as there are workers, and waits until all is done."""
    count = max(len(server.tree.workers()), 1)
    await asyncio.gather(*[_look_around(server, targets, names or list(targets.sizes)) for _ in range(count)])
    await server.tree.until_idle(REST)


async def _look_around(server: Server, targets: Targets, names: list[str]) -> None:
    async with Visitor(server.url) as visitor:
        for name in names:
            await visitor.click(targets.of(name))
