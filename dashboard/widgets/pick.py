"""A target drawn by chance: any one, one that the network gets wrong, or one in a planted motif."""

import random
from collections.abc import Callable

import streamlit as st

from dashboard import services, state

RANDOM_TITLES = {"all": "Any", "wrong": "A wrong one", "motif": "In a motif"}
AMONG_WORDS = {
    "all": "One of {} others, at random.",
    "wrong": "One of {} that the network gets wrong{}.",
    "motif": "One of {} others in a planted motif.",
}
SPLITS = {"any": "all parts", "test": "test", "val": "validation", "train": "training"}


def choose_at_random(card: services.Card, shown: int | None, complain: Callable[[str], None]) -> None:
    """Another one than is shown, drawn by chance."""
    offered = [among for among in services.AMONG if among != "motif" or services.has_motifs(card.dataset)]
    with st.popover("Pick one", icon=":material/casino:", key="pick"):
        for among in offered:
            part = _choose_split(card, complain) if among == "wrong" else None
            everyone = services.candidates(card.dataset, card.model, among, part).tolist()
            found = [each for each in everyone if each != shown]
            st.button(
                RANDOM_TITLES[among],
                key=f"random_{among}",
                on_click=state.choose_random,
                args=(card, found, random.choice),
                disabled=not found,
                width="stretch",
            )
            where = "" if part is None else f" in the {SPLITS[part]} part"
            st.caption(AMONG_WORDS[among].format(f"{len(found):,}", where) if found else "There is no other one here.")


def _choose_split(card: services.Card, complain: Callable[[str], None]) -> str | None:
    """Of which part of the data a wrong one is drawn: the first that has any, and the test part comes first.

    None for all of them, or where there are no parts.
    """
    if services.parts_of(card.dataset, card.model) is None:
        return None
    found = (part for part in services.FROM_UNSEEN if len(services.candidates(card.dataset, card.model, "wrong", part)))
    split = state.split_from_query(next(found, services.FROM_UNSEEN[0]), complain)
    st.segmented_control(
        "Wrong ones of the part",
        [*services.FROM_UNSEEN, state.ANY],
        format_func=SPLITS.__getitem__,
        key=state.PICK_SPLIT,
        on_change=state.split_to_query,
        required=True,
    )
    return None if split == state.ANY else split
