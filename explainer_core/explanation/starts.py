"""One target explained from several starts at once: what does not depend on the start is done once.

All masks are optimised in one batch. A search begins with proposals that are the same from every start, so that what it
has found by then is handed on; from there all go on side by side, and the model is asked about a part only once.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from torch import Tensor

from explainer_core.config import ExplainConfig
from explainer_core.explanation.answers import Answers
from explainer_core.explanation.explain_batch import ExplainBatch
from explainer_core.explanation.judging import Judge
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.search import ROUNDS, Search
from explainer_core.explanation.verdict import Judged
from explainer_core.explanation.verifying import asked_of, run_together, with_verdicts
from explainer_core.methods.objective import Weights
from explainer_core.methods.runs import Runs

WATCHED = 5  # steps of the masks between two reports
LEARNT = 0.5  # the share of the work that is done once the masks are optimised
ASKED = 2 * (2 * (1 + ROUNDS) + 1)  # batches that the model is asked about at most: both sides of every round, twice
FROM_EDGES = ("_numbered_pairs", "pair_hops", "edges_at")  # of an explanation, whatever its weights


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
        begun, beside = self._begun(), dict[str, Tensor]()
        found: list[Explanation] = []
        for first in range(0, len(self.first_seeds), self.together):
            some = self.first_seeds[first : first + self.together]
            runs = Runs(self._seeds_of(some), self.batch.masks_beside if begun is None and not first else {})
            objective = runs.of(self.batch.objective)
            learnt = None
            if self.batch.method.steps is None:
                learnt = self.batch.method(objective)
            else:
                for step in self.batch.method.steps(objective, WATCHED):
                    learnt = step.weights
                    done = first + len(some) * step.number / objective.config.steps
                    yield LEARNT * min(1.0, done / len(self.first_seeds))
            assert learnt is not None  # a run has at least one step
            learnt = runs.own(learnt)
            beside |= learnt.proposals
            found += self._explanations(some, learnt)
        _share_edges(found)
        judge = Judge(self.batch.objective.model, self.batch.data, found[:1])
        answers = Answers() if self.answers is None else self.answers
        if self.batch.method.verifies:
            found = yield from self._verifying(judge, answers, found, begun, beside)
            _share_edges(found)
        return with_verdicts(judge, found, answers)

    def _seeds_of(self, first_seeds: Sequence[int]) -> list[int]:
        """The seed of every run, start by start."""
        return [first + run for first in first_seeds for run in range(self.seeds)]

    def _begun(self) -> Search | None:
        """The search of the same target from another start as it has begun, where it was one with the same settings."""

        def read_off(config: ExplainConfig) -> ExplainConfig:
            return replace(config, k_m=1, k_m_unit="nodes", k_f=1, seed=0, features="none")

        begun = None if self.answers is None else self.answers.begun
        if begun is None:
            return None
        of, batch = begun.explanation, self.batch
        same = (of.method, of.explained_class) == (batch.method.name, batch.explained[0])
        return begun if same and read_off(of.config) == read_off(batch.objective.config) else None

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

    def _verifying(
        self,
        judge: Judge,
        answers: Answers,
        found: list[Explanation],
        begun: Search | None,
        beside: dict[str, Tensor],
    ) -> Generator[float, None, list[Explanation]]:
        steady = self._steady_proposals(found[0], beside) if begun is None else {}
        searches: list[Search] = []
        for explanation in found:
            own = {self.batch.own_proposal: explanation.undirected(explanation.edge_weight)[1]}
            sibling = begun or next(iter(searches), None)
            settings = {"exchanges": explanation.config.refine, "cost": judge.cost(0), "sibling": sibling}
            searches.append(Search(explanation, own | steady, asked_of(found[0]), steady=tuple(steady), **settings))
        rounds = 0
        tables: list[tuple[Judged, ...]] = []
        for stage in _stages(searches, begun):
            steps = run_together(stage, partial(answers.ask, judge))
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    tables = end.value
                    break
                rounds += 1
                yield LEARNT + (1 - LEARNT) * min(1.0, rounds / ASKED)
        return [replace(e, table=table) for e, table in zip(found, tables, strict=True)]

    def _steady_proposals(self, explanation: Explanation, beside: dict[str, Tensor]) -> dict[str, np.ndarray]:
        """What each proposal that no start decides says of every undirected pair, by name."""
        steady = {}
        for name, edge in self.batch.steady_proposals(beside).items():
            (column,) = self.batch.by_target(edge)
            steady[name] = explanation.undirected(column)[1]
        return steady


def _stages(searches: Sequence[Search], begun: Search | None) -> Iterator[list]:
    """What runs side by side, one stage after another: the beginning is the same for all, and is made once."""
    first = searches[0] if begun is None else begun
    if begun is None:
        yield [first.begin()]
    yield [search.begin() for search in searches if search is not first and not search.begin_as(first)]
    yield [search.end() for search in searches]


def _share_edges(found: Sequence[Explanation]) -> None:
    """What follows from the edges of explanations that have the same ones is worked out once."""
    shared = {name: getattr(found[0], name) for name in FROM_EDGES}
    for each in found[1:]:
        vars(each).update(shared)
