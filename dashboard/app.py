"""The entry: what all pages share, and which pages there are."""

import importlib
from pathlib import Path

import streamlit as st

st.set_page_config(
    page_title="Graph Explainer",
    layout="wide",
    # Without an entry of ours the menu is hidden, and with it the choice between light and dark.
    menu_items={"About": "Graph neural networks, the data they were trained on, and how well they do."},
)
st.html(Path(__file__).with_name("style.css"))
# Their folder is not called pages: Streamlit would open such files by themselves, without what stands here.
page = st.navigation(
    [
        st.Page("screens/explain.py", title="Explain", default=True),
        st.Page("screens/debug.py", title="Debug"),
        st.Page("screens/find_the_bug.py", title="Find the bug"),
        st.Page("screens/prototypes.py", title="Prototypes"),
        st.Page("screens/data_and_models.py", title="Data sets and models"),
        st.Page("screens/your_own_graph.py", title="Your own graph"),
    ],
    position="top",
)
# The first visitor waits some seconds for the libraries; an empty page would look broken.
with st.spinner("Starting: the libraries are being loaded, once"):
    services = importlib.import_module("dashboard.services")
    state = importlib.import_module("dashboard.state")
services.connect(state.visitor, state.pulse, state.token)
page.run()
