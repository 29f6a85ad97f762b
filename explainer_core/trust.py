"""May one believe an explanation: what the model says of other sizes, of no edges at all and of the truth alone."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import nn

from explainer_core.explanation import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.methods.problem import still
from explainer_core.metrics import (
    Faithfulness,
    edge_mask,
    explained_class,
    graph_of,
    probabilities_with,
)
from explainer_core.refine import refine
from explainer_core.targets import Node

LARGEST_SIZE = 30  # the curve of K_M goes up to here unless told otherwise


@dataclass(frozen=True)
class Trust:
    """What speaks for an explanation and against it. Probabilities are of the explained class.

    If the graph without any edge gets the same class, no edge can be the reason. The motif is the ground truth alone:
    a model that does not know it cannot be asked to show it. None where there is no truth for the target.
    """

    faithfulness: Faithfulness
    curve: tuple[tuple[int, float], ...]  # (K_M, what the model says of G_S alone)
    empty_class: int
    empty_probability: float
    motif_class: int | None
    motif_probability: float | None


def trust(
    model: nn.Module,
    data: Graph | GraphSet,
    explanation: Explanation,
    k_m: int | None = None,
    *,
    sizes: Sequence[int] | None = None,
) -> Trust:
    """Judges an explanation cut at K_M, its own unless given, in one batch of forward passes.

    The curve covers `sizes`, or 1 up to 30 or all there is, and always K_M.
    """
    k_m = explanation.config.k_m if k_m is None else k_m
    sizes = sorted({*(_sizes(explanation) if sizes is None else sizes), k_m})
    kept = edge_mask(explanation, explanation.subgraph(k_m))
    motif = _motif_mask(data, explanation)
    masks = [kept, 1 - kept, np.zeros_like(kept)]
    masks += [edge_mask(explanation, explanation.subgraph(size)) for size in sizes]
    masks += [] if motif is None else [motif]
    alone, without, empty, *others = probabilities_with(model, data, [explanation] * len(masks), masks)
    curve, truth = others[: len(sizes)], others[-1]
    label = explained_class(explanation)
    return Trust(
        faithfulness=Faithfulness(
            full=explanation.probabilities[label],
            kept=float(alone[label]),
            without=float(without[label]),
            keeps_class=int(alone.argmax()) == label,
            sparsity=float(1 - kept.mean()) if len(kept) else 0.0,
        ),
        curve=tuple((size, float(row[label])) for size, row in zip(sizes, curve, strict=True)),
        empty_class=int(empty.argmax()),
        empty_probability=float(empty[label]),
        motif_class=None if motif is None else int(truth.argmax()),
        motif_probability=None if motif is None else float(truth[label]),
    )


def _sizes(explanation: Explanation) -> range:
    """1 up to what there is in the computation graph, or LARGEST_SIZE."""
    if explanation.config.k_m_unit == "edges":
        there = len(explanation.undirected()[0])
    else:
        there = len(np.unique(explanation.nodes))  # the two sides of a link share nodes
    return range(1, max(1, min(LARGEST_SIZE, there)) + 1)


def _motif_mask(data: Graph | GraphSet, explanation: Explanation) -> np.ndarray | None:
    """1.0 for the edges of the target's ground truth: (e,); None if the computation graph holds none."""
    graph = graph_of(data, explanation)
    if graph.edge_motif is None:
        return None
    node = isinstance(explanation.target, Node)
    right = graph.motif_edges(explanation.target.node) if node else graph.edge_motif >= 0
    mask = right.numpy()[explanation.edge_ids].astype(float)
    return mask if mask.any() else None


def with_size(
    model: nn.Module,
    data: Graph | GraphSet,
    explanation: Explanation,
    k_m: int,
    *,
    k_m_unit: str | None = None,
    connected: bool | None = None,
) -> Explanation:
    """The same learnt weights cut at another K_M: what `explain` would give for it, with nothing learnt again."""
    changes = {"k_m": k_m, "k_m_unit": k_m_unit, "connected": connected}
    config = replace(explanation.config, **{name: value for name, value in changes.items() if value is not None})
    # the core was exchanged for the old size; refinement starts from the weights as learnt
    resized = replace(explanation, config=config, core=())
    refines = explanation.method == "gnnexplainer" and config.refine
    return refine(still(model), data, [resized])[0] if refines else resized


def flips(explanation: Explanation, k_m: int | None = None) -> dict[tuple[int, int], float]:
    """The pairs that some seeds keep and others drop, with the share of the seeds that keep them."""
    if explanation.seed_weights is None:
        raise ValueError("flips need at least two seeds (got one); explain with ExplainConfig(seeds=10)")
    weights = explanation.seed_weights
    keeps = Counter(pair for row in weights for pair in explanation.subgraph(k_m, weights=row).edges)
    return {pair: count / len(weights) for pair, count in sorted(keeps.items()) if count < len(weights)}
