"""What the user chose, to and from the address: the only place that touches session state and query parameters."""

from collections.abc import Sequence

import streamlit as st

DATASET = "dataset"  # key of the selector and name in the address


def dataset_from_address(names: Sequence[str]) -> str | None:
    """Sets the selector to what the address says, else to the first; returns what was asked for in vain.

    The address is the one truth: a choice goes there first (`dataset_to_address`), so a link, the back button
    and a click all arrive here. A bound widget would put the title in the address, and drop a bad one in silence.
    """
    asked = st.query_params.get(DATASET)
    st.session_state[DATASET] = asked if asked in names else names[0]
    return None if asked is None or asked in names else asked


def dataset_to_address() -> None:
    """Called by the selector when the user has chosen."""
    st.query_params[DATASET] = st.session_state[DATASET]
