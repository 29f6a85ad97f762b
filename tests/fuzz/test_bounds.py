"""The bounds that fuzz tests hold a call to can be broken, each of them."""

import time

import pytest
from bounds import LONGEST, MEGABYTES, SECONDS, in_time, little_memory, outcome

from explainer_core import ExplainConfig
from explainer_core.checks import InvalidValue


def test_an_error_of_ours_passes_and_all_others_fail():
    _, error = outcome(ExplainConfig, k_m=0)
    assert "k_m must be" in str(error)
    for broken in (lambda: 1 / 0, lambda: {}["x"], lambda: int("x"), lambda: [].pop()):
        with pytest.raises(AssertionError, match="not an error of ours"):
            outcome(broken)


def test_a_long_message_fails(monkeypatch):
    monkeypatch.setattr("bounds._raised_by_us", lambda frame: True)

    def tell(letters: int) -> None:
        raise ValueError("x" * letters)

    outcome(tell, LONGEST)
    for letters in (0, LONGEST + 1):
        with pytest.raises(AssertionError, match="a message has"):
            outcome(tell, letters)


def test_what_takes_long_fails_though_it_ends_with_an_error(monkeypatch):
    clock = iter([0.0, SECONDS + 0.1])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    with pytest.raises(AssertionError, match="an example took"), in_time():
        raise InvalidValue("n must be 1", 2)


def test_much_memory_fails_though_an_earlier_test_took_more():
    """Given back to the system by then, as large blocks are."""
    block = MEGABYTES * 2**20 * 6 // 5
    bytearray(b"x") * block
    with pytest.raises(AssertionError, match="the examples took"), little_memory():
        bytearray(b"x") * block
