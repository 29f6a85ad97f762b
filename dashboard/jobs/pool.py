"""Worker processes with one queue before them: who waits for what, which job comes next, and when a run is ended."""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from dashboard.jobs.job import Job, Priority, RunRefused, Waiting, in_order, next_job
from dashboard.jobs.process import WorkerProcess
from dashboard.jobs.worker import DONE, FAILED, PROGRESS, READY
from dashboard.limits import MB, Limits

POLL = 0.1  # seconds between two looks whether the visitor is still there, and at what the workers take
POLL_WAITING = 0.25  # the same of visitors whose run has not begun: there may be a crowd of them
RETELL = (
    0.5  # seconds between two words to those who wait: told of everyone who is served, a crowd would hear nothing else
)
GRACE = 1.0  # seconds a worker has to drop a job before it is killed
ATTEMPTS = 5  # workers that may die over one job
SPARE = 1  # processes more than may work at a time: a new one takes seconds until it is ready
TURN = 10.0  # seconds at most between the first start of one worker and that of the next, which waits until the first is ready
PAUSE = 1.0  # seconds before a worker is started in place of one that never became ready
STOPPED = "a run must end with its server (it is being stopped); ask again"
REPLACED = "a visitor must have one run at a time (another was begun); ask again"

_log = logging.getLogger(__name__)


class Pool:
    """Everything but the pipes is under one lock. `way_out` is what those are told whose run went over a limit."""

    def __init__(
        self,
        limits: Limits,
        start_worker: Callable[[int], WorkerProcess] = WorkerProcess,
        *,
        spare: int = SPARE,
        way_out: str = "choose fewer steps, seeds, edges or members",
    ):
        self.limits, self._start_worker, self._way_out = limits, start_worker, way_out
        self._lock = threading.RLock()
        self._workers: dict[int, WorkerProcess] = {}
        self._waiting: list[Job] = []
        self._wanted: dict[Hashable, Job] = {}  # waiting or running
        self._of_visitor: dict[Hashable, Job] = {}
        self._given = threading.Event()  # a worker has a job: there is something to watch
        self._was_ready = [threading.Event() for _ in range(limits.workers + spare)]
        self._open = True

    def start(self) -> None:
        for number in range(len(self._was_ready)):
            threading.Thread(target=self._attend, args=(number,), name=f"worker {number}", daemon=True).start()
        threading.Thread(target=self._watch, name="limits of runs", daemon=True).start()

    def close(self) -> None:
        with self._lock:
            self._open = False
            for job in list(self._wanted.values()):
                self._finish(job, error=RunRefused(STOPPED))
            self._waiting.clear()
            for worker in self._workers.values():
                worker.kill()
            self._given.set()  # whoever watches sees that it is closed

    @property
    def processes(self) -> list[int]:
        """The numbers the system knows the workers by."""
        with self._lock:
            return [worker.process.pid for worker in self._workers.values()]

    # What visitors ask

    def run(
        self,
        task: Callable[..., Any],
        args: tuple,
        *,
        key: Hashable,
        visitor: Hashable,
        priority: Priority = Priority.PICTURE,
        long: bool = False,
        pulse: Callable[[], None] = lambda: None,
        on_progress: Callable[[Any], object] = lambda progress: None,
    ) -> Any:
        """The task's result. Same keys are one run. `pulse` raises when the visitor has left, and with the last one the run ends.

        Where `on_progress` is True, the task is told that it is enough, and may return what it has.
        """
        job, visit = self._join(
            Job(key, task, args, priority, long, time.monotonic(), threading.Condition(self._lock)), visitor
        )
        seen, told_at, waits = 0, float("-inf"), False
        try:
            while True:
                with self._lock:
                    if not job.finished and job.reports == seen:
                        job.changed.wait(POLL_WAITING if waits else POLL)
                    finished, reports, progress = job.finished, job.reports, job.progress
                    waits = job in self._waiting
                    ahead = self._ahead_of(job) if waits and time.monotonic() - told_at > RETELL else None
                pulse()
                if reports > seen:
                    seen = reports
                    if on_progress(progress) is True:
                        self._tell_enough(job)
                elif ahead is not None:
                    told_at = time.monotonic()
                    on_progress(Waiting(ahead))
                if finished:
                    return job.outcome()
        finally:
            self._leave(job, visit)

    @contextmanager
    def begun(
        self,
        task: Callable[..., Any],
        args: tuple,
        *,
        key: Hashable,
        visitor: Hashable,
        priority: Priority = Priority.PICTURE,
        long: bool = False,
    ) -> Iterator[None]:
        """The task is begun, and `run` with the same key inside the block waits for it; it ends with the block."""
        job, visit = self._join(
            Job(key, task, args, priority, long, time.monotonic(), threading.Condition(self._lock)), visitor, holds=True
        )
        try:
            yield
        finally:
            with self._lock:
                job.holders -= 1
                if job.finished and not job.holders:
                    self._forget(job)
            self._leave(job, visit)

    def _join(self, new: Job, visitor: Hashable, *, holds: bool = False) -> tuple[Job, object]:
        """The job, and the visit: a visitor may come again for the same before they have left."""
        visit = object()
        with self._lock:
            if not self._open:
                raise RunRefused(STOPPED)
            job = self._wanted.setdefault(new.key, new)
            job.holders += holds
            before = self._of_visitor.get(visitor)
            if before is not None and before is not job:
                for earlier in [each for each, whose in before.visits.items() if whose == visitor]:
                    self._leave(before, earlier)
            job.visits[visit] = visitor
            job.priority = min(job.priority, new.priority)
            self._of_visitor[visitor] = job
            if job is new:
                self._waiting.append(job)
        self._give_out()
        return job, visit

    def _leave(self, job: Job, visit: object) -> None:
        with self._lock:
            visitor = job.visits.pop(visit, None)
            if self._of_visitor.get(visitor) is job and visitor not in job.visitors:
                del self._of_visitor[visitor]
            if job.visits or job.finished or job.holders:
                return
            self._finish(job, error=RunRefused(REPLACED))  # read only by one whose visitor has begun another
            worker = next((each for each in self._workers.values() if each.job is job), None)
        if worker is not None:
            self._cancel(worker, job)

    def _cancel(self, worker: WorkerProcess, job: Job) -> None:
        with self._lock:
            if worker.job is not job or worker.cancelled_at is not None:
                return
            worker.resume()  # as far as it takes to drop the job
            worker.cancelled_at, run_number = time.monotonic(), worker.run_number
        worker.tell_to_cancel(run_number)

    def _tell_enough(self, job: Job) -> None:
        with self._lock:
            told = [(worker, worker.run_number) for worker in self._workers.values() if worker.job is job]
        for worker, run_number in told:
            worker.tell_enough(run_number)

    def _forget(self, job: Job) -> None:
        if self._wanted.get(job.key) is job:
            del self._wanted[job.key]
        if job in self._waiting:
            self._waiting.remove(job)

    def _ahead_of(self, job: Job) -> int:
        """How many come before a job that waits."""
        return in_order(self._waiting, time.monotonic()).index(job)

    # What workers do

    def _give_out(self) -> None:
        """Gives out the jobs that come next, as far as there are workers. The pipes are written to outside the lock: a job may
        be megabytes."""
        while True:
            with self._lock:
                told = self._next_order()
            if told is None:
                return
            for tell in told:
                tell()

    def _next_order(self) -> Sequence[Callable[[], None]] | None:
        """What workers are to be told next: to begin a job, to stand still for one that a page waits for, or to go on."""
        busy = [worker for worker in self._workers.values() if worker.job is not None]
        paused = [worker for worker in busy if worker.paused_at is not None]
        working = [worker.job for worker in busy if worker.job is not None and worker.paused_at is None]
        room = len(working) < self.limits.workers
        workers = min(len(self._workers), self.limits.workers)
        job = next_job(self._waiting, working, workers, time.monotonic())
        free = self._free_for(job)
        if room and paused and (job is None or free is None or job.priority is Priority.BACKGROUND):
            paused[0].resume()
            return [paused[0].tell_whether_paused]
        if job is None or free is None:
            return None
        aside = None if room else _standing_aside(busy, job)
        if not room and aside is None:
            return None
        self._waiting.remove(job)
        free.take(job)
        self._given.set()
        if aside is None:
            return [partial(self._begin, free, job)]
        aside.pause()
        return [aside.tell_whether_paused, partial(self._begin, free, job)]

    def _begin(self, worker: WorkerProcess, job: Job) -> None:
        """What cannot be sent is the fault of the job, not of whoever happens to send it."""
        try:
            worker.begin()
        except Exception as error:
            with self._lock:
                if worker.job is job:
                    worker.job = None
                if not job.finished:
                    self._finish(job, error=error)

    def _free_for(self, job: Job | None) -> WorkerProcess | None:
        """A worker that is free, if there is one that has worked for the same visitor, who goes on with the same target."""
        free = [worker for worker in self._workers.values() if worker.is_free]
        wanted = set() if job is None else job.visitors
        return next((worker for worker in free if not wanted.isdisjoint(worker.known_to)), next(iter(free), None))

    # What workers say

    def _attend(self, number: int) -> None:
        """Listens to one worker for as long as the server runs, and starts another in its place when it dies."""
        if number > 0:
            self._was_ready[number - 1].wait(TURN)  # all at once would keep the first visitor waiting for all of them
        while self._open:
            try:
                worker = self._start_worker(number)
            except OSError as error:  # the system has neither memory nor a process to give
                _log.warning("worker %d cannot be started now (%s); it is tried again", number, error)
                time.sleep(PAUSE)
                continue
            with self._lock:
                self._workers[number] = worker
                if not self._open:
                    worker.kill()
            self._listen(worker)
            worker.process.wait()
            if worker.retired:
                return
            was_ready = worker.ready
            self._lost(worker)
            if not was_ready:
                time.sleep(PAUSE)  # it will hardly do better at once

    def _listen(self, worker: WorkerProcess) -> None:
        """Until it dies, or says what cannot be read: then it is ended, and whoever waits for its job is told."""
        try:
            while True:
                self._heard(worker, *worker.listen())
        except (EOFError, OSError):
            worker.process.kill()  # should it only have closed its pipe
        except Exception as error:
            _log.exception("worker %d is ended: its message cannot be read", worker.number)
            name = type(error).__name__
            worker.kill(RuntimeError(f"a run must end with an answer that can be read (got {name}); ask for another"))

    def _heard(self, worker: WorkerProcess, kind: str, run_number: int, value: Any) -> None:
        with self._lock:
            job = worker.job
            if kind == READY:
                self._was_ready[worker.number].set()
                worker.ready = bool(value)
                if not worker.ready:  # there are fewer devices than workers
                    worker.retired = True
                    del self._workers[worker.number]
            elif job is None or run_number != worker.run_number:
                return
            elif kind == PROGRESS:
                job.progress = value
                job.reports += 1
                job.changed.notify_all()
                return
            else:
                worker.job = None
                if not job.finished:
                    self._finish(job, result=value if kind == DONE else None, error=value if kind == FAILED else None)
        self._give_out()

    def _lost(self, worker: WorkerProcess) -> None:
        """A worker has died. Its job goes to another, unless it was ended on purpose or takes every worker with it."""
        with self._lock:
            job, worker.job, worker.ready = worker.job, None, False
            if job is not None and not job.finished:
                self._try_again(job, worker.ended_because)
        self._give_out()  # also where nobody waits for its job: there is room for what stands still

    def _try_again(self, job: Job, ended_because: Exception | None) -> None:
        job.attempts += 1
        if ended_because is not None:
            self._finish(job, error=ended_because)
        elif job.attempts >= ATTEMPTS:
            died = f"a run must not end its worker process ({ATTEMPTS} have died of it); ask for less"
            self._finish(job, error=RuntimeError(died))
        else:
            self._waiting.append(job)

    def _finish(self, job: Job, result: Any = None, error: BaseException | None = None) -> None:
        if not job.holders:
            self._forget(job)
        job.finished, job.result, job.error = True, result, error
        job.changed.notify_all()

    # Limits

    def _watch(self) -> None:
        while self._open:
            self._given.wait()
            time.sleep(POLL)
            with self._lock:
                busy = [(worker, worker.job) for worker in self._workers.values() if worker.job is not None]
                if not busy and self._open:
                    self._given.clear()
            for worker, job in busy:
                self._check(worker, job, time.monotonic())

    def _check(self, worker: WorkerProcess, job: Job, now: float) -> None:
        cancelled_at = worker.cancelled_at
        if worker.paused_at is not None:
            return  # its time stands still with it, and it takes no more memory
        if cancelled_at is not None:
            if now - cancelled_at > GRACE:
                worker.kill(worker.ended_because)
        elif now - worker.began > self.limits.run_seconds:
            self._end(worker, job, f"a run may take {self.limits.run_seconds} seconds (this one took longer)")
            self._cancel(worker, job)
        elif worker.memory() - worker.memory_before > self.limits.run_memory * MB:
            self._end(worker, job, f"a run may take {self.limits.run_memory:,} MB of memory (this one took more)")
            worker.kill(worker.ended_because)

    def _end(self, worker: WorkerProcess, job: Job, rule: str) -> None:
        """Those who wait for a run are told at once why it is ended."""
        refused = RunRefused(f"{rule}; {self._way_out}")
        with self._lock:
            if worker.job is job and not job.finished:
                worker.ended_because = refused
                self._finish(job, error=refused)


def _standing_aside(busy: Sequence[WorkerProcess], job: Job) -> WorkerProcess | None:
    """A worker whose job the page can do without, while there is one that somebody waits for."""
    if job.in_background:
        return None
    return next((each for each in busy if each.paused_at is None and each.can_stand_aside), None)
