"""The settings of an explanation and which methods are shown, to and from the query parameters; a bad value stays at its default."""

from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from typing import Any

import streamlit as st

from dashboard.first_look import first_look
from dashboard.schema import AUTO, ExplainConfig, InvalidValue, some_of
from dashboard.state.names import BESIDE_THE_MASK, K_M, K_M_AUTO, METHODS, NO_METHOD, SHOWN, SHOWN_AS
from dashboard.state.query import in_quotes, one_of, query_param, set_query_param, set_query_params, set_widget
from dashboard.view.plain_text import shortened


def default_config(dataset: str) -> ExplainConfig:
    return ExplainConfig(k_m_unit=first_look(dataset).unit)


def config_from_query(dataset: str, complain: Callable[[str], None]) -> ExplainConfig:
    """The settings in the query parameters, each checked by the config's own rule; a bad one stays at its default."""
    values = default_config(dataset).to_dict()
    for setting in fields(ExplainConfig):
        asked = query_param(setting.name)
        if asked is None:
            continue
        try:
            value = _parsed(asked, _kind(setting, asked))
            ExplainConfig(**{setting.name: value})
            values[setting.name] = value
        except ValueError as error:
            complain(f"{error}; this is {values[setting.name]}")
    return ExplainConfig(**values)


def _kind(setting: Field, text: str) -> type:
    """A setting that may be "auto" is a number unless that word is there."""
    number = setting.metadata["auto"] and text != AUTO
    return int if number else type(setting.default)


def _parsed(text: str, kind: type) -> Any:
    """A value of the kind, or the text as it is: the config's own rule will say what is wrong with it."""
    if kind is bool:
        return {"True": True, "False": False}.get(text, shortened(text))
    if kind is str:
        return shortened(text)
    try:
        return kind(text)
    except ValueError:
        return shortened(text)


def setting_changed(name: str) -> None:
    """Called by a setting's widget: one that changes the mask shows the mask, which is what it speaks of."""
    shown = {} if name in BESIDE_THE_MASK else {SHOWN: "mask"}
    set_query_params((), {name: st.session_state[name], **shown})


def auto_changed(size: int) -> None:
    """Called by the toggle beside K_M: the size is found, or stays at what was found."""
    set_query_param(K_M, AUTO if st.session_state[K_M_AUTO] else size)


def size_chosen(key: str) -> None:
    """Called by the track under the explanation: a size, or "auto". A browser may send anything."""
    chosen = st.session_state[key].get("sized")
    try:
        ExplainConfig(k_m=chosen)
    except ValueError:
        return
    set_query_param(K_M, chosen)


def as_in_the_paper(dataset: str) -> None:
    """Every setting as published, and the mask that is optimised so."""
    default, paper = default_config(dataset), ExplainConfig.paper().to_dict()
    changed = {name: value for name, value in paper.items() if value != getattr(default, name)}
    set_query_params(tuple(paper), {**changed, SHOWN: "mask"})


def reset(*names: str) -> None:
    set_query_params(names, {})


def method_from_query(complain: Callable[[str], None]) -> str:
    """What the main picture shows: the verified explanation, or the mask it started from."""
    return SHOWN_AS[one_of(SHOWN, tuple(SHOWN_AS), "verified", complain)]


def methods_from_query(
    possible: Sequence[str], beside: Sequence[str], usual: Sequence[str], complain: Callable[[str], None]
) -> tuple[str, ...]:
    """Those of the methods `beside` the main picture that are drawn; the usual ones until somebody has chosen.

    A link may name any that is `possible`: the main picture may have shown another method when it was made.
    """
    asked = query_param(METHODS)
    wanted = usual if asked is None else asked.split(",")
    if asked is not None:
        try:
            some_of(METHODS, wanted, possible, also=(NO_METHOD,))
        except InvalidValue as broken:
            complain(in_quotes(broken))
    chosen = [name for name in beside if name in wanted]
    set_widget(METHODS, chosen)
    return tuple(chosen)


def methods_to_query() -> None:
    """No method at all is a choice too, and must not be taken for none made."""
    set_query_param(METHODS, st.session_state[METHODS] or NO_METHOD)
