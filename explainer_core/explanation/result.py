"""The result of a method: every edge and feature with its weight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from explainer_core.checks import at_least, cut, one_of
from explainer_core.config import AUTO, ExplainConfig
from explainer_core.explanation.extraction import EdgesAt, Subgraph, edges_at, extract
from explainer_core.explanation.interactive import notebook_html, to_pyvis
from explainer_core.explanation.pyg import to_pyg
from explainer_core.explanation.serialization import checked_fields, plain_fields
from explainer_core.explanation.verdict import PROTOCOLS, Judged, Verdict
from explainer_core.extras import load_extra
from explainer_core.targets import TASKS, Link, Node, Target

if TYPE_CHECKING:
    import pandas as pd

    from explainer_core.graph import Graph, GraphSet


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model predicted what it did. Plain data: numbers of the original graph, floats and numpy arrays.

    `edge_weight` is what the method weighs, an optimised mask for instance; `undirected` gives the one score of every
    pair that tables, files and pictures show: the same, with G_S before all others where it was found by asking the model.
    """

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
    feature_weight: np.ndarray | None  # (F,): the score features are ranked by
    size: int = 6  # K_M: as asked for, or as "auto" came out
    verdict: Verdict | None = None
    table: tuple[Judged, ...] = ()  # hard subgraphs of every size, where they were found by asking the model
    feature_mask: np.ndarray | None = None  # (F,): as optimised, where the ranking follows something else
    feature_absent: np.ndarray | None = None  # (F,) bool: zero in all kept nodes, so that its absence is what matters
    edge_spread: np.ndarray | None = None  # (e,): standard deviation over the seeds
    seed_weights: np.ndarray | None = None  # (seeds, e)
    history: dict[str, list[float]] = field(default_factory=dict)  # loss terms, step by step
    snapshots: tuple[tuple[int, np.ndarray], ...] = ()  # (step, edge weights)
    sampled: bool = False
    steps: int = 0

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes the explanation grows from; none for a whole graph."""
        if isinstance(self.target, Node):
            return (self.target.node,)
        return (self.target.source, self.target.head) if isinstance(self.target, Link) else ()

    @property
    def protocol(self) -> str:
        """How its subgraphs are judged."""
        return PROTOCOLS[TASKS[type(self.target)]]

    def undirected(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of nodes (u, 2), smaller number first, and their scores (u,): the mean over directions.

        Where both ends of a link look at an edge, the end that it matters more to counts. A G_S that was found by
        asking the model comes before all others.
        """
        if weights is None:
            return self.pairs, self._scores
        return self.pairs, self._mean_over_directions(weights)

    @cached_property
    def _scores(self) -> np.ndarray:
        scores = self._mean_over_directions(self.edge_weight)
        return self._kept_first(scores, self.subgraph()) if self.table else scores

    def scores_at(self, kept: Subgraph) -> np.ndarray:
        """The scores (u,) that `undirected` would give if this were the G_S that is shown."""
        scores = self._mean_over_directions(self.edge_weight)
        return self._kept_first(scores, kept) if self.table else scores

    def _mean_over_directions(self, weights: np.ndarray) -> np.ndarray:
        if weights.size == 0:
            return np.empty(0)
        size = 2 * len(self.pairs)
        in_part = 2 * self.pair_numbers + self.edge_part
        count = np.bincount(in_part, minlength=size)
        mean = np.bincount(in_part, weights=weights, minlength=size) / np.maximum(count, 1)
        return np.where(count > 0, mean, -np.inf).reshape(-1, 2).max(1)

    def _kept_first(self, scores: np.ndarray, shown: Subgraph) -> np.ndarray:
        """The same scores handed out anew: the largest to G_S, the others to the other pairs as they stood."""
        kept = np.zeros(len(scores), dtype=bool)
        kept[self.positions(shown.edges)] = True
        falling = np.argsort(-scores, kind="stable")
        handed_out = np.empty_like(scores)
        handed_out[np.concatenate([falling[kept[falling]], falling[~kept[falling]]])] = scores[falling]
        if kept.any() and not kept.all():
            # a hair above the others, where all weigh the same
            handed_out[kept] = np.maximum(handed_out[kept], handed_out[~kept].max() * (1 + 1e-9) + 1e-12)
        return handed_out

    @cached_property
    def _numbered_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        if self.edge_weight.size == 0:
            return np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
        low, high = self.edge_index.min(0), self.edge_index.max(0)
        keys, number = np.unique(low * (high.max() + 1) + high, return_inverse=True)
        return np.stack(np.divmod(keys, high.max() + 1), axis=1), number

    @property
    def pairs(self) -> np.ndarray:
        """The undirected pairs, smaller number first, sorted: (u, 2)."""
        return self._numbered_pairs[0]

    @property
    def pair_numbers(self) -> np.ndarray:
        """The number of the pair each directed edge belongs to: (e,)."""
        return self._numbered_pairs[1]

    def positions(self, edges: Sequence[tuple[int, int]], *, strict: bool = True) -> np.ndarray:
        """The numbers of these pairs, smaller number first in each; of what is none -1, where that is allowed: (edges,)."""
        asked, pairs = np.array(edges, dtype=np.int64).reshape(-1, 2), self.pairs
        found = np.full(len(asked), -1, dtype=np.int64)
        if len(pairs):
            base = int(max(pairs.max(), asked.max(initial=0))) + 1
            keys = pairs[:, 0] * base + pairs[:, 1]  # sorted, as the pairs are
            wanted = asked[:, 0] * base + asked[:, 1]
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = np.where((keys[at] == wanted) & (asked >= 0).all(1), at, -1)
        if strict and (found < 0).any():
            raise ValueError("a part must consist of edges of the explanation, the smaller number first (got others)")
        return found

    @cached_property
    def pair_hops(self) -> np.ndarray:
        """Steps from the target to the nearer end of each pair: (u,)."""
        names, number = np.unique(self.nodes, return_inverse=True)  # a node may be on both sides of a link
        hop = np.full(len(names), np.iinfo(np.int64).max)
        np.minimum.at(hop, number, self.hop)
        return hop[np.searchsorted(names, self.pairs)].min(1) if len(self.pairs) else np.empty(0, dtype=np.int64)

    @cached_property
    def edges_at(self) -> EdgesAt:
        """The pairs at each node."""
        return edges_at(self.pairs) if len(self.pairs) else {}

    def subgraph(
        self,
        k_m: int | None = None,
        *,
        unit: str | None = None,
        connected: bool | None = None,
        weights: np.ndarray | None = None,
    ) -> Subgraph:
        """G_S of size K_M, instantly: nothing is optimised again.

        The one found by asking the model where there is one of this size, else the heaviest edges around the target.
        `weights` are others for the same edges, such as those of a single seed.
        """
        k_m = self.size if k_m is None or (isinstance(k_m, str) and k_m == AUTO) else at_least("k_m", k_m, 1)
        unit = self.config.k_m_unit if unit is None else one_of("unit", unit, ("nodes", "edges"))
        connected = self.config.connected if connected is None else connected
        if weights is None and self.table and connected == self.config.connected:
            found = self.judged(k_m, unit)
            if found is not None:
                return Subgraph.of(found.edges, self.roots)
        scores = self._mean_over_directions(self.edge_weight) if weights is None else self.undirected(weights)[1]
        settings = {"unit": unit, "connected": connected, "hop": self.pair_hops, "touching": self.edges_at}
        return extract(self.pairs, scores, self.roots, k_m, **settings)

    def judged(self, k_m: int, unit: str | None = None) -> Judged | None:
        """The best of all subgraphs of exactly this size that the model was asked about; beyond the largest, that one."""
        sized = self._by_size["edges" if (unit or self.config.k_m_unit) == "edges" else "nodes"]
        if not sized or k_m < min(sized):
            return None
        return sized[k_m] if k_m in sized else sized[max(size for size in sized if size <= k_m)]

    @cached_property
    def _by_size(self) -> dict[str, dict[int, Judged]]:
        """The table by number of edges and by number of nodes: the first of a size, and the last."""
        sizes: dict[str, dict[int, Judged]] = {"edges": {}, "nodes": {}}
        for judged in reversed(self.table):
            sizes["edges"][len(judged.edges)] = judged
            sizes["nodes"].setdefault(len({end for edge in judged.edges for end in edge} | set(self.roots)), judged)
        return sizes

    def top_features(self, k_f: int | None = None) -> tuple[int, ...]:
        """The K_F heaviest features, heaviest first; none where the method does not look at features."""
        k_f = self.config.k_f if k_f is None else k_f
        at_least("k_f", k_f, 1)
        if self.feature_weight is None:
            return ()
        return tuple(int(i) for i in np.argsort(-self.feature_weight, kind="stable")[:k_f])

    @property
    def edge_score(self) -> np.ndarray:
        """The score of every directed edge: that of its pair, as pictures and files show it. (e,)"""
        return self._scores[self.pair_numbers] if len(self.pairs) else np.empty(0)

    def to_pandas(self) -> pd.DataFrame:
        """One row for each directed edge, heaviest first: the score of its pair, and what the method itself gave it."""
        frame = load_extra("pandas", "notebook", "to_pandas").DataFrame(
            {
                "source": self.edge_index[0],
                "head": self.edge_index[1],
                "weight": self.edge_score,
                "mask": self.edge_weight,
                "edge": self.edge_ids,
                "part": self.edge_part,
            }
        )
        return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)

    def to_networkx(self, k_m: int | None = None) -> nx.Graph:
        """The computation graph with the score of every edge and the mask behind it; `kept` marks G_S."""
        pairs, scores = self.undirected()
        masks = self._mean_over_directions(self.edge_weight)
        kept = self.subgraph(k_m)
        kept_edges, kept_nodes = set(kept.edges), set(kept.nodes)
        net = nx.Graph(method=self.method, predicted_class=self.predicted_class, protocol=self.protocol)
        for node, hop in zip(self.nodes.tolist(), self.hop.tolist(), strict=True):
            net.add_node(node, hop=hop, kept=node in kept_nodes, target=node in self.roots)
        for pair, score, mask in zip(map(tuple, pairs.tolist()), scores.tolist(), masks.tolist(), strict=True):
            net.add_edge(*pair, weight=score, mask=mask, kept=pair in kept_edges)
        return net

    def to_pyvis(self, graph: Graph | None = None, k_m: int | None = None) -> Any:
        """A pyvis Network to drag about, which opens offline; with the graph, in its names and classes."""
        return to_pyvis(self, graph, k_m)

    def to_pyg(self, data: Graph | GraphSet, *, hard: bool = False, model_args: Sequence[str] = ()) -> Any:
        """A torch_geometric Explanation: edge_mask over all edges of the graph, by score, or 1 for G_S and 0 with `hard`.

        `model_args` names what the network is called with beside x and edge_index, for PyG's own metrics.
        """
        return to_pyg(self, data, hard=hard, model_args=model_args)

    def _repr_html_(self) -> str | None:
        return notebook_html(self)

    def to_json(self) -> str:
        """All numbers. `edge_score` and `protocol` are written for readers in other tools; they follow from the rest."""
        plain = plain_fields({f.name: getattr(self, f.name) for f in fields(self)})
        return json.dumps(plain | {"edge_score": self.edge_score.tolist(), "protocol": self.protocol})

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """The explanation that `to_json` wrote. Everything is checked: a file may come from anywhere."""
        try:
            return cls(**checked_fields(json.loads(text)))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"this is not an explanation written by to_json ({type(error).__name__}: {cut(str(error), 300)})"
            ) from error
