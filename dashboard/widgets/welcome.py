"""The first sentence: what this is, what is shown, and what to do next. Folded away after the first click."""

import streamlit as st

from dashboard import state

TEXT = (
    "**Why did this graph neural network say that?** In blue: what its answer rests on, checked with it. "
    "Pick another node or graph, drag the size, change the data."
)


def show_welcome() -> None:
    slot = st.empty()  # always there, or what follows would move and be drawn anew
    if state.is_welcomed():
        with slot.container(key="welcome_text"):
            st.markdown(TEXT)


def welcome_button() -> None:
    """The way back to the first sentence."""
    st.button(
        "",
        icon=":material/help:",
        key="welcome",
        on_click=state.welcome_again,
        type="tertiary",
        help="What is this page?",
    )
