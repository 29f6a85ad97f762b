"""What an explainer asks of a network: four things, and a few more that a network may offer to save time.

Nothing else in the library knows what a network is made of. The zoo's GNN is one implementation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from explainer_core.checks import InvalidValue, one_of
from explainer_core.graph import Columns

Task = Literal["node", "graph", "link"]


@dataclass(frozen=True, eq=False)
class PredictionBatch:
    """Predictions that a network is asked for together, on graphs side by side as one disjoint union.

    A cut neighbourhood lacks the edges of its outermost nodes. A network that counts neighbours either reads `degree` or
    looks one hop further. `node_weight` is given while the mask of a whole graph is optimised: how much of each node is left
    in the readout; a network may ignore it.
    """

    task: str
    x: Tensor  # (n, F)
    edge_index: Tensor  # (2, e): source, target
    num_predictions: int  # P
    targets: Tensor | None = None  # (P,): nodes; (P, 2): the ends of links; None for whole graphs
    graph_of: Tensor | None = None  # (n,): which prediction a node belongs to; None where all share one graph
    edge_types: Tensor | None = None  # (e,)
    degree: Tensor | None = None  # (n,): in-degree in the whole graph; None: what edge_index says
    node_weight: Tensor | None = None  # (n,)
    # Nodes are sorted by hop, the targets first, and layer l needs only the first (nodes, edges) of each: a saving.
    prefixes: tuple[tuple[int, int], ...] | None = None
    node_data: Columns = field(default_factory=dict)  # (n, ...) each: what the data has beside x
    edge_data: Columns = field(default_factory=dict)  # (e, ...) each


class Model(Protocol):
    """A network that can be explained. Masks come in as arguments and nothing may be stored.

    `edge_weight` multiplies each message, and never a node's own state; None means one for every edge. `x` stands in for
    `batch.x`. The answer has one row of class logits for each prediction, never one for each node.

    A network may offer more, each None or absent where it does not have it:

        in_features: int                     checked against the data
        attention(batch) -> (e,)             how much it looked along each edge
        embeddings(batch) -> (P, D)          what its last part reads; of a link model, of every node: (n, D)
        read(embeddings) -> (P, C)           the logits from them, where that saves a pass
        decode(one, other) -> (P, C)         of a link model, the logits from the embeddings of two ends
        fast(batch) -> FastPath              the same numbers for less, where one batch is asked about many times
        delta(batch, hop) -> Delta           the same numbers for less, where a few edges fall silent
        deduplicated(batch) -> (P, C)        the same numbers for less, where many nodes of the batch must have equal states
        edited(batch, hop) -> Edited         the same numbers for less, where edges go and come and features change
        silent_is_absent: bool               an edge of weight zero is as if it were not there, degrees given
    """

    task: Task
    num_classes: int
    hops: int | None  # how far a prediction looks; None: the whole graph

    def logits(self, batch: PredictionBatch, edge_weight: Tensor | None = None, x: Tensor | None = None) -> Tensor:
        """(P, C)"""
        ...


VJP = Callable[[Tensor], Tensor]  # from the gradient in the logits, (P, C), to that in the edge weights, (e,)


class FastPath(Protocol):
    """A cheaper way to the numbers of `logits` for one batch."""

    manual_backward: bool  # whether logits_and_vjp is there
    weighs_nodes: bool  # whether node_weight, of a whole graph's nodes, is read

    def logits(self, edge_weight: Tensor | None, x: Tensor | None, node_weight: Tensor | None) -> Tensor: ...

    def logits_and_vjp(self, edge_weight: Tensor) -> tuple[Tensor, VJP]: ...


class Delta(Protocol):
    """Copies of one graph in which some edges are silent, worked out from the graph with all of them."""

    def logits(self, silent) -> Tensor:
        """From booleans over the edges, (rows, e): (rows, C)."""
        ...


class Edited(Protocol):
    """Edited copies of one graph, each with one of the batch's predictions, worked out from the graph as it is."""

    messages: int  # that the last answer took

    def logits(self, edits) -> Tensor:
        """From `models.edited.EditRows` of R rows: (R, C)."""
        ...


WAYS_OUT = {
    "node": "return the rows of batch.targets only",
    "link": "return one row for each pair in batch.targets",
    "graph": "read the nodes out by batch.graph_of",
}


def ask(model: Model, batch: PredictionBatch, edge_weight: Tensor | None = None, x: Tensor | None = None) -> Tensor:
    """The network's logits, (P, C), checked: rows for all nodes would be spread over the predictions without a word."""
    logits = model.logits(batch, edge_weight, x)
    wanted = (batch.num_predictions, model.num_classes)
    shape = tuple(getattr(logits, "shape", ())) if isinstance(logits, Tensor) else None
    if shape != wanted:
        got = f"a {type(logits).__name__}" if shape is None else f"{shape}"
        if shape and shape[0] == len(batch.x) != batch.num_predictions:
            way_out = f", a row for each of the {len(batch.x)} nodes); {WAYS_OUT[batch.task]}"
        elif shape is not None and len(shape) == 2 and shape[0] == wanted[0]:
            way_out = f"); set num_classes to {shape[1]}, or return {wanted[1]} columns"
        else:
            way_out = f"); {WAYS_OUT[batch.task]}"
        raise ValueError(
            f"a {batch.task} model must give a row of {wanted[1]} logits for each prediction, {wanted} (got {got}{way_out}"
        )
    return logits


def offered(model: Model, what: str) -> Callable[..., Any] | None:
    """One of the things a network may have, ready to be called; None where it does not have it."""
    return getattr(model, what, None)


def offers(model: Model, what: str) -> bool:
    return offered(model, what) is not None


def device_of(model: Model) -> torch.device:
    """Where its parameters are; the processor for a network without any."""
    parameters = offered(model, "parameters")
    return (
        next((parameter.device for parameter in parameters()), torch.device("cpu"))
        if parameters
        else torch.device("cpu")
    )


def check_model(model: Model) -> None:
    """Raises ValueError unless the network is what the protocol asks for."""
    missing = [name for name in ("task", "num_classes", "hops", "logits") if not hasattr(model, name)]
    if missing:
        raise ValueError(
            f"a model must have task, num_classes, hops and logits(batch, edge_weight, x) (got a {type(model).__name__} "
            f"without {', '.join(missing)}); add what is missing, as explainer_core.models.protocol.Model says"
        )
    one_of("task", model.task, WAYS_OUT)
    for name, low in (("num_classes", 2), ("hops", 1)):
        value = getattr(model, name)
        if not (value is None and name == "hops") and (type(value) is not int or value < low):
            raise InvalidValue(f"{name} of a model must be a whole number from {low}", value)


def check_features(model: Model, x: Tensor, way_out: str = "") -> None:
    """Raises ValueError if the network says how many features it reads, and the data has others in number or type."""
    reads, num_features = getattr(model, "in_features", None), x.shape[1]
    if reads is not None and reads != num_features:
        raise ValueError(f"the model reads {reads} features a node (got data with {num_features}){way_out}")
    parameters = offered(model, "parameters")
    weights = next(
        (parameter.dtype for parameter in (parameters() if parameters else ()) if parameter.is_floating_point()),
        x.dtype,
    )
    if weights != x.dtype:
        raise ValueError(f"features must have the type of the model's weights, {weights} (got {x.dtype}); call x.to()")
