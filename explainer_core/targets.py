"""What can be explained: a node, a whole graph, or a link."""

from dataclasses import dataclass, fields
from numbers import Integral


@dataclass(frozen=True)
class _Numbers:
    """Whole numbers of any kind, numpy's for one, become plain ints, so that a target can be written to a file.

    Anything else stays as it is, and is refused with its value when it meets the data.
    """

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, field.name, int(value))


@dataclass(frozen=True)
class Node(_Numbers):
    """The prediction for one node of a graph."""

    node: int


@dataclass(frozen=True)
class WholeGraph(_Numbers):
    """The prediction for a graph; `index` is its number in a GraphSet, and stays None for a single Graph."""

    index: int | None = None


@dataclass(frozen=True)
class Link(_Numbers):
    """The prediction for a pair of nodes; each end has a computation graph and a mask of its own."""

    source: int
    head: int


Target = Node | WholeGraph | Link


def number_in_set(target: Target) -> int:
    """Which graph of a GraphSet a target is."""
    if not isinstance(target, WholeGraph) or target.index is None:
        raise ValueError(f"a target in a set of graphs must be a WholeGraph with its number (got {target})")
    return target.index


TASKS = {Node: "node", WholeGraph: "graph", Link: "link"}  # the task of a model that predicts it
