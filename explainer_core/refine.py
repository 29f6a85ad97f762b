"""From a soft mask to a subgraph that holds by itself: edges are swapped until the model still says the same.

A soft mask ranks edges while all of them still whisper. Cut out hard, its heaviest few may lose the prediction. Where
they do, one edge at a time is exchanged for another that touches the rest, each time the exchange that helps most.
Where that does not bring the class back, two edges are exchanged at once: what is missing is often a node that closes a
ring, and neither of its two edges helps without the other; single exchanges go on from the best of these. Where K_M
counts nodes, an edge between nodes that are kept costs nothing and may simply be added. The edges so found go to the
head of the ranking, which is otherwise left as learnt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import torch
from torch import nn

from explainer_core.explanation import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.metrics import explained_class, probabilities_with
from explainer_core.neighborhood import InEdges
from explainer_core.targets import Node

ROUNDS = 8  # single exchanges at most, from each start
NEWCOMERS = 15  # how many of the heaviest edges that touch the subgraph may come in
LEAVERS = 20  # how many of the lightest edges may leave two at a time; one at a time all may
PAIRS = 2000  # double exchanges tried at most, those that cost the least weight first
PAIR_EDGES = 20_000  # and so many edges in all, where each has to be judged within its whole computation graph
CELLS = 500_000  # options times edges at most: ties may keep thousands of edges, and each exchange lists them all
# An exchange that does not yet bring the class back must raise its probability by this share at least. A share,
# because far from the class a thousandfold gain is still next to nothing.
LEAST_GAIN = 0.01
EQUAL = 1e-3  # the share of its odds by which rounding may set an option apart from its equal
TINY = 1e-300
# In these a silent edge is felt through the degrees alone, so that a subgraph can be judged without the rest.
LOCAL_KINDS = ("gcn", "sage", "gin", "gated")
BATCH_EDGES = 200_000


def refine(model: nn.Module, data: Graph | GraphSet, explanations: Sequence[Explanation]) -> list[Explanation]:
    """The same explanations; those whose G_S loses the class get one that keeps it, where a few exchanges find it."""
    local = model.spec.kind in LOCAL_KINDS and all(isinstance(e.target, Node) for e in explanations)
    judge = _judge_alone if local else _judge_in_place

    def ask(cores: Sequence[_Core]) -> Iterator[tuple[_Core, np.ndarray]]:
        cores = [core for core in cores if len(core.options)]
        answers = judge(model, data, cores, [core.options for core in cores]) if cores else []
        return zip(cores, answers, strict=True)

    cores = [_Core(explanation) for explanation in explanations]
    for core, answers in ask(cores):
        core.accept(0, answers)
    _exchange(cores, ask)
    lost = [core for core in cores if not core.holds]
    for core in lost:
        core.start_over()
        core.list_double_exchanges(PAIRS if local else PAIR_EDGES // max(1, len(core.explanation.edge_ids)))
    for core, answers in ask(lost):
        core.accept(core.best(answers), answers)
    _exchange(lost, ask)
    return [core.refined() for core in cores]


def _exchange(cores: Sequence["_Core"], ask) -> None:
    """Swaps one edge of each core at a time, until the class is back or no swap helps."""
    for _ in range(ROUNDS):
        cores = [core for core in cores if not core.holds and not core.stuck]
        for core in cores:
            core.list_exchanges()
        for core, answers in ask(cores):
            core.take_if_better(answers)


class _Core:
    """The subgraph of one explanation while edges are exchanged."""

    def __init__(self, explanation: Explanation):
        self.explanation, self.label = explanation, explained_class(explanation)
        pairs, scores = explanation.undirected()
        self.weight = dict(zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True))
        subgraph = explanation.subgraph()
        self.kept = self.learnt = list(subgraph.edges)
        self.nodes_allowed = max(explanation.config.k_m, len(subgraph.nodes))
        self.edges = self.kept  # those the options speak of
        self.options = np.ones((1, len(self.kept)), dtype=bool)  # (options, edges): which of them each would keep
        self.chance, self.holds, self.stuck = 0.0, False, False

    @cached_property
    def directions(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The directed edges between each pair of nodes, as often as there are."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for a, b in self.explanation.edge_index.T.tolist():
            found.setdefault((min(a, b), max(a, b)), []).append((a, b))
        return found

    def list_exchanges(self) -> None:
        """Every exchange of one edge for a newcomer, and where K_M counts nodes every newcomer between kept ones."""
        self._list(out_of=range(len(self.kept)), at_once=1, limit=None)
        if self.explanation.config.k_m_unit == "nodes":
            self._list_additions()
        self.stuck = not len(self.options)

    def _list_additions(self) -> None:
        """They take no weight away, so they come first."""
        options = np.repeat([np.arange(len(self.edges)) < len(self.kept)], len(self.edges) - len(self.kept), axis=0)
        np.fill_diagonal(options[:, len(self.kept) :], True)
        self.options = np.concatenate([options[self._allowed(options)], self.options])

    def list_double_exchanges(self, limit: int) -> None:
        """The exchanges of two edges for two newcomers that cost the least weight."""
        lightest = sorted(range(len(self.kept)), key=lambda i: self.weight[self.kept[i]])[:LEAVERS]
        self._list(out_of=lightest, at_once=2, limit=limit)

    def _list(self, out_of: Sequence[int], at_once: int, limit: int | None) -> None:
        """Options in which some edges leave and as many newcomers come, those that cost the least weight first."""
        newcomers = self._newcomers(at_once)
        self.edges = [*self.kept, *newcomers]
        weight = np.array([self.weight[edge] for edge in self.edges])
        bound = max(1, CELLS // max(1, len(self.edges)))
        limit = bound if limit is None else min(limit, bound)
        places = range(len(self.kept), len(self.edges))
        leave, come = (
            np.array(list(combinations(some, at_once)), dtype=int).reshape(-1, at_once) for some in (out_of, places)
        )
        cost = weight[leave].sum(1)[:, None] - weight[come].sum(1)  # (leave, come)
        cheapest = cost.ravel().argsort(kind="stable")[: 4 * limit]
        row, (out, new) = np.arange(len(cheapest))[:, None], np.divmod(cheapest, max(1, len(come)))
        options = np.repeat([np.arange(len(self.edges)) < len(self.kept)], len(row), axis=0)
        options[row, leave[out]], options[row, come[new]] = False, True
        self.options = options[self._allowed(options)][:limit]

    def _newcomers(self, steps: int) -> list[tuple[int, int]]:
        """The heaviest edges that touch the subgraph, or in a second step touch one of those."""
        nodes, inside = {end for edge in self.kept for end in edge} | set(self.explanation.roots), set(self.kept)
        found: list[tuple[int, int]] = []
        for _ in range(steps):
            nodes |= {end for edge in found for end in edge}
            touching = [edge for edge in self.weight if edge not in inside and (edge[0] in nodes or edge[1] in nodes)]
            found = sorted(touching, key=self.weight.get, reverse=True)[:NEWCOMERS]
        return found

    def _allowed(self, options: np.ndarray) -> np.ndarray:
        """Which options hang together, if that is asked for, and have no more nodes than allowed: (options,)."""
        config, roots = self.explanation.config, self.explanation.roots
        touched, in_one_piece = _reach(self.edges, options, roots)
        allowed = np.ones(len(options), dtype=bool)
        if config.connected:
            allowed &= in_one_piece
        if config.k_m_unit == "nodes":
            allowed &= touched <= self.nodes_allowed
        return allowed

    def best(self, answers: np.ndarray) -> int:
        """The option with the best odds; of equals the first, which costs the least weight."""
        # odds, because close to one probabilities differ too little to tell a good option from a better one
        others = np.delete(answers, self.label, axis=1).sum(1)
        odds = answers[:, self.label] / np.maximum(others, TINY)
        return int((odds >= odds.max() * (1 - EQUAL)).argmax())

    def accept(self, choice: int, answers: np.ndarray) -> None:
        self.kept = [edge for edge, kept in zip(self.edges, self.options[choice], strict=True) if kept]
        self.chance = float(answers[choice, self.label])
        self.holds = int(answers[choice].argmax()) == self.label

    def take_if_better(self, answers: np.ndarray) -> None:
        best = self.best(answers)
        no_better = answers[best, self.label] < self.chance * (1 + LEAST_GAIN)
        self.stuck = no_better and answers[best].argmax() != self.label
        if not self.stuck:
            self.accept(best, answers)

    def start_over(self) -> None:
        """From the subgraph as learnt, where single exchanges did not help."""
        self.kept, self.chance, self.stuck = self.learnt, 0.0, False

    def refined(self) -> Explanation:
        """The explanation with the exchanged subgraph at its head, or as it was if the class was not brought back."""
        if not self.holds or set(self.kept) == set(self.learnt):
            return self.explanation
        return replace(self.explanation, core=tuple(_nested(self.kept, self.weight, self.explanation.roots)))


def _reach(
    edges: Sequence[tuple[int, int]], options: np.ndarray, roots: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """How many nodes each option has, and whether all its edges hang on the roots (or on its first edge): (options,) each."""
    names = {node: i for i, node in enumerate(sorted({*roots, *(end for edge in edges for end in edge)}))}
    ends = [(names[a], names[b], kept) for (a, b), kept in zip(edges, np.ascontiguousarray(options.T), strict=True)]
    touched = np.zeros((len(names), len(options)), dtype=bool)
    touched[[names[root] for root in roots]] = True
    reached = touched.copy()
    for a, b, kept in ends:
        touched[a] |= kept
        touched[b] |= kept
    if not roots and ends:
        first = options.argmax(1)
        for end in (0, 1):
            reached[np.array([pair[end] for pair in ends])[first], np.arange(len(options))] = True
    count = -1
    while count != (count := int(reached.sum())):
        for a, b, kept in ends:
            passes = (reached[a] | reached[b]) & kept
            reached[a] |= passes
            reached[b] |= passes
    return touched.sum(0), (reached | ~touched).all(0)


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
        if sum(tiny.ends.shape[1] for tiny in piece) > BATCH_EDGES:
            found += _run_tiny(model, data, piece)
            piece = []
    return found + _run_tiny(model, data, piece)


@dataclass(frozen=True)
class _TinyGraphs:
    """One core, once for each row of its mask, with the edges and nodes of that row alone; its first node is the target."""

    nodes: np.ndarray  # (n,)
    ends: np.ndarray  # (2, e): places in `nodes`
    targets: np.ndarray  # (rows,): likewise

    @classmethod
    def of(cls, core: _Core, mask: np.ndarray) -> "_TinyGraphs":
        target = core.explanation.target.node
        names = np.array([target, *sorted({end for edge in core.edges for end in edge} - {target})])
        place = {node: i for i, node in enumerate(names.tolist())}
        directed = [(i, place[a], place[b]) for i, edge in enumerate(core.edges) for a, b in core.directions[edge]]
        column, *ends = np.array(directed, dtype=np.int64).reshape(-1, 3).T
        row, edge = mask[:, column].nonzero()
        ends = [end[edge] for end in ends]
        present = np.zeros((len(mask), len(names)), dtype=bool)
        present[:, 0] = True
        for end in ends:
            present[row, end] = True
        number = present.cumsum().reshape(present.shape) - 1
        return cls(names[present.nonzero()[1]], np.stack([number[row, end] for end in ends]), number[:, 0])


def _run_tiny(model, data: Graph, piece: Sequence[_TinyGraphs]) -> list[np.ndarray]:
    if not piece:
        return []
    start = np.cumsum([0, *(len(tiny.nodes) for tiny in piece)])[:-1]
    device = next(model.parameters()).device
    ids = torch.from_numpy(np.concatenate([tiny.nodes for tiny in piece]))
    ends = np.concatenate([tiny.ends + first for tiny, first in zip(piece, start, strict=True)], axis=1)
    targets = np.concatenate([tiny.targets + first for tiny, first in zip(piece, start, strict=True)])
    in_edges = InEdges.of(data).start
    degree = (in_edges[ids + 1] - in_edges[ids]).to(device)
    logits = model(data.x[ids].to(device), torch.from_numpy(ends).to(device), degree=degree)
    answers = logits[torch.from_numpy(targets).to(device)].double().softmax(-1).cpu().numpy()
    return np.split(answers, np.cumsum([len(tiny.targets) for tiny in piece])[:-1])
