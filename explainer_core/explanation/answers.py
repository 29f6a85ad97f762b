"""What a model has said of parts of one computation graph, so that it is asked about each of them once."""

from collections.abc import Sequence

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
        alone = _Side(self.alone, [(question, question.alone) for _, question in asked])
        without = _Side(self.without, [(question, question.without) for _, question in asked])
        alone_found, without_found = judge.both(alone.unknown, without.unknown)
        both = zip(alone.answers(alone_found), without.answers(without_found), strict=True)
        return [Answer(*answers) for answers in both]


class _Side:
    """The rows of some questions, alone or without them, by the names of their parts."""

    def __init__(self, known: dict[bytes, np.ndarray], asked: Sequence[tuple[Question, np.ndarray]]):
        self.known, self.names, self.new = known, [question.names(rows) for question, rows in asked], {}
        wide = []
        for (question, rows), names in zip(asked, self.names, strict=True):
            fresh = {name: i for i, name in enumerate(names) if name not in known and name not in self.new}
            self.new |= dict.fromkeys(fresh)
            if fresh:
                wide.append(question.over_pairs(rows[list(fresh.values())]))
        self.unknown = [(0, np.concatenate(wide))] if wide else []  # what the judge is asked: all are about its first

    def answers(self, found: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What is said of each question's rows, once the judge has said it of those that are new."""
        for answers in found:
            self.known |= zip(self.new, answers, strict=True)
        return [np.array([self.known[name] for name in names]) for names in self.names]
