"""Everything that decides what the Explain page shows, and the link that opens it again."""

from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from dashboard.address import server_address
from dashboard.schema import ExplainConfig, Request
from dashboard.state.filters import filter_in_query
from dashboard.state.names import (
    CLASS,
    COLOUR,
    DATASET,
    EVERYTHING,
    HEAD,
    LAYOUT,
    METHODS,
    MODEL,
    NO_METHOD,
    NO_SECOND,
    SECOND,
    SHOWN,
    SHOWN_AS,
    SOURCE,
    VIEW,
)


@dataclass(frozen=True)
class Choice:
    """Everything that decides what the Explain page shows."""

    request: Request
    methods: tuple[str, ...]  # beside the main picture
    colour: str
    view: str
    layout: str
    everything: bool
    second: str = NO_SECOND  # the network beside the one that is explained


def link(choice: Choice) -> str:
    """A link that opens the same picture, whatever the defaults are then."""
    request = choice.request
    values = {DATASET: request.dataset, MODEL: request.model, **target_values(request), CLASS: request.target_class}
    values |= {
        name: value for name, value in request.config.to_dict().items() if value != getattr(ExplainConfig(), name)
    }
    values |= {name: getattr(request.config, name) for name in ("k_m", "k_m_unit", "k_f")}
    values |= {METHODS: ",".join(choice.methods) or NO_METHOD, EVERYTHING: choice.everything}
    values |= {SHOWN: next(name for name, method in SHOWN_AS.items() if method == request.method)}
    values |= {COLOUR: choice.colour, VIEW: choice.view, LAYOUT: choice.layout}
    values |= {SECOND: choice.second} if choice.second != NO_SECOND else {}
    values |= filter_in_query()
    return f"{server_address().link(st.context.url or '')}?{urlencode(values)}"


def target_values(request: Request) -> dict:
    if request.kind == "link":
        return {SOURCE: request.ends[0], HEAD: request.ends[1]}
    return {request.kind: request.target}
