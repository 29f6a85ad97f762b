"""Which instances the Debug page counts, and which cell of the confusion matrix is listed, to and from the query parameters."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard.schema import SPLITS, Card, InstanceFilter, InvalidValue, index_in
from dashboard.schema import one_of as checked_one_of
from dashboard.state.filters import ANY, MOST_TEXT, range_in, read_or_default
from dashboard.state.names import (
    CELL,
    INSTEAD,
    OF_TARGET,
    RANGES,
    SPLIT,
    VERSUS,
    WITH_DEGREE,
    WITH_HOMOPHILY,
    WITH_MOTIF,
    WITH_SIZE,
    WITH_TEXT,
)
from dashboard.state.query import query_param, set_query_params, set_widget
from dashboard.state.target import choose_link, choose_target

EVERY_SPLIT = "all"
MOTIFS = (ANY, "inside", "outside")
Complain = Callable[[str], None]
Bounds = Mapping[str, tuple[int, int]]  # of each range that means something here, the whole of it


def instances_filter_from_query(has_split: bool, has_motif: bool, bounds: Bounds, complain: Complain) -> InstanceFilter:
    """Sets the widgets of the filter to what the query parameters say. Shares are in percent there."""
    split = read_or_default(SPLIT, lambda asked: checked_one_of(SPLIT, asked, (EVERY_SPLIT, *SPLITS)), "test", complain)
    motif = read_or_default(WITH_MOTIF, lambda asked: checked_one_of(WITH_MOTIF, asked, MOTIFS), ANY, complain)
    text = (query_param(WITH_TEXT) or "")[:MOST_TEXT]
    ranges = {
        name: read_or_default(name, lambda asked, name=name, ends=ends: range_in(name, asked, ends), ends, complain)
        for name, ends in bounds.items()
    }
    for name, value in {SPLIT: split, WITH_MOTIF: motif, WITH_TEXT: text, **ranges}.items():
        set_widget(name, value)
    chosen = {name: ends for name, ends in ranges.items() if ends != bounds[name]}
    homophily = chosen.get(WITH_HOMOPHILY)
    return InstanceFilter(
        split=None if split == EVERY_SPLIT or not has_split else split,
        degree=chosen.get(WITH_DEGREE),
        size=chosen.get(WITH_SIZE),
        homophily=None if homophily is None else (homophily[0] / 100, homophily[1] / 100),
        motif=None if motif == ANY or not has_motif else motif == MOTIFS[1],
        text=text.strip(),
    )


def cell_from_query(rows: int, columns: int, complain: Complain, name: str = CELL) -> tuple[int, int] | None:
    """The cell of the matrix that is listed; None for all mistakes."""

    def read(asked: str) -> tuple[int, int]:
        ends = asked.split(",")
        fits = len(ends) == 2 and all(end.isascii() and end.isdigit() and len(end) < 6 for end in ends)
        if not fits or int(ends[0]) >= rows or int(ends[1]) >= columns:
            raise InvalidValue(f"{name} must be a row below {rows} and a column below {columns}", asked)
        return int(ends[0]), int(ends[1])

    return read_or_default(name, read, None, complain)


def instead_from_query(usual: int, predicted: int, count: int, complain: Complain) -> int:
    """The class that was not predicted, and is asked about beside the predicted one."""

    def read(asked: str) -> int:
        label = index_in(INSTEAD, asked, count)
        if label == predicted:
            raise InvalidValue(f"{INSTEAD} must be a class that is not predicted", asked)
        return label

    label = read_or_default(INSTEAD, read, usual, complain)
    set_widget(INSTEAD, label)
    return label


def instances_filter_changed(bounds: Bounds) -> None:
    """Called by the widgets of the filter. What was chosen stays, in the list or not."""
    usual = {SPLIT: "test", WITH_MOTIF: ANY, WITH_TEXT: "", **bounds}
    shown = {name: st.session_state[name] for name in usual if name in st.session_state}
    set_query_params((), {name: None if value == usual[name] else value for name, value in shown.items()})


def no_instances_filter() -> None:
    set_query_params((*RANGES, WITH_MOTIF, WITH_TEXT), {})


def cell_clicked(key: str, columns: int, name: str = CELL) -> None:
    """Called when a cell was clicked: it is listed, and of it the first is looked at; clicked again, all are listed.

    Of the two tables, one network's and that of two, the one clicked last says what is looked at.
    """
    number = st.session_state[key]["clicked"]
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        return  # a browser may send anything
    cell = f"{number // columns},{number % columns}"
    set_query_params((*OF_TARGET, CELL, VERSUS), {name: None if query_param(name) == cell else cell})


def instance_chosen(key: str, card: Card, targets: Sequence[int | tuple[int, int]]) -> None:
    """Called when a cell in a row of the list was clicked."""
    cells = st.session_state[key]["selection"]["cells"]
    if not cells or not 0 <= cells[0][0] < len(targets):
        return
    target = targets[cells[0][0]]
    if isinstance(target, tuple):
        choose_link(*target)
    else:
        choose_target(card, target)
