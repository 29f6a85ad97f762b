"""Worker processes in an unlucky order: who comes while another leaves, what dies while it stands still, what cannot be read."""

import threading
import time
from functools import partial

import psutil
import pytest
import test_pool
import toy_tasks
from test_pool import BACKGROUND, COMMAND, Visit, begun, is_running, opened, paused, run, until

from dashboard.jobs.job import Job, RunRefused, Waiting
from dashboard.jobs.pool import Pool
from dashboard.jobs.process import WorkerProcess
from dashboard.limits import Limits

pool, background = test_pool.pool, test_pool.background  # fixtures


def busy(pool: Pool) -> list[WorkerProcess]:
    return [worker for worker in pool._workers.values() if worker.job is not None]


def all_ready(pool: Pool) -> None:
    until(lambda: [worker.ready for worker in pool._workers.values()] == [True] * 3)


def test_a_visitor_who_asks_the_same_again_gets_it_though_the_page_of_before_leaves(pool):
    """Streamlit begins a new run of the script before the one of before has ended."""
    before = Visit(pool, toy_tasks.wait, 1.0, visitor="one")
    until(lambda: is_running(pool))
    again = Visit(pool, toy_tasks.wait, 1.0, visitor="one")
    time.sleep(0.2)  # both wait for the same run
    before.leave()
    again.join(10)
    assert again.result in pool.processes


def test_a_run_that_another_of_its_visitor_takes_the_place_of_ends_with_a_sentence(pool):
    """Waiting or running: nobody is given nothing for an answer, and nobody waits for ever."""
    hold = [Visit(pool, toy_tasks.wait, 2.0, key=i) for i in range(2)]
    until(lambda: len(busy(pool)) == 2)
    waits = Visit(pool, toy_tasks.wait, 0.1, visitor="one", key="first")
    until(lambda: pool._waiting)
    after = Visit(pool, toy_tasks.wait, 1.0, visitor="one", key="second")
    waits.join(5)
    for each in hold:
        each.join(10)
    until(lambda: is_running(pool))
    last = Visit(pool, toy_tasks.wait, 0.1, visitor="one", key="third")
    after.join(5)
    last.join(10)
    assert last.result
    for each in (waits, after):
        assert isinstance(each.error, RunRefused)
        assert "one run at a time" in str(each.error)


def test_a_long_run_is_not_kept_waiting_by_one_that_stands_still(pool, background, monkeypatch):
    """Pictures keep coming, so the background stands still; a long run that somebody waits for must come all the same."""
    monkeypatch.setattr("dashboard.jobs.job.PATIENCE", 1.0)
    stop = threading.Event()

    def keep_asking(name: str) -> None:
        for i in range(1000):
            if stop.is_set():
                return
            run(pool, toy_tasks.wait, 0.3, visitor=name, key=(name, i))

    askers = [threading.Thread(target=keep_asking, args=(f"picture {i}",), daemon=True) for i in range(4)]
    for each in askers:
        each.start()
    until(lambda: paused(pool))
    long = Visit(pool, toy_tasks.wait, 0.2, key="long", long=True)
    long.join(8)
    stop.set()
    for each in askers:
        each.join(10)
    assert long.result
    visit, path = background
    visit.join(60)
    assert path.stat().st_size == 2000


def greedy_job(pool: Pool) -> Job:
    return next(job for job in pool._wanted.values() if job.task is toy_tasks.take)


def test_what_stands_still_goes_on_as_soon_as_a_worker_is_ended_for_its_limits(tmp_path, monkeypatch):
    pool = opened(run_memory=256)
    try:
        all_ready(pool)
        path = tmp_path / "written"
        Visit(pool, toy_tasks.write, str(path), 5000, **BACKGROUND)
        until(path.exists)
        stays = Visit(pool, toy_tasks.wait, 20.0, key="stays")
        until(lambda: len(busy(pool)) == 2)
        greedy = Visit(pool, toy_tasks.take, 4000)
        until(lambda: paused(pool))
        (ended,) = [worker for worker in busy(pool) if worker.job is greedy_job(pool)]
        monkeypatch.setattr(pool, "_start_worker", lambda number: time.sleep(60))  # another would set things going too
        greedy.join(20)
        assert isinstance(greedy.error, RunRefused)
        until(lambda: ended.process.poll() is not None)
        until(lambda: not paused(pool), seconds=0.5)
        stays.leave()
    finally:
        pool.close()


class Unsendable:
    def __reduce__(self):
        raise TypeError("this cannot be sent")


def test_what_cannot_be_sent_to_a_worker_is_told_to_whoever_asked(pool):
    for _ in range(3):  # as often as there are workers: none may be lost
        with pytest.raises(TypeError, match="this cannot be sent"):
            run(pool, toy_tasks.tell, Unsendable(), key="unsendable")
    assert run(pool, toy_tasks.tell, 1) == "told"
    assert not busy(pool)
    assert not pool._wanted


def test_an_answer_that_cannot_be_read_costs_its_own_run_only(pool):
    all_ready(pool)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="must end with an answer that can be read"):
            run(pool, toy_tasks.unreadable)
    with pytest.raises(RuntimeError, match="must end with an answer that can be sent"):
        run(pool, toy_tasks.unsendable)
    with pytest.raises(RuntimeError, match="5 have died of it"):
        run(pool, toy_tasks.tell, toy_tasks.Unreadable(), key="unreadable")
    assert run(pool, toy_tasks.tell, 1) == "told"
    all_ready(pool)


def test_a_worker_that_cannot_be_started_is_started_later(monkeypatch):
    """The system may have neither memory nor processes to give for a while."""
    monkeypatch.setattr("dashboard.jobs.pool.PAUSE", 0.1)
    failures = [OSError("out of memory")] * 2

    def start(number: int) -> WorkerProcess:
        if failures:
            raise failures.pop()
        return WorkerProcess(number, COMMAND)

    pool = Pool(Limits(workers=1), start, spare=0)
    pool.start()
    try:
        visit = Visit(pool, toy_tasks.tell, 1)
        visit.join(10)
        assert visit.result == "told"
    finally:
        pool.close()


def test_a_pool_that_is_closed_leaves_nobody_waiting_and_no_process_behind():
    starting, go_on, started = threading.Event(), threading.Event(), []

    def start(number: int) -> WorkerProcess:
        starting.set()
        go_on.wait(10)
        started.append(WorkerProcess(number, COMMAND))
        return started[-1]

    pool = Pool(Limits(workers=1), start, spare=0)
    pool.start()
    waits = Visit(pool, toy_tasks.tell, 1)
    assert starting.wait(10)
    with begun(pool, toy_tasks.note, "nowhere"):
        pool.close()  # while a worker is being started
        go_on.set()
        waits.join(5)
        assert isinstance(waits.error, RunRefused)
        assert not pool._waiting
    late = Visit(pool, toy_tasks.tell, 1)
    late.join(5)
    assert isinstance(late.error, RunRefused)
    until(lambda: started and started[0].process.poll() is not None)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_workers_killed_again_and_again_leave_nothing_behind(share):
    """No file, thread or process more than before, and an answer all the same."""
    pool = Pool(Limits(workers=2), partial(WorkerProcess, command=COMMAND))
    pool.start()
    try:
        all_ready(pool)
        here = psutil.Process()

        def held() -> tuple[int, ...]:
            return here.num_fds(), threading.active_count(), len(here.children())

        before = held()
        for i in range(share(200)):
            visit = Visit(pool, toy_tasks.wait, 0.2, key=i)
            until(lambda: busy(pool))
            worker = busy(pool)[0]
            worker.process.kill()
            until(lambda dead=worker: dead.process.pid not in pool.processes)
            visit.join(30)
            assert visit.error is None
            all_ready(pool)
        del worker, visit
        assert all(now <= then for now, then in zip(held(), before, strict=True))
    finally:
        pool.close()


def test_who_waits_behind_a_run_that_stands_still_is_told_so(pool, background):
    pictures = [Visit(pool, toy_tasks.wait, 1.0, key=i) for i in range(2)]
    until(lambda: paused(pool))
    waits = Visit(pool, toy_tasks.wait, 0.1, key="later")
    waits.join(20)
    assert waits.result
    assert Waiting(0) in waits.heard
    for each in pictures:
        each.join(10)
