"""Bounded caches shared by all visitors: what twenty ask for at the same time is worked out once, and all are cleared in one call."""

import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")
MB = 2**20
NUMBERS = {bool, int, float}
NUMBER = 32  # bytes of a Python number, about
SAMPLED = 5  # of many of one kind so many are looked at, about
_CACHES: "weakref.WeakSet[Cache]" = weakref.WeakSet()


class Left(Exception):
    """Whoever was working a value out has left; those who waited for it go on by themselves."""


class Cache(Generic[Value]):
    """The values asked for last, at most so many and so many bytes of them. They are shared: nobody may change one."""

    def __init__(self, limit: int, max_bytes: int = 64 * MB):
        self._limit = limit
        self._values: LRUCache = LRUCache(max_bytes, getsizeof=size_in_bytes)
        self._pending: dict[Hashable, Future] = {}
        self._lock = threading.Lock()
        _CACHES.add(self)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size_in_bytes(self) -> int:
        return int(self._values.currsize)

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> Value:
        with self._lock:
            self._put(key, value)
        return value

    def _put(self, key: Hashable, value: Value) -> None:
        self._values.pop(key, None)
        try:
            self._values[key] = value
        except ValueError:  # larger than the whole cache: whoever asked has it, nobody else will
            return
        while len(self._values) > self._limit:
            self._values.popitem()

    def get_or_create(self, key: Hashable, create: Callable[[], Value]) -> Value:
        """The value of a key; whoever comes second waits for the first instead of working it out again.

        An error reaches all who wait and is not kept. A visitor who leaves meanwhile ends their own run only.
        """
        while True:
            with self._lock:
                if key in self._values:
                    return self._values[key]
                others = self._pending.get(key)
                pending = self._pending[key] = Future() if others is None else others
            if others is None:
                return self._create(key, create, pending)
            try:
                return pending.result()
            except Left:
                continue

    def _create(self, key: Hashable, create: Callable[[], Value], pending: Future) -> Value:
        try:
            value = create()
        except BaseException as raised:
            # Streamlit ends the run of a visitor who leaves by an exception that is no Exception
            error = raised if isinstance(raised, Exception) else Left()
            self._end(key, pending, lambda: pending.set_exception(error))
            raise
        self._end(key, pending, lambda: (self._put(key, value), pending.set_result(value)))
        return value

    def _end(self, key: Hashable, pending: Future, tell: Callable[[], object]) -> None:
        with self._lock:
            # after a clear the value is still given to those who wait for it, and still true
            if self._pending.get(key) is pending:
                del self._pending[key]
            tell()

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

    def forget(self, name: str) -> None:
        with self._lock:
            for key in [each for each in self._values if _mentions(each, name)]:
                del self._values[key]


def clear_caches() -> None:
    """Forgets everything in every cache."""
    for cache in list(_CACHES):
        cache.clear()


def forget(name: str) -> None:
    """Forgets in every cache what has this text in its key, as the data set of that name."""
    for cache in list(_CACHES):
        cache.forget(name)


def _mentions(key: object, name: str) -> bool:
    if isinstance(key, tuple):
        return any(_mentions(part, name) for part in key)
    return (
        key == name if isinstance(key, str) else hasattr(key, "__dict__") and _mentions(tuple(vars(key).values()), name)
    )


def size_in_bytes(value: object) -> int:
    """About how much memory a value holds: arrays, tensors and networks with their numbers, all else with its parts."""
    return _size(value, set())


def _size(value: Any, seen: set[int]) -> int:
    kind = type(value)
    if value is None or kind in NUMBERS:
        return NUMBER
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if kind is tuple:  # first what there is most of
        return sys.getsizeof(value) + _sizes(value, seen)
    if isinstance(value, str | bytes):
        return sys.getsizeof(value)
    if isinstance(value, dict):
        return sys.getsizeof(value) + _sizes(value.keys(), seen) + _sizes(value.values(), seen)
    if isinstance(value, list | tuple | set | frozenset):
        return sys.getsizeof(value) + _sizes(value, seen)
    if isinstance(getattr(value, "nbytes", None), int):  # an array or a tensor
        return value.nbytes
    if callable(getattr(value, "memory_usage", None)):  # a table
        return int(value.memory_usage(index=True, deep=True).sum())
    if callable(getattr(value, "state_dict", None)):  # a network
        return _sizes(value.state_dict().values(), seen)
    return sys.getsizeof(value) + (_sizes(vars(value).values(), seen) if hasattr(value, "__dict__") else 0)


def _sizes(values: Iterable[object], seen: set[int]) -> int:
    values = list(values)
    kinds = set(map(type, values))
    if kinds <= NUMBERS:
        return NUMBER * len(values)
    # Of hundreds of parts or names, some speak for all; arrays tell their sizes at once, and each its own.
    alike = len(kinds) == 1 and not hasattr(next(iter(kinds)), "nbytes")
    some = values[:: max(1, len(values) // SAMPLED)] if alike else values
    return sum(_size(value, seen) for value in some) * len(values) // max(len(some), 1)
