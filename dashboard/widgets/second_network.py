"""The same target under a second network of the same data, side by side with the first."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import judged
from dashboard.view import explanation_text, model_text, ranking
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets.explanation_view import headline_of
from dashboard.widgets.graph_view import network_view
from dashboard.widgets.network import LOW


def choose_second(card: services.Card) -> DeltaGenerator | None:
    """The second network; returns the place for what it says, None where there is no other network."""
    others = {each.model: each for each in services.other_networks(card)}
    if not others:
        return None
    st.subheader("Would another network say the same?")
    st.selectbox(
        "The same target under",
        [state.NO_SECOND, *others],
        format_func=lambda model: model_text.model_title(others[model]) if model in others else "no other network",
        key=state.SECOND,
        on_change=state.on_change,
        args=(state.SECOND,),
        width=280,
    )
    return st.empty()


def show_second(slot: DeltaGenerator, card: services.Card, choice: state.Choice, answer: services.Answer) -> None:
    """Explains the target under the second network and draws both; any touch ends the run like every other."""
    if choice.second == state.NO_SECOND:
        return
    second = next(each for each in services.other_networks(card) if each.model == choice.second)

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Step):
            slot.caption(f"Asking {for_markdown(model_text.model_title(second))} …")

    try:
        other = services.explain_under(
            answer, second.model, choice.colour, everything=choice.everything, on_progress=tell
        )
    except services.RunRefused as refused:
        slot.error(sentence(refused))
        return
    with slot.container(key="two_networks"):
        _show_both((card, second), (answer, other), choice)


def _show_both(
    cards: tuple[services.Card, services.Card], answers: tuple[services.Answer, services.Answer], choice: state.Choice
) -> None:
    shared = services.shared_parts(*answers)
    classes = [answer.facts.class_names[answer.facts.predicted] for answer in answers]
    names = [model_text.model_title(card) for card in cards]
    st.markdown(for_markdown(ranking.in_common(names, classes, shared.edges, shared.of)))
    drawings = services.on_one_layout(answers, choice.colour)
    for which, column in enumerate(st.columns(2, gap="medium")):
        with column:
            _show_one(("first", "second")[which], cards[which], answers[which], drawings[which])


def _show_one(key: str, card: services.Card, answer: services.Answer, drawing: services.Drawn) -> None:
    """The picture first, which is level with the other, then the verdict in the words of the headline."""
    facts, request = answer.facts, answer.request
    said = ranking.prediction_line(
        facts.class_names[facts.predicted], facts.probabilities[facts.predicted], facts.right
    )
    panel = services.weighed(
        drawing,
        answer.explanation,
        name=card.model,
        title=model_text.model_title(card),
        terms=explanation_text.TERMS,
        lines=(said,),
    )
    view = f"{key}_network"
    ends = request.ends if request.kind == "link" else None
    network_view(
        view,
        drawing.picture,
        [panel],
        group="explain",
        height=LOW,
        clickable=request.kind in ("node", "link"),
        on_click=partial(state.clicked, view, card, ends),
    )
    icon, word = explanation_text.badge(facts, judged(answer.explanation))
    title, words = headline_of(answer)
    st.markdown(f"**{for_markdown(title)}**  \n{for_markdown(f'{icon} {word}. {words}')}")
