"""One question of the page and its one answer: everything that is shown of a prediction, each part asked for once.

It comes in steps, so that the page never waits for what it does not show yet. A Question is known in milliseconds;
`explain` gives its Answer, with progress meanwhile; `compare` what stands below it; `try_starts` whether other starts agree.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dashboard.jobs import Priority
from dashboard.schema import CHANCE_METHOD, Request, Scores, TargetFacts
from dashboard.services import explanations
from dashboard.services.explanations import Progress, ignore
from dashboard.services.methods import is_borrowed, methods_for
from dashboard.services.pictures import NEAR, Drawn, drawn
from dashboard.services.predict import size_of, target_facts
from dashboard.tasks.subjects import computation_graph, subject
from explainer_core import Explanation
from explainer_core.explanation.comparing import ranks
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.trust import Agreement, Trust
from explainer_core.explanation.verdict import Verdict


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
    borrowed: bool = False  # weights of another network than the one that is explained


@dataclass(frozen=True, eq=False)
class Comparison:
    """What stands below the main picture: what speaks for it, and other methods on the same edges and of the same size."""

    trust: Trust
    others: tuple[MethodAnswer, ...]  # those that were chosen
    ranked: tuple[
        tuple[int, MethodAnswer], ...
    ]  # with what is shown and chance among them, the best first; equals share a rank


@dataclass(frozen=True, eq=False)
class Answer:
    """Why the prediction is what it is: the main picture's explanation with its verdict and its scores."""

    question: Question
    own: MethodAnswer
    sizes: tuple[tuple[Subgraph, Verdict], ...]  # G_S of every size from 1 on, as choosing that size gives it
    auto: int  # the size among them that "auto" finds

    @property
    def request(self) -> Request:
        return self.question.request

    @property
    def facts(self) -> TargetFacts:
        return self.question.facts

    @property
    def explanation(self) -> Explanation:
        return self.own.explanation

    @property
    def agreement(self) -> Agreement | None:
        """How much other starts agree; None until all of them were tried."""
        return explanations.agreement_of(self.request)


def ask(request: Request, colour: str = "predicted", *, everything: bool = False, near: int = NEAR) -> Question:
    """What is known of a prediction at once; raises ValueError with one sentence for what cannot be asked."""
    data = subject(request)[0]
    return Question(
        request=request,
        facts=target_facts(request),
        computation=computation_graph(request),
        size=size_of(request),
        drawing=drawn(request, colour, everything=everything, near=near),
        feature_names=tuple(data.feature_names) if data.features_vary else (),
        methods=methods_for(request),
    )


def begun(request: Request) -> AbstractContextManager[None]:
    """The run behind the answer is begun while the page draws what is known at once; it ends with the block."""
    return explanations.begun(request)


def known_answer(question: Question) -> Answer | None:
    """The answer, if nothing has to be optimised for it."""
    return _answer(question) if explanations.is_optimised(question.request) else None


def explain(question: Question, on_progress: Progress = ignore, priority: Priority = Priority.PICTURE) -> Answer:
    """Optimises, and tells how far it is. Raising from there ends the run and leaves nothing behind."""
    explanations.optimise(question.request, on_progress, priority)
    return _answer(question)


def _answer(question: Question) -> Answer:
    request = question.request
    explanation, scores = explanations.optimised(request).explanation, explanations.own_scores(request)
    return Answer(question, MethodAnswer(request.method, explanation, scores), *explanations.sizes_judged(request))


def compare(answer: Answer, methods: Sequence[str], on_progress: Progress = ignore) -> Comparison:
    """Other methods beside the answer, judged in one batch; chance is asked too, as soon as there is anything to compare."""
    asked = tuple(methods) if not methods or CHANCE_METHOD in methods else (*methods, CHANCE_METHOD)
    request, found = answer.request, explanations.compared(answer.request, asked, on_progress)
    others = tuple(
        MethodAnswer(name, timed.explanation, scores, borrowed=is_borrowed(request, name))
        for name, timed, scores in zip(asked, found.others, found.scores, strict=True)
    )
    chosen = tuple(other for other in others if other.method in methods)
    return Comparison(found.trust, chosen, _ranked((answer.own, *others)))


def _ranked(answers: Sequence[MethodAnswer]) -> tuple[tuple[int, MethodAnswer], ...]:
    """The best first; of equals, what is shown first, which is the first that is given."""
    found = zip(ranks([each.scores.score for each in answers]), answers, strict=True)
    return tuple(sorted(found, key=lambda pair: pair[0]))


def try_starts(answer: Answer, on_progress: Progress = ignore) -> None:
    """Explains the same target from other starts; from then on the answer knows their agreement."""
    explanations.try_starts(answer.request, on_progress)
