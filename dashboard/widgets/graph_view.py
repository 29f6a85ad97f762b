"""The clickable views: a network in panels, a map of a data set, a gallery. The only place that knows how they reach the page.

Each view returns the data set's number that was clicked in this very run, else None. A click is an event and not a
state: the same node clicked twice is two clicks, and the next rerun knows of none. A callback runs before the page does,
and finds the number under the view's key as "clicked".
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.components.v1 import declare_component
from streamlit.components.v2 import component
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.view import payload
from dashboard.view.explained import Explained
from dashboard.view.explained import payload as explained_payload
from dashboard.view.legend import Entry
from dashboard.view.picture import Panel, Picture, Points, Thumbnail

ASSETS = Path(__file__).parents[1] / "view" / "assets"


# Inline, a script would be sent again with every change of its data; from a file the browser fetches it once.
LOADER = """const view = import(new URL("component/{route}/{script}.js", document.baseURI));
export default function render(args) {{
  let end, ended = false;
  view.then((module) => {{ if (!ended) end = module.default(args); }});
  return () => {{ ended = true; end?.(); }};
}}"""


def _view(script: str) -> Callable[..., Any]:
    """A component whose script is a file in the assets folder."""
    style = (ASSETS / "view.css").read_text(encoding="utf-8")
    loader = LOADER.format(route=f"{__name__}.assets", script=script)
    return component(f"graph_view_{script}", html='<div class="graph-view"></div>', css=style, js=loader)


_network, _map, _gallery, _explanation = _view("network"), _view("map"), _view("gallery"), _view("explanation")
_confusion = _view("confusion")
# Tells the server once that it has reached the browser, and once more for each new `token`.
_messenger = component(
    "graph_view_messenger",
    html="<span></span>",
    js="""export default function ({ data, parentElement, setTriggerValue }) {
  if (parentElement.token === data.token) return;
  parentElement.token = data.token;
  setTriggerValue("shown", true);
}""",
)


_herald = component(
    "graph_view_herald",
    html='<p role="status"></p>',
    css="""p { margin: 0; font: 650 1.35rem/1.4 var(--st-font); color: var(--st-text-color); }
p:empty { display: none; }""",
    js="""export default function ({ data, parentElement }) {
  const line = parentElement.querySelector("p"), view = globalThis.graphViews?.[data.view];
  globalThis.graphViewHerald = line;
  if (data.searching && view) view.wait(data.token, data.words);
  line.textContent = data.searching && !view ? data.words : "";
}""",
)


def network_view(
    key: str,
    picture: Picture,
    panels: Sequence[Panel],
    *,
    group: str = "",
    columns: int = 1,
    height: int = 380,
    clickable: bool = True,
    subject: str = "",
    legend: Sequence[Entry] = (),
    in_window: bool = False,
    on_click: Callable[[], None] | None = None,
) -> int | None:
    """Draws one graph, weighed in as many ways as there are panels; returns the node just clicked.

    A saved picture begins with its `subject`. Panels share zoom, pan and hover, also with other views of the same `group` that show the same picture. `height` is
    that of one canvas in pixels, less where it is to be `in_window` together with what stands around it and the window is
    low. The camera stays as it is until another picture is shown.
    """
    data = payload.network(
        key,
        picture,
        panels,
        group=group,
        columns=columns,
        height=height,
        clickable=clickable,
        subject=subject,
        entries=legend,
    )
    return _clicked(_network, key, data | {"in_window": in_window}, on_click)


def editable_view(
    key: str,
    picture: Picture,
    panels: Sequence[Panel],
    *,
    group: str,
    columns: int,
    height: int,
    joins: bool,
    subject: str,
    legend: Sequence[Entry],
    on_click: Callable[[], None],
    on_edit: Callable[[], None],
) -> None:
    """A network to change. Where it `joins`, an edge that is clicked and two nodes chosen one after another are under the
    view's key as "edited"; else the node that is clicked is there as "clicked"."""
    data = payload.network(
        key,
        picture,
        panels,
        group=group,
        columns=columns,
        height=height,
        clickable=True,
        joins=joins,
        subject=subject,
        entries=legend,
    )
    declare_component("assets", path=ASSETS)
    _network(key=key, data=data, on_clicked_change=on_click, on_edited_change=on_edit)


def explanation_view(
    key: str,
    picture: Picture,
    panel: Panel,
    explained: Explained,
    *,
    group: str,
    subject: str,
    height: int,
    level_with: str,
    clickable: bool,
    on_click: Callable[[], None],
    on_size: Callable[[], None],
) -> None:
    """The explanation with its headline, its legend and the track of sizes. A size that was chosen is under the view's
    key as "sized": a number, or "auto". The view called `level_with`, where it stands beside it, is brought level."""
    data = payload.network(
        key, picture, [panel], group=group, columns=1, height=height, clickable=clickable, subject=subject
    )
    data |= {"explained": explained_payload(explained), "level_with": level_with, "in_window": True}
    declare_component("assets", path=ASSETS)
    _explanation(key=key, data=data, on_clicked_change=on_click, on_sized_change=on_size)


def search_announced(key: str, view: str, token: str, words: str, *, searching: bool) -> None:
    """Tells the browser before a search that what `view` shows is of yesterday; a run cannot draw a view twice."""
    _herald(key=key, data={"key": key, "view": view, "token": token, "words": words, "searching": searching})


def map_view(
    key: str,
    points: Points,
    *,
    selected: Sequence[int] = (),
    height: int = 380,
    on_click: Callable[[], None] | None = None,
) -> int | None:
    """Draws a data set as points, those `selected` (by their own numbers) with a ring; returns the point just clicked."""
    return _clicked(_map, key, payload.points(key, points, selected=selected, height=height), on_click)


def gallery_view(
    key: str,
    thumbnails: Sequence[Thumbnail],
    *,
    selected: int | None = None,
    on_click: Callable[[], None] | None = None,
) -> int | None:
    """Shows small pictures as buttons, the `selected` one outlined; returns the one just clicked."""
    return _clicked(_gallery, key, payload.gallery(key, thumbnails, selected=selected), on_click)


def confusion_view(
    key: str,
    rows: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
    counts: np.ndarray,
    *,
    down: str = "true",
    across: str = "predicted",
    diagonal: bool = True,
    chosen: tuple[int, int] | None,
    on_click: Callable[[], None],
) -> int | None:
    """A confusion matrix of cells to click; returns the number of the cell just clicked, row by row."""
    data = payload.confusion(key, rows, columns, counts, down=down, across=across, diagonal=diagonal, chosen=chosen)
    return _clicked(_confusion, key, data, on_click)


@st.fragment  # a whole run that its callback cuts short would take the files behind the download buttons with it
def when_shown(key: str, token: str, callback: Callable[[], None]) -> None:
    """Calls back when the browser has come this far: a run cannot draw a view twice, but a callback may have it redrawn.

    Not in a run of the whole page, which Streamlit makes of this message and another that waits with it, as that of Back:
    it draws everything anew, and a run that the callback asked for would take its place.
    """

    def in_its_own_run() -> None:
        context = get_script_run_ctx()
        if context is not None and context.fragment_ids_this_run:
            callback()

    _messenger(key=key, data={"key": key, "token": token}, on_shown_change=in_its_own_run)


def _clicked(view: Callable[..., Any], key: str, data: dict, on_click: Callable[[], None] | None) -> int | None:
    declare_component("assets", path=ASSETS)  # draws nothing: it only opens the address the files are fetched from
    # Streamlit reports an event only if something listens to it.
    clicked = view(key=key, data=data, on_clicked_change=on_click or _nothing).get("clicked")
    return (
        clicked if isinstance(clicked, int) and not isinstance(clicked, bool) else None
    )  # a browser may send anything


def _nothing() -> None:
    pass
