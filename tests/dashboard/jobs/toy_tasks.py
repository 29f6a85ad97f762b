"""Tasks for the tests of the worker processes: small ones, each wrong in its own way. They load no torch."""

import importlib
import os
import sys
import time
from pathlib import Path

from dashboard.jobs.job import RunRefused


def warm_up(number: int) -> bool:
    return number < int(os.environ.get("TOY_DEVICES", "100"))


def restore() -> bool:
    """False once a run has left something behind that nobody can mend."""
    return not LEFT_BEHIND


LEFT_BEHIND: list[str] = []


def spoil(seconds: float, *, emit) -> None:
    LEFT_BEHIND.append("something")
    wait(seconds, emit=emit)


def note(path: str, *, emit) -> int:
    """Leaves a line in a file, so that runs can be counted, and says which process this is."""
    with Path(path).open("a") as file:
        file.write("run\n")
    time.sleep(0.3)
    return os.getpid()


def tell(times: int, *, emit) -> str:
    for i in range(times):
        emit(i)
        time.sleep(0.02)
    return "told"


def wait(seconds: float, *, emit) -> int:
    """Busy in Python, and says nothing."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))
    return os.getpid()


def write(path: str, times: int, *, emit) -> int:
    """One byte more in a file for each turn, busy in Python in between, so that one sees whether it stands still."""
    with Path(path).open("ab", buffering=0) as file:
        for _ in range(times):
            file.write(b".")
            sum(range(100_000))
    return os.getpid()


def hang(seconds: float, *, emit) -> None:
    """Not in Python, so that no exception can reach it."""
    time.sleep(seconds)


def refuse(sentence: str, *, emit) -> None:
    raise RunRefused(sentence)


def divide(*, emit) -> float:
    return 1 / 0


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def odd(*, emit) -> None:
    raise Odd(1, 2)


def take(megabytes: int, *, emit) -> int:
    kept = []
    for _ in range(megabytes):
        kept.append(b"x" * 2**20)
        time.sleep(0.001)
    return len(kept)


def die(*, emit) -> None:
    os._exit(1)


def die_once(path: str, *, emit) -> str:
    if not Path(path).exists():
        Path(path).touch()
        os._exit(1)
    return "there"


def load(folder: str, *, emit) -> bool:
    """Loads a module that takes its time, and says whether it is whole."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("slow_to_load").whole


def chatter(*, emit) -> str:
    """What a library prints must not come between two messages."""
    sys.stdout.write("hello")
    sys.stdout.flush()
    os.write(1, b"\x00\x00\x00\x00\x00\x00\x00\x05hello")
    return "quiet"


def count(*, emit) -> int:
    """Counts until it is enough."""
    found = 0
    while not emit(found):
        found += 1
        time.sleep(0.02)
    return found


def niceness(*, emit) -> int:
    return os.nice(0)


class Unreadable:
    """Written without trouble, and read by nobody."""

    def __reduce__(self):
        return int, ("no number",)


def unreadable(*, emit) -> Unreadable:
    return Unreadable()


def unsendable(*, emit) -> object:
    return lambda: None
