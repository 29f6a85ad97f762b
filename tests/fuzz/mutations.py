"""Files as they go wrong: bytes lost, doubled and exchanged, and JSON with odd values in odd places."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

DEEP = "[" * 3000 + "]" * 3000
ODD_NUMBERS = st.sampled_from(
    [
        -1,
        0,
        1,
        2**31,
        2**53,
        2**63,
        2**64,
        10**30,
        -(10**30),
        0.5,
        -0.0,
        1e-320,
        1e308,
        -1e308,
        float("nan"),
        float("inf"),
    ]
)
ODD_TEXTS = st.sampled_from(["", "x", "auto", "\x00", "\ud800", "＝1", "../../etc/passwd", "é" * 2000, "1e999", "None"])
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    ODD_NUMBERS,
    ODD_TEXTS,
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from([[], {}, [[]], [None], [[1], [2, 3]], {"a": {}}, [0] * 1000, {"kind": "node", "node": 0}]),
    st.recursive(st.none() | ODD_NUMBERS | ODD_TEXTS, lambda part: st.lists(part, max_size=4), max_leaves=8),
)


@st.composite
def broken_bytes(draw: Any, whole: bytes) -> bytes:
    """One to four things that happen to a file on a disk or on its way."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        where = draw(st.integers(0, max(len(data), 1)))
        many = draw(st.sampled_from([1, 2, 4, 8, 100, 10_000]))
        kind = draw(st.sampled_from(["flip", "cut", "lose", "double", "insert", "exchange"]))
        if kind == "cut":
            del data[where:]
        elif kind == "lose":
            del data[where : where + many]
        elif kind == "double":
            data[where:where] = data[where : where + many]
        elif kind == "insert":
            data[where:where] = draw(st.binary(max_size=16))
        elif kind == "exchange":
            data[where : where + many] = draw(st.binary(min_size=1, max_size=1)) * len(data[where : where + many])
        elif where < len(data):
            data[where] ^= 1 << draw(st.integers(0, 7))
    return bytes(data)


def paths(value: Any, limit: int = 3) -> list[tuple]:
    """The ways to every part of a JSON value; of a long list to its first parts only."""
    keys = list(value) if isinstance(value, dict) else range(min(len(value), limit)) if isinstance(value, list) else ()
    return [(), *((key, *rest) for key in keys for rest in paths(value[key], limit))]


@st.composite
def broken_values(draw: Any, whole: Any, ways: list[tuple]) -> Any:
    """One to three parts exchanged, taken out, doubled or moved; `ways` are those of `paths`, worked out once."""
    value = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(ways[1:]))
        part = value
        try:
            for key in way:
                part = part[key]
            old = part[last]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken it away
        if not isinstance(part, dict | list):
            continue
        kind = draw(
            st.sampled_from(
                ["exchange", "exchange", "exchange", "everywhere", "fill", "take out", "double", "shorten", "add"]
            )
        )
        if kind == "exchange":
            part[last] = copy.deepcopy(draw(ODD_VALUES))
        elif kind == "everywhere":  # so that what names the same thing goes on naming it
            value = replaced(value, old, draw(ODD_NUMBERS))
        elif kind == "fill" and isinstance(old, list):
            part[last] = [draw(ODD_NUMBERS)] * len(old)
        elif kind == "take out":
            del part[last]
        elif kind == "double":
            part[last] = [old, old] if not isinstance(old, list) else old + old
        elif kind == "shorten" and isinstance(old, list):
            part[last] = old[: draw(st.integers(0, len(old)))]
        elif isinstance(part, dict):
            part[draw(ODD_TEXTS)] = copy.deepcopy(draw(ODD_VALUES))
    return value


def replaced(value: Any, old: Any, new: Any) -> Any:
    """Every number that is `old` becomes `new`, wherever it stands."""
    if isinstance(value, dict):
        return {name: replaced(part, old, new) for name, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, old, new) for part in value]
    return new if type(value) is type(old) and isinstance(old, int | float) and value == old else value


def broken_json(whole: str) -> st.SearchStrategy[str]:
    """A JSON file that is none, or one with other values in it."""
    value = json.loads(whole)
    by_value = broken_values(value, paths(value)).map(json.dumps)
    by_byte = broken_bytes(whole.encode()).map(lambda data: data.decode("utf-8", "replace"))
    return st.one_of(by_value, by_value, by_byte, st.just(DEEP), st.text(max_size=50))
