"""A graph neural network: a stack of layers, jumping knowledge, and a head for nodes, graphs or links."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.models.csr import WORTH_IT, CSRAggregation
from explainer_core.models.deduplicated import deduplicated_logits
from explainer_core.models.delta import LINEAR_KINDS, DeltaGNN
from explainer_core.models.edited import EditedGNN
from explainer_core.models.fast import FastGNN
from explainer_core.models.layers import (
    TINY,
    GatedLayer,
    GATLayer,
    GCNLayer,
    GINLayer,
    LayerInputs,
    MessagePassing,
    RelationalLayer,
    SAGELayer,
    count_by,
    first_rows,
    sum_by,
)
from explainer_core.models.norm import BatchNorm
from explainer_core.models.protocol import PredictionBatch, Task
from explainer_core.models.spec import ModelSpec


class GNN(nn.Module):
    """Layers of one kind and a head. Masks come in as `edge_weight`; nothing is ever stored on the network.

    The head gives class logits: for each node, for each graph, or for each pair of nodes (no link, link).
    """

    def __init__(self, spec: ModelSpec):
        super().__init__()
        self.spec = spec
        self.task: Task = cast(Task, spec.task)  # ModelSpec has checked it
        self.num_classes: int = 2 if spec.task == "link" else spec.num_classes
        self.hops: int | None = spec.num_layers
        sizes = [spec.in_features] + [spec.hidden] * spec.num_layers
        self.layers = nn.ModuleList(_layer(spec, a, b) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(BatchNorm(spec.hidden) for _ in self.layers if spec.batch_norm)
        self.dropout = nn.Dropout(spec.dropout)
        size = self.embedding_size
        if spec.task == "graph":
            self.head = nn.Sequential(nn.Linear(size, spec.hidden), nn.ReLU(), nn.Linear(spec.hidden, spec.num_classes))
        elif spec.task == "node":
            self.head = nn.Linear(size, spec.num_classes)
        else:
            self.head = nn.Sequential(nn.Linear(size, spec.hidden), nn.ReLU(), nn.Linear(spec.hidden, 1))

    # What an explainer asks of a network, and what it may ask: protocol.py says what each means.

    @property
    def in_features(self) -> int:
        return self.spec.in_features

    def logits(self, batch: PredictionBatch, edge_weight: Tensor | None = None, x: Tensor | None = None) -> Tensor:
        return self.run(batch, edge_weight, x, batch.node_weight)

    def run(self, batch: PredictionBatch, edge_weight=None, x=None, node_weight=None, plan=None) -> Tensor:
        """The logits of a batch, along planned edges if given: (P, C)."""
        if batch.task == "link":
            assert batch.targets is not None  # only whole graphs have none
            z = self._embed_batch(batch, edge_weight, x, plan)
            return self.decode(z[batch.targets[:, 0]], z[batch.targets[:, 1]])
        settings = {"edge_type": batch.edge_types, "degree": batch.degree, "prefixes": batch.prefixes, "plan": plan}
        if batch.task == "graph":
            settings |= {"graph_of": batch.graph_of, "num_graphs": batch.num_predictions, "node_weight": node_weight}
        logits = self(batch.x if x is None else x, batch.edge_index, edge_weight, **settings)
        # with prefixes only the targets are left in the end
        return logits if batch.task == "graph" or batch.prefixes is not None else logits[batch.targets]

    def embeddings(self, batch: PredictionBatch) -> Tensor:
        z = self._embed_batch(batch)
        if batch.task == "graph":
            return self.read_out(z, batch.graph_of, batch.num_predictions)
        return z if batch.prefixes is not None or self.spec.task == "link" else z[batch.targets]

    def read(self, embeddings: Tensor) -> Tensor:
        return self.head(embeddings)

    def _embed_batch(self, batch: PredictionBatch, edge_weight=None, x=None, plan=None) -> Tensor:
        settings = {"edge_type": batch.edge_types, "degree": batch.degree, "prefixes": batch.prefixes, "plan": plan}
        return self.embed(batch.x if x is None else x, batch.edge_index, edge_weight, **settings)

    @property
    def attention(self) -> Callable[[PredictionBatch], Tensor] | None:
        return self._mean_attention if self.spec.kind == "gat" else None

    def _mean_attention(self, batch: PredictionBatch) -> Tensor:
        """Mean over the heads, and over the layers in which the edge can still reach the target: (e,)."""
        settings = {"edge_type": batch.edge_types, "degree": batch.degree, "prefixes": batch.prefixes}
        total = torch.zeros(batch.edge_index.shape[1], device=batch.x.device)
        count = torch.zeros_like(total)
        for paid in self.layer_attention(batch.x, batch.edge_index, **settings):  # (edges of the layer's prefix, heads)
            total[: len(paid)] += paid.mean(1)
            count[: len(paid)] += 1
        return total / count.clamp(min=1)

    @property
    def fast(self) -> Callable[[PredictionBatch], FastGNN] | None:
        return partial(FastGNN, self) if type(self) is GNN else None  # who overrides anything has other numbers

    @property
    def delta(self) -> Callable[[PredictionBatch, np.ndarray], DeltaGNN] | None:
        linear = type(self) is GNN and self.spec.kind in LINEAR_KINDS and not self.training
        return partial(DeltaGNN, self) if linear else None

    @property
    def deduplicated(self) -> Callable[[PredictionBatch], Tensor] | None:
        plain = type(self) is GNN and self.task == "graph" and not self.training
        return partial(deduplicated_logits, self) if plain else None

    @property
    def edited(self) -> Callable[[PredictionBatch, np.ndarray], EditedGNN] | None:
        plain = type(self) is GNN and self.task != "graph" and not self.training
        return partial(EditedGNN, self) if plain else None

    @property
    def silent_is_absent(self) -> bool:
        """Not where a silent edge is felt: by a softmax over neighbours, or a count of them by type."""
        return self.spec.kind != "rgcn" and not (self.spec.kind == "gat" and self.spec.normalize)

    @property
    def num_layers(self) -> int:
        return self.spec.num_layers

    @property
    def message_layers(self) -> Sequence[MessagePassing]:
        return cast(Sequence[MessagePassing], self.layers)  # a ModuleList does not say what its modules are

    @property
    def embedding_size(self) -> int:
        return self.spec.hidden * (self.spec.num_layers if self.spec.jump == "cat" else 1)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        edge_type: Tensor | None = None,
        graph_of: Tensor | None = None,
        num_graphs: int | None = None,
        node_weight: Tensor | None = None,
        links: Tensor | None = None,
        degree: Tensor | None = None,
        prefixes: Sequence[tuple[int, int]] | None = None,
        plan: Sequence[CSRAggregation] | None = None,
    ) -> Tensor:
        """Class logits. `graph_of` says which graph each node is in, `node_weight` how much it counts in the readout;
        `links` holds the pairs to judge: (2, P)."""
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes, "plan": plan}
        z = self.embed(x, edge_index, edge_weight, **settings)
        if self.spec.task == "graph":
            return self.head(self.read_out(z, graph_of, num_graphs, node_weight))
        if self.spec.task == "link":
            if links is None:
                raise ValueError(
                    "a link network needs the pairs of nodes to judge (got none); pass links of shape (2, pairs)"
                )
            return self.decode(z[links[0]], z[links[1]])
        return self.head(z)

    def embed(
        self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None, plan=None
    ) -> Tensor:
        """What the layers make of every node: (N, embedding_size); of the first nodes only, given prefixes.

        `prefixes` holds for each layer how many nodes receive and how many edges they have: the hop-ordered
        saving. `degree` is then needed too, since the nodes at the rim have lost their own edges. `plan` is what
        plan() made of the same edges.
        """
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes, "plan": plan}
        return self._layers(x, self.layer_inputs(x, edge_index, edge_weight, **settings))[0]

    def plan(
        self, edge_index: Tensor, num_nodes: int, prefixes: Sequence[tuple[int, int]] | None = None
    ) -> tuple[CSRAggregation, ...] | None:
        """CSR aggregation for many passes over these edges, one for each layer; None where a pass is no cheaper with them."""
        if self.spec.kind == "rgcn" or edge_index.device.type != "cpu" or edge_index.shape[1] < WORTH_IT:
            return None
        prefixes = [(num_nodes, edge_index.shape[1])] * self.num_layers if prefixes is None else prefixes
        heads = self.spec.heads if self.spec.kind == "gat" else 1
        sizes = [(num_in, *prefix) for (num_in, _), prefix in pairwise([(num_nodes, 0), *prefixes])]
        source, target = edge_index.unbind()
        made = {
            (num_in, num_out, edges): CSRAggregation.of(source[:edges], target[:edges], num_in, num_out, heads)
            for num_in, num_out, edges in set(sizes)
        }
        return tuple(made[size] for size in sizes)

    def layer_attention(
        self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None
    ) -> list[Tensor]:
        """Attention along every edge, layer by layer: a list of (E, heads). Only a GAT has it."""
        if self.spec.kind != "gat":
            raise ValueError(f"only a gat network has attention (got {self.spec.kind!r}); load the data set's gat")
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes}
        return self._layers(x, self.layer_inputs(x, edge_index, edge_weight, **settings))[1]

    def read_out(
        self,
        z: Tensor,
        graph_of: Tensor | None = None,
        num_graphs: int | None = None,
        node_weight: Tensor | None = None,
    ) -> Tensor:
        """One vector for each graph: (G, embedding_size). Without `graph_of` all nodes are one graph.

        A node of weight zero is not there: it adds nothing to a sum or mean, and is not counted. States are never below
        zero, so that it is never the maximum either.
        """
        if graph_of is None:
            graph_of, num_graphs = z.new_zeros(len(z), dtype=torch.int64), 1
        elif num_graphs is None:
            num_graphs = int(graph_of.max()) + 1
        z = z if node_weight is None else z * node_weight.unsqueeze(-1)
        if self.spec.readout == "max":
            index = graph_of.unsqueeze(-1).expand_as(z)
            return z.new_zeros(num_graphs, z.shape[1]).scatter_reduce(0, index, z, "amax", include_self=False)
        total = sum_by(graph_of, z, num_graphs)
        if self.spec.readout == "sum":
            return total
        if node_weight is not None:
            return total / sum_by(graph_of, node_weight, num_graphs).clamp(min=TINY).unsqueeze(-1)
        return total / count_by(graph_of, num_graphs).clamp(min=1).unsqueeze(-1)

    def decode(self, one: Tensor, other: Tensor) -> Tensor:
        """Logits of (no link, link) for pairs of embeddings, the same in either order: (P, 2)."""
        score = self.head(one * other)  # (P, 1)
        return torch.cat([torch.zeros_like(score), score], dim=1)

    def _layers(self, x: Tensor, inputs: list[LayerInputs]) -> tuple[Tensor, list[Tensor]]:
        h, states, attentions = x, [], []
        for i, (layer, each) in enumerate(zip(self.message_layers, inputs, strict=True)):
            if isinstance(layer, GATLayer):
                h, attention = layer.forward_with_attention(h, each)
                attentions.append(attention)
            else:
                h = layer(h, each)
            h = self.finish(i, h)
            states.append(h)
        return self.jump(states), attentions

    def finish(self, i: int, h: Tensor) -> Tensor:
        """What follows on layer i: unit length, batch norm, ReLU, dropout."""
        if self.spec.unit_length:
            h = h / (torch.linalg.vector_norm(h, dim=-1, keepdim=True) + TINY)
        if self.spec.batch_norm:
            h = self.norms[i](h)
        h = torch.relu(h)
        return self.dropout(h) if self.training else h

    def jump(self, states: list[Tensor]) -> Tensor:
        """Jumping knowledge (Xu et al. 2018): what the head sees of all layers."""
        if self.spec.jump == "last":
            return states[-1]
        states = [first_rows(h, states[-1].shape[0]) for h in states]
        return torch.cat(states, dim=-1) if self.spec.jump == "cat" else torch.stack(states).amax(0)

    def layer_inputs(
        self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None, plan=None
    ) -> list[LayerInputs]:
        """Who sends to whom in each layer."""
        if x.ndim != 2 or x.shape[1] != self.spec.in_features:
            raise ValueError(f"the network reads {self.spec.in_features} features a node (got shape {tuple(x.shape)})")
        if prefixes is None:
            prefixes = [(x.shape[0], edge_index.shape[1])] * self.num_layers
        elif len(prefixes) != self.num_layers or degree is None:
            raise ValueError(
                f"prefixes need one entry for each of {self.num_layers} layers, and the degrees of the whole graph (got {len(prefixes)})"
            )
        degree = count_by(edge_index[1], x.shape[0]) if degree is None else degree
        source, target = edge_index.unbind()
        return [
            LayerInputs(
                first_rows(source, edges),
                first_rows(target, edges),
                nodes,
                degree,
                _first(edge_weight, edges),
                _first(edge_type, edges),
                planned,
            )
            for (nodes, edges), planned in zip(prefixes, plan or [None] * self.num_layers, strict=True)
        ]


def _first(values: Tensor | None, count: int) -> Tensor | None:
    return None if values is None else first_rows(values, count)


def _layer(spec: ModelSpec, in_features: int, out_features: int) -> MessagePassing:
    sizes = in_features, out_features
    if spec.kind == "gat":
        return GATLayer(*sizes, heads=spec.heads, normalize=spec.normalize)
    if spec.kind == "rgcn":
        return RelationalLayer(*sizes, num_edge_types=spec.num_edge_types)
    if spec.kind in ("gcn", "sage"):
        return {"gcn": GCNLayer, "sage": SAGELayer}[spec.kind](*sizes, normalize=spec.normalize)
    return {"gin": GINLayer, "gated": GatedLayer}[spec.kind](*sizes)
