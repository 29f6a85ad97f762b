"""What one server gives at most: visitors, worker processes, seconds and memory of one run, bytes of the caches.

They come from the environment, which the command `run` sets, so that the server and its worker processes read the same. The
checks are written as those of the core, which is not imported: whoever counts visitors need not wait for torch.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None

PREFIX = "GRAPH_EXPLAINER_"
MB = 2**20
LONGEST = 20  # digits of the largest number that is read
FILES, FILES_OF_VISITOR = 1_024, 10  # that may be open
MOST_FILES = 10_240  # where there is no limit: macOS takes no more


def cores() -> int:
    """Those this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit(default: Any, *, low: int, high: int, help: str) -> Any:
    """A limit that knows its range, so that the check, the command and its help read the same numbers."""
    known = {"low": low, "high": high, "help": help}
    return (
        field(default_factory=default, metadata=known) if callable(default) else field(default=default, metadata=known)
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Checked when they are made."""

    visitors: int = limit(60, low=1, high=10_000, help="open pages at a time; the next one is asked to wait")
    workers: int = limit(cores, low=1, high=256, help="processes that explain; as many as cores unless set")
    run_seconds: int = limit(30, low=1, high=3_600, help="seconds one run may take")
    train_seconds: int = limit(
        120, low=1, high=1_800, help="seconds one training may take; nobody's picture waits for it"
    )
    run_memory: int = limit(1_024, low=256, high=1_048_576, help="megabytes one run may take")
    cache_bytes: int = limit(512 * MB, low=MB, high=2**50, help="bytes of all that is kept for the next visitor")

    def __post_init__(self) -> None:
        for each in fields(self):
            _check(each.name, getattr(self, each.name), each.metadata)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Limits":
        environment = os.environ if environment is None else environment
        return cls(
            **{each.name: _read(each, environment) for each in fields(cls) if variable(each.name) in environment}
        )

    def to_environment(self) -> dict[str, str]:
        return {variable(each.name): str(getattr(self, each.name)) for each in fields(self)}


def allow_open_files(visitors: int) -> None:
    """A browser holds up to seven connections, and Streamlit three files for each page that is open or was just left: with
    the usual 1,024 files a class that reloads would find a server that takes no connection and starts no worker."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES + FILES_OF_VISITOR * visitors
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = min(wanted, MOST_FILES if hard == resource.RLIM_INFINITY else hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return PREFIX + name.upper()


def whole_number(text: str) -> int | str:
    """The number that plain digits mean; any other text as it is, for the check to refuse."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else text


def _read(limit_field: Any, environment: Mapping[str, str]) -> Any:
    name = variable(limit_field.name)
    value = whole_number(environment[name])
    try:
        _check(name, value, limit_field.metadata)
    except ValueError as broken:
        raise ValueError(f"{broken}; correct the environment variable or unset it") from None
    return value


def _check(name: str, value: object, known: Mapping[str, Any]) -> None:
    if type(value) is not int or not known["low"] <= value <= known["high"]:
        raise ValueError(f"{name} must be {known['low']:,} to {known['high']:,} (got {shortened(value)})")


def shortened(value: object, longest: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"
