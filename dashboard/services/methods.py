"""The methods the page offers, and what each says of itself in the core's registry; nobody else knows one by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import explainer_core as xc
from dashboard.schema import MAIN_METHOD, MASK_METHOD, PAPER, SHOWN_FIRST, SHOWN_WHERE_SMALL, Request
from dashboard.services.catalogue import cards_of
from dashboard.tasks.subjects import computation_graph, network
from explainer_core import Card, ExplainConfig
from explainer_core.explanation.comparing import ranks
from explainer_core.models.protocol import offers
from explainer_core.zoo.compared import MethodFigures

SMALL = 300  # edges of a neighbourhood that can be taken away one at a time while one waits


@dataclass(frozen=True)
class Described:
    """A method in the words the page has for it."""

    title: str
    about: str
    borrowed: str = ""  # what it adds where another network had to be looked into


@dataclass(frozen=True)
class Variant(Described):
    """A method of the core with a config of its own, which the page shows as a method beside the others."""

    method: str = MASK_METHOD
    config: Callable[..., ExplainConfig] = ExplainConfig


VARIANTS = {
    PAPER: Variant("As in the paper", "The mask with the settings of the paper of 2019.", config=ExplainConfig.paper)
}


def described(method: str) -> Described:
    if method in VARIANTS:
        return VARIANTS[method]
    found = xc.METHODS[method]
    return Described(found.title, found.about, found.borrowed)


def about(method: str, *, borrowed: bool = False) -> str:
    """The line on what a method is; `borrowed` where it looked into another network than the one that is explained."""
    found = described(method)
    return f"{found.about} {found.borrowed}" if borrowed and found.borrowed else found.about


def is_described(method: str) -> bool:
    """Whether it is a method of this version: a card may have been measured with another."""
    return method in VARIANTS or method in xc.METHODS


def methods_for(request: Request) -> tuple[str, ...]:
    """The methods that can explain this prediction, the variants among them."""
    possible = [name for name in xc.METHODS if model_for(request, name) is not None]
    main = (MAIN_METHOD, MASK_METHOD)  # what the main picture can show
    return (*main, *VARIANTS, *(name for name in possible if name not in main))


def shown_first(request: Request) -> tuple[str, ...]:
    """The methods beside the main picture until somebody chooses others."""
    small = len(computation_graph(request).pairs) <= SMALL
    return (*SHOWN_FIRST, SHOWN_WHERE_SMALL) if small else SHOWN_FIRST


def beside_main(methods: Sequence[str], shown: str) -> tuple[str, ...]:
    """Those of the methods that can be drawn beside the main picture, which shows one of them; the search is only shown there."""
    return tuple(name for name in methods if name not in (MAIN_METHOD, shown))


@dataclass(frozen=True)
class OverDataSet:
    """How the methods do over a data set, as a benchmark has measured it; the best first, equals share a rank."""

    targets: int
    part: str  # of the data set: "test" or "all"
    full: float  # the mean probability with everything
    ranked: tuple[tuple[int, str, MethodFigures], ...]


def over_data_set(card: Card) -> OverDataSet | None:
    """What a network's card says; None where nobody has measured it, as of a network of one's own."""
    found = card.methods_compared
    known = {} if found is None else {name: each for name, each in found.methods.items() if is_described(name)}
    if found is None or not known:
        return None
    ranked = zip(ranks([each.score for each in known.values()]), known, known.values(), strict=True)
    return OverDataSet(found.targets, found.part, found.full, tuple(sorted(ranked, key=lambda row: row[0])))


def in_core_terms(request: Request) -> Request:
    """A variant is no method of the core: it is one of them with another config.

    On the same sample of the same neighbourhood; K_M is read off afterwards.
    """
    variant = VARIANTS.get(request.method)
    if variant is None:
        return request
    config = variant.config(k_m=1, seed=request.config.seed, max_edges=request.config.max_edges)
    return replace(request, method=variant.method, config=config)


def is_borrowed(request: Request, method: str) -> bool:
    """Whether a method looks into another network than the one that is explained."""
    return method not in VARIANTS and model_for(request, method) != request.model


def model_for(request: Request, method: str) -> str | None:
    """The network a method explains: the request's, or the data set's GAT for the same task where it needs attention."""
    own = network(request.dataset, request.model)
    if not xc.METHODS[method].needs_attention or offers(own, "attention"):
        return request.model
    fitting = [
        card.model
        for card in cards_of(request.dataset)
        if card.architecture.get("kind") == "gat" and card.task == own.task
    ]
    return next(iter(fitting), None)
