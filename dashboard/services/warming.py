"""What the first visitor would otherwise wait for: data, network and drawing. Explaining is warmed up by the workers themselves."""

from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.services.catalogue import all_cards, datasets
from dashboard.services.pictures import drawn


def warm_up() -> None:
    """Prepares what the server itself does for a visitor without query parameters of their own."""
    dataset = next(iter(datasets()))
    card = next(card for card in all_cards() if card.dataset == dataset)
    drawn(Request(dataset, card.model, card.task, first_look(dataset).target))
