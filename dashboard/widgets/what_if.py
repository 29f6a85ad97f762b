"""What if: a graph to change by clicking, with all class bars following, and the smallest change that flips it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard import services, state
from dashboard.schema import Edit
from dashboard.view import explanation_text, legend, what_if_text
from dashboard.view.legend import Entry
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.things import things_of
from dashboard.widgets.explanation_view import headline_of
from dashboard.widgets.flip import show_flip
from dashboard.widgets.graph_view import editable_view

VIEW = "what_if"
HEIGHT = 380
EDGES, NODES = state.CHANGED


@st.fragment(key="what if")  # a click draws this part anew and nothing else, so that the bars follow at once
def show_what_if(request: services.Request, facts: services.TargetFacts) -> None:
    """`request` is of the unedited graph; the edits are in the link."""
    st.subheader("What if?")
    said = st.container()
    left, right = st.columns([2, 1], gap="medium")
    with right:
        above = st.container()
        complaints: list[str] = []
        show_flip(request, facts, complaints)  # first, since what it finds is drawn on the left
    edited = replace(request, edits=state.edits_from_query(complaints.append))
    after, edited = _answered(edited, facts, complaints)
    mode = state.changes_from_query(complaints.append) if _has_nodes_to_change(request) else EDGES
    for each in (*complaints, state.refused_edit()):
        if each:
            said.warning(sentence(each))
    with left:
        _choose_mode(request, mode)
        again = _explained_again(edited) if edited.edits and state.is_explained_again() else None
        _show_picture(edited, facts.name, mode, again)
    with above:
        st.html(what_if_text.bars(facts, after))
        if edited.edits:
            st.markdown(f"**{for_markdown(what_if_text.now_said(facts, after))}**")
            node, feature = services.names_in(request)
            st.markdown(for_markdown(what_if_text.edits_said(edited.edits, node, feature)))
        _buttons(request, edited)
        if mode == NODES:
            _show_node(edited)


def _answered(
    edited: services.Request, facts: services.TargetFacts, complaints: list[str]
) -> tuple[tuple[float, ...], services.Request]:
    """What the network says after the edits of the link; those that cannot be made are told of and left out."""
    if not edited.edits:
        return facts.probabilities, edited
    try:
        return services.ask_edited(edited), edited
    except services.RunRefused:
        raise
    except (ValueError, IndexError) as error:
        complaints.append(str(error))
        return facts.probabilities, replace(edited, edits=())


def _has_nodes_to_change(request: services.Request) -> bool:
    """Where all nodes have the same features there are only edges to change."""
    return services.has_types(request) or services.has_features_to_change(request)


def _choose_mode(request: services.Request, mode: str) -> None:
    """What a click changes."""
    atoms = services.has_types(request)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if _has_nodes_to_change(request):
            titles = {EDGES: "Bonds" if atoms else "Edges", NODES: "Atoms" if atoms else "Features"}
            st.segmented_control(
                "What a click changes",
                list(titles),
                format_func=titles.__getitem__,
                required=True,
                key=state.CHANGES,
                on_change=state.on_change,
                args=(state.CHANGES,),
                label_visibility="collapsed",
            )
        how = what_if_text.HOW_TO_ATOMS if atoms else what_if_text.HOW_TO_NODES
        words = what_if_text.HOW_TO_EDGES if mode == EDGES else how
        st.markdown(words.replace("an edge", "a bond").replace("nodes", "atoms") if atoms else words)


def _show_picture(edited: services.Request, subject: str, mode: str, again: services.Answer | None) -> None:
    changed = services.changed_drawing(edited)
    picture = changed.drawing.picture
    things = things_of(picture)
    part = explanation_text.shown_part(len(picture.nodes), changed.drawing.nodes_in_all, edited.kind, things)
    panels = [services.edited_panel(changed, "The graph", (part,))]
    if again is not None:
        lines = (headline_of(again)[0],)
        panels.append(services.explained_panel(edited, again, changed, "What it rests on now", lines))
    marks, truth = legend.of_changes(things) if edited.edits else (), legend.of_truth(picture)
    accent = () if again is None else (Entry(legend.ACCENT, "what the prediction rests on now"),)
    editable_view(
        VIEW,
        picture,
        panels,
        group="what if",
        columns=len(panels),
        height=HEIGHT,
        joins=mode == EDGES,
        subject=subject,
        legend=(*legend.of_nodes(changed.drawing.legend), *accent, *marks, *legend.of_targets(picture), *truth),
        on_click=partial(_node_clicked, edited),
        on_edit=partial(_edge_clicked, edited),
    )


def _edge_clicked(edited: services.Request) -> None:
    pair = state.sent_pair(VIEW)
    if pair is not None:
        _make(edited, lambda: services.toggled(edited, *pair))


def _node_clicked(edited: services.Request) -> None:
    node = state.sent_node(VIEW)
    if node is not None:
        state.pick_node(edited, node)


def _make(edited: services.Request, edits: Callable[[], tuple[Edit, ...]]) -> None:
    """Makes an edit if the graph and the network take it; else says why not, once."""
    try:
        new = edits()
        if new:
            services.ask_edited(replace(edited, edits=new))
    except (ValueError, IndexError) as error:
        state.refuse_edit(str(error))
        return
    state.set_edits(edited, new)


def _buttons(request: services.Request, edited: services.Request) -> None:
    some = bool(edited.edits)
    with st.container(horizontal=True, gap="xsmall", key="edit_buttons"):
        st.button(
            "Undo",
            icon=":material/undo:",
            on_click=state.undo,
            args=(request,),
            disabled=not state.can_undo(request),
            key="undo",
        )
        st.button(
            "Redo",
            icon=":material/redo:",
            on_click=state.redo,
            args=(request,),
            disabled=not state.can_redo(),
            key="redo",
        )
        st.button("Reset", on_click=state.reset_edits, args=(request,), disabled=not some, key="reset_edits")
        st.button(
            "Explain it again",
            on_click=state.explain_again,
            args=(request,),
            disabled=not some or state.is_explained_again(),
            key="explain_again",
            help="What the prediction rests on in the changed graph.",
        )


def _explained_again(edited: services.Request) -> services.Answer | None:
    slot = st.empty()

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            slot.caption(explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Step):
            slot.caption("Explaining the changed graph …")

    try:
        answer = services.explain_edited(edited, tell)
    except (services.RunRefused, ValueError) as error:
        slot.error(sentence(error))
        return None
    slot.empty()
    return answer


def _show_node(edited: services.Request) -> None:
    """The node in hand: its type, or its features."""
    node = state.picked_node(edited)
    facts = None if node is None else services.node_facts(edited, node)
    if node is None or facts is None:
        return
    st.markdown(f"**{for_markdown(facts.name)}**")
    if facts.type is not None:
        _show_atom(edited, node, facts)
    else:
        _show_features(edited, node, facts)


def _show_atom(edited: services.Request, node: int, facts: services.NodeFacts) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Element",
            range(len(facts.type_names)),
            index=facts.type,
            format_func=facts.type_names.__getitem__,
            key=(key := f"element {node} {facts.type}"),
            on_change=lambda: _make(edited, lambda: services.with_type(edited, node, state.chosen(key))),
            width=120,
        )
        st.button(
            "Delete it",
            icon=":material/delete:",
            on_click=_make,
            args=(edited, lambda: services.without_node(edited, node)),
            key=f"delete {node}",
        )


def _show_features(edited: services.Request, node: int, facts: services.NodeFacts) -> None:
    """Features that are there first; hidden, one has the mean over all nodes."""
    titles = {i: f"{name}: {value:g}" for i, name, value in facts.values}
    values = {i: value for i, _, value in facts.values}
    feature = st.selectbox("Feature", list(titles), format_func=titles.__getitem__, key=f"feature {node}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        value = st.number_input(
            "Value", value=values[feature], step=None, key=f"value {node} {feature} {values[feature]}", width=130
        )
        st.button(
            "Set",
            on_click=_make,
            args=(edited, lambda: services.with_feature(edited, node, feature, float(value))),
            disabled=value is None or value == values[feature],
            key="set_feature",
        )
        st.button(
            "Hide",
            on_click=_make,
            args=(edited, lambda: services.with_feature(edited, node, feature, None)),
            key="hide_feature",
        )
