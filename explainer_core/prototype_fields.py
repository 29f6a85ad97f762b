"""A prototype as plain data: its members, what they share, how each differs from it; to JSON and back, nothing believed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx
import numpy as np

from explainer_core.alignment import Piece
from explainer_core.config import AUTO
from explainer_core.explanation import Explanation
from explainer_core.extraction import Subgraph, extract
from explainer_core.prototype_parts import heart, mean_feature_weight, scaled
from explainer_core.targets import Target

MAJORITY = 0.5  # an edge that at least this share of the members has is the prototype's; so the median is not zero
NEARLY_ALL = 0.8  # of the members: what makes the shape where no size is given
NUMBERS = {"cost": 0.0, "random_cost": 0.0, "share": 0.0}  # the fields that are plain numbers, and the least of each
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


@dataclass(frozen=True, eq=False)
class Prototype:
    """What the explanations of a class share. Plain data; a role is a node of the prototype.

    The target is role 0 (a link's ends are 0 and 1), and the other roles follow, those that members agree on most first.
    """

    label: int | None
    reference: Target
    members: tuple[Member, ...] = field(repr=False)
    features: np.ndarray | None = field(repr=False)  # (R, F): the median of each role
    feature_scale: np.ndarray | None = field(repr=False)  # (F,): how much a difference counted in the alignment
    cost: float  # of the alignment, on average: edges that only one side has, and differences of features
    random_cost: float  # of a random one
    share: float = 1.0  # of the class's members that this shape stands for
    clusters: tuple["Prototype", ...] = ()  # one for each shape, largest first, where there are several

    @property
    def num_roles(self) -> int:
        return len(self.members[0].nodes)

    @property
    def roots(self) -> tuple[int, ...]:
        """The roles of the target; none for whole graphs."""
        return tuple(range(len(self.members[0].explanation.roots)))

    @property
    def reference_member(self) -> Member:
        return next(member for member in self.members if member.target == self.reference)

    @property
    def quality(self) -> float:
        """How much of the cost of a random alignment this one saves: 1 if all members are the same."""
        return 1 - self.cost / self.random_cost if self.random_cost > 0 else 1.0

    @property
    def outliers(self) -> tuple[Member, ...]:
        """The members, those least like the prototype first."""
        return tuple(sorted(self.members, key=lambda member: -member.distance))

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The pairs of roles that at least half of the members join."""
        return tuple(majority_pairs(self.agreement))

    @cached_property
    def _laid_out(self) -> tuple[np.ndarray, np.ndarray]:
        return laid_out(self.members)

    @cached_property
    def agreement(self) -> np.ndarray:
        """The share of the members that join each two roles: (R, R)."""
        return self._laid_out[0].mean(0)

    @cached_property
    def mean(self) -> np.ndarray:
        """Of the weights between each two roles, a member that does not join them counting zero: (R, R)."""
        return self._laid_out[1].mean(0)

    @cached_property
    def median(self) -> np.ndarray:
        """The paper's A_proto: the same, by the median: (R, R)."""
        return np.median(self._laid_out[1], axis=0)

    @cached_property
    def presence(self) -> np.ndarray:
        """The share of the members that have each role: (R,)."""
        return np.array([[node is not None for node in member.nodes] for member in self.members]).mean(0)

    @cached_property
    def feature_weight(self) -> np.ndarray | None:
        """How much each feature counts for the members, on average: (F,); None where nobody looked at features."""
        return mean_feature_weight([member.explanation for member in self.members])

    def top_features(self, k_f: int | None = None) -> tuple[int, ...]:
        """The K_F heaviest features of the class, heaviest first."""
        k_f = self.members[0].explanation.config.k_f if k_f is None else k_f
        if k_f < 1:
            raise ValueError(f"k_f must be at least 1 (got {k_f})")
        weights = np.empty(0) if self.feature_weight is None else self.feature_weight
        return tuple(np.argsort(-weights, kind="stable")[:k_f].tolist())

    def cut(self, num_nodes: int | None = None, num_edges: int | None = None) -> Subgraph:
        """The roles that members join to each other most, so many, and the edges between them.

        Kept are the edges that most members agree on, so many, or without a number those that at least half of the
        members have. Without any number K_M decides: so many nodes, or the fewest nodes with so many edges; where it is
        "auto", all that hangs together by edges that nearly all members have.
        """
        for name, value in (("num_nodes", num_nodes), ("num_edges", num_edges)):
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{name} must be at least 1 (got {value!r})")
        strength = self.agreement + 1e-3 * self.mean  # the weight decides between pairs as many members agree on
        if num_nodes is None and num_edges is None:
            explanation = self.members[0].explanation
            size, unit = explanation.size, explanation.config.k_m_unit
            shared = self._between(range(self.num_roles), NEARLY_ALL)
            if explanation.config.k_m == AUTO and len(shared):
                return extract(shared, strength[tuple(shared.T)], self.roots, len(shared), unit="edges")
            num_nodes, num_edges = (size, None) if unit == "nodes" else (None, size)
        if num_nodes is None:
            sizes = range(1, self.num_roles + 1)
            hearts = ((size, heart(strength, self.roots, size)) for size in sizes)
            enough = (size for size, roles in hearts if len(self._between(roles, MAJORITY)) >= num_edges)
            num_nodes = next(enough, self.num_roles)
        pairs = self._between(heart(strength, self.roots, num_nodes), 0.0 if num_edges else MAJORITY)
        return extract(pairs, strength[tuple(pairs.T)], self.roots, num_edges or len(pairs) or 1, unit="edges")

    def _between(self, roles: Sequence[int], least: float) -> np.ndarray:
        """Pairs of these roles that at least this share of the members joins: (e, 2)."""
        shown = np.isin(np.arange(self.num_roles), roles)
        joined = (self.agreement > 0) & (self.agreement >= least) & shown & shown[:, None]
        return np.argwhere(np.triu(joined, 1))

    @property
    def piece(self) -> Piece:
        """The prototype as members are aligned with it: agreement, and scaled features."""
        return Piece(self.agreement, scaled(self.features, self.feature_scale, self.num_roles))

    def to_networkx(self) -> nx.Graph:
        """All roles, and all pairs that any member joins; `kept` marks the prototype's own edges."""
        net = nx.Graph(label=self.label, share=self.share)
        for role in range(self.num_roles):
            net.add_node(role, presence=float(self.presence[role]), target=role in self.roots)
        for pair in map(tuple, np.argwhere(np.triu(self.agreement > 0, 1)).tolist()):
            values = {name: float(getattr(self, name)[pair]) for name in ("agreement", "mean", "median")}
            net.add_edge(*pair, **values, kept=pair in self.edges)
        return net

    def to_json(self) -> str:
        explanations = [member.explanation for member in self.members]
        written = [json.loads(explanation.to_json()) for explanation in explanations]
        return json.dumps({"explanations": written, "prototype": plain(self, explanations)})

    @classmethod
    def from_json(cls, text: str) -> "Prototype":
        """The prototype that `to_json` wrote. Everything is checked: a file may come from anywhere."""
        try:
            values = json.loads(text)
            explanations, whole = checked_explanations(values["explanations"]), values["prototype"]
            clusters = tuple(cls(**checked(part, explanations, nested=True)).compared() for part in whole["clusters"])
            return cls(**checked(whole, explanations), clusters=clusters).compared()
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise ValueError(f"this is not a prototype written by to_json ({type(error).__name__}: {error})") from error

    def compared(self) -> "Prototype":
        """The same, with all that sets each member apart."""
        return replace(self, members=tuple(compared_member(member, self.agreement) for member in self.members))


def laid_out(members: Sequence[Member]) -> tuple[np.ndarray, np.ndarray]:
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
    return [tuple(pair) for pair in np.argwhere(np.triu(agreement >= MAJORITY, 1)).tolist()]


# To JSON and back. What follows from the members is written for the reader, and worked out again when read.


def plain(prototype, explanations: Sequence[Explanation]) -> dict:
    """One prototype with members that name their explanation by its place in the list."""
    place = {id(explanation): i for i, explanation in enumerate(explanations)}
    arrays = ("agreement", "mean", "median", "presence", "features", "feature_scale")
    return {
        "label": prototype.label,
        "reference": place[id(prototype.reference_member.explanation)],
        **{name: getattr(prototype, name) for name in NUMBERS},
        **{name: None if (values := getattr(prototype, name)) is None else values.tolist() for name in arrays},
        "members": [
            {
                "explanation": place[id(member.explanation)],
                **{name: getattr(member, name) for name in ("nodes", "edges", "weights")},
                **{name: getattr(member, name) for name in ("unaligned", "missing", "extra", "distance")},
            }
            for member in prototype.members
        ],
        "clusters": [plain(cluster, explanations) for cluster in prototype.clusters],
    }


def checked_explanations(values) -> list[Explanation]:
    return [Explanation.from_json(json.dumps(one)) for one in values]


def checked(values: dict, explanations: Sequence[Explanation], *, nested: bool = False) -> dict:
    """The fields out of a file, each of its type and all fitting together; raises what it trips over."""
    members = tuple(_member(one, explanations) for one in values["members"])
    roles = {len(member.nodes) for member in members}
    reference = explanations[_whole("reference", values["reference"], len(explanations))]
    label = values["label"]
    fields = {name: _number(name, values[name], least) for name, least in NUMBERS.items()}
    features, scale = (_array(name, values[name], ndim) for name, ndim in (("features", 2), ("feature_scale", 1)))
    rules = {
        "members with one and the same number of roles": len(roles) == 1,
        "each explanation once": len({id(member.explanation) for member in members}) == len(members),
        "targets in the first roles": all(m.nodes[: len(m.explanation.roots)] == m.explanation.roots for m in members),
        "targets of one kind": len({type(member.target) for member in members}) == 1,
        "its reference among the members": any(member.explanation is reference for member in members),
        "a share of at most 1": fields["share"] <= 1,
        "features for each role": features is None or {len(features)} == roles,
        "one scale for each feature": (features is None) == (scale is None)
        and (features is None or features.shape[1] == len(scale)),
        "a label or none": label is None or _whole("label", label, len(reference.probabilities)) >= 0,
        "clusters without clusters": not (nested and values["clusters"]),
    }
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"it must have {rule}")
    return fields | {
        "label": label,
        "reference": reference.target,
        "members": members,
        "features": features,
        "feature_scale": scale,
    }


def _member(values: dict, explanations: Sequence[Explanation]) -> Member:
    explanation = explanations[_whole("explanation", values["explanation"], len(explanations))]
    known = set(explanation.nodes.tolist())
    pairs = set(map(tuple, explanation.undirected()[0].tolist()))
    nodes = tuple(None if node is None else _whole("node", node) for node in values["nodes"])
    edges = tuple((_whole("edge", a), _whole("edge", b)) for a, b in values["edges"])
    weights = tuple(_number("weight", weight, 0.0) for weight in values["weights"])
    played = [node for node in nodes if node is not None]
    if len(weights) != len(edges) or len(set(edges)) < len(edges) or not set(edges) <= pairs:
        raise ValueError("a member must have edges of its explanation, each once and with a weight")
    if len(set(played)) < len(played) or not set(played) <= known:
        raise ValueError("a member must have nodes of its explanation, each in one role")
    return Member(explanation, nodes, edges, weights)


def _whole(name: str, value, below: int | None = None) -> int:
    if type(value) is not int or value < 0 or (below is not None and value >= below):
        raise ValueError(
            f"{name} must be a whole number from 0{'' if below is None else f' to {below - 1}'} (got {value!r})"
        )
    return value


def _number(name: str, value, least: float) -> float:
    if type(value) not in (int, float) or not np.isfinite(value) or value < least:
        raise ValueError(f"{name} must be a number from {least:g} (got {value!r})")
    return float(value)


def _array(name: str, value, ndim: int) -> np.ndarray | None:
    if value is None:
        return None
    found = np.array(value)
    if found.ndim != ndim or (found.size and found.dtype.kind not in "iuf") or not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite numbers in {ndim} dimensions (got {found.dtype} {found.shape})")
    return found.astype(float)
