"""Networks for a graph of one's own: trained while one watches, or brought as weights."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import explanation_text, figures, model_text, training
from dashboard.view.plain_text import for_markdown, sentence, shortened

TASKS = {"node": "The class of a node", "graph": "The class of a molecule", "link": "Which nodes are joined"}
TICK = 0.4  # seconds between two drawings of the curves
FAILURES = (ValueError, RuntimeError, MemoryError)
FIGURE = training.HEIGHT + 30  # pixels
READOUTS = {"mean": "mean", "sum": "sum", "max": "maximum"}
JUMPS = {"last": "the last layer", "cat": "all layers side by side", "max": "the maximum over all layers"}


def show_networks(info: services.DatasetInfo) -> None:
    """Those that are there, each with the way to its explanations; and what became of the last training."""
    kind, told, curves = state.told_of_training()
    if told:
        {"error": st.error, "success": st.success}.get(kind, st.info)(sentence(told))
    for card in services.own_networks(info.name):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"network {card.model}"):
            st.markdown(
                f"**{for_markdown(model_text.model_title(card))}** · {for_markdown(score(card))}", width="content"
            )
            if st.button("Explain it", type="primary", icon=":material/arrow_forward:", key=f"explain {card.model}"):
                query = {state.DATASET: card.dataset, state.MODEL: card.model}
                st.switch_page("screens/explain.py", query_params=query)
            st.download_button(
                "Weights",
                services.weights_file(card),
                f"{card.model}.safetensors",
                mime="application/octet-stream",
                on_click="ignore",
                icon=":material/download:",
                type="tertiary",
                key=f"weights {card.model}",
            )
    if curves is not None:
        draw_curves(curves, *st.columns(2, gap="medium"))


def draw_curves(curves: services.Training, left: DeltaGenerator, right: DeltaGenerator) -> None:
    left.plotly_chart(training.loss_curve(curves.epochs), config=figures.STILL, alt="The loss, epoch by epoch")
    right.plotly_chart(
        training.accuracy_curves(curves.epochs),
        config=figures.STILL,
        alt="Accuracy on the training and on the validation part, epoch by epoch",
    )


def score(card: services.Card) -> str:
    if card.test_accuracy is None:
        return "not measured: there is nothing to test it on"
    what = "of all that have a class" if not card.epochs and "train" not in card.split else "of the test part"
    guess = "" if card.majority_accuracy is None else f", guessing {model_text.percent(card.majority_accuracy)}"
    return f"{model_text.percent(card.test_accuracy)} {what} right{guess}"


# Training


def train_network(info: services.DatasetInfo) -> Callable[[], None] | None:
    """The form. Once it is sent, what trains and draws is given back, for the page to call when all else stands:
    meanwhile nothing but the way to stop can be touched."""
    possible = services.tasks_of(info.name)
    if not possible:
        st.info(
            "There is nothing to learn here: no two classes are known, and directed edges are not predicted. "
            "Bring the graph again with classes."
        )
        return None
    running = state.training()
    running = running if running is not None and running.dataset == info.name else None
    request = choose_training(info, possible, disabled=running is not None)
    # one slot for each thing, so that what stood there before is gone at once
    first, second, below = st.empty(), st.empty(), st.container()
    if running is not None:
        return partial(watch, running, first, second, below)
    has_one = bool(services.own_networks(info.name))  # then to explain it is what the page is for
    kind = "secondary" if has_one else "primary"
    first.button("Train", type=kind, icon=":material/play_arrow:", on_click=state.begin_training, args=(request,))
    early = "It ends by itself when it gets no better, and after" if request.stop_early else "It ends after"
    second.caption(f"{early} {services.training_seconds():,.0f} seconds at most, with the best epoch so far.")
    return None


def choose_training(info: services.DatasetInfo, possible: tuple[str, ...], disabled: bool) -> services.TrainRequest:
    left, middle = st.columns(2, gap="medium")
    task = left.selectbox(
        "What it learns", possible, format_func=TASKS.__getitem__, disabled=disabled, key=f"task {info.name}"
    )
    kind = middle.selectbox(
        "Kind of layer",
        services.kinds_of(info.name),
        format_func=lambda kind: f"{model_text.KINDS[kind][0]}: {model_text.KINDS[kind][1].partition(':')[0]}",
        disabled=disabled,
        key=f"kind {info.name}",
    )
    usual = services.usual_training(info.name, task, kind)
    with st.expander("Sizes and settings", icon=":material/tune:"):
        cells = st.columns(4)
        key = f"{info.name} {task} {kind}"
        layers = cells[0].number_input("Layers", 1, 8, usual.layers, disabled=disabled, key=f"layers {key}")
        hidden = cells[1].number_input(
            "Units of a layer", 4, 256, usual.hidden, 4, disabled=disabled, key=f"hidden {key}"
        )
        epochs = cells[2].number_input("Epochs at most", 1, 5000, usual.epochs, disabled=disabled, key=f"epochs {key}")
        seed = cells[3].number_input("Seed", 0, 9999, 0, disabled=disabled, key=f"seed {key}")
        early = st.toggle("Stop when it gets no better", usual.stop_early, disabled=disabled, key=f"early {key}")
    return replace(usual, layers=int(layers), hidden=int(hidden), epochs=int(epochs), seed=int(seed), stop_early=early)


def watch(request: services.TrainRequest, first: DeltaGenerator, second: DeltaGenerator, below: DeltaGenerator) -> None:
    """Any touch ends the script at the next word to the page, and with it the run."""
    bar = first.progress(0.0, text="Waiting for a worker")
    second.button("Stop", on_click=stopped, icon=":material/stop:")
    # of fixed height: a figure that is drawn anew must not move what one wants to click
    left, right = (each.container(height=FIGURE, border=False).empty() for each in below.columns(2, gap="medium"))
    watched = _Watched(bar, left, right)
    try:
        model = services.train(request, watched.show)
    except FAILURES as error:  # a limit of a run, or data that cannot be trained on
        state.end_training("error", str(error))
    else:
        card = next(card for card in services.own_networks(request.dataset) if card.model == model)
        state.end_training("success", f"{model_text.model_title(card)}: {training.result(card)}", watched.last)
    st.rerun()


def stopped() -> None:
    state.end_training("info", "the training was stopped; nothing of it is kept")


class _Watched:
    """The bar and the two figures of a training."""

    def __init__(self, bar: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator):
        self.bar, self.left, self.right = bar, left, right
        self.drawn_at, self.last = 0.0, None

    def show(self, progress: object) -> None:
        if isinstance(progress, services.Waiting):
            self.bar.progress(0.0, text=explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Training):
            self.last = progress
            text = training.so_far(progress.number, progress.total, progress.epochs)
            self.bar.progress(progress.number / progress.total, text=text)
            if time.monotonic() - self.drawn_at > TICK:
                draw_curves(progress, self.left, self.right)
                self.drawn_at = time.monotonic()


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
    state.end_training("success", f"{model_text.model_title(card)}: {score(card)}")
    state.forget_read()
    st.rerun()


def title_of(info: services.DatasetInfo) -> str:
    return for_markdown(shortened(info.title, 60))
