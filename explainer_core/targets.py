"""What can be explained: a node, a whole graph, or a link."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """The prediction for one node of a graph."""

    node: int


@dataclass(frozen=True)
class WholeGraph:
    """The prediction for a graph; `index` is its number in a GraphSet, and stays None for a single Graph."""

    index: int | None = None


@dataclass(frozen=True)
class Link:
    """The prediction for a pair of nodes; each end has a computation graph and a mask of its own."""

    source: int
    head: int


Target = Node | WholeGraph | Link
TASKS = {Node: "node", WholeGraph: "graph", Link: "link"}  # the task of a model that predicts it
