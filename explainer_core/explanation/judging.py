"""What a model says of hard parts of a graph: a part alone, and the graph without it.

The protocol, the same wherever a part is judged. Of a node or a link, the messages along all other edges fall silent;
every node keeps its own features and its degree in the whole graph. Of a whole graph, a part is a graph of its own: the
nodes outside it are outside the readout, and degrees are its own. Without a part, its edges are gone, and from a whole
graph also the nodes that lose all their edges.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from explainer_core.adapters import as_model
from explainer_core.explanation import cutting
from explainer_core.explanation.cutting import Subject
from explainer_core.explanation.parts import Parts, Piece, joined
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.frozen import frozen_eval_copy
from explainer_core.models.protocol import Model, offers
from explainer_core.targets import TASKS

WIDE = 32  # feature values that cost as much as an edge
CHANGING = 6  # of so many edges one is looked at again, where only what changes is worked out anew


class Judge:
    """Asks a model about parts of the computation graphs of some explanations, many in one pass.

    A part is a row of booleans over an explanation's undirected pairs.
    """

    def __init__(self, model: Model, data: Graph | GraphSet, explanations: Sequence[Explanation]):
        task = TASKS[type(explanations[0].target)] if explanations else None
        self.model = frozen_eval_copy(as_model(model, data, task))
        self.subjects = [Subject(self.model, data, explanation) for explanation in explanations]

    def alone(self, asked: Sequence[tuple[int, np.ndarray]]) -> list[np.ndarray]:
        """What the model says of each row of each matrix (rows, pairs), given with the number of its explanation: (rows, C)."""
        return self._answers([self.subjects[i].alone(rows) for i, rows in asked])

    def without(self, asked: Sequence[tuple[int, np.ndarray]]) -> list[np.ndarray]:
        """The same of what is left without them."""
        return self._answers([self.subjects[i].without(rows) for i, rows in asked])

    def both(
        self, alone: Sequence[tuple[int, np.ndarray]], without: Sequence[tuple[int, np.ndarray]]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """`alone` of the ones and `without` of the others, in the same passes: few wide ones cost less than many narrow ones."""
        found = self._answers(
            [self.subjects[i].alone(rows) for i, rows in alone]
            + [self.subjects[i].without(rows) for i, rows in without]
        )
        return found[: len(alone)], found[len(alone) :]

    @torch.no_grad()
    def _answers(self, wanted: "Sequence[Iterator[Piece]]") -> list[np.ndarray]:
        """Everything in as few passes as memory allows, handed out to those who asked."""
        found: list[list[np.ndarray]] = [[] for _ in wanted]
        for batch in _batches((i, piece) for i, pieces in enumerate(wanted) for piece in pieces):
            answers = _probabilities(joined(self.model, [piece for _, piece in batch]).logits())
            for (i, _), part in zip(
                batch, np.split(answers, np.cumsum([piece.count for _, piece in batch])[:-1]), strict=True
            ):
                found[i].append(part)
        return [np.concatenate(parts) if parts else np.empty((0, 0)) for parts in found]

    def cost(self, i: int) -> int:
        """About how many edges the model looks at to say what is left of an explanation's graph without a part."""
        subject = self.subjects[i]
        edges, values = subject.ends.shape[1], subject.x.numel() // WIDE
        return edges // CHANGING if subject.task != "graph" and offers(self.model, "delta") else max(edges, values)

    def nodes_alone(self, i: int) -> int:
        """How many nodes the model is given with an explanation's G_S alone: all, where silent edges have to stay."""
        subject = self.subjects[i]
        stays = subject.task != "graph" and not subject.local
        return len(subject.explanation.nodes if stays else subject.explanation.subgraph().nodes)

    def parts(self, rows: Sequence[np.ndarray]) -> list[Parts]:
        """One part of each explanation, ready to be run with other features, in as few batches as can be."""
        pieces = ((0, p) for subject, row in zip(self.subjects, rows, strict=True) for p in subject.alone(row[None]))
        return [self._alone_parts([piece for _, piece in batch]) for batch in _batches(pieces)]

    def copies(self, asked: Sequence[tuple[int, np.ndarray, int]]) -> Iterator[Parts]:
        """One part of each of these explanations so many times over, one after another, to be run with other features; in as few
        batches as memory allows."""
        pieces = (
            (0, piece)
            for i, row, times in asked
            for piece in self.subjects[i].alone(np.repeat(row[None], times, axis=0))
        )
        return (self._alone_parts([piece for _, piece in batch]) for batch in _batches(pieces))

    def _alone_parts(self, pieces: Sequence[Piece]) -> Parts:
        return cast(Parts, joined(self.model, pieces))  # only what is left without a part may be Changed


def edge_rows(explanation: Explanation, edges: Sequence[Sequence[tuple[int, int]]]) -> np.ndarray:
    """Sets of edges as rows of booleans over the explanation's undirected pairs: (sets, u)."""
    rows = np.zeros((len(edges), len(explanation.pairs)), dtype=bool)
    of_row = np.repeat(np.arange(len(edges)), [len(some) for some in edges])
    rows[of_row, explanation.positions([edge for some in edges for edge in some])] = True
    return rows


def _probabilities(logits: Tensor) -> np.ndarray:
    return logits.cpu().double().softmax(-1).numpy()  # in float32 a sure class rounds to one; mps has no float64


def _batches(pieces: Iterable[tuple[int, Piece]]) -> Iterator[list[tuple[int, Piece]]]:
    """Runs of pieces of about cutting.BATCH_EDGES, each with who asked; one that must stay in its place comes alone."""
    batch, size = [], 0
    for asker, piece in pieces:
        cost = max(piece.ends.shape[1], len(piece.part))
        if batch and (size + cost > cutting.BATCH_EDGES or piece.in_place or batch[-1][1].in_place):
            yield batch
            batch, size = [], 0
        batch.append((asker, piece))
        size += cost
    if batch:
        yield batch
