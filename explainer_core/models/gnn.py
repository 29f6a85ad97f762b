"""A graph neural network: a stack of layers, jumping knowledge, and a head for nodes, graphs or links."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from explainer_core.models.csr import WORTH_IT, Routes
from explainer_core.models.layers import (
    GatedLayer,
    GATLayer,
    GCNLayer,
    GINLayer,
    MessagePassing,
    RelationalLayer,
    SAGELayer,
    Wiring,
    count_by,
    first_rows,
    sum_by,
)

KINDS = ("gcn", "sage", "gin", "gat", "gated", "rgcn")
TASKS = ("node", "graph", "link")
READOUTS = ("mean", "sum", "max")
JUMPS = ("last", "cat", "max")
TINY = 1e-12  # keeps a state of zeros at zero; torch's own normalize does it in two operations more, and slower by half


@dataclass(frozen=True)
class ModelSpec:
    """Everything needed to build a network again before its weights are loaded."""

    kind: str
    task: str
    in_features: int
    num_classes: int
    hidden: int = 32
    num_layers: int = 3
    jump: str = "last"
    readout: str = "mean"
    heads: int = 4  # of a gat
    normalize: bool = True  # gcn, sage and gat average over neighbours; without it they sum, and so can count
    num_edge_types: int = 0
    unit_length: bool = False  # every layer's output scaled to length one
    batch_norm: bool = False
    dropout: float = 0.0

    def __post_init__(self):
        for field, options in (("kind", KINDS), ("task", TASKS), ("jump", JUMPS), ("readout", READOUTS)):
            if getattr(self, field) not in options:
                raise ValueError(f"{field} must be one of {', '.join(options)} (got {getattr(self, field)!r})")
        for field, high in (
            ("in_features", 100_000),
            ("num_classes", 1000),
            ("hidden", 4096),
            ("num_layers", 20),
            ("heads", 64),
        ):
            value = getattr(self, field)
            if type(value) is not int or not 1 <= value <= high:
                raise ValueError(f"{field} must be 1 to {high:,} (got {value!r})")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be 0 up to 1 (got {self.dropout})")
        if self.kind == "rgcn" and not 1 <= self.num_edge_types <= 1000:
            raise ValueError(f"a relational network needs 1 to 1,000 edge types (got {self.num_edge_types!r})")

    def to_dict(self) -> dict:
        return asdict(self)


class GNN(nn.Module):
    """Layers of one kind and a head. Masks come in as `edge_weight`; nothing is ever stored on the network.

    The head gives class logits: for each node, for each graph, or for each pair of nodes (no link, link).
    """

    def __init__(self, spec: ModelSpec):
        super().__init__()
        self.spec = spec
        sizes = [spec.in_features] + [spec.hidden] * spec.num_layers
        self.layers = nn.ModuleList(_layer(spec, a, b) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(nn.BatchNorm1d(spec.hidden) for _ in self.layers if spec.batch_norm)
        self.dropout = nn.Dropout(spec.dropout)
        size = self.embedding_size
        if spec.task == "graph":
            self.head = nn.Sequential(nn.Linear(size, spec.hidden), nn.ReLU(), nn.Linear(spec.hidden, spec.num_classes))
        elif spec.task == "node":
            self.head = nn.Linear(size, spec.num_classes)
        else:
            self.head = nn.Sequential(nn.Linear(size, spec.hidden), nn.ReLU(), nn.Linear(spec.hidden, 1))

    @property
    def num_layers(self) -> int:
        return self.spec.num_layers

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
        routes: Sequence[Routes] | None = None,
    ) -> Tensor:
        """Class logits. `graph_of` says which graph each node is in, `node_weight` how much it counts in the readout;
        `links` holds the pairs to judge: (2, P)."""
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes, "routes": routes}
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
        self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None, routes=None
    ) -> Tensor:
        """What the layers make of every node: (N, embedding_size); of the first nodes only, given prefixes.

        `prefixes` holds for each layer how many nodes receive and how many edges they have: the hop-ordered
        saving. `degree` is then needed too, since the nodes at the rim have lost their own edges. `routes` is what
        plan() made of the same edges.
        """
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes, "routes": routes}
        return self._run(x, self.wirings(x, edge_index, edge_weight, **settings))[0]

    def plan(
        self, edge_index: Tensor, num_nodes: int, prefixes: Sequence[tuple[int, int]] | None = None
    ) -> tuple[Routes, ...] | None:
        """Routes for many passes over these edges, one for each layer; None where a pass is no cheaper with them."""
        if self.spec.kind == "rgcn" or edge_index.device.type != "cpu" or edge_index.shape[1] < WORTH_IT:
            return None
        prefixes = [(num_nodes, edge_index.shape[1])] * self.num_layers if prefixes is None else prefixes
        heads = self.spec.heads if self.spec.kind == "gat" else 1
        sizes = [(num_in, *prefix) for (num_in, _), prefix in pairwise([(num_nodes, 0), *prefixes])]
        made = {
            (num_in, num_out, edges): Routes.of(*edge_index[:, :edges], num_in, num_out, heads)
            for num_in, num_out, edges in set(sizes)
        }
        return tuple(made[size] for size in sizes)

    def attention(self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None) -> list[Tensor]:
        """Attention along every edge, layer by layer: a list of (E, heads). Only a GAT has it."""
        if self.spec.kind != "gat":
            raise ValueError(f"only a gat network has attention (got {self.spec.kind!r}); load the data set's gat")
        settings = {"edge_type": edge_type, "degree": degree, "prefixes": prefixes}
        return self._run(x, self.wirings(x, edge_index, edge_weight, **settings))[1]

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

    def _run(self, x: Tensor, wirings: list[Wiring]) -> tuple[Tensor, list[Tensor]]:
        h, states, attentions = x, [], []
        for i, (layer, wiring) in enumerate(zip(self.layers, wirings, strict=True)):
            if self.spec.kind == "gat":
                h, attention = layer.forward_with_attention(h, wiring)
                attentions.append(attention)
            else:
                h = layer(h, wiring)
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

    def wirings(
        self, x, edge_index, edge_weight=None, *, edge_type=None, degree=None, prefixes=None, routes=None
    ) -> list[Wiring]:
        """Who sends to whom in each layer."""
        if x.ndim != 2 or x.shape[1] != self.spec.in_features:
            raise ValueError(f"the network reads {self.spec.in_features} features a node (got shape {tuple(x.shape)})")
        if prefixes is None:
            prefixes = [(x.shape[0], edge_index.shape[1])] * self.num_layers
        elif len(prefixes) != self.num_layers or degree is None:
            raise ValueError(
                f"prefixes need one entry for each of {self.num_layers} layers, and the degrees of the whole graph (got {len(prefixes)})"
            )
        if degree is None:
            degree = count_by(edge_index[1], x.shape[0])
        source, head = edge_index.unbind()
        return [
            Wiring(
                first_rows(source, edges),
                first_rows(head, edges),
                nodes,
                degree,
                _first(edge_weight, edges),
                _first(edge_type, edges),
                planned,
            )
            for (nodes, edges), planned in zip(prefixes, routes or [None] * self.num_layers, strict=True)
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
