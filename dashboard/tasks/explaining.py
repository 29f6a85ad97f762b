"""The runs behind the Explain page: the explanation, the same at another size, what stands beside it, other starts."""

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

import explainer_core as xc
from dashboard.schema import MASK_METHOD, Request, Scores, judged
from dashboard.tasks.sealed import Sealed
from dashboard.tasks.subjects import computation_graph, graph_of, keep_answers, kept_answers, network, subject
from explainer_core import Explanation
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.comparing import beside, on_edges_of, score
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.metrics import edge_auc, faithfulness, of_verdict
from explainer_core.explanation.trust import STARTS, Agreement, Trust, agreement_of, trust, with_size
from explainer_core.explanation.verdict import Verdict
from explainer_core.explanation.verifying import finished, judged_sizes, size_found

FEW_STARTS = 5  # with the one that is shown; where these agree, five more hardly ever differ (1 of 65 targets)
WATCHED = 30  # how often a run looks at the clock while it learns
SELDOM = 0.1  # seconds between two reports: each wakes two threads of the server, and no page draws more
Emit = Callable[[object], None]
Seen = TypeVar("Seen")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Timed:
    """An explanation and the seconds it took."""

    explanation: Explanation
    seconds: float


@dataclass(frozen=True)
class Step:
    """How far a run is, and its mask so far in the order of the computation graph's edges."""

    number: int
    total: int
    edge_weight: np.ndarray
    searching: bool = False  # the mask is optimised; now the network is asked about it and other proposals


@dataclass(frozen=True)
class Started:
    """So much of the work on the other starts is done."""

    share: float  # 0 to 1


@dataclass(frozen=True)
class Found:
    """A finished run: its explanation at the size asked for, judged, and the mask it started from, if it was searched for."""

    found: Timed
    mask: Timed | None
    scores: Scores
    sizes: tuple[tuple[Subgraph, Verdict], ...] = ()  # G_S of every size from 1 on, as choosing that size would give it
    auto: int = 1  # the size among them that "auto" finds


@dataclass(frozen=True)
class Beside:
    """A method to lay beside the main picture, in the core's own terms: which one, of which network, with which settings."""

    name: str  # the page's own
    request: Request


@dataclass(frozen=True)
class Compared:
    """What speaks for and against it, and what other methods say of the same prediction, judged by the same network."""

    trust: Trust
    others: tuple[Timed, ...]
    scores: tuple[Scores, ...]


def _reporting(
    steps: Generator[Seen, None, Result], progress: Callable[[Seen], object], emit: Emit
) -> Generator[Seen, None, Result]:
    """The same steps; now and then what they come to is reported."""
    told_at = time.perf_counter()
    while True:
        try:
            seen = next(steps)
        except StopIteration as end:
            return end.value
        if time.perf_counter() - told_at > SELDOM:
            emit(progress(seen))
            told_at = time.perf_counter()
        yield seen


def explain(request: Request, emit: Emit) -> Found:
    """Runs the request's method. The verified search starts from the mask, so that one run gives both."""
    (data, target), model, config = subject(request), network(request.dataset, request.model), request.config
    searches = xc.METHODS[request.method].verifies
    answers = Answers()
    asked = {"target_class": request.target_class, "every": -(-config.steps // WATCHED), "answers": answers}
    began = time.perf_counter()
    steps = xc.explain_steps(model, data, target, config, request.method, **asked)
    steps = _reporting(steps, lambda step: Step(step.number, config.steps, step.edge_weight), emit)
    last = deque(steps, maxlen=1).pop()  # a run has at least one step
    optimised_in = time.perf_counter() - began
    learnt = Step(last.number, config.steps, last.edge_weight, searching=searches)
    explanation = finished(_reporting(last.explaining(), lambda _: learnt, emit))
    keep_answers(request, answers)
    found = Timed(explanation, time.perf_counter() - began)
    mask = replace(explanation, method=MASK_METHOD, table=(), verdict=None) if searches else None
    sizes = judged_sizes(model, data, explanation, answers)
    mask_timed = None if mask is None else Timed(mask, optimised_in)
    return Found(found, mask_timed, _own_scores(request, found), sizes, size_found(explanation, sizes))


def resize(request: Request, found: Timed, emit: Emit) -> Found:
    """The same weights and the same search at the request's K_M and K_F, judged there."""
    sized = Timed(_cut(request, found.explanation), found.seconds)
    sizes = judged_sizes(network(request.dataset, request.model), subject(request)[0], sized.explanation)
    return Found(sized, None, _own_scores(request, sized), sizes, size_found(sized.explanation, sizes))


def _cut(request: Request, found: Explanation) -> Explanation:
    model, data, config = network(request.dataset, request.model), subject(request)[0], request.config
    found = replace(found, config=replace(found.config, k_f=config.k_f))
    return with_size(model, data, found, config.k_m, k_m_unit=config.k_m_unit)


def compare(
    request: Request, own: Timed, others_asked: Sequence[Beside], known: Sequence[Timed | None], emit: Emit
) -> Compared:
    """What stands below the main picture; other methods on the same edges and of the size that is shown."""
    others = []
    for each, timed in zip(others_asked, known, strict=True):
        timed = _explained_by(request, each.request) if timed is None else timed
        others.append(replace(timed, explanation=beside(own.explanation, timed.explanation)))
    scores = _scores(request, own, others, [each.name for each in others_asked])
    return Compared(_trust(request, own.explanation), tuple(others), tuple(scores))


def _explained_by(request: Request, asked: Request) -> Timed:
    data, target = subject(asked)
    began = time.perf_counter()
    model, target_class = network(asked.dataset, asked.model), asked.target_class
    (found,) = xc.explain_many(model, data, [target], asked.config, asked.method, target_class=target_class)
    seconds = time.perf_counter() - began
    return Timed(found if asked.model == request.model else on_edges_of(computation_graph(request), found), seconds)


def _own_scores(request: Request, own: Timed) -> Scores:
    """Of what is shown: its verdict's figures, since what the page says twice must be one number to the last digit."""
    figures, area = of_verdict(own.explanation, judged(own.explanation)), _auc(request, own.explanation)
    return Scores(request.method, own.seconds, area, figures, score(own.explanation, figures))


def _scores(request: Request, own: Timed, others: Sequence[Timed], names: Sequence[str]) -> list[Scores]:
    """Those of other methods, all judged in one pass by the network that is explained."""
    found = [timed.explanation for timed in others]
    figures = faithfulness(network(request.dataset, request.model), subject(request)[0], found)
    return [
        Scores(name, timed.seconds, _auc(request, each), of_each, score(own.explanation, of_each))
        for name, timed, each, of_each in zip(names, others, found, figures, strict=True)
    ]


def _auc(request: Request, explanation: Explanation) -> float | None:
    if graph_of(request).edge_motif is None:
        return None
    area = edge_auc(subject(request)[0], [explanation])
    return None if math.isnan(area) else area


def _trust(request: Request, explanation: Explanation) -> Trust:
    """Of the size that is shown alone: every other has been judged with the explanation."""
    model, data = network(request.dataset, request.model), subject(request)[0]
    found = trust(model, data, explanation, sizes=())
    shown = judged(explanation)
    return replace(found, curve=(), faithfulness=of_verdict(explanation, shown), empty_probability=shown.empty)


def try_starts(request: Request, own: Explanation, known: Sealed | None, emit: Emit) -> tuple[Sealed, Agreement]:
    """The same target explained from other starts, and how much the G_S that each would show overlap with what is shown."""
    others = _started(request, own, FEW_STARTS, 1, emit) if known is None else known.value
    agreement = _agreement(request, own, others)
    if agreement.unstable and len(others) + 1 < STARTS:  # how much they differ is worth more questions
        others += _started(request, own, STARTS, len(others) + 1, emit)
        agreement = _agreement(request, own, others)
    return Sealed(others), agreement


def _agreement(request: Request, own: Explanation, others: Sequence[Explanation]) -> Agreement:
    config = request.config
    shown = [own.subgraph()]
    for other in others:
        same = (other.config.k_m, other.config.k_m_unit) == (config.k_m, config.k_m_unit)
        shown.append((replace(other) if same else _cut(request, other)).subgraph())
    return agreement_of(shown)


def _started(request: Request, own: Explanation, starts: int, known: int, emit: Emit) -> tuple[Explanation, ...]:
    model, data = network(request.dataset, request.model), subject(request)[0]
    running = xc.explain_starts(model, data, own, starts=starts, known=known, answers=kept_answers(request))
    return tuple(finished(_reporting(running, Started, emit)))
