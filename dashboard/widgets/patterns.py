"""Systematic mistakes: what the mistakes that are listed have in common that right predictions have not."""

import streamlit as st

from dashboard import services
from dashboard.view import explanation_text, mistakes_text
from dashboard.view.plain_text import for_markdown, sentence

MOST_SHOWN = 6
FEWEST = 5  # mistakes from which a pattern can be told


def show_patterns(card: services.Card, found: services.Mistakes, cell: tuple[int, int] | None) -> None:
    """A button, since many explanations take some seconds; then the patterns, or that there is none."""
    if not found.labelled or (cell is not None and cell[0] == cell[1]):
        return
    groups = services.compared(found, cell)
    if len(groups[0]) < FEWEST or not groups[1]:
        return
    known = services.known_patterns(card.dataset, card.model, groups)
    place = st.empty()
    asked = known is None and place.button(
        "What do these mistakes have in common?",
        icon=":material/group_work:",
        key="find_patterns",
        help="They and as many right ones are explained; what is significantly more frequent among the mistakes is a pattern.",
    )
    if asked:
        known = _search(card, groups)
    if known is None:
        return
    place.empty()
    st.markdown("**What these mistakes have in common**")
    if not known:
        st.markdown(for_markdown(mistakes_text.no_pattern(len(groups[0]), len(groups[1]))))
    for pattern in known[:MOST_SHOWN]:
        st.markdown(f"- {for_markdown(mistakes_text.pattern_said(pattern))}")
    if len(known) > MOST_SHOWN:
        st.markdown(f"{len(known) - MOST_SHOWN} more are less certain.")


def _search(card: services.Card, groups: tuple[tuple, tuple]):
    """Any touch stops it."""
    slot = st.empty()

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))

    try:
        with st.spinner(f"Explaining {len(groups[0]) + len(groups[1])} predictions", show_time=True):
            return services.patterns(card.dataset, card.model, groups, tell)
    except (services.RunRefused, ValueError) as error:
        slot.error(sentence(error))
        return None
