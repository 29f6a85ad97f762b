"""A cache of our own: bounded, shared by all visitors, and each thing made once even if two ask at the same time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """Keeps the things asked for last. What is on it is shared: nobody may change it."""

    def __init__(self, limit: int):
        self._limit = limit
        self._things: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._things)

    def known(self) -> list[Hashable]:
        """What is on it, the last asked for at the end."""
        with self._lock:
            return list(self._things)

    def find(self, key: Hashable) -> Value | None:
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
            return self._things.get(key)

    def keep(self, key: Hashable, thing: Value) -> Value:
        with self._lock:
            self._things[key] = thing
            self._things.move_to_end(key)
            while len(self._things) > self._limit:
                self._things.popitem(last=False)
        return thing

    def find_or_make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What stands under the key; whoever comes second waits for the first instead of making it again."""
        found = self.find(key)
        if found is not None:
            return found
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                found = self.find(key)
                return self.keep(key, make()) if found is None else found
        finally:
            with self._lock:
                self._making.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._things.clear()
