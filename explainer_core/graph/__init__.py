"""Graphs as the rest of the package sees them: tensors, names and ground truth, checked when made."""

from explainer_core.graph.graph import Graph, one_hot_types, undirected
from explainer_core.graph.graph_set import Batch, GraphSet, ranges
from explainer_core.graph.rules import NO_MOTIF

__all__ = ["NO_MOTIF", "Batch", "Graph", "GraphSet", "one_hot_types", "ranges", "undirected"]
