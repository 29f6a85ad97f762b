"""Our networks as PyTorch Geometric sees them, so that its GNNExplainer explains the very same weights.

Every layer is written again on PyG's message passing from its weights alone. The own state never travels along an
edge, so that PyG's mask multiplies the messages of neighbours and nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import k_hop_subgraph, softmax
from tqdm import tqdm

from explainer_core import Explanation, Graph, GraphSet
from explainer_core.checks import index_of
from explainer_core.models import GNN
from explainer_core.targets import Node, Target, WholeGraph


class PygConv(MessagePassing):
    """What the layers share: messages are made first, one row an edge, and then sent, masked and summed by PyG."""

    layer: Any  # one of the zoo's, each with parts of its own

    def __init__(self, layer: nn.Module):
        super().__init__(aggr="add")
        self.layer = layer

    def message(self, rows: Tensor) -> Tensor:
        return rows

    def received(self, rows: Tensor, edge_index: Tensor, num_nodes: int) -> Tensor:
        return self.propagate(edge_index, rows=rows, size=(num_nodes, num_nodes))  # (N, D)


class PygGcnConv(PygConv):
    """Kipf & Welling's layer, or the summing one. Degrees are those of the whole graph, whatever the mask."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        own = self.layer.linear(x)
        source, target = edge_index
        rows = own.index_select(0, source)
        if self.layer.normalize:
            scale = (_in_degree(edge_index, len(x)) + 1).rsqrt().unsqueeze(-1)  # (N, 1)
            rows = rows * scale[source] * scale[target]
            own = own * scale**2
        return self.received(rows, edge_index, len(x)) + own + self.layer.bias


class PygSageConv(PygConv):
    """GraphSAGE with the mean, or with the sum."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        total = self.received(x.index_select(0, edge_index[0]), edge_index, len(x))
        if self.layer.normalize:
            total = total / _in_degree(edge_index, len(x)).clamp(min=1).unsqueeze(-1)
        return self.layer.neighbors(total) + self.layer.own(x)


class PygGinConv(PygConv):
    """The GIN layer."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        total = self.received(x.index_select(0, edge_index[0]), edge_index, len(x))
        return self.layer.mlp((1 + self.layer.epsilon) * x + total)


class PygGatConv(PygConv):
    """Attention by softmax or sigmoid. The mask comes after the softmax: the others do not get louder."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        layer, (source, target), size = self.layer, edge_index, len(x)
        state = layer.linear(x).view(size, layer.heads, -1)  # (N, heads, D / heads)
        from_source, from_target = (
            (state * layer.source_score).sum(-1),
            (state * layer.head_score).sum(-1),
        )  # (N, heads)
        score = torch.cat(
            [from_source[source] + from_target[target], from_source + from_target]
        )  # (E + N, heads): a node attends to itself too
        score = nn.functional.leaky_relu(score, layer.negative_slope)
        receiver = torch.cat([target, torch.arange(size)])
        paid = softmax(score, receiver, num_nodes=size) if layer.normalize else score.sigmoid()
        on_edge, on_self = paid.unsqueeze(-1).tensor_split([len(source)])
        rows = (state[source] * on_edge).flatten(1)  # (E, D)
        return self.received(rows, edge_index, size) + (state * on_self).flatten(1) + layer.bias


class PygGatedConv(PygConv):
    """One step of a gated graph network."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        own = nn.functional.pad(x, (0, self.layer.cell.hidden_size - x.shape[1]))
        rows = self.layer.linear(own).index_select(0, edge_index[0])
        return self.layer.cell(self.received(rows, edge_index, len(x)), own)


class PygRelationalConv(PygConv):
    """R-GCN: the mean within each type of edge, all types in one pass, so that one mask fits."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor | None) -> Tensor:
        if edge_type is None:
            raise ValueError("an R-GCN layer needs the type of every edge (got none)")
        source, target = edge_index
        num_types = len(self.layer.weight)
        of_type = torch.einsum("nf,tfd->tnd", x, self.layer.weight)  # (types, N, D)
        kind = target * num_types + edge_type  # (E,)
        count = torch.bincount(kind, minlength=len(x) * num_types)
        rows = of_type[edge_type, source] / count[kind].unsqueeze(-1)
        return self.received(rows, edge_index, len(x)) + self.layer.own(x)


CONVOLUTIONS = {
    "gcn": PygGcnConv,
    "sage": PygSageConv,
    "gin": PygGinConv,
    "gat": PygGatConv,
    "gated": PygGatedConv,
    "rgcn": PygRelationalConv,
}


def _in_degree(edge_index: Tensor, num_nodes: int) -> Tensor:
    return torch.bincount(edge_index[1], minlength=num_nodes)


class PygTwin(nn.Module):
    """The same stack on PyG's message passing; its explainer hooks into these layers."""

    def __init__(self, model: GNN):
        super().__init__()
        self.model = model
        self.convolutions = nn.ModuleList(CONVOLUTIONS[model.spec.kind](layer) for layer in model.layers)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_type: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Tensor:
        """Class logits of every node, of every graph, or of the pairs in `edge_label_index`, PyG's name for them."""
        spec, states = self.model.spec, []
        for i, convolution in enumerate(self.convolutions):
            x = convolution(x, edge_index, edge_type)
            x = nn.functional.normalize(x, dim=-1) if spec.unit_length else x
            x = torch.relu(self.model.norms[i](x) if spec.batch_norm else x)
            states.append(x)
        z = {"last": states[-1], "cat": torch.cat(states, -1), "max": torch.stack(states).amax(0)}[spec.jump]
        if spec.task == "link":
            return self.model.decode(*z[edge_label_index])
        return self.model.head(self.model.read_out(z, batch) if spec.task == "graph" else z)


def pyg_explainer(model: GNN, steps: int) -> Explainer:
    """PyG's GNNExplainer with its own defaults, but for the number of steps."""
    level = {"link": "edge"}.get(model.spec.task, model.spec.task)
    return Explainer(
        PygTwin(model).eval(),
        GNNExplainer(epochs=steps),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": level, "return_type": "raw"},
    )


def explain_node(explainer: Explainer, x: Tensor, edge_index: Tensor, node: int) -> Tensor:
    """PyG's ordinary call on the whole graph: the weight of every edge."""
    return explainer(x, edge_index, index=node).edge_mask


def explain_node_locally(explainer: Explainer, x: Tensor, edge_index: Tensor, node: int, hops: int) -> Tensor:
    """PyG on the k-hop subgraph, cut out with its own function."""
    nodes, edges, index, _ = k_hop_subgraph(node, hops, edge_index, relabel_nodes=True)
    return explainer(x[nodes], edges, index=int(index)).edge_mask


def explained_by_pyg(
    model: GNN, data: Graph | GraphSet, frames: Sequence[Explanation], steps: int
) -> list[Explanation]:
    """PyG's masks instead of the weights of explanations of the same targets, so that both are judged alike.

    PyG learns one mask for a link, ours has one for each end: both ends are given the same.
    """
    explainer, found = pyg_explainer(model, steps), []
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for frame in tqdm(frames, desc="PyG's GNNExplainer", leave=False):
            weight, feature = _pyg_masks(explainer, model, data, frame.target)
            changes = {"edge_weight": weight[frame.edge_ids], "feature_weight": feature}
            found.append(replace(frame, method="pyg", **changes))
    return found


def _pyg_masks(explainer: Explainer, model: GNN, data, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """The weight of every edge of the target's graph (E,), zero far from the target, and of every feature (F,)."""
    if isinstance(target, WholeGraph):
        graph = data[index_of("graph", target.index, len(data))] if isinstance(data, GraphSet) else data
        near, kept, settings = torch.arange(graph.num_nodes), torch.arange(graph.num_edges), {}
        edge_index = graph.edge_index
    else:
        graph = data
        ends = [target.node] if isinstance(target, Node) else [target.source, target.head]
        shown = _shown(graph.edge_index, ends)
        # one hop more than the layers: the degrees at the rim count
        near, edge_index, index, kept = k_hop_subgraph(
            ends, model.num_layers + 1, graph.edge_index[:, shown], relabel_nodes=True, num_nodes=graph.num_nodes
        )
        kept = shown[kept]
        settings = {"index": int(index[0])} if len(ends) == 1 else {"edge_label_index": index.unsqueeze(1)}
    types = {} if graph.edge_types is None else {"edge_type": graph.edge_types[kept]}
    found = explainer(graph.x[near], edge_index, **settings, **types)
    weight = np.zeros(graph.num_edges)
    weight[kept.numpy()] = found.edge_mask.detach().double().numpy()
    return weight, found.node_mask.detach().double().numpy().reshape(-1)


def _shown(edge_index: Tensor, ends: list[int]) -> Tensor:
    """The numbers of the edges a model may look at: all, but for the link that is asked for."""
    if len(ends) == 1:
        return torch.arange(edge_index.shape[1])
    low, high = edge_index.amin(0), edge_index.amax(0)
    return ((low != min(ends)) | (high != max(ends))).nonzero().flatten()
