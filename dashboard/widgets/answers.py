"""What the page says of a prediction: the main picture, drawn again when more is known."""

import streamlit as st

from dashboard import services
from dashboard.view import explanation_text
from dashboard.view.picture import Panel
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import show_explanation
from dashboard.widgets.graph_view import when_shown

MAIN = "main picture"  # the fragment that is drawn again when the other starts were tried


def main_panel(answer: services.Answer) -> Panel:
    """The main picture's weights with the edges on which other starts differ, as far as they are known by now."""
    own, agreement = answer.own, answer.agreement
    return services.weighed(
        answer.question.drawing,
        own.explanation,
        name=own.method,
        title=services.described(own.method).title,
        terms=explanation_text.TERMS,
        lines=(
            *explanation_text.score_lines(own.scores),
            explanation_text.found_by(own.explanation, things_of(answer.question.drawing.picture)),
        ),
        unstable=agreement.unstable if agreement else (),
        replay=services.is_mask(own.explanation),
    )


@st.fragment(key=MAIN)
def show_why(card: services.Card, answer: services.Answer, title: str) -> None:
    """The explanation. It is a fragment, so that what other starts say can arrive later without another run of the page."""
    show_explanation(card, answer, main_panel(answer), title)


def draw_why_again(answer: services.Answer) -> None:
    """Has the main picture drawn once more, alone, as soon as the browser has heard of it."""
    when_shown("starts_tried", str(hash(answer.request)), lambda: st.rerun(MAIN))
