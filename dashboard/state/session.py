"""What a visitor's session remembers beside the query parameters: stopped runs, widgets that come and go, the gallery's page."""

from collections.abc import Hashable

import streamlit as st

_STOPPED = "stopped run"
_PAGE = "page of the gallery"
_KEPT = "kept"


def stop(request: Hashable) -> None:
    st.session_state[_STOPPED] = request


def go_on() -> None:
    st.session_state.pop(_STOPPED, None)


def is_stopped(request: Hashable) -> bool:
    return st.session_state.get(_STOPPED) == request


def recall(key: str, default) -> None:
    """Sets a widget to what it was when last drawn: Streamlit forgets one that is not drawn for a while."""
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(f"{_KEPT} {key}", default)
    st.session_state[f"{_KEPT} {key}"] = st.session_state[key]


def gallery_page(last: int) -> int:
    """The page the gallery is at, never past the last one."""
    page = min(max(st.session_state.get(_PAGE, 0), 0), last)
    st.session_state[_PAGE] = page
    return page


def turn_page(by: int) -> None:
    st.session_state[_PAGE] = st.session_state.get(_PAGE, 0) + by


def first_page() -> None:
    st.session_state[_PAGE] = 0
