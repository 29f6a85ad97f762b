"""The part of a graph that can influence a prediction, for one target or many at once, as tensors in hop order."""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from explainer_core.graph import Columns, move_rows, repeat_rows, take_rows


@dataclass(frozen=True)
class Computation:
    """Computation graphs side by side as one disjoint union; each is called an instance.

    A node target is one instance, a whole graph is one, a link is two: first the one end's, then the other's.
    Nodes are sorted by hop, so the first ones are the targets, in order; edges are sorted by the hop of their
    target. Each layer then needs only a prefix of both: `prefixes`, one (nodes, edges) for each layer.
    """

    x: Tensor  # (n, F)
    edge_index: Tensor  # (2, e)
    node_ids: Tensor  # (n,): numbers in the graph
    edge_ids: Tensor  # (e,)
    node_instance: Tensor  # (n,)
    edge_instance: Tensor  # (e,)
    num_instances: int
    degree: Tensor  # (n,): in-degree in the whole graph
    edge_types: Tensor | None
    prefixes: tuple[tuple[int, int], ...] | None  # None for whole graphs: every node is needed to the end
    hop: Tensor  # (n,): steps from the target; all zero for whole graphs
    sampled: Tensor  # (num_instances,) bool: the neighbourhood was too large and was sampled
    node_data: Columns = field(default_factory=dict)  # (n, ...) each: what a network may read beside x
    edge_data: Columns = field(default_factory=dict)  # (e, ...) each

    @property
    def num_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def num_edges(self) -> int:
        return len(self.edge_ids)

    def repeated(self, times: int) -> "Computation":
        """Every instance `times` over: copy r of instance i is instance i * times + r. The hop order is kept."""
        if times == 1:
            return self
        copy = torch.arange(times, device=self.x.device)

        def spread(values: Tensor) -> Tensor:
            return (values.unsqueeze(-1) * times + copy).flatten(-2)

        return replace(
            self,
            x=self.x.repeat_interleave(times, 0),
            edge_index=spread(self.edge_index),
            node_ids=self.node_ids.repeat_interleave(times),
            edge_ids=self.edge_ids.repeat_interleave(times),
            node_instance=spread(self.node_instance),
            edge_instance=spread(self.edge_instance),
            num_instances=self.num_instances * times,
            degree=self.degree.repeat_interleave(times),
            edge_types=None if self.edge_types is None else self.edge_types.repeat_interleave(times),
            prefixes=None if self.prefixes is None else tuple((n * times, e * times) for n, e in self.prefixes),
            hop=self.hop.repeat_interleave(times),
            sampled=self.sampled.repeat_interleave(times),
            node_data=repeat_rows(self.node_data, times),
            edge_data=repeat_rows(self.edge_data, times),
        )

    def to(self, device: torch.device) -> "Computation":
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        columns = {"node_data": move_rows(self.node_data, device), "edge_data": move_rows(self.edge_data, device)}
        return replace(self, **moved, **columns)


def undirected_edges(computation: Computation) -> tuple[Tensor, int]:
    """One number for both directions of an edge (of one type): (e,), and how many there are."""
    c = computation
    key = c.edge_index.amin(0) * c.num_nodes + c.edge_index.amax(0)
    if c.edge_types is not None and len(c.edge_types):
        key = key * (int(c.edge_types.max()) + 1) + c.edge_types
    values, number = key.unique(return_inverse=True)
    return number, len(values)


def repeated_computation(computation: Computation, task: str, times: int) -> Computation:
    """Every prediction `times` over, side by side; the two ends of a link's copy stay together."""
    if times == 1 or task != "link":
        return computation.repeated(times)
    return _repeated_links(computation, times)


def _repeated_links(computation: Computation, times: int) -> Computation:
    """Copies of pairs of instances: copy r of link t has instances 2 (t * times + r) and the next."""
    spread = computation.repeated(times)  # copy r of instance i is i * times + r

    def paired(instance: Tensor) -> Tensor:
        original, copy_number = instance // times, instance % times
        return 2 * ((original // 2) * times + copy_number) + original % 2

    # the first nodes are the ends, in the order of the instances: they are renumbered along
    ends = spread.num_instances
    new_position = torch.arange(spread.num_nodes, device=spread.x.device)
    new_position[:ends] = paired(new_position[:ends])
    old_position = new_position.argsort()
    return replace(
        spread,
        x=spread.x[old_position],
        edge_index=new_position[spread.edge_index],
        node_ids=spread.node_ids[old_position],
        node_instance=paired(spread.node_instance)[old_position],
        edge_instance=paired(spread.edge_instance),
        degree=spread.degree[old_position],
        hop=spread.hop[old_position],
        sampled=spread.sampled[paired(torch.arange(ends, device=spread.x.device)).argsort()],
        node_data=take_rows(spread.node_data, old_position),
    )
