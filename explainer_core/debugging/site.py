"""The part of a graph that decides one prediction, from which edited copies are made."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from explainer_core.computation.batches import computation_of
from explainer_core.config import ExplainConfig
from explainer_core.debugging.editing import example_edge
from explainer_core.graph import Columns, Graph, GraphSet, take_rows
from explainer_core.models.protocol import Model, PredictionBatch, device_of
from explainer_core.targets import TASKS, Link, Node, Target, number_in_set

FAR = 2**13  # hops: nothing is as far
SMALL_GRAPH = 50_000  # edges; in a larger one edges are added within twice as many hops as the network looks


@dataclass(frozen=True, eq=False)
class Site:
    """Each node and edge once, by its number in the graph; the two ends of a link share one site."""

    task: str
    target: Target
    nodes: np.ndarray  # (n,): rising
    edges: np.ndarray  # (e,)
    ends: np.ndarray  # (2, e): positions in `nodes`
    hop: np.ndarray  # (n,): steps to the target; zero everywhere for a whole graph
    degree: np.ndarray  # (n,): in-degree in the whole graph, less the link that is asked about
    roots: np.ndarray  # positions of the target's nodes; none for a whole graph
    undirected: bool
    x: Tensor  # (n, F)
    edge_types: Tensor | None  # (e,)
    node_data: Columns
    edge_data: Columns
    new_type: int | None  # of an edge that is added
    new_data: Columns  # (1, ...) each: of an edge that is added
    sampled: bool  # the neighbourhood was too large and was sampled

    @classmethod
    def of(cls, model: Model, data: Graph | GraphSet, target: Target, *, wide: bool = False) -> "Site":
        """`wide` leaves room for edges to far nodes."""
        task, config, graph = TASKS[type(target)], ExplainConfig(), graph_of_target(data, target)
        hops = model.hops
        if wide and hops is not None:
            hops = None if data.edge_index.shape[1] <= SMALL_GRAPH else 2 * hops
        c = computation_of(data, [target], hops, max_edges=config.max_edges, seed=config.seed)
        nodes, first = np.unique(c.node_ids.numpy(), return_index=True)
        edges, first_edge = np.unique(c.edge_ids.numpy(), return_index=True)
        hop = np.full(len(nodes), FAR)
        np.minimum.at(hop, np.searchsorted(nodes, c.node_ids.numpy()), c.hop.numpy())
        at_node, at_edge = torch.from_numpy(first), torch.from_numpy(first_edge)
        ends = np.searchsorted(nodes, c.node_ids.numpy()[c.edge_index.numpy()[:, first_edge]])
        like = example_edge(graph.edge_types)
        return cls(
            task=task,
            target=target,
            nodes=nodes,
            edges=edges,
            ends=ends,
            hop=hop,
            degree=c.degree.numpy()[first],
            roots=np.searchsorted(nodes, _roots(target)),
            undirected=graph.is_undirected,
            x=c.x[at_node],
            edge_types=None if c.edge_types is None else c.edge_types[at_edge],
            node_data=take_rows(c.node_data, at_node),
            edge_data=take_rows(c.edge_data, at_edge),
            new_type=None if not graph.num_edges or graph.edge_types is None else int(graph.edge_types[like]),
            new_data=take_rows(graph.edge_data, slice(like, like + 1)),
            sampled=bool(c.sampled.any()),
        )

    @property
    def num_nodes(self) -> int:
        return len(self.nodes)

    @cached_property
    def pair_numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges as a person counts them, both directions of an undirected one as one: (p, 2), and of each edge which: (e,)."""
        ends = np.sort(self.ends, axis=0) if self.undirected else self.ends
        pairs, number = np.unique(ends.T, axis=0, return_inverse=True)
        return pairs.reshape(-1, 2), number.ravel()

    def batch(self, model: Model) -> PredictionBatch:
        """As the model is asked about it, unedited."""
        device = device_of(model)
        return PredictionBatch(
            task=self.task,
            x=self.x.to(device),
            edge_index=torch.from_numpy(self.ends).to(device),
            num_predictions=1,
            targets=self.targets_of(1, device),
            graph_of=torch.zeros(self.num_nodes, dtype=torch.int64, device=device),
            edge_types=None if self.edge_types is None else self.edge_types.to(device),
            degree=None if self.task == "graph" else torch.from_numpy(self.degree).to(device),
            node_data={name: values.to(device) for name, values in self.node_data.items()},
            edge_data={name: values.to(device) for name, values in self.edge_data.items()},
        )

    def targets_of(self, copies: int, device: torch.device) -> Tensor | None:
        """The targets of so many copies side by side."""
        if self.task == "graph":
            return None
        at = torch.from_numpy(np.arange(copies)[:, None] * self.num_nodes + self.roots).to(device)  # (copies, 1 or 2)
        return at if self.task == "link" else at[:, 0]


def graph_of_target(data: Graph | GraphSet, target: Target) -> Graph:
    """The graph whose edits are asked about."""
    return data[number_in_set(target)] if isinstance(data, GraphSet) else data


def _roots(target: Target) -> list[int]:
    if isinstance(target, Node):
        return [target.node]
    return [target.source, target.head] if isinstance(target, Link) else []
