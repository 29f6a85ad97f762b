"""What the page says of a prediction: the main picture, drawn again when more is known."""

from dataclasses import replace

import streamlit as st

from dashboard import services
from dashboard.view import explanation_text
from dashboard.view.explained import Explained
from dashboard.view.picture import Panel
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import explained, named, show_explanation, starts_of
from dashboard.widgets.graph_view import when_shown

MAIN = "main picture"  # the fragment that is drawn again when the other starts were tried


def main_panel(answer: services.Answer) -> Panel:
    """The main picture's weights with the edges on which other starts differ, as far as they are known by now."""
    return _with_starts(_panel(answer), answer)


def _panel(answer: services.Answer) -> Panel:
    own = answer.own
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
        replay=services.is_mask(own.explanation),
    )


def _with_starts(panel: Panel, answer: services.Answer) -> Panel:
    agreement = answer.agreement
    return replace(panel, unstable=answer.question.drawing.edges_of(agreement.unstable) if agreement else ())


def show_why(card: services.Card, answer: services.Answer, title: str) -> None:
    """The explanation. All that other starts do not change is worked out once, and not each time it is drawn."""
    panel = _panel(answer)
    every_size = explained(answer, panel)
    _draw_why(card, answer, named(panel, every_size), every_size, title)


@st.fragment(key=MAIN)
def _draw_why(card: services.Card, answer: services.Answer, panel: Panel, every_size: Explained, title: str) -> None:
    """It is a fragment, so that what other starts say can arrive later without another run of the page."""
    show_explanation(card, answer, _with_starts(panel, answer), replace(every_size, starts=starts_of(answer)), title)


def draw_why_again(answer: services.Answer) -> None:
    """Has the main picture drawn once more, alone, as soon as the browser has heard of it."""
    when_shown("starts_tried", str(hash(answer.request)), lambda: st.rerun(MAIN))
