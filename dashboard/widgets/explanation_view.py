"""The explanation as the page shows it: headline, picture, legend and the track of sizes, from one answer."""

import zlib
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import CARRIES, group_of, judged, shape_of
from dashboard.view import explanation_text
from dashboard.view.explained import Explained, Size
from dashboard.view.labels import labels_at_sizes, labels_in
from dashboard.view.legend import ACCENT, DOTTED, Entry, of_nodes, of_targets, of_truth
from dashboard.view.picture import Panel, Picture
from dashboard.view.things import things_of
from dashboard.widgets.graph_view import explanation_view, search_announced
from dashboard.widgets.network import NEAR, TALL

WHY = "why"  # the key of the view


def announce(question: services.Question, known: services.Answer | None) -> DeltaGenerator:
    """Says that the explanation is being looked for, where it is not known yet; returns the slot it says so in."""
    token, searching = _token(question.request), known is None
    slot = st.empty()
    with slot.container(key="searching"):
        search_announced("herald", WHY, token, explanation_text.SEARCHING, searching=searching)
    return slot


def show_explanation(
    card: services.Card, answer: services.Answer, panel: Panel, every_size: Explained, title: str
) -> None:
    request = answer.request
    ends = request.ends if request.kind == "link" else None
    explanation_view(
        WHY,
        answer.question.drawing.picture,
        panel,
        every_size,
        group="explain",
        subject=title,
        height=TALL,
        level_with=NEAR,
        clickable=request.kind in ("node", "link"),
        on_click=partial(_then_all, partial(state.clicked, WHY, card, ends)),
        on_size=partial(_then_all, partial(state.size_chosen, WHY)),
    )


def named(panel: Panel, every_size: Explained) -> Panel:
    """The panel with its names where they lie at every size."""
    labels = every_size.labels
    return panel if labels is None else replace(panel, labels=labels_in(labels[every_size.chosen - 1]))


def _then_all(change) -> None:
    """The view is in a fragment, whose own run would draw the fragment only."""
    change()
    st.rerun()


def _token(request: services.Request) -> str:
    return f"{zlib.crc32(repr(request).encode()):x}"


def explained(answer: services.Answer, panel: Panel) -> Explained:
    """Everything the view says, at every size."""
    facts, request = answer.facts, answer.request
    on_drawing = services.kept_on(answer.question.drawing, answer.explanation, [kept for kept, _ in answer.sizes])
    asked = facts.predicted if facts.explained is None else facts.explained
    sizes = [_size(answer, number, drawn) for number, drawn in enumerate(on_drawing, 1)]
    picture, masked = answer.question.drawing.picture, services.is_mask(answer.explanation)
    parts = tuple((edges, nodes) for edges, nodes, _ in on_drawing)
    return Explained(
        token=_token(request),
        sizes=tuple(sizes),
        weights=None if masked else np.stack([weights for *_, weights in on_drawing]),
        labels=None if picture.bonds else labels_at_sizes(picture, parts, answer.auto),
        chosen=answer.explanation.size,
        auto=answer.auto,
        is_auto=request.config.k_m == services.AUTO,
        unit=things_of(picture).many(request.config.k_m_unit),
        full=judged(answer.explanation).full,
        class_name=facts.class_names[asked],
        starts=starts_of(answer),
        figures=panel.lines,
        legend=legend(answer),
    )


def _size(answer: services.Answer, number: int, drawn) -> Size:
    facts, unit, (kept, verdict) = answer.facts, answer.request.config.k_m_unit, answer.sizes[number - 1]
    edges, nodes, _ = drawn
    shape = shape_name(answer.question.drawing.picture, kept, edges)
    things = things_of(answer.question.drawing.picture)
    smaller = next((part for part, found in answer.sizes[: number - 1] if found.level == CARRIES), None)
    enough = None if smaller is None else _count(smaller, unit)
    headline, sentence = explanation_text.headline(facts, verdict, _count(kept, unit), unit, shape, things, enough)
    badge = explanation_text.badge(facts, verdict)
    return Size(edges, nodes, verdict.alone, verdict.without, verdict.keeps_class, badge, headline, sentence)


def _count(kept, unit: str) -> int:
    return len(kept.nodes if unit == "nodes" else kept.edges)


def shape_name(picture: Picture, kept, drawn_edges: tuple[int, ...]) -> str | None:
    """The word for a part, where it is a shape and all of it."""
    if {node for edge in kept.edges for node in edge} != set(kept.nodes) or not kept.edges:
        return None
    if picture.bonds and len(drawn_edges) == len(kept.edges):
        group = group_of([picture.edges[i] for i in drawn_edges], picture.labels, picture.edges, picture.bonds)
        if group is not None:
            return group
    return shape_of(kept.edges)


def headline_of(answer: services.Answer) -> tuple[str, str]:
    """The headline and its sentence at the size that is shown."""
    number = answer.explanation.size
    (drawn,) = services.kept_on(answer.question.drawing, answer.explanation, [answer.sizes[number - 1][0]])
    shown = _size(answer, number, drawn)
    return shown.headline, shown.sentence


def starts_of(answer: services.Answer) -> str:
    """Whether other starts agree; empty until they were tried."""
    found = answer.agreement
    if found is None:
        return ""
    return explanation_text.starts_agree(found, services.count_drawn(answer.question.drawing, found.unstable))


def legend(answer: services.Answer) -> tuple[Entry, ...]:
    """What every mark in the picture means, always in the same order."""
    drawing = answer.question.drawing
    accent = Entry(ACCENT, explanation_text.accent_means(answer.facts, answer.explanation))
    return (
        *of_nodes(drawing.legend),
        accent,
        Entry(DOTTED, "differs between starts"),
        *of_targets(drawing.picture),
        *of_truth(drawing.picture),
    )
