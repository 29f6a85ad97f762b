"""An explanation as torch_geometric's Explanation, so that its metrics and pictures take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explainer_core.extras import pyg_explain
from explainer_core.graph import GraphSet
from explainer_core.targets import Link, Node, number_in_set

if TYPE_CHECKING:
    from explainer_core.explanation.result import Explanation
    from explainer_core.graph import Graph


def to_pyg(explanation: Explanation, data: Graph | GraphSet, *, hard: bool, model_args: Sequence[str]) -> Any:
    graph = data[number_in_set(explanation.target)] if isinstance(data, GraphSet) else data
    if len(explanation.edge_ids) and int(explanation.edge_ids.max()) >= graph.num_edges:
        raise ValueError(
            f"to_pyg needs the graph that was explained (got {graph.name!r} with {graph.num_edges} edges, and an edge "
            f"{int(explanation.edge_ids.max())}); pass the same data as to explain"
        )
    weight = np.zeros(graph.num_edges, dtype=np.float32)
    values = _kept(explanation) if hard else np.clip(explanation.edge_score, 0, 1)
    np.maximum.at(weight, explanation.edge_ids, values.astype(np.float32))
    found: dict[str, Any] = {"edge_mask": torch.from_numpy(weight), "x": graph.x, "edge_index": graph.edge_index}
    columns = {**graph.node_data, **graph.edge_data}
    if graph.edge_types is not None:
        columns["edge_type"] = graph.edge_types
    target, args = explanation.target, list(model_args)
    if isinstance(target, Node):
        classes = torch.full((graph.num_nodes,), -1)
        classes[target.node] = explanation.predicted_class
        found |= {"target": classes, "index": target.node}
    else:
        found["target"] = torch.tensor([explanation.predicted_class])
    if isinstance(target, Link):
        columns["edge_label_index"] = torch.tensor([[target.source], [target.head]])
        args = ["edge_label_index", *args]
    made = pyg_explain.Explanation(**columns, **found)
    made._model_args = args
    return made


def _kept(explanation: Explanation) -> np.ndarray:
    """1 for the edges of G_S, both ways: (e,)."""
    row = np.zeros(len(explanation.pairs))
    row[explanation.positions(explanation.subgraph().edges)] = 1
    return row[explanation.pair_numbers] if len(row) else np.empty(0)
