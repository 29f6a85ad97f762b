"""What stands between a visitor and an explanation: data or models that are not there, and what to do about it."""

from collections.abc import Callable

import streamlit as st

from dashboard import services
from dashboard.view.plain_text import sentence
from dashboard.widgets import controls
from dashboard.widgets.download import offer_download


def card_or_reason(info: services.DatasetInfo, middle, complain: Callable[[str], None]) -> services.Card | None:
    """The model chosen in the sidebar, or None where data or models are missing; the middle then says what to do."""
    try:
        cards = [card for card in services.all_cards() if card.dataset == info.name]
    except services.PretrainedError as error:
        middle.error(sentence(f"the models cannot be listed: {error}"))
        return None
    if not cards:
        middle.info(
            "There is no model trained on these data here yet; `python -m explainer_core train --help` tells how."
        )
        return None
    if not services.is_here(info):
        with middle:
            st.header(info.title)
            st.write(info.summary)
            offer_download(info)
        return None
    return controls.choose_model(cards, complain)
