"""Explanations: found while one watches, the baselines beside them, and how far each can be trusted."""

import math
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import explainer_core as xc
from dashboard.schema import MASK_METHOD, Request, Scores, judged
from dashboard.services.cache import MB, Cache
from dashboard.services.methods import in_core_terms, model_for
from dashboard.services.predict import asked_class, computation_graph, graph_of, network, subject
from explainer_core import ExplainConfig, Explanation
from explainer_core.explanation.metrics import Faithfulness, agreement, edge_auc, faithfulness
from explainer_core.explanation.trust import STARTS, Agreement, Trust, trust, with_size

WATCHED = 30  # how often a run reports while it learns
WATCHED_START = 5  # and one of the other starts
# Read off a finished run without optimising or searching again, so they are no part of its cache key.
READ_OFF = ("k_m", "k_m_unit", "k_f")

_FOUND: Cache["Timed"] = Cache(48, 512 * MB)  # 200,000 edges with their snapshots are 50 MB
_BASELINES: Cache["Timed"] = Cache(128, 256 * MB)
_SIZED: Cache[Explanation] = Cache(64, 256 * MB)
_SCORES: Cache[tuple] = Cache(128)
_TRUST: Cache[Trust] = Cache(64)
_STARTS: Cache[Explanation] = Cache(64, 256 * MB)
_AGREEMENTS: Cache[Agreement] = Cache(64)


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


def _cache_key(request: Request) -> Request:
    """The request without what is read off afterwards."""
    default = ExplainConfig()
    plain = {name: getattr(default, name) for name in READ_OFF}
    return replace(request, config=replace(request.config, **plain), target_class=asked_class(request))


def is_optimised(request: Request) -> bool:
    return _FOUND.get(_cache_key(request)) is not None


def optimise(request: Request) -> Generator[Step, None, Timed]:
    """Runs the request's method, caches the result at the end and returns it; leaving the loop leaves nothing behind.

    The verified search starts from the mask, so that one run gives both; a mask is found without the search.
    """
    key = _cache_key(request)
    data, target = subject(key)
    model, config = network(key.dataset, key.model), request.config
    every = max(1, config.steps // WATCHED)
    asked = {"target_class": key.target_class, "every": every}
    searches = xc.METHODS[request.method].verifies
    began, last = time.perf_counter(), None
    for last in xc.explain_steps(model, data, target, config, request.method, **asked):
        yield Step(last.number, config.steps, last.edge_weight)
    assert last is not None  # a run has at least one step
    optimised_in = time.perf_counter() - began
    if searches:
        yield Step(last.number, config.steps, last.edge_weight, searching=True)
    found = last.explanation()
    timed = _FOUND.put(key, Timed(found, time.perf_counter() - began))
    if searches:
        mask = replace(found, method=MASK_METHOD, table=(), verdict=None)
        _FOUND.put(replace(key, method=MASK_METHOD), Timed(mask, optimised_in))
    return timed


def optimised(request: Request) -> Timed:
    """The finished run, cut to the request's K_M; runs it now if it has left the cache."""
    key = _cache_key(request)
    timed = _FOUND.get(key) or _run(optimise(request))
    return Timed(
        _SIZED.get_or_create(replace(request, target_class=key.target_class), lambda: _sized(request, timed)),
        timed.seconds,
    )


def _run(steps: Generator[Step, None, Timed]) -> Timed:
    """A run to its end, with nobody watching."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def _sized(request: Request, timed: Timed) -> Explanation:
    config, found = request.config, timed.explanation
    if found.verdict is not None and found.config == config:
        return found
    return _cut(request, replace(found, config=replace(found.config, k_f=config.k_f)))


def _cut(request: Request, found: Explanation) -> Explanation:
    """The same weights and the same search at the request's K_M, judged there."""
    model, data = network(request.dataset, request.model), subject(request)[0]
    return with_size(model, data, found, request.config.k_m, k_m_unit=request.config.k_m_unit)


def baseline(request: Request, method: str) -> Timed:
    """Another method's explanation of the same prediction, on the same edges and of the size that is shown."""
    key = replace(_cache_key(request), method=method)
    asked = in_core_terms(replace(key, config=replace(key.config, k_m=1)))
    timed = _BASELINES.get_or_create(asked, lambda: _explained_by(asked))
    size = optimised(request).explanation.size
    config = replace(asked.config, k_m=size, k_m_unit=request.config.k_m_unit, k_f=request.config.k_f)
    return replace(timed, explanation=replace(timed.explanation, config=config, size=size, verdict=None))


def _explained_by(request: Request) -> Timed:
    data, target = subject(request)
    model = model_for(request, request.method) or request.model  # the core says what that one lacks
    began = time.perf_counter()
    found = xc.explain(
        network(request.dataset, model),
        data,
        target,
        request.config,
        request.method,
        target_class=request.target_class,
    )
    seconds = time.perf_counter() - began
    return Timed(_on_edges_of(computation_graph(request), found) if model != request.model else found, seconds)


def _on_edges_of(computation: Explanation, other: Explanation) -> Explanation:
    """Another network's weights on the computation graph of the one that is explained: it may be deeper or less deep."""
    keys = zip(other.edge_part.tolist(), other.edge_ids.tolist(), strict=True)
    weight = dict(zip(keys, other.edge_weight.tolist(), strict=True))
    wanted = zip(computation.edge_part.tolist(), computation.edge_ids.tolist(), strict=True)
    return replace(
        computation,
        method=other.method,
        explained_class=other.explained_class if other.explained_class is not None else None,
        edge_weight=np.array([weight.get(key, 0.0) for key in wanted]),
        feature_weight=other.feature_weight,
    )


def all_scores(request: Request, explanations: Sequence[tuple[str, Timed]]) -> list[Scores]:
    """Each method's score, all judged in one pass by the network that is explained."""
    key = (request, tuple(method for method, _ in explanations))
    return list(_SCORES.get_or_create(key, lambda: tuple(_scores(request, explanations))))


def _scores(request: Request, explanations: Sequence[tuple[str, Timed]]) -> list[Scores]:
    data, own = subject(request)[0], optimised(request).explanation
    # attention looks at no class, and in another network: all are judged by the class that is asked about
    asked = {"explained_class": own.explained_class, "predicted_class": own.predicted_class}
    found = [replace(timed.explanation, **asked) for _, timed in explanations]
    judged = faithfulness(network(request.dataset, request.model), data, found)
    return [
        Scores(method, timed.seconds, _auc(request, each), _as_in_verdict(each, figures))
        for (method, timed), each, figures in zip(explanations, found, judged, strict=True)
    ]


def _as_in_verdict(explanation: Explanation, judged: Faithfulness) -> Faithfulness:
    """The figures of the verdict, where there is one: what the page says twice must be one number to the last digit."""
    shown = explanation.verdict
    if shown is None:
        return judged
    return replace(judged, full=shown.full, kept=shown.alone, without=shown.without, keeps_class=shown.keeps_class)


def _auc(request: Request, explanation: Explanation) -> float | None:
    if graph_of(request).edge_motif is None:
        return None
    area = edge_auc(subject(request)[0], [explanation])
    return None if math.isnan(area) else area


def trust_of(request: Request) -> Trust:
    """What every other size would give, and what the network says of the empty graph and of the truth alone."""
    return _TRUST.get_or_create(request, lambda: _trust(request))


def _trust(request: Request) -> Trust:
    explanation, data = optimised(request).explanation, subject(request)[0]
    found = trust(network(request.dataset, request.model), data, explanation)
    shown = judged(explanation)
    curve = tuple(
        replace(point, alone=shown.alone, without=shown.without, keeps_class=shown.keeps_class)
        if point.size == explanation.size
        else point
        for point in found.curve
    )
    return replace(
        found, curve=curve, faithfulness=_as_in_verdict(explanation, found.faithfulness), empty_probability=shown.empty
    )


# Other starts


def try_starts(request: Request) -> Iterator[tuple[int, int]]:
    """Explains the same target from other starts, one after another; yields how many are done, and of how many.

    Each is kept as it ends: whoever comes back goes on where the last one left.
    """
    for start in range(1, STARTS):
        key = _start(request, start)
        if _STARTS.get(key) is not None:
            continue
        data, target = subject(key)
        model, finish = network(key.dataset, key.model), None
        config = replace(key.config, k_m=request.config.k_m, k_m_unit=request.config.k_m_unit)
        asked = {"target_class": key.target_class, "every": max(1, config.steps // WATCHED_START)}
        for step in xc.explain_steps(model, data, target, config, key.method, **asked):
            yield start, STARTS
            finish = step.explanation
        assert finish is not None  # a run has at least one step
        _STARTS.put(key, replace(finish(), snapshots=(), history={}))


def _start(request: Request, start: int) -> Request:
    """The cache key of another start; G_S does not depend on the features."""
    key = _cache_key(request)
    seed = key.config.seed + start * key.config.seeds
    return replace(key, config=replace(key.config, seed=seed, features="none"))


def agreement_of(request: Request) -> Agreement | None:
    """How much the G_S of other starts overlap with what is shown; None until all of them were tried."""
    tried = [_STARTS.get(_start(request, start)) for start in range(1, STARTS)]
    found = [each for each in tried if each is not None]
    if len(found) < len(tried):
        return _AGREEMENTS.get(request)
    return _AGREEMENTS.get_or_create(request, lambda: _agreement(request, found))


def _agreement(request: Request, others: Sequence[Explanation]) -> Agreement:
    config = request.config
    shown = [optimised(request).explanation.subgraph()]
    for other in others:
        same = (other.config.k_m, other.config.k_m_unit) == (config.k_m, config.k_m_unit)
        # a copy, so that what it works out on the way does not stay in the cache
        shown.append((replace(other) if same else _cut(request, other)).subgraph())
    counts = Counter(edge for subgraph in shown for edge in subgraph.edges)
    kept_by = {edge: count / len(shown) for edge, count in sorted(counts.items())}
    return Agreement(agreement(shown), len(shown), kept_by)
