"""From a soft mask to a subgraph that holds by itself: edges are swapped until the model still says the same.

A soft mask ranks edges while all of them still whisper. Cut out hard, its heaviest few may lose the prediction. Where
they do, one edge at a time is exchanged for another that touches the rest, each time the exchange that helps
most, until the class is back. The edges so found go to the head of the ranking, which is otherwise left as learnt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np
import torch
from torch import nn

from explainer_core.explanation import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.metrics import explained_class, probabilities_with
from explainer_core.neighborhood import InEdges
from explainer_core.targets import Node

ROUNDS = 8  # exchanges at most
NEWCOMERS = 15  # how many of the heaviest edges that touch the subgraph may come in
LEAST_GAIN = 1e-4  # of probability, for an exchange that does not yet bring the class back
# In these a silent edge is felt through the degrees alone, so that a subgraph can be judged without the rest.
LOCAL_KINDS = ("gcn", "sage", "gin", "gated")
BATCH_EDGES = 200_000


def refine(model: nn.Module, data: Graph | GraphSet, explanations: Sequence[Explanation]) -> list[Explanation]:
    """The same explanations; those whose G_S loses the class get one that keeps it, where a few exchanges find it."""
    local = model.spec.kind in LOCAL_KINDS and all(isinstance(e.target, Node) for e in explanations)
    judge = _judge_alone if local else _judge_in_place
    cores = [_Core.of(explanation) for explanation in explanations]
    for core, answer in zip(cores, judge(model, data, cores, [np.ones((1, len(c.edges))) for c in cores]), strict=True):
        core.accept(core.kept, answer[0])
    for _ in range(ROUNDS):
        active = [core for core in cores if core.searching]
        if not active:
            break
        for core in active:
            core.look_around()
        for core, answers in zip(active, judge(model, data, active, [c.masks() for c in active]), strict=True):
            core.choose(answers)
    return [core.refined() for core in cores]


class _Core:
    """The subgraph of one explanation while edges are exchanged."""

    def __init__(self, explanation: Explanation, weight: dict[tuple[int, int], float], kept: list[tuple[int, int]]):
        self.explanation, self.weight = explanation, weight
        self.first = self.kept = kept
        self.edges = list(kept)  # those a mask speaks of: the kept ones and the newcomers
        self.options: list[list[tuple[int, int]]] = []
        self.chance, self.holds, self.stuck = 0.0, False, False

    @cached_property
    def directions(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The directed edges between each pair of nodes, as often as there are."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for a, b in self.explanation.edge_index.T.tolist():
            found.setdefault((min(a, b), max(a, b)), []).append((a, b))
        return found

    @classmethod
    def of(cls, explanation: Explanation) -> "_Core":
        pairs, scores = explanation.undirected()
        return cls(
            explanation,
            dict(zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True)),
            list(explanation.subgraph().edges),
        )

    @property
    def searching(self) -> bool:
        return not self.holds and not self.stuck

    def accept(self, kept: list[tuple[int, int]], answer: np.ndarray) -> None:
        label = explained_class(self.explanation)
        self.kept, self.chance, self.holds = kept, float(answer[label]), int(answer.argmax()) == label

    def look_around(self) -> None:
        """Lists every exchange of one edge for a newcomer that leaves the subgraph in one piece and no larger."""
        nodes = {end for edge in self.kept for end in edge} | set(self.explanation.roots)
        inside = set(self.kept)
        touching = [edge for edge in self.weight if edge not in inside and (edge[0] in nodes or edge[1] in nodes)]
        newcomers = sorted(touching, key=self.weight.get, reverse=True)[:NEWCOMERS]
        self.edges = [*self.kept, *newcomers]
        self.options = [
            option
            for out in self.kept
            for new in newcomers
            if self._hangs_together(option := [edge for edge in self.kept if edge != out] + [new])
        ]
        self.stuck = not self.options

    def masks(self) -> np.ndarray:
        """One row for each option: (options, edges)."""
        place = {edge: i for i, edge in enumerate(self.edges)}
        masks = np.zeros((len(self.options), len(self.edges)))
        for row, option in zip(masks, self.options, strict=True):
            row[[place[edge] for edge in option]] = 1.0
        return masks

    def choose(self, answers: np.ndarray) -> None:
        if self.stuck:
            return
        label = explained_class(self.explanation)
        best = int(answers[:, label].argmax())
        self.stuck = answers[best, label] < self.chance + LEAST_GAIN and answers[best].argmax() != label
        if not self.stuck:
            self.accept(self.options[best], answers[best])

    def refined(self) -> Explanation:
        """The explanation with the exchanged subgraph at its head, or as it was if the class was not brought back."""
        if not self.holds or set(self.kept) == set(self.first):
            return self.explanation
        return replace(self.explanation, core=tuple(_nested(self.kept, self.weight, self.explanation.roots)))

    def _hangs_together(self, edges: list[tuple[int, int]]) -> bool:
        config, roots = self.explanation.config, set(self.explanation.roots)
        net = nx.Graph(edges)
        if config.k_m_unit == "nodes" and len(set(net) | roots) > max(
            config.k_m, len(self.explanation.subgraph().nodes)
        ):
            return False
        if not config.connected:
            return True
        pieces = list(nx.connected_components(net))
        return all(piece & roots for piece in pieces) if roots else len(pieces) == 1


def _nested(edges: list[tuple[int, int]], weight: dict, roots: tuple[int, ...]) -> list[tuple[int, int]]:
    """The edges in an order in which every beginning hangs together, heavy ones as early as that allows."""
    left, order = sorted(edges, key=weight.get, reverse=True), []
    reached = set(roots) or set(left[0])
    while left:
        nearest = next((edge for edge in left if edge[0] in reached or edge[1] in reached), left[0])
        left.remove(nearest)
        order.append(nearest)
        reached |= set(nearest)
    return order


def _judge_in_place(model, data, cores: Sequence[_Core], masks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the model says of each core under each row of its mask, all other edges silent: (rows, C) each."""
    asked, weights = [], []
    for core, mask in zip(cores, masks, strict=True):
        place = {edge: i for i, edge in enumerate(core.edges)}
        ends = np.sort(core.explanation.edge_index, axis=0).T.tolist()
        column = np.array([place.get(tuple(pair), -1) for pair in ends], dtype=int)
        for row in mask:
            asked.append(core.explanation)
            weights.append(np.where(column >= 0, row[column], 0.0) if len(row) else np.zeros(len(column)))
    answers = probabilities_with(model, data, asked, weights)
    return np.split(answers, np.cumsum([len(mask) for mask in masks])[:-1])


@torch.no_grad()
def _judge_alone(model, data: Graph, cores: Sequence[_Core], masks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same for models that need nothing but the core itself and the degrees: many tiny graphs in one pass."""
    found: list[np.ndarray] = []
    piece: list[_TinyGraphs] = []
    for core, mask in zip(cores, masks, strict=True):
        piece.append(_TinyGraphs.of(core, mask))
        if sum(tiny.weight.size for tiny in piece) > BATCH_EDGES:
            found += _run_tiny(model, data, piece)
            piece = []
    return found + _run_tiny(model, data, piece)


@dataclass(frozen=True)
class _TinyGraphs:
    """One core, once for each row of its mask; the target is node 0 of each copy."""

    nodes: np.ndarray  # (n,)
    ends: np.ndarray  # (2, d): the directed edges of the core that can reach the target
    weight: np.ndarray  # (rows, d)

    @classmethod
    def of(cls, core: _Core, mask: np.ndarray) -> "_TinyGraphs":
        target = core.explanation.target.node
        others = sorted({end for edge in core.edges for end in edge} - {target})
        place = {node: i for i, node in enumerate([target, *others])}
        column = {edge: i for i, edge in enumerate(core.edges)}
        directed = [(a, b) for edge in core.edges for a, b in core.directions[edge]]
        ends = np.array([[place[a], place[b]] for a, b in directed], dtype=np.int64).reshape(-1, 2).T
        columns = np.array([column[min(a, b), max(a, b)] for a, b in directed], dtype=np.int64)
        return cls(np.array([target, *others]), ends, mask[:, columns])


def _run_tiny(model, data: Graph, piece: Sequence[_TinyGraphs]) -> list[np.ndarray]:
    if not piece:
        return []
    nodes, ends, roots, offset = [], [], [], 0
    for tiny in piece:
        rows, size = len(tiny.weight), len(tiny.nodes)
        starts = offset + size * np.arange(rows)
        nodes.append(np.tile(tiny.nodes, rows))
        ends.append((tiny.ends[:, None, :] + starts[None, :, None]).reshape(2, -1))
        roots.append(starts)
        offset += rows * size
    device = next(model.parameters()).device
    ids = torch.from_numpy(np.concatenate(nodes))
    weight = torch.from_numpy(np.concatenate([tiny.weight.ravel() for tiny in piece])).float()
    edge_index = torch.from_numpy(np.concatenate(ends, axis=1))
    start = InEdges.of(data).start
    degree = (start[ids + 1] - start[ids]).to(device)
    logits = model(data.x[ids].to(device), edge_index.to(device), weight.to(device), degree=degree)
    answers = logits[torch.from_numpy(np.concatenate(roots)).to(device)].softmax(-1).cpu().numpy()
    return np.split(answers, np.cumsum([len(tiny.weight) for tiny in piece])[:-1])
