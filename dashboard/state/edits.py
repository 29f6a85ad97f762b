"""What-if edits and flips, to and from the query parameters, with a way back and forth; and the node in hand."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.schema import (
    MOST_EDIT_CHARACTERS,
    Edit,
    InvalidValue,
    Request,
    edits_from_text,
    edits_to_text,
    index_in,
    some_of,
)
from dashboard.state.choice import target_values
from dashboard.state.filters import read_or_default
from dashboard.state.names import AGAIN, CHANGES, EDITS, FLIP_KINDS, FLIP_TO, NO_METHOD, UNDONE
from dashboard.state.query import one_of, query_param, set_query_param, set_query_params, set_widget

_HISTORY = "history of edits"
_PICKED = "node in hand"
_REFUSED = "edit that was refused"
MOST_STEPS = 100
MOST_UNDONE = 2_500  # characters of what was undone, in a link
NEXT_STEP, NO_EDITS = "~", "none"  # between two steps; a step without edits
CHANGED = ("edges", "nodes")  # what a click changes
ANY_CLASS = "any"


def edits_from_query(complain: Callable[[str], None]) -> tuple[Edit, ...]:
    text = _text()
    try:
        return edits_from_text(text)
    except ValueError as error:
        complain(str(error))
        return ()


def set_edits(request: Request, edits: Sequence[Edit]) -> None:
    """New edits of the request's target, which is named in the link from now on; what was undone is forgotten."""
    _keep(request, [*_before(request), _text()])
    _write(request, edits_to_text(edits), [])


def undo(request: Request) -> None:
    """One step back; where a link was opened with edits, the last of them goes."""
    before, now = _before(request), _text()
    last = before[-1] if before else now.rpartition("_")[0]
    _keep(request, before[:-1])
    _write(request, last, [*_undone(), now])


def redo(request: Request) -> None:
    undone = _undone()
    if undone:
        _keep(request, [*_before(request), _text()])
        _write(request, undone[-1], undone[:-1])


def can_undo(request: Request) -> bool:
    """A reset can be undone as well."""
    return bool(_text() or _before(request))


def can_redo() -> bool:
    return bool(_undone())


def reset_edits(request: Request) -> None:
    set_edits(request, ())


def explain_again(request: Request) -> None:
    set_query_params((), {**target_values(request), AGAIN: "True"})


def is_explained_again() -> bool:
    return query_param(AGAIN) == "True"


def pick_node(request: Request, node: int) -> None:
    """A node was clicked, to be changed."""
    st.session_state[_PICKED] = (_owner(request), node)


def picked_node(request: Request) -> int | None:
    owner, node = st.session_state.get(_PICKED, ("", None))
    return node if owner == _owner(request) else None


def refuse_edit(reason: str) -> None:
    st.session_state[_REFUSED] = reason


def refused_edit() -> str | None:
    """Why the last edit was not made; said once."""
    return st.session_state.pop(_REFUSED, None)


def sent_pair(key: str) -> tuple[int, int] | None:
    """The two nodes whose edge was clicked. A browser may send anything."""
    pair = st.session_state[key].get("edited")
    fits = isinstance(pair, list | tuple) and len(pair) == 2 and all(type(end) is int and end >= 0 for end in pair)
    return (pair[0], pair[1]) if fits and pair[0] != pair[1] else None


def chosen(key: str) -> int:
    """What the selectbox of this key says."""
    return st.session_state[key]


def sent_node(key: str) -> int | None:
    node = st.session_state[key].get("clicked")
    return node if type(node) is int and node >= 0 else None


def _text() -> str:
    return query_param(EDITS, MOST_EDIT_CHARACTERS + 1) or ""


def _undone() -> list[str]:
    """What was undone, the last of it last. Steps that are no edits lead nowhere: none of them is kept."""
    text = query_param(UNDONE, MOST_UNDONE)
    steps = ["" if step == NO_EDITS else step for step in text.split(NEXT_STEP)] if text else []
    try:
        for step in steps:
            edits_from_text(step)
    except ValueError:
        return []
    return steps


def _write(request: Request, text: str, undone: list[str]) -> None:
    """The steps that were undone first are dropped where a link would be too long."""
    steps = [step or NO_EDITS for step in undone]
    while len(NEXT_STEP.join(steps)) > MOST_UNDONE:
        steps = steps[1:]
    values = {EDITS: text or None, UNDONE: NEXT_STEP.join(steps) or None}
    set_query_params((AGAIN,), {**target_values(request), **values})


def _owner(request: Request) -> str:
    return f"{request.dataset} {request.kind} {request.target}"


def _before(request: Request) -> list[str]:
    """The steps that led to the edits of the link, in this session."""
    owner, before = st.session_state.get(_HISTORY, ("", []))
    return before if owner == _owner(request) else []


def _keep(request: Request, before: list[str]) -> None:
    st.session_state[_HISTORY] = (_owner(request), before[-MOST_STEPS:])


# What a click changes, and what may flip it


def changes_from_query(complain: Callable[[str], None]) -> str:
    return one_of(CHANGES, CHANGED, CHANGED[0], complain)


def flip_kinds_from_query(possible: Sequence[str], complain: Callable[[str], None]) -> tuple[str, ...]:
    """Which changes may flip a prediction, in the order of those that are possible here; cutting until somebody has chosen."""
    asked = query_param(FLIP_KINDS)
    wanted = possible[:1] if asked is None else asked.split(",")
    if asked is not None:
        try:
            some_of(FLIP_KINDS, wanted, possible, also=(NO_METHOD,))
        except InvalidValue as broken:
            complain(str(broken))
    chosen = [kind for kind in possible if kind in wanted]
    set_widget(FLIP_KINDS, chosen)
    return tuple(chosen)


def flip_kinds_to_query() -> None:
    """None at all is a choice too, and must not be taken for none made."""
    set_query_param(FLIP_KINDS, st.session_state[FLIP_KINDS] or NO_METHOD)


def flip_class_from_query(predicted: int, count: int, complain: Callable[[str], None]) -> int | None:
    """The class that a flip is to reach; None for any other than the predicted one."""

    def read(asked: str) -> int | str:
        label = index_in(FLIP_TO, asked, count, (ANY_CLASS,))
        if label == predicted:
            raise InvalidValue(f"{FLIP_TO} must be a class that is not predicted", asked)
        return label

    label = read_or_default(FLIP_TO, read, ANY_CLASS, complain)
    set_widget(FLIP_TO, label)
    return label if isinstance(label, int) else None
