"""The network of one question as a clickable picture; all pictures of the page share one camera."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, TypedDict

from dashboard import services, state
from dashboard.view.picture import Panel
from dashboard.widgets.graph_view import network_view

NEAR = "near"  # the key of the neighbourhood's view
TALL, LOW = 380, 280  # heights of the large and of the small pictures, in pixels


class Row(TypedDict):
    """Arguments of st.container."""

    vertical_alignment: Literal["center"]
    horizontal_alignment: Literal["distribute"]
    gap: Literal["small"]


# how the controls above a picture stand
ROW: Row = {"vertical_alignment": "center", "horizontal_alignment": "distribute", "gap": "small"}


def show_network(
    key: str,
    card: services.Card,
    question: services.Question,
    panels: Sequence[Panel],
    **looks,
) -> None:
    """A clickable picture; all of them share one camera."""
    request = question.request
    ends = request.ends if request.kind == "link" else None
    network_view(
        key,
        question.drawing.picture,
        panels,
        group="explain",
        clickable=request.kind in ("node", "link"),
        on_click=partial(state.clicked, key, card, ends),
        **looks,
    )


def nodes_title(card: services.Card) -> str:
    """What is counted where the size of a graph is."""
    return "Atoms" if services.is_of_molecules(card.dataset) else "Nodes"
