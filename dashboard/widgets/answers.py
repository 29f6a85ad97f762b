"""What the methods say of a prediction: the main picture, and the others drawn the same way beside it."""

from collections.abc import Sequence

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text
from dashboard.view.picture import Panel
from dashboard.view.plain_text import for_markdown
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import show_explanation
from dashboard.widgets.graph_view import when_shown
from dashboard.widgets.network import LOW, show_network

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


def panels_beside(drawing: services.Drawn, others: Sequence[services.MethodAnswer]) -> tuple[Panel, ...]:
    return tuple(
        services.weighed(
            drawing,
            other.explanation,
            name=other.method,
            title=services.described(other.method).title,
            terms=explanation_text.TERMS,
            lines=explanation_text.score_lines(other.scores),
        )
        for other in others
    )


@st.fragment(key=MAIN)
def show_why(card: services.Card, answer: services.Answer, title: str) -> None:
    """The explanation. It is a fragment, so that what other starts say can arrive later without another run of the page."""
    show_explanation(card, answer, main_panel(answer), title)


def draw_why_again(answer: services.Answer) -> None:
    """Has the main picture drawn once more, alone, as soon as the browser has heard of it."""
    when_shown("starts_tried", str(hash(answer.request)), lambda: st.rerun(MAIN))


def show_others(card: services.Card, question: services.Question, panels: Sequence[Panel], title: str) -> None:
    st.subheader("What other methods say")
    st.pills(
        "Methods",
        services.beside_main(question.methods),
        selection_mode="multi",
        format_func=lambda method: services.described(method).title,
        key=state.METHODS,
        on_change=state.methods_to_query,
        label_visibility="collapsed",
    )
    if not panels:
        st.caption("Choose a method above to see it drawn the same way, at the same size.")
        return
    columns = min(len(panels), 3)
    show_network("beside", card, question, panels, height=LOW, columns=columns, subject=title)
    for first in range(0, len(panels), columns):
        for column, panel in zip(st.columns(columns, gap="small"), panels[first : first + columns], strict=False):
            about = services.described(panel.name).about
            column.caption(for_markdown(f"{panel.title}: {about}"))
