"""The run behind the Prototypes page: the members of a class explained and aligned."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import explainer_core as xc
from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.tasks.subjects import load_data, network
from explainer_core import ExplainConfig, Prototype

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
