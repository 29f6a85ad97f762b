"""The run behind the Prototypes page: the members of a class explained and aligned."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import explainer_core as xc
from dashboard.cache import Cache
from dashboard.catalogue import SHIPPED, source_of
from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.tasks.subjects import card_of, load_data, network
from explainer_core import ExplainConfig, Prototype
from explainer_core.prototypes.stored import StoredError, read_prototypes

_STORED: Cache[Mapping[int, Prototype]] = Cache(32)
SHOWN_EVERY = 0.5  # seconds between two prototypes that are sent while they grow


@dataclass(frozen=True)
class ClassRequest:
    """The class a prototype is asked of, how many members it is made from, and how large it may be."""

    dataset: str
    model: str
    label: int
    instances: int
    config: ExplainConfig

    def one(self, target: int | tuple[int, int]) -> Request:
        """The request for a single member."""
        kind = network(self.dataset, self.model).task
        return Request(self.dataset, self.model, kind, target, "predicted", self.config)


def usual_request(dataset: str, model: str, label: int) -> ClassRequest:
    """What the Prototypes page asks for until somebody changes a setting."""
    look = first_look(dataset)
    return ClassRequest(dataset, model, label, look.instances, ExplainConfig(k_m_unit=look.unit))


def stored_prototypes(request: ClassRequest) -> Mapping[int, Prototype]:
    """The prototypes of all classes that are kept on disk for such a request; a file that is broken counts as none."""

    def read() -> Mapping[int, Prototype]:
        if source_of(request.dataset) != SHIPPED:
            return {}
        card, data = card_of(request.dataset, request.model), load_data(request.dataset)
        try:
            return read_prototypes(card, data, request.instances, request.config)
        except StoredError as error:
            logging.getLogger(__name__).warning("%s; prototypes are computed instead", error)
            return {}

    return _STORED.get_or_create(replace(request, label=0), read)


@dataclass(frozen=True)
class Growing:
    """How many members are explained and aligned, and the prototype so far, where it is time to look at it."""

    done: int
    total: int
    so_far: Prototype | None


def make_prototype(
    request: ClassRequest, targets: Sequence[xc.Link] | None, emit: Callable[[object], None]
) -> Prototype:
    """Explains and aligns the members. Raises ValueError for a class without members."""
    shown_at = time.monotonic()

    def progress(done: int, total: int, so_far: Callable[[], Prototype]) -> None:
        nonlocal shown_at
        look = done < total and time.monotonic() - shown_at > SHOWN_EVERY
        emit(Growing(done, total, so_far() if look else None))
        shown_at = time.monotonic() if look else shown_at

    return xc.prototype(
        network(request.dataset, request.model),
        load_data(request.dataset),
        request.label,
        instances=request.instances,
        targets=targets,
        config=request.config,
        progress=progress,
    )
