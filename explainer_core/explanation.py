"""The result of a method: every edge and feature with its weight."""

import json
from dataclasses import dataclass, field, fields
from functools import cached_property

import networkx as nx
import numpy as np
import pandas as pd

from explainer_core.config import ExplainConfig
from explainer_core.explanation_fields import checked_fields, plain_fields
from explainer_core.extraction import EdgesAt, Subgraph, edges_at, extract
from explainer_core.targets import Link, Node, Target


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model predicted what it did. Plain data: numbers of the original graph, floats and numpy arrays."""

    target: Target
    method: str
    config: ExplainConfig
    explained_class: int | None  # None: the whole distribution
    predicted_class: int
    probabilities: tuple[float, ...]  # on the whole computation graph
    masked_probabilities: tuple[float, ...] | None  # with the soft masks on, where the method has masks
    edge_index: np.ndarray  # (2, e): directed edges of the computation graph; a link's second part follows its first
    edge_ids: np.ndarray  # (e,): their numbers in the graph
    edge_weight: np.ndarray  # (e,)
    edge_part: np.ndarray  # (e,): 0, or 1 for the head's side of a link
    nodes: np.ndarray  # (n,): nodes of the computation graph, nearest first
    hop: np.ndarray  # (n,): steps from the target; zero throughout for a whole graph
    feature_weight: np.ndarray | None  # (F,)
    edge_spread: np.ndarray | None = None  # (e,): standard deviation over the seeds
    seed_weights: np.ndarray | None = None  # (seeds, e)
    history: dict[str, list[float]] = field(default_factory=dict)  # loss terms, step by step
    snapshots: tuple[tuple[int, np.ndarray], ...] = ()  # (step, edge weights)
    core: tuple[tuple[int, int], ...] = ()  # pairs that refinement put before all others, in this order
    sampled: bool = False
    steps: int = 0

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes the explanation grows from; none for a whole graph."""
        if isinstance(self.target, Node):
            return (self.target.node,)
        return (self.target.source, self.target.head) if isinstance(self.target, Link) else ()

    def undirected(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of nodes (u, 2), smaller number first, and their scores (u,): the mean over directions.

        Where both ends of a link look at an edge, the end that it matters more to counts. The pairs of a refined
        core come before all others.
        """
        refined = weights is None and bool(self.core)
        weights = self.edge_weight if weights is None else weights
        if weights.size == 0:
            return np.empty((0, 2), dtype=np.int64), np.empty(0)
        pairs, number = self._pairs
        in_part = 2 * number + self.edge_part
        count = np.bincount(in_part, minlength=2 * len(pairs))
        mean = np.bincount(in_part, weights=weights, minlength=2 * len(pairs)) / np.maximum(count, 1)
        scores = np.where(count > 0, mean, -np.inf).reshape(-1, 2).max(1)
        return pairs, self._core_first(pairs, scores) if refined else scores

    def _core_first(self, pairs: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The same scores handed out anew: the largest to the core, the others to the other pairs as they stood."""
        place = {pair: i for i, pair in enumerate(map(tuple, pairs.tolist()))}
        core = np.array([place[pair] for pair in self.core])
        falling = np.argsort(-scores, kind="stable")
        order = np.concatenate([core, falling[~np.isin(falling, core)]])
        handed_out = np.empty_like(scores)
        handed_out[order] = scores[falling]
        levels = self._core_levels()
        last_of_level = (
            np.searchsorted(levels, levels, side="right") - 1
        )  # pairs of one level share the least of its scores
        # a hair above the next, or a tie would let others in
        handed_out[core] = scores[falling][last_of_level] * (1 + 1e-9) + 1e-12
        return handed_out

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The undirected pairs (u, 2), sorted, and the number of the pair each directed edge belongs to (e,)."""
        low, high = self.edge_index.min(0), self.edge_index.max(0)
        keys, number = np.unique(low * (high.max() + 1) + high, return_inverse=True)
        return np.stack(np.divmod(keys, high.max() + 1), axis=1), number

    @cached_property
    def _edges_at(self) -> EdgesAt:
        return edges_at(self._pairs[0]) if self.edge_weight.size else {}

    def _core_levels(self) -> np.ndarray:
        """The rank of each pair of the core. Ranks tie so that the K_M it was made for gives the whole core."""
        if self.config.k_m_unit == "edges":
            return np.minimum(np.arange(len(self.core)), self.config.k_m - 1)
        reached, level, levels = set(self.roots), -1, []
        for pair in self.core:
            # a pair between nodes that are in already costs no K_M, and past K_M all tie
            level += level < 0 or (len(reached) < self.config.k_m and not set(pair) <= reached)
            reached |= set(pair)
            levels.append(level)
        return np.array(levels)

    def subgraph(
        self,
        k_m: int | None = None,
        *,
        unit: str | None = None,
        connected: bool | None = None,
        weights: np.ndarray | None = None,
    ) -> Subgraph:
        """G_S of size K_M: the heaviest edges around the target that reach it. Instant: nothing is learnt again.

        `weights` are others for the same edges, such as those of a single seed.
        """
        config = self.config
        return extract(
            *self.undirected(weights),
            self.roots,
            config.k_m if k_m is None else k_m,
            unit=config.k_m_unit if unit is None else unit,
            connected=config.connected if connected is None else connected,
            touching=self._edges_at,
        )

    def top_features(self, k_f: int | None = None) -> tuple[int, ...]:
        """The K_F heaviest features, heaviest first; none where the method does not look at features."""
        k_f = self.config.k_f if k_f is None else k_f
        if k_f < 1:
            raise ValueError(f"k_f must be at least 1 (got {k_f})")
        if self.feature_weight is None:
            return ()
        return tuple(int(i) for i in np.argsort(-self.feature_weight, kind="stable")[:k_f])

    def to_pandas(self) -> pd.DataFrame:
        """One row for each directed edge, heaviest first."""
        frame = pd.DataFrame(
            {
                "source": self.edge_index[0],
                "head": self.edge_index[1],
                "weight": self.edge_weight,
                "edge": self.edge_ids,
                "part": self.edge_part,
            }
        )
        return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)

    def to_networkx(self, k_m: int | None = None) -> nx.Graph:
        """The computation graph with weights; `kept` marks G_S."""
        pairs, scores = self.undirected()
        kept = self.subgraph(k_m)
        kept_edges, kept_nodes = set(kept.edges), set(kept.nodes)
        net = nx.Graph(method=self.method, predicted_class=self.predicted_class)
        for node, hop in zip(self.nodes.tolist(), self.hop.tolist(), strict=True):
            net.add_node(node, hop=hop, kept=node in kept_nodes, target=node in self.roots)
        for pair, score in zip(map(tuple, pairs.tolist()), scores.tolist(), strict=True):
            net.add_edge(*pair, weight=score, kept=pair in kept_edges)
        return net

    def to_json(self) -> str:
        return json.dumps(plain_fields({f.name: getattr(self, f.name) for f in fields(self)}))

    @classmethod
    def from_json(cls, text: str) -> "Explanation":
        """The explanation that `to_json` wrote. Everything is checked: a file may come from anywhere."""
        try:
            return cls(**checked_fields(json.loads(text)))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"this is not an explanation written by to_json ({type(error).__name__}: {error})"
            ) from error
