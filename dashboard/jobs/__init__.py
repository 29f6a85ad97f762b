"""Where tasks run: in worker processes once a server has started them, else in the caller's own thread."""

import threading
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from dashboard.jobs.job import Priority, RunRefused, Waiting
from dashboard.jobs.pool import Pool
from dashboard.limits import Limits

__all__ = [
    "Priority",
    "RunRefused",
    "Waiting",
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
    if _here.pool is not None:
        _here.pool.close()
        _here.pool = None


def processes() -> list[int]:
    return [] if _here.pool is None else _here.pool.processes


def limits() -> Limits | None:
    """What one run may take; None where it is the caller's own process that works."""
    return None if _here.pool is None else _here.pool.limits


def call(
    task: Callable[..., Any],
    *args: Any,
    key: Hashable,
    priority: Priority = Priority.PICTURE,
    long: bool = False,
    on_progress: Callable[[Any], None] = lambda progress: None,
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
