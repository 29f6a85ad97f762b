"""What every fuzz test holds a call to: errors of our own with a short sentence, little time and little memory."""

import linecache
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[2]
OURS = (ROOT / "explainer_core", ROOT / "dashboard")
LONGEST = 500  # letters of a message
SECONDS = 5  # of one example
RESET_PEAK, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
MEGABYTES = 500  # that all examples of a test may add to what the process held before


def examples(count: int) -> settings:
    """So many examples, the same in every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,  # by the clock on the wall, which a busy machine slows; in_time counts the seconds that were worked
        suppress_health_check=list(HealthCheck),
    )


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, Exception | None]:
    """What a call gives, or the error it is refused with, which must be one of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what a user may read on the way; overflows are errors
        warnings.simplefilter("error", RuntimeWarning)
        try:
            with in_time():
                return call(*arguments, **options), None
        except Exception as error:
            check_error(error)
            return None, error


def check_error(error: Exception) -> None:
    """Raised by a line of ours that says `raise`, and not by a library or by an operation that went wrong."""
    innermost = error.__traceback__
    assert innermost is not None
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    if not _raised_by_us(innermost):
        raise AssertionError(f"not an error of ours: {type(error).__name__}: {str(error)[:300]}") from error
    message = str(error)
    assert 0 < len(message) <= LONGEST, f"a message has {len(message)} letters: {message[:LONGEST]}"


def _raised_by_us(frame: TracebackType) -> bool:
    path = Path(frame.tb_frame.f_code.co_filename)
    line = linecache.getline(str(path), frame.tb_lineno).strip()
    return any(path.is_relative_to(folder) for folder in OURS) and line.startswith("raise ")


@contextmanager
def in_time() -> Iterator[None]:
    """Ends as it likes, and soon. What never ends is for pytest's own timeout."""
    began = time.process_time()
    try:
        yield
    finally:
        took = time.process_time() - began
        assert took <= SECONDS, f"an example took {took:.1f} s"


@contextmanager
def little_memory() -> Iterator[None]:
    if RESET_PEAK.exists():
        RESET_PEAK.write_text("5", encoding="ascii")  # or what an earlier test took would hide what these take
    before = _peak()
    yield
    added = (_peak() - before) // 1024
    assert added <= MEGABYTES, f"the examples took {added} MB"


def _peak() -> int:
    """Kilobytes. The status file of Linux knows of the reset, getrusage does not."""
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = [line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])
