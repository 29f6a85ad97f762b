"""The Debug page: from how often a network is right to the reason why it is wrong."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import explanation_text, mistakes_text, model_text
from dashboard.view.plain_text import sentence
from dashboard.widgets import controls, verdict
from dashboard.widgets.cases import show_case_on_debug
from dashboard.widgets.debug_heading import show_heading
from dashboard.widgets.missing import show_for_network
from dashboard.widgets.mistakes import THINGS, choose_instances, show_overview
from dashboard.widgets.notes import show_notes
from dashboard.widgets.patterns import show_patterns
from dashboard.widgets.two_networks import choose_other, show_instance_under, show_versus
from dashboard.widgets.what_if import show_what_if
from dashboard.widgets.why_not import choose_instead, show_cause, show_why_and_why_not

PAGE = "debug"


def show() -> None:
    state.enter(PAGE)
    show_for_network(debug)


def debug(bar: DeltaGenerator, info: services.DatasetInfo, card: services.Card, complaints: list[str]) -> None:
    """The page from top to bottom, once data and model are there."""
    complained, heading = st.empty(), st.empty()
    listed = everything(heading, card)
    only, cell = choose_instances(card, listed.instances, complaints)
    found = services.count_mistakes(card.dataset, card.model, only)
    title = f"{info.title} · {model_text.model_title(card)}"
    with heading:
        show_heading(*mistakes_text.headline(title, found.overview, only.split or "", THINGS[card.task]))
    show_case_on_debug(card)
    show_overview(card, found, only, cell)
    show_patterns(card, found, cell)
    second = choose_other(card, complaints)
    first = found.listed(cell)
    usual = found.target(int(first.numbers[0])) if len(first) else None
    if second is not None:
        changed = show_versus((card, second), only, complaints)
        usual = usual if changed is None else changed
    with bar:
        kind, target = controls.choose_target(card, complaints.append, usual)
    if isinstance(target, str) and (problem := services.problem_with(target)):
        st.error(sentence(problem))
        kind, target = state.usual_target(card)  # something to look at, and the way back to it
    config = state.config_from_query(card.dataset, complaints.append)
    request = services.Request(card.dataset, card.model, kind, target, config=config)
    show_instance(info, card, second, request, complaints)
    with complained:
        controls.show_complaints(complaints)


def show_instance(
    info: services.DatasetInfo,
    card: services.Card,
    second: services.Card | None,
    request: services.Request,
    complaints: list[str],
) -> None:
    """One instance, from the plain cause to what would change it."""
    facts = services.target_facts(request)
    st.divider()
    verdict.show_prediction(facts.name[:1].upper() + facts.name[1:], facts, level=2)
    cause = st.empty()
    other = choose_instead(facts, complaints)
    show_cause(cause, request, facts)
    both = show_why_and_why_not(card, request, other)
    if second is not None and both is not None:
        show_instance_under(card, second, both.why, info.title)
    show_what_if(request, facts)
    show_notes(info, card, request, facts, None if both is None else both.why)


def everything(slot: DeltaGenerator, card: services.Card):
    """What the network says of everything, with a word while it is being asked."""

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))

    with st.spinner(f"Asking the network about every {THINGS[card.task]}", show_time=True):
        return services.everything(card.dataset, card.model, tell)


show()
