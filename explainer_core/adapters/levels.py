"""The part of a batch that each layer of a network needs: a prefix of its nodes and edges, which are sorted by hop.

Layer l of L changes the prediction only through the nodes within L - l hops of a target. Where every layer is called once
with the graph's own edges, it is given no more than that. Whether a network takes it is tried out, not assumed: `TRIMS`
names what is done with the rows that are left out.
"""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor, nn

from explainer_core.adapters.degrees import Degrees
from explainer_core.adapters.edges import EdgeTable
from explainer_core.models.protocol import PredictionBatch

# A layer is given its senders and receivers apart, and works the latter out alone; or it works out all rows, of which those left
# out leave for good; or they come back as zeros, for skip connections and jumping knowledge.
APART, SHRINK, PAD = "apart", "shrink", "pad"
TRIMS = (APART, SHRINK, PAD)


class CannotTrim(ValueError):
    """The layers are not called one after another with the graph's own edges."""


class Level:
    """The edges that one layer sends messages along, the nodes it reads, and how many of them it changes; `rows` it works out."""

    def __init__(
        self, batch: PredictionBatch, degree: Tensor | None, nodes_in: int, nodes_out: int, num_edges: int, rows: int
    ):
        self.nodes_in, self.nodes_out, self.num_edges, self.rows = nodes_in, nodes_out, num_edges, rows
        whole = num_edges == batch.edge_index.shape[1]
        self.edge_index = batch.edge_index if whole else batch.edge_index[:, :num_edges].contiguous()
        types = batch.edge_types
        self.edges = EdgeTable(self.edge_index, nodes_in, types if types is None else types[:num_edges])
        self.degrees = Degrees(self.edge_index, rows, degree if degree is None else degree[:rows])
        columns = [*batch.edge_data.values(), *([] if types is None else [types])]
        self.trimmed = {id(values): values[:num_edges] for values in columns}  # what else comes with the edges


class Levels:
    """All levels of a batch; a single one where nothing is trimmed."""

    def __init__(self, batch: PredictionBatch, degree: Tensor | None, trim: str | None):
        self.batch, self.degree = batch, degree
        self.trim = trim if batch.prefixes is not None and batch.task != "graph" else None

    @cached_property
    def whole(self) -> Level:
        size = len(self.batch.x)
        return Level(self.batch, self.degree, size, size, self.batch.edge_index.shape[1], size)

    @cached_property
    def of_layers(self) -> Sequence[Level]:
        assert self.batch.prefixes is not None  # nothing is trimmed otherwise
        nodes_in, found = len(self.batch.x), []
        for nodes_out, num_edges in self.batch.prefixes:
            rows = nodes_out if self.trim == APART else nodes_in
            found.append(Level(self.batch, self.degree, nodes_in, nodes_out, num_edges, rows))
            nodes_in = nodes_out
        return found

    def arguments(self, level: Level, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """What a layer is called with, cut to its level."""
        edge_index, size = self.batch.edge_index, len(self.batch.x)

        def cut(value):
            if value is edge_index:
                return level.edge_index
            if isinstance(value, tuple):
                return tuple(map(cut, value))
            if not isinstance(value, Tensor):
                return value
            if id(value) in level.trimmed:
                return level.trimmed[id(value)]
            return value[: level.nodes_in] if value.ndim == 2 and len(value) == size != level.nodes_in else value

        args, kwargs = tuple(map(cut, args)), {name: cut(value) for name, value in kwargs.items()}
        if self.trim != APART:
            return args, kwargs
        if args and isinstance(args[0], Tensor):
            return ((args[0], args[0][: level.nodes_out]), *args[1:]), kwargs
        if isinstance(kwargs.get("x"), Tensor):
            return args, kwargs | {"x": (kwargs["x"], kwargs["x"][: level.nodes_out])}
        raise CannotTrim("a layer is given its nodes in another way")

    def result(self, level: Level, output: Tensor) -> Tensor:
        if not isinstance(output, Tensor) or len(output) != level.rows:
            raise CannotTrim("a layer gives something else than a row for each node")
        kept = output if level.rows == level.nodes_out else output[: level.nodes_out]
        if self.trim != PAD:
            return kept
        return nn.functional.pad(kept, (0, 0) * (output.ndim - 1) + (0, len(self.batch.x) - level.nodes_out))


def is_given(edge_index: Tensor, args: tuple, kwargs: dict) -> bool:
    return kwargs.get("edge_index") is edge_index or any(value is edge_index for value in args)


def exchanged(edge_index: Tensor, other: Tensor, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """What a layer is called with, other edges in the place of its own."""
    named = {name: other if value is edge_index else value for name, value in kwargs.items()}
    return tuple(other if value is edge_index else value for value in args), named


def weighted(edge_index: Tensor, args: tuple, kwargs: dict) -> bool:
    """Whether a layer is given edge weights beside the edges."""
    at = next((i for i, value in enumerate(args) if value is edge_index), len(args))
    given = [kwargs.get(name) for name in ("edge_weight", "edge_attr")]
    return any(value is not None for value in given) or any(isinstance(value, torch.Tensor) for value in args[at + 1 :])
