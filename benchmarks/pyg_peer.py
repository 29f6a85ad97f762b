"""Our networks as PyTorch Geometric sees them, so that its GNNExplainer explains the very same weights."""

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import k_hop_subgraph

from explainer_core.models import GNN


class PygSumConv(MessagePassing):
    """The summing GCN layer: the messages of the neighbours, the own state outside, so that no mask can touch it."""

    def __init__(self, layer):
        super().__init__(aggr="add")
        self.layer = layer

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        own = self.layer.linear(x)
        return self.propagate(edge_index, x=own) + own + self.layer.bias

    def message(self, x_j: Tensor) -> Tensor:
        return x_j


class PygSageConv(MessagePassing):
    """The summing GraphSAGE layer."""

    def __init__(self, layer):
        super().__init__(aggr="add")
        self.layer = layer

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer.neighbors(self.propagate(edge_index, x=x)) + self.layer.own(x)

    def message(self, x_j: Tensor) -> Tensor:
        return x_j


class PygGinConv(MessagePassing):
    """The GIN layer."""

    def __init__(self, layer):
        super().__init__(aggr="add")
        self.layer = layer

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer.mlp((1 + self.layer.epsilon) * x + self.propagate(edge_index, x=x))

    def message(self, x_j: Tensor) -> Tensor:
        return x_j


CONVOLUTIONS = {"gcn": PygSumConv, "sage": PygSageConv, "gin": PygGinConv}


class PygTwin(nn.Module):
    """The same stack on PyG's message passing; its explainer hooks into these layers."""

    def __init__(self, model: GNN):
        super().__init__()
        if model.spec.kind not in CONVOLUTIONS or (model.spec.kind != "gin" and model.spec.normalize):
            raise ValueError(f"no twin for this network (got {model.spec.kind}); summing gcn, sage and gin have one")
        self.model = model
        self.convolutions = nn.ModuleList(CONVOLUTIONS[model.spec.kind](layer) for layer in model.layers)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        spec, states = self.model.spec, []
        for i, convolution in enumerate(self.convolutions):
            x = convolution(x, edge_index)
            x = nn.functional.normalize(x, dim=-1) if spec.unit_length else x
            x = torch.relu(self.model.norms[i](x) if spec.batch_norm else x)
            states.append(x)
        z = self.model._jump(states)
        return self.model.head(self.model.read_out(z, batch) if spec.task == "graph" else z)


def pyg_explainer(model: GNN, steps: int) -> Explainer:
    """PyG's GNNExplainer with its own defaults, but for the number of steps."""
    return Explainer(
        PygTwin(model).eval(),
        GNNExplainer(epochs=steps),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": model.spec.task, "return_type": "raw"},
    )


def explain_node(explainer: Explainer, x: Tensor, edge_index: Tensor, node: int) -> Tensor:
    """PyG's ordinary call on the whole graph: the weight of every edge."""
    return explainer(x, edge_index, index=node).edge_mask


def explain_node_locally(explainer: Explainer, x: Tensor, edge_index: Tensor, node: int, hops: int) -> Tensor:
    """PyG on the k-hop subgraph, cut out with its own function."""
    nodes, edges, place, _ = k_hop_subgraph(node, hops, edge_index, relabel_nodes=True)
    return explainer(x[nodes], edges, index=int(place)).edge_mask
