"""The methods the page offers, and what each says of itself in the core's registry; nobody else knows one by name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import explainer_core as xc
from dashboard.schema import MAIN_METHOD, MASK_METHOD, PAPER, Request
from dashboard.services.catalogue import all_cards
from dashboard.services.predict import network
from explainer_core import ExplainConfig

SHOWN_AS_MAIN = (MAIN_METHOD, MASK_METHOD)  # what the main picture can show


@dataclass(frozen=True)
class Described:
    """A method in the words the page has for it."""

    title: str
    about: str


_PAPER = Described("As in the paper", "The mask with the settings of the paper of 2019.")


def described(method: str) -> Described:
    if method == PAPER:
        return _PAPER
    return Described(xc.METHODS[method].title, xc.METHODS[method].about)


def methods_for(request: Request) -> tuple[str, ...]:
    """The methods that can explain this prediction, the paper's settings among them."""
    possible = [name for name in xc.METHODS if model_for(request, name) is not None]
    return (*SHOWN_AS_MAIN, PAPER, *beside_main(possible))


def beside_main(methods: Sequence[str]) -> tuple[str, ...]:
    """Those of the methods that are drawn beside the main picture."""
    return tuple(name for name in methods if name not in SHOWN_AS_MAIN)


def in_core_terms(request: Request) -> Request:
    """The paper's settings are no method of the core: they are the mask with another config.

    On the same sample of the same neighbourhood; K_M is read off afterwards.
    """
    if request.method != PAPER:
        return request
    config = ExplainConfig.paper(k_m=1, seed=request.config.seed, max_edges=request.config.max_edges)
    return replace(request, method=MASK_METHOD, config=config)


def model_for(request: Request, method: str) -> str | None:
    """The network a method explains: the request's, or the data set's GAT for the same task where it needs attention."""
    own = network(request.dataset, request.model).spec
    if not xc.METHODS[method].needs_attention or own.kind == "gat":
        return request.model
    fitting = [
        card.model
        for card in all_cards()
        if card.dataset == request.dataset and card.architecture.get("kind") == "gat" and card.task == own.task
    ]
    return next(iter(fitting), None)
