"""The Explain page: click a node, a graph or a link, and see what the prediction rests on."""

from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import Trust
from dashboard.view import explanation_text, model_text
from dashboard.view.picture import Panel
from dashboard.view.plain_text import sentence
from dashboard.widgets import controls, verdict, welcome
from dashboard.widgets.answers import draw_why_again, main_panel, show_why
from dashboard.widgets.compared_methods import panels_beside, show_methods
from dashboard.widgets.explanation_view import announce, explained, headline_of, named, starts_of
from dashboard.widgets.export import Shown, export_button, share_button
from dashboard.widgets.live_run import explain_in_sight
from dashboard.widgets.missing import show_for_network
from dashboard.widgets.network import ROW
from dashboard.widgets.second_network import Look, choose_second, show_second
from dashboard.widgets.surroundings import show_surroundings

PAGE = "explain"


def show() -> None:
    state.enter(PAGE)
    welcome.show_welcome()
    show_for_network(explain)


def explain(bar: DeltaGenerator, info: services.DatasetInfo, card: services.Card, complaints: list[str]) -> None:
    """The page from top to bottom, once data and model are there."""
    with bar:
        kind, target = controls.choose_target(card, complaints.append)
    if isinstance(target, str) and (problem := services.problem_with(target)):
        st.error(sentence(problem))
        kind, target = state.usual_target(card)  # something to look at, and the way back to it
    with bar:
        request = asked_for(services.Request(card.dataset, card.model, kind, target), card, complaints)
    running = nullcontext() if state.is_stopped(request) else services.begun(request)
    with running:  # as early as can be: all else is drawn meanwhile
        with bar:
            drawer = st.popover("Settings", icon=":material/tune:", key="settings")
            welcome.welcome_button()
            actions = st.container(
                horizontal=True, horizontal_alignment="right", gap="xsmall", key="actions", width="content"
            )
        choice = choose(request, card, complaints)
        with drawer:
            controls.choose_features_kept(request, request.config)
        controls.show_complaints(complaints)
        show_answer(info, card, choice, drawer, actions)


def show_answer(
    info: services.DatasetInfo,
    card: services.Card,
    choice: state.Choice,
    drawer: DeltaGenerator,
    actions: DeltaGenerator,
) -> None:
    """The picture and its headline first; all that follows is worked out once they stand."""
    question = services.ask(choice.request, choice.colour, everything=choice.everything)
    title = f"{info.title} · {model_text.model_title(card)} · {question.facts.name}"
    with st.container(horizontal=True, key="heading", **ROW):
        verdict.show_prediction(title, question.facts)
        beside_switch = show_switch()
    known = services.known_answer(question)
    left, right = st.columns([2, 1], gap="medium")
    with right:
        show_surroundings(card, choice, question, title)
        below = st.empty()
    the_rest = cache(partial(show_the_rest, drawer, choice.request))  # once, after the picture or when it takes long
    with left:
        searching = announce(question, known)
        place = st.container()  # above the run that is watched, which comes and goes without moving it
        try:
            answer = explain_in_sight(question, known, the_rest, beside_switch)
        except services.RunRefused:
            searching.empty()
            raise
        if answer is None:
            searching.empty()
            return
        with place:
            show_why(card, answer, title)
        set_replay(answer, beside_switch)
    the_rest()
    comparison = services.compare(answer, choice.methods)
    trust, others = comparison.trust, comparison.others
    with below.container():
        verdict.show_remarks(verdict.remarks(answer, trust))
    panels = panels_beside(question.drawing, comparison)
    show_methods(card, answer, comparison, title)
    second = choose_second(card)
    verdict.show_class_beside(answer)
    explanations = [(each.method, each.explanation) for each in (answer.own, *others)]
    show_features(answer, explanations)
    with actions:
        share_button(choice)
        export_button(choice, answer, partial(shown_now, title, answer, trust, panels, explanations))
    if second is not None:
        look = Look(info.title, "explain", choice.colour, choice.everything)
        show_second(second, card, choice.second, answer, look)
    try_other_starts(answer)


def asked_for(request: services.Request, card: services.Card, complaints: list[str]) -> services.Request:
    """What is asked of the target, with which settings: all that the answer depends on."""
    target_class = controls.choose_class(services.class_names(card.dataset, card.task), complaints.append)
    config = state.config_from_query(request.dataset, complaints.append)
    method = state.method_from_query(complaints.append)
    return replace(request, target_class=target_class, config=config, method=method)


def choose(request: services.Request, card: services.Card, complaints: list[str]) -> state.Choice:
    """What else the query parameters say of how it is shown."""
    possible = services.methods_for(request)
    beside = services.beside_main(possible, request.method)
    return state.Choice(
        request=request,
        methods=state.methods_from_query(possible, beside, services.shown_first(request), complaints.append),
        colour=state.one_of(state.COLOUR, tuple(services.COLOURS), "predicted", complaints.append),
        view=state.one_of(state.VIEW, state.VIEWS, state.VIEWS[0], complaints.append),
        layout=state.one_of(state.LAYOUT, state.LAYOUTS, state.LAYOUTS[0], complaints.append),
        everything=state.query_param(state.EVERYTHING) == "True",
        second=second_from_query(card, complaints),
    )


def second_from_query(card: services.Card, complaints: list[str]) -> str:
    others = [each.model for each in services.other_networks(card)]
    return state.one_of(state.SECOND, (state.NO_SECOND, *others), state.NO_SECOND, complaints.append)


def show_the_rest(drawer: DeltaGenerator, request: services.Request) -> None:
    with drawer:
        controls.choose_the_rest(request.dataset, request.config)


def show_switch() -> DeltaGenerator:
    """Which explanation the picture shows; returns the place beside the switch."""
    with st.container(horizontal=True, key="switch", width="content", vertical_alignment="center", gap="small"):
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


def set_replay(answer: services.Answer, slot: DeltaGenerator) -> None:
    """The way from the verified picture to the mask it started from, which can be replayed."""
    if services.is_mask(answer.explanation):
        slot.empty()
        return
    slot.button(
        "Watch it being learnt",
        key="watch",
        icon=":material/play_circle:",
        type="tertiary",
        on_click=state.set_query_param,
        args=(state.SHOWN, "mask"),
    )


def show_features(answer: services.Answer, explanations: verdict.Explanations) -> None:
    st.subheader("Features the prediction rests on")
    verdict.show_features(answer.question, explanations)


def shown_now(
    title: str,
    answer: services.Answer,
    trust: Trust,
    panels: tuple[Panel, ...],
    explanations: verdict.Explanations,
) -> Shown:
    """What the page shows by now, with what other starts say if they were tried."""
    starts = [said] if (said := starts_of(answer)) else []
    main = main_panel(answer)
    found = [*headline_of(answer), *starts, *(remark.text for remark in verdict.remarks(answer, trust))]
    return Shown(
        title=title,
        sentences=tuple(explanation_text.sentences(answer.facts, found)),
        picture=answer.question.drawing.picture,
        panels=(named(main, explained(answer, main)), *panels),
        size=answer.explanation.size,
        features=verdict.strongest_features(answer.question, explanations),
    )


def try_other_starts(answer: services.Answer) -> None:
    """Tries the other starts once the page stands, then says what they say; the page is not run again for it."""
    if answer.agreement is not None:
        return
    quiet = st.empty()

    def show_progress(progress: object) -> None:
        if isinstance(progress, services.Started):
            quiet.caption(f"Trying other starts: {progress.share:.0%} …")

    services.try_starts(answer, show_progress)
    quiet.empty()
    draw_why_again(answer)


show()
