"""The smallest change that flips a prediction: asked for, watched, stopped, and drawn in the picture of edits."""

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text, what_if_text
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.things import ATOMS, NODES

ANY = -1
KIND_TITLES = {"delete": "cut", "add": "add", "feature": "change features"}


def show_flip(request: services.Request, facts: services.TargetFacts) -> None:
    """What may be changed, which class is wanted, and the answer."""
    st.markdown("**The smallest change that flips it**")
    things = ATOMS if services.has_types(request) else NODES
    kinds = ("delete", "add", *(("feature",) if services.has_features_to_change(request) else ()))
    chosen = st.pills(
        "Allowed changes",
        kinds,
        selection_mode="multi",
        default=("delete",),
        format_func=(KIND_TITLES | ({"feature": "change atoms"} if services.has_types(request) else {})).__getitem__,
        key=f"flip_kinds {len(kinds)}",
        label_visibility="collapsed",
    )
    others = [label for label in range(len(facts.class_names)) if label != facts.predicted]
    wanted = ANY
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if len(others) > 1:
            wanted = st.selectbox(
                "Wanted class",
                [ANY, *others],
                format_func=lambda label: "to any other class" if label == ANY else f"to “{facts.class_names[label]}”",
                key=f"flip_to {request.dataset} {facts.predicted}",
                label_visibility="collapsed",
                width=190,
            )
        asked = st.button("Find it", icon=":material/search:", disabled=not chosen, key="find_flip")
    found_kinds, to = tuple(kind for kind in kinds if kind in chosen), None if wanted == ANY else wanted
    known = services.known_flip(request, found_kinds, to)
    if asked:
        known = known or _search(request, found_kinds, to)
        if known is not None and known.changes:
            state.set_edits(request, known.changes)  # drawn in the picture, with the bars following
    if known is not None:
        st.markdown(for_markdown(what_if_text.flip_said(known, facts.class_names, found_kinds, things)))


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
