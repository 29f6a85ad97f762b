"""Do the shown features matter: the class probability lost when a method's top five words are hidden."""

import numpy as np
import torch

from benchmarks.data import node_of
from benchmarks.figures import Report
from benchmarks.rivals import VERIFIED, Row, Setting, sized
from explainer_core.explanation import metrics

SHOWN = 5
EVERYWHERE, ON_PART = "in the computation graph", "on G_S alone"


def measure_words(report: Report, setting: Setting, found: list[Row]) -> None:
    """Hidden is the mean over all nodes, in every node at once; ours must lose at least as much as every other's."""
    lost = {row.method: _lost(setting, row) for row in found if _looks_at_features(row)}
    for where in (EVERYWHERE, ON_PART):
        for method, values in lost.items():
            report.note(
                {f"{setting.name}: {method}, lost without {SHOWN} features {where}": float(np.nanmean(values[where]))}
            )
            print(f"{method:<24}lost without its {SHOWN} features {where:<26}{np.nanmean(values[where]):>8.3f}")
        ahead = {
            method: float(np.nanmean(lost[VERIFIED][where] - values[where]))
            for method, values in lost.items()
            if method != VERIFIED
        }
        nearest = min(ahead, key=ahead.__getitem__)
        name = f"{setting.name}: {SHOWN} features {where}, ahead of the best other ({nearest})"
        report.add(name, ahead[nearest], "", 0.0)


def _looks_at_features(row: Row) -> bool:
    return any(explanation is not None and explanation.feature_weight is not None for explanation in row.explanations)


@torch.no_grad()
def _lost(setting: Setting, row: Row) -> dict[str, np.ndarray]:
    """For each target the probability lost without the row's top features: everywhere, and on its own G_S."""
    graph, model = setting.data, setting.model
    lost = {where: np.full(len(setting.targets), np.nan) for where in (EVERYWHERE, ON_PART)}
    for i, explanation in enumerate(row.explanations):
        if explanation is None:
            continue
        hidden = graph.x.clone()
        words = list(explanation.top_features(SHOWN))
        hidden[:, words] = graph.feature_mean[words]
        kept = explanation if row.method == VERIFIED else sized(explanation, setting.sizes[i])
        label, node = metrics.explained_class(explanation), node_of(explanation)
        for where, weight in ((EVERYWHERE, None), (ON_PART, _edge_weight(graph, kept))):
            with_words, without = (
                float(model(x, graph.edge_index, weight)[node].double().softmax(-1)[label]) for x in (graph.x, hidden)
            )
            lost[where][i] = with_words - without
    return lost


def _edge_weight(graph, explanation) -> torch.Tensor:
    """1.0 for the edges of the graph that lie in G_S: (E,)."""
    kept = set(explanation.subgraph().edges)
    ends = graph.edge_index.sort(0).values.t().tolist()
    return torch.tensor([float(tuple(pair) in kept) for pair in ends])
