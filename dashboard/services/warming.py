"""What the first visitor would otherwise wait for: data, network and drawing. Explaining is warmed up by the workers themselves."""

import gc
from contextlib import suppress

from dashboard.catalogue.entry import NotHere
from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.services.catalogue import all_cards, datasets
from dashboard.services.pictures import drawn
from explainer_core.device import use_one_thread

YOUNG = 10_000  # objects between two collections: at Python's 700 a crowd's pages are looked at again and again


def warm_up(*, alone: bool = True) -> None:
    """Prepares what the server itself does for a visitor without query parameters of their own.

    `alone` where the process is the server's; in a notebook it is somebody else's, who wants their threads.
    """
    if alone:
        use_one_thread()
    dataset = next(iter(datasets()))
    card = next((card for card in all_cards() if card.dataset == dataset), None)
    if card is not None:  # else the page says why
        with suppress(NotHere):  # `launch` was stopped meanwhile, and nobody will look
            drawn(Request(dataset, card.model, card.task, first_look(dataset).target))
    if alone:
        # Streamlit collects all generations after every run of a page, and would look at every object of the libraries each time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG)
