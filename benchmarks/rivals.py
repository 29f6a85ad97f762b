"""Every method on the same targets of one network, each cut to the same number of edges and judged by the network."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import networkx as nx
import numpy as np
from tqdm import tqdm

import explainer_core as xc
from benchmarks.pyg_peer import explained_by_pyg
from explainer_core.explanation import metrics
from explainer_core.explanation.comparing import on_edges_of
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.verifying import exchanged
from explainer_core.models import GNN

VERIFIED = "verified"


@dataclass(frozen=True, eq=False)
class Setting:
    """A network and the predictions it is asked to account for."""

    name: str
    data: xc.Graph | xc.GraphSet
    model: GNN
    gat: GNN | None  # whose attention is shown
    targets: list
    sizes: list[int]  # K_M of each target, in edges
    occluded: int | None = None  # occlusion looks at targets of at most so many edges, or it would not end
    pyg_steps: int = 100
    most_exchanged: int = 100  # exchanges cost as much as our whole method, for every other: so many targets get them

    @cached_property
    def frames(self) -> list[Explanation]:
        """The computation graphs, for weights that come from elsewhere."""
        return xc.explain_many(self.model, self.data, self.targets, xc.ExplainConfig(), "proximity")

    @property
    def exchanging(self) -> set[int]:
        """The targets that get exchanges, the same for every method, spread evenly."""
        last, count = len(self.targets) - 1, min(self.most_exchanged, len(self.targets))
        return set(np.linspace(0, last, count).astype(int).tolist())

    def of(self, chosen: Sequence[int]) -> "Setting":
        """The same with some of its targets."""
        return replace(self, targets=[self.targets[i] for i in chosen], sizes=[self.sizes[i] for i in chosen])


@dataclass(frozen=True)
class Judged:
    """What the network says of one subgraph for each target; not a number where the method was not run."""

    sufficiency: np.ndarray  # (T,): min(1, p(G_S) / p)
    necessity: np.ndarray  # (T,): p - p(without G_S)
    keeps: np.ndarray  # (T,): 1.0 where G_S alone keeps the class
    edges: np.ndarray  # (T,): how many the subgraph has

    @property
    def total(self) -> np.ndarray:
        return self.sufficiency + self.necessity


@dataclass(frozen=True)
class Row:
    """One method on one setting: its explanations (None where it was not run), as cut and with the same exchanges."""

    method: str
    explanations: list[Explanation | None]
    seconds: float  # for one explanation
    cut: Judged
    exchanged: Judged


def rows(setting: Setting, methods: Sequence[str] | None = None) -> list[Row]:
    """All methods that can explain this network, ours first."""
    found = []
    for method in tqdm(methods or METHODS, desc=setting.name, leave=False):
        if method != "attention" or setting.gat is not None:
            found.append(row(setting, method))
    return found


def row(setting: Setting, method: str) -> Row:
    explanations, seconds = timed(setting, method)
    found = {i: explanation for i, explanation in enumerate(explanations) if explanation is not None}
    there = list(found)
    own = method == VERIFIED  # shows the subgraph it found; the others are cut out of their ranking
    cut = [explanation if own else sized(explanation, setting.sizes[i]) for i, explanation in found.items()]
    kept = [explanation.subgraph() for explanation in cut]
    some = [row for row, i in enumerate(there) if i in setting.exchanging]
    better = exchanged(setting.model, setting.data, [cut[row] for row in some])
    return Row(
        method,
        explanations,
        seconds,
        _judged(setting, there, cut, kept),
        _judged(setting, [there[row] for row in some], [cut[row] for row in some], better),
    )


def timed(setting: Setting, method: str) -> tuple[list[Explanation | None], float]:
    """The explanations of all targets, and the seconds for one."""
    setting.frames  # noqa: B018  the graphs are cut out before the clock starts
    began = time.perf_counter()
    found = METHODS[method](setting)
    done = sum(explanation is not None for explanation in found)
    return found, (time.perf_counter() - began) / max(done, 1)


def _judged(setting: Setting, there: list[int], explanations, subgraphs) -> Judged:
    values = np.full((4, len(setting.targets)), np.nan)
    judged = metrics.faithfulness(setting.model, setting.data, explanations, subgraphs)
    for i, f, subgraph in zip(there, judged, subgraphs, strict=True):
        values[:, i] = min(1.0, f.kept / max(f.full, 1e-12)), f.full - f.without, f.keeps_class, len(subgraph.edges)
    return Judged(*values)


# The methods: each gives one explanation for each target of a setting, or None


def _explained(setting: Setting, method: str, config: Callable[..., xc.ExplainConfig] = xc.ExplainConfig) -> list:
    """Targets of one K_M are explained in one call."""
    found: list[Explanation | None] = [None] * len(setting.targets)
    for size in sorted(set(setting.sizes)):
        chosen = [i for i, own in enumerate(setting.sizes) if own == size]
        targets = [setting.targets[i] for i in chosen]
        made = xc.explain_many(setting.model, setting.data, targets, config(k_m=size, k_m_unit="edges"), method)
        for i, explanation in zip(chosen, made, strict=True):
            found[i] = explanation
    return found


def _occlusion(setting: Setting) -> list:
    """Hiding every edge of a large graph takes the square of its size."""
    limit = np.inf if setting.occluded is None else setting.occluded
    chosen = [i for i, frame in enumerate(setting.frames) if len(frame.undirected()[0]) <= limit]
    found: list[Explanation | None] = [None] * len(setting.targets)
    for i, explanation in zip(chosen, _explained(setting.of(chosen), "occlusion"), strict=True):
        found[i] = explanation
    return found


def _attention(setting: Setting) -> list:
    """What the data set's GAT looked at, on the edges of the network that is explained: it may be deeper or less deep."""
    if setting.gat is None:
        raise ValueError(f"attention needs a GAT (got none for {setting.name})")
    paid = xc.explain_many(setting.gat, setting.data, setting.targets, xc.ExplainConfig(), "attention")
    return [
        replace(on_edges_of(frame, other), explained_class=frame.explained_class)
        for frame, other in zip(setting.frames, paid, strict=True)
    ]


METHODS: dict[str, Callable[[Setting], list]] = {
    VERIFIED: partial(_explained, method=VERIFIED),
    "gnnexplainer": partial(_explained, method="gnnexplainer"),
    "the paper's form": partial(_explained, method="gnnexplainer", config=xc.ExplainConfig.paper),
    "gradient": partial(_explained, method="gradient"),
    "integrated_gradients": partial(_explained, method="integrated_gradients"),
    "attention": _attention,
    "occlusion": _occlusion,
    "random": partial(_explained, method="random"),
    "proximity": partial(_explained, method="proximity"),
    "PyG's GNNExplainer": lambda s: explained_by_pyg(s.model, s.data, s.frames, s.pyg_steps),
}


# The same number of edges for all


def sized(explanation: Explanation, size: int) -> Explanation:
    """The explanation with weights of which the G_S has exactly so many edges, where the graph has them.

    The cut keeps all edges of equal weight, and what becomes reachable above the threshold: between equals chance
    decides, and of a part that came out too large the lightest edges leave that do not tear it.
    """
    pairs, scores = explanation.undirected()
    chance = np.random.default_rng(0).permutation(len(scores))
    rank = np.empty(len(scores))
    rank[np.lexsort((chance, scores))] = np.arange(1, len(scores) + 1) / (len(scores) + 1)
    score = dict(zip(map(tuple, pairs.tolist()), rank.tolist(), strict=True))
    ranked = _weighted(explanation, size, score)
    kept = _trimmed(list(ranked.subgraph().edges), score, size, explanation.roots)
    return _weighted(ranked, size, score | {pair: 1 + score[pair] for pair in kept})


def _weighted(explanation: Explanation, size: int, score: dict[tuple[int, int], float]) -> Explanation:
    """The same graph with other weights, cut at so many edges by these weights alone."""
    ends = np.sort(explanation.edge_index, axis=0).T.tolist()
    return replace(
        explanation,
        config=replace(explanation.config, k_m=size, k_m_unit="edges"),
        edge_weight=np.array([score[tuple(pair)] for pair in ends]),
        size=size,
        table=(),
        verdict=None,
    )


def _trimmed(kept: list[tuple[int, int]], score: dict, size: int, roots: Sequence[int]) -> list[tuple[int, int]]:
    kept = sorted(kept, key=score.__getitem__)
    while len(kept) > size:
        kept.remove(next(pair for pair in kept if _hangs_together([edge for edge in kept if edge != pair], roots)))
    return kept


def _hangs_together(edges: list[tuple[int, int]], roots: Sequence[int]) -> bool:
    """In one piece, or each piece at one of the roots."""
    return nx.is_connected(nx.Graph(edges + [("roots", root) for root in roots]))
