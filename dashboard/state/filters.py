"""Which graphs the gallery shows, to and from the query parameters: a filter outlives a reload, and goes along in a link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.schema import InvalidValue, index_in
from dashboard.schema import one_of as checked_one_of
from dashboard.state.query import in_quotes, query_param, set_query_params, set_widget
from dashboard.state.session import first_page

ONLY_CLASS, ONLY_RIGHT, ONLY_SPLIT, ONLY_NODES, ONLY_TEXT = FILTER = (
    *("only_class", "only_right", "only_split", "only_nodes", "only_text"),
)
ANY = "any"
SPLITS = (ANY, "test", "val", "train")  # what a network has never seen first
PICK_SPLIT = "pick_split"  # the key of the widget beside the random choice
RIGHT_OR_WRONG = (ANY, "right", "wrong")
MOST_TEXT = 80  # letters


@dataclass(frozen=True)
class Filter:
    """As the widgets show it."""

    label: int | str  # a class, or any
    right: str
    split: str
    nodes: tuple[int, int]  # at least and at most
    text: str


def filter_from_query(
    class_names: Sequence[str], smallest: int, largest: int, complain: Callable[[str], None]
) -> Filter:
    """Sets the widgets of the filter to what the query parameters say."""
    text = (query_param(ONLY_TEXT) or "")[:MOST_TEXT]
    found = Filter(
        read_or_default(ONLY_CLASS, lambda asked: index_in(ONLY_CLASS, asked, len(class_names), (ANY,)), ANY, complain),
        read_or_default(ONLY_RIGHT, lambda asked: checked_one_of(ONLY_RIGHT, asked, RIGHT_OR_WRONG), ANY, complain),
        read_or_default(ONLY_SPLIT, lambda asked: checked_one_of(ONLY_SPLIT, asked, SPLITS), ANY, complain),
        read_or_default(
            ONLY_NODES, lambda asked: range_in(ONLY_NODES, asked, (smallest, largest)), (smallest, largest), complain
        ),
        text,
    )
    for name, value in zip(FILTER, (found.label, found.right, found.split, found.nodes, found.text), strict=True):
        set_widget(name, value)
    return found


def split_from_query(default: str, complain: Callable[[str], None]) -> str:
    """Of which part of the split a wrong one is drawn."""
    split = read_or_default(ONLY_SPLIT, lambda asked: checked_one_of(ONLY_SPLIT, asked, SPLITS), default, complain)
    set_widget(PICK_SPLIT, split)
    return split


def split_to_query() -> None:
    set_query_params((), {ONLY_SPLIT: st.session_state[PICK_SPLIT]})
    first_page()


def filter_changed(everything: Mapping[str, object]) -> None:
    """Called by the widgets of the filter; `everything` is what they say where all graphs are shown."""
    shown = {name: st.session_state[name] for name in FILTER}
    set_query_params((), {name: None if value == everything[name] else value for name, value in shown.items()})
    first_page()


def filter_in_query() -> dict[str, str]:
    return {name: asked for name in FILTER if (asked := query_param(name))}


def read_or_default(name: str, read: Callable[[str], Any], default: Any, complain: Callable[[str], None]) -> Any:
    """A query parameter as `read` understands it, else the default, with a word about what was asked in vain."""
    asked = query_param(name)
    if not asked:
        return default
    try:
        return read(asked)
    except InvalidValue as broken:
        complain(in_quotes(broken))
        return default


def range_in(name: str, asked: str, ends: tuple[int, int]) -> tuple[int, int]:
    """Two whole numbers between the ends, the smaller one first."""
    parts = asked.split(",")
    fits = len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    if not fits or not ends[0] <= int(parts[0]) <= int(parts[1]) <= ends[1]:
        raise InvalidValue(f"{name} must be two numbers from {ends[0]} to {ends[1]}, the smaller first", asked)
    return int(parts[0]), int(parts[1])
