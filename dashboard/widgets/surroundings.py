"""Where the target is: its neighbourhood, or the whole data set to choose from."""

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text
from dashboard.view.legend import of_nodes, of_targets, of_truth
from dashboard.view.picture import Panel
from dashboard.view.things import things_of
from dashboard.widgets.browse import browse
from dashboard.widgets.network import NEAR, ROW, TALL, show_network


def show_surroundings(card: services.Card, choice: state.Choice, question: services.Question, subject: str) -> None:
    near = state.VIEWS[0]
    with st.container(horizontal=True, key="where", **ROW):
        st.segmented_control(
            "Where to click",
            state.VIEWS,
            format_func=lambda view: "This graph" if card.task == "graph" and view == near else view.capitalize(),
            key=state.VIEW,
            on_change=state.on_change,
            args=(state.VIEW,),
            required=True,
            label_visibility="collapsed",
        )
    if choice.view == near:
        show_neighbourhood(card, choice, question, subject)
    else:
        browse(card, choice, TALL)
    if card.task == "node" or choice.layout == "embedding":
        choose_colour()


def choose_colour() -> None:
    st.selectbox(
        "Colour",
        list(services.COLOURS),
        format_func=lambda name: f"colour: {services.COLOURS[name]}",
        key=state.COLOUR,
        on_change=state.on_change,
        args=(state.COLOUR,),
        label_visibility="collapsed",
        width=230,
    )


def show_neighbourhood(card: services.Card, choice: state.Choice, question: services.Question, subject: str) -> None:
    request, drawing = choice.request, question.drawing
    title = {"node": "Click a node to explain it", "link": "Click a new second end"}.get(request.kind)
    things = things_of(drawing.picture)
    part = explanation_text.shown_part(len(drawing.picture.nodes), drawing.nodes_in_all, request.kind, things)
    edges = explanation_text.counted(drawing.edges_in_all, things.edge)
    panel = Panel("neighbourhood", title or "The whole graph", (f"{part}, {edges}",))
    entries = (*of_nodes(drawing.legend), *of_targets(drawing.picture), *of_truth(drawing.picture))
    show_network(NEAR, card, question, [panel], height=TALL, subject=subject, legend=entries, in_window=True)
    if len(drawing.picture.nodes) < drawing.nodes_in_all or choice.everything:
        state.set_widget(state.EVERYTHING, choice.everything)
        st.toggle(
            "Draw the farther nodes too", key=state.EVERYTHING, on_change=state.on_change, args=(state.EVERYTHING,)
        )
