"""What the page of one's own graph remembers of a visit: files as they were read, and what was told last."""

from collections.abc import Hashable
from typing import Any

import streamlit as st

from dashboard.uploads import forget_files

_READ = "files as they were read"
_TOLD = "what was told of the last file or network"
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


def tell(kind: str = "", text: str = "") -> None:
    """An error, an info or a success, which stays until something else is told."""
    st.session_state[_TOLD] = (kind, text)


def told() -> tuple[str, str]:
    return st.session_state.get(_TOLD, ("", ""))
