"""Share and keep: a link to the same picture, files other tools open, and the Python lines behind it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from dashboard import services, state
from dashboard.view import standalone, svg
from dashboard.view.explanation_text import LABELS
from dashboard.view.picture import Panel, Picture

HOW_LONG = {
    services.SHIPPED: "This link opens the same picture.",
    services.LAUNCHED: "This link opens the same picture for as long as this server runs.",
    services.OWN: "This link opens the same picture in this browser only, until your data has been without you for an hour.",
}


@dataclass(frozen=True)
class Shown:
    """What the page shows, ready to be written down."""

    title: str
    sentences: tuple[str, ...]
    picture: Picture
    panels: tuple[Panel, ...]  # the main picture first
    size: int  # K_M as asked for, or as it was found
    features: dict[str, list[tuple[str, float]]]  # method: (feature, weight from 0 to 1)


def share_button(choice: state.Choice) -> None:
    with st.popover("Share"):
        st.caption(HOW_LONG[services.source_of(choice.request.dataset)])
        st.code(state.link(choice), language=None, wrap_lines=True)


def export_button(choice: state.Choice, answer: services.Answer, shown: Callable[[], Shown]) -> None:
    """Files are written when they are asked for, with all that is known by then."""
    request, name = choice.request, file_name(choice.request)
    with st.popover("Export"):
        files = (
            ("SVG picture", "svg", "image/svg+xml", lambda: picture(shown())),
            ("HTML page, opens offline", "html", "text/html", lambda: page(choice, shown())),
            ("Interactive network", "network.html", "text/html", lambda: services.as_network(answer)),
            ("JSON, all numbers", "json", "application/json", lambda: services.as_json(answer)),
            ("GraphML, for Gephi or Cytoscape", "graphml", "application/xml", lambda: services.as_graphml(answer)),
            ("CSV, edges by score", "csv", "text/csv", lambda: services.as_csv(answer)),
        )
        for label, ending, mime, make in files:
            st.download_button(
                label,
                make,
                file_name=f"{name}.{ending}",
                mime=mime,
                key=f"save_{ending}",
                on_click="ignore",
                width="stretch",
            )
        st.caption("PNG: the button on each picture. The same in Python:")
        st.code(services.as_python(request), language="python")


def picture(shown: Shown) -> str:
    """The main picture, which says of what it is."""
    main = shown.panels[0]
    return svg.svg(shown.picture, replace(main, title=shown.title, lines=(main.title, *main.lines)))


def page(choice: state.Choice, shown: Shown) -> str:
    """The explanation as one file that needs no network."""
    config, default = choice.request.config.to_dict(), services.ExplainConfig()
    told = [name for name, value in config.items() if name in ("k_m", "k_f") or value != getattr(default, name)]
    settings = {LABELS[name]: config[name] for name in told}
    if config["k_m"] == services.AUTO:
        settings[LABELS["k_m"]] = f"{shown.size}, found (auto)"
    return standalone.html(
        shown.title, shown.sentences, shown.picture, shown.panels, features=shown.features, settings=settings
    )


def file_name(request: services.Request) -> str:
    """Letters every file system takes."""
    target = "-".join(map(str, request.target)) if isinstance(request.target, tuple) else str(request.target)
    return re.sub(
        r"[^A-Za-z0-9]+", "-", f"{services.title_for_files(request.dataset)} {request.model} {request.kind} {target}"
    ).strip("-")[:80]
