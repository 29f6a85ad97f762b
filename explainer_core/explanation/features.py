"""Which features a prediction rests on, once its subgraph is known.

A mask over the features is optimised on G_S, the edges fixed. What is shown is ranked by what the model says: feature after
feature is hidden on G_S, filled with its mean over all nodes, each time the one whose loss lowers the class most. Only
features that occur in G_S, and those the mask keeps most, are tried: an absent feature can matter by being absent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

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

STEPS, RATE = (
    12,
    0.5,
)  # the subgraph is small and fixed: a short walk settles, and only says which features are tried first
TRIED = 60  # features that are hidden one at a time
IN_ORDER = 10  # of them are ranked one after another, with those before them hidden; the others by themselves
HELD = 10_000_000  # feature values of all copies that are asked about together
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
    absent = [_absent(explanation, data) for explanation in explanations]
    tried = [_worth_trying(mask, missing) for mask, missing in zip(masks, absent, strict=True)]
    weights: list[np.ndarray] = []
    values = [(1 + len(some)) * judge.nodes_alone(i) * data.num_features for i, some in enumerate(tried)]
    for some in _groups(values):
        copies = [(i, rows[i], 1 + len(tried[i])) for i in some]
        hiding = _Hiding(judge, copies, data.feature_mean, held=sum(values[i] for i in some) <= HELD)
        weights += _weights(hiding, [tried[i] for i in some], labels[some].tolist(), explanations[0].config.k_f)
    return [
        replace(explanation, feature_weight=weight, feature_mask=mask, feature_absent=missing)
        for explanation, weight, mask, missing in zip(explanations, weights, masks, absent, strict=True)
    ]


def _groups(values: Sequence[int]) -> Iterator[list[int]]:
    """Numbers in a row of which all copies together hold no more values than memory should."""
    group, held = [], 0
    for i, each in enumerate(values):
        if group and held + each > HELD:
            yield group
            group, held = [], 0
        group.append(i)
        held += each
    if group:
        yield group


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
    fill = torch.zeros_like(parts.x)
    for step in range(STEPS):
        gate = logits.sigmoid().requires_grad_()
        if not zero:
            fill = values.index_select(0, hashed_index(len(values), FILL, config.seed, step, nodes))
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


class _Hiding:
    """Features hidden on the G_S of some explanations: on copies of each, asked about together."""

    def __init__(self, judge: Judge, copies: Sequence[tuple[int, np.ndarray, int]], mean: Tensor, *, held: bool):
        """An explanation's number, its part, and how many copies of it: as many as sets are hidden at a time, or more.
        They are cut out once where they can be `held`."""
        self.mean, self.start = mean, np.cumsum([0, *(times for _, _, times in copies)])
        self._cut_out = partial(judge.copies, copies)
        self._held = list(self._cut_out()) if held else None

    @torch.no_grad()
    def probabilities(self, hidden: Sequence[Sequence[Sequence[int]]], labels: Sequence[int]) -> list[np.ndarray]:
        """What the model says of each explanation's class with each of its sets of features at their means: (sets,) each."""
        hide = torch.zeros(
            int(self.start[-1]), len(self.mean), dtype=torch.bool
        )  # copies that are not asked about stay whole
        for first, sets in zip(self.start.tolist(), hidden, strict=False):
            for row, some in enumerate(sets, first):
                hide[row, list(some)] = True
        found, done = [], 0
        for parts in self._cut_out() if self._held is None else self._held:
            own = hide[done : done + parts.count].to(parts.x.device)
            x = torch.where(own[parts.part], self.mean.to(parts.x.device), parts.x)
            found.append(parts.logits(x).cpu().double().softmax(-1).numpy())
            done += parts.count
        answers = np.concatenate(found)  # (copies, C)
        return [
            answers[first : first + len(sets), label]
            for first, sets, label in zip(self.start.tolist(), hidden, labels, strict=False)
        ]


def _weights(hiding: _Hiding, tried: Sequence[np.ndarray], labels: Sequence[int], k_f: int) -> list[np.ndarray]:
    """The probability each feature takes away, those before it hidden; never more than the one before: (F,) each."""
    left = [some.tolist() for some in tried]
    first = hiding.probabilities([[[], *([feature] for feature in some)] for some in left], labels)
    chances = [answers[1:] for answers in first]
    alone = [dict(zip(some, answers.tolist(), strict=True)) for some, answers in zip(left, chances, strict=True)]
    hidden: list[list[int]] = [[] for _ in tried]
    lost: list[list[float]] = [[] for _ in tried]
    before = [float(answers[0]) for answers in first]
    for turn in range(min(k_f, IN_ORDER)):
        if turn:
            asked = [[[*gone, feature] for feature in some] for gone, some in zip(hidden, left, strict=True)]
            chances = hiding.probabilities(asked, labels)
        for i, some in enumerate(left):
            if some:
                best = int(chances[i].argmin())
                lost[i].append(max(0.0, before[i] - float(chances[i][best])))
                before[i] = float(chances[i][best])
                hidden[i].append(some.pop(best))
    found = []
    for i, some in enumerate(left):
        weight = np.zeros(len(hiding.mean))
        # hidden after another a feature may take away more than that one did: they count as much together
        in_order = np.maximum.accumulate(lost[i][::-1])[::-1]
        weight[hidden[i]] = in_order
        taken = [float(first[i][0]) - alone[i][feature] for feature in some]
        weight[some] = np.clip(taken, 0.0, in_order[-1] if len(in_order) else None)
        found.append(weight)
    return found
