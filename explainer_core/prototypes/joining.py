"""Explanations aligned and joined into one shape or a few: from parts to prototypes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np
from sklearn.cluster import AgglomerativeClustering

from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.prototypes.alignment import RESTARTS, Piece, align, pairing_cost, permuted, random_pairing
from explainer_core.prototypes.member import Member, compared_member, role_matrices
from explainer_core.prototypes.parts import Part, feature_scale
from explainer_core.prototypes.prototype import Prototype

TRIES, TRIES_OF_HALVES = 4, 2  # of aligning all members, or those of a part; and in each of them
ROUNDS = 4  # of aligning, at most: first with the reference, then with what the members share
FEW_RESTARTS = 8  # of an alignment that others follow
ENOUGH = 40  # members that tell what all of them share; the others are aligned with that
DRAWS = 5  # random alignments of each member, to compare with
MOST_CLUSTERS = 6
SMALLEST_CLUSTER = 4  # members
CLEARLY = 0.9  # two shapes leave at most this share of the cost of one
ALIKE = 0.5  # two roles look alike if their features differ by less, where two usual nodes of a whole graph differ by 1


def join_explanations(
    explanations: Sequence[Explanation],
    data: Graph | GraphSet,
    *,
    label: int | None = None,
    clusters: int | str = "auto",
    seed: int = 0,
    keep_reference: bool = False,
    tick: Callable[[], None] = lambda: None,
) -> Prototype:
    """The prototype of explanations that are there already, by any method. The first is the reference.

    One without edges shows nothing that others could be aligned with: unless it was asked for, the next takes its place.
    `tick` is called between alignments, and may raise to stop.
    """
    if not explanations:
        raise ValueError("a prototype needs at least one explanation (got none)")
    if isinstance(clusters, int) and clusters > len(explanations):
        raise ValueError(f"clusters must be at most the number of members, {len(explanations)} (got {clusters})")
    parts = tuple(Part.of(explanation, data) for explanation in explanations)
    joint = _Joint(parts, feature_scale(parts), label, seed, tick)
    first = 0 if keep_reference else next((i for i, part in enumerate(parts) if part.edges), 0)
    everyone = joint.shape(np.arange(len(parts)), first)
    return replace(everyone, clusters=joint.shapes(everyone, clusters))


def compare(prototype: Prototype, explanation: Explanation, data: Graph | GraphSet) -> Member:
    """Any explanation beside a prototype: who plays which role, what is missing, what is extra, how far it is."""
    return compare_many(prototype, [explanation], data)[0]


def compare_many(
    prototype: Prototype, explanations: Sequence[Explanation], data: Graph | GraphSet, restarts: int = RESTARTS
) -> list[Member]:
    """Many explanations, each beside the prototype as if alone; with fewer restarts sooner, and a little farther off."""
    odd = [each.target for each in explanations if type(each.target) is not type(prototype.reference)]
    if odd:
        raise ValueError(
            f"a prototype is compared with its like, here a {type(prototype.reference).__name__} (got {odd[0]})"
        )
    parts = [Part.of(explanation, data) for explanation in explanations]
    pieces = [part.piece(prototype.feature_scale) for part in parts]
    found = align(pieces, prototype.piece, anchors=len(prototype.roots), restarts=restarts)
    return [
        compared_member(_member(part, alignment.node_of), prototype.agreement)
        for part, alignment in zip(parts, found, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Joint:
    """All parts of one request, and the prototypes of any of them."""

    parts: tuple[Part, ...]
    scale: np.ndarray | None
    label: int | None
    seed: int
    tick: Callable[[], None]

    @cached_property
    def pieces(self) -> list[Piece]:
        return [part.piece(self.scale) for part in self.parts]

    @property
    def anchors(self) -> int:
        return len(self.parts[0].explanation.roots)

    def shape(self, chosen: np.ndarray, first: int, tries: int = TRIES) -> Prototype:
        """The prototype of the chosen parts, aligned first with one of them and then with what they share."""
        self.tick()
        parts, pieces = ([some[i] for i in chosen] for some in (self.parts, self.pieces))
        found, _ = _aligned(pieces, self.pieces[first], self.anchors, self.seed, tries)
        found = _shared_roles(pieces, found, self.anchors)
        made = Prototype(
            label=self.label,
            reference=self.parts[first].explanation.target,
            members=tuple(_member(part, node_of) for part, node_of in zip(parts, found, strict=True)),
            features=None if self.scale is None else role_profile([part.values for part in parts], found),
            feature_scale=self.scale,
            cost=0.0,
            random_cost=0.0,
            share=len(parts) / len(self.parts),
        ).compared()
        rng, centre = np.random.default_rng(self.seed), made.piece
        costs = [pairing_cost(piece, centre, node_of) for piece, node_of in zip(pieces, found, strict=True)]
        chance = [
            pairing_cost(p, centre, random_pairing(p, centre, self.anchors, rng)) for p in pieces for _ in range(DRAWS)
        ]
        return replace(made, cost=float(np.mean(costs)), random_cost=float(np.mean(chance)))

    def shapes(self, everyone: Prototype, clusters: int | str) -> tuple[Prototype, ...]:
        """The members in several groups, each with a prototype of its own, largest first; none if there is one shape.

        The group that fits its prototype worst is halved again and again, as often as asked for, or while it is clear
        that there are two shapes.
        """
        open_groups, closed = [everyone], []
        most = clusters if isinstance(clusters, int) else MOST_CLUSTERS
        while open_groups and len(open_groups) + len(closed) < most:
            group = max(open_groups, key=lambda one: (one.cost * len(one.members), len(one.members)))
            open_groups.remove(group)
            halves = self._halves(group, only_if_clear=clusters == "auto")
            if halves:
                open_groups += halves
            else:
                closed.append(group)
        found = [*open_groups, *closed]
        return tuple(sorted(found, key=lambda one: -one.share)) if len(found) > 1 else ()

    def _halves(self, group: Prototype, only_if_clear: bool) -> list[Prototype]:
        """The group's members in two, each with those they fit best; none where that cannot be, or is not clear.

        The first guess is by how they differ as aligned. Then each half is aligned by itself, since what is unlike the
        reference is aligned with it by chance. Members always fit a centre of their own better, and differ in what hangs on the
        shape by chance: so both halves must have enough members, fit them much better, and look different when cut out.
        """
        index_of = {id(part.explanation): i for i, part in enumerate(self.parts)}
        chosen = np.array([index_of[id(member.explanation)] for member in group.members])
        vectors, least = self._vectors(group, chosen), SMALLEST_CLUSTER if only_if_clear else 1
        if len(chosen) < 2 * least or not np.ptp(vectors, axis=0).any():
            return []
        costs = self._costs_of_two(chosen, vectors)
        sides = [np.flatnonzero(costs.argmin(1) == side) for side in (0, 1)]
        much_better = costs.min(1).mean() <= CLEARLY * group.cost
        if min(map(len, sides)) < least or (only_if_clear and not much_better):
            return []
        leaders = [int(chosen[own[costs[own, side].argmin()]]) for side, own in enumerate(sides)]
        halves = [self.shape(chosen[own], first, TRIES_OF_HALVES) for own, first in zip(sides, leaders, strict=True)]
        return [] if only_if_clear and _same_picture(*halves) else halves

    def _costs_of_two(self, chosen: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """What it costs each member to fit either of two centres: (members, 2)."""
        half, pieces = AgglomerativeClustering(2).fit_predict(vectors), [self.pieces[i] for i in chosen]
        costs = []
        for side in (0, 1):
            self.tick()
            own = np.flatnonzero(half == side)
            middle = own[np.abs(vectors[own] - np.median(vectors[own], axis=0)).sum(1).argmin()]
            centre = _aligned([pieces[i] for i in own], pieces[middle], self.anchors, self.seed, tries=1)[1]
            alignments = align(pieces, centre, anchors=self.anchors, seed=self.seed, restarts=FEW_RESTARTS)
            costs.append([one.cost for one in alignments])
        return np.array(costs).T

    def _vectors(self, group: Prototype, chosen: np.ndarray) -> np.ndarray:
        """The members as they are aligned, one row each: which roles they join, and their features in each role."""
        joined = role_matrices(group.members)[0]
        rows = []
        for i, member, edges in zip(chosen, group.members, joined, strict=True):
            index_of = {node: n for n, node in enumerate(self.parts[i].nodes)}
            features = group.piece.features.copy()  # who has no node in a role is like the others there
            for role, node in enumerate(member.nodes):
                if node is not None:
                    features[role] = self.pieces[i].features[index_of[node]]
            rows.append(np.concatenate([edges[np.triu_indices(len(edges), 1)], features.ravel()]))
        return np.array(rows, dtype=float)


def _member(part: Part, node_of: np.ndarray) -> Member:
    nodes = tuple(None if i < 0 else part.nodes[i] for i in node_of.tolist())
    return Member(part.explanation, nodes, part.edges, part.weights)


def _same_picture(one: Prototype, other: Prototype) -> bool:
    """Whether the cuts are the same graph, with the target in the same role and like features in like roles."""

    def picture(shown: Prototype) -> nx.Graph:
        net: nx.Graph = nx.Graph(shown.cut().edges)
        net.add_nodes_from(shown.roots)
        profile = shown.piece.features
        nx.set_node_attributes(net, {role: (role in shown.roots, profile[role]) for role in net}, "look")
        return net

    def alike(a: dict, b: dict) -> bool:
        return a["look"][0] == b["look"][0] and np.abs(a["look"][1] - b["look"][1]).sum() < ALIKE

    return nx.is_isomorphic(picture(one), picture(other), node_match=alike)


def _aligned(
    pieces: Sequence[Piece], reference: Piece, anchors: int, seed: int, tries: int
) -> tuple[list[np.ndarray], Piece]:
    """The node of each role for every piece, and the centre of them all: of several tries the one that costs least.

    A try aligns all pieces with the reference, then with what they share, again and again. Pairings with one reference
    often tie, and which of them is taken decides what is found to be shared; so one try is not enough.
    """
    ends, some = [], pieces[:ENOUGH]
    for number in range(tries):
        centre, cost = reference, np.inf
        for _ in range(ROUNDS):
            alignments = align(some, centre, anchors=anchors, seed=seed + number, restarts=FEW_RESTARTS)
            last, centre = cost, _centre(some, [one.node_of for one in alignments])
            cost = sum(pairing_cost(p, centre, one.node_of) for p, one in zip(some, alignments, strict=True))
            if cost > last - 1e-6:
                break
        ends.append((cost, centre))
    centre = min(ends, key=lambda one: one[0])[1]
    found = [one.node_of for one in align(pieces, centre, anchors=anchors, seed=seed)]
    return found, _centre(pieces, found)


def _centre(pieces: Sequence[Piece], found: Sequence[np.ndarray]) -> Piece:
    """What the aligned pieces share: the mean of their edges, the median of their features."""
    joined = [permuted(piece.adjacency, node_of) for piece, node_of in zip(pieces, found, strict=True)]
    return Piece(np.mean(joined, axis=0), role_profile([piece.features for piece in pieces], found))


def role_profile(values: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> np.ndarray:
    """The median of the features in each role; zero where nobody plays it: (R, F)."""
    rows = np.full((len(values), len(found[0]), values[0].shape[1]), np.nan)
    for row, features, node_of in zip(rows, values, found, strict=True):
        row[node_of >= 0] = features[node_of[node_of >= 0]]
    played = ~np.isnan(rows).all(axis=(0, 2)) if rows.size else np.zeros(rows.shape[1], dtype=bool)
    profile = np.zeros(rows.shape[1:])
    profile[played] = np.nanmedian(rows[:, played], axis=0) if played.any() else 0.0
    return profile


def _shared_roles(pieces: Sequence[Piece], found: Sequence[np.ndarray], anchors: int) -> list[np.ndarray]:
    """The same pairings without what is no pairing: a node none of whose edges another member has plays no role.

    Roles that nobody plays go; the others are sorted by how much members agree on them, the target staying first.
    """
    joined = np.array([permuted(piece.adjacency, node_of) > 0 for piece, node_of in zip(pieces, found, strict=True)])
    others = joined.sum(0) > (1 if len(pieces) > 1 else 0)  # (R, R)
    plays = (joined & others).any(2)  # (M, R)
    plays[:, :anchors] = True
    kept = [np.where(row, node_of, -1) for row, node_of in zip(plays, found, strict=True)]
    strength = (joined & others).sum(axis=(0, 1)).astype(float)
    strength[:anchors] = np.inf
    order = np.argsort(-strength, kind="stable")
    order = order[np.array(kept)[:, order].max(0) >= 0]
    return [node_of[order] for node_of in kept]
