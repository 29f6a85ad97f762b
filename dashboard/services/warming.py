"""What the first visitor would otherwise wait for: data, network, drawing and torch's own first steps."""

import gc
from dataclasses import replace

from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.services.catalogue import all_cards, datasets
from dashboard.services.explanations import optimise
from dashboard.services.pictures import drawn


def warm_up() -> None:
    """Prepares the picture that a visitor without query parameters of their own sees."""
    dataset = next(iter(datasets()))
    card = next(card for card in all_cards() if card.dataset == dataset)
    request = Request(dataset, card.model, card.task, first_look(dataset).target)
    drawn(request)
    for _ in optimise(replace(request, config=replace(request.config, steps=1))):
        pass
    # Streamlit collects all generations after every run of a page, and would look at every object of the libraries each time.
    gc.collect()
    gc.freeze()
