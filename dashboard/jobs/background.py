"""Runs that go on without a page: each in a thread of the server, which holds it on behalf of its visitor."""

import threading
from collections.abc import Callable
from typing import Any

from dashboard.jobs.job import Waiting

FAILURES = (
    ValueError,
    RuntimeError,
    MemoryError,
)  # of which a visitor is told; others are faults of ours, and logged too


class _Dropped(BaseException):
    """Nobody wants the run any more."""


class BackgroundRun:
    """What a page may look at whenever it likes: the last progress, and how it ended.

    `run(pulse, on_progress)` does the work and may be ended by what these two raise; `keep` is given its result. `is_watched`
    is asked now and then: a run that nobody watches comes to its end as if its visitor had stopped it. It raises where
    there is nobody to keep the result for.
    """

    def __init__(
        self,
        run: Callable[[Callable[[], None], Callable[[Any], bool]], Any],
        keep: Callable[[Any], Any],
        is_watched: Callable[[], bool],
    ):
        self._run, self._keep, self._is_watched = run, keep, is_watched
        self.progress: Any = None
        self.begun = False  # it has told something of itself
        self.stopping = False
        self.finished = False
        self.result: Any = None  # what `keep` gave; None where there is nothing
        self.error: Exception | None = None
        self._dropped = False
        self._thread = threading.Thread(target=self._work, name="background run", daemon=True)

    def start(self) -> None:
        _running.add(self)
        self._thread.start()

    def stop(self) -> None:
        """It comes to its end with what it has, which is nothing where it has not begun."""
        self.stopping = True

    def drop(self) -> None:
        """It ends at once, and nothing of it is kept."""
        self._dropped = True

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            self.result = self._keep(self._run(self._pulse, self._heard))
        except _Dropped:
            pass
        except Exception as error:
            self.error = error
            if not isinstance(error, FAILURES):
                raise
        finally:
            self.finished = True
            _running.discard(self)

    def _pulse(self) -> None:
        if not self._is_watched():
            self.stopping = True
        if self._dropped or (self.stopping and not self.begun):
            raise _Dropped

    def _heard(self, progress: Any) -> bool:
        self._pulse()
        self.progress = progress
        self.begun = self.begun or not isinstance(progress, Waiting)
        return self.stopping


_running: set[BackgroundRun] = set()


def end_all(seconds: float = 5.0) -> None:
    """When a server ends; a thread in which torch still works would abort the program."""
    ending = list(_running)
    for run in ending:
        run.drop()
    for run in ending:
        run.join(seconds)
