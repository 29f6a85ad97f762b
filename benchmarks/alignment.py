"""The alignment under prototypes: against every pairing there is, against scipy, and on planted motifs."""

import time
from collections.abc import Callable
from itertools import permutations
from typing import TypeVar

import networkx as nx
import numpy as np
import torch
from scipy.optimize import quadratic_assignment

import explainer_core as xc
from benchmarks.figures import Report
from explainer_core.datasets.synthetic import CYCLE_EDGES, GRID_EDGES, HOUSE_EDGES
from explainer_core.prototypes.alignment import Piece, align, pairing_cost, random_pairing
from explainer_core.prototypes.joining import join_explanations

SCIPY = (("scipy's faq", "faq", 1), ("scipy's faq, best of 10", "faq", 10), ("scipy's 2opt", "2opt", 1))
MEMBERS = 11  # of a planted prototype: a reference and ten others, as by default
Found = TypeVar("Found")


def measure_alignment(report: Report, quick: bool) -> None:
    _exact(report, 10 if quick else 100)
    _peers(report, 20 if quick else 100)
    _planted(report, 8 if quick else 100)


# Two graphs


def _exact(report: Report, trials: int) -> None:
    """Against every pairing there is, for graphs of up to six nodes."""
    rng = np.random.default_rng(0)
    best = 0
    for _ in range(trials):
        one, other = (_random_piece(int(rng.integers(3, 7)), rng) for _ in range(2))
        width = max(one.size, other.size)
        orders = (np.array(order)[: other.size] for order in permutations(range(width)))
        least = min(pairing_cost(one, other, np.where(order < one.size, order, -1)) for order in orders)
        best += align([one], other)[0].cost < least + 1e-5
    report.add("alignment, up to 6 nodes: as good as any pairing", best / trials, "", 0.99)


def _random_piece(size: int, rng: np.random.Generator) -> Piece:
    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.5), 1)
    return Piece(upper + upper.T, rng.random((size, 2)))


def _peers(report: Report, count: int) -> None:
    """One motif of 12 nodes with noise: the same pairs for everyone, the first node always on the first."""
    rng = np.random.default_rng(0)
    motif = tuple(nx.gnm_random_graph(12, 16, seed=1).edges)
    reference, *pieces = (_noisy_piece(motif, 12, rng) for _ in range(count + 1))
    found, seconds = timed(lambda: [one.node_of for one in align(pieces, reference, anchors=1)])
    answers: dict[str, tuple[list, float]] = {"ours": (found, seconds)}
    for name, method, starts in SCIPY:
        answers[name] = timed(lambda m=method, n=starts: [_scipy(piece, reference, m, n) for piece in pieces])
    answers["random"] = timed(lambda: [random_pairing(piece, reference, 1, rng) for piece in pieces])
    costs = {
        name: np.array([pairing_cost(p, reference, node_of) for p, node_of in zip(pieces, found, strict=True)])
        for name, (found, _) in answers.items()
    }
    least = np.min(list(costs.values()), axis=0)
    for name, (_, seconds) in answers.items():
        report.add(f"alignment, 12 nodes: {name}, edges that differ", costs[name].mean())
        report.add(f"alignment, 12 nodes: {name}, no worse than anyone", np.mean(costs[name] <= least + 1e-5))
        report.add(f"alignment, 12 nodes: {name}, each", 1e3 * seconds / count, "ms")


def _scipy(piece: Piece, reference: Piece, method: str, starts: int) -> np.ndarray:
    """The best of so many starts; a single one is scipy's own."""
    rng, found = np.random.default_rng(0), []
    for _ in range(starts):
        options = {"maximize": True, "partial_match": np.array([[0, 0]]), "rng": rng}
        options |= {"P0": "randomized"} if starts > 1 else {}
        found.append(quadratic_assignment(reference.adjacency, piece.adjacency, method=method, options=options).col_ind)
    return min(found, key=lambda node_of: pairing_cost(piece, reference, node_of))


def _noisy_piece(motif, size: int, rng: np.random.Generator) -> Piece:
    """The motif with three of its edges moved, under random numbers but for node 0."""
    edges = set(motif)
    while len(edges - set(motif)) < 3:
        edges.add(tuple(sorted(rng.choice(size, 2, replace=False).tolist())))
    for edge in rng.permutation(motif)[:3].tolist():
        edges.discard(tuple(edge))
    order = np.concatenate([[0], 1 + rng.permutation(size - 1)])
    adjacency = np.zeros((size, size))
    for a, b in edges:
        adjacency[order[a], order[b]] = adjacency[order[b], order[a]] = 1
    return Piece(adjacency, np.empty((size, 0)))


# Planted motifs


def _planted(report: Report, trials: int) -> None:
    """One motif under random numbers with 20 % random edges more, recovered exactly, the target in its role.

    In a small motif most edges that are added between its own nodes are the same edge but for the numbers, so that
    they truly are what the members share. So the other nodes of a graph get their part of the noise, and what comes of
    noise among the motif's own nodes alone is reported beside it.
    """
    for where, others in (("anywhere", 1), ("inside it", 0)):
        rng, recovered = np.random.default_rng(0), 0
        for trial in range(trials):
            motif = (HOUSE_EDGES, CYCLE_EDGES, GRID_EDGES, _random_motif(rng))[trial % 4]
            size = 1 + max(map(max, motif))
            graph = xc.Graph(torch.ones(2 * size * MEMBERS, 1), torch.empty(2, 0, dtype=torch.int64))
            members = [_planted_member(motif, (1 + others) * size, 2 * size * i, rng) for i in range(MEMBERS)]
            shown = join_explanations(members, graph, clusters=1).cut(size, len(motif))
            recovered += is_motif(shown.edges, motif, {0})
        goal = 0.95 if others else None
        report.add(f"planted motif, 20 % extra edges {where}: recovered exactly", recovered / trials, "", goal)


def _random_motif(rng: np.random.Generator) -> tuple[tuple[int, int], ...]:
    while True:
        size = int(rng.integers(5, 10))
        net = nx.gnm_random_graph(size, size + int(rng.integers(4)), seed=int(rng.integers(2**31)))
        if nx.is_connected(net):
            return tuple(net.edges)


def _planted_member(motif, num_nodes: int, first: int, rng: np.random.Generator) -> xc.Explanation:
    """An explanation that holds the motif, random extra edges and random weights; node numbers start at `first`."""
    names = first + rng.permutation(num_nodes)
    edges = {tuple(sorted((int(names[a]), int(names[b])))) for a, b in motif}
    while len(edges) < len(motif) + round(0.2 * len(motif)):
        edges.add(tuple(sorted(rng.choice(names, 2, replace=False).tolist())))
    ends = np.array(sorted(edges)).T
    weights = rng.uniform(0.1, 1, len(edges))
    return xc.Explanation(
        target=xc.Node(int(names[0])),
        method="gnnexplainer",
        config=xc.ExplainConfig(k_m=len(motif), k_m_unit="edges"),
        explained_class=0,
        predicted_class=0,
        probabilities=(1.0,),
        masked_probabilities=None,
        edge_index=np.concatenate([ends, ends[::-1]], axis=1),
        edge_ids=np.arange(2 * len(edges)),
        edge_weight=np.concatenate([weights, weights]),
        edge_part=np.zeros(2 * len(edges), dtype=np.int64),
        nodes=np.sort(names),
        hop=np.zeros(num_nodes, dtype=np.int64),
        feature_weight=None,
    )


def is_motif(edges, motif, roles: set[int]) -> bool:
    """Whether the graphs are isomorphic with role 0 in one of these roles of the motif."""
    matcher = nx.isomorphism.GraphMatcher(nx.Graph(list(edges)), nx.Graph(list(motif)))
    return any(match.get(0) in roles for match in matcher.isomorphisms_iter())


def timed(call: Callable[[], Found], clock: Callable[[], float] = time.perf_counter) -> tuple[Found, float]:
    started = clock()
    return call(), clock() - started
