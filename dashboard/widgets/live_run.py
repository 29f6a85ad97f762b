"""An explanation that is found while one watches, and can be stopped."""

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import explanation_text, svg

PATIENCE = 0.8  # seconds a run may take before it is shown while it learns
TICK = 0.3  # seconds between two pictures of a mask that is being optimised, and until the first


def explain_in_sight(
    question: services.Question, known: services.Answer | None, meanwhile: Callable[[], None], beside: DeltaGenerator
) -> services.Answer | None:
    """The answer, found with its mask forming in sight where that takes long; None if the user stopped it.

    Any touch ends the script at the next word to the page, and with it the run.
    """
    live = st.empty()  # always there, or what follows would move and be drawn anew
    if known is not None:
        return known
    if state.is_stopped(question.request):
        meanwhile()
        with live.container():
            st.info("The run was stopped.")
            st.button("Run it again", on_click=state.go_on, type="primary")
        return None
    answer = services.explain(question, _Watched(question, live, meanwhile, beside).show)
    live.empty()
    return answer


class _Watched:
    """The bar and the picture of a run that takes longer than one would wait for."""

    def __init__(
        self,
        question: services.Question,
        live: DeltaGenerator,
        meanwhile: Callable[[], None],
        beside: DeltaGenerator,
    ):
        self.question, self.live, self.meanwhile, self.beside = question, live, meanwhile, beside
        self.began = time.monotonic()
        self.drawn_at: float | None = (
            None  # from the first step on: who has waited for a worker may be answered at once
        )
        self.drawn = 0  # the step of the picture
        self.widgets: tuple[DeltaGenerator, DeltaGenerator] | None = None  # the bar and the picture

    def show(self, progress: object) -> None:
        """What the run says of itself: that it waits for others, or how far it is."""
        if self.drawn_at is None and isinstance(progress, services.Step):
            self.drawn_at = time.monotonic()
        if time.monotonic() - self.began < PATIENCE:
            return
        if self.widgets is None:
            self.widgets = self._begin()
        if isinstance(progress, services.Step) and progress.searching:
            self.beside.caption("Asking the network about other proposals …")
        if isinstance(progress, services.Waiting):
            self.widgets[0].progress(0.0, text=explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Step):
            self._show_step(progress, *self.widgets)

    def _show_step(self, step: services.Step, bar: DeltaGenerator, picture: DeltaGenerator) -> None:
        now, since = time.monotonic(), self.drawn_at
        text = f"Learning the mask: step {step.number:,} of {step.total:,}"
        bar.progress(min(step.number / step.total, 1.0), text="The mask is learnt" if step.searching else text)
        if since is not None and now - since > TICK and step.number != self.drawn:  # what is learnt stays as it is
            drawing, dark = self.question.drawing, st.context.theme.type == "dark"
            mask = services.mask_on(drawing, self.question.computation, step.edge_weight)
            picture.image(svg.frame(drawing.picture, mask, dark=dark), width="stretch")
            self.drawn_at, self.drawn = now, step.number

    def _begin(self) -> tuple[DeltaGenerator, DeltaGenerator]:
        self.meanwhile()
        with self.live.container():
            bar = st.progress(0.0)
            st.button("Stop this run", on_click=state.stop, args=(self.question.request,), icon=":material/stop:")
            return bar, st.empty()
