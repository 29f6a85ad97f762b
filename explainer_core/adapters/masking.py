"""A copy of a network whose messages are multiplied by a mask that comes in as an argument.

PyTorch Geometric's layers take hooks around `propagate`; a network in plain torch must take `edge_weight` itself. All that
a pass needs is set before it and taken away after it, on the copy; every thread has a copy of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explainer_core.adapters import linear
from explainer_core.adapters.copying import hookable_copy
from explainer_core.adapters.edges import Route
from explainer_core.adapters.levels import CannotTrim, Level, Levels, exchanged, is_given, weighted


@dataclass(eq=False)
class Pass:
    """One forward pass: its mask, and what it was seen to do."""

    levels: Levels
    mask: Tensor | None
    attention: list[tuple[Route, Tensor]] | None = None  # where it is asked for
    calls: int = 0  # of propagate, so far
    layers: int = 0  # of layers with the graph's own edges
    level: Level | None = None  # of the current layer; None: the whole batch
    route: Route | None = None  # of the current call
    weights: dict[object, Tensor] = field(default_factory=dict)  # of each route with loops, made once

    @property
    def here(self) -> Level:
        return self.levels.whole if self.level is None else self.level

    def message_weights(self, layer, route: Route) -> Tensor | None:
        """What the messages of a call are multiplied by; None for one."""
        share = self.here.degrees.mean_share(layer, route)
        if self.mask is None:
            return share
        key = (self.here.num_edges, route.loops)
        if route.positions is not None:
            weights = route.weights(self.mask[: self.here.num_edges])
        elif key in self.weights:
            weights = self.weights[key]
        else:
            mask = self.mask if len(self.mask) == key[0] else self.mask[: key[0]]
            weights = self.weights[key] = route.weights(mask)
        return weights if share is None else weights * share


class MaskedNetwork:
    """The copy with its hooks."""

    def __init__(self, module: nn.Module):
        self.network = hookable_copy(module)
        self.layers: list[Any] = [
            part for part in self.network.modules() if hasattr(part, "register_message_forward_hook")
        ]
        self.current: Pass | None = None
        self.adds_loops = {layer for layer in self.layers if linear.is_attentive(layer) and layer.add_self_loops}
        for layer in self.layers:
            layer.fuse = False
            if linear.is_linear(layer):
                layer.propagate = partial(self._linear_propagate, layer, layer.propagate, linear.taken_out(layer))
            layer.register_propagate_forward_pre_hook(self._before_propagate)
            layer.register_message_forward_hook(self._after_message)
            layer.register_forward_pre_hook(self._before_layer, with_kwargs=True)
            layer.register_forward_hook(self._after_layer)
        for part in self.network.modules():
            if type(part).__name__ == "FilterEdges":  # how TopKPooling and SAGPooling keep some of the edges
                part.register_forward_hook(self._after_pooling, with_kwargs=True)

    def run(self, this: Pass, call: Callable[[nn.Module], object]) -> object:
        self.current = this
        try:
            return call(self.network)
        finally:
            self.current = None
            this.levels.whole.edges.forget_pooled()
            for layer in self.layers:
                if getattr(layer, "_cached_edge_index", None) is not None:
                    layer._cached_edge_index = None

    def _before_layer(self, layer, args, kwargs):
        """A layer is given no more than it needs, and its normalisation by degrees, which is worked out once for a batch."""
        this = self.current
        if this is None:
            return None
        edge_index = this.levels.batch.edge_index
        given = is_given(edge_index, args, kwargs)
        plain = given and not weighted(edge_index, args, kwargs)
        trims = this.levels.trim is not None
        if trims and this.level is None:
            if not given or this.layers >= len(this.levels.of_layers):
                raise CannotTrim("layers are called more often than there are hops, or with other edges")
            this.level = this.levels.of_layers[this.layers]
            args, kwargs = this.levels.arguments(this.level, args, kwargs)
        this.layers += given
        if hasattr(layer, "_cached_edge_index"):
            layer._cached_edge_index = this.here.degrees.gcn_norm(layer) if plain else None
        if layer in self.adds_loops:
            looped = this.here.degrees.with_loops if plain else None
            layer.add_self_loops = looped is None
            if looped is not None:
                return exchanged(this.here.edge_index, looped, args, kwargs)
        return (args, kwargs) if trims else None

    def _after_layer(self, layer, args, output):
        this = self.current
        if this is None or this.level is None:
            return None
        level, this.level = this.level, None
        return this.levels.result(level, output)

    def _linear_propagate(self, layer, original, after, edge_index, size=None, **values):
        return after(self._propagated(layer, original, edge_index, size, values))

    def _propagated(self, layer, original, edge_index, size, values: dict) -> Tensor:
        this = self.current
        if this is None or this.attention is not None or not isinstance(edge_index, Tensor):
            return original(edge_index, size=size, **values)
        route = self._route(edge_index, size, values)
        if route is not None:
            weights = this.message_weights(layer, route)
            found = linear.propagate(layer, this.here.edges, edge_index, values | {"size": size}, weights)
            if found is not None:
                return found
        this.calls -= 1  # it is counted again by its hook
        return original(edge_index, size=size, **values)

    def _before_propagate(self, layer, inputs):
        if self.current is None:
            return
        edge_index, size, values = inputs
        if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
            raise ValueError(
                "layers must be given edge_index of shape (2, edges) (got a sparse matrix); leave out the conversion to SparseTensor"
            )
        self.current.route = self._route(edge_index, size, values)

    def _route(self, edge_index: Tensor, size, values: dict) -> Route | None:
        this = self.current
        assert this is not None  # only asked for in a pass
        this.calls += 1
        return this.here.edges.route(this.calls, edge_index, _rows(size, values))

    def _after_message(self, layer, inputs, messages):
        this = self.current
        if this is None or this.route is None:
            return None
        if this.attention is not None:
            paid = inputs[0].get("alpha")
            paid = getattr(layer, "_alpha", None) if paid is None else paid
            if isinstance(paid, Tensor) and len(paid) == messages.shape[layer.node_dim]:
                this.attention.append((this.route, paid.detach().reshape(len(paid), -1).mean(1)))
        weights = this.message_weights(layer, this.route)
        if weights is None:
            return None
        shape = [1] * messages.ndim
        shape[layer.node_dim] = -1
        return messages * weights.view(shape)

    def _after_pooling(self, part, args, kwargs, output):
        this = self.current
        if this is None:
            return
        chosen = args[0] if args else kwargs["select_output"]
        before = args[1] if len(args) > 1 else kwargs["edge_index"]
        this.here.edges.keep(before, output.edge_index, chosen.node_index, chosen.num_nodes)


def _rows(size, values: dict) -> int | None:
    """How many rows the layer's messages are taken from."""
    if size is not None and size[0] is not None:
        return int(size[0])
    for value in values.values():
        value = value[0] if isinstance(value, tuple) else value
        if isinstance(value, Tensor) and value.ndim > 1:
            return len(value)
    return None
