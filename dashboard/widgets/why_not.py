"""One instance: the plain cause of the mistake first, then why the network says this, and why not that."""

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import judged
from dashboard.view import debug_text, explanation_text, figures, legend
from dashboard.view.figures import SizeCurve
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import headline_of
from dashboard.widgets.graph_view import network_view

PICTURE = 320  # pixels


def show_cause(slot: DeltaGenerator, request: services.Request, facts: services.TargetFacts) -> None:
    """The cause, said where a rule finds one; where none does, nothing is."""
    if facts.right is not False:
        return
    found = services.cause(request)
    if found is not None:
        slot.markdown(f":material/lightbulb: **{for_markdown(debug_text.capital(found.text))}**")


def choose_instead(facts: services.TargetFacts, complaints: list[str]) -> int:
    """The class beside the predicted one: the true one where the network is wrong, else the runner-up."""
    others = [label for label in range(len(facts.class_names)) if label != facts.predicted]
    runner_up = max(others, key=lambda label: facts.probabilities[label])
    usual = facts.truth if facts.truth is not None and not facts.right else runner_up
    label = state.instead_from_query(usual, facts.predicted, len(facts.class_names), complaints.append)
    st.subheader(debug_text.why_title(facts.class_names[facts.predicted], [facts.class_names[each] for each in others]))
    if len(others) > 1:
        st.selectbox(
            "And why not",
            others,
            format_func=lambda other: (
                f"and why not “{facts.class_names[other]}”?{' It is true.' if other == facts.truth else ''}"
            ),
            key=state.INSTEAD,
            on_change=state.on_change,
            args=(state.INSTEAD,),
            label_visibility="collapsed",
            width=320,
        )
    return label


def show_why_and_why_not(card: services.Card, request: services.Request, other: int) -> services.Both | None:
    """Both explanations on one layout; any touch ends the run like every other."""
    slot = st.empty()

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Step):
            slot.caption("Looking for the two parts …")

    try:
        both = services.why_and_why_not(request, other, tell)
    except services.RunRefused as refused:
        slot.error(sentence(refused))
        return None
    slot.empty()
    facts = both.why_not.facts
    names = facts.class_names[facts.predicted], facts.class_names[other]
    st.markdown(
        for_markdown(debug_text.both_said(names, both.level, len(both.shared), things_of(both.drawing.picture)))
    )
    for column, key, answer in zip(
        st.columns(2, gap="medium"), ("why", "why_not"), (both.why, both.why_not), strict=True
    ):
        with column:
            _show_one(card, key, both, answer)
    _show_curves(both, names)
    return both


def _show_one(card: services.Card, key: str, both: services.Both, answer: services.Answer) -> None:
    facts, request = answer.facts, answer.request
    asked = facts.predicted if facts.explained is None else facts.explained
    panel = services.weighed(
        both.drawing,
        answer.explanation,
        name=key,
        title=debug_text.panel_title(facts.class_names[asked], facts, asked),
        terms=explanation_text.TERMS,
        lines=(f"{explanation_text.percent(facts.probabilities[asked])} with everything", *_farther(both, answer)),
    )
    position = {pair: i for i, pair in enumerate(both.drawing.pairs)}
    panel = replace(panel, shared=tuple(position[pair] for pair in both.shared if pair in position))
    network_view(
        key,
        both.drawing.picture,
        [panel],
        group="debug",
        height=PICTURE,
        clickable=request.kind == "node",
        subject=facts.name,
        legend=legend.of_two_parts(
            both.drawing.picture, both.drawing.legend, "what speaks for the class", shared=bool(both.shared)
        ),
        on_click=partial(state.clicked, key, card, None),
    )
    icon, word = explanation_text.badge(facts, judged(answer.explanation))
    title, words = headline_of(answer)
    st.markdown(f"**{for_markdown(title)}**  \n{for_markdown(f'{icon} {word.capitalize()}. {words}')}")


def _farther(both: services.Both, answer: services.Answer) -> list[str]:
    """A word about edges of a part that are too far off to be drawn."""
    kept = answer.explanation.subgraph().edges
    missing = len(kept) - services.count_drawn(both.drawing, kept)
    edge = things_of(both.drawing.picture).edge
    return [f"{explanation_text.counted(missing, edge)} of the part farther off than what is drawn"] if missing else []


def _show_curves(both: services.Both, names: tuple[str, str]) -> None:
    facts, unit = both.why.facts, both.why.request.config.k_m_unit
    rows = [
        SizeCurve(
            f"“{name}” from its own part",
            facts.colours[facts.predicted if answer is both.why else answer.facts.explained or 0],
            [verdict.alone for _, verdict in answer.sizes],
            answer.explanation.size,
        )
        for name, answer in zip(names, (both.why, both.why_not), strict=True)
    ]
    st.plotly_chart(
        figures.along_sizes(rows, things_of(both.drawing.picture).many(unit), dark=st.context.theme.type == "dark"),
        config=figures.STILL,
        key="along_sizes",
        alt="What the part alone gives of each of the two classes, for every size",
    )
