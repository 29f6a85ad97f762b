"""On which line a part of a JSON text stands: looked for only when there is something to say about it."""

from collections.abc import Sequence
from json import JSONDecoder

_BLANK = " \t\r\n"


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of the value at the end of a path of keys and indices; of the last part that is there."""
    return text.count("\n", 0, _place(text, path)) + 1


def _place(text: str, path: Sequence[str | int]) -> int:
    at = _skip(text, 0)
    for step in path:
        found = _value_at(text, at, step)
        if found is None:
            break
        at = found
    return at


def _value_at(text: str, at: int, step: str | int) -> int | None:
    """Where the value of a key, or the element of an index, begins in the object or list that begins here."""
    opened = "{" if isinstance(step, str) else "["
    if text[at : at + 1] != opened:
        return None
    decoder, found, at = JSONDecoder(), None, _skip(text, at + 1)
    for index in range(len(text)):
        if text[at] in "}]":
            return found
        name: str | int = index
        if opened == "{":
            name, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        if name == step:
            found = at  # of equal keys the last counts, as for json.loads
            if opened == "[":
                return found
        at = _skip(text, decoder.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANK and at < len(text):
        at += 1
    return at
