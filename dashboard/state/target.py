"""The data set, the model and what is asked about, to and from the query parameters: clicked, typed, picked or drawn by chance."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.first_look import first_look
from dashboard.schema import Card, InvalidValue, index_in
from dashboard.state.filters import FILTER
from dashboard.state.names import (
    CELL,
    CLASS,
    DATASET,
    GRAPH,
    HEAD,
    INSTANCES,
    LABEL,
    LAYOUT,
    MODEL,
    MOST_INSTANCES,
    NODE,
    OF_MISTAKES,
    OF_TARGET,
    SECOND,
    SMILES,
    SOURCE,
    VERSUS,
)
from dashboard.state.query import LONGEST, in_quotes, query_param, set_query_param, set_query_params, set_widget
from dashboard.state.session import first_page
from dashboard.view.plain_text import shortened


def dataset_from_query(names: Sequence[str]) -> str | None:
    """Sets the selector to what the query parameters say, else to the first; returns what was asked for in vain."""
    asked = query_param(DATASET)
    set_widget(DATASET, asked if asked in names else names[0])
    return None if asked is None or asked in names else asked


def dataset_to_query() -> None:
    """Called by the selector when the user has chosen. Targets and sizes of one data set mean nothing in another."""
    of_other = (MODEL, SECOND, *OF_TARGET, *OF_MISTAKES, *FILTER, "k_m", "k_m_unit", "k_f", LAYOUT)
    set_query_params(of_other, {DATASET: st.session_state[DATASET]})
    first_page()


def model_from_query(cards: Sequence[Card], complain: Callable[[str], None]) -> Card:
    """The card of the model asked for, else of the main one."""
    known = {card.model: card for card in cards}
    asked = query_param(MODEL)
    if asked is not None and asked not in known:
        complain(f"there is no model called “{shortened(asked)}” for these data; this is {cards[0].model}")
    set_widget(MODEL, asked if asked in known else cards[0].model)
    return known[st.session_state[MODEL]]


def model_to_query() -> None:
    """The network beside it stays, unless it is the one that was chosen."""
    chosen = st.session_state[MODEL]
    set_query_params((CLASS, CELL, VERSUS, *((SECOND,) if query_param(SECOND) == chosen else ())), {MODEL: chosen})


def second_chosen() -> None:
    """Called by the selector of the second network: a cell of the table with another means nothing now."""
    set_query_params((VERSUS,), {SECOND: st.session_state[SECOND]})


def usual_target(card: Card) -> tuple[str, int | tuple[int, int]]:
    """What is explained unless the query parameters say something else."""
    target = first_look(card.dataset).target
    return card.task, target if isinstance(target, tuple) == (card.task == "link") else (
        0,
        1,
    ) if card.task == "link" else 0


def target_from_query(
    card: Card, count: int, complain: Callable[[str], None], usual: int | tuple[int, int] | None = None
) -> tuple[str, int | tuple[int, int] | str]:
    """What is to be explained: its kind and which one; the `usual` one unless the query parameters say another."""
    task, target = usual_target(card) if usual is None else (card.task, usual)
    if task == "graph" and (text := (query_param(SMILES) or "").strip()):
        return "smiles", text
    if isinstance(target, int):
        return task, _number({"graph": GRAPH, "node": NODE}[task], target, count, complain)
    one, other = (_number(name, end, count, complain) for name, end in zip((SOURCE, HEAD), target, strict=True))
    if one == other:
        complain("a link has two different ends; here is another pair")
        other = (one + 1) % count
    return "link", (one, other)


def _number(name: str, default: int, count: int, complain: Callable[[str], None]) -> int:
    """A node or graph from the query parameters; anything that is none becomes the default, with a word about it."""
    asked, default = query_param(name), min(default, count - 1)
    if asked is None:
        return default
    try:
        return int(index_in(name, asked, count))
    except InvalidValue as broken:
        complain(f"{in_quotes(broken)}; this is {default}")
        return default


def choose_target(card: Card, target: int) -> None:
    """A node or graph was chosen, by whatever means."""
    set_query_params(OF_TARGET, {{"node": NODE, "graph": GRAPH}[card.task]: target})


def clicked(key: str, card: Card, ends: tuple[int, int] | None = None) -> None:
    """Called when a view was clicked. A click on a node of a link's picture moves the link's second end there."""
    target = st.session_state[key]["clicked"]
    if target is None:
        return
    if card.task == "link":
        if ends is not None and target != ends[0]:
            choose_link(ends[0], target)
    else:
        choose_target(card, target)


def choose_link(one: int, other: int) -> None:
    set_query_params(OF_TARGET, {SOURCE: one, HEAD: other})


def choose_random(card: Card, found: Sequence[int], draw: Callable[[Sequence[int]], int]) -> None:
    """Called by the random buttons, each with the nodes or graphs it draws from."""
    if len(found):
        choose_target(card, int(draw(found)))


def number_typed(card: Card, name: str) -> None:
    """Called by the number box; an emptied one changes nothing."""
    if st.session_state[name] is not None:
        choose_target(card, st.session_state[name])


def end_chosen(ends: tuple[int, int]) -> None:
    """Called when an end of the link was picked; picking the other end's node swaps the two."""
    one, other = st.session_state[SOURCE], st.session_state[HEAD]
    choose_link(*(ends[::-1] if one == other else (one, other)))


def row_chosen(key: str, pairs: Sequence[tuple[int, int]]) -> None:
    """Called when a cell in a row of the list of links was clicked."""
    cells = st.session_state[key]["selection"]["cells"]
    if cells:
        choose_link(*pairs[cells[0][0]])


def typed() -> None:
    """Called when a SMILES was typed; an empty box goes back to the data set's own graphs."""
    set_query_params(OF_TARGET, {SMILES: st.session_state[SMILES].strip()[:LONGEST]})


def class_from_query(class_names: Sequence[str], complain: Callable[[str], None]) -> int | str:
    """The class that is asked about: a word, or a number."""
    asked = query_param(CLASS) or "predicted"
    try:
        return index_in(CLASS, asked, len(class_names), ("predicted", "true", "distribution"))
    except InvalidValue as broken:
        complain(in_quotes(broken))
        return "predicted"


def label_from_query(dataset: str, names: Sequence[str], complain: Callable[[str], None]) -> int:
    """The class of the prototype; the one people ask about unless the query parameters say another."""
    label = _number(LABEL, min(first_look(dataset).label, len(names) - 1), len(names), complain)
    set_widget(LABEL, label)
    return label


def instances_from_query(dataset: str, complain: Callable[[str], None]) -> int:
    instances = max(1, _number(INSTANCES, first_look(dataset).instances, MOST_INSTANCES + 1, complain))
    set_widget(INSTANCES, instances)
    return instances


def class_clicked(key: str) -> None:
    """Called when a class was clicked in the row of all classes."""
    label = st.session_state[key]["clicked"]
    if label is not None:
        set_query_param(LABEL, label)
