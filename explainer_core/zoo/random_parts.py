"""Random connected parts of graphs, each a graph of its own: what a network must know before it is shown one."""

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from explainer_core.graph import Batch

SMALLEST, LARGEST = 0.1, 0.9  # of a graph's edges


def random_parts(
    batch: Batch, generator: torch.Generator, smallest: float = SMALLEST, largest: float = LARGEST
) -> Batch:
    """One random connected part of every graph, its size drawn evenly between two shares of the graph's edges.

    A part grows from a random edge, and each edge that touches it is as likely as any other to be the next. It
    never leaves its component, so it may be smaller than asked. A graph without edges is its own part.
    """
    pair_of, pairs = _pairs(batch)
    pair_graph = batch.graph_of[pairs[0]]  # (P,)
    share = smallest + (largest - smallest) * torch.rand(batch.num_graphs, generator=generator)
    size = (share * torch.bincount(pair_graph, minlength=batch.num_graphs)).ceil()  # (G,): pairs to keep
    arrival = _arrival(batch, pairs, pair_graph, generator)
    kept = _is_early(arrival, pair_graph, size, batch.num_graphs)
    return _cut(batch, kept[pair_of])


def joined(one: Batch, other: Batch) -> Batch:
    """Two batches as one: the graphs of the first, then those of the second."""
    types = None
    if one.edge_types is not None and other.edge_types is not None:
        types = torch.cat([one.edge_types, other.edge_types])
    return Batch(
        x=torch.cat([one.x, other.x]),
        edge_index=torch.cat([one.edge_index, other.edge_index + len(one.x)], dim=1),
        graph_of=torch.cat([one.graph_of, other.graph_of + one.num_graphs]),
        num_graphs=one.num_graphs + other.num_graphs,
        edge_types=types,
    )


def shares_kept(batch: Batch, parts: Batch) -> Tensor:
    """The share of its graph's edges that each part has: (G,); one for a graph without edges, which is its own part."""
    edges, kept = (torch.bincount(b.graph_of[b.edge_index[0]], minlength=b.num_graphs) for b in (batch, parts))
    return torch.where(edges > 0, kept / edges.clamp(min=1), 1.0)


def _pairs(batch: Batch) -> tuple[Tensor, Tensor]:
    """Which undirected pair each edge is, and the ends of every pair: (E,), (2, P)."""
    size = len(batch.x)
    low, high = batch.edge_index.aminmax(dim=0) if batch.edge_index.shape[1] else batch.edge_index
    keys, pair_of = (low * size + high).unique(return_inverse=True)
    return pair_of, torch.stack([keys // size, keys % size])


def _arrival(batch: Batch, pairs: Tensor, pair_graph: Tensor, generator: torch.Generator) -> np.ndarray:
    """When growth from a random edge of each graph reaches every pair: (P,), infinite in other components.

    Every pair takes an exponential time to cross. These have no memory: of the pairs that touch what is reached so
    far, each is as likely to be the next, so shortest paths from the first edge give the order of growth.
    """
    (low, high), num_nodes = pairs.numpy(), len(batch.x)
    cross = torch.empty(pairs.shape[1], dtype=torch.float64).exponential_(generator=generator).numpy()
    first = _one_of_each(pair_graph, generator).numpy()
    if len(first) == 0:
        return cross
    reach = csr_matrix((cross, (low, high)), shape=(num_nodes, num_nodes))
    roots = np.concatenate([low[first], high[first]])
    reached = dijkstra(reach, directed=False, indices=roots, min_only=True)  # (N,)
    arrival = np.minimum(reached[low], reached[high]) + cross
    arrival[first] = 0.0
    return arrival


def _one_of_each(group: Tensor, generator: torch.Generator) -> Tensor:
    """A random member of every group that has any; `group` rises."""
    sizes = torch.bincount(group)
    start = (sizes.cumsum(0) - sizes)[sizes > 0]
    sizes = sizes[sizes > 0]
    return start + (torch.rand(len(sizes), generator=generator, dtype=torch.float64) * sizes).long()


def _is_early(arrival: np.ndarray, pair_graph: Tensor, size: Tensor, num_graphs: int) -> Tensor:
    """True for the pairs of each graph that are among the first `size` to be reached: (P,)."""
    order = np.lexsort((arrival, pair_graph.numpy()))  # graph by graph, each by arrival
    count = torch.bincount(pair_graph, minlength=num_graphs)
    rank = torch.empty(len(order), dtype=torch.int64)
    rank[order] = torch.arange(len(order)) - (count.cumsum(0) - count)[pair_graph[order]]
    return (rank < size[pair_graph]) & torch.from_numpy(np.isfinite(arrival))


def _cut(batch: Batch, kept: Tensor) -> Batch:
    """The kept edges with their nodes; of a graph without edges all nodes."""
    edges = batch.edge_index[:, kept]
    has_edges = torch.zeros(batch.num_graphs, dtype=torch.bool)
    has_edges[batch.graph_of[batch.edge_index[0]]] = True
    inside = ~has_edges[batch.graph_of]  # (N,)
    inside[edges.flatten()] = True
    number = inside.cumsum(0) - 1
    return Batch(
        x=batch.x[inside],
        edge_index=number[edges],
        graph_of=batch.graph_of[inside],
        num_graphs=batch.num_graphs,
        edge_types=None if batch.edge_types is None else batch.edge_types[kept],
    )
