"""What a visitor's session remembers of groups of mistakes: the names given to them; and of cases: the hints seen."""

import streamlit as st

_NAMES = "names of groups"
_HINTS = "hints seen"
MOST_NAME = 60  # letters
MOST_NAMES = 200


def group_name(dataset: str, model: str, group: tuple[str, str]) -> str:
    """The name that the visitor gave a group, by the kind and key of its trait; empty for none."""
    return st.session_state.get(_NAMES, {}).get((dataset, model, *group), "")


def group_named(widget: str, dataset: str, model: str, group: tuple[str, str]) -> None:
    """Called when a name was typed."""
    typed = " ".join(str(st.session_state[widget]).split())[:MOST_NAME]
    names = {key: name for key, name in st.session_state.get(_NAMES, {}).items() if key != (dataset, model, *group)}
    kept = dict(list(names.items())[-MOST_NAMES + 1 :])
    st.session_state[_NAMES] = kept | ({(dataset, model, *group): typed} if typed else {})


def hints_seen(case: str) -> int:
    return st.session_state.get(_HINTS, {}).get(case, 0)


def see_hint(case: str) -> None:
    st.session_state[_HINTS] = st.session_state.get(_HINTS, {}) | {case: hints_seen(case) + 1}


def is_solved(case: str) -> bool:
    return st.session_state.get(_HINTS, {}).get(f"{case} solved", 0) > 0


def solve(case: str, *, shown: bool) -> None:
    """The solution is shown, or put away again."""
    st.session_state[_HINTS] = st.session_state.get(_HINTS, {}) | {f"{case} solved": int(shown)}
