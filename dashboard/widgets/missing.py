"""What stands between a visitor and an explanation: data or models that are not there, and what to do about it."""

from collections.abc import Callable

import streamlit as st

from dashboard import services
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets import controls
from dashboard.widgets.download import offer_download

NOT_TRAINED = "There is no model trained on these data here yet; `python -m explainer_core train --help` tells how."
MOST_TOLD = 3  # networks that are left out


def card_or_reason(info: services.DatasetInfo, middle, complain: Callable[[str], None]) -> services.Card | None:
    """The model chosen in the bar, or None where data or models are missing; the middle then says what to do."""
    cards = [card for card in (*services.all_cards(), *services.case_cards()) if card.dataset == info.name]
    show_broken(info)
    if not cards:
        brought = services.source_of(info.name) != services.SHIPPED
        middle.info("These data have no network yet: train or add one first." if brought else NOT_TRAINED)
        return None
    if not services.is_here(info):
        with middle:
            st.header(for_markdown(info.title))
            st.write(for_markdown(info.summary))
            offer_download(info)
        return None
    return controls.choose_model(cards, complain)


def show_broken(info: services.DatasetInfo | None = None) -> None:
    """A sentence where networks are listed for those that cannot be; with a data set, for its own alone."""
    mine = f"{info.models_of or info.name}_" if info else ""
    broken = [reason for name, reason in services.broken_cards().items() if not name or name.startswith(mine)]
    for reason in broken[:MOST_TOLD]:
        st.warning(sentence(f"a network is left out: {reason}"))
    if len(broken) > MOST_TOLD:
        st.warning(f"{len(broken) - MOST_TOLD:,} more networks are left out; restore their files.")
