"""The cases of "Find the bug": cards to open, hints one by one, and the solution on demand."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import cases_text
from dashboard.view.plain_text import for_markdown


def show_case(info: services.DatasetInfo) -> tuple[services.Card, DeltaGenerator] | None:
    """One card of the gallery; returns the place of its picture, which takes longer than the words."""
    card = next((card for card in services.case_cards() if card.dataset == info.name), None)
    if card is None:
        st.warning(f"The network of {info.title} cannot be read; restore its files in pretrained/.")
        return None
    st.header(info.title)
    with st.container(key=f"case_words_{info.name}"):  # as high in all cards, or their pictures are not level
        st.markdown(f"**{for_markdown(cases_text.complaint(card))}**  \n{for_markdown(info.summary)}")
    with st.container(height=services.CASE_HEIGHT + 8, border=False):
        place = st.empty()
    if st.button("Look for the bug", key=f"open {info.name}", icon=":material/search:"):
        st.switch_page("screens/debug.py", query_params={state.DATASET: info.name})
    show_hints(card)
    return card, place


def draw_case(card: services.Card, place: DeltaGenerator) -> None:
    with place, st.spinner("Drawing one of its mistakes", show_time=True):
        picture = services.case_picture(card, dark=st.context.theme.type == "dark")
    place.image(picture.svg, alt=picture.title)


def show_hints(card: services.Card) -> None:
    """The hints seen so far, the next one for a click, and the solution for another."""
    case, hints = card.dataset, cases_text.CASES[card.dataset].hints
    seen = min(state.hints_seen(case), len(hints))
    for number, hint in enumerate(hints[:seen], start=1):
        st.markdown(f"{number}. {for_markdown(hint)}")
    if state.is_solved(case):
        for heading, words in cases_text.solution(card, services.planted_in(card)):
            st.markdown(f"**{heading}.** {for_markdown(words)}")
    with st.container(horizontal=True, gap="small"):
        left = len(hints) - seen
        if left:
            label = "Give me a hint" if not seen else f"Another hint ({left} left)"
            st.button(label, key=f"hint {case}", icon=":material/lightbulb:", on_click=state.see_hint, args=(case,))
        shown = state.is_solved(case)
        st.button(
            "Hide the solution" if shown else "Show the solution",
            key=f"solution {case}",
            on_click=lambda: state.solve(case, shown=not shown),
        )


def show_case_on_debug(card: services.Card) -> None:
    """On the Debug page of a case: the complaint, the way back, and the hints for who is stuck."""
    if card.dataset not in services.cases():
        return
    with st.expander(f"Find the bug: {cases_text.complaint(card)}", icon=":material/bug_report:", key="case_hints"):
        show_hints(card)
        if st.button("All cases", key="all_cases", type="tertiary", icon=":material/arrow_back:"):
            st.switch_page("screens/find_the_bug.py")
