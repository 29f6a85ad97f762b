"""May one believe an explanation: what the model says of other sizes, of the truth alone, and from other starts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explainer_core.config import AUTO
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.features import with_features
from explainer_core.explanation.judging import Judge, edge_rows
from explainer_core.explanation.metrics import Faithfulness, agreement, explained_class, graph_of
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.verifying import sizes_of, with_verdicts
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model
from explainer_core.targets import Node

STARTS = 10


@dataclass(frozen=True)
class SizePoint:
    """What choosing one K_M gives. Probabilities are of the explained class."""

    size: int
    alone: float
    without: float
    keeps_class: bool


@dataclass(frozen=True)
class Trust:
    """What speaks for an explanation and against it. Probabilities are of the explained class.

    If the graph without any edge gets the same class, no edge can be the reason. The motif is the ground truth alone:
    a model that does not know it cannot be asked to show it. None where there is no truth for the target.
    """

    faithfulness: Faithfulness
    curve: tuple[SizePoint, ...]
    empty_class: int
    empty_probability: float
    motif_class: int | None
    motif_probability: float | None


@dataclass(frozen=True)
class Agreement:
    """How much the G_S of other starts overlap: the mean share of edges two have in common, and who keeps what."""

    share: float
    starts: int
    kept_by: dict[tuple[int, int], float]  # the share of the starts that keep a pair

    @property
    def unstable(self) -> tuple[tuple[int, int], ...]:
        """The pairs that some starts keep and others drop."""
        return tuple(sorted(pair for pair, share in self.kept_by.items() if share < 1))


def agreement_of(subgraphs: Sequence[Subgraph]) -> Agreement:
    """How much the G_S of several starts overlap."""
    counts = Counter(edge for subgraph in subgraphs for edge in subgraph.edges)
    kept_by = {edge: count / len(subgraphs) for edge, count in sorted(counts.items())}
    return Agreement(agreement(subgraphs), len(subgraphs), kept_by)


def trust(
    model: Model,
    data: Graph | GraphSet,
    explanation: Explanation,
    k_m: int | None = None,
    *,
    sizes: Sequence[int] | None = None,
) -> Trust:
    """Judges an explanation cut at K_M, its own unless given, in one batch of forward passes.

    The curve covers `sizes`, or 1 up to 30 or all there is, and always K_M: each point is what choosing that K_M gives.
    """
    k_m = explanation.size if k_m is None or k_m == AUTO else k_m
    sizes = sorted({*(sizes_of(explanation) if sizes is None else sizes), k_m})
    rows = edge_rows(explanation, [(), *(explanation.subgraph(size).edges for size in sizes)])
    motif = _motif_row(data, explanation)
    judge = Judge(model, data, [explanation])
    parts = rows if motif is None else np.concatenate([rows, motif[None]])
    (alone,), (without,) = judge.both([(0, parts)], [(0, rows[1:])])
    label = explained_class(explanation)
    curve = tuple(
        SizePoint(size, float(a[label]), float(w[label]), int(a.argmax()) == label)
        for size, a, w in zip(sizes, alone[1 : len(rows)], without, strict=True)
    )
    chosen = curve[sizes.index(k_m)]
    kept = rows[1 + sizes.index(k_m)][explanation.pair_numbers]
    return Trust(
        faithfulness=Faithfulness(
            full=explanation.probabilities[label],
            kept=chosen.alone,
            without=chosen.without,
            keeps_class=chosen.keeps_class,
            sparsity=float(1 - kept.mean()) if len(kept) else 0.0,
        ),
        curve=curve,
        empty_class=int(alone[0].argmax()),
        empty_probability=float(alone[0][label]),
        motif_class=None if motif is None else int(alone[-1].argmax()),
        motif_probability=None if motif is None else float(alone[-1][label]),
    )


def _motif_row(data: Graph | GraphSet, explanation: Explanation) -> np.ndarray | None:
    """True for the pairs of the target's ground truth: (u,); None if the computation graph holds none."""
    graph = graph_of(data, explanation)
    if graph.edge_motif is None:
        return None
    target = explanation.target
    right = graph.motif_edges(target.node) if isinstance(target, Node) else graph.edge_motif >= 0
    row = np.zeros(len(explanation.pairs), dtype=bool)
    row[explanation.pair_numbers[right.numpy()[explanation.edge_ids]]] = True
    return row if row.any() else None


def with_size(
    model: Model,
    data: Graph | GraphSet,
    explanation: Explanation,
    k_m: int | str,
    *,
    k_m_unit: str | None = None,
) -> Explanation:
    """The same weights and the same search cut at another K_M: what `explain` would give for it, with nothing optimised
    again but the features, which are weighed on the new G_S."""
    unit = explanation.config.k_m_unit if k_m_unit is None else k_m_unit
    resized = replace(explanation, config=replace(explanation.config, k_m=k_m, k_m_unit=unit), verdict=None)
    judge = Judge(model, data, [resized])
    settled = with_verdicts(judge, [resized])
    # a method that says nothing of features on G_S keeps its weights of them
    return (with_features(judge, data, settled) if explanation.feature_mask is not None else settled)[0]
