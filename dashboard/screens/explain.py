"""The Explain page: click a node, a graph or a link, and see what the prediction rests on."""

import logging
from dataclasses import replace
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import explanation_text, model_text
from dashboard.view.plain_text import sentence
from dashboard.widgets import controls, verdict
from dashboard.widgets.answers import find_answers, show_others, show_why
from dashboard.widgets.export import Shown, export_button, share_button
from dashboard.widgets.live_run import optimise_in_sight
from dashboard.widgets.missing import card_or_reason
from dashboard.widgets.network import ROW
from dashboard.widgets.surroundings import show_surroundings

PAGE = "explain"
FAILURES = (ValueError, IndexError, RuntimeError, MemoryError)  # what bad data, weights or a full memory raise


def show() -> None:
    state.enter(PAGE)
    complaints: list[str] = []
    middle = st.container()
    with st.sidebar:
        info = controls.choose_dataset(services.datasets(), complaints.append)
        card = card_or_reason(info, middle, complaints.append)
    if card is not None:
        try:
            explain(info, card, complaints)
        except FAILURES as error:
            logging.getLogger(__name__).exception("an explanation failed")
            st.error(sentence(error))


def explain(info: services.DatasetInfo, card: services.Card, complaints: list[str]) -> None:
    """The page from top to bottom, once data and model are there."""
    with st.sidebar:
        kind, target = controls.choose_target(card, complaints.append)
    if kind == "smiles" and (problem := services.problem_with(target)):
        st.error(sentence(problem))
        kind, target = state.usual_target(card)  # something to look at, and the way back to it
    choice, size_slot = choose(services.Request(card.dataset, card.model, kind, target), complaints)
    controls.show_complaints(complaints)
    request = choice.request
    facts = services.target_facts(request)
    title = f"{info.title} · {model_text.model_title(card)} · {facts.name}"
    heading, buttons = st.columns([5, 2], gap="small")
    with heading:
        verdict.show_prediction(title, facts)
    line = show_headline(request, facts)
    drawing = services.drawn(request, choice.colour, everything=choice.everything)
    left, right = st.columns(2, gap="medium")
    with left:
        show_surroundings(card, choice, drawing)
        below = st.container()
    the_rest = cache(partial(show_the_rest, request))  # once, after the picture or when the picture takes long
    with right:
        beside_switch = show_switch()
        ready = optimise_in_sight(request, drawing, the_rest, beside_switch)
        if not ready:
            show_size(size_slot, request, None)
            line.empty()
            return
        agreement = services.agreement_of(request)
        said = verdict.headline(request, facts, services.optimised(request).explanation)
        line.markdown(verdict.in_markdown(said))
        own = find_answers(request, drawing, [request.method], agreement)[0]
        show_why(card, request, facts, drawing, own)
        offer_replay(request, beside_switch)
    # the picture stands before all that follows is worked out
    show_size(size_slot, request, own.explanation.size)
    the_rest()
    trust = services.trust_of(request)
    remarks = verdict.remarks(facts, own.explanation, trust, agreement, len(own.panel.flips))
    with below:
        verdict.show_remarks(remarks)
    others = find_answers(request, drawing, choice.methods)
    show_others(card, choice, drawing, [other.panel for other in others])
    verdict.show_class_beside(request, facts, own.explanation)
    explanations = [(answer.method, answer.explanation) for answer in (own, *others)]
    show_features_and_trust(request, facts, explanations, trust, own.explanation.size)
    shown = Shown(
        title=title,
        sentences=tuple(explanation_text.sentences(facts, [remark.text for remark in (said, *remarks)])),
        picture=drawing.picture,
        panels=(own.panel, *(other.panel for other in others)),
        size=own.explanation.size,
        features=verdict.strongest_features(request, explanations),
    )
    with buttons, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        share_button(choice)
        export_button(choice, shown)
    show_agreement_later(request)


def choose(request: services.Request, complaints: list[str]) -> tuple[state.Choice, DeltaGenerator]:
    """What the rest of the sidebar and the address say of it, and the place for K_M, whose slider stands at a size that
    is only known with the explanation."""
    with st.sidebar:
        class_names = services.target_facts(request).class_names
        target_class = controls.choose_class(class_names, complaints.append)
        config = state.config_from_query(request.dataset, complaints.append)
        size_slot = st.container()
        controls.choose_features_kept(request, config)
    method = state.method_from_query(complaints.append)
    request = replace(request, target_class=target_class, config=config, method=method)
    choice = state.Choice(
        request=request,
        methods=state.methods_from_query(services.methods_for(request), complaints.append),
        colour=state.one_of(state.COLOUR, tuple(services.COLOURS), "predicted", complaints.append),
        view=state.one_of(state.VIEW, state.VIEWS, state.VIEWS[0], complaints.append),
        layout=state.one_of(state.LAYOUT, state.LAYOUTS, state.LAYOUTS[0], complaints.append),
        everything=state.query_param(state.EVERYTHING) == "True",
    )
    return choice, size_slot


def show_size(place: DeltaGenerator, request: services.Request, found: int | None) -> None:
    config = request.config
    with place:
        controls.choose_size(config.k_m, services.size_of(request)[config.k_m_unit], found)


def show_headline(request: services.Request, facts: services.TargetFacts) -> DeltaGenerator:
    """The line for the verdict. It has something to say from the start, so that nothing below it moves."""
    with st.container(key="headline"):
        if services.is_optimised(request):
            known = verdict.headline(request, facts, services.optimised(request).explanation)
            return st.markdown(verdict.in_markdown(known))
        return st.markdown(":gray[:material/hourglass_empty:] Looking for the part that carries the prediction …")


def show_the_rest(request: services.Request) -> None:
    with st.sidebar:
        controls.choose_the_rest(request.dataset, request.config)


def show_switch() -> DeltaGenerator:
    """Which explanation the picture shows; returns the place beside the switch."""
    with st.container(horizontal=True, key="switch", **ROW):
        st.segmented_control(
            "What the picture shows",
            list(state.SHOWN_AS),
            format_func=str.capitalize,
            key=state.SHOWN,
            on_change=state.on_change,
            args=(state.SHOWN,),
            required=True,
            label_visibility="collapsed",
        )
        return st.empty()


def offer_replay(request: services.Request, place: DeltaGenerator) -> None:
    """The way from the verified picture to the mask it started from, which can be replayed."""
    if request.method == services.VERIFIED:
        place.button(
            "Watch it being learnt",
            key="watch",
            icon=":material/play_circle:",
            type="tertiary",
            on_click=state.set_query_param,
            args=(state.SHOWN, "mask"),
        )
    else:
        place.empty()


def show_features_and_trust(
    request: services.Request,
    facts: services.TargetFacts,
    explanations: verdict.Explanations,
    trust: services.Trust,
    size: int,
) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Features the prediction rests on")
        verdict.show_features(request, explanations)
    with right:
        st.subheader("How much is enough?")
        verdict.show_sizes(facts, trust, size, request.kind)


def show_agreement_later(request: services.Request) -> None:
    """Tries the other starts once the picture stands, then draws again with what they say."""
    if services.agreement_of(request) is not None:
        return
    quiet = st.empty()
    for done, total in services.try_starts(request):
        # a word to the page, so that any touch ends the run
        quiet.caption(f"Trying other starts: {done} of {total} …")
    st.rerun()


show()
