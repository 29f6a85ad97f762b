"""What the user chose, to and from the address: the only place that touches session state and query parameters.

The address is the one truth. Before a widget is drawn its value is set from the address; when the user changes it,
the change goes to the address. So a link, the back button, a click and a slider all arrive by the same way. A widget
bound to the address by Streamlit would put titles in it, and drop a bad value in silence.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import Field, dataclass, fields
from urllib.parse import urlencode

import streamlit as st

from dashboard.compute import (
    AMONG,
    AUTO,
    LINK_CLASSES,
    MASK,
    PAPER,
    VERIFIED,
    Card,
    ExplainConfig,
    Request,
    candidates,
)
from dashboard.first_look import first_look
from dashboard.plain_text import shortened

DATASET = "dataset"  # key of the selector and name in the address
MODEL, NODE, GRAPH, SOURCE, HEAD, SMILES, CLASS = "model", "node", "graph", "source", "head", "smiles", "class"
LABEL, INSTANCES = "label", "instances"
SHOWN = "shown"
SHOWN_AS = {"verified": VERIFIED, "mask": MASK}  # what the address calls the method of the main picture
K_M, K_M_AUTO = "k_m", "k_m_auto"
# Settings that say nothing of the mask: touching them leaves what is shown as it is. All others show the mask.
BESIDE_THE_MASK = (K_M, "k_m_unit", "k_f", "connected", "refine", "feature_fill", "max_edges")
METHODS, COLOUR, VIEW, LAYOUT, EVERYTHING = "methods", "colour", "view", "layout", "everything"
VIEWS = ("neighbourhood", "whole data set")
LAYOUTS = ("graph", "embedding", "gallery")
SHOWN_FIRST = (PAPER, "gradient", "attention")
NO_METHOD = "none"  # a choice too, which an empty value could not tell from none made
MOST_INSTANCES, USUAL_INSTANCES = 200, 10
LONGEST = 500  # letters of one value in the address
_OF_TARGET = (NODE, GRAPH, SOURCE, HEAD, SMILES, CLASS, LABEL)
_LAST = "last address"
_COMING = "address to come"
_PLACE = "page the visitor is on"
_STOPPED = "stopped run"
_PAGE = "page of the gallery"
_KEPT = "kept"


@dataclass(frozen=True)
class Choice:
    """Everything that decides what the Explain page shows."""

    request: Request
    methods: tuple[str, ...]  # beside the main picture
    colour: str
    view: str
    layout: str
    everything: bool


# The address and the widgets


def address(name: str) -> str | None:
    """A value of the address, or None; the end of an endless one is cut off."""
    text = st.query_params.get(name)
    return None if text is None else text[:LONGEST]


def offer(name: str, value) -> None:
    """Sets the widget of this name to what the address says."""
    st.session_state[name] = value


def taken(name: str, key: str | None = None) -> None:
    """Called by a widget when the user has changed it: the address follows."""
    write(name, st.session_state[key or name])


def write(name: str, value) -> None:
    change((), {name: value})


def change(dropped: Sequence[str], values: dict) -> None:
    """All changes at once: each would else be a step of its own for the back button. Nothing is written for nothing."""
    new = {name: text for name, text in st.query_params.to_dict().items() if name not in {*dropped, *values}}
    for name, value in values.items():
        if value is not None and value != "" and value != []:
            new[name] = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    st.session_state[_COMING] = new
    st.query_params.from_dict(new)


def enter(page: str) -> None:
    """Streamlit empties the address when the page is changed. The data set and the model come along with the visitor;
    what else was chosen here comes back if it was of the same data set."""
    # Writing the address may end a run that has a next one waiting, which then starts with the address of before: without
    # this the click would be lost, or answered only with the next.
    coming = st.session_state.pop(_COMING, None)
    if coming is not None and coming != st.query_params.to_dict():
        st.query_params.from_dict(coming)
    came_from, st.session_state[_PLACE] = st.session_state.get(_PLACE), page
    if not st.query_params and came_from not in (None, page):
        here, there = (st.session_state.get(f"{_LAST} {name}", {}) for name in (page, came_from))
        brought = {name: there[name] for name in (DATASET, MODEL) if name in there}
        st.query_params.from_dict(here if here.get(DATASET) == brought.get(DATASET) else brought)
    # at once, not at the end: a visitor may leave while the page is still being worked out
    st.session_state[f"{_LAST} {page}"] = st.query_params.to_dict()


def link(choice: Choice) -> str:
    """A link that opens the same picture, whatever the defaults are then."""
    request = choice.request
    values = {DATASET: request.dataset, MODEL: request.model, **_target_values(request), CLASS: request.target_class}
    values |= {
        name: value for name, value in request.config.to_dict().items() if value != getattr(ExplainConfig(), name)
    }
    values |= {name: getattr(request.config, name) for name in ("k_m", "k_m_unit", "k_f")}
    values |= {METHODS: ",".join(choice.methods) or NO_METHOD, EVERYTHING: choice.everything}
    values |= {SHOWN: next(name for name, method in SHOWN_AS.items() if method == request.method)}
    values |= {COLOUR: choice.colour, VIEW: choice.view, LAYOUT: choice.layout}
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(values)}"


def _target_values(request: Request) -> dict:
    if request.kind == "link":
        return {SOURCE: request.place[0], HEAD: request.place[1]}
    return {request.kind: request.place}


# Data set and model


def dataset_from_address(names: Sequence[str]) -> str | None:
    """Sets the selector to what the address says, else to the first; returns what was asked for in vain."""
    asked = address(DATASET)
    offer(DATASET, asked if asked in names else names[0])
    return None if asked is None or asked in names else asked


def dataset_to_address() -> None:
    """Called by the selector when the user has chosen. Targets and sizes of one data set mean nothing in another."""
    of_other = (MODEL, *_OF_TARGET, "k_m", "k_m_unit", "k_f", LAYOUT)
    change(of_other, {DATASET: st.session_state[DATASET]})
    first_page()


def model_from_address(cards: Sequence[Card], complain: Callable[[str], None]) -> Card:
    """The card of the model asked for, else of the main one."""
    known = {card.model: card for card in cards}
    asked = address(MODEL)
    if asked is not None and asked not in known:
        complain(f"there is no model called “{shortened(asked)}” for these data; this is {cards[0].model}")
    offer(MODEL, asked if asked in known else cards[0].model)
    return known[st.session_state[MODEL]]


def model_to_address() -> None:
    change((CLASS,), {MODEL: st.session_state[MODEL]})


# The target


def usual_target(card: Card) -> tuple[str, int | tuple]:
    """What is explained unless the address says something else."""
    place = first_look(card.dataset).place
    return card.task, place if isinstance(place, tuple) == (card.task == "link") else (
        0,
        1,
    ) if card.task == "link" else 0


def target_from_address(card: Card, count: int, complain: Callable[[str], None]) -> tuple[str, int | tuple | str]:
    """What is to be explained: its kind and its place in the data."""
    task, place = usual_target(card)
    if task == "graph" and (text := (address(SMILES) or "").strip()):
        return "smiles", text
    if task != "link":
        return task, _number({"graph": GRAPH, "node": NODE}[task], place, count, complain)
    one, other = (_number(name, end, count, complain) for name, end in zip((SOURCE, HEAD), place, strict=True))
    if one == other:
        complain("a link has two different ends; here is another pair")
        other = (one + 1) % count
    return "link", (one, other)


def _number(name: str, default: int, count: int, complain: Callable[[str], None]) -> int:
    """A node or graph from the address; anything that is none becomes the default, with a word about it."""
    asked, default = address(name), min(default, count - 1)
    if asked is None:
        return default
    if asked.isascii() and asked.isdigit() and len(asked) < 12 and int(asked) < count:
        return int(asked)
    complain(f"{name} must be 0 to {count - 1:,} (got “{shortened(asked)}”); this is {default}")
    return default


def choose_place(card: Card, place: int) -> None:
    """A node or graph was chosen, by whatever means."""
    change(_OF_TARGET, {{"node": NODE, "graph": GRAPH}[card.task]: place})


def clicked(key: str, card: Card, ends: tuple[int, int] | None = None) -> None:
    """Called when a view was clicked. A click on a node of a link's picture moves the link's second end there."""
    place = st.session_state[key]["clicked"]
    if place is None:
        return
    if card.task == "link":
        if place != ends[0]:
            choose_link(ends[0], place)
    else:
        choose_place(card, place)


def choose_link(one: int, other: int) -> None:
    change(_OF_TARGET, {SOURCE: one, HEAD: other})


def choose_random(card: Card, among: str, draw: Callable[[Sequence[int]], int]) -> None:
    """Called by the random buttons."""
    assert among in AMONG
    found = candidates(card.dataset, card.model, among)
    if len(found):
        choose_place(card, int(draw(found.tolist())))


def number_typed(card: Card, name: str) -> None:
    """Called by the number box; an emptied one changes nothing."""
    if st.session_state[name] is not None:
        choose_place(card, st.session_state[name])


def end_chosen(ends: tuple[int, int]) -> None:
    """Called when an end of the link was picked; picking the other end's node swaps the two."""
    one, other = st.session_state[SOURCE], st.session_state[HEAD]
    choose_link(*(ends[::-1] if one == other else (one, other)))


def row_chosen(key: str, pairs: Sequence[tuple[int, int]]) -> None:
    """Called when a cell in a row of the list of links was clicked."""
    cells = st.session_state[key]["selection"]["cells"]
    if cells:
        choose_link(*pairs[cells[0][0]])


def typed() -> None:
    """Called when a SMILES was typed; an empty box goes back to the data set's own graphs."""
    change(_OF_TARGET, {SMILES: st.session_state[SMILES].strip()[:LONGEST]})


def class_from_address(class_names: Sequence[str], complain: Callable[[str], None]) -> int | str:
    """The class that is asked about: a word, or a number."""
    asked = address(CLASS) or "predicted"
    if asked in ("predicted", "true", "distribution"):
        return asked
    names = class_names or LINK_CLASSES
    if asked.isascii() and asked.isdigit() and len(asked) < 6 and int(asked) < len(names):
        return int(asked)
    complain(f"class must be predicted, true, distribution or 0 to {len(names) - 1} (got “{shortened(asked)}”)")
    return "predicted"


# Prototypes


def label_from_address(names: Sequence[str], complain: Callable[[str], None]) -> int:
    """The class of the prototype; the second one unless the address says another: the first is often the ground."""
    label = _number(LABEL, min(1, len(names) - 1), len(names), complain)
    offer(LABEL, label)
    return label


def instances_from_address(complain: Callable[[str], None]) -> int:
    instances = max(1, _number(INSTANCES, USUAL_INSTANCES, MOST_INSTANCES + 1, complain))
    offer(INSTANCES, instances)
    return instances


def class_clicked(key: str) -> None:
    """Called when a class was clicked in the row of all classes."""
    label = st.session_state[key]["clicked"]
    if label is not None:
        write(LABEL, label)


# Settings


def default_config(dataset: str) -> ExplainConfig:
    return ExplainConfig(k_m_unit=first_look(dataset).unit)


def config_from_address(dataset: str, complain: Callable[[str], None]) -> ExplainConfig:
    """The settings in the address, each checked by the config's own rule; a bad one stays at its default."""
    values = default_config(dataset).to_dict()
    for setting in fields(ExplainConfig):
        asked = address(setting.name)
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


def _parsed(text: str, kind: type):
    if kind is bool:
        return {"True": True, "False": False}.get(text, shortened(text))
    if kind is str:
        return shortened(text)
    try:
        return kind(text)
    except ValueError:
        return shortened(text)  # the config's own rule will say what is wrong with it


def setting_taken(name: str) -> None:
    """Called by a setting's widget: one that changes the mask shows the mask, which is what it speaks of."""
    shown = {} if name in BESIDE_THE_MASK else {SHOWN: "mask"}
    change((), {name: st.session_state[name], **shown})


def auto_taken(size: int) -> None:
    """Called by the toggle beside K_M: the size is found, or stays at what was found."""
    write(K_M, AUTO if st.session_state[K_M_AUTO] else size)


def as_in_the_paper(dataset: str) -> None:
    """Every setting as published, and the mask that is learnt so."""
    default, paper = default_config(dataset), ExplainConfig.paper().to_dict()
    changed = {name: value for name, value in paper.items() if value != getattr(default, name)}
    change(tuple(paper), {**changed, SHOWN: "mask"})


def reset(*names: str) -> None:
    change(names, {})


def setting_names() -> list[str]:
    return [setting.name for setting in fields(ExplainConfig)]


# What is shown


def method_from_address(complain: Callable[[str], None]) -> str:
    """What the main picture shows: the verified explanation, or the mask it started from."""
    return SHOWN_AS[one_of(SHOWN, tuple(SHOWN_AS), "verified", complain)]


def one_of(name: str, options: Sequence[str], default: str, complain: Callable[[str], None]) -> str:
    """A choice from the address, else the default, with a word about what was asked in vain."""
    asked = address(name)
    if asked and asked not in options:
        complain(f"{name} must be one of {', '.join(options)} (got “{shortened(asked)}”)")
    chosen = asked if asked in options else default
    offer(name, chosen)
    return chosen


def methods_from_address(possible: Sequence[str], complain: Callable[[str], None]) -> tuple[str, ...]:
    """The methods beside the main picture, in the order of the registry."""
    asked = address(METHODS)
    wanted = SHOWN_FIRST if asked is None else asked.split(",")
    if asked is not None and (unknown := set(wanted) - {*possible, NO_METHOD}):
        complain(f"methods must be some of {', '.join(possible)} (got “{shortened(','.join(sorted(unknown)))}”)")
    chosen = [name for name in possible if name in wanted and name not in SHOWN_AS.values()]
    offer(METHODS, chosen)
    return tuple(chosen)


def methods_to_address() -> None:
    """No method at all is a choice too, and must not be taken for none made."""
    write(METHODS, st.session_state[METHODS] or NO_METHOD)


# Runs the user stopped


def stop(request: Hashable) -> None:
    st.session_state[_STOPPED] = request


def go_on() -> None:
    st.session_state.pop(_STOPPED, None)


def is_stopped(request: Hashable) -> bool:
    return st.session_state.get(_STOPPED) == request


# Widgets that come and go


def recall(key: str, default) -> None:
    """Sets a widget to what it was when last drawn: Streamlit forgets one that is not drawn for a while."""
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(f"{_KEPT} {key}", default)
    st.session_state[f"{_KEPT} {key}"] = st.session_state[key]


# The gallery's page


def gallery_page(last: int) -> int:
    """The page the gallery is at, never past the last one."""
    page = min(max(st.session_state.get(_PAGE, 0), 0), last)
    st.session_state[_PAGE] = page
    return page


def turn_page(by: int) -> None:
    st.session_state[_PAGE] = st.session_state.get(_PAGE, 0) + by


def first_page() -> None:
    st.session_state[_PAGE] = 0
