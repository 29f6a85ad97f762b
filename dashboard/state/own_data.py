"""What the page of one's own graph remembers of a visit: files as they were read, and the network that is being trained."""

from collections.abc import Hashable
from typing import Any

import streamlit as st

from dashboard.state.query import place
from dashboard.uploads import forget_files

_READ = "files as they were read"
_TRAINING = "network that is being trained"
_TOLD = "what was told of the last network"
_AGAIN = "how often the files were taken away"


def read_before(files: Hashable, options: Hashable) -> Any:
    """What the same files gave with the same options, if it was the last that was asked."""
    known = st.session_state.get(_READ)
    return known[2] if known is not None and known[:2] == (files, options) else None


def remember_read(files: Hashable, options: Hashable, found: Any) -> None:
    """Only the last: files are large."""
    st.session_state[_READ] = (files, options, found)


def fields_before(files: Hashable) -> tuple[str, ...] | None:
    """The columns of these files, if they were the last that were read."""
    known = st.session_state.get(_READ)
    return known[2].fields if known is not None and known[0] == files else None


def forget_read() -> None:
    """The files leave the server's memory, and the widgets that sent them."""
    forget_files()
    st.session_state.pop(_READ, None)
    st.session_state[_AGAIN] = files_taken() + 1


def files_taken() -> int:
    """A number for the widgets' keys: a new one is an empty widget."""
    return st.session_state.get(_AGAIN, 0)


def begin_training(request: Hashable) -> None:
    st.session_state[_TRAINING] = request
    st.session_state.pop(_TOLD, None)


def training() -> Any:
    return st.session_state.get(_TRAINING)


def end_training(kind: str = "", text: str = "", curves: Any = None) -> None:
    """What is told, an error, an info or a success, stays until the next training begins or something else is kept."""
    st.session_state.pop(_TRAINING, None)
    st.session_state[_TOLD] = (kind, text, curves)


def leave_training(page: str) -> None:
    """Whoever comes from another page has left what was trained there, and with them its run ended."""
    if training() is not None and place() != page:
        end_training("info", "the training ended when you left the page; nothing of it is kept")


def told_of_training() -> tuple[str, str, Any]:
    return st.session_state.get(_TOLD, ("", "", None))
