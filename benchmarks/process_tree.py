"""CPU time and memory of a server and all the processes it has started, as the system counts them."""

import asyncio
import contextlib
import time
from pathlib import Path

import psutil

TICK = 0.05  # seconds
QUIET_TICKS = 10  # so many in a row make it idle: work may wait for a moment
OVERSEERS = ("resource_tracker", "forkserver")  # children of Python's own that do no work


class ProcessTree:
    """A process and its descendants."""

    def __init__(self, pid: int):
        self.root = psutil.Process(pid)

    def processes(self) -> list[psutil.Process]:
        return [self.root, *self.root.children(recursive=True)]

    def workers(self) -> list[psutil.Process]:
        """The children that work for the server."""
        return [child for child in self.root.children() if not _is_overseer(child)]

    def cpu(self) -> float:
        """Seconds so far, those of children that have ended too."""
        total = 0.0
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):  # its time is then among those of its parent's children
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def memory(self) -> int:
        """Bytes. What belongs to one process alone is summed; what processes share, libraries above all, counts once."""
        own, shared = 0, 0
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                found = process.memory_full_info()
                own, shared = own + found.uss, max(shared, found.rss - found.uss)
        return own + shared

    def is_working(self) -> bool:
        """True if any thread runs, or would if it were its turn: CPU time alone would take one that starves for idle."""
        return any(
            _state(stat) in "RD" for each in self.processes() for stat in Path(f"/proc/{each.pid}/task").glob("*/stat")
        )

    async def until_idle(self, patience: float) -> float | None:
        """Seconds until the processes have stopped working, or None if they are still at it."""
        began = last_worked = time.monotonic()
        quiet = 0
        while quiet < QUIET_TICKS:
            await asyncio.sleep(TICK)
            quiet += 1
            if self.is_working():
                last_worked, quiet = time.monotonic(), 0
            if last_worked - began > patience:
                return None
        return last_worked - began


def _state(stat: Path) -> str:
    """The letter after the name, which is in brackets and may hold anything; a thread that has ended sleeps."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "S"


def _is_overseer(process: psutil.Process) -> bool:
    try:
        command = " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return True
    return not command or any(name in command for name in OVERSEERS)


class Peak:
    """The most memory a tree has held while this was open: `async with Peak(tree) as peak`."""

    def __init__(self, tree: ProcessTree, every: float = 0.5):
        self.tree, self.every = tree, every
        self.before = self.most = self.last = tree.memory()

    async def __aenter__(self) -> "Peak":
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_) -> None:
        self._watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watching

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.every)
            self.last = await asyncio.to_thread(self.tree.memory)  # tens of milliseconds that visitors would wait for
            self.most = max(self.most, self.last)

    @property
    def growth(self) -> int:
        return self.most - self.before
