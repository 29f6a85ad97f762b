"""The heading of the Debug page, of the size of all others."""

from html import escape

import streamlit as st

from dashboard.view.plain_text import shortened


def show_heading(title: str, words: str) -> None:
    st.html(
        f'<section class="prediction"><div><h1>{escape(shortened(title, 110))}</h1><p>{escape(words)}</p></div></section>'
    )
