"""Explanations: learnt while one watches, the baselines beside them, and how far each can be trusted."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import explainer_core as xc
from dashboard.compute.catalogue import all_cards
from dashboard.compute.requests import Request, asked_class, graph_of, network, skeleton, subject
from dashboard.compute.shelf import Shelf
from explainer_core import ExplainConfig, Explanation
from explainer_core.metrics import Faithfulness, edge_auc, faithfulness, stability
from explainer_core.trust import Trust, flips, trust, with_size

STABILITY_SEEDS = 10
WATCHED = 30  # how often a run reports while it learns
# Read off a finished run without learning anything again, so they are no part of what it is filed under.
READ_OFF = ("k_m", "k_m_unit", "k_f", "connected", "refine")

_LEARNT: Shelf["Timed"] = Shelf(32)
_BASELINES: Shelf["Timed"] = Shelf(128)
_SIZED: Shelf[Explanation] = Shelf(64)
_SCORES: Shelf[tuple] = Shelf(128)
_TRUST: Shelf[Trust] = Shelf(64)


@dataclass(frozen=True)
class Timed:
    """An explanation and the seconds it took."""

    explanation: Explanation
    seconds: float


@dataclass(frozen=True)
class Step:
    """How far a run is, and its mask so far in the order of the skeleton's edges."""

    number: int
    total: int
    edge_weight: np.ndarray


@dataclass(frozen=True)
class Scores:
    """How good one explanation is; `auc` is None where no ground truth is known."""

    method: str
    seconds: float
    auc: float | None
    judged: Faithfulness


@dataclass(frozen=True)
class Stability:
    """How much the seeds agree, and the pairs on which they do not."""

    share: float
    seeds: int
    flips: tuple[tuple[int, int], ...]


def _filed(request: Request) -> Request:
    """The request without what is read off afterwards."""
    default = ExplainConfig()
    plain = {name: getattr(default, name) for name in READ_OFF} | {"refine": False}
    return replace(request, config=replace(request.config, **plain), target_class=asked_class(request))


def is_learnt(request: Request) -> bool:
    return _LEARNT.find(_filed(request)) is not None


def learn(request: Request) -> Iterator[Step]:
    """Runs GNNExplainer and files the result at the end; leaving the loop leaves nothing behind."""
    filed = _filed(request)
    whole, target = subject(filed)
    model, config = network(filed.dataset, filed.model), filed.config
    every = max(1, config.steps // WATCHED)
    began, last = time.perf_counter(), None
    for last in xc.explain_steps(model, whole, target, config, target_class=filed.target_class, every=every):
        yield Step(last.number, config.steps, last.edge_weight)
    explanation = last.explanation()
    _LEARNT.keep(filed, Timed(explanation, time.perf_counter() - began))


def learnt(request: Request) -> Timed:
    """The finished run, cut to the request's K_M; learns it now if it has left the shelf."""
    filed = _filed(request)
    timed = _LEARNT.find(filed)
    if timed is None:
        for _ in learn(request):
            pass
        timed = _LEARNT.find(filed)
    return Timed(
        _SIZED.find_or_make(replace(request, target_class=filed.target_class), lambda: _sized(request, timed)),
        timed.seconds,
    )


def _sized(request: Request, timed: Timed) -> Explanation:
    config, whole = request.config, subject(request)[0]
    raw = replace(timed.explanation, config=replace(timed.explanation.config, refine=config.refine, k_f=config.k_f))
    return with_size(
        network(request.dataset, request.model),
        whole,
        raw,
        config.k_m,
        k_m_unit=config.k_m_unit,
        connected=config.connected,
    )


def attention_model(request: Request) -> str | None:
    """The data set's GAT for the same task, or None."""
    own = network(request.dataset, request.model).spec
    fitting = [
        card.model
        for card in all_cards()
        if card.dataset == request.dataset and card.architecture.get("kind") == "gat" and card.task == own.task
    ]
    return request.model if own.kind == "gat" else next(iter(fitting), None)


def methods_for(request: Request) -> tuple[str, ...]:
    """The methods that can explain this prediction."""
    without = () if attention_model(request) else ("attention",)
    return tuple(name for name in xc.METHODS if name not in without)


def said_by(request: Request, method: str) -> Timed:
    """What a method says of the prediction; all of them speak of the same edges."""
    return learnt(request) if method == "gnnexplainer" else baseline(request, method)


def baseline(request: Request, method: str) -> Timed:
    """Another method's explanation of the same prediction, on the same edges."""
    filed = _filed(request)
    timed = _BASELINES.find_or_make((filed, method), lambda: _explained_by(filed, method))
    config = replace(request.config, refine=False)
    return replace(timed, explanation=replace(timed.explanation, config=config))


def _explained_by(request: Request, method: str) -> Timed:
    whole, target = subject(request)
    model = attention_model(request) if method == "attention" else request.model
    began = time.perf_counter()
    found = xc.explain(
        network(request.dataset, model), whole, target, request.config, method, target_class=request.target_class
    )
    seconds = time.perf_counter() - began
    return Timed(_on_edges_of(skeleton(request), found) if model != request.model else found, seconds)


def _on_edges_of(bones: Explanation, other: Explanation) -> Explanation:
    """Another network's weights on the computation graph of the one that is explained: it may be deeper or less deep."""
    keys = zip(other.edge_part.tolist(), other.edge_ids.tolist(), strict=True)
    weight = dict(zip(keys, other.edge_weight.tolist(), strict=True))
    wanted = zip(bones.edge_part.tolist(), bones.edge_ids.tolist(), strict=True)
    return replace(
        bones,
        method=other.method,
        explained_class=other.explained_class if other.explained_class is not None else None,
        edge_weight=np.array([weight.get(key, 0.0) for key in wanted]),
        feature_weight=other.feature_weight,
    )


def all_scores(request: Request, explanations: Sequence[tuple[str, Timed]]) -> list[Scores]:
    """Each method's score, all judged in one pass by the network that is explained."""
    key = (request, tuple(method for method, _ in explanations))
    return list(_SCORES.find_or_make(key, lambda: tuple(_scores(request, explanations))))


def _scores(request: Request, explanations: Sequence[tuple[str, Timed]]) -> list[Scores]:
    whole, own = subject(request)[0], learnt(request).explanation
    # attention looks at no class, and in another network: all are judged by the class that is asked about
    asked = {"explained_class": own.explained_class, "predicted_class": own.predicted_class}
    found = [replace(timed.explanation, **asked) for _, timed in explanations]
    judged = faithfulness(network(request.dataset, request.model), whole, found)
    return [
        Scores(method, timed.seconds, _auc(request, each), verdict)
        for (method, timed), each, verdict in zip(explanations, found, judged, strict=True)
    ]


def _auc(request: Request, explanation: Explanation) -> float | None:
    if graph_of(request).edge_motif is None:
        return None
    area = edge_auc(subject(request)[0], [explanation])
    return None if math.isnan(area) else area


def trust_of(request: Request) -> Trust:
    """Whether the kept subgraph carries the prediction, for every size, and what the empty graph would say."""
    explanation, whole = learnt(request).explanation, subject(request)[0]
    model = network(request.dataset, request.model)
    return _TRUST.find_or_make(request, lambda: trust(model, whole, explanation, request.config.k_m))


def seeded(request: Request) -> Request:
    """The same request run from several starts, to see whether they agree."""
    seeds = request.config.seeds if request.config.seeds > 1 else STABILITY_SEEDS
    return replace(request, config=replace(request.config, seeds=seeds))


def stability_of(request: Request) -> Stability:
    """How stable the kept edges are over seeds; each seed is cut as it was learnt."""
    unrefined = replace(request, config=replace(request.config, refine=False))
    explanation = learnt(seeded(unrefined)).explanation
    k_m = request.config.k_m
    return Stability(stability(explanation, k_m), seeded(request).config.seeds, tuple(sorted(flips(explanation, k_m))))


def clear() -> None:
    """Forgets everything; tests start from nothing."""
    for shelf in (_LEARNT, _BASELINES, _SIZED, _SCORES, _TRUST):
        shelf.clear()
