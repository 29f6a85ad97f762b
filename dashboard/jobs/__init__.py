"""Where tasks run: in worker processes once a server has started them, else in the caller's own thread.

What a page waits for has processes of its own. Runs in the background have others, which work with what those leave of the
machine and are started with the first such run: nobody's picture waits for them.
"""

import threading
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dashboard.jobs.background import BackgroundRun, end_all
from dashboard.jobs.job import Priority, RunRefused, Waiting
from dashboard.jobs.pool import Pool
from dashboard.jobs.process import WorkerProcess
from dashboard.limits import Limits

__all__ = [
    "BackgroundRun",
    "Priority",
    "RunRefused",
    "Waiting",
    "begin_background",
    "begun",
    "call",
    "connect",
    "limits",
    "processes",
    "start_workers",
    "stop_workers",
]


@dataclass
class _Here:
    """What this process knows of its workers and of the page that asks."""

    pool: Pool | None = None
    background: Pool | None = None
    visitor: Callable[[], Hashable] = threading.get_ident
    pulse: Callable[[], None] = lambda: None


_here = _Here()


def connect(visitor: Callable[[], Hashable], pulse: Callable[[], None]) -> None:
    """Who asks, in the thread that asks; and a word with them now and then, which raises when they have left."""
    _here.visitor, _here.pulse = visitor, pulse


def start_workers() -> None:
    if _here.pool is None:
        _here.pool = Pool(Limits.from_environment())
        _here.pool.start()


def stop_workers() -> None:
    end_all()
    for pool in _pools():
        pool.close()
    _here.pool = _here.background = None


def processes() -> list[int]:
    return [number for pool in _pools() for number in pool.processes]


def _pools() -> list[Pool]:
    return [pool for pool in (_here.pool, _here.background) if pool is not None]


def limits() -> Limits | None:
    """What one run may take; None where it is the caller's own process that works."""
    return None if _here.pool is None else _here.pool.limits


def call(
    task: Callable[..., Any],
    *args: Any,
    key: Hashable,
    priority: Priority = Priority.PICTURE,
    long: bool = False,
    on_progress: Callable[[Any], object] = lambda progress: None,
) -> Any:
    """The task's result; `on_progress` hears what the task emits, or how many runs come before it.

    The same key asked for by many is one run, which ends when the last of them has left.
    """
    if _here.pool is None:
        return task(*args, emit=on_progress)
    return _here.pool.run(
        task,
        args,
        key=(task, key),
        visitor=_here.visitor(),
        priority=priority,
        long=long,
        pulse=_here.pulse,
        on_progress=on_progress,
    )


def begun(task: Callable[..., Any], *args: Any, key: Hashable, long: bool = False) -> AbstractContextManager[None]:
    """The task is begun in a worker, if there is one, while the caller prepares to `call` it inside the block."""
    if _here.pool is None:
        return nullcontext()
    return _here.pool.begun(task, args, key=(task, key), visitor=_here.visitor(), long=long)


# What goes on without a page

_starting = threading.Lock()


def begin_background(
    task: Callable[..., Any], *args: Any, visitor: Hashable, keep: Callable[[Any], Any], is_watched: Callable[[], bool]
) -> BackgroundRun:
    """The task is begun for a visitor, whose page need not wait for it; what it gives is given to `keep`."""

    def run(pulse: Callable[[], None], on_progress: Callable[[Any], bool]) -> Any:
        if _here.pool is None:
            return task(*args, emit=on_progress)
        pool, key = _background_pool(_here.pool.limits), (task, args, visitor)
        return pool.run(task, args, key=key, visitor=visitor, pulse=pulse, on_progress=on_progress)

    begun = BackgroundRun(run, keep, is_watched)
    begun.start()
    return begun


def _background_pool(limits: Limits) -> Pool:
    with _starting:
        if _here.background is None:
            _here.background = Pool(
                background_limits(limits),
                partial(WorkerProcess, behind_others=True),
                spare=0,
                way_out="choose fewer layers or units, or bring a smaller graph",
            )
            _here.background.start()
        return _here.background


def background_limits(limits: Limits) -> Limits:
    """Twice a training's seconds until it is ended by force: it watches the clock itself, and measures its network afterwards."""
    return replace(limits, workers=max(1, limits.workers // 2), run_seconds=2 * limits.train_seconds)
