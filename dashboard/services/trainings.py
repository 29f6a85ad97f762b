"""Networks that are trained on what a visitor brought: each training is theirs and goes on without their page."""

import threading
from dataclasses import dataclass
from typing import Any

from dashboard import jobs, tasks
from dashboard.catalogue import own
from dashboard.jobs import BackgroundRun, RunRefused, Waiting
from dashboard.limits import MB, Limits
from dashboard.schema import Card
from dashboard.services.own_data import own_networks, visitor_token
from dashboard.tasks import Training, TrainRequest
from dashboard.tasks.subjects import load_data
from explainer_core.zoo.own_data import plan, training_bytes

LEFT_AFTER = (
    300.0  # seconds without a page of theirs after which a visitor's training comes to its end, with what it has
)
WITHOUT_LIMITS = 600.0  # seconds, where it is the caller's own process that works

_beginning = threading.Lock()


@dataclass(frozen=True)
class TrainingState:
    """A training as a page finds it."""

    request: TrainRequest
    waiting: Waiting | None  # for a worker
    curves: Training | None  # None before the first epoch
    running: bool
    stopping: bool  # its visitor has pressed Stop, or was gone for long
    problem: str  # why there is no network, once it has ended
    card: Card | None  # of its network, once it has ended, while that is there


@dataclass(frozen=True)
class _Held:
    request: TrainRequest
    run: BackgroundRun


def usual_training(dataset: str, task: str, kind: str) -> TrainRequest:
    """The settings of the shipped network that is most like it."""
    wanted = plan(load_data(dataset), task, kind)
    spec, config = wanted.spec, wanted.config
    return TrainRequest(dataset, task, kind, spec.num_layers, spec.hidden, config.epochs, not config.keep_last, 0)


def check_training(request: TrainRequest) -> None:
    """Raises RunRefused for one that would be ended for its memory, and ValueError for sizes that cannot be built."""
    limits, needed = jobs.limits(), training_bytes(load_data(request.dataset), tasks.plan_of(request)) / MB
    if limits is not None and needed > limits.run_memory:
        raise RunRefused(
            f"a run may take {limits.run_memory:,} MB (about {needed:,.0f} MB for {request.layers} layers of {request.hidden} "
            "on this graph); choose fewer layers or units, or bring a smaller graph"
        )


def training_seconds() -> float:
    limits = jobs.limits()
    return WITHOUT_LIMITS if limits is None else limits.train_seconds


def begin_training(request: TrainRequest) -> None:
    """Trains in the background and keeps the network in the visitor's catalogue. Raises ValueError where it cannot be begun."""
    check_training(request)
    token = visitor_token()
    most = (jobs.limits() or Limits()).visitors
    with _beginning:
        if any(not held.run.finished for held in own.trainings(token).values()):
            raise RunRefused("a visitor must have one training at a time (one is running); stop it, or wait for it")
        if sum(not held.run.finished for held in own.all_trainings()) >= most:
            raise RunRefused(f"there must be at most {most:,} trainings at a time (this is one more); try again later")

        def keep(found: tuple[Card, bytes]) -> str:
            return own.add_network(token, request.dataset, *found)

        def is_watched() -> bool:
            return own.seconds_away(token, request.dataset) < LEFT_AFTER

        run = jobs.begin_background(
            tasks.train_network, request, training_seconds(), visitor=token, keep=keep, is_watched=is_watched
        )
        own.set_training(token, request.dataset, _Held(request, run))


def running_training() -> TrainingState | None:
    """The one that is going on for the visitor who asks, on whichever data."""
    states = (_state(held) for held in own.trainings(visitor_token()).values())
    return next((state for state in states if state.running), None)


def last_training(dataset: str) -> TrainingState | None:
    """The last on these data, running or not."""
    held = own.trainings(visitor_token()).get(dataset)
    return None if held is None else _state(held)


def _state(held: _Held) -> TrainingState:
    run = held.run
    finished, progress = run.finished, run.progress  # in this order: what has finished does not change any more
    cards = own_networks(held.request.dataset) if finished else []
    return TrainingState(
        held.request,
        progress if isinstance(progress, Waiting) else None,
        progress if isinstance(progress, Training) else None,
        not finished,
        run.stopping,
        "" if run.error is None else str(run.error),
        next((card for card in cards if card.model == run.result), None),
    )


def stop_training() -> None:
    """It comes to its end, and its best epoch so far is kept."""
    for held in own.trainings(visitor_token()).values():
        held.run.stop()


def forget_training(dataset: str) -> None:
    """What is known of a training that has ended; its network stays."""
    held: Any = own.trainings(visitor_token()).get(dataset)
    if held is not None and held.run.finished:
        own.set_training(visitor_token(), dataset, None)
