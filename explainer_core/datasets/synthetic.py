"""The paper's four synthetic graphs: motifs hung on a base graph, with the ground truth of every motif."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import torch

from explainer_core.graph import Graph, undirected
from explainer_core.graph.rules import NO_MOTIF

# A motif hangs on the base by its node 0.
HOUSE_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))  # 0, 1 middle; 2, 3 bottom; 4 top
HOUSE_ROLES = (2, 2, 3, 3, 1)
HOUSE_CLASSES = ("base", "top", "middle", "bottom")
CYCLE_EDGES = tuple((i, (i + 1) % 6) for i in range(6))
GRID_EDGES = tuple(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)).edges)
NUM_MOTIFS = 80
NOISE = 0.1  # random edges added, as a share of the number of nodes
NUM_NORMAL_FEATURES = 10
INFORMATIVE_FEATURE = 2  # the only one of BA-Community that tells the communities apart


def ba_shapes(seed: int = 0) -> Graph:
    """300-node Barabasi-Albert base with 80 houses; the class is the place in the house."""
    return _with_constant_feature("BA-Shapes", _houses(np.random.default_rng(seed)), HOUSE_CLASSES)


def ba_community(seed: int = 0) -> Graph:
    """Two BA-Shapes joined by random edges; one of ten normal features differs by one standard deviation."""
    rng = np.random.default_rng(seed)
    one, two = _houses(rng), _houses(rng)
    size = one.num_nodes
    joined = _Planted(
        pairs=np.concatenate([one.pairs, two.pairs + size]),
        motif_pairs=np.concatenate([one.motif_pairs, two.motif_pairs + size]),
        roles=np.concatenate([one.roles, two.roles + len(HOUSE_CLASSES)]),
        node_motif=np.concatenate([one.node_motif, _renumbered(two.node_motif, NUM_MOTIFS)]),
    )
    bridges = _new_pairs(joined.pairs, int(NOISE * size), lambda: (rng.integers(size), size + rng.integers(size)))
    joined.pairs = np.concatenate([joined.pairs, bridges])
    features = rng.standard_normal((2 * size, NUM_NORMAL_FEATURES))
    features[size:, INFORMATIVE_FEATURE] += 1.0
    names = [f"noise {i}" for i in range(NUM_NORMAL_FEATURES)]
    names[INFORMATIVE_FEATURE] = "community signal"
    classes = [f"{role}, community {side}" for side in ("A", "B") for role in HOUSE_CLASSES]
    return _as_graph("BA-Community", joined, features, names, classes)


def tree_cycles(seed: int = 0) -> Graph:
    """Balanced binary tree of height 8 with 80 six-node cycles; is a node in a cycle?"""
    planted = _plant(nx.balanced_tree(2, 8), CYCLE_EDGES, (1,) * 6, np.random.default_rng(seed))
    return _with_constant_feature("Tree-Cycles", planted, ("tree", "cycle"))


def tree_grid(seed: int = 0) -> Graph:
    """Balanced binary tree of height 8 with 80 3-by-3 grids; is a node in a grid?"""
    planted = _plant(nx.balanced_tree(2, 8), GRID_EDGES, (1,) * 9, np.random.default_rng(seed))
    return _with_constant_feature("Tree-Grid", planted, ("tree", "grid"))


@dataclass
class _Planted:
    """A base graph with motifs on it, before it gets features and names."""

    pairs: np.ndarray  # (E / 2, 2): each undirected edge once
    motif_pairs: np.ndarray  # those of them that belong to a motif
    roles: np.ndarray  # (N,)
    node_motif: np.ndarray  # (N,)

    @property
    def num_nodes(self) -> int:
        return len(self.roles)


def _houses(rng: np.random.Generator) -> _Planted:
    return _plant(nx.barabasi_albert_graph(300, 5, seed=rng), HOUSE_EDGES, HOUSE_ROLES, rng)


def _plant(base: nx.Graph, motif_edges, motif_roles, rng: np.random.Generator) -> _Planted:
    """Hangs NUM_MOTIFS copies of a motif on different base nodes, then adds random edges as noise."""
    num_base, size = base.number_of_nodes(), len(motif_roles)
    hooks = rng.choice(num_base, NUM_MOTIFS, replace=False)
    starts = num_base + size * np.arange(NUM_MOTIFS)
    motifs = (np.asarray(motif_edges)[None] + starts[:, None, None]).reshape(-1, 2)
    pairs = np.concatenate([np.asarray(base.edges), motifs, np.stack([hooks, starts], axis=1)])
    num_nodes = num_base + size * NUM_MOTIFS
    noise = _new_pairs(pairs, int(NOISE * num_nodes), lambda: rng.integers(num_nodes, size=2))
    return _Planted(
        pairs=np.concatenate([pairs, noise]),
        motif_pairs=motifs,
        roles=np.concatenate([np.zeros(num_base, int), np.tile(motif_roles, NUM_MOTIFS)]),
        node_motif=np.concatenate([np.full(num_base, NO_MOTIF), np.repeat(np.arange(NUM_MOTIFS), size)]),
    )


def _new_pairs(pairs: np.ndarray, count: int, draw) -> np.ndarray:
    """`count` random pairs that are not joined yet, each different."""
    joined = {frozenset(pair) for pair in pairs.tolist()}
    found = []
    while len(found) < count:
        pair = tuple(int(end) for end in draw())
        if pair[0] != pair[1] and frozenset(pair) not in joined:
            joined.add(frozenset(pair))
            found.append(pair)
    return np.array(found)


def _renumbered(node_motif: np.ndarray, first: int) -> np.ndarray:
    return np.where(node_motif == NO_MOTIF, NO_MOTIF, node_motif + first)


def _with_constant_feature(name: str, planted: _Planted, classes) -> Graph:
    return _as_graph(name, planted, np.ones((planted.num_nodes, 1)), ["constant"], classes)


def _as_graph(name: str, planted: _Planted, features: np.ndarray, feature_names, class_names) -> Graph:
    edge_index = undirected(planted.pairs)
    return Graph(
        x=torch.from_numpy(features).float(),
        edge_index=edge_index,
        name=name,
        labels=torch.from_numpy(planted.roles),
        node_motif=torch.from_numpy(planted.node_motif),
        edge_motif=_edge_motif(planted, edge_index),
        class_names=tuple(class_names),
        feature_names=tuple(feature_names),
    )


def _edge_motif(planted: _Planted, edge_index: torch.Tensor) -> torch.Tensor:
    """The motif of every directed edge. A noise edge that happens to fall inside a motif is not the motif's."""
    source, target = edge_index  # (E,), (E,)
    motif_source, motif_target = undirected(planted.motif_pairs)
    inside = torch.isin(source * planted.num_nodes + target, motif_source * planted.num_nodes + motif_target)
    return torch.where(inside, torch.from_numpy(planted.node_motif)[source], NO_MOTIF)
