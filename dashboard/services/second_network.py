"""The same target under a second network of the same data: which there are, its answer, and both on one layout."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.jobs import Priority
from dashboard.services.answer import Answer, ask, explain, known_answer
from dashboard.services.catalogue import Card, cards_of
from dashboard.services.explanations import Progress, ignore
from dashboard.services.pictures import NEAR, Drawn, node_colours, tip_of
from dashboard.tasks.subjects import graph_of


@dataclass(frozen=True)
class SharedParts:
    """How much two explanations of one target have in common."""

    pairs: frozenset[tuple[int, int]]  # the edges of both
    of: int  # edges that either of them keeps

    @property
    def edges(self) -> int:
        return len(self.pairs)


def other_networks(card: Card) -> list[Card]:
    """The other networks of the same data for the same task."""
    return [each for each in cards_of(card.dataset) if each.task == card.task and each.model != card.model]


def explain_under(
    answer: Answer,
    model: str,
    colour: str,
    *,
    everything: bool = False,
    near: int = NEAR,
    on_progress: Progress = ignore,
) -> Answer:
    """The answer of another network to the same question: the same settings, K_M settled in the same way."""
    question = ask(replace(answer.request, model=model), colour, everything=everything, near=near)
    return known_answer(question) or explain(question, on_progress, Priority.BELOW)


def on_one_layout(answers: Sequence[Answer], colour: str) -> list[Drawn]:
    """Each answer's drawing with all nodes in the same places: those of the first that shows what both keep.

    Networks may look differently far, and each has predictions of its own, which nodes are coloured by.
    """
    kept = {node for answer in answers for node in answer.explanation.subgraph().nodes}
    drawings = [answer.question.drawing for answer in answers]
    base = max(drawings, key=lambda drawing: len(kept & set(drawing.picture.nodes)))  # of equals the first
    return [_redrawn(base, answer, colour) for answer in answers]


def _redrawn(base: Drawn, answer: Answer, colour: str) -> Drawn:
    request, picture = answer.request, base.picture
    shown = answer.explanation.positions(base.pairs, strict=False)
    if request.kind == "node":
        colours, shapes = node_colours(request.dataset, request.model, picture.nodes, colour)
        graph = graph_of(request)
        tips = tuple("\n".join(tip_of(request, graph, node)) for node in picture.nodes)
        picture = replace(picture, colours=colours, shapes=shapes, tips=tips)
    return replace(base, picture=picture, shown=shown)


def shared_parts(one: Answer, other: Answer) -> SharedParts:
    kept, others = (set(each.explanation.subgraph().edges) for each in (one, other))
    return SharedParts(frozenset(kept & others), len(kept | others))
