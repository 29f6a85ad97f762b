"""One member of a prototype: its nodes in the roles of the class, and how it differs from what the members share."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from explainer_core.explanation.result import Explanation
from explainer_core.targets import Target

MAJORITY = 0.5  # an edge that at least this share of the members has is the prototype's; so the median is not zero
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Member:
    """One explanation with its nodes in the roles of the prototype."""

    explanation: Explanation = field(repr=False)
    nodes: tuple[int | None, ...]  # (roles,): the node in each role, None where there is none
    edges: tuple[Pair, ...]  # the part of the explanation that was aligned: pairs of nodes, smaller number first
    weights: tuple[float, ...]  # of these edges
    unaligned: tuple[int, ...] = ()  # nodes of these edges that have no role
    missing: tuple[Pair, ...] = ()  # pairs of roles that the prototype joins and this member does not
    extra: tuple[Pair, ...] = ()  # edges of this member that the prototype does not have
    distance: float = 0.0  # missing and extra edges as a share of all that either has: 0 the same, 1 nothing shared

    @property
    def target(self) -> Target:
        return self.explanation.target

    def role_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges between nodes that have roles, as pairs of roles (e, 2), and which edges they are (e,)."""
        role = {node: r for r, node in enumerate(self.nodes) if node is not None}
        inside = [i for i, (a, b) in enumerate(self.edges) if a in role and b in role]
        pairs = [sorted((role[a], role[b])) for a, b in (self.edges[i] for i in inside)]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(inside, dtype=np.int64)


def role_matrices(members: Sequence[Member]) -> tuple[np.ndarray, np.ndarray]:
    """Whether each member joins each two roles, and by what weight: (members, roles, roles), twice."""
    shape = (len(members), len(members[0].nodes), len(members[0].nodes))
    joined, weight = np.zeros(shape, dtype=bool), np.zeros(shape)
    for i, member in enumerate(members):
        pairs, edges = member.role_pairs()
        for a, b in (pairs.T, pairs.T[::-1]):
            joined[i, a, b], weight[i, a, b] = True, np.array(member.weights)[edges]
    return joined, weight


def compared_member(member: Member, agreement: np.ndarray) -> Member:
    """The member with all that sets it apart from the prototype."""
    pairs, inside = member.role_pairs()
    own = set(map(tuple, pairs.tolist()))
    common = set(majority_pairs(agreement))
    shared = {member.edges[i] for i, pair in zip(inside, map(tuple, pairs.tolist()), strict=True) if pair in common}
    extra = tuple(edge for edge in member.edges if edge not in shared)
    missing = tuple(sorted(common - own))
    apart = len(missing) + len(extra)
    ends = {node for edge in member.edges for node in edge} | set(member.explanation.roots)
    return replace(
        member,
        unaligned=tuple(sorted(ends - set(member.nodes))),
        missing=missing,
        extra=extra,
        distance=apart / (apart + len(shared)) if apart else 0.0,
    )


def majority_pairs(agreement: np.ndarray) -> list[Pair]:
    """The pairs of roles that most members join, smaller role first."""
    return [(a, b) for a, b in np.argwhere(np.triu(agreement >= MAJORITY, 1)).tolist()]
