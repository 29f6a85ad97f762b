"""The cases of "Find the bug" in words: the complaint, hints one by one, and the solution."""

from dataclasses import dataclass

from dashboard.schema import Card
from dashboard.view.explanation_text import percent

PATTERNS = "What do these mistakes have in common?"


@dataclass(frozen=True)
class CaseText:
    """What is said of one case. `{train}`, `{test}` and `{where}` are filled in."""

    complaint: str
    hints: tuple[str, ...]
    planted: str
    shown_by: str
    repair: str


CASES = {
    "case_1": CaseText(
        complaint="{train} right in training, {test} on the test nodes.",
        hints=(
            "Compare the parts of the split: something that helps in training does not help elsewhere.",
            "Look at one confident mistake: does the cause name edges or features?",
            f"Open the test part and click “{PATTERNS}” What does the first pattern say about training?",
        ),
        planted="“{where}” was set from the class in every training node, and by chance in all others: a leaked feature.",
        shown_by="The first pattern: in training “{where}” alone tells the class, and in these mistakes it tells the wrong one.",
        repair="Leave the column out, or fill it in the same way for all nodes, and train again.",
    ),
    "case_2": CaseText(
        complaint="{train} right in training, {test} on the test nodes, and one class is hardly ever found.",
        hints=(
            "Which class is missed in the test part? In training it is not.",
            "Choose the training part and look at a right prediction of that class: what does it rest on?",
            f"Click “{PATTERNS}” on the test part: what do training nodes of that class have that these have not?",
        ),
        planted="Node {where} was joined to every training node of one class, and to no other node: a spurious hub.",
        shown_by="The first pattern: in training an edge to node {where} alone tells the class, and these mistakes lack that edge.",
        repair="Delete the node or its edges, and train again.",
    ),
    "case_3": CaseText(
        complaint="{test} right on the test nodes and {train} in training, where 97\u00a0% are usual for such data.",
        hints=(
            "All classes and all parts of the split suffer alike: it is not the split.",
            "Sort the list of mistakes by number.",
            f"Click “{PATTERNS}” and read where the numbers lie.",
        ),
        planted="The edges of nodes {where} lead to nodes drawn by chance: a file was joined in the wrong order.",
        shown_by="The first pattern: the numbers of these mistakes are {where}, a tenth of all nodes with most of the mistakes.",
        repair="Read the edges of that stretch again, and train again.",
    ),
    "case_4": CaseText(
        complaint="{train} right in training, {test} on the test molecules.",
        hints=(
            "Look at one confident mistake: which atom does the prediction rest on?",
            "In What if, change that atom to a hydrogen and watch the bars.",
            f"Click “{PATTERNS}” What do all training mutagens have?",
        ),
        planted="Every training mutagen was given a chlorine ({where}), and no other training molecule has one.",
        shown_by="The first pattern: in training {where} alone tells “mutagen”, and in these mistakes it tells the wrong class.",
        repair="Train with molecules in which {where} says nothing about the class.",
    ),
}


def complaint(card: Card) -> str:
    return CASES[card.dataset].complaint.format(train=_share(card.train_accuracy), test=_share(card.test_accuracy))


def solution(card: Card, where: str) -> tuple[tuple[str, str], ...]:
    """What was planted, what shows it and how it is repaired, each under its heading."""
    text = CASES[card.dataset]
    said = (("What was planted", text.planted), ("What shows it", text.shown_by), ("How to repair it", text.repair))
    return tuple((heading, words.format(where=where)) for heading, words in said)


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value).replace(".0\u00a0%", "\u00a0%")
