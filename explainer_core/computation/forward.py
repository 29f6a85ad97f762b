"""Computation graphs and whole graphs as a network is asked about them: one row of logits for each prediction."""

import torch
from torch import Tensor

from explainer_core.computation.computation_graph import Computation
from explainer_core.graph import Graph, move_rows
from explainer_core.models.protocol import Model, PredictionBatch, ask


def prediction_batch(computation: Computation, task: str) -> PredictionBatch:
    """The computation graphs as a batch: the first nodes are the targets, two of them for each link."""
    c = computation
    shared = {"task": task, "x": c.x, "edge_index": c.edge_index, "edge_types": c.edge_types}
    shared |= {"node_data": c.node_data, "edge_data": c.edge_data, "graph_of": c.node_instance}
    if task == "graph":
        return PredictionBatch(**shared, num_predictions=c.num_instances)
    targets = torch.arange(c.num_instances, device=c.x.device)
    if task == "link":
        targets = targets.view(-1, 2)
        shared["graph_of"] = c.node_instance // 2
    return PredictionBatch(
        **shared, num_predictions=len(targets), targets=targets, degree=c.degree, prefixes=c.prefixes
    )


def whole_graph_batch(graph: Graph, device: torch.device, pairs: Tensor | None = None) -> PredictionBatch:
    """All nodes of a graph, or the pairs given, (P, 2), as predictions that share it: nothing is cut."""
    types = None if graph.edge_types is None else graph.edge_types.to(device)
    targets = torch.arange(graph.num_nodes, device=device) if pairs is None else pairs.to(device)
    return PredictionBatch(
        task="node" if pairs is None else "link",
        x=graph.x.to(device),
        edge_index=graph.edge_index.to(device),
        num_predictions=len(targets),
        targets=targets,
        edge_types=types,
        node_data=move_rows(graph.node_data, device),
        edge_data=move_rows(graph.edge_data, device),
    )


def run(
    model: Model, computation: Computation, task: str, edge_weight: Tensor | None = None, x: Tensor | None = None
) -> Tensor:
    """Logits of a model on computation graphs: (P, C)."""
    return ask(model, prediction_batch(computation, task), edge_weight, x)
