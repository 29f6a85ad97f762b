"""BA-2motifs (Luo et al. 2020): small random trees with a house or a ring hung on each; which of the two is it?"""

import networkx as nx
import numpy as np
import torch

from explainer_core.datasets.synthetic import HOUSE_EDGES
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.graph.rules import NO_MOTIF

NUM_GRAPHS = 1000
NUM_BASE, NUM_MOTIF = 20, 5  # nodes
RING_EDGES = tuple((i, (i + 1) % NUM_MOTIF) for i in range(NUM_MOTIF))
CLASSES = ("house", "ring")
MOTIF_EDGES = (HOUSE_EDGES, RING_EDGES)  # by class
NUM_FEATURES, FEATURE = 10, 0.1  # as published: ten features that say nothing


def ba_2motifs(seed: int = 0) -> GraphSet:
    """1,000 graphs: a 20-node Barabasi-Albert tree, and a house or a five-node ring on it by one random edge.

    The classes take turns, so that any stretch of the set holds both.
    """
    rng = np.random.default_rng(seed)
    return GraphSet.from_graphs((_graph(i, i % len(CLASSES), rng) for i in range(NUM_GRAPHS)), name="BA-2motifs")


def _graph(number: int, label: int, rng: np.random.Generator) -> Graph:
    base = nx.barabasi_albert_graph(NUM_BASE, 1, seed=rng)
    motif = np.asarray(MOTIF_EDGES[label]) + NUM_BASE
    hook = [[rng.integers(NUM_BASE), NUM_BASE + rng.integers(NUM_MOTIF)]]
    edge_index = undirected(np.concatenate([np.asarray(base.edges), motif, hook]))
    in_motif = torch.arange(NUM_BASE + NUM_MOTIF) >= NUM_BASE  # (N,)
    # the hook is the only edge with one end in the motif, so any edge with both ends there is the motif's own
    inside = in_motif[edge_index].all(0)  # (E,)
    return Graph(
        x=torch.full((NUM_BASE + NUM_MOTIF, NUM_FEATURES), FEATURE),
        edge_index=edge_index,
        name=f"graph {number}",
        label=label,
        node_motif=torch.where(in_motif, 0, NO_MOTIF),
        edge_motif=torch.where(inside, 0, NO_MOTIF),
        class_names=CLASSES,
        feature_names=tuple(f"constant {i}" for i in range(NUM_FEATURES)),
    )
