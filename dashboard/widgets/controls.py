"""The bar above a page: what is explained; and the drawer with the settings of the explainer."""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from itertools import accumulate

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import model_text
from dashboard.view.definitions import OF_SETTING, in_markdown
from dashboard.view.explanation_text import LABELS
from dashboard.view.plain_text import sentence
from dashboard.widgets.pick import choose_at_random

SETTINGS = {setting.name: setting for setting in fields(services.ExplainConfig)}
REGULARISATION = ("necessity", "size", "entropy", "feat_size", "feat_entropy", "laplacian")
RUN = ("steps", "learning_rate", "seeds", "seed", "features", "feature_fill", "direction")
FINE = ("k_m_unit", "connected", "refine", "feature_mask", "readout", "size_start", "temperature", "start", "max_edges")
BOXES = ("learning_rate", "seed", "max_edges")  # ranges too wide for a slider
PREVIOUS, NEXT = "P", "N"  # keys that do what the arrows beside the target do
MOST_LETTERS = 400  # of what a link asks for in vain; of the rest only how much it is
ASKED = {
    "predicted": "why the predicted class",
    "true": "what speaks for the true class",
    "distribution": "why the whole prediction",
}
Complain = Callable[[str], None]


def bar() -> DeltaGenerator:
    """The row above every page: data, network, target and question from left to right; it wraps where there is no room."""
    return st.container(horizontal=True, key="bar", vertical_alignment="center", gap="xsmall")


def offered(infos: dict[str, services.DatasetInfo]) -> dict[str, services.DatasetInfo]:
    """With the cases where one of them is looked at; they are no part of the list else."""
    return infos | services.cases() if state.query_param(state.DATASET) in services.cases() else infos


def choose_dataset(infos: dict[str, services.DatasetInfo], complain: Complain) -> services.DatasetInfo:
    infos = offered(infos)
    missing = state.dataset_from_query(list(infos))
    if missing is not None:
        complain(services.missing_sentence(missing) or f"there is no data set called “{missing[:40]}” here")
    name = st.selectbox(
        "Data set",
        list(infos),
        format_func=lambda name: infos[name].title,
        key=state.DATASET,
        on_change=state.dataset_to_query,
        label_visibility="collapsed",
        width=155,
    )
    return infos[name]


def choose_model(cards: list[services.Card], complain: Complain) -> services.Card:
    card = state.model_from_query(cards, complain)
    st.selectbox(
        "Model",
        [each.model for each in cards],
        format_func=lambda model: model_text.model_title(next(each for each in cards if each.model == model)),
        key=state.MODEL,
        on_change=state.model_to_query,
        label_visibility="collapsed",
        width=125,
    )
    return card


def choose_target(
    card: services.Card, complain: Complain, usual: int | tuple[int, int] | None = None
) -> tuple[str, int | tuple[int, int] | str]:
    """The node, graph, link or typed molecule to explain; the `usual` one until somebody has chosen."""
    count = services.num_targets(card.dataset, card.model)
    kind, target = state.target_from_query(card, count, complain, usual)
    if isinstance(target, tuple):
        _choose_ends(card.dataset, target)
        return kind, target
    number = target if isinstance(target, int) else None
    _step(card, "‹", PREVIOUS, "previous", None if number is None or number == 0 else number - 1)
    _choose_number(card, count, number)
    _step(card, "›", NEXT, "next", None if number is None or number == count - 1 else number + 1)
    choose_at_random(card, number, complain)
    if card.dataset in services.SMILES_DATASETS:
        _type_molecule(target if isinstance(target, str) else "")
    return kind, target


def _step(card: services.Card, sign: str, shortcut: str, which: str, target: int | None) -> None:
    st.button(
        sign,
        key=f"{which}_target",
        on_click=state.choose_target,
        args=(card, target),
        disabled=target is None,
        shortcut=shortcut,
        help=f"The {which} {card.task}",
    )


def _choose_number(card: services.Card, count: int, target: int | None) -> None:
    name = {"node": state.NODE, "graph": state.GRAPH}[card.task]
    state.set_widget(name, target)
    st.number_input(
        f"{card.task.capitalize()}, 0 to {count - 1:,}",
        value=None,  # an emptied box is no choice, and not node 0
        step=1,  # no range: the browser would mark a number outside it and say nothing, the query parameter has a sentence for it
        key=name,
        on_change=state.number_typed,
        args=(card, name),
        placeholder="typed",
        label_visibility="collapsed",
        width=100,
    )


def _choose_ends(dataset: str, ends: tuple[int, int]) -> None:
    names = services.node_names(dataset)
    for name, title, end in ((state.SOURCE, "One end", ends[0]), (state.HEAD, "Other end", ends[1])):
        state.set_widget(name, end)
        st.selectbox(
            title,
            range(len(names)),
            format_func=names.__getitem__,
            key=name,
            on_change=state.end_chosen,
            args=(ends,),
            label_visibility="collapsed",
            width=150,
        )


def _type_molecule(text: str) -> None:
    state.set_widget(state.SMILES, text)
    st.text_input(
        "Or type a molecule (SMILES)",
        key=state.SMILES,
        placeholder="or type SMILES",
        on_change=state.typed,
        label_visibility="collapsed",
        width="stretch",  # what the others leave of the row
    )


def choose_class(class_names: tuple[str, ...], complain: Complain) -> int | str:
    """Which class the explanation is about."""
    chosen = state.class_from_query(class_names, complain)
    state.set_widget(state.CLASS, chosen)
    st.selectbox(
        "Question",
        [*ASKED, *range(len(class_names))],
        format_func=lambda asked: ASKED.get(asked) or f"what speaks for “{class_names[asked]}”",
        key=state.CLASS,
        on_change=state.on_change,
        args=(state.CLASS,),
        label_visibility="collapsed",
        width=196,
    )
    return chosen


def choose_features_kept(request: services.Request, config: services.ExplainConfig) -> None:
    if services.features_vary(request):
        knob("k_f", config, state.default_config(request.dataset), services.num_features(request))


def choose_size(k_m: int | str, largest: int | None, found: int | None) -> None:
    """K_M. While it is "auto" the slider stands at the size that was `found`, and moving it makes it a number; with
    nothing found yet there is only the toggle."""
    setting, auto = SETTINGS[state.K_M], k_m == services.AUTO
    shown = found if auto else k_m
    state.set_widget(state.K_M_AUTO, auto)
    if shown is not None:
        _widget(setting, shown, largest)
    usual = services.ExplainConfig.paper().k_m
    st.toggle(
        "Find the size (auto)",
        key=state.K_M_AUTO,
        on_change=state.auto_changed,
        args=(usual if shown is None else shown,),
        help="The smallest part that is nearly as good as any. Moving the slider chooses a size instead.",
    )


def choose_the_rest(dataset: str, config: services.ExplainConfig) -> None:
    """The other knobs. Drawn late: there are many, they are folded away, and their values are in the query parameters anyway."""
    default = state.default_config(dataset)
    changed = sum(getattr(config, name) != getattr(default, name) for name in SETTINGS)
    st.caption(f"{changed} changed" if changed else "All as usual")
    st.button(
        "As in the paper",
        on_click=state.as_in_the_paper,
        args=(dataset,),
        icon=":material/article:",
        width="stretch",
        help="Every setting as published in 2019, and the mask that is learnt so.",
    )
    for title, names in (("Regularisation", REGULARISATION), ("How it runs", RUN), ("Finer points", FINE)):
        with st.expander(title):
            for name in names:
                knob(name, config, default)
    if changed:
        st.button("Reset all settings", on_click=state.reset, args=(*SETTINGS, state.SHOWN), width="stretch")


def knob(
    name: str, config: services.ExplainConfig, default: services.ExplainConfig, largest: int | None = None
) -> None:
    """One setting with its help, its range, and a way back to its default."""
    value = getattr(config, name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _widget(SETTINGS[name], value, largest)
        if value != getattr(default, name):
            st.button(
                "",
                icon=":material/restart_alt:",
                key=f"reset_{name}",
                on_click=state.reset,
                args=(name,),
                type="tertiary",
                help=f"Back to {getattr(default, name)}",
            )


def _widget(setting: Field, value, largest: int | None) -> None:
    assert setting.default is not MISSING
    rule, name = setting.metadata, setting.name
    common = {
        "label": LABELS[name],
        "key": name,
        "on_change": state.setting_changed,
        "args": (name,),
        "help": in_markdown(OF_SETTING[name]) if name in OF_SETTING else rule["help"],
    }
    if rule["choices"]:
        state.set_widget(name, value)
        st.selectbox(**common, options=rule["choices"], format_func=lambda choice: choice.replace("_", " "))
    elif isinstance(value, bool):
        state.set_widget(name, value)
        st.toggle(**common)
    else:
        _number_widget(name, value, rule, largest, common)


def _number_widget(name: str, value, rule, largest: int | None, common: dict) -> None:
    low, high = rule["low"], rule["high"] if largest is None else max(rule["low"] + 1, min(rule["high"], largest))
    if name in BOXES:
        state.set_widget(name, value)
        step = None if isinstance(value, int) else 0.01
        st.number_input(
            **common, value=None, min_value=low, max_value=high, step=step, format=None if step is None else "%.4f"
        )
        return
    shown = min(value, high)
    state.set_widget(name, shown)
    step = 1 if isinstance(value, int) else 0.05 if high <= 5 else 0.1
    finer = isinstance(value, float) and round(value, 2) != value  # the paper's 0.005 must not read as 0.01
    # Without a value of its own a slider reads through the whole session state for how many ends it has, half a millisecond.
    st.slider(**common, value=shown, min_value=low, max_value=high, step=step, format="%.3f" if finer else None)


def show_complaints(complaints: list[str]) -> None:
    """What a link asked for in vain, in one place that is always there, so that nothing below it moves."""
    slot = st.empty()
    if complaints:
        letters = list(accumulate(map(len, complaints)))
        told = [sentence(each) for each, so_far in zip(complaints, letters, strict=True) if so_far <= MOST_LETTERS]
        if left := len(complaints) - len(told):
            told.append(f"The link asks for {left:,} {'things' if left > 1 else 'thing'} more in vain.")
        slot.warning("  \n".join(told), icon=":material/link_off:")
