"""One target explained from several starts at once: what does not depend on the start is done once.

All masks are optimised in one batch. A search begins with proposals that are the same from every start, so that what it
has found by then is handed on; from there all go on side by side, and the model is asked about a part only once.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from explainer_core.explanation.answers import Answers
from explainer_core.explanation.explain_batch import ExplainBatch
from explainer_core.explanation.judging import Judge
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.search import ROUNDS, Search
from explainer_core.explanation.verdict import Judged
from explainer_core.explanation.verifying import asked_of, run_together, with_verdicts
from explainer_core.methods.method import Method
from explainer_core.methods.objective import Weights

WATCHED = 5  # steps of the masks between two reports
LEARNT = 0.5  # the share of the work that is done once the masks are optimised
ASKED = 2 * (2 * (1 + ROUNDS) + 1)  # batches that the model is asked about at most: both sides of every round, twice
FROM_EDGES = ("_numbered_pairs", "pair_positions", "pair_hops", "edges_at")  # of an explanation, whatever its weights


def can_share(method: Method, explanation: Explanation) -> bool:
    """Not where each start has a sample of its own, nor where a method cannot tell its proposals apart."""
    split = method.propose_steady is not None and method.propose_by_chance is not None
    return not explanation.sampled and (split or not method.verifies)


@dataclass(frozen=True)
class Starts:
    """The target of a batch of one, and the seeds that its other starts begin with."""

    batch: ExplainBatch
    first_seeds: Sequence[int]
    seeds: int  # runs that each start averages
    together: int  # starts whose masks are optimised in one batch
    answers: Answers | None = None  # what the model was asked before

    def explaining(self) -> Generator[float, None, list[Explanation]]:
        """The explanations, each what it would be alone, without features; yields the share that is done."""
        found: list[Explanation] = []
        for first in range(0, len(self.first_seeds), self.together):
            some = self.first_seeds[first : first + self.together]
            weights = self._many(some, self.seeds)
            objective = replace(self.batch.objective.repeated(len(some) * self.seeds), seeds=weights)
            learnt = None
            if self.batch.method.steps is None:
                learnt = self.batch.method(objective)
            else:
                for step in self.batch.method.steps(objective, WATCHED):
                    learnt = step.weights
                    done = first + len(some) * step.number / objective.config.steps
                    yield LEARNT * min(1.0, done / len(self.first_seeds))
            assert learnt is not None  # a run has at least one step
            found += self._explanations(some, learnt)
        _share_edges(found)
        judge = Judge(self.batch.objective.model, self.batch.data, found[:1])
        if self.batch.method.verifies:
            found = yield from self._verifying(judge, found)
            _share_edges(found)
        judge.subjects *= len(found)  # they have the same edges, and so the same parts
        return with_verdicts(judge, found)

    def _many(self, first_seeds: Sequence[int], runs: int) -> Tensor:
        """The seed of every run, start by start: (starts * runs,)."""
        seeds = torch.tensor(first_seeds, device=self.batch.objective.goal.device)
        return (seeds.unsqueeze(1) + torch.arange(runs, device=seeds.device)).flatten()

    def _explanations(self, first_seeds: Sequence[int], weights: Weights) -> list[Explanation]:
        starts, masked = len(first_seeds), None
        if self.batch.method.mask:
            masked = self.batch.masked_probabilities(weights, self.seeds, starts)  # (starts, C)
        edge = weights.edge.view(-1, starts, self.seeds)
        feature, steps = weights.feature, weights.steps
        found = []
        for i, seed in enumerate(first_seeds):
            of_start = Weights(
                edge[:, i].flatten(),
                None if feature is None else feature.view(starts, -1, feature.shape[1])[i],
                steps=None if steps is None else steps.view(starts, -1)[i],
            )
            row = None if masked is None else masked[i : i + 1]
            (explanation,) = self.batch.explanations(of_start, self.seeds, masked=row)
            found.append(replace(explanation, config=replace(explanation.config, seed=seed)))
        return found

    def _verifying(self, judge: Judge, found: list[Explanation]) -> Generator[float, None, list[Explanation]]:
        ask = partial((Answers() if self.answers is None else self.answers).ask, judge)
        searches: list[Search] = []
        for explanation, proposals in zip(found, self._proposals(found), strict=True):
            settings = {"exchanges": explanation.config.refine, "cost": judge.cost(0)}
            sibling = searches[0] if searches else None
            searches.append(
                Search(
                    explanation,
                    proposals,
                    asked_of(found[0]),
                    steady=self.batch.method.steady,
                    sibling=sibling,
                    **settings,
                )
            )
        rounds = 0
        tables: list[tuple[Judged, ...]] = []
        for stage in (self._begin_first, self._begin_others, self._end):
            steps = run_together(stage(searches), ask)
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    tables = end.value
                    break
                rounds += 1
                yield LEARNT + (1 - LEARNT) * min(1.0, rounds / ASKED)
        return [replace(e, table=table) for e, table in zip(found, tables, strict=True)]

    @staticmethod
    def _begin_first(searches: Sequence[Search]):
        return [searches[0].begin()]

    @staticmethod
    def _begin_others(searches: Sequence[Search]):
        return [search.begin() for search in searches[1:] if not search.begin_as(searches[0])]

    @staticmethod
    def _end(searches: Sequence[Search]):
        return [search.end() for search in searches]

    def _proposals(self, found: list[Explanation]) -> list[dict[str, np.ndarray]]:
        """What each proposal says of every undirected pair, by name, for each start."""
        method, objective = self.batch.method, self.batch.objective
        assert method.propose_steady is not None  # as can_share has seen
        assert method.propose_by_chance is not None
        steady = {}
        for name, edge in method.propose_steady(objective).items():
            (column,) = self.batch.by_target(edge)
            steady[name] = found[0].undirected(column)[1]
        many = replace(objective.repeated(len(found)), seeds=self._many(self.first_seeds, 1))
        by_chance: list[dict[str, np.ndarray]] = [{} for _ in found]
        for name, edge in method.propose_by_chance(many).items():
            for i, of_start in enumerate(edge.view(-1, len(found)).unbind(1)):
                (column,) = self.batch.by_target(of_start)
                by_chance[i][name] = found[0].undirected(column)[1]
        own = "mask" if method.mask else method.name
        return [
            {own: each.undirected(each.edge_weight)[1]} | steady | drawn
            for each, drawn in zip(found, by_chance, strict=True)
        ]


def _share_edges(found: Sequence[Explanation]) -> None:
    """What follows from the edges of explanations that have the same ones is worked out once."""
    shared = {name: getattr(found[0], name) for name in FROM_EDGES}
    for each in found[1:]:
        vars(each).update(shared)
