"""The methods the page offers, and what each says of itself in the core's registry; nobody else knows one by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import explainer_core as xc
from dashboard.schema import MAIN_METHOD, MASK_METHOD, PAPER, Request
from dashboard.services.catalogue import all_cards
from dashboard.tasks.subjects import network
from explainer_core import ExplainConfig

SHOWN_AS_MAIN = (MAIN_METHOD, MASK_METHOD)  # what the main picture can show


@dataclass(frozen=True)
class Described:
    """A method in the words the page has for it."""

    title: str
    about: str


@dataclass(frozen=True)
class Variant(Described):
    """A method of the core with a config of its own, which the page shows as a method beside the others."""

    method: str
    config: Callable[..., ExplainConfig]


VARIANTS = {
    PAPER: Variant(
        "As in the paper", "The mask with the settings of the paper of 2019.", MASK_METHOD, ExplainConfig.paper
    )
}


def described(method: str) -> Described:
    if method in VARIANTS:
        return VARIANTS[method]
    return Described(xc.METHODS[method].title, xc.METHODS[method].about)


def methods_for(request: Request) -> tuple[str, ...]:
    """The methods that can explain this prediction, the variants among them."""
    possible = [name for name in xc.METHODS if model_for(request, name) is not None]
    return (*SHOWN_AS_MAIN, *VARIANTS, *beside_main(possible))


def beside_main(methods: Sequence[str]) -> tuple[str, ...]:
    """Those of the methods that are drawn beside the main picture."""
    return tuple(name for name in methods if name not in SHOWN_AS_MAIN)


def in_core_terms(request: Request) -> Request:
    """A variant is no method of the core: it is one of them with another config.

    On the same sample of the same neighbourhood; K_M is read off afterwards.
    """
    variant = VARIANTS.get(request.method)
    if variant is None:
        return request
    config = variant.config(k_m=1, seed=request.config.seed, max_edges=request.config.max_edges)
    return replace(request, method=variant.method, config=config)


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
