"""What is believed of values from callers, files, JSON and query parameters: one rule each, and one sentence where it is broken."""

import math
import operator
import reprlib
from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Any, get_args, overload

import numpy as np

MOST = 1e100  # of a number from a file: sums and squares of such numbers are still numbers
LONGEST_NUMBER = 11  # digits; more are no number of a node, however it is written
KINDS = {float: "a number", int: "an int", bool: "a bool"}


class _Brief(reprlib.Repr):
    """The beginning of anything, whatever its size: a message is read by a person."""

    def __init__(self):
        super().__init__()
        self.maxlevel, self.maxdict, self.maxstring, self.maxother = 2, 3, 60, 60
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 5

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write one of more than 4,300 digits
        return f"a number of {x.bit_length():,} bits" if x.bit_length() > 200 else repr(x)

    def repr_instance(self, x: Any, level: int) -> str:
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and shape:  # an array or a tensor
            return f"{type(x).__name__} {getattr(x, 'dtype', '')} {tuple(shape)}"
        return super().repr_instance(x, level)


_BRIEF = _Brief()


def shown(value: object) -> str:
    """A value as a message repeats it: on one line, and cut where it is long."""
    return cut(" ".join(_BRIEF.repr(value).split()))


def cut(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


class InvalidValue(ValueError):
    """A rule, and the value that breaks it; whoever shows it may quote the value in their own way."""

    def __init__(self, rule: str, value: object, way_out: str = ""):
        super().__init__(f"{rule} (got {shown(value)}){'; ' if way_out else ''}{way_out}")
        self.rule, self.value = rule, value


class TypeAndShape:
    """What an array or a tensor is, where its numbers would tell nothing."""

    def __init__(self, array: Any):
        self.text = f"{array.dtype} {tuple(array.shape)}"

    def __repr__(self) -> str:
        return self.text


def one_of(name: str, value: object, options: Collection[str]) -> str:
    if not isinstance(value, str) or value not in options:
        raise InvalidValue(f"{name} must be one of {', '.join(options)}", value)
    return value


def some_of(name: str, values: Collection[str], options: Sequence[str], also: Collection[str] = ()) -> None:
    """Every value is one of the options, or one of `also`, of which nobody need be told."""
    unknown = set(values) - {*options, *also}
    if unknown:
        raise InvalidValue(f"{name} must be some of {', '.join(options)}", ",".join(sorted(unknown)))


@overload
def index_in(name: str, text: str, count: int) -> int: ...
@overload
def index_in(name: str, text: str, count: int, words: Sequence[str]) -> int | str: ...
def index_in(name: str, text: str, count: int, words: Sequence[str] = ()) -> int | str:
    """A number below `count` written in plain digits, or one of some words."""
    if text in words:
        return text
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER and int(text) < count:
        return int(text)
    named = f"{', '.join(words)} or " if words else ""
    raise InvalidValue(f"{name} must be {named}0 to {count - 1:,}", text)


def setting(
    name: str, value: Any, kind: type, low: float | None = None, high: float | None = None, word: str | None = None
):
    """A bool, or a number in its range; `word` may stand in for the number."""
    if word is not None and type(value) is type(word) and value == word:
        return word
    fits = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    also = "" if word is None else f" or {word!r}"
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidValue(f"{name} must be {KINDS[kind]}{also}", value)
    number: Any = value
    if low is not None and high is not None and not low <= number <= high:
        ends = (f"{end:g}" if kind is float else f"{end:,}" for end in (low, high))
        raise InvalidValue(f"{name} must be {' to '.join(ends)}{also}", value)
    return value


def whole_number(name: str, value: object, below: int | None = None) -> int:
    if type(value) is not int or value < 0 or (below is not None and value >= below):
        raise InvalidValue(f"{name} must be a whole number from 0{'' if below is None else f' to {below - 1}'}", value)
    return value


def index_of(name: str, value: object, count: int) -> int:
    """Like whole_number, but of any kind, numpy's for one: what a caller of the library may pass."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < count:
        raise InvalidValue(f"{name} must be 0 to {count - 1}", value)
    return int(value)


def index_number(name: str, value: Any) -> int:
    """What Python takes for an index: ints of any kind, numpy's and torch's for two."""
    try:
        return operator.index(value)
    except (TypeError, RuntimeError):
        raise InvalidValue(f"{name} must be a whole number", value) from None


def at_least(name: str, value: object, low: int) -> int:
    """A whole number of any kind from a caller of the library."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise InvalidValue(f"{name} must be at least {low}", value)
    return int(value)


def typed(name: str, value: object, declared: Any) -> None:
    """A JSON value of a field's declared type: a class, some of them, or list[str]; whole numbers pass for floats."""
    kinds = get_args(declared) or (declared,)
    if declared == list[str]:
        fits = isinstance(value, list) and all(isinstance(part, str) for part in value)
    elif isinstance(value, bool):
        fits = bool in kinds
    else:
        fits = isinstance(value, tuple(kinds) + ((int,) if float in kinds else ()))
    if not fits:
        raise InvalidValue(f"{name} must be {declared}", value)


def share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InvalidValue(f"{name} must be 0 to 1", value)


def number(name: str, value: object, low: float) -> float:
    if (type(value) is not int and type(value) is not float) or not low <= value <= MOST:
        raise InvalidValue(f"{name} must be a number from {low:g} to {MOST:g}", value)
    return float(value)


def all_between(rule: str, values: Any, low: int, high: int | None = None, way_out: str = "") -> None:
    """Every number of an array or a tensor; of those outside, the smallest or else the largest is named."""
    if not len(values):
        return
    least, most = int(values.min()), int(values.max())
    if least < low or (high is not None and most > high):
        raise InvalidValue(rule, least if least < low else most, way_out)


def one_for_each(name: str, values: Sequence, size: int, what: str, thing: str) -> None:
    if len(values) != size:
        raise InvalidValue(f"{name} must have one {what} for each {thing}, {size}", len(values))


def array(name: str, value: object, kind: type, ndim: int) -> np.ndarray:
    """Finite numbers, whole and not negative where numbers of nodes and edges are meant; or true and false."""
    found = np.array(value)
    letters, called = {bool: ("b", "true or false"), np.int64: ("iu", "numbers"), float: ("iuf", "numbers")}[kind]
    if found.ndim != ndim or (found.size and found.dtype.kind not in letters):
        raise InvalidValue(f"{name} must be {called} in {ndim} dimensions", TypeAndShape(found))
    low, high = (0, 2**31 - 1) if kind is np.int64 else (-MOST, MOST)
    if kind is not bool and not ((found >= low) & (found <= high)).all():
        raise ValueError(f"{name} must be numbers from {low:g} to {high:g} (got others among them)")
    return found.astype(kind)


def finite_array(name: str, value: object, ndim: int) -> np.ndarray:
    found = np.array(value)
    fits = found.ndim == ndim and (not found.size or found.dtype.kind in "iuf")
    if not fits or not (np.abs(found.astype(float)) <= MOST).all():
        raise InvalidValue(f"{name} must be finite numbers in {ndim} dimensions", TypeAndShape(found))
    return found.astype(float)


def floats(name: str, value: object) -> tuple[float, ...]:
    return tuple(array(name, value, float, 1).tolist())


def shares(name: str, values: Sequence[float]) -> None:
    found = array(name, values, float, 1)
    if (found < -1e-6).any() or (found > 1 + 1e-6).any():
        raise ValueError(f"{name} must hold probabilities from 0 to 1")


def all_hold(rules: dict[str, bool]) -> None:
    """What must hold between the fields of a file, by the words for it."""
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"it must have {rule}")
