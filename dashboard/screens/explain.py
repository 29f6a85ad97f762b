"""The Explain page: click a node, a graph or a link, and see what the prediction rests on."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import compute, drawing, explaining_words, state, wording
from dashboard.graph_view import network_view
from dashboard.parts import controls, verdict
from dashboard.parts.browse import browse
from dashboard.parts.keep import Shown, export_button, share_button
from dashboard.parts.missing import card_or_reason
from dashboard.picture import Panel
from dashboard.plain_text import for_markdown, sentence

PAGE = "explain"
TALL, LOW = 400, 280  # heights of the large and of the small pictures, in pixels
ROW = {"vertical_alignment": "center", "horizontal_alignment": "distribute", "gap": "small"}
PATIENCE = 0.8  # seconds a run may take before it is shown while it learns
BREATH = 0.3  # seconds between two pictures of a mask that is being learnt
FAILURES = (ValueError, IndexError, RuntimeError, MemoryError)  # what bad data, weights or a full memory raise


@dataclass(frozen=True)
class Answer:
    """What one method says of a prediction, judged and ready to be drawn."""

    method: str
    explanation: compute.Explanation
    scores: compute.Scores
    panel: Panel


def show() -> None:
    state.enter(PAGE)
    complaints: list[str] = []
    middle = st.container()
    with st.sidebar:
        info = controls.choose_dataset(compute.datasets(), complaints.append)
        card = card_or_reason(info, middle, complaints.append)
    if card is not None:
        try:
            explain(info, card, complaints)
        except FAILURES as error:
            logging.getLogger(__name__).exception("an explanation failed")
            st.error(sentence(error))


def explain(info: compute.DatasetInfo, card: compute.Card, complaints: list[str]) -> None:
    """The page from top to bottom, once data and model are there."""
    with st.sidebar:
        kind, place = controls.choose_target(card, complaints.append)
    if kind == "smiles" and (problem := compute.problem_with(place)):
        st.error(sentence(problem))
        kind, place = state.usual_target(card)  # something to look at, and the way back to it
    choice, size_place = choose(compute.Request(card.dataset, card.model, kind, place), complaints)
    controls.show_complaints(complaints)
    request = choice.request
    facts = compute.target_facts(request)
    title = f"{info.title} · {wording.model_title(card)} · {facts.name}"
    heading, buttons = st.columns([5, 2], gap="small")
    with heading:
        verdict.show_prediction(title, facts)
    line = show_headline(request, facts)
    drawing_ = compute.drawn(request, choice.colour, everything=choice.everything)
    left, right = st.columns(2, gap="medium")
    with left:
        show_surroundings(card, choice, drawing_)
        below = st.container()
    the_rest = cache(partial(show_the_rest, request))  # once, after the picture or when the picture takes long
    with right:
        beside_switch = show_switch()
        ready = learn_in_sight(request, drawing_, the_rest, beside_switch)
        if not ready:
            show_size(size_place, request, None)
            line.empty()
            return
        agreement = compute.agreement_of(request)
        said = verdict.headline(request, facts, compute.learnt(request).explanation)
        line.markdown(verdict.in_markdown(said))
        own = find_answers(request, drawing_, [request.method], agreement)[0]
        show_why(card, request, facts, drawing_, own)
        offer_replay(request, beside_switch)
    # the picture stands before all that follows is worked out
    show_size(size_place, request, own.explanation.size)
    the_rest()
    trust = compute.trust_of(request)
    remarks = verdict.remarks(facts, own.explanation, trust, agreement, len(own.panel.flips))
    with below:
        verdict.show_remarks(remarks)
    others = find_answers(request, drawing_, choice.methods)
    show_others(card, choice, drawing_, [other.panel for other in others])
    verdict.show_class_beside(request, facts, own.explanation)
    explanations = [(answer.method, answer.explanation) for answer in (own, *others)]
    show_features_and_trust(request, facts, explanations, trust, own.explanation.size)
    shown = Shown(
        title=title,
        sentences=tuple(explaining_words.sentences(facts, [remark.text for remark in (said, *remarks)])),
        picture=drawing_.picture,
        panels=(own.panel, *(other.panel for other in others)),
        size=own.explanation.size,
        features=verdict.strongest_features(request, explanations),
    )
    with buttons, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        share_button(choice)
        export_button(choice, shown)
    show_agreement_later(request)


def choose(request: compute.Request, complaints: list[str]) -> tuple[state.Choice, DeltaGenerator]:
    """What the rest of the sidebar and the address say of it, and the place for K_M, whose slider stands at a size that
    is only known with the explanation."""
    with st.sidebar:
        class_names = compute.target_facts(request).class_names
        target_class = controls.choose_class(class_names, complaints.append)
        config = state.config_from_address(request.dataset, complaints.append)
        size_place = st.container()
        controls.choose_features_kept(request, config)
    method = state.method_from_address(complaints.append)
    request = replace(request, target_class=target_class, config=config, method=method)
    choice = state.Choice(
        request=request,
        methods=state.methods_from_address(compute.methods_for(request), complaints.append),
        colour=state.one_of(state.COLOUR, tuple(compute.COLOURS), "predicted", complaints.append),
        view=state.one_of(state.VIEW, state.VIEWS, state.VIEWS[0], complaints.append),
        layout=state.one_of(state.LAYOUT, state.LAYOUTS, state.LAYOUTS[0], complaints.append),
        everything=state.address(state.EVERYTHING) == "True",
    )
    return choice, size_place


def show_size(place: DeltaGenerator, request: compute.Request, found: int | None) -> None:
    config = request.config
    with place:
        controls.choose_size(config.k_m, compute.size_of(request)[config.k_m_unit], found)


def show_headline(request: compute.Request, facts: compute.TargetFacts) -> DeltaGenerator:
    """The line for the verdict. It has something to say from the start, so that nothing below it moves."""
    with st.container(key="headline"):
        if compute.is_learnt(request):
            known = verdict.headline(request, facts, compute.learnt(request).explanation)
            return st.markdown(verdict.in_markdown(known))
        return st.markdown(":gray[:material/hourglass_empty:] Looking for the part that carries the prediction …")


# Left: where the target is


def show_surroundings(card: compute.Card, choice: state.Choice, drawing_: compute.Drawn) -> None:
    near = state.VIEWS[0]
    with st.container(horizontal=True, key="where", **ROW):
        st.segmented_control(
            "Where to click",
            state.VIEWS,
            format_func=lambda view: "This graph" if card.task == "graph" and view == near else view.capitalize(),
            key=state.VIEW,
            on_change=state.taken,
            args=(state.VIEW,),
            required=True,
            label_visibility="collapsed",
        )
        if card.task == "node" or choice.layout == "embedding":
            st.selectbox(
                "Colour",
                list(compute.COLOURS),
                format_func=lambda name: compute.COLOURS[name].capitalize(),
                key=state.COLOUR,
                on_change=state.taken,
                args=(state.COLOUR,),
                label_visibility="collapsed",
                width=160,
            )
    if choice.view == near:
        show_neighbourhood(card, choice, drawing_)
    else:
        browse(card, choice, TALL)


def show_neighbourhood(card: compute.Card, choice: state.Choice, drawing_: compute.Drawn) -> None:
    request = choice.request
    title, remark = {
        "node": ("Click a node to explain it", f"coloured by {compute.COLOURS[choice.colour]}"),
        "link": ("Click a node to move the second end", "rings mark the two ends"),
    }.get(request.kind, ("The whole graph", "the prediction is about all of it"))
    part = explaining_words.shown_part(len(drawing_.picture.nodes), drawing_.nodes_in_all, request.kind)
    edges = explaining_words.counted(drawing_.edges_in_all, "edge")
    panel = Panel("neighbourhood", title, (f"{part}, {edges}", remark))
    show_network("near", card, request, drawing_, [panel], height=TALL)
    if len(drawing_.picture.nodes) < drawing_.nodes_in_all or choice.everything:
        state.offer(state.EVERYTHING, choice.everything)
        st.toggle("Draw the farther nodes too", key=state.EVERYTHING, on_change=state.taken, args=(state.EVERYTHING,))


# Right: the answer


def show_the_rest(request: compute.Request) -> None:
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
            on_change=state.taken,
            args=(state.SHOWN,),
            required=True,
            label_visibility="collapsed",
        )
        return st.empty()


def offer_replay(request: compute.Request, place: DeltaGenerator) -> None:
    """The way from the verified picture to the mask it started from, which can be replayed."""
    if request.method == compute.VERIFIED:
        place.button(
            "Watch it being learnt",
            key="watch",
            icon=":material/play_circle:",
            type="tertiary",
            on_click=state.write,
            args=(state.SHOWN, "mask"),
        )
    else:
        place.empty()


def learn_in_sight(
    request: compute.Request, drawing_: compute.Drawn, meanwhile: Callable[[], None], beside: DeltaGenerator
) -> bool:
    """Finds the explanation if need be, and shows its mask forming where that takes long; False if the user stopped it.

    Any touch ends the script at the next word to the page, and with it the run.
    """
    live = st.empty()  # always there, or what follows would move and be drawn anew
    if compute.is_learnt(request):
        return True
    if state.is_stopped(request):
        meanwhile()
        with live.container():
            st.info("The run was stopped.")
            st.button("Run it again", on_click=state.go_on, type="primary")
        return False
    bones, began, drawn_at = compute.skeleton(request), time.monotonic(), 0.0
    bar = picture = None
    for step in compute.learn(request):
        now = time.monotonic()
        if step.searching:
            beside.caption("Asking the network about other proposals …")
        if now - began < PATIENCE:
            continue
        if bar is None:
            meanwhile()
            with live.container():
                bar = st.progress(0.0)
                st.button("Stop this run", on_click=state.stop, args=(request,), icon=":material/stop:")
                picture = st.empty()
        said = f"Learning the mask: step {step.number:,} of {step.total:,}"
        bar.progress(min(step.number / step.total, 1.0), text="The mask is learnt" if step.searching else said)
        if now - drawn_at > BREATH:
            mask, dark = compute.mask_on(drawing_, bones, step.edge_weight), st.context.theme.type == "dark"
            picture.image(drawing.frame(drawing_.picture, mask, dark=dark), width="stretch")
            drawn_at = now
    live.empty()
    return True


def find_answers(
    request: compute.Request,
    drawing_: compute.Drawn,
    methods: Sequence[str],
    agreement: compute.Agreement | None = None,
) -> list[Answer]:
    """What these methods say. That of the picture is already found, the others take milliseconds."""
    found = [(method, compute.said_by(request, method)) for method in methods]
    return [
        Answer(
            method,
            timed.explanation,
            scores,
            compute.weighed(
                drawing_,
                timed.explanation,
                name=method,
                title=explaining_words.METHODS[method],
                terms=explaining_words.TERMS,
                lines=panel_lines(request, method, timed.explanation, scores),
                flips=agreement.unstable if agreement else (),
                replay=method == request.method == compute.MASK,
            ),
        )
        for (method, timed), scores in zip(found, compute.all_scores(request, found), strict=True)
    ]


def panel_lines(
    request: compute.Request, method: str, explanation: compute.Explanation, scores: compute.Scores
) -> tuple[str, ...]:
    """The figures, and for the main picture where its subgraph came from."""
    lines = explaining_words.score_lines(scores)
    return (*lines, explaining_words.found_by(explanation)) if method == request.method else lines


def show_why(
    card: compute.Card, request: compute.Request, facts: compute.TargetFacts, drawing_: compute.Drawn, own: Answer
) -> None:
    picture = drawing_.picture
    show_network("why", card, request, drawing_, [own.panel], height=TALL)
    reading = explaining_words.how_to_read(facts, own.explanation, bool(picture.truth), bool(picture.bonds))
    st.caption(for_markdown(reading))


def show_others(card: compute.Card, choice: state.Choice, drawing_: compute.Drawn, panels: Sequence[Panel]) -> None:
    st.subheader("What other methods say")
    st.pills(
        "Methods",
        [name for name in compute.methods_for(choice.request) if name not in (compute.VERIFIED, compute.MASK)],
        selection_mode="multi",
        format_func=explaining_words.METHODS.get,
        key=state.METHODS,
        on_change=state.methods_to_address,
        label_visibility="collapsed",
    )
    if panels:
        show_network("beside", card, choice.request, drawing_, panels, height=LOW, columns=min(len(panels), 3))
    else:
        st.caption("Choose a method above to see it drawn the same way, at the same size.")


def show_network(
    key: str, card: compute.Card, request: compute.Request, drawing_: compute.Drawn, panels: Sequence[Panel], **looks
) -> None:
    """A clickable picture; all of them share one camera."""
    ends = request.place if request.kind == "link" else None
    network_view(
        key,
        drawing_.picture,
        panels,
        group="explain",
        clickable=request.kind in ("node", "link"),
        on_click=partial(state.clicked, key, card, ends),
        **looks,
    )


def show_features_and_trust(
    request: compute.Request,
    facts: compute.TargetFacts,
    explanations: verdict.Explanations,
    trust: compute.Trust,
    size: int,
) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Features the prediction rests on")
        verdict.show_features(request, explanations)
    with right:
        st.subheader("How much is enough?")
        verdict.show_sizes(facts, trust, size, request.kind)


def show_agreement_later(request: compute.Request) -> None:
    """Tries the other starts once the picture stands, then draws again with what they say."""
    if compute.agreement_of(request) is not None:
        return
    quiet = st.empty()
    for done, total in compute.try_starts(request):
        # a word to the page, so that any touch ends the run
        quiet.caption(f"Trying other starts: {done} of {total} …")
    st.rerun()


show()
