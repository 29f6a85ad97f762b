"""What a model has said of parts of one computation graph, so that it is asked about each of them once."""

from collections.abc import Callable, Sequence

import numpy as np

from explainer_core.explanation.judging import Judge
from explainer_core.explanation.search import Search
from explainer_core.explanation.search_state import Answer, Question

ANSWER = 400  # bytes of one, with the part it is about and what a dictionary adds, about
PART = 400  # bytes of a part that a search knows, without its row


class Answers:
    """Whoever explains one target again, from another start, may be given what was answered before."""

    def __init__(self):
        self.alone: dict[bytes, np.ndarray] = {}  # (C,) each
        self.without: dict[bytes, np.ndarray] = {}
        self.begun: Search | None = None  # a search of the target, when it had begun

    def copy(self) -> "Answers":
        copy = Answers()
        copy.alone, copy.without, copy.begun = dict(self.alone), dict(self.without), self.begun
        return copy

    @property
    def nbytes(self) -> int:
        """About how much memory they hold: they are too many to look at each."""
        rows = 0 if self.begun is None else len(self.begun.known) * (PART + len(self.begun.considered))
        return rows + ANSWER * (len(self.alone) + len(self.without))

    def ask(self, judge: Judge, asked: Sequence[tuple[int, Question]]) -> list[Answer]:
        """The answers to questions about one target; the judge is asked about the parts that are new."""
        alone = _answers(self.alone, judge.alone, [(q, q.alone) for _, q in asked])
        without = _answers(self.without, judge.without, [(q, q.without) for _, q in asked])
        return [Answer(*both) for both in zip(alone, without, strict=True)]


def _answers(
    known: dict[bytes, np.ndarray], ask: Callable, asked: Sequence[tuple[Question, np.ndarray]]
) -> list[np.ndarray]:
    names = [question.names(rows) for question, rows in asked]
    new: dict[bytes, None] = {}
    wide = []
    for (question, rows), of_rows in zip(asked, names, strict=True):
        fresh = {name: i for i, name in enumerate(of_rows) if name not in known and name not in new}
        new |= dict.fromkeys(fresh)
        wide.append(question.over_pairs(rows[list(fresh.values())]))
    if new:
        (answers,) = ask([(0, np.concatenate(wide))])
        known |= zip(new, answers, strict=True)
    return [np.array([known[name] for name in of_rows]) for of_rows in names]
