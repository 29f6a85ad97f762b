"""Graphs as the rest of the package sees them: tensors, names and ground truth, checked when made."""

from explainer_core.graph.columns import Columns, join_rows, move_rows, repeat_rows, take_rows
from explainer_core.graph.graph import Graph, one_hot_types, undirected
from explainer_core.graph.graph_set import Batch, GraphSet, ranges
from explainer_core.graph.rules import NO_LABEL, NO_MOTIF

__all__ = [
    "NO_LABEL",
    "NO_MOTIF",
    "Batch",
    "Columns",
    "Graph",
    "GraphSet",
    "join_rows",
    "move_rows",
    "one_hot_types",
    "ranges",
    "repeat_rows",
    "take_rows",
    "undirected",
]
