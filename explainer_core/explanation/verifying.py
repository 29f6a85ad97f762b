"""Explanations checked with the model: hard subgraphs are compared by asking about them, and every one gets its verdict."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from explainer_core.config import AUTO
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.judging import Judge, edge_rows
from explainer_core.explanation.metrics import explained_class
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.search import LARGEST, Search
from explainer_core.explanation.search_state import Answer, Asked, Question
from explainer_core.explanation.verdict import NEARLY, Judged, Verdict, verdict_of
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model


def verifying(
    judge: Judge,
    explanations: Sequence[Explanation],
    proposals: Sequence[dict[str, np.ndarray]],
    steady: Sequence[str] = (),
    answers: Answers | None = None,
) -> Generator[None, None, list[Explanation]]:
    """The explanations with the best hard subgraph of every size that the proposals lead to; yields after every round.

    A proposal is a score for each undirected pair; each explanation has its own, by name. `steady` names those that are
    the same from every start: they decide between equals. `answers` are those to a single explanation's questions, and what
    its search has begun with.
    """
    searches = [
        Search(e, some, asked_of(e), exchanges=e.config.refine, steady=steady, cost=judge.cost(i))
        for i, (e, some) in enumerate(zip(explanations, proposals, strict=True))
    ]
    if answers is None:
        tables = yield from run_together([search.run() for search in searches], partial(answers_of, judge))
    else:
        yield from run_together([search.begin() for search in searches], partial(answers.ask, judge))
        answers.begun = searches[0].begun()
        tables = yield from run_together([search.end() for search in searches], partial(answers.ask, judge))
    return [replace(e, table=table) for e, table in zip(explanations, tables, strict=True)]


def exchanged(model: Model, data: Graph | GraphSet, explanations: Sequence[Explanation]) -> list[Subgraph]:
    """Each explanation's own G_S after the exchanges that `verified` makes, with as many edges: for comparisons."""
    judge = Judge(model, data, explanations)
    found = []
    searches = []
    for i, explanation in enumerate(explanations):
        order = np.zeros(len(explanation.pairs))
        kept = explanation.subgraph()
        order[explanation.positions(kept.edges)] = 1
        scores = explanation.undirected()[1]
        own = {explanation.method: scores + (scores.max(initial=0) + 1) * order}
        asked = asked_of(explanation)
        searches.append(Search(explanation, own, asked, exchanges=True, cost=judge.cost(i)))
    tables = finished(run_together([search.run() for search in searches], partial(answers_of, judge)))
    for explanation, table in zip(explanations, tables, strict=True):
        size = len(explanation.subgraph().edges)
        best = next((judged for judged in table if len(judged.edges) == size), None)
        found.append(explanation.subgraph() if best is None else Subgraph.of(best.edges, explanation.roots))
    return found


def asked_of(explanation: Explanation) -> Asked:
    """The class an explanation is about, and what counts as all of its probability."""
    label = explained_class(explanation)
    full = explanation.probabilities[label]
    return Asked(label, full, full if label == explanation.predicted_class else 1.0)


Result = TypeVar("Result")
Candidates = list[tuple[tuple[tuple[int, int], ...], Judged | None]]  # G_S of some sizes, with what is known of each
Asking = Callable[[Sequence[tuple[int, Question]]], list[Answer]]  # each with the number of the search that asks


def run_together(
    searches: Sequence[Generator[Question, Answer, Result]], ask: Asking
) -> Generator[None, None, list[Result]]:
    """All searches side by side; what they ask at the same time is one batch. Yields after every batch."""
    results: dict[int, Result] = {}
    questions: dict[int, Question] = {}

    def advance(i: int, answer: Answer | None) -> None:
        try:
            questions[i] = next(searches[i]) if answer is None else searches[i].send(answer)
        except StopIteration as done:
            questions.pop(i, None)
            results[i] = done.value

    for i in range(len(searches)):
        advance(i, None)
    while questions:
        asked = list(questions.items())
        for (i, _), answer in zip(asked, ask(asked), strict=True):
            advance(i, answer)
        yield
    return [results[i] for i in range(len(searches))]


def answers_of(judge: Judge, asked: Sequence[tuple[int, Question]]) -> list[Answer]:
    alone = [(i, question.over_pairs(question.alone)) for i, question in asked]
    without = [(i, question.over_pairs(question.without)) for i, question in asked]
    return [Answer(*both) for both in zip(*judge.both(alone, without), strict=True)]


def finished(steps: Generator[object, None, Result]) -> Result:
    """What comes of a run that nobody watches."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def with_verdicts(
    judge: Judge, explanations: Sequence[Explanation], answers: Answers | None = None
) -> list[Explanation]:
    """The explanations with K_M settled where it is "auto", and what the model says of the G_S that is shown. `answers` are
    those about parts of the one computation graph that all of them have."""
    candidates = [_sizes_to_judge(explanation) for explanation in explanations]
    asked = [(i, _about(*each)) for i, each in enumerate(zip(explanations, candidates, strict=True))]
    found = answers_of(judge, asked) if answers is None else answers.ask(judge, asked)
    return [
        _settled(e, _all_judged(e, some, answer), answer.alone[0])
        for e, some, answer in zip(explanations, candidates, found, strict=True)
    ]


def _about(explanation: Explanation, candidates: Candidates) -> Question:
    """What is to be asked about them: no edge at all, and those that the search has not asked about."""
    rows = edge_rows(explanation, [(), *(edges for edges, judged in candidates if judged is None)])
    return Question(rows, rows[1:], np.arange(len(explanation.pairs)), len(explanation.pairs))


def _sizes_to_judge(explanation: Explanation) -> Candidates:
    """The G_S of each size in question, with what is known of it."""
    k_m = explanation.config.k_m
    sizes = [k_m] if isinstance(k_m, int) else sizes_of(explanation)  # "auto" is the only word it may be
    return [(explanation.subgraph(size).edges, explanation.judged(size)) for size in sizes]


def sizes_of(explanation: Explanation, largest: int = LARGEST) -> range:
    """The sizes there are: 1 up to what the computation graph holds, or LARGEST."""
    there = len(explanation.pairs)
    if explanation.config.k_m_unit == "nodes":
        there = len(np.unique(explanation.nodes))  # the two sides of a link share nodes
    return range(1, max(1, min(largest, there)) + 1)


def judged_sizes(
    model: Model, data: Graph | GraphSet, explanation: Explanation, answers: Answers | None = None
) -> tuple[tuple[Subgraph, Verdict], ...]:
    """G_S of every size from 1 on and its verdict: what choosing that K_M gives. What the search has asked the model
    already, or is among the `answers` about this target, is not asked again; the rest is one batch."""
    sizes = range(1, max(sizes_of(explanation)[-1], explanation.size) + 1)
    kept = [explanation.subgraph(size) for size in sizes]
    candidates = [(part.edges, explanation.judged(size)) for size, part in zip(sizes, kept, strict=True)]
    judge, asked = Judge(model, data, [explanation]), [(0, _about(explanation, candidates))]
    (answer,) = (Answers() if answers is None else answers).ask(judge, asked)
    label, full, alone = explained_class(explanation), asked_of(explanation).full, answer.alone[0]
    nothing = {"empty": float(alone[label]), "empty_keeps": int(alone.argmax()) == label}
    verdicts = [verdict_of(each, full=full, **nothing) for each in _all_judged(explanation, candidates, answer)]
    if explanation.verdict is not None:
        verdicts[explanation.size - 1] = explanation.verdict  # one number to the last digit
    return tuple(zip(kept, verdicts, strict=True))


def size_found(explanation: Explanation, sizes: Sequence[tuple[Subgraph, Verdict]]) -> int:
    """What "auto" makes of the sizes that `judged_sizes` gives."""
    some = sizes[: len(sizes_of(explanation))]
    judged = [Judged(kept.edges, each.alone, each.without, each.keeps_class) for kept, each in some]
    return smallest_good(judged, asked_of(explanation))


def _all_judged(explanation: Explanation, candidates: Candidates, answer: Answer) -> list[Judged]:
    """Each candidate with what is known of it, or what was answered: no edge at all first, then those that were asked about."""
    label, asked = explained_class(explanation), iter(zip(answer.alone[1:], answer.without, strict=True))
    found = []
    for edges, judged in candidates:
        if judged is None:
            a, w = next(asked)
            judged = Judged(edges, float(a[label]), float(w[label]), int(a.argmax()) == label, explanation.method)
        found.append(judged)
    return found


def _settled(explanation: Explanation, judged: Sequence[Judged], empty: np.ndarray) -> Explanation:
    label, asked = explained_class(explanation), asked_of(explanation)
    size = explanation.config.k_m
    if size == AUTO:
        size = smallest_good(judged, asked)
        chosen = judged[size - 1]
    else:
        chosen = judged[0]
    verdict = verdict_of(chosen, full=asked.full, empty=float(empty[label]), empty_keeps=int(empty.argmax()) == label)
    return replace(explanation, size=size, verdict=verdict)


def smallest_good(judged: Sequence[Judged], asked: Asked) -> int:
    """The first size whose sufficiency + necessity is within a tenth of the best; they come from size 1 on.

    Where any of them gives the class alone, only those that do are looked at.
    """
    scores = np.array([each.score(asked.full, asked.ceiling) for each in judged])
    keeps = np.array([each.keeps_class for each in judged])
    scores = np.where(keeps | ~keeps.any(), scores, -np.inf)
    best = scores.max()
    return 1 + int((scores >= best - (1 - NEARLY) * abs(best)).argmax())
