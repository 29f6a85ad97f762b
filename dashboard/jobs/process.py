"""The server's end of one worker process."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Sequence
from typing import Any, BinaryIO, cast

import psutil

from dashboard.jobs import wire
from dashboard.jobs.job import Job, Priority
from dashboard.jobs.worker import CANCEL, ENOUGH, PAUSE, RESUME, RUN
from dashboard.limits import MB

# For the system's scheduler. Who waits for a worker waits for the server too, which draws for everybody: it goes first.
BEHIND_SERVER = 5 if os.name == "posix" else getattr(psutil, "BELOW_NORMAL_PRIORITY_CLASS", 0)
BEHIND_OTHERS = 19 if os.name == "posix" else getattr(psutil, "IDLE_PRIORITY_CLASS", 0)
# For glibc: tensors of some megabytes come and go with every question, and memory that is given back to the system each time
# must be cleared by it each time (a third of the page faults, a twentieth of the time). At most so much is kept back.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 * MB), "MALLOC_TRIM_THRESHOLD_": str(128 * MB)}
COMMAND = (sys.executable, "-c", "from dashboard.jobs.worker import main; main()")


class WorkerProcess:
    """A process that is spawned, not forked: no thread or lock of the server comes with it.

    One that is `behind_others` works with what they leave of the machine.
    """

    def __init__(self, number: int, command: Sequence[str] = COMMAND, *, behind_others: bool = False):
        self.number = number
        self.process = subprocess.Popen(  # noqa: S603  (a command of our own, with a number)
            [*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=KEEP_MEMORY | os.environ
        )
        for pipe in (self.process.stdin, self.process.stdout):
            wire.widen(cast(BinaryIO, pipe))
        self._seen = psutil.Process(self.process.pid)
        self._seen.nice(_niceness(BEHIND_OTHERS if behind_others else BEHIND_SERVER))
        self._speaking = threading.Lock()
        self.ready = False
        self.retired = False  # there was no device for it
        self.job: Job | None = None
        self.run_number = 0  # of the job among all this process has been given
        self.began = 0.0  # time.monotonic() when the job was given
        self.memory_before = 0  # bytes
        self.cancelled_at: float | None = None
        self.paused_at: float | None = None  # time.monotonic() since when its job stands still
        self.known_to: frozenset[Hashable] = frozenset()  # the visitors of its last job: it has their data at hand
        self.ended_because: Exception | None = None  # what those who wait for its job are told

    @property
    def is_free(self) -> bool:
        return self.ready and self.job is None

    @property
    def can_stand_aside(self) -> bool:
        return self.job is not None and self.job.priority is Priority.BACKGROUND and self.cancelled_at is None

    def take(self, job: Job) -> None:
        """From here on the job is this worker's; `begin` tells it so."""
        self.job, self.began, self.cancelled_at, self.ended_because = job, time.monotonic(), None, None
        self.paused_at, self.known_to = None, frozenset(job.visitors)
        self.run_number += 1
        self.memory_before = self.memory()

    def begin(self) -> None:
        job = self.job
        if job is not None:
            self._say(RUN, self.run_number, job.task, job.args)

    def tell_to_cancel(self, run_number: int) -> None:
        """It drops that run, if it has not gone on to another by then."""
        self._say(CANCEL, run_number)

    def pause(self) -> None:
        """From here on its job stands still; `tell_whether_paused` tells it so."""
        self.paused_at = time.monotonic()

    def resume(self) -> None:
        """The time its job stood still does not count; `tell_whether_paused` tells it to go on."""
        if self.paused_at is not None:
            self.began += time.monotonic() - self.paused_at
            self.paused_at = None

    def tell_whether_paused(self) -> None:
        """What holds when it is written, not when it was decided: of two threads that tell, the last tells how it is."""

        def now() -> tuple:
            number = self.run_number  # first: a new job ends the pause before it has a number
            return (RESUME if self.paused_at is None else PAUSE), number

        self._say(now)

    def tell_enough(self, run_number: int) -> None:
        """That run is to come to its end, and give what it has."""
        self._say(ENOUGH, run_number)

    def _say(self, *message: object) -> None:
        """A single function is called for the message once nobody else is writing."""
        try:
            with self._speaking:
                said = message[0]() if callable(message[0]) else message
                wire.send(cast(BinaryIO, self.process.stdin), said)
        except OSError:
            pass  # it has died; whoever listens to it is told so and gives its job to another

    def listen(self) -> Any:
        return wire.receive(cast(BinaryIO, self.process.stdout))

    def memory(self) -> int:
        """Bytes of memory it holds; 0 once it has died."""
        try:
            return self._seen.memory_info().rss
        except psutil.Error:
            return 0

    def kill(self, because: Exception | None = None) -> None:
        self.ended_because = because
        self.process.kill()


def _niceness(behind: int) -> int:
    """So far behind the server, which may itself stand behind others: nobody but root may go forward again."""
    return min(19, os.nice(0) + behind) if os.name == "posix" else behind
