"""Why this class and why not that one: two explanations of one target on one drawing, and what they share."""

from dataclasses import dataclass, replace

from dashboard.jobs import Priority
from dashboard.schema import NOT_ENOUGH, Request, judged
from dashboard.services.answer import Answer, ask, explain, known_answer
from dashboard.services.explanations import Progress, ignore
from dashboard.services.pictures import Drawn

CLOSE = 60  # so many of the nearest nodes are drawn: two pictures stand side by side


@dataclass(frozen=True, eq=False)
class Both:
    """The explanation of the predicted class, and that of another."""

    why: Answer
    why_not: Answer

    @property
    def drawing(self) -> Drawn:
        """One for both: it depends on the target only."""
        return self.why.question.drawing

    @property
    def shared(self) -> set[tuple[int, int]]:
        """The edges that both keep."""
        return set(self.why.explanation.subgraph().edges) & set(self.why_not.explanation.subgraph().edges)

    @property
    def level(self) -> str:
        """How far the part that speaks best for the other class carries it."""
        verdict = judged(self.why_not.explanation)
        return verdict.level if verdict.keeps_class else NOT_ENOUGH


def why_and_why_not(request: Request, other: int, on_progress: Progress = ignore) -> Both:
    questions = [ask(each, near=CLOSE) for each in _requests(request, other)]
    why, why_not = (known_answer(each) or explain(each, on_progress, Priority.PICTURE) for each in questions)
    return Both(why, why_not)


def _requests(request: Request, other: int) -> tuple[Request, Request]:
    return replace(request, target_class="predicted"), replace(request, target_class=other)
