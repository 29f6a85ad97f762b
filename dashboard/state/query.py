"""Query parameters and widgets: what the user changes goes to the query parameters, and what is in the query parameters is shown.

The query parameters are the one truth. Before a widget is drawn its value is set from the query parameters; when the user changes it,
the change goes to the query parameters. So a link, the back button, a click and a slider all arrive by the same way. A widget
bound to the query parameters by Streamlit would put titles in it, and drop a bad value in silence.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.schema import InvalidValue
from dashboard.schema import one_of as checked_one_of
from dashboard.state.names import DATASET, MODEL
from dashboard.view.plain_text import shortened

LONGEST = 500  # letters of one value in the query parameters
_LAST = "last query parameters"
_COMING = "query parameters to come"
_PLACE = "page the visitor is on"


def query_param(name: str, longest: int = LONGEST) -> str | None:
    """A query parameter, or None; the end of an endless one is cut off."""
    text = st.query_params.get(name)
    return None if text is None else text[:longest]


def set_widget(name: str, value) -> None:
    """Sets the widget of this name to what the query parameters say."""
    st.session_state[name] = value


def on_change(name: str, key: str | None = None) -> None:
    """Called by a widget when the user has changed it: the query parameters follow."""
    set_query_param(name, st.session_state[key or name])


def set_query_param(name: str, value) -> None:
    set_query_params((), {name: value})


def set_query_params(dropped: Sequence[str], values: dict) -> None:
    """All changes at once: each would else be a step of its own for the back button. Nothing is written for nothing."""
    new = {name: text for name, text in st.query_params.to_dict().items() if name not in {*dropped, *values}}
    for name, value in values.items():
        if value is not None and value != "" and value != []:
            new[name] = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    st.session_state[_COMING] = new
    st.query_params.from_dict(new)


def enter(page: str) -> None:
    """Streamlit drops the query parameters when the page is changed. The data set and the model come along with the visitor;
    what else was chosen here comes back if it was of the same data set."""
    # Writing query parameters may end a run that has a next one waiting, which then starts with those of before: without
    # this the click would be lost, or answered only with the next.
    coming = st.session_state.pop(_COMING, None)
    if coming is not None and coming != st.query_params.to_dict():
        st.query_params.from_dict(coming)
    came_from, st.session_state[_PLACE] = st.session_state.get(_PLACE), page
    if not st.query_params and came_from not in (None, page):
        here, there = (st.session_state.get(f"{_LAST} {name}", {}) for name in (page, came_from))
        brought = {name: there[name] for name in (DATASET, MODEL) if name in there}
        st.query_params.from_dict(here if here.get(DATASET) == brought.get(DATASET) else brought)
    # at once, not at the end: a visitor may leave while the page is still being worked out
    st.session_state[f"{_LAST} {page}"] = st.query_params.to_dict()


def one_of(name: str, options: Sequence[str], default: str, complain: Callable[[str], None]) -> str:
    """A choice from the query parameters, else the default, with a word about what was asked in vain."""
    asked, chosen = query_param(name), default
    if asked:
        try:
            chosen = checked_one_of(name, asked, options)
        except InvalidValue as broken:
            complain(in_quotes(broken))
    set_widget(name, chosen)
    return chosen


def in_quotes(broken: InvalidValue) -> str:
    """What is wrong with a query parameter, with as much of it as one can read."""
    return f"{broken.rule} (got “{shortened(str(broken.value))}”)"
