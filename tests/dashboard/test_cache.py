"""A cache is bounded in number and in bytes, and what many ask for at the same time is worked out once."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from streamlit.runtime.scriptrunner import StopException

from dashboard import services
from dashboard.cache import MB, Cache, size_in_bytes
from explainer_core import ExplainConfig, Node, explain, load_dataset, load_pretrained

VISITORS = 20


class Twenty:
    """Twenty threads that ask for one key; the first holds the others up until all have asked."""

    def __init__(self, cache: Cache, create: Callable[[int], object]):
        self.made, self.found, self.failed = [], [], []
        self._begun, self._go_on = threading.Event(), threading.Event()
        threads = [threading.Thread(target=self._ask, args=(cache, create)) for _ in range(VISITORS)]
        threads[0].start()
        assert self._begun.wait(30)
        for thread in threads[1:]:
            thread.start()
        self._go_on.set()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()

    def _ask(self, cache: Cache, create: Callable[[int], object]) -> None:
        def count() -> object:
            self.made.append(1)
            number = len(self.made)
            self._begun.set()
            assert self._go_on.wait(30)
            return create(number)

        try:
            self.found.append(cache.get_or_create("key", count))
        except BaseException as error:
            self.failed.append(error)


def test_the_values_asked_for_last_stay():
    cache = Cache(2)
    for key in ("a", "b"):
        cache.put(key, key.upper())
    cache.get("a")
    cache.put("c", "C")
    assert len(cache) == 2
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("A", None, "C")


def test_bytes_are_bounded_too_and_a_value_larger_than_the_cache_is_given_but_not_kept():
    cache = Cache(100, max_bytes=3000)
    for number in range(10):
        cache.put(number, np.zeros(125))  # 1,000 bytes
        assert cache.size_in_bytes <= 3000
    assert [number for number in range(10) if cache.get(number) is not None] == [7, 8, 9]
    assert len(cache.get_or_create("large", lambda: np.zeros(1000))) == 1000
    assert cache.get("large") is None
    assert [number for number in range(10) if cache.get(number) is not None] == [7, 8, 9]


def test_twenty_who_ask_at_the_same_time_share_one_value():
    asked = Twenty(Cache(4), lambda number: object())
    assert len(asked.made) == 1
    assert len(asked.found) == VISITORS
    assert len(set(map(id, asked.found))) == 1


def test_an_error_reaches_all_who_wait_and_is_not_kept():
    cache = Cache(4)

    def fails(number: int) -> None:
        raise RuntimeError("no")

    asked = Twenty(cache, fails)
    assert [str(error) for error in asked.failed] == ["no"] * VISITORS
    assert len(cache) == 0
    assert cache.get_or_create("key", lambda: "made") == "made"


def test_a_visitor_who_leaves_ends_their_own_run_only():
    def left(number: int) -> str:
        if number == 1:
            raise StopException
        return "made"

    asked = Twenty(Cache(4), left)
    assert [type(error) for error in asked.failed] == [StopException]
    assert asked.found == ["made"] * (VISITORS - 1)
    assert len(asked.made) == 2


def test_none_is_a_value():
    cache, made = Cache(4), []
    for _ in range(3):
        assert cache.get_or_create("key", lambda: made.append(1)) is None
    assert len(made) == 1


def test_all_caches_are_cleared_in_one_call():
    first, second = Cache(4), Cache(4)
    first.put("a", 1)
    second.put("b", 2)
    services.clear_caches()
    assert (len(first), first.size_in_bytes, len(second)) == (0, 0, 0)


# Sizes


@dataclass
class Pair:
    one: np.ndarray
    other: np.ndarray


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (np.zeros((1000, 100)), 800_000),
        (np.zeros(500_000, dtype=bool), 500_000),
        (torch.zeros(1000, 100), 400_000),
        ([np.zeros(50_000), np.zeros(50_000)], 800_000),
        ({"a": np.zeros(50_000), "b": (torch.zeros(100_000),)}, 800_000),
        (Pair(np.zeros(50_000), np.zeros(50_000)), 800_000),
        ([shared := np.zeros(100_000), shared], 800_000),
        (torch.nn.Linear(1000, 100), 400_400),
        ("x" * 500_000, 500_000),
        (tuple(range(20_000)), 20_000 * 40),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_size_is_that_of_the_numbers_in_it(value, known):
    assert known <= size_in_bytes(value) < 1.01 * known + 1000


def test_what_the_page_caches_has_a_size():
    graph, model = load_dataset("karate"), load_pretrained("karate", "gcn")
    weights = sum(value.nbytes for value in model.state_dict().values())
    assert weights <= size_in_bytes(model) < 1.1 * weights
    tensors = graph.x.nbytes + graph.edge_index.nbytes + graph.labels.nbytes
    assert tensors <= size_in_bytes(graph) < tensors + 20_000
    found = explain(model, graph, Node(8), ExplainConfig(steps=20))
    arrays = found.edge_index.nbytes + found.edge_weight.nbytes + sum(mask.nbytes for _, mask in found.snapshots)
    assert arrays <= size_in_bytes(found) < MB
