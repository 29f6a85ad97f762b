"""The smallest change that flips a prediction: asked for, watched, stopped, and drawn in the picture of edits."""

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text, what_if_text
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.things import ATOMS, NODES

KIND_TITLES = {"delete": "cut", "add": "add", "feature": "change features"}


def show_flip(request: services.Request, facts: services.TargetFacts, complaints: list[str]) -> None:
    """What may be changed, which class is wanted, and the answer."""
    st.markdown("**The smallest change that flips it**")
    things = ATOMS if services.has_types(request) else NODES
    kinds = ("delete", "add", *(("feature",) if services.has_features_to_change(request) else ()))
    chosen = state.flip_kinds_from_query(kinds, complaints.append)
    st.pills(
        "Allowed changes",
        kinds,
        selection_mode="multi",
        format_func=(KIND_TITLES | ({"feature": "change atoms"} if services.has_types(request) else {})).__getitem__,
        key=state.FLIP_KINDS,
        on_change=state.flip_kinds_to_query,
        label_visibility="collapsed",
    )
    others = [label for label in range(len(facts.class_names)) if label != facts.predicted]
    to = state.flip_class_from_query(facts.predicted, len(facts.class_names), complaints.append)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if len(others) > 1:
            st.selectbox(
                "Wanted class",
                [state.ANY_CLASS, *others],
                format_func=lambda label: (
                    "to any other class" if label == state.ANY_CLASS else f"to “{facts.class_names[label]}”"
                ),
                key=state.FLIP_TO,
                on_change=state.on_change,
                args=(state.FLIP_TO,),
                label_visibility="collapsed",
                width=190,
            )
        asked = st.button("Find it", icon=":material/search:", disabled=not chosen, key="find_flip")
    known = services.known_flip(request, chosen, to)
    if asked:
        known = known or _search(request, chosen, to)
        if known is not None and known.changes:
            state.set_edits(request, known.changes)  # drawn in the picture, with the bars following
    if known is not None:
        st.markdown(for_markdown(what_if_text.flip_said(known, facts.class_names, chosen, things)))


def _search(request: services.Request, kinds: tuple[str, ...], to: int | None):
    """Any touch stops it, and the button for that as well."""
    slot = st.empty()
    with slot.container():
        bar = st.progress(0.0, text="Asking the network about changed graphs")
        st.button("Stop", icon=":material/stop:", key="stop_flip")

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            bar.progress(0.0, text=explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Trying):
            share = progress.tried / (progress.tried + 2_000)  # how many it will be nobody knows
            bar.progress(share, text=f"{progress.tried:,} changed graphs tried")

    try:
        found = services.find_flip(request, kinds, to, tell)
    except (services.RunRefused, ValueError) as error:
        slot.error(sentence(error))
        return None
    slot.empty()
    return found
