"""From a soft mask to a subgraph that holds by itself: edges are swapped until the model still says the same.

A soft mask ranks edges while all of them still whisper. Cut out hard, its heaviest few may lose the prediction. Where
they do, one edge at a time is exchanged for another that touches the rest, each time the exchange that helps
most, until the class is back. Where that does not help, a larger subgraph is shrunk edge by edge instead, each time
by the edge whose loss costs least, and exchanged from there. The edges so found go to the head of the ranking, which
is otherwise left as learnt.
"""

from collections.abc import Iterator, Sequence
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

ROUNDS = 8  # exchanges at most, from each start
LARGER_START = 2  # times the size asked for, where exchanges alone do not help
NEWCOMERS = 15  # how many of the heaviest edges that touch the subgraph may come in
# An exchange that does not yet bring the class back must raise its probability by this share at least. A share,
# because far from the class a thousandfold gain is still next to nothing.
LEAST_GAIN = 0.01
# In these a silent edge is felt through the degrees alone, so that a subgraph can be judged without the rest.
LOCAL_KINDS = ("gcn", "sage", "gin", "gated")
BATCH_EDGES = 200_000


def refine(model: nn.Module, data: Graph | GraphSet, explanations: Sequence[Explanation]) -> list[Explanation]:
    """The same explanations; those whose G_S loses the class get one that keeps it, where a few exchanges find it."""
    local = model.spec.kind in LOCAL_KINDS and all(isinstance(e.target, Node) for e in explanations)
    judge = _judge_alone if local else _judge_in_place

    def ask(cores: Sequence[_Core]) -> Iterator[tuple[_Core, np.ndarray]]:
        answers = judge(model, data, cores, [core.masks() for core in cores]) if cores else []
        return zip(cores, answers, strict=True)

    cores = [_Core(explanation) for explanation in explanations]
    for core, answers in ask(cores):
        core.accept(0, answers)
    _exchange([core for core in cores if not core.holds], ask)
    lost = [core for core in cores if not core.holds]
    for core in lost:
        core.start_over()
    _shrink(lost, ask)
    _exchange([core for core in lost if not core.holds], ask)
    return [core.refined() for core in cores]


def _exchange(cores: Sequence["_Core"], ask) -> None:
    """Swaps one edge of each core at a time, until the class is back or no swap helps."""
    for _ in range(ROUNDS):
        for core in cores:
            core.list_exchanges()
        cores = [core for core in cores if core.options]
        for core, answers in ask(cores):
            core.take_if_better(answers)
        cores = [core for core in cores if not core.holds and not core.stuck]
        if not cores:
            return


def _shrink(cores: Sequence["_Core"], ask) -> None:
    """Lets one edge of each core go at a time, the one whose loss costs least, down to the size asked for."""
    while cores := [core for core in cores if core.too_large]:
        for core in cores:
            core.list_losses()
        for core, answers in ask(cores):
            core.accept(core.best(answers), answers)


class _Core:
    """The subgraph of one explanation while edges are exchanged."""

    def __init__(self, explanation: Explanation):
        self.explanation, self.label = explanation, explained_class(explanation)
        pairs, scores = explanation.undirected()
        self.weight = dict(zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True))
        self.learnt = list(explanation.subgraph().edges)
        self.nodes_allowed = max(explanation.config.k_m, len(explanation.subgraph().nodes))
        self.edges = self.kept = self.learnt  # `edges` are those a mask speaks of
        self.options: list[list[tuple[int, int]]] = [self.kept]
        self.chance, self.holds, self.stuck = 0.0, False, False

    @cached_property
    def directions(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The directed edges between each pair of nodes, as often as there are."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for a, b in self.explanation.edge_index.T.tolist():
            found.setdefault((min(a, b), max(a, b)), []).append((a, b))
        return found

    @property
    def too_large(self) -> bool:
        return len(self.kept) > len(self.learnt)

    def masks(self) -> np.ndarray:
        """One row for each option: (options, edges)."""
        place = {edge: i for i, edge in enumerate(self.edges)}
        masks = np.zeros((len(self.options), len(self.edges)))
        for row, option in zip(masks, self.options, strict=True):
            row[[place[edge] for edge in option]] = 1.0
        return masks

    def list_exchanges(self) -> None:
        """Every exchange of one edge for a newcomer that leaves the subgraph in one piece and no larger."""
        nodes = {end for edge in self.kept for end in edge} | set(self.explanation.roots)
        inside = set(self.kept)
        touching = [edge for edge in self.weight if edge not in inside and (edge[0] in nodes or edge[1] in nodes)]
        newcomers = sorted(touching, key=self.weight.get, reverse=True)[:NEWCOMERS]
        self.edges = [*self.kept, *newcomers]
        exchanges = ([edge for edge in self.kept if edge != out] + [new] for out in self.kept for new in newcomers)
        self.options = [option for option in exchanges if self._allowed(option)]
        self.stuck = not self.options

    def list_losses(self) -> None:
        """Every loss of one edge that leaves the subgraph in one piece."""
        self.edges = self.kept
        losses = [[edge for edge in self.kept if edge != out] for out in self.kept]
        self.options = [option for option in losses if self._in_one_piece(option)]

    def start_over(self) -> None:
        """A larger subgraph than asked for, to be shrunk."""
        larger = self.explanation.subgraph(LARGER_START * max(1, len(self.learnt)), unit="edges").edges
        crowd = len(larger) > 2 * LARGER_START * len(self.learnt) + 4  # by ties: too many to try them all
        self.kept = self.learnt if crowd else list(larger)
        self.chance, self.stuck = 0.0, False

    def best(self, answers: np.ndarray) -> int:
        return int(answers[:, self.label].argmax())

    def accept(self, choice: int, answers: np.ndarray) -> None:
        self.kept, self.chance = self.options[choice], float(answers[choice, self.label])
        self.holds = int(answers[choice].argmax()) == self.label and not self.too_large

    def take_if_better(self, answers: np.ndarray) -> None:
        best = self.best(answers)
        no_better = answers[best, self.label] < self.chance * (1 + LEAST_GAIN)
        self.stuck = no_better and answers[best].argmax() != self.label
        if not self.stuck:
            self.accept(best, answers)

    def refined(self) -> Explanation:
        """The explanation with the exchanged subgraph at its head, or as it was if the class was not brought back."""
        if not self.holds or set(self.kept) == set(self.learnt):
            return self.explanation
        return replace(self.explanation, core=tuple(_nested(self.kept, self.weight, self.explanation.roots)))

    def _allowed(self, edges: list[tuple[int, int]]) -> bool:
        if self.explanation.config.k_m_unit == "nodes":
            nodes = {end for edge in edges for end in edge} | set(self.explanation.roots)
            if len(nodes) > self.nodes_allowed:
                return False
        return self._in_one_piece(edges)

    def _in_one_piece(self, edges: list[tuple[int, int]]) -> bool:
        if not self.explanation.config.connected or not edges:
            return True
        roots = set(self.explanation.roots)
        pieces = list(nx.connected_components(nx.Graph(edges)))
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
