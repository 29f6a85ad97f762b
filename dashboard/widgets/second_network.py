"""The same target under a second network of the same data, side by side with the first."""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import judged
from dashboard.view import debug_text, explanation_text, legend, model_text, ranking
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import headline_of
from dashboard.widgets.graph_view import network_view
from dashboard.widgets.network import LOW


@dataclass(frozen=True)
class Look:
    """How both networks are drawn."""

    data: str  # the title of the data set, for saved pictures
    group: str  # of views that share a camera
    colour: str = "predicted"
    everything: bool = False
    near: int = services.NEAR
    causes: bool = False  # of mistakes, said under the pictures


def choose_second(card: services.Card) -> DeltaGenerator | None:
    """The second network; returns the place for what it says, None where there is no other network."""
    others = {each.model: each for each in services.other_networks(card)}
    if not others:
        return None
    st.subheader("Would another network say the same?")
    select_second(others, "The same target under")
    return st.empty()


def select_second(others: dict[str, services.Card], label: str) -> None:
    st.selectbox(
        label,
        [state.NO_SECOND, *others],
        format_func=lambda model: model_text.model_title(others[model]) if model in others else "no other network",
        key=state.SECOND,
        on_change=state.second_chosen,
        width=280,
    )


def show_second(slot: DeltaGenerator, card: services.Card, model: str, answer: services.Answer, look: Look) -> None:
    """Explains the target under the second network and draws both; any touch ends the run like every other."""
    if model == state.NO_SECOND:
        return
    second = next(each for each in services.other_networks(card) if each.model == model)

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Step):
            slot.caption(f"Asking {for_markdown(model_text.model_title(second))} …")

    try:
        other = services.explain_under(
            answer, model, look.colour, everything=look.everything, near=look.near, on_progress=tell
        )
    except services.RunRefused as refused:
        slot.error(sentence(refused))
        return
    with slot.container(key="two_networks"):
        _show_both((card, second), (answer, other), look)


def _show_both(
    cards: tuple[services.Card, services.Card], answers: tuple[services.Answer, services.Answer], look: Look
) -> None:
    shared = services.shared_parts(*answers)
    classes = [answer.facts.class_names[answer.facts.predicted] for answer in answers]
    names = [model_text.model_title(card) for card in cards]
    drawings = services.on_one_layout(answers, look.colour)
    things = things_of(drawings[0].picture)
    st.markdown(for_markdown(ranking.in_common(names, classes, shared.edges, shared.of, things)))
    for which, column in enumerate(st.columns(2, gap="medium")):
        with column:
            _show_one(("first", "second")[which], cards[which], answers[which], drawings[which], shared, look)


def _show_one(
    key: str,
    card: services.Card,
    answer: services.Answer,
    drawing: services.Drawn,
    shared: services.SharedParts,
    look: Look,
) -> None:
    """The picture first, which is level with the other, then the verdict in the words of the headline."""
    facts, request, name = answer.facts, answer.request, model_text.model_title(card)
    said = ranking.prediction_line(
        facts.class_names[facts.predicted], facts.probabilities[facts.predicted], facts.right
    )
    panel = services.weighed(
        drawing, answer.explanation, name=card.model, title=name, terms=explanation_text.TERMS, lines=(said,)
    )
    panel = replace(panel, shared=tuple(i for i, pair in enumerate(drawing.pairs) if pair in shared.pairs))
    view = f"{key}_network"
    ends = request.ends if request.kind == "link" else None
    network_view(
        view,
        drawing.picture,
        [panel],
        group=look.group,
        height=LOW,
        clickable=request.kind in ("node", "link"),
        subject=f"{look.data} · {name} · {facts.name}",
        legend=legend.of_two_parts(
            drawing.picture,
            drawing.legend,
            explanation_text.accent_means(facts, answer.explanation),
            shared=bool(panel.shared),
        ),
        on_click=partial(state.clicked, view, card, ends),
    )
    icon, word = explanation_text.badge(facts, judged(answer.explanation))
    title, words = headline_of(answer)
    st.markdown(f"**{for_markdown(title)}**  \n{for_markdown(f'{icon} {word.capitalize()}. {words}')}")
    if look.causes and facts.right is False and (cause := services.cause(request)) is not None:
        st.markdown(f":material/lightbulb: {for_markdown(debug_text.capital(cause.text))}")
