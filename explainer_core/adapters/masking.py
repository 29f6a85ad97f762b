"""A copy of a network whose messages are multiplied by a mask that comes in as an argument.

PyTorch Geometric's layers take hooks around `propagate`; a network in plain torch must take `edge_weight` itself. All that
a pass needs is set before it and taken away after it, on the copy; every thread has a copy of its own.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from explainer_core.adapters.copying import hookable_copy
from explainer_core.adapters.degrees import Degrees
from explainer_core.adapters.edges import EdgeTable, Route


@dataclass(eq=False)
class Pass:
    """One forward pass: its mask, and what it was seen to do."""

    edges: EdgeTable
    mask: Tensor | None
    degrees: Degrees
    calls: int = 0  # of propagate, so far
    masked: int = 0  # of them along edges of the graph
    route: Route | None = None  # of the current call
    attention: list[tuple[Route, Tensor]] | None = None  # where it is asked for
    weights: dict[object, Tensor] = field(default_factory=dict)  # of each route with loops, made once

    def weights_of(self, route: Route) -> Tensor:
        assert self.mask is not None
        if route.positions is not None:
            return route.weights(self.mask)
        if route.loops not in self.weights:
            self.weights[route.loops] = route.weights(self.mask)
        return self.weights[route.loops]


class MaskedNetwork:
    """The copy with its hooks."""

    def __init__(self, module: nn.Module):
        self.network = hookable_copy(module)
        self.layers = [part for part in self.network.modules() if hasattr(part, "register_message_forward_hook")]
        self.current: Pass | None = None
        for layer in self.layers:
            layer.fuse = False
            layer.register_propagate_forward_pre_hook(self._before_propagate)
            layer.register_message_forward_hook(self._after_message)
            if hasattr(layer, "_cached_edge_index"):
                layer.register_forward_pre_hook(self._before_layer, with_kwargs=True)
        for part in self.network.modules():
            if type(part).__name__ == "FilterEdges":  # how TopKPooling and SAGPooling keep some of the edges
                part.register_forward_hook(self._after_pooling, with_kwargs=True)

    @contextmanager
    def masked(self, this: Pass):
        this.edges.start()
        self.current = this
        try:
            yield
        finally:
            self.current = None
            for layer in self.layers:
                if getattr(layer, "_cached_edge_index", None) is not None:
                    layer._cached_edge_index = None

    def run(self, this: Pass, call: Callable[[nn.Module], object]) -> object:
        with self.masked(this):
            return call(self.network)

    def _before_layer(self, layer, args, kwargs):
        """Normalisation by degrees is worked out once for a batch, and with the degrees of the whole graph."""
        this = self.current
        if this is None:
            return
        at = next((i for i, value in enumerate(args) if value is this.edges.edge_index), None)
        given = at is not None or kwargs.get("edge_index") is this.edges.edge_index
        after = () if at is None else args[at + 1 :]
        weighted = kwargs.get("edge_weight") is not None or any(isinstance(value, Tensor) for value in after)
        layer._cached_edge_index = this.degrees.gcn_norm(layer) if given and not weighted else None

    def _before_propagate(self, layer, inputs):
        this = self.current
        if this is None:
            return
        edge_index, size, values = inputs
        if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
            raise ValueError(
                "layers must be given edge_index of shape (2, edges) (got a sparse matrix); leave out the conversion to SparseTensor"
            )
        this.route = this.edges.route(this.calls, edge_index, _rows(size, values))
        this.calls += 1
        this.masked += this.route is not None

    def _after_message(self, layer, inputs, messages):
        this = self.current
        if this is None or this.route is None:
            return None
        if this.attention is not None:
            paid = inputs[0].get("alpha")
            paid = getattr(layer, "_alpha", None) if paid is None else paid
            if isinstance(paid, Tensor) and len(paid) == messages.shape[layer.node_dim]:
                this.attention.append((this.route, paid.detach().reshape(len(paid), -1).mean(1)))
        weights = None if this.mask is None else this.weights_of(this.route)
        share = this.degrees.mean_share(layer, this.route)
        if share is not None:
            weights = share if weights is None else weights * share
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
        this.edges.keep(before, output.edge_index, chosen.node_index, chosen.num_nodes)


def _rows(size, values: dict) -> int | None:
    """How many rows the layer's messages are taken from."""
    if size is not None and size[0] is not None:
        return int(size[0])
    for value in values.values():
        value = value[0] if isinstance(value, tuple) else value
        if isinstance(value, Tensor) and value.ndim > 1:
            return len(value)
    return None
