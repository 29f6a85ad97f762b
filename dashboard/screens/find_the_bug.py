"""The page "Find the bug": networks that are wrong for one planted reason, to practise on."""

import logging

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view.plain_text import sentence
from dashboard.widgets.cases import draw_case, show_case

PAGE = "find the bug"
FAILURES = (ValueError, IndexError, RuntimeError, MemoryError)  # what bad data, weights or a full memory raise


def show() -> None:
    state.enter(PAGE)
    st.title("Find the bug")
    st.write(
        "Four networks that are wrong more often than they should be, each for one reason. Open one, look at its mistakes, "
        "and find out what they have in common. Two clicks can be enough."
    )
    infos, shown = list(services.cases().values()), []
    for pair in (infos[:2], infos[2:]):
        for column, info in zip(st.columns(2, gap="large"), pair, strict=True):
            with column:
                shown.append(show_case(info))
    for case in filter(None, shown):
        draw(*case)


def draw(card: services.Card, place: DeltaGenerator) -> None:
    """A case that fails leaves the others standing."""
    try:
        draw_case(card, place)
    except services.RunRefused as refused:
        place.error(sentence(refused))
    except FAILURES as error:
        logging.getLogger(__name__).exception("the picture of a case failed")
        place.error(sentence(error))


show()
