"""Runs that go on without a page: in processes of their own, for which no picture waits, and which end with the server."""

import os
import threading
import time
from functools import partial

import psutil
import pytest
import toy_tasks
from test_pool import COMMAND, Visit, is_running, opened, run, until

from dashboard import jobs
from dashboard.jobs.process import BEHIND_SERVER, WorkerProcess
from dashboard.limits import Limits


@pytest.fixture
def server(monkeypatch):
    """One with a single worker, which is free."""
    monkeypatch.setattr(jobs, "WorkerProcess", partial(WorkerProcess, command=COMMAND))
    monkeypatch.setattr(jobs, "_here", jobs._Here(pool=opened(workers=1, train_seconds=1)))
    yield jobs._here
    jobs.stop_workers()


def begin(task, *args, visitor="ann", watched=lambda: True):
    return jobs.begin_background(task, *args, visitor=visitor, keep=lambda found: ("kept", found), is_watched=watched)


def test_a_run_is_kept_and_its_progress_can_be_looked_at(server):
    one = begin(toy_tasks.count)
    until(lambda: isinstance(one.progress, int) and one.progress > 3)
    one.stop()
    one.join(5)
    assert one.finished
    assert one.error is None
    assert one.result == ("kept", one.progress)


def test_no_picture_waits_for_runs_in_the_background(server):
    runs = [begin(toy_tasks.count, visitor=name) for name in ("ann", "bob", "eve")]
    until(lambda: runs[0].begun)
    began = time.monotonic()
    for i in range(5):
        assert run(server.pool, toy_tasks.wait, 0.01, visitor="ann", key=("short", i))
    assert time.monotonic() - began < 2
    assert runs[0].begun  # and it goes on: to ask for something else does not end it
    assert not runs[0].finished
    assert not runs[1].begun  # they take turns
    runs[0].stop()
    until(lambda: runs[1].begun)


@pytest.mark.skipif(os.name != "posix", reason="niceness is a number there")
def test_they_work_with_what_others_leave_of_the_machine(server):
    one = begin(toy_tasks.niceness)
    one.join(20)
    assert one.result == ("kept", 19)
    # the server draws for everybody, and goes first
    assert run(server.pool, toy_tasks.niceness) == min(19, os.nice(0) + BEHIND_SERVER)


def test_one_that_waits_and_is_stopped_ends_with_nothing(server):
    first, second = begin(toy_tasks.count), begin(toy_tasks.count, visitor="bob")
    until(lambda: first.begun and second.progress is not None)
    second.stop()
    second.join(5)
    assert (second.finished, second.result, second.error) == (True, None, None)
    assert not first.finished


def test_one_that_nobody_watches_comes_to_its_end(server):
    watched = threading.Event()
    watched.set()
    one = begin(toy_tasks.count, watched=watched.is_set)
    until(lambda: one.begun)
    watched.clear()
    one.join(5)
    assert one.result[0] == "kept"


def test_what_goes_wrong_is_told(server):
    one = begin(toy_tasks.refuse, "too much")
    one.join(20)
    assert str(one.error) == "too much"
    assert one.result is None
    lasting = begin(toy_tasks.wait, 60.0)
    lasting.join(20)
    assert "a run may take 2 seconds (this one took longer); choose fewer layers" in str(lasting.error)


def test_they_end_with_the_server(server):
    one, waits = begin(toy_tasks.count), begin(toy_tasks.count, visitor="bob")
    until(lambda: one.begun)
    processes = jobs.processes()
    assert len(processes) == 3  # one that explains, one to spare, one in the background
    jobs.stop_workers()
    assert one.finished
    assert waits.finished
    until(lambda: not any(psutil.pid_exists(number) for number in processes), seconds=5)


def test_without_workers_they_run_in_a_thread():
    one = begin(toy_tasks.count)
    until(lambda: one.begun)
    one.stop()
    one.join(5)
    assert one.result == ("kept", one.progress)
    other = begin(toy_tasks.count)
    until(lambda: other.begun)
    jobs.stop_workers()
    assert (other.finished, other.result) == (True, None)


def test_whoever_waits_for_a_run_is_told_when_the_server_ends():
    pool = opened(workers=1)
    visit = Visit(pool, toy_tasks.wait, 30.0)
    until(lambda: is_running(pool))
    pool.close()
    visit.join(5)
    assert "a run must end with its server" in str(visit.error)


def test_half_as_many_processes_as_explain_and_one_at_least():
    for workers, background in ((1, 1), (2, 1), (3, 1), (8, 4)):
        assert jobs.background_limits(Limits(workers=workers)).workers == background
