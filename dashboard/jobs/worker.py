"""A worker process: it runs one task after another, says how far it is, and drops a task when it is told to.

A task is a function `task(*args, emit)` that may call `emit(progress)`, which is True once whoever waits has had enough: the task
may then return what it has. It is cancelled by an exception that rises in it between two lines of Python, so that no task has
to look for it. In the same way it is paused: the exception's place is taken by a wait.
"""

import _thread
import gc
import importlib
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, BinaryIO

from dashboard.jobs import wire

READY, PROGRESS, DONE, FAILED, CANCELLED = "ready", "progress", "done", "failed", "cancelled"  # what a worker says
RUN, CANCEL, ENOUGH, PAUSE, RESUME = "run", "cancel", "enough", "pause", "resume"  # what it is told
AGAIN = 0.02  # seconds until a run is interrupted that could not be
TASKS = "dashboard.tasks"  # the module whose `warm_up` loads what every task needs, and whose `restore` mends what is cut off


class Cancelled(BaseException):
    """Nobody waits for the running task any more. No Exception, so that nothing in the task takes it for an error."""


class Worker:
    """The main thread runs the tasks; another listens, and interrupts it."""

    def __init__(self, inbox: BinaryIO, outbox: BinaryIO, restore: Callable[[], bool]):
        self.inbox, self.outbox, self.restore = inbox, outbox, restore
        self.runs: queue.SimpleQueue = queue.SimpleQueue()
        self.running: int | None = None  # the number of the task that may be interrupted now
        self.cancelled: int | None = None
        self.enough: int | None = None  # the number of the task that is to come to its end
        self.paused: int | None = None  # the number of the task that stands still until it is told to go on
        self.told = threading.Event()  # something has changed for a task that stands still
        self.speaking = self.standing = False

    def serve(self) -> None:
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            number, task, args = self.runs.get()
            outcome = self._run(number, task, args)
            if outcome[0] == CANCELLED and not self.restore():
                os._exit(1)  # another is started in its place
            self._give(*outcome)

    def _listen(self) -> None:
        while True:
            try:
                kind, number, *rest = wire.receive(self.inbox)
            except (EOFError, OSError):
                os._exit(0)  # the server is gone
            except Exception:  # deaf it would be told nothing more
                traceback.print_exc()
                os._exit(1)
            if kind == RUN:
                self.runs.put((number, *rest))
            elif kind == ENOUGH:
                self.enough = number
            else:
                if kind == CANCEL:
                    self.cancelled = number
                else:
                    self.paused = number if kind == PAUSE else None
                self.told.set()
                if self.running == number:
                    _thread.interrupt_main(signal.SIGINT)

    def _interrupted(self, _: int, frame: FrameType | None) -> None:
        """A message that is half written must be finished; `emit` stands still or raises after it. So must a module that is
        half loaded: it would stay so. Ctrl-C in the terminal means nothing here."""
        if self.speaking or self.standing:  # who stands still looks again by itself
            return
        self._stand_still()
        if not self._is_cancelled():
            return
        if _is_importing(frame):
            threading.Timer(AGAIN, _thread.interrupt_main, [signal.SIGINT]).start()
            return
        raise Cancelled

    def _stand_still(self) -> None:
        """For as long as the running task is paused, unless it is cancelled meanwhile."""
        self.standing = True  # interrupted inside an Event, this would wait for itself
        try:
            while self._is_paused():
                self.told.clear()
                if self._is_paused():  # nothing was told in between
                    self.told.wait()
        finally:
            self.standing = False

    def _is_paused(self) -> bool:
        return self.running is not None and self.running == self.paused and not self._is_cancelled()

    def _is_cancelled(self) -> bool:
        return self.running is not None and self.running == self.cancelled

    def _run(self, number: int, task: Callable[..., Any], args: tuple) -> tuple:
        def emit(progress: object) -> bool:
            self.speaking = True
            try:
                self._say(PROGRESS, number, progress)
            finally:
                self.speaking = False
            self._stand_still()
            if self._is_cancelled():
                raise Cancelled
            return self.enough == number

        try:
            try:
                self.running = number
                self._stand_still()
                if self._is_cancelled():
                    raise Cancelled
                result = task(*args, emit=emit)
            finally:
                self.running = None
        except Cancelled:
            return CANCELLED, number, None
        except Exception as error:
            return FAILED, number, _portable(error)
        return DONE, number, result

    def _give(self, kind: str, number: int, value: object) -> None:
        """How it ended. What cannot be pickled fails before any of it is written."""
        try:
            self._say(kind, number, value)
        except OSError:
            raise
        except Exception as error:
            unsendable = f"a run must end with an answer that can be sent (got {type(error).__name__}); ask for another"
            self._say(FAILED, number, RuntimeError(unsendable))

    def _say(self, kind: str, number: int, value: object) -> None:
        wire.send(self.outbox, (kind, number, value))


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _portable(error: Exception) -> Exception:
    """The error as the server can read it: one that is made of its message alone, of a class that both know."""
    rebuilt = next((kind for kind in type(error).__mro__ if kind.__module__ == "builtins"), RuntimeError)
    own = type(error).__module__.split(".")[0] in ("explainer_core", "dashboard")
    try:
        return type(error)(str(error)) if own else rebuilt(str(error))
    except TypeError:  # made of something else
        return rebuilt(str(error))


def main(tasks: str = TASKS) -> None:
    """The whole program; its argument is the worker's number. Messages come and go where a program reads and prints."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between two messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module = importlib.import_module(tasks)
    worker = Worker(inbox, outbox, module.restore)
    needed = module.warm_up(int(sys.argv[1]))
    gc.freeze()
    wire.send(outbox, (READY, 0, needed))
    if needed:
        worker.serve()
