"""The network of one request as a clickable picture; all pictures of the page share one camera."""

from collections.abc import Sequence
from functools import partial

from dashboard import services, state
from dashboard.view.picture import Panel
from dashboard.widgets.graph_view import network_view

TALL, LOW = 400, 280  # heights of the large and of the small pictures, in pixels
# how the controls above a picture stand
ROW = {"vertical_alignment": "center", "horizontal_alignment": "distribute", "gap": "small"}


def show_network(
    key: str, card: services.Card, request: services.Request, drawing: services.Drawn, panels: Sequence[Panel], **looks
) -> None:
    """A clickable picture; all of them share one camera."""
    ends = request.target if request.kind == "link" else None
    network_view(
        key,
        drawing.picture,
        panels,
        group="explain",
        clickable=request.kind in ("node", "link"),
        on_click=partial(state.clicked, key, card, ends),
        **looks,
    )
