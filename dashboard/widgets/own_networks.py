"""Networks for a graph of one's own: those that are there, and those that are brought as weights."""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import model_text
from dashboard.view.plain_text import for_markdown, sentence, shortened

TASKS = {"node": "The class of a node", "graph": "The class of a molecule", "link": "Which nodes are joined"}
FAILURES = (ValueError, RuntimeError, MemoryError)
READOUTS = {"mean": "mean", "sum": "sum", "max": "maximum"}
JUMPS = {"last": "the last layer", "cat": "all layers side by side", "max": "the maximum over all layers"}


def show_networks(info: services.DatasetInfo) -> None:
    """Those that are there, each with the way to its explanations."""
    for card in services.own_networks(info.name):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"network {card.model}"):
            st.markdown(
                f"**{for_markdown(model_text.model_title(card))}** · {for_markdown(score(card))}", width="content"
            )
            explain_button(card, f"explain {card.model}")
            weights = services.weights_file(card)
            st.download_button(
                "Weights",
                weights.data,
                weights.name,
                mime="application/octet-stream",
                on_click="ignore",
                icon=":material/download:",
                type="tertiary",
                key=f"weights {card.model}",
            )
            st.button(
                "Remove",
                icon=":material/delete:",
                type="tertiary",
                on_click=removed,
                args=(card,),
                key=f"remove {card.model}",
            )


def explain_button(card: services.Card, key: str) -> None:
    if st.button("Explain it", type="primary", icon=":material/arrow_forward:", key=key):
        query = {state.DATASET: card.dataset, state.MODEL: card.model}
        st.switch_page("screens/explain.py", query_params=query)


def removed(card: services.Card) -> None:
    try:
        services.drop_network(card)
    except ValueError as gone:
        state.tell("error", str(gone))
        return
    services.forget_training(card.dataset)
    state.tell()


def score(card: services.Card) -> str:
    if card.test_accuracy is None:
        return "not measured: there is nothing to test it on"
    what = "of all that have a class" if not card.epochs and "train" not in card.split else "of the test part"
    guess = "" if card.majority_accuracy is None else f", guessing {model_text.percent(card.majority_accuracy)}"
    return f"{model_text.percent(card.test_accuracy)} {what} right{guess}"


# Weights


def bring_weights(info: services.DatasetInfo) -> None:
    st.caption(
        "The `state_dict` of a network of this package, saved by `safetensors.torch.save_file`: one of its own, or one whose tensors "
        "have the same names. Sizes are read from the file; say what it cannot tell."
    )
    sent = st.file_uploader("Weights", ["safetensors"], key=f"own weights {info.name} {state.files_taken()}")
    if sent is None:
        return
    data = sent.getvalue()
    try:
        found = services.sizes_of_weights(data)
    except FAILURES as error:
        st.error(sentence(error), icon=":material/error:")
        return
    if not found:
        st.info("The file does not tell its sizes: its tensors are not named as those of this package.")
    fields = choose_sizes(info, found, f"{info.name} {sent.file_id}")
    problem = st.empty()
    if st.button("Use these weights", type="primary", icon=":material/check:"):
        add_weights(info, data, fields, problem)


def choose_sizes(info: services.DatasetInfo, found: dict[str, Any], key: str) -> dict[str, Any]:
    usual = services.usual_spec(info.name, found)
    cells = st.columns(4)

    def choose(place: int, label: str, field: str, options: Iterable[str], shown: Callable[[str], str]) -> None:
        options = list(options)
        start = options.index(usual[field]) if usual[field] in options else 0
        fields[field] = cells[place % 4].selectbox(label, options, start, format_func=shown, key=f"{field} {key}")

    fields = dict(usual)
    choose(0, "What it tells", "task", services.tasks_of(info.name) or ("node",), TASKS.__getitem__)
    choose(1, "Kind of layer", "kind", services.kinds_of(info.name), lambda kind: model_text.KINDS[kind][0])
    fields["num_layers"] = cells[2].number_input("Layers", 1, 20, min(usual["num_layers"], 20), key=f"layers {key}")
    fields["hidden"] = cells[3].number_input(
        "Units of a layer", 1, 4096, min(usual["hidden"], 4096), key=f"hidden {key}"
    )
    choose(0, "The output sees", "jump", JUMPS, JUMPS.__getitem__)
    choose(1, "A graph is the … of its nodes", "readout", READOUTS, READOUTS.__getitem__)
    fields["heads"] = cells[2].number_input("Attention heads", 1, 64, min(usual["heads"], 64), key=f"heads {key}")
    with cells[3]:
        for label, field in (
            ("Averages over neighbours", "normalize"),
            ("States of length one", "unit_length"),
            ("Batch norm", "batch_norm"),
        ):
            fields[field] = st.toggle(label, bool(usual[field]), key=f"{field} {key}")
    return fields | {
        "num_layers": int(fields["num_layers"]),
        "hidden": int(fields["hidden"]),
        "heads": int(fields["heads"]),
    }


def add_weights(info: services.DatasetInfo, data: bytes, fields: dict[str, Any], problem: DeltaGenerator) -> None:
    try:
        model = services.add_weights(info.name, data, fields)
    except FAILURES as error:
        problem.error(sentence(error), icon=":material/error:")
        return
    card = next(card for card in services.own_networks(info.name) if card.model == model)
    services.forget_training(info.name)
    state.tell("success", f"{model_text.model_title(card)}: {score(card)}")
    state.forget_read()
    st.rerun()


def title_of(info: services.DatasetInfo) -> str:
    return for_markdown(shortened(info.title, 60))
