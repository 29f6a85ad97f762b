"""Layers whose messages are the neighbours' states times a number: that number and the mask are multiplied first.

The states then travel once, in one CSR aggregation where there are many edges, instead of being copied for each factor.
"""

from torch import Tensor, nn

from explainer_core.adapters.edges import EdgeTable
from explainer_core.models.csr import WORTH_IT
from explainer_core.models.layers import scaled, sum_by

# by name, so that torch_geometric need not be there; a class of one's own with the same name is another
WEIGHTED = {"GCNConv", "GraphConv", "SAGEConv", "GINConv", "TAGConv", "SGConv", "GCN2Conv", "APPNP"}
ATTENTIVE = {"GATConv", "GATv2Conv"}
SUM, MEAN = "SumAggregation", "MeanAggregation"


def is_linear(layer) -> bool:
    """Only the library's own classes, without hooks that others have set on them."""
    kind = type(layer)
    known = kind.__module__.startswith("torch_geometric.") and kind.__name__ in WEIGHTED | ATTENTIVE
    hooks = (layer._message_forward_pre_hooks, layer._message_forward_hooks, layer._aggregate_forward_pre_hooks)
    others = (layer._aggregate_forward_hooks, layer._propagate_forward_pre_hooks, layer._propagate_forward_hooks)
    return (
        known and layer.flow == "source_to_target" and _aggregation(layer) in (SUM, MEAN) and not any((*hooks, *others))
    )


def is_attentive(layer) -> bool:
    return type(layer).__module__.startswith("torch_geometric.") and type(layer).__name__ in ATTENTIVE


def _aggregation(layer) -> str:
    return type(getattr(layer, "aggr_module", None)).__name__


def taken_out(layer) -> nn.Module:
    """The weights of a GCNConv that widens, to be applied to the sums of narrow states instead of to each of them."""
    if type(layer).__name__ != "GCNConv" or layer.in_channels >= layer.out_channels:
        return nn.Identity()
    weights, layer.lin = layer.lin, nn.Identity()
    return weights


def propagate(layer, table: EdgeTable, edge_index: Tensor, values: dict, mask: Tensor | None) -> Tensor | None:
    """What the layer's propagate gives, with messages times `mask`; None where it was called in another way."""
    x, weight = values.get("x"), values.get("alpha", values.get("edge_weight"))
    state, own = x if isinstance(x, tuple) else (x, x)
    size = values.get("size")
    if not isinstance(state, Tensor) or (size is not None and None in size) or set(values) - KNOWN:
        return None
    num_out = int(size[1]) if size is not None else len(state if own is None else own)
    heads = state.shape[1] if state.ndim == 3 else 1
    if state.ndim > 2 and (type(layer).__name__ not in ATTENTIVE or weight is None):
        return None
    weight = None if weight is None else weight.reshape(len(weight), -1)  # (e, heads)
    if mask is not None:
        weight = mask if weight is None else weight * mask.unsqueeze(-1)
    rows = state.reshape(len(state), -1)
    total = _total(table, edge_index, rows, weight, num_out, heads)
    if _aggregation(layer) == MEAN:
        total = total / table.count_of(edge_index, num_out).clamp(min=1).unsqueeze(-1)
    return total.view(num_out, *state.shape[1:])


KNOWN = {"x", "alpha", "edge_weight", "size"}


def _total(
    table: EdgeTable, edge_index: Tensor, rows: Tensor, weight: Tensor | None, num_out: int, heads: int
) -> Tensor:
    weight = weight if weight is None or weight.ndim == 1 or heads > 1 else weight.squeeze(-1)
    if weight is not None and edge_index.shape[1] * heads >= WORTH_IT and rows.device.type == "cpu":
        return table.aggregation(edge_index, len(rows), num_out, heads).total(rows, weight)
    messages = rows.index_select(0, edge_index[0])
    return sum_by(edge_index[1], messages if weight is None else scaled(messages, weight), num_out)
