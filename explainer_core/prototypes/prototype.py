"""A prototype as plain data: its members, what they share, how each differs from it; to JSON and back, nothing believed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx
import numpy as np

from explainer_core.checks import cut as cut_text
from explainer_core.config import AUTO
from explainer_core.explanation.extraction import Subgraph, extract
from explainer_core.prototypes.alignment import Piece
from explainer_core.prototypes.member import MAJORITY, Member, Pair, compared_member, majority_pairs, role_matrices
from explainer_core.prototypes.parts import densest_part, mean_feature_weight, scaled
from explainer_core.prototypes.serialization import checked, checked_explanations, plain
from explainer_core.targets import Target

NEARLY_ALL = 0.8  # of the members: what makes the shape where no size is given


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
    def _role_matrices(self) -> tuple[np.ndarray, np.ndarray]:
        return role_matrices(self.members)

    @cached_property
    def agreement(self) -> np.ndarray:
        """The share of the members that join each two roles: (R, R)."""
        return self._role_matrices[0].mean(0)

    @cached_property
    def mean(self) -> np.ndarray:
        """Of the weights between each two roles, a member that does not join them counting zero: (R, R)."""
        return self._role_matrices[1].mean(0)

    @cached_property
    def median(self) -> np.ndarray:
        """The paper's A_proto: the same, by the median: (R, R)."""
        return np.median(self._role_matrices[1], axis=0)

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
            assert num_edges is not None  # one of the two is a number by now
            num_nodes = self._fewest_nodes(strength, num_edges)
        pairs = self._between(densest_part(strength, self.roots, num_nodes), 0.0 if num_edges else MAJORITY)
        return extract(pairs, strength[tuple(pairs.T)], self.roots, num_edges or len(pairs) or 1, unit="edges")

    def _fewest_nodes(self, strength: np.ndarray, num_edges: int) -> int:
        """The size of the smallest densest part in which most members have so many edges; all roles where none has."""
        for size in range(1, self.num_roles + 1):
            if len(self._between(densest_part(strength, self.roots, size), MAJORITY)) >= num_edges:
                return size
        return self.num_roles

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
            explanations, everyone = checked_explanations(values["explanations"]), values["prototype"]
            clusters = tuple(
                cls(**checked(part, explanations, nested=True)).compared() for part in everyone["clusters"]
            )
            return cls(**checked(everyone, explanations), clusters=clusters).compared()
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"this is not a prototype written by to_json ({type(error).__name__}: {cut_text(str(error), 300)})"
            ) from error

    def compared(self) -> "Prototype":
        """The same, with all that sets each member apart."""
        return replace(self, members=tuple(compared_member(member, self.agreement) for member in self.members))
