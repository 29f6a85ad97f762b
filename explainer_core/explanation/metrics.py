"""How good explanations are: against the ground truth, and against the model they explain."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.metrics import roc_auc_score

from explainer_core.checks import one_of
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.judging import Judge, edge_rows
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.verdict import Verdict
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model
from explainer_core.targets import Node, WholeGraph, number_in_set

# What counts as right, and how it is added up:
# paper         the edges of the node's own motif; all edges of all explanations ranked together
# any_motif     the edges of any motif; ranked together
# per_instance  the edges of the node's own motif; one ranking for each explanation, then the mean
PROTOCOLS = ("paper", "any_motif", "per_instance")


@dataclass(frozen=True)
class Faithfulness:
    """What the model says of G_S alone and of the graph without it, by the protocol of judging.py. Probabilities are
    of the explained class.

    `fidelity_plus` is high if the model needs G_S; `fidelity_minus` is low if G_S is enough; `characterization` joins
    the two. `keeps_class` says whether G_S alone still gets the explained class.
    """

    full: float
    kept: float
    without: float
    keeps_class: bool
    sparsity: float  # share of the computation graph's edges that was left out

    @property
    def fidelity_plus(self) -> float:
        return self.full - self.without

    @property
    def fidelity_minus(self) -> float:
        return self.full - self.kept

    @property
    def characterization(self) -> float:
        return characterization(self.fidelity_plus, self.fidelity_minus)


def characterization(fidelity_plus: float, fidelity_minus: float) -> float:
    """Harmonic mean of fidelity+ and 1 - fidelity- (Amara et al. 2022); zero if either is not above zero."""
    needed, enough = fidelity_plus, 1 - fidelity_minus
    return 2 * needed * enough / (needed + enough) if needed > 0 and enough > 0 else 0.0


# Against the ground truth


def edge_auc(
    data: Graph | GraphSet, explanations: Sequence[Explanation], *, protocol: str = "paper", within: int | None = None
) -> float:
    """Area under the ROC curve of the undirected edge scores; `within` counts only edges so many hops from the target.

    nan where nothing can be ranked: no edge belongs to the truth, as around a node outside all motifs, or every edge
    does. The protocol per_instance leaves such explanations out, and is nan if none is left.
    """
    one_of("protocol", protocol, PROTOCOLS)
    ranked = [truth_and_scores(data, e, own=protocol != "any_motif", within=within) for e in explanations]
    if protocol == "per_instance":
        areas = [roc_auc_score(truth, scores) for truth, scores in ranked if 0 < truth.sum() < len(truth)]
        return float(np.mean(areas)) if areas else float("nan")
    truth = np.concatenate([truth for truth, _ in ranked]) if ranked else np.empty(0, bool)
    if not 0 < truth.sum() < len(truth):
        return float("nan")
    return float(roc_auc_score(truth, np.concatenate([scores for _, scores in ranked])))


def truth_and_scores(
    data: Graph | GraphSet, explanation: Explanation, *, own: bool = True, within: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Which undirected edges belong to the ground truth (u,), and their scores (u,)."""
    graph = graph_of(data, explanation)
    pairs, scores = explanation.undirected()
    if graph.edge_motif is None:
        raise ValueError(f"{graph.name!r} has no ground truth (got no motifs); edge AUC needs planted motifs")
    if own and isinstance(explanation.target, Node):
        if graph.node_motif is None:
            raise ValueError(
                f"a node's own motif is known by node_motif (got none in {graph.name!r}, which has edge_motif only); "
                "give the graph node_motif, or use the protocol any_motif"
            )
        right = graph.motif_edges(explanation.target.node)
    else:
        right = graph.edge_motif >= 0
    right = right.numpy()[explanation.edge_ids]
    true_pairs = {tuple(sorted(pair)) for pair in explanation.edge_index[:, right].T.tolist()}
    truth = np.array([tuple(pair) in true_pairs for pair in pairs.tolist()], dtype=bool)
    if within is None or isinstance(explanation.target, WholeGraph):
        return truth, scores
    hop = dict(zip(explanation.nodes.tolist(), explanation.hop.tolist(), strict=True))
    near = np.array([max(hop[a], hop[b]) <= within for a, b in pairs.tolist()], dtype=bool)
    return truth[near], scores[near]


def graph_of(data: Graph | GraphSet, explanation: Explanation) -> Graph:
    return data[number_in_set(explanation.target)] if isinstance(data, GraphSet) else data


# Against the model


def faithfulness(
    model: Model,
    data: Graph | GraphSet,
    explanations: Sequence[Explanation],
    subgraphs: Sequence[Subgraph] | None = None,
) -> list[Faithfulness]:
    """Each explanation's G_S (or the subgraph given in its stead) judged alone and taken away."""
    subgraphs = [e.subgraph() for e in explanations] if subgraphs is None else subgraphs
    judge = Judge(model, data, explanations)
    rows = [(i, edge_rows(e, [s.edges])) for i, (e, s) in enumerate(zip(explanations, subgraphs, strict=True))]
    found = zip(explanations, rows, *judge.both(rows, rows), strict=True)
    return [_faithfulness(e, row[0], alone[0], without[0]) for e, (_, row), alone, without in found]


def _faithfulness(explanation: Explanation, row: np.ndarray, alone: np.ndarray, without: np.ndarray) -> Faithfulness:
    label = explained_class(explanation)
    return Faithfulness(
        full=explanation.probabilities[label],
        kept=float(alone[label]),
        without=float(without[label]),
        keeps_class=int(alone.argmax()) == label,
        sparsity=_sparsity(explanation, row),
    )


def of_verdict(explanation: Explanation, verdict: Verdict) -> Faithfulness:
    """The same from the verdict on an explanation's G_S: the model is not asked again."""
    (row,) = edge_rows(explanation, [explanation.subgraph().edges])
    sparsity = _sparsity(explanation, row)
    return Faithfulness(verdict.full, verdict.alone, verdict.without, verdict.keeps_class, sparsity)


def _sparsity(explanation: Explanation, row: np.ndarray) -> float:
    kept = row[explanation.pair_numbers]
    return float(1 - kept.mean()) if len(kept) else 0.0


def explained_class(explanation: Explanation) -> int:
    """The class whose probability is followed: the predicted one where the whole distribution was explained."""
    return explanation.predicted_class if explanation.explained_class is None else explanation.explained_class


def soft_hard_gap(explanation: Explanation, judged: Faithfulness) -> float:
    """How much of the probability under the soft mask is lost when the subgraph is cut out of it."""
    if explanation.masked_probabilities is None:
        raise ValueError(f"only a learnt mask has a soft side (got method {explanation.method!r}); use gnnexplainer")
    return explanation.masked_probabilities[explained_class(explanation)] - judged.kept


# Against chance


def agreement(subgraphs: Sequence[Subgraph]) -> float:
    """Mean Jaccard overlap of the edges that each two keep; 1 if all agree."""
    kept = [set(subgraph.edges) for subgraph in subgraphs]
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(kept, 2)]))


def random_subgraph(explanation: Explanation, like: Subgraph, seed: int = 0) -> Subgraph:
    """A random connected part around the target with as many edges as another: what chance would keep."""
    rng = np.random.default_rng((seed, *explanation.roots))
    pairs = explanation.undirected()[0]
    nodes = {int(n) for n in explanation.roots} or {int(rng.choice(pairs.ravel()))}
    kept: set[tuple[int, int]] = set()
    while len(kept) < len(like.edges):
        touching = np.isin(pairs, list(nodes)).any(1)
        free = [tuple(pair) for pair in pairs[touching].tolist() if tuple(pair) not in kept]
        if not free:
            break
        pair = free[rng.integers(len(free))]
        kept.add(pair)
        nodes |= set(pair)
    return Subgraph(tuple(sorted(nodes)), tuple(sorted(kept)))
