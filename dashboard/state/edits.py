"""What-if edits, to and from the query parameters, with a way back and forth; and the node in hand."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.schema import MOST_EDIT_CHARACTERS, Edit, Request, edits_from_text, edits_to_text
from dashboard.state.choice import target_values
from dashboard.state.names import AGAIN, EDITS
from dashboard.state.query import query_param, set_query_params

_HISTORY = "history of edits"
_PICKED = "node in hand"
_REFUSED = "edit that was refused"
MOST_STEPS = 100


def edits_from_query(complain: Callable[[str], None]) -> tuple[Edit, ...]:
    text = _text()
    try:
        return edits_from_text(text)
    except ValueError as error:
        complain(str(error))
        return ()


def set_edits(request: Request, edits: Sequence[Edit]) -> None:
    """New edits of the request's target, which is named in the link from now on; what was undone is forgotten."""
    before, _ = _history(request)
    _keep(request, [*before, _text()][-MOST_STEPS:], [])
    _write(request, edits_to_text(edits))


def undo(request: Request) -> None:
    """One step back; where a link was opened with edits, the last of them goes."""
    before, after = _history(request)
    now = _text()
    last = before[-1] if before else now.rpartition("_")[0]
    _keep(request, before[:-1], [*after, now])
    _write(request, last)


def redo(request: Request) -> None:
    before, after = _history(request)
    if after:
        _keep(request, [*before, _text()], after[:-1])
        _write(request, after[-1])


def can_redo(request: Request) -> bool:
    return bool(_history(request)[1])


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


def _write(request: Request, text: str) -> None:
    set_query_params((AGAIN,), {**target_values(request), EDITS: text or None})


def _owner(request: Request) -> str:
    return f"{request.dataset} {request.kind} {request.target}"


def _history(request: Request) -> tuple[list[str], list[str]]:
    owner, before, after = st.session_state.get(_HISTORY, ("", [], []))
    return (before, after) if owner == _owner(request) else ([], [])


def _keep(request: Request, before: list[str], after: list[str]) -> None:
    st.session_state[_HISTORY] = (_owner(request), before, after)
