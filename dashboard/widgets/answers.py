"""What the methods say of a prediction: the main picture, and the others drawn the same way beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text
from dashboard.view.picture import Panel
from dashboard.view.plain_text import for_markdown
from dashboard.widgets.network import LOW, TALL, show_network


@dataclass(frozen=True)
class Answer:
    """What one method says of a prediction, judged and ready to be drawn."""

    method: str
    explanation: services.Explanation
    scores: services.Scores
    panel: Panel


def find_answers(
    request: services.Request,
    drawing: services.Drawn,
    methods: Sequence[str],
    agreement: services.Agreement | None = None,
) -> list[Answer]:
    """What these methods say. That of the picture is already found, the others take milliseconds."""
    found = [(method, services.explained_by(request, method)) for method in methods]
    return [
        Answer(
            method,
            timed.explanation,
            scores,
            services.weighed(
                drawing,
                timed.explanation,
                name=method,
                title=explanation_text.METHODS[method],
                terms=explanation_text.TERMS,
                lines=panel_lines(request, method, timed.explanation, scores),
                flips=agreement.unstable if agreement else (),
                replay=method == request.method == services.MASK,
            ),
        )
        for (method, timed), scores in zip(found, services.all_scores(request, found), strict=True)
    ]


def panel_lines(
    request: services.Request, method: str, explanation: services.Explanation, scores: services.Scores
) -> tuple[str, ...]:
    """The figures, and for the main picture where its subgraph came from."""
    lines = explanation_text.score_lines(scores)
    return (*lines, explanation_text.found_by(explanation)) if method == request.method else lines


def show_why(
    card: services.Card, request: services.Request, facts: services.TargetFacts, drawing: services.Drawn, own: Answer
) -> None:
    picture = drawing.picture
    show_network("why", card, request, drawing, [own.panel], height=TALL)
    reading = explanation_text.how_to_read(facts, own.explanation, bool(picture.truth), bool(picture.bonds))
    st.caption(for_markdown(reading))


def show_others(card: services.Card, choice: state.Choice, drawing: services.Drawn, panels: Sequence[Panel]) -> None:
    st.subheader("What other methods say")
    st.pills(
        "Methods",
        [name for name in services.methods_for(choice.request) if name not in (services.VERIFIED, services.MASK)],
        selection_mode="multi",
        format_func=explanation_text.METHODS.get,
        key=state.METHODS,
        on_change=state.methods_to_query,
        label_visibility="collapsed",
    )
    if panels:
        show_network("beside", card, choice.request, drawing, panels, height=LOW, columns=min(len(panels), 3))
    else:
        st.caption("Choose a method above to see it drawn the same way, at the same size.")
