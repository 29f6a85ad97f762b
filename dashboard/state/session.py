"""What a visitor's session remembers beside the query parameters: stopped runs, what was seen, the gallery's page."""

import secrets
from collections.abc import Hashable

import streamlit as st

from dashboard.gate import COOKIE, VISITOR

_STOPPED = "stopped run"
_PAGE = "page of the gallery"
_VISITOR = "visitor"
_SEEN = "classes seen"
_WELCOME = "first sentence"
MOST_SEEN = 32  # prototypes that are remembered for one visitor


def visitor() -> str:
    """A name for this visitor that no other has."""
    return st.session_state.setdefault(_VISITOR, secrets.token_hex(8))


def token() -> str:
    """The random token in the visitor's browser, which comes again with a reload; of this session where there is none."""
    kept = st.context.cookies.get(COOKIE)
    return kept if isinstance(kept, str) and VISITOR.fullmatch(kept) else visitor()


def pulse() -> None:
    """Whoever works for a visitor calls this now and then: where they have touched something or left, it ends the script."""
    st.session_state.get(_VISITOR)  # Streamlit ends a script where it looks at its session or says a word


def is_welcomed() -> bool:
    """Whether the first sentence is shown: at first, and after it was asked for, until the visitor touches anything."""
    wanted = st.session_state.get(_WELCOME, True)
    st.session_state[_WELCOME] = False
    return wanted


def welcome_again() -> None:
    st.session_state[_WELCOME] = True


def see_class(request: Hashable) -> None:
    """The visitor has seen the prototype of a class."""
    seen = [each for each in st.session_state.get(_SEEN, []) if each != request]
    st.session_state[_SEEN] = [*seen, request][-MOST_SEEN:]


def classes_seen() -> list:
    return st.session_state.get(_SEEN, [])


def stop(request: Hashable) -> None:
    st.session_state[_STOPPED] = request


def go_on() -> None:
    st.session_state.pop(_STOPPED, None)


def is_stopped(request: Hashable) -> bool:
    return st.session_state.get(_STOPPED) == request


def gallery_page(last: int) -> int:
    """The page the gallery is at, never past the last one."""
    page = min(max(st.session_state.get(_PAGE, 0), 0), last)
    st.session_state[_PAGE] = page
    return page


def turn_page(by: int) -> None:
    st.session_state[_PAGE] = st.session_state.get(_PAGE, 0) + by


def first_page() -> None:
    st.session_state[_PAGE] = 0
