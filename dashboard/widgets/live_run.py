"""An explanation that is found while one watches, and can be stopped."""

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import svg

PATIENCE = 0.8  # seconds a run may take before it is shown while it learns
TICK = 0.3  # seconds between two pictures of a mask that is being learnt


def optimise_in_sight(
    request: services.Request, drawing: services.Drawn, meanwhile: Callable[[], None], beside: DeltaGenerator
) -> bool:
    """Finds the explanation if need be, and shows its mask forming where that takes long; False if the user stopped it.

    Any touch ends the script at the next word to the page, and with it the run.
    """
    live = st.empty()  # always there, or what follows would move and be drawn anew
    if services.is_optimised(request):
        return True
    if state.is_stopped(request):
        meanwhile()
        with live.container():
            st.info("The run was stopped.")
            st.button("Run it again", on_click=state.go_on, type="primary")
        return False
    computation, began, drawn_at = services.computation_graph(request), time.monotonic(), 0.0
    bar = picture = None
    for step in services.optimise(request):
        now = time.monotonic()
        if step.searching:
            beside.caption("Asking the network about other proposals …")
        if now - began < PATIENCE:
            continue
        if bar is None:
            meanwhile()
            with live.container():
                bar = st.progress(0.0)
                st.button("Stop this run", on_click=state.stop, args=(request,), icon=":material/stop:")
                picture = st.empty()
        said = f"Learning the mask: step {step.number:,} of {step.total:,}"
        bar.progress(min(step.number / step.total, 1.0), text="The mask is learnt" if step.searching else said)
        if now - drawn_at > TICK:
            mask, dark = services.mask_on(drawing, computation, step.edge_weight), st.context.theme.type == "dark"
            picture.image(svg.frame(drawing.picture, mask, dark=dark), width="stretch")
            drawn_at = now
    live.empty()
    return True
