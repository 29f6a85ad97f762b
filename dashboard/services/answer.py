"""One question of the page and its one answer: everything that is shown of a prediction, each part asked for once.

It comes in three steps, so that the page never waits for what it does not show yet. A Question is known in
milliseconds; `explain` gives its Answer, with progress meanwhile; what takes longer is worked out by the Answer when the
page comes to it, and kept.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboard.schema import Request, Scores, TargetFacts
from dashboard.services import explanations
from dashboard.services.explanations import Step, Timed
from dashboard.services.methods import methods_for
from dashboard.services.pictures import Drawn, drawn
from dashboard.services.predict import computation_graph, size_of, subject, target_facts
from explainer_core import Explanation
from explainer_core.explanation.trust import Agreement, Trust


@dataclass(frozen=True, eq=False)
class Question:
    """A prediction to explain, and what is known of it before anything is optimised."""

    request: Request
    facts: TargetFacts
    computation: Explanation  # the computation graph and the prediction, with no weights
    size: dict[str, int]  # nodes and undirected edges of the computation graph
    drawing: Drawn
    feature_names: tuple[str, ...]  # none where all nodes have the same features, so that none can tell anything
    methods: tuple[str, ...]  # those that can explain it


@dataclass(frozen=True, eq=False)
class MethodAnswer:
    """What one method says of the prediction, judged by the network that is explained."""

    method: str
    explanation: Explanation
    scores: Scores


@dataclass(frozen=True, eq=False)
class Answer:
    """Why the prediction is what it is: the main picture's explanation with its verdict and its scores."""

    question: Question
    own: MethodAnswer

    @property
    def request(self) -> Request:
        return self.question.request

    @property
    def facts(self) -> TargetFacts:
        return self.question.facts

    @property
    def explanation(self) -> Explanation:
        return self.own.explanation

    @cached_property
    def trust(self) -> Trust:
        """What every other size would give, and what the network says of no edges and of the truth alone."""
        return explanations.trust_of(self.request)

    def beside(self, methods: Sequence[str]) -> tuple[MethodAnswer, ...]:
        """What other methods say, on the same edges and of the same size."""
        found = [(method, explanations.baseline(self.request, method)) for method in methods]
        return _judged(self.request, found)

    @property
    def agreement(self) -> Agreement | None:
        """How much other starts agree; None until all of them were tried."""
        return explanations.agreement_of(self.request)


def ask(request: Request, colour: str = "predicted", *, everything: bool = False) -> Question:
    """What is known of a prediction at once; raises ValueError with one sentence for what cannot be asked."""
    data = subject(request)[0]
    return Question(
        request=request,
        facts=target_facts(request),
        computation=computation_graph(request),
        size=size_of(request),
        drawing=drawn(request, colour, everything=everything),
        feature_names=tuple(data.feature_names) if data.features_vary else (),
        methods=methods_for(request),
    )


def known_answer(question: Question) -> Answer | None:
    """The answer, if nothing has to be optimised for it."""
    return _answer(question) if explanations.is_optimised(question.request) else None


def explain(question: Question) -> Generator[Step, None, Answer]:
    """Optimises, and tells how far it is; returns the Answer. Leaving the loop leaves nothing behind."""
    yield from explanations.optimise(question.request)
    return _answer(question)


def _answer(question: Question) -> Answer:
    request = question.request
    (own,) = _judged(request, [(request.method, explanations.optimised(request))])
    return Answer(question, own)


def _judged(request: Request, found: Sequence[tuple[str, Timed]]) -> tuple[MethodAnswer, ...]:
    scores = explanations.all_scores(request, found)
    return tuple(
        MethodAnswer(method, timed.explanation, each) for (method, timed), each in zip(found, scores, strict=True)
    )
