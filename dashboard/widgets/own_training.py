"""A network trained on a graph of one's own: its form, its curves while it learns, and what became of it."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text, figures, model_text, training
from dashboard.view.plain_text import sentence
from dashboard.widgets.own_networks import FAILURES, TASKS, explain_button, title_of

TICK = 1.0  # seconds between two drawings of the curves
FIGURE = training.HEIGHT + 30  # pixels


def train_network(info: services.DatasetInfo, mine: Mapping[str, services.DatasetInfo]) -> None:
    """The form; and while one is trained, how far it is: a visitor has one training at a time."""
    possible = services.tasks_of(info.name)
    running = services.running_training()
    if not possible:
        st.info(
            "There is nothing to learn here: no two classes are known, and directed edges are not predicted. "
            "Bring the graph again with classes."
        )
    else:
        request = choose_training(info, possible, disabled=running is not None)
        if running is None:
            begin_button(info, request)
    if running is None:
        show_last(info)
    else:
        other = mine.get(running.request.dataset)
        if other is not None and other.name != info.name:
            st.markdown(f"Being trained: a network for **{title_of(other)}**")
        watch()


def begin_button(info: services.DatasetInfo, request: services.TrainRequest) -> None:
    has_one = bool(services.own_networks(info.name))  # then to explain it is what the page is for
    kind = "secondary" if has_one else "primary"
    st.button("Train", type=kind, icon=":material/play_arrow:", on_click=begun, args=(request,))
    early = "It ends by itself when it gets no better, and after" if request.stop_early else "It ends after"
    st.caption(
        f"{early} {services.training_seconds():,.0f} seconds at most, with the best epoch so far. It goes on while you look at "
        "something else here."
    )


def show_last(info: services.DatasetInfo) -> None:
    """What became of the last training, where it was watched, until the next one begins or its network is removed."""
    last = services.last_training(info.name)
    if last is None:
        return
    if last.problem:
        st.error(sentence(last.problem))
    elif last.curves is None:
        st.info("The training was stopped before its first epoch; there is nothing to keep.")
    elif last.card is not None:
        ended = "stopped early; " if last.stopping else ""
        st.success(sentence(f"{model_text.model_title(last.card)}: {ended}{training.result(last.card)}"))
        explain_button(last.card, "explain the last")
    if last.curves is not None:
        draw_curves(last.curves)


def begun(request: services.TrainRequest) -> None:
    try:
        services.begin_training(request)
    except FAILURES as error:  # a limit, or data that cannot be trained on
        state.tell("error", str(error))
    else:
        state.tell()


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


@st.fragment(run_every=TICK)
def watch() -> None:
    """Looks at the training and draws it; the training itself goes on whether or not anybody looks."""
    now = services.running_training()
    if now is None:
        st.rerun()  # it has ended: the whole page is another now
    if now.curves is not None:
        done = now.curves
        st.progress(done.number / done.total, text=training.so_far(done.number, done.total, done.epochs))
    else:
        waits = explanation_text.waiting(now.waiting.ahead) if now.waiting is not None else "Waiting for a worker"
        st.progress(0.0, text=waits)
    label = "Stopping" if now.stopping else "Stop"
    st.button(
        label,
        key="stop training",
        on_click=services.stop_training,
        disabled=now.stopping,
        icon=":material/stop:",
        help="The best epoch so far is kept.",
    )
    draw_curves(now.curves)


def draw_curves(curves: services.Training | None) -> None:
    """Of fixed height, also before the first epoch: what one wants to click must not move."""
    left, right = (column.container(height=FIGURE, border=False) for column in st.columns(2, gap="medium"))
    if curves is None:
        return
    left.plotly_chart(training.loss_curve(curves.epochs), config=figures.STILL, alt="The loss, epoch by epoch")
    right.plotly_chart(
        training.accuracy_curves(curves.epochs),
        config=figures.STILL,
        alt="Accuracy on the training and on the validation part, epoch by epoch",
    )
