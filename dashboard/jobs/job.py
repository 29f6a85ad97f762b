"""A task somebody waits for, and which of those that wait comes next."""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

PATIENCE = 10.0  # seconds after which a long job is no longer kept waiting by short ones


class Priority(IntEnum):
    """What a visitor waits for most: the picture, then what stands below it, then what the page can do without."""

    PICTURE = 0
    BELOW = 1
    BACKGROUND = 2


@dataclass(frozen=True)
class Waiting:
    """Said to those who wait for a worker: so many runs come before theirs."""

    ahead: int


class RunRefused(ValueError):
    """A run that was not begun or was ended because of a limit; its sentence says which, and what would fit."""


@dataclass(eq=False)
class Job:
    """One task, wanted by one visitor or by several who asked for the same."""

    key: Hashable
    task: Callable[..., Any]
    args: tuple
    priority: Priority
    long: bool  # expected to take seconds
    asked_at: float  # time.monotonic()
    changed: threading.Condition
    visits: dict[object, Hashable] = field(default_factory=dict)  # those who wait, each with its visitor
    progress: Any = None
    reports: int = 0  # how often there was progress
    attempts: int = 0
    holders: int = 0  # who asked for it to be begun, and will come for the result
    finished: bool = False
    result: Any = None
    error: BaseException | None = None

    @property
    def visitors(self) -> set[Hashable]:
        return set(self.visits.values())

    @property
    def in_background(self) -> bool:
        """Whether it must leave a worker to those who wait for a picture."""
        return self.long or self.priority is Priority.BACKGROUND

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result


def in_order(waiting: Sequence[Job], now: float) -> list[Job]:
    """Who comes first. A visitor has one job at a time, so first come, first served is fair among equals."""

    def rank(job: Job) -> tuple:
        kept_waiting = job.long and now - job.asked_at < PATIENCE
        return job.priority + kept_waiting, job.asked_at

    return sorted(waiting, key=rank)


def next_job(waiting: Sequence[Job], running: Sequence[Job], workers: int, now: float) -> Job | None:
    """The job for a worker that is free. One worker is kept from long and background jobs, where there are several.

    What stands still is not among the running: nobody knows for how long it will.
    """
    background = sum(job.in_background for job in running)
    full = background >= max(1, workers - 1)
    return next((job for job in in_order(waiting, now) if not (full and job.in_background)), None)
