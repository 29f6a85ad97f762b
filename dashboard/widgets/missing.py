"""What stands between a visitor and an explanation: data or models that are not there, and what to do about it."""

import logging
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets import controls
from dashboard.widgets.download import offer_download

NOT_TRAINED = "There is no model trained on these data here yet; `python -m explainer_core train --help` tells how."
MOST_TOLD = 3  # networks that are left out
FAILURES = (ValueError, IndexError, RuntimeError, MemoryError)  # what bad data, weights or a full memory raise
Body = Callable[[DeltaGenerator, services.DatasetInfo, services.Card, list[str]], None]


def show_for_network(body: Body) -> None:
    """A page about one network: the bar with data and network first, then the page itself, which is given the bar to go
    on with, and a list for what is wrong with its link. Where it fails, it says so in one sentence."""
    complaints: list[str] = []
    bar = controls.bar()
    middle = st.container()
    with bar:
        info = controls.choose_dataset(services.datasets(), complaints.append)
        card = card_or_reason(info, middle, complaints.append)
    if card is None:
        return
    try:
        body(bar, info, card, complaints)
    except services.RunRefused as refused:
        st.error(sentence(refused))
    except FAILURES as error:
        logging.getLogger(__name__).exception("a page failed")
        st.error(sentence(error))


def card_or_reason(info: services.DatasetInfo, middle, complain: Callable[[str], None]) -> services.Card | None:
    """The model chosen in the bar, or None where data or models are missing; the middle then says what to do."""
    of_case = services.case_cards() if info.name in services.cases() else []
    cards = [card for card in (*services.all_cards(), *of_case) if card.dataset == info.name]
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
