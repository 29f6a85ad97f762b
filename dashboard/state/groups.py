"""What a visitor's session remembers of groups of mistakes: the names given to them; and of cases: the hints seen."""

import streamlit as st

from dashboard.view.report import NamedGroup

_NAMED = "named groups"
_HINTS = "hints seen"
MOST_NAME = 60  # letters
MOST_NAMED = 50
GroupId = tuple[str, str, str, str]  # data set, network, kind and key of the trait


def group_name(group: GroupId) -> str:
    """The name that the visitor gave a group; empty for none."""
    named = _named().get(group)
    return "" if named is None else named.name


def named_groups(dataset: str) -> tuple[NamedGroup, ...]:
    """The groups of a data set that have a name, in the order they were given."""
    return tuple(named for group, named in _named().items() if group[0] == dataset)


def group_named(widget: str, group: GroupId, saved: NamedGroup) -> None:
    """Called when a name was typed: the group is saved under it, and forgotten with it."""
    typed = " ".join(str(st.session_state[widget]).split())[:MOST_NAME]
    others = [(key, named) for key, named in _named().items() if key != group]
    own = [(group, saved._replace(name=typed))] if typed else []
    st.session_state[_NAMED] = dict([*others, *own][-MOST_NAMED:])


def _named() -> dict[GroupId, NamedGroup]:
    return st.session_state.get(_NAMED, {})


def hints_seen(case: str) -> int:
    return st.session_state.get(_HINTS, {}).get(case, 0)


def see_hint(case: str) -> None:
    st.session_state[_HINTS] = st.session_state.get(_HINTS, {}) | {case: hints_seen(case) + 1}


def is_solved(case: str) -> bool:
    return st.session_state.get(_HINTS, {}).get(f"{case} solved", 0) > 0


def solve(case: str, *, shown: bool) -> None:
    """The solution is shown, or put away again."""
    st.session_state[_HINTS] = st.session_state.get(_HINTS, {}) | {f"{case} solved": int(shown)}
