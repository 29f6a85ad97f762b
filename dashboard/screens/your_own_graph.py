"""The page of one's own graph: bring it, train a network on it or bring its weights, and go on to explain it."""

import streamlit as st

from dashboard import services, state
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets.own_files import bring_files
from dashboard.widgets.own_networks import bring_weights, show_networks, title_of
from dashboard.widgets.own_training import train_network

PAGE = "your own graph"
WAYS = {"train": "Train one", "weights": "Bring its weights"}


def show() -> None:
    state.enter(PAGE)
    st.title("Your own graph")
    st.write(
        "Bring a graph, train a network on it or bring one, and ask why it predicts what it does. What you bring is seen by nobody else, "
        "and dropped when you have been away for an hour."
    )
    st.caption(services.LIMITS)
    mine = services.own_datasets()
    missing = state.query_param(state.DATASET)
    if missing is not None and missing not in mine and services.source_of(missing) == services.OWN:
        st.warning(sentence(services.missing_sentence(missing) or ""))
    show_told()
    if mine:
        show_mine(mine)
        st.header("Bring another")
    try:
        bring_files()
    except services.RunRefused as refused:
        st.error(sentence(refused))


def show_told() -> None:
    kind, text = state.told()
    if text:
        {"error": st.error, "success": st.success}.get(kind, st.info)(sentence(text))


def show_mine(mine: dict[str, services.DatasetInfo]) -> None:
    """What was brought, and its networks."""
    state.dataset_from_query(list(mine))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox(
            "What you brought",
            list(mine),
            format_func=lambda name: mine[name].title,
            key=state.DATASET,
            on_change=state.dataset_to_query,
            width=360,
        )
        st.button(
            "Remove it",
            icon=":material/delete:",
            on_click=remove,
            args=(name,),
            help="Deletes the graph and its networks from this server at once.",
        )
    info = mine[name]
    st.header(title_of(info))
    st.caption(for_markdown(info.summary))
    show_networks(info)
    st.subheader("A network for it")
    way = st.segmented_control(
        "How",
        list(WAYS),
        format_func=WAYS.__getitem__,
        default="train",
        required=True,
        label_visibility="collapsed",
        key="own way",
    )
    if way == "weights":
        bring_weights(info)
    else:
        train_network(info, mine)


def remove(name: str) -> None:
    try:
        services.drop(name)
    except ValueError as gone:
        state.tell("error", str(gone))
        return
    state.tell()
    state.set_query_param(state.DATASET, None)


show()
