"""Explanations: each found once for all visitors, the methods beside it, and how far each can be trusted."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from dashboard import jobs, tasks
from dashboard.cache import MB, Cache
from dashboard.jobs import Priority
from dashboard.schema import MASK_METHOD, Request, Scores
from dashboard.services.costs import check_run, fits, takes_long
from dashboard.services.methods import in_core_terms, model_for
from dashboard.services.predict import asked_class
from dashboard.tasks import Beside, Compared, Found, Sealed, Timed
from explainer_core import ExplainConfig
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.trust import Agreement
from explainer_core.explanation.verdict import Verdict

# Read off a finished run without optimising or searching again, so they are no part of its cache key.
READ_OFF = ("k_m", "k_m_unit", "k_f")
Progress = Callable[[object], None]

_FOUND: Cache[Timed] = Cache(48, 256 * MB)  # 200,000 edges with their snapshots are 50 MB
_SIZED: Cache[Found] = Cache(64, 128 * MB)
_BASELINES: Cache[Timed] = Cache(128, 128 * MB)
_COMPARED: Cache[Compared] = Cache(64, 128 * MB)
_STARTS: Cache[Sealed] = Cache(64, 128 * MB)  # only a worker reads them, for another size
_AGREEMENTS: Cache[Agreement] = Cache(64)


def ignore(progress: object) -> None:
    """For those who only wait."""


def _asked(request: Request) -> Request:
    """The request with its class in the core's own terms."""
    return replace(request, target_class=asked_class(request))


def _cache_key(request: Request) -> Request:
    """The request without what is read off afterwards."""
    default = ExplainConfig()
    plain = {name: getattr(default, name) for name in READ_OFF}
    return replace(_asked(request), config=replace(request.config, **plain))


def is_optimised(request: Request) -> bool:
    return _FOUND.get(_cache_key(request)) is not None


def optimise(request: Request, on_progress: Progress = ignore, priority: Priority = Priority.PICTURE) -> Found:
    """Runs the request's method and keeps the result, and the mask that a search started from."""
    asked, key = _asked(request), _cache_key(request)
    check_run(request)
    found: Found = jobs.call(
        tasks.explain, asked, key=asked, priority=priority, long=takes_long(request), on_progress=on_progress
    )
    _FOUND.put(key, found.found)
    _SIZED.put(asked, found)
    if found.mask is not None:
        _FOUND.put(replace(key, method=MASK_METHOD), found.mask)
    return found


def begun(request: Request) -> AbstractContextManager[None]:
    """The run is begun, unless it is known or cannot be, while the caller prepares to `optimise` inside the block."""
    asked = _asked(request)
    if is_optimised(request) or not fits(request):
        return nullcontext()
    return jobs.begun(tasks.explain, asked, key=asked, long=takes_long(request))


def _sized(request: Request) -> Found:
    """The finished run at the request's K_M; runs it now if it has left the cache."""
    asked = _asked(request)
    sized = _SIZED.get(asked)
    if sized is not None:
        return sized
    found = _FOUND.get(_cache_key(request))
    if found is None:
        return optimise(request)
    return _SIZED.put(asked, jobs.call(tasks.resize, asked, found, key=asked))


def optimised(request: Request) -> Timed:
    """The explanation that the main picture shows."""
    return _sized(request).found


def sizes_judged(request: Request) -> tuple[tuple[tuple[Subgraph, Verdict], ...], int]:
    """G_S of every size from 1 on with its verdict: what choosing that size gives; and the size that "auto" finds."""
    sized = _sized(request)
    return sized.sizes, sized.auto


def own_scores(request: Request) -> Scores:
    return _sized(request).scores


def compared(request: Request, methods: Sequence[str], on_progress: Progress = ignore) -> Compared:
    """What other sizes would give, and what other methods say of the prediction, at the size that is shown."""
    asked, own = _asked(request), optimised(request)
    key = (asked, tuple(methods))
    found = _COMPARED.get(key)
    if found is None:
        beside = [_beside(request, method) for method in methods]
        known = [_known_beside(each.request) for each in beside]
        found = _COMPARED.put(
            key,
            jobs.call(
                tasks.compare,
                asked,
                _to_send(own),
                beside,
                known,
                key=key,
                priority=Priority.BELOW,
                on_progress=on_progress,
            ),
        )
        for each, timed in zip(beside, found.others, strict=True):
            _BASELINES.put(each.request, timed)
    return found


def _beside(request: Request, method: str) -> Beside:
    """Another method on the same edges, in the core's own terms; K_M is read off afterwards."""
    key = replace(_cache_key(request), method=method)
    asked = in_core_terms(replace(key, config=replace(key.config, k_m=1)))
    model = model_for(asked, asked.method) or request.model  # the core says what that one lacks
    return Beside(method, replace(asked, model=model))


def _known_beside(asked: Request) -> Timed | None:
    """What is known of a method beside the main picture."""
    known = _BASELINES.get(asked) or _FOUND.get(_cache_key(asked))
    return known and _to_send(known)


def _to_send(timed: Timed) -> Timed:
    """Without what only a replay needs, which is nearly all of it."""
    return replace(timed, explanation=replace(timed.explanation, history={}, snapshots=()))


def try_starts(request: Request, on_progress: Progress = ignore) -> Agreement:
    """Explains the same target from other starts and compares what each would show; another size needs no other run."""
    asked, own, key = _asked(request), optimised(request), _cache_key(request)
    known = _AGREEMENTS.get(asked)
    if known is None:
        others, known = jobs.call(
            tasks.try_starts,
            asked,
            _to_send(own).explanation,
            _STARTS.get(key),
            key=asked,
            priority=Priority.BACKGROUND,
            on_progress=on_progress,
        )
        _STARTS.put(key, others)
        _AGREEMENTS.put(asked, known)
    return known


def agreement_of(request: Request) -> Agreement | None:
    """How much the G_S of other starts overlap with what is shown; None until they were tried."""
    return _AGREEMENTS.get(_asked(request))
