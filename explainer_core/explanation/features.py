"""Which features a prediction rests on, once its subgraph is known.

A mask over the features is optimised on G_S, the edges fixed. What is shown is ranked by what the model says: feature after
feature is hidden on G_S, filled with its mean over all nodes, each time the one whose loss lowers the class most. Only
features that occur in G_S, and those the mask keeps most, are tried: an absent feature can matter by being absent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explainer_core.config import ExplainConfig
from explainer_core.explanation.judging import Judge, Parts, edge_rows
from explainer_core.explanation.metrics import explained_class
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.hashing import hashed_index
from explainer_core.methods.adam import Adam
from explainer_core.targets import number_in_set

STEPS, RATE = 25, 0.25  # the subgraph is small and fixed: a short walk settles
TRIED = 60  # features that are hidden one at a time
IN_ORDER = 10  # of them are ranked one after another, with those before them hidden; the others by themselves
FILL = 7  # which random numbers are drawn


def with_features(judge: Judge, data: Graph | GraphSet, explanations: Sequence[Explanation]) -> list[Explanation]:
    """The explanations with their features weighed on G_S, where the config asks for that and any feature can tell."""
    if not explanations or explanations[0].config.features != "after" or not data.features_vary:
        return list(explanations)
    rows = [edge_rows(e, [e.subgraph().edges])[0] for e in explanations]
    labels = torch.tensor([explained_class(e) for e in explanations])
    optimised, done = [], 0
    for parts in judge.parts(rows):
        asked = labels[done : done + parts.count].to(parts.x.device)
        optimised.append(_optimised(parts, asked, data, explanations[0].config).cpu())
        done += parts.count
    masks = torch.cat(optimised).numpy().astype(float)  # (T, F)
    found = []
    for i, explanation in enumerate(explanations):
        absent = _absent(explanation, data)
        tried = _worth_trying(masks[i], absent)
        weight = _Hiding(judge, i, rows[i], data, int(labels[i])).weights(tried, explanation.config.k_f)
        found.append(replace(explanation, feature_weight=weight, feature_mask=masks[i], feature_absent=absent))
    return found


def _worth_trying(mask: np.ndarray, absent: np.ndarray) -> np.ndarray:
    """The features that occur, the foremost by their mask, and of the absent ones those the mask keeps most."""
    foremost = np.argsort(-mask, kind="stable")
    present = foremost[~absent[foremost]][: TRIED - TRIED // 4]
    missing = foremost[absent[foremost]][: TRIED - len(present)]
    return np.concatenate([present, missing])


def _optimised(parts: Parts, labels: Tensor, data: Graph | GraphSet, config: ExplainConfig) -> Tensor:
    """The feature mask of each part, optimised as in the paper with the edges fixed: (parts, F)."""
    values = data.features_on(parts.x.device)
    zero = config.feature_fill == "zero" or (config.feature_fill == "auto" and data.features_are_types)
    logits = torch.zeros(parts.count, values.shape[1], device=values.device)
    adam = Adam(logits, RATE)
    # a node's position in its own part: what is filled in does not depend on the company
    nodes = torch.arange(len(parts.part), device=values.device) - torch.searchsorted(parts.part, parts.part)
    for step in range(STEPS):
        gate = logits.sigmoid().requires_grad_()
        chosen = hashed_index(len(values), FILL, config.seed, step, nodes)
        fill = torch.zeros_like(parts.x) if zero else values.index_select(0, chosen)
        output = parts.logits(torch.lerp(fill, parts.x, gate.index_select(0, parts.part)))
        loss = torch.nn.functional.cross_entropy(output / config.temperature, labels, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, gate)
        with torch.no_grad():
            pressure = (config.feat_size - config.feat_entropy * logits) / values.shape[1]
            adam.step((gradient + pressure) * gate * (1 - gate))
    return logits.sigmoid()


def _absent(explanation: Explanation, data: Graph | GraphSet) -> np.ndarray:
    """Which features are zero in all kept nodes: (F,) bool."""
    first = int(data.node_start[number_in_set(explanation.target)]) if isinstance(data, GraphSet) else 0
    nodes = torch.tensor(explanation.subgraph().nodes, dtype=torch.int64) + first
    return (data.x[nodes] == 0).all(0).numpy()


@dataclass(frozen=True)
class _Hiding:
    """Features hidden on the G_S of one explanation."""

    judge: Judge
    number: int
    row: np.ndarray  # (u,)
    data: Graph | GraphSet
    label: int

    @torch.no_grad()
    def probability(self, hidden: Sequence[Sequence[int]]) -> np.ndarray:
        """What the model says of the class with each of these sets of features at their means: (sets,)."""
        found, done = [], 0
        for parts in self.judge.copies(self.number, self.row, len(hidden)):
            hide = torch.zeros(parts.count, parts.x.shape[1], dtype=torch.bool)
            for row, some in zip(hide, hidden[done : done + parts.count], strict=True):
                row[list(some)] = True
            mean = self.data.feature_mean.to(parts.x.device)
            x = torch.where(hide.to(parts.x.device)[parts.part], mean, parts.x)
            found.append(parts.logits(x).cpu().double().softmax(-1)[:, self.label].numpy())
            done += parts.count
        return np.concatenate(found)

    def weights(self, tried: np.ndarray, k_f: int) -> np.ndarray:
        """The probability each feature takes away, those before it hidden; never more than the one before: (F,)."""
        weight = np.zeros(self.data.num_features)
        hidden: list[int] = []
        left, before = tried.tolist(), float(self.probability([[]])[0])
        lost: list[float] = []
        for _ in range(min(k_f, IN_ORDER, len(left))):
            chances = self.probability([[*hidden, feature] for feature in left])
            best = int(chances.argmin())
            lost.append(max(0.0, before - float(chances[best])))
            before = float(chances[best])
            hidden.append(left.pop(best))
        # hidden after another a feature may take away more than that one did: they count as much together
        lost = np.maximum.accumulate(lost[::-1])[::-1].tolist()
        weight[hidden] = lost
        if left:
            alone = float(self.probability([[]])[0]) - self.probability([[feature] for feature in left])
            weight[left] = np.clip(alone, 0.0, lost[-1] if lost else None)
        return weight
