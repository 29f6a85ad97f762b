"""One message-passing layer each: Msg, Agg and Update as the paper names them (its section 2.1)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explainer_core.models.csr import CSRAggregation

TINY = 1e-12  # keeps a state of zeros at zero; torch's own normalize does it in two operations more, and slower by half


@dataclass(frozen=True)
class LayerInputs:
    """Who sends to whom in one layer.

    A layer may be asked for fewer nodes than it is given: only the first `num_out` nodes receive. In a
    computation graph sorted by hop that is all the next layer needs. Degrees are those of the whole graph,
    because the nodes at the rim have edges that were cut off.
    """

    source: Tensor  # (E,) int64
    target: Tensor  # (E,) int64, all below num_out
    num_out: int
    degree: Tensor  # (N,) in-degree in the whole graph
    edge_weight: Tensor | None = None  # (E,)
    edge_type: Tensor | None = None  # (E,) int64
    csr: CSRAggregation | None = None  # the same edges planned, where many passes are to follow

    def total(self, table: Tensor, weight: Tensor | None) -> Tensor:
        """The weighted sum of the rows that each node's neighbours send, the weights (E,) or (E, heads): (num_out, D)."""
        if self.csr is not None:
            return self.csr.total(table, table.new_ones(len(self.source)) if weight is None else weight)
        rows = table.index_select(0, self.source)  # (E, D)
        return sum_by(self.target, rows if weight is None else scaled(rows, weight), self.num_out)


class MessagePassing(nn.Module):
    """The shape all layers share. The edge weight multiplies messages, and never a node's own state."""

    def forward(self, h: Tensor, inputs: LayerInputs) -> Tensor:
        return self.from_state(self.transform(h), inputs)

    def from_state(self, state: Tensor, inputs: LayerInputs) -> Tensor:
        """The rest of the layer, from what `transform` made of every node: (num_out, D)."""
        received = self.aggregate(state, inputs)  # (num_out, D)
        return self.update(received, first_rows(state, inputs.num_out), inputs)

    def transform(self, h: Tensor) -> Tensor:
        """What a node prepares once for all its messages, and keeps as its own state: linear, so that changes add up."""
        return h

    def aggregate(self, state: Tensor, inputs: LayerInputs) -> Tensor:
        """Msg and Agg: what each node receives along its edges, weighted and summed."""
        return inputs.total(state, inputs.edge_weight)

    def update(self, received: Tensor, own: Tensor, inputs: LayerInputs) -> Tensor:
        """Update: the node's next state from what it received and its own state."""
        raise NotImplementedError


class GCNLayer(MessagePassing):
    """Kipf & Welling 2017. `normalize=False` sums instead of averaging, so that degrees can be counted."""

    def __init__(self, in_features: int, out_features: int, *, normalize: bool = True):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.normalize = normalize
        # The weights may come before the sum or after it, to the same effect: messages are kept as narrow as they can be,
        # and of equals the later is cheaper, since fewer nodes receive than send.
        self.sums_first = in_features <= out_features

    def transform(self, h):
        return h if self.sums_first else self.linear(h)

    def aggregate(self, state, inputs):
        if not self.normalize:
            return super().aggregate(state, inputs)
        scale = (inputs.degree + 1).rsqrt()  # (N,): the own state counts as one more neighbour
        share = scale[inputs.source] * scale[inputs.target]  # (E,)
        return inputs.total(state, share if inputs.edge_weight is None else share * inputs.edge_weight)

    def update(self, received, own, inputs):
        if self.normalize:
            own = own / (inputs.degree[: inputs.num_out] + 1).unsqueeze(-1)
        total = received + own
        return nn.functional.linear(total, self.linear.weight, self.bias) if self.sums_first else total + self.bias


class SAGELayer(MessagePassing):
    """GraphSAGE (Hamilton et al. 2017) with the mean, or with the sum."""

    def __init__(self, in_features: int, out_features: int, *, normalize: bool = True):
        super().__init__()
        self.neighbors = nn.Linear(in_features, out_features)
        self.own = nn.Linear(in_features, out_features, bias=False)
        self.normalize = normalize

    def aggregate(self, state, inputs):
        total = super().aggregate(state, inputs)
        if not self.normalize:
            return total
        # divided by the number of edges, not by their weights: a masked edge falls silent, the others do not get louder
        return total / inputs.degree[: inputs.num_out].clamp(min=1).unsqueeze(-1)

    def update(self, received, own, inputs):
        return self.neighbors(received) + self.own(own)


class GINLayer(MessagePassing):
    """Graph isomorphism network (Xu et al. 2019) with a trained epsilon."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(in_features, out_features), nn.ReLU(), nn.Linear(out_features, out_features))

    def update(self, received, own, inputs):
        return self.mlp((1 + self.epsilon) * own + received)


class GATLayer(MessagePassing):
    """Graph attention (Velickovic et al. 2018). The heads are joined; a node also attends to itself.

    With `normalize=False` attention is a sigmoid of the score instead of a softmax over the neighbours. A softmax
    only averages: where all features are equal, a network of it cannot tell any two nodes apart.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        heads: int = 4,
        negative_slope: float = 0.2,
        normalize: bool = True,
    ):
        super().__init__()
        if out_features % heads:
            raise ValueError(f"hidden size must be a multiple of the number of heads, {heads} (got {out_features})")
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.source_score = nn.Parameter(torch.empty(heads, out_features // heads))
        self.head_score = nn.Parameter(torch.empty(heads, out_features // heads))
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.heads, self.negative_slope, self.normalize = heads, negative_slope, normalize
        nn.init.xavier_uniform_(self.source_score)
        nn.init.xavier_uniform_(self.head_score)

    def transform(self, h):
        return self.linear(h)

    def attention(self, state: Tensor, inputs: LayerInputs) -> tuple[Tensor, Tensor]:
        """Weights of every edge, and of every node for itself: (E, heads), (num_out, heads)."""
        width = state.shape[1] // self.heads  # not -1, which torch cannot work out where there are no nodes
        per_head = state.view(len(state), self.heads, width)  # (N, heads, D / heads)
        sends = (per_head * self.source_score).sum(-1)  # (N, heads)
        receives = (per_head[: inputs.num_out] * self.head_score).sum(-1)  # (num_out, heads)
        score = self._score(sends.index_select(0, inputs.source) + receives.index_select(0, inputs.target))
        own_score = self._score(sends[: inputs.num_out] + receives)
        if not self.normalize:
            return score.sigmoid(), own_score.sigmoid()
        # the largest score of each node is taken off first, or exp overflows; it cancels out
        index = inputs.target.unsqueeze(-1).expand_as(score)
        top = own_score.detach().scatter_reduce(0, index, score.detach(), "amax")  # (num_out, heads)
        score, own_score = (score - top.index_select(0, inputs.target)).exp(), (own_score - top).exp()
        total = own_score + sum_by(inputs.target, score, inputs.num_out)
        return score / total.index_select(0, inputs.target), own_score / total

    def from_state(self, state, inputs):
        return self._attended(state, inputs)[0]

    def forward_with_attention(self, h: Tensor, inputs: LayerInputs) -> tuple[Tensor, Tensor]:
        """The next states, and the attention paid along each edge: (num_out, D), (E, heads)."""
        return self._attended(self.transform(h), inputs)

    def _attended(self, state: Tensor, inputs: LayerInputs) -> tuple[Tensor, Tensor]:
        on_edge, on_self = self.attention(state, inputs)
        weight = on_edge if inputs.edge_weight is None else on_edge * inputs.edge_weight.unsqueeze(-1)
        own = scaled(state[: inputs.num_out], on_self)
        return self.update(inputs.total(state, weight), own, inputs), on_edge

    def update(self, received, own, inputs):
        return received + own + self.bias

    def _score(self, raw: Tensor) -> Tensor:
        return nn.functional.leaky_relu(raw, self.negative_slope)


class GatedLayer(MessagePassing):
    """One step of a gated graph network (Li et al. 2016). A state narrower than the layer is padded with zeros."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        if in_features > out_features:
            raise ValueError(f"a gated layer cannot be narrower than its input, {in_features} (got {out_features})")
        self.linear = nn.Linear(out_features, out_features, bias=False)
        self.cell = nn.GRUCell(out_features, out_features)

    def transform(self, h):
        return nn.functional.pad(h, (0, self.cell.hidden_size - h.shape[1]))

    def aggregate(self, state, inputs):
        return super().aggregate(self.linear(state), inputs)

    def update(self, received, own, inputs):
        return self.cell(received, own)


class RelationalLayer(MessagePassing):
    """Relational GCN (Schlichtkrull et al. 2018): one weight matrix for each edge type, the mean within a type."""

    def __init__(self, in_features: int, out_features: int, *, num_edge_types: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_edge_types, in_features, out_features))
        self.own = nn.Linear(in_features, out_features)
        nn.init.xavier_uniform_(self.weight)

    def aggregate(self, state, inputs):
        if inputs.edge_type is None:
            raise ValueError("a relational network needs the type of every edge (got none); pass edge_type")
        num_types, num_nodes = self.weight.shape[0], state.shape[0]
        of_type = (state @ self.weight).flatten(0, 1)  # (types * N, D)
        kind = inputs.target * num_types + inputs.edge_type  # (E,): the receiving node and the type
        count = count_by(kind, inputs.num_out * num_types)
        messages = of_type.index_select(0, inputs.edge_type * num_nodes + inputs.source)
        share = 1 / count[kind] if inputs.edge_weight is None else inputs.edge_weight / count[kind]
        return sum_by(inputs.target, scaled(messages, share), inputs.num_out)

    def update(self, received, own, inputs):
        return received + self.own(own)


def scaled(rows: Tensor, weight: Tensor) -> Tensor:
    """Each row times its weight, (E,), or each head's part of it times that head's weight, (E, heads)."""
    if weight.ndim == 1:
        return rows * weight.unsqueeze(-1)
    width = rows.shape[1] // weight.shape[1]  # not -1, which torch cannot work out where there are no edges
    return (rows.view(*weight.shape, width) * weight.unsqueeze(-1)).flatten(1)


def sum_by(index: Tensor, values: Tensor, size: int) -> Tensor:
    """Rows of `values` added up by `index`: (size, D)."""
    return values.new_zeros(size, *values.shape[1:]).index_add_(0, index, values)


def count_by(index: Tensor, size: int) -> Tensor:
    """How often each number from 0 to size - 1 occurs: (size,). Unlike torch.bincount the host does not wait for it."""
    return index.new_zeros(size).scatter_add_(0, index, torch.ones_like(index))


def first_rows(values: Tensor, count: int) -> Tensor:
    """values[:count]; the tensor itself where that is all of it, which spares autograd a step."""
    return values if values.shape[0] == count else values[:count]
