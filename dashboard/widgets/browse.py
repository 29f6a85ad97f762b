"""The whole data set to choose from: a map, a gallery of small pictures, or a list of links."""

from functools import partial

import streamlit as st

from dashboard import services, state
from dashboard.widgets import controls
from dashboard.widgets.graph_view import gallery_view, map_view
from dashboard.widgets.network import nodes_title
from dashboard.widgets.pick import SPLITS

LAYOUT_TITLES = {"graph": "Drawn graph", "embedding": "What the network sees", "gallery": "Gallery"}
LAYOUT_HELP = (
    "The drawn graph, small pictures, or the network's own view: nodes or graphs it treats alike lie close together "
    "(the first two principal components of its embeddings)."
)
JOINED = ("all pairs", "joined", "not joined")
RIGHT = {"any": "right and wrong", "right": "right", "wrong": "wrong"}


def browse(card: services.Card, choice: state.Choice, height: int) -> None:
    """One way to see everything at once, and to click in it."""
    if card.task == "link":
        show_links(card, height)
        return
    layouts = ("graph", "embedding") if card.task == "node" else ("gallery", "embedding")
    layout = choice.layout if choice.layout in layouts else layouts[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.set_widget(state.LAYOUT, layout)
        st.segmented_control(
            "Map",
            layouts,
            format_func=LAYOUT_TITLES.__getitem__,
            key=state.LAYOUT,
            on_change=state.on_change,
            args=(state.LAYOUT,),
            required=True,
            label_visibility="collapsed",
            help=LAYOUT_HELP,
        )
        graph_filter = choose_filter(card) if layout == "gallery" else None
    if graph_filter:
        show_gallery(card, choice, graph_filter, height)
        return
    count = services.num_targets(card.dataset, card.model)
    if count > services.MOST_ON_MAP:
        st.info(
            f"A map shows at most {services.MOST_ON_MAP:,} {card.task}s, and these are {count:,}: choose by number."
        )
        return
    with st.spinner("Drawing the map", show_time=True):
        points = services.points(card.dataset, card.model, layout, choice.colour)
    target = choice.request.target
    map_view(
        "map",
        points,
        selected=(target,) if isinstance(target, int) else (),
        height=height - 60,
        on_click=partial(state.clicked, "map", card),
    )


def show_gallery(card: services.Card, choice: state.Choice, graph_filter: services.GraphFilter, height: int) -> None:
    with st.spinner("Asking the network about every graph", show_time=True):
        found = services.filtered_graphs(card.dataset, card.model, graph_filter)
    if not len(found):
        st.info("No graph passes this filter; widen it.")
        return
    last = (len(found) - 1) // services.PER_PAGE
    page = state.gallery_page(last)
    with st.spinner("Drawing", show_time=True):
        cards = services.gallery(card.dataset, card.model, found, page)
    target = choice.request.number if choice.request.kind == "graph" else None
    with st.container(height=height, border=False):  # beside the explanation, however many cards there are
        gallery_view("gallery", cards, selected=target, on_click=partial(state.clicked, "gallery", card))
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center"):
        st.button(
            "", icon=":material/chevron_left:", key="back", disabled=page == 0, on_click=state.turn_page, args=(-1,)
        )
        st.caption(
            f"{page * services.PER_PAGE + 1:,} to {min(len(found), (page + 1) * services.PER_PAGE):,} of {len(found):,}"
        )
        st.button(
            "", icon=":material/chevron_right:", key="on", disabled=page == last, on_click=state.turn_page, args=(1,)
        )


def choose_filter(card: services.Card) -> services.GraphFilter:
    """Which graphs the gallery shows."""
    sizes = services.sizes(card.dataset)
    names = services.class_names(card.dataset, card.task)
    smallest, largest = int(sizes.min()), max(int(sizes.max()), int(sizes.min()) + 1)
    complaints: list[str] = []
    chosen = state.filter_from_query(names, smallest, largest, complaints.append)
    every = {state.ONLY_CLASS: state.ANY, state.ONLY_RIGHT: state.ANY, state.ONLY_SPLIT: state.ANY}
    every |= {state.ONLY_NODES: (smallest, largest), state.ONLY_TEXT: ""}
    changed = {"on_change": state.filter_changed, "args": (every,)}
    with st.popover("Filter", icon=":material/filter_list:", key="filter"):
        title = {state.ANY: "all", **dict(enumerate(names))}.__getitem__
        classes = [state.ANY, *range(len(names))]
        st.selectbox("Class", classes, format_func=title, key=state.ONLY_CLASS, **changed)
        st.selectbox("Prediction", state.RIGHT_OR_WRONG, format_func=RIGHT.__getitem__, key=state.ONLY_RIGHT, **changed)
        if services.parts_of(card.dataset, card.model) is not None:
            splits = SPLITS.__getitem__
            st.selectbox("Part of the data", state.SPLITS, format_func=splits, key=state.ONLY_SPLIT, **changed)
        st.slider(nodes_title(card), smallest, largest, key=state.ONLY_NODES, **changed)
        st.text_input("Name contains", key=state.ONLY_TEXT, max_chars=state.MOST_TEXT, **changed)
    controls.show_complaints(complaints)
    label = chosen.label if isinstance(chosen.label, int) else None
    right = {"right": True, "wrong": False}.get(chosen.right)
    part = None if chosen.split == state.ANY else chosen.split
    return services.GraphFilter(label, right, *chosen.nodes, chosen.text.strip(), part)


def show_links(card: services.Card, height: int) -> None:
    """Pairs of nodes with the network's score; a click anywhere in a row explains it."""
    with st.spinner("Scoring the pairs", show_time=True):
        table = services.links(card.dataset, card.model)
    complaints: list[str] = []
    has_parts = set(table["part"]) != {""}
    part = state.one_of(state.ONLY_SPLIT, state.SPLITS, state.ANY, complaints.append)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        kind = st.segmented_control(
            "Pairs", JOINED, default=JOINED[0], required=True, key="pairs", label_visibility="collapsed"
        )
        if has_parts:
            st.selectbox(
                "Part of the data",
                state.SPLITS,
                format_func=SPLITS.__getitem__,
                key=state.ONLY_SPLIT,
                on_change=state.on_change,
                args=(state.ONLY_SPLIT,),
                label_visibility="collapsed",
                width=112,
            )
    controls.show_complaints(complaints)
    if kind != JOINED[0]:
        table = table.loc[table["joined"] == (kind == "joined")]
    if part != state.ANY and has_parts:
        table = table.loc[table["part"] == part]
    pairs = list(zip(table["source"].tolist(), table["head"].tolist(), strict=True))
    st.dataframe(
        table[["one", "other", "joined", "score"]].assign(score=100 * table["score"]),
        key=f"links_{kind}_{part}",
        hide_index=True,
        height=height - 60,
        on_select=partial(state.row_chosen, f"links_{kind}_{part}", pairs),
        selection_mode="single-cell",
        column_config={
            "one": st.column_config.TextColumn("One end", width=100),
            "other": st.column_config.TextColumn("Other end", width=100),
            "joined": st.column_config.CheckboxColumn("Joined", width=65),
            "score": st.column_config.ProgressColumn("Score", min_value=0, max_value=100, format="%.1f %%", width=115),
        },
        alt="Pairs of nodes, whether they are joined, and the score the network gives",
    )
