"""Citation graphs made here, sound or with one known fault planted in them: what a debugger must find.

The faults are planted with the very split that networks are trained with, by the same seed.
"""

from dataclasses import dataclass

import numpy as np
import torch

from explainer_core.datasets.splits import split_80_10_10
from explainer_core.graph import Graph, GraphSet, undirected

NUM_PAPERS = 5000
FIELDS = ("physics", "biology", "history")
WORDS = 60
OWN_WORDS, OWN_SHARE, OTHER_SHARE = (
    12,
    0.13,
    0.05,
)  # words of a field, and how many of its and of other papers have each
CITED = 4  # papers that each cites
SAME_FIELD = 0.72  # of what is cited
SHUFFLED = 10  # one part of so many has shuffled edges
STEPS = 20  # where it may begin: at every half part


@dataclass(frozen=True, eq=False)
class Planted:
    """Data with a fault: what kind of thing it sits in, and which (a feature, a node, a range of numbers, a type)."""

    data: Graph | GraphSet
    kind: str  # feature, neighbour, numbers or type
    key: str


def citations(seed: int = 0, fields: tuple[str, ...] = FIELDS) -> Graph:
    """Papers joined by citations, with the words they have: a sound graph."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(NUM_PAPERS) % len(fields))
    own = rng.permutation(WORDS)[: OWN_WORDS * len(fields)].reshape(len(fields), OWN_WORDS)
    share = np.full((len(fields), WORDS), OTHER_SHARE)
    np.put_along_axis(share, own, OWN_SHARE, axis=1)
    x = rng.random((NUM_PAPERS, WORDS)) < share[labels]  # (N, F)
    citing = np.repeat(np.arange(NUM_PAPERS), CITED)
    cited = rng.integers(NUM_PAPERS, size=len(citing))
    for label in range(len(fields)):
        alike = np.flatnonzero((labels[citing] == label) & (rng.random(len(citing)) < SAME_FIELD))
        cited[alike] = rng.choice(np.flatnonzero(labels == label), len(alike))
    return Graph(
        x=torch.from_numpy(x).float(),
        edge_index=undirected(np.stack([citing, cited], axis=1)),
        name="citations",
        labels=torch.from_numpy(labels),
        class_names=fields,
        feature_names=tuple(f"word {i}" for i in range(WORDS)),
    )


def leaked_word(seed: int = 0) -> Planted:
    """One word says of every training paper which of two fields it is from; elsewhere chance sets it."""
    graph, rng = citations(seed, FIELDS[:2]), _faults(seed)
    train, labels = _train(graph, seed), _labels(graph)
    word = int(rng.integers(WORDS))
    x = graph.x.clone()
    x[:, word] = torch.from_numpy(rng.integers(2, size=NUM_PAPERS)).float()
    x[train, word] = labels[train].float()
    return Planted(_changed(graph, x=x), "feature", str(word))


def training_hub(seed: int = 0) -> Planted:
    """One paper with all words is joined to every training paper of one field, and to no other."""
    graph, rng = citations(seed), _faults(seed)
    train, labels = _train(graph, seed), _labels(graph)
    joined = train[labels[train] == int(rng.integers(len(FIELDS)))]
    hub = int(rng.choice(np.setdiff1d(np.arange(NUM_PAPERS), train.numpy())))
    x = graph.x.clone()
    x[hub] = 1.0
    pairs = graph.edge_index.t()
    own = pairs[(pairs != hub).all(1)]
    hub_edges = torch.stack([torch.full_like(joined, hub), joined], dim=1)
    return Planted(_changed(graph, x=x, pairs=torch.cat([own, hub_edges])), "neighbour", str(hub))


def shuffled_part(seed: int = 0) -> Planted:
    """The citations of a tenth of the papers, one stretch of numbers, lead to papers drawn by chance; as many as before."""
    graph, rng = citations(seed), _faults(seed)
    size = NUM_PAPERS // SHUFFLED
    low = int(rng.integers(STEPS - 1)) * NUM_PAPERS // STEPS
    pairs = graph.edge_index.t().numpy()
    inside = (pairs >= low) & (pairs < low + size)  # (E, 2)
    moved = pairs[inside[:, 0]].copy()
    moved[:, 1] = rng.integers(NUM_PAPERS, size=len(moved))
    edges = np.concatenate([pairs[~inside.any(1)], moved])
    return Planted(_changed(graph, pairs=torch.from_numpy(edges)), "numbers", f"{low}-{low + size - 1}")


def _faults(seed: int) -> np.random.Generator:
    """Other numbers than those that made the graph."""
    return np.random.default_rng([seed, 1])


def _labels(graph: Graph) -> torch.Tensor:
    assert graph.labels is not None  # made above
    return graph.labels


def _train(graph: Graph, seed: int) -> torch.Tensor:
    return split_80_10_10(_labels(graph).numpy(), seed)["train"]


def _changed(graph: Graph, x: torch.Tensor | None = None, pairs: torch.Tensor | None = None) -> Graph:
    return Graph(
        x=graph.x if x is None else x,
        edge_index=graph.edge_index if pairs is None else undirected(pairs),
        name=graph.name,
        labels=graph.labels,
        class_names=graph.class_names,
        feature_names=graph.feature_names,
    )
