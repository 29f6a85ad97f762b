"""How a network is called: what its forward asks for, by name, found in the batch."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from explainer_core.extras import pyg_data
from explainer_core.models.protocol import PredictionBatch

X, EDGES, TYPES, WEIGHT, GRAPH_OF, COUNT, NODES, PAIRS = (
    *("x", "edge_index", "edge_type", "edge_weight", "batch", "batch_size", "num_nodes", "edge_label_index"),
)
ALIASES = {
    X: ("x", "feat", "feats", "features", "node_feat", "node_features", "h", "inputs", "input"),
    EDGES: ("edge_index", "edges", "edge_idx", "ei", "adj"),
    TYPES: ("edge_type", "edge_types", "etype", "relation", "relations"),
    WEIGHT: ("edge_weight", "edge_weights"),
    GRAPH_OF: ("batch", "batch_index", "graph_of", "graph_ids"),
    COUNT: ("batch_size", "num_graphs"),
    NODES: ("num_nodes",),
    PAIRS: ("edge_label_index", "pairs", "edge_pairs"),
}
MEANING = {alias: meaning for meaning, aliases in ALIASES.items() for alias in aliases}
WHOLE = ("data", "graph", "g", "batch_data", "sample")  # what a forward calls a Data


@dataclass(frozen=True)
class Call:
    """`arguments` are (name of the parameter, what it means); with `whole` the network is given one Data instead."""

    arguments: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    split: bool = False  # encode(x, edge_index), then decode(z, edge_label_index)
    weight: str | None = None  # the parameter that a mask can come in by, where no layer has hooks

    @property
    def meanings(self) -> set[str]:
        return {meaning for _, meaning in self.arguments}

    def of(
        self, batch: PredictionBatch, x: Tensor | None = None, mask: Tensor | None = None
    ) -> Callable[[nn.Module], object]:
        """The network's answer for a batch; `mask` only where it comes in as an argument."""
        x = batch.x if x is None else x
        if self.whole:
            data = _as_data(batch, x, mask)
            return lambda network: network(data)
        values = {name: _value(meaning, batch, x, mask) for name, meaning in self.arguments}
        values = {name: value for name, value in values.items() if value is not None}
        if not self.split:
            return lambda network: network(**values)
        pairs = batch.targets.t() if batch.targets is not None else None
        return lambda network: cast(Any, network).decode(cast(Any, network).encode(**values), pairs)


def candidates(module: Any, batch: PredictionBatch) -> list[Call]:
    """Ways to call a network, the likeliest first."""
    if batch.task == "link" and callable(getattr(module, "encode", None)) and callable(getattr(module, "decode", None)):
        return [replace(_by_name(module.encode, batch, {X, EDGES}), split=True)]
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if not named:  # forward(*args, **kwargs): a wrapper
        return [Call(((X, X), (EDGES, EDGES))), Call(whole=True)]
    first, required = named[0], [p for p in named if p.default is p.empty]
    annotation = str(first.annotation)
    alone = len(required) == len(named) == 1 and MEANING.get(first.name) != X
    if first.name in WHOLE or "Data" in annotation or annotation.endswith("Batch") or alone:
        return [Call(whole=True, weight=WEIGHT)]
    found = _by_name(module.forward, batch)
    plain = tuple((name, meaning) for name, meaning in found.arguments if name in {p.name for p in required})
    fewest = replace(found, arguments=plain)
    return [found] if fewest == found else [found, fewest]


def _by_name(forward: Callable, batch: PredictionBatch, only: Collection[str] | None = None) -> Call:
    parameters = [
        p for p in inspect.signature(forward).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    weight = next((p.name for p in parameters if MEANING.get(p.name) == WEIGHT), None)
    arguments = []
    for i, parameter in enumerate(parameters):
        meaning = MEANING.get(parameter.name, parameter.name)
        if i < 2 and meaning not in ALIASES and parameter.default is parameter.empty:
            meaning = (X, EDGES)[i]
        if parameter.default is not parameter.empty and not _has(meaning, batch):
            continue
        if parameter.default is parameter.empty and meaning not in ALIASES and not _has(meaning, batch):
            raise ValueError(
                f"the network must be called with what the data has: x, edge_index, edge_type, edge_weight, batch"
                f"{_others(batch)} (forward asks for {parameter.name!r}); give it in node_data or edge_data, or make it in forward"
            )
        arguments.append((parameter.name, meaning))
    return Call(tuple(arguments), weight=weight)


def _has(meaning: str, batch: PredictionBatch) -> bool:
    if meaning in (X, EDGES, GRAPH_OF):
        return True
    if meaning == TYPES:
        return batch.edge_types is not None or TYPES in batch.edge_data
    if meaning == PAIRS:
        return batch.task == "link"
    if meaning == COUNT:
        return batch.task == "graph"
    return meaning in batch.node_data or meaning in batch.edge_data


def _others(batch: PredictionBatch) -> str:
    names = [*batch.node_data, *batch.edge_data]
    return f", {', '.join(names)}" if names else ""


def _value(meaning: str, batch: PredictionBatch, x: Tensor, mask: Tensor | None) -> object:
    """What a parameter is given; None for nothing, which leaves its default."""
    if meaning == WEIGHT:
        return _weight(batch, mask)
    if meaning == GRAPH_OF:
        return batch.graph_of if batch.graph_of is not None else x.new_zeros(len(x), dtype=torch.int64)
    if meaning == TYPES and batch.edge_types is None:
        return batch.edge_data.get(TYPES)
    if meaning == PAIRS:
        return None if batch.targets is None else batch.targets.t()
    if meaning in (X, EDGES, TYPES, COUNT, NODES):
        return {X: x, EDGES: batch.edge_index, TYPES: batch.edge_types, COUNT: batch.num_predictions, NODES: len(x)}[
            meaning
        ]
    return batch.node_data[meaning] if meaning in batch.node_data else batch.edge_data.get(meaning)


def _weight(batch: PredictionBatch, mask: Tensor | None) -> Tensor | None:
    own = batch.edge_data.get(WEIGHT)
    if mask is None or own is None:
        return own if mask is None else mask
    return mask * own.view(len(mask), *(1 for _ in own.shape[1:]))


def _as_data(batch: PredictionBatch, x: Tensor, mask: Tensor | None) -> object:
    """A Batch of torch_geometric, with all that the data has."""
    columns = {**batch.node_data, **batch.edge_data}
    if batch.edge_types is not None:
        columns[TYPES] = batch.edge_types
    weight = _weight(batch, mask)
    if weight is not None:
        columns[WEIGHT] = weight
    if batch.task == "link" and batch.targets is not None:
        columns[PAIRS] = batch.targets.t()
    graph_of = batch.graph_of if batch.graph_of is not None else x.new_zeros(len(x), dtype=torch.int64)
    count = batch.num_predictions if batch.task == "graph" else int(graph_of.max()) + 1
    sizes = torch.bincount(graph_of, minlength=count)
    ptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    made = pyg_data.Batch(x=x, edge_index=batch.edge_index, batch=graph_of, ptr=ptr, **columns)
    made._num_graphs = count
    return made
