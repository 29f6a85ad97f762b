"""Worker processes: nobody waits for another's long run, nothing runs for nobody, and no answer is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
import toy_tasks

from dashboard.jobs.job import Job, Priority, RunRefused, Waiting, next_job
from dashboard.jobs.pool import GRACE, RETELL, Pool
from dashboard.jobs.process import WorkerProcess
from dashboard.limits import Limits

HERE = Path(__file__).parent
START = f"import sys; sys.path.insert(0, {str(HERE)!r}); from dashboard.jobs.worker import main; main('toy_tasks')"
COMMAND = (sys.executable, "-c", START)


class Left(BaseException):
    """As Streamlit ends the script of a visitor who has left."""


def opened(**limits) -> Pool:
    pool = Pool(Limits(**({"workers": 2} | limits)), partial(WorkerProcess, command=COMMAND))
    pool.start()
    until(lambda: sum(worker.ready for worker in pool._workers.values()) >= min(pool.limits.workers, 2))
    return pool


@pytest.fixture
def pool():
    pool = opened()
    yield pool
    pool.close()


def until(holds, seconds: float = 20.0) -> None:
    """Waits for something that must come true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def run(pool: Pool, task, *args, visitor="one", key=None, **rest):
    return pool.run(task, args, key=key or (task, args), visitor=visitor, **rest)


class Visit(threading.Thread):
    """A visitor who waits for a task in a thread of their own, and can leave."""

    def __init__(self, pool: Pool, task, *args, **rest):
        super().__init__(daemon=True)
        self.leaving, self.result, self.error, self.heard = threading.Event(), None, None, []
        visitor, rest = rest.pop("visitor", id(self)), rest
        self.ask = partial(
            run, pool, task, *args, visitor=visitor, pulse=self.pulse, on_progress=self.heard.append, **rest
        )
        self.start()

    def pulse(self) -> None:
        if self.leaving.is_set():
            raise Left

    def run(self) -> None:
        try:
            self.result = self.ask()
        except BaseException as error:
            self.error = error

    def leave(self) -> None:
        self.leaving.set()
        self.join(5)


def is_running(pool: Pool) -> bool:
    return any(worker.job is not None for worker in pool._workers.values())


def test_results_and_errors_come_back(pool):
    assert run(pool, toy_tasks.tell, 3) == "told"
    with pytest.raises(RunRefused, match=r"^too much$"):
        run(pool, toy_tasks.refuse, "too much")
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        run(pool, toy_tasks.divide)
    with pytest.raises(Exception, match=r"\(1, 2\)"):
        run(pool, toy_tasks.odd)
    assert run(pool, toy_tasks.chatter) == "quiet"
    assert run(pool, toy_tasks.tell, 1) == "told"


def test_progress_is_heard_in_order_by_all_who_wait(pool):
    visits = [Visit(pool, toy_tasks.tell, 20) for _ in range(3)]
    for visit in visits:
        visit.join(10)
        said = [progress for progress in visit.heard if isinstance(progress, int)]
        assert visit.result == "told"
        assert said == sorted(said)
        assert said[-1] == 19


def test_the_same_asked_by_twenty_is_one_run(pool, tmp_path):
    path = tmp_path / "runs"
    with ThreadPoolExecutor(20) as threads:
        found = list(threads.map(lambda i: run(pool, toy_tasks.note, str(path), visitor=i), range(20)))
    assert len(set(found)) == 1
    assert path.read_text() == "run\n"
    run(pool, toy_tasks.note, str(path))  # what is finished is not kept here
    assert path.read_text() == "run\nrun\n"


def begun(pool: Pool, task, *args, visitor="one"):
    return pool.begun(task, args, key=(task, args), visitor=visitor)


def test_a_run_that_was_begun_is_not_run_again_though_it_was_finished_first(pool, tmp_path):
    path = tmp_path / "runs"
    with begun(pool, toy_tasks.note, str(path)):
        until(path.exists)
        until(lambda: not is_running(pool))
        assert run(pool, toy_tasks.note, str(path)) == run(pool, toy_tasks.note, str(path), visitor="two")
        assert path.read_text() == "run\n"
        assert run(pool, toy_tasks.tell, 1) == "told"  # what follows on the page
    run(pool, toy_tasks.note, str(path))  # nothing is kept after the block
    assert path.read_text() == "run\nrun\n"
    with begun(pool, toy_tasks.refuse, "too much"), pytest.raises(RunRefused, match=r"^too much$"):
        run(pool, toy_tasks.refuse, "too much")


def test_a_run_that_was_begun_is_not_lost_with_its_worker_though_its_visitor_asks_for_something_else(pool, tmp_path):
    with begun(pool, toy_tasks.note, str(tmp_path / "runs")):
        until(lambda: is_running(pool))
        (worker,) = [worker for worker in pool._workers.values() if worker.job is not None]
        assert run(pool, toy_tasks.tell, 1) == "told"  # from here on nobody is written down as waiting for the first
        worker.process.kill()
        until(lambda: worker.process.pid not in pool.processes)
        assert run(pool, toy_tasks.note, str(tmp_path / "runs")) in pool.processes


def test_a_run_that_was_begun_ends_with_the_block_unless_another_waits_for_it(pool):
    with begun(pool, toy_tasks.wait, 30.0):
        until(lambda: is_running(pool))
        assert run(pool, toy_tasks.tell, 1) == "told"
        assert is_running(pool)  # another run of the same visitor does not end what was begun
    until(lambda: not is_running(pool), seconds=0.5)
    with begun(pool, toy_tasks.wait, 0.5):
        until(lambda: is_running(pool))
        other = Visit(pool, toy_tasks.wait, 0.5, visitor="two")
        until(lambda: len(next(iter(pool._wanted.values())).visitors) == 2)
    other.join(10)
    assert other.result in pool.processes


def test_a_run_ends_when_its_visitor_leaves_and_the_worker_goes_on(pool):
    before = set(pool.processes)
    visit = Visit(pool, toy_tasks.wait, 30.0)
    until(lambda: is_running(pool))
    left = time.monotonic()
    visit.leave()
    until(lambda: not is_running(pool), seconds=0.5)
    assert time.monotonic() - left < 0.5
    assert isinstance(visit.error, Left)
    assert run(pool, toy_tasks.wait, 0.01) in pool.processes
    assert before <= set(pool.processes)  # the spare one may have come meanwhile


def test_a_worker_that_cannot_be_mended_after_an_interruption_makes_room_for_another(pool):
    visit = Visit(pool, toy_tasks.spoil, 30.0)
    until(lambda: is_running(pool))
    (spoilt,) = [worker.process.pid for worker in pool._workers.values() if worker.job is not None]
    visit.leave()
    until(lambda: spoilt not in pool.processes)
    assert run(pool, toy_tasks.wait, 0.01) != spoilt


def test_a_module_that_is_being_loaded_is_not_left_half_loaded(tmp_path):
    lines = "import time", "until = time.monotonic() + 0.6", "while time.monotonic() < until: pass", "whole = True"
    (tmp_path / "slow_to_load.py").write_text("\n".join(lines))
    pool = opened(workers=1)
    try:
        visit = Visit(pool, toy_tasks.load, str(tmp_path))
        until(lambda: is_running(pool))
        worker = next(worker.number for worker in pool._workers.values() if worker.job)
        time.sleep(0.2)
        visit.leave()
        until(lambda: not is_running(pool), seconds=1.0)
        for number, other in pool._workers.items():
            other.ready = number == worker  # the same one again
        assert run(pool, toy_tasks.load, str(tmp_path)) is True
    finally:
        pool.close()


def test_a_run_goes_on_while_anybody_waits_for_it(pool, tmp_path):
    path = str(tmp_path / "runs")
    first = Visit(pool, toy_tasks.note, path)
    until(lambda: is_running(pool))
    second = Visit(pool, toy_tasks.note, path)
    until(lambda: any(worker.job and len(worker.job.visitors) == 2 for worker in pool._workers.values()))
    first.leave()
    second.join(10)
    assert second.result in pool.processes
    assert Path(path).read_text() == "run\n"


def test_a_visitor_has_one_run_at_a_time(pool):
    before = Visit(pool, toy_tasks.wait, 30.0, visitor="one")
    until(lambda: is_running(pool))
    assert run(pool, toy_tasks.tell, 1, visitor="one") == "told"
    until(lambda: not is_running(pool))
    before.leave()


def test_a_visitor_who_leaves_while_waiting_leaves_nothing(pool, tmp_path):
    busy = [Visit(pool, toy_tasks.wait, 2.0, key=i) for i in range(2)]
    until(lambda: len([w for w in pool._workers.values() if w.job]) == 2)
    waits = Visit(pool, toy_tasks.note, str(tmp_path / "runs"))
    until(lambda: any(isinstance(progress, Waiting) for progress in waits.heard))
    waits.leave()
    for visit in busy:
        visit.join(10)
    assert run(pool, toy_tasks.tell, 1) == "told"
    assert not (tmp_path / "runs").exists()
    assert not pool._waiting
    assert not pool._wanted


def test_who_waits_is_told_how_many_come_before(pool):
    busy = [Visit(pool, toy_tasks.wait, 1.5, key=i) for i in range(2)]
    until(lambda: len([w for w in pool._workers.values() if w.job]) == 2)
    waits = [Visit(pool, toy_tasks.wait, 0.1, key=("later", i)) for i in range(2)]
    for visit in (*busy, *waits):
        visit.join(10)
    assert Waiting(0) in waits[0].heard
    assert Waiting(1) in waits[1].heard
    assert all(visit.result for visit in waits)


def test_who_waits_is_told_no_more_often_than_anybody_reads(pool):
    """Others are served all the time: told of each of them, a crowd would have the server do nothing else."""
    busy = [Visit(pool, toy_tasks.wait, 2.0, key=i) for i in range(2)]
    until(lambda: len([w for w in pool._workers.values() if w.job]) == 2)
    others = [Visit(pool, toy_tasks.wait, 30.0, key=("leaves", i)) for i in range(20)]
    until(lambda: len(pool._waiting) == len(others))
    last = Visit(pool, toy_tasks.tell, 1)
    began = time.monotonic()
    for other in others:
        other.leave()
        time.sleep(0.05)
    for visit in (*busy, last):
        visit.join(10)
    assert last.result == "told"
    told = [progress.ahead for progress in last.heard if isinstance(progress, Waiting)]
    assert 2 <= len(told) <= 1 + (time.monotonic() - began) / RETELL
    assert told == sorted(told, reverse=True)
    assert told[0] > told[-1]


def test_short_runs_are_not_kept_waiting_by_long_ones(pool):
    long = [Visit(pool, toy_tasks.wait, 30.0, key=i, long=True) for i in range(4)]
    until(lambda: is_running(pool))
    began = time.monotonic()
    for i in range(5):
        assert run(pool, toy_tasks.wait, 0.01, key=("short", i))
    assert time.monotonic() - began < 3
    for visit in long:
        visit.leave()


def test_a_worker_that_is_killed_costs_nobody_an_answer(pool):
    visits = [Visit(pool, toy_tasks.wait, 1.0, key=i) for i in range(6)]
    for _ in range(3):
        time.sleep(0.4)
        killed = pool.processes[0]
        os.kill(killed, signal.SIGKILL)
        until(lambda pid=killed: pid not in pool.processes and all(w.ready for w in pool._workers.values()))
    for visit in visits:
        visit.join(30)
    assert [visit.error for visit in visits] == [None] * 6
    assert all(visit.result for visit in visits)


def test_a_run_that_ends_its_worker_is_tried_again_and_not_for_ever(pool, tmp_path):
    assert run(pool, toy_tasks.die_once, str(tmp_path / "died")) == "there"
    with pytest.raises(RuntimeError, match="5 have died of it"):
        run(pool, toy_tasks.die)
    assert run(pool, toy_tasks.tell, 1) == "told"


def test_a_worker_over_its_memory_is_ended_and_the_visitor_told():
    pool = opened(run_memory=256)
    try:
        assert run(pool, toy_tasks.take, 100) == 100
        before = set(pool.processes)
        with pytest.raises(RunRefused, match=r"256 MB of memory .this one took more.; choose fewer"):
            run(pool, toy_tasks.take, 4000)
        until(lambda: set(pool.processes) != before)
        assert run(pool, toy_tasks.tell, 1) == "told"
    finally:
        pool.close()


@pytest.mark.parametrize("task", [toy_tasks.wait, toy_tasks.hang], ids=["python", "not python"])
def test_a_run_over_its_time_is_ended_and_the_visitor_told(task):
    pool = opened(run_seconds=1)
    try:
        began = time.monotonic()
        with pytest.raises(RunRefused, match="may take 1 seconds"):
            run(pool, task, 60.0)
        assert time.monotonic() - began < 2
        until(lambda: not is_running(pool), seconds=GRACE + 3)
        assert run(pool, toy_tasks.tell, 1) == "told"
    finally:
        pool.close()


def test_there_is_a_worker_for_each_device_and_no_more(monkeypatch):
    monkeypatch.setenv("TOY_DEVICES", "2")
    pool = opened(workers=4)
    try:
        until(lambda: len(pool.processes) == 2)
        assert sorted(pool._workers) == [0, 1]
        assert run(pool, toy_tasks.tell, 1) == "told"
    finally:
        pool.close()


def test_workers_end_with_their_server():
    program = (
        f"import sys; sys.path[:0] = [{str(HERE)!r}]\n"
        "import test_pool, time\n"
        "pool = test_pool.opened()\n"
        "print(*pool.processes, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as server:
        workers = [int(word) for word in server.stdout.readline().split()]
        assert len(workers) >= 2
        assert all(psutil.pid_exists(pid) for pid in workers)
        server.kill()
    until(lambda: not any(psutil.pid_exists(pid) for pid in workers), seconds=5)


# The order, without processes


def job(name: str, priority: Priority = Priority.PICTURE, *, long: bool = False, at: float = 0.0) -> Job:
    return Job(name, print, (), priority, long, at, threading.Condition())


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ([job("later", at=1), job("first", at=0)], "first"),
        ([job("starts", Priority.BACKGROUND), job("below", Priority.BELOW, at=1), job("picture", at=2)], "picture"),
        ([job("long", long=True), job("short", at=5)], "short"),
        ([job("long", long=True, at=-20), job("short", at=5)], "long"),
    ],
)
def test_what_a_visitor_waits_for_most_comes_first(waiting, expected):
    assert next_job(waiting, [], 2, now=6.0).key == expected


def test_no_more_runs_at_a_time_than_workers_though_one_stands_by(pool):
    visits = [Visit(pool, toy_tasks.wait, 1.0, key=i) for i in range(4)]
    most = 0
    while any(visit.is_alive() for visit in visits):
        most = max(most, sum(worker.job is not None for worker in pool._workers.values()))
        time.sleep(0.01)
    assert most == 2
    assert len(pool.processes) == 3


# What the page can do without stands still for what somebody waits for

BACKGROUND = {"priority": Priority.BACKGROUND}


def stands_still(path: Path, seconds: float = 0.4) -> bool:
    before = path.stat().st_size
    time.sleep(seconds)
    return path.stat().st_size == before


def paused(pool: Pool) -> list[WorkerProcess]:
    return [worker for worker in pool._workers.values() if worker.paused_at is not None]


@pytest.fixture
def background(pool, tmp_path):
    """A run of the background, and the file that grows while it works."""
    until(lambda: len([worker for worker in pool._workers.values() if worker.ready]) == 3)
    path = tmp_path / "written"
    visit = Visit(pool, toy_tasks.write, str(path), 2000, **BACKGROUND)
    until(path.exists)
    return visit, path


def test_a_background_run_stands_still_while_pictures_take_all_workers_and_then_ends(pool, background):
    visit, path = background
    assert not stands_still(path)
    first = Visit(pool, toy_tasks.wait, 2.0, key="first")
    until(lambda: sum(worker.job is not None for worker in pool._workers.values()) == 2)
    assert not stands_still(path)  # there is a worker for each of them
    second = Visit(pool, toy_tasks.wait, 1.0, key="second")
    until(lambda: paused(pool))
    time.sleep(0.1)
    assert stands_still(path)
    assert not [progress for progress in second.heard if isinstance(progress, Waiting) and progress.ahead]
    for each in (first, second, visit):
        each.join(30)
        assert each.result in pool.processes
    assert path.stat().st_size == 2000
    assert not paused(pool)


def test_a_run_that_stands_still_ends_with_its_visitor_and_its_worker_goes_on(pool, background):
    visit, path = background
    pictures = [Visit(pool, toy_tasks.wait, 2.0, key=i) for i in range(2)]
    until(lambda: paused(pool))
    (worker,) = paused(pool)
    visit.leave()
    until(lambda: worker.job is None, seconds=0.5)
    for each in pictures:
        each.join(30)
    assert worker.process.pid in {run(pool, toy_tasks.wait, 0.3, key=i) for i in range(2)} | set(pool.processes)
    assert worker.process.poll() is None
    assert path.stat().st_size < 2000


def test_the_time_a_run_stands_still_does_not_count(tmp_path):
    pool = opened(run_seconds=3)
    try:
        until(lambda: len([worker for worker in pool._workers.values() if worker.ready]) == 3)
        path = tmp_path / "written"
        visit = Visit(pool, toy_tasks.write, str(path), 300, **BACKGROUND)
        until(path.exists)
        for turn in range(2):
            pictures = [Visit(pool, toy_tasks.wait, 2.0, key=(turn, i)) for i in range(2)]
            until(lambda: paused(pool))
            for each in pictures:
                each.join(30)
        visit.join(30)
        assert visit.error is None
        assert path.stat().st_size == 300
    finally:
        pool.close()


def test_a_worker_that_dies_while_its_run_stands_still_costs_no_answer(pool, background):
    visit, _ = background
    pictures = [Visit(pool, toy_tasks.wait, 1.0, key=i) for i in range(2)]
    until(lambda: paused(pool))
    paused(pool)[0].process.kill()
    for each in (*pictures, visit):
        each.join(60)
        assert each.error is None
        assert each.result


def test_nothing_stands_still_for_a_run_that_can_wait_itself(pool, background):
    visit, path = background
    Visit(pool, toy_tasks.wait, 1.0, key="picture")
    other = Visit(pool, toy_tasks.wait, 0.1, key="other", **BACKGROUND)
    until(lambda: any(isinstance(progress, Waiting) for progress in other.heard))
    assert not stands_still(path)
    visit.leave()
    other.join(30)
    assert other.result


def test_a_visitor_goes_on_with_the_worker_that_has_worked_for_them(pool):
    visits = {name: Visit(pool, toy_tasks.wait, 0.5, visitor=name, key=name) for name in ("one", "two")}  # at a time
    for visit in visits.values():
        visit.join(10)
    assert visits["one"].result != visits["two"].result
    for name in ("two", "one", "two", "two"):
        assert run(pool, toy_tasks.wait, 0.01, visitor=name) == visits[name].result


def test_of_two_threads_that_tell_a_worker_the_last_tells_how_it_is(monkeypatch):
    """One has decided to pause it, and comes to write only after another has told it to go on, or to begin anew."""
    told = []
    monkeypatch.setattr("dashboard.jobs.process.wire.widen", lambda pipe: None)
    monkeypatch.setattr("dashboard.jobs.process.wire.send", lambda pipe, message: told.append(message))
    monkeypatch.setattr("dashboard.jobs.process.subprocess.Popen", lambda *args, **rest: Mock(pid=os.getpid()))
    worker = WorkerProcess(0)
    worker.take(job("background", Priority.BACKGROUND))
    worker.pause()
    late = worker.tell_whether_paused
    worker.resume()
    worker.tell_whether_paused()
    late()
    assert told == [("resume", 1), ("resume", 1)]
    worker.pause()
    worker.take(job("picture"))
    late()
    assert told[-1] == ("resume", 2)


def test_a_worker_that_is_paused_and_resumed_all_the_time_is_never_stuck(pool, background):
    visit, path = background
    (worker,) = [worker for worker in pool._workers.values() if worker.job is not None]
    for _ in range(3000):
        worker.pause()
        worker.tell_whether_paused()
        worker.resume()
        worker.tell_whether_paused()
    visit.join(60)
    assert visit.result == worker.process.pid
    assert path.stat().st_size == 2000


def test_one_worker_is_kept_for_pictures():
    long, starts, picture = job("long", long=True), job("starts", Priority.BACKGROUND), job("picture", at=1)
    assert next_job([starts], [long], 2, now=2.0) is None
    assert next_job([starts, picture], [long], 2, now=2.0) is picture
    assert next_job([starts], [long], 3, now=2.0) is starts
    assert next_job([starts], [], 1, now=2.0) is starts
