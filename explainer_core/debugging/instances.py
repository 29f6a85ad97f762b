"""Nodes, graphs or links as a network predicts them, with what a filter may ask. Plain numpy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from explainer_core.checks import InvalidValue, one_of
from explainer_core.graph import NO_LABEL, NO_MOTIF, Graph, GraphSet
from explainer_core.predictions import LinkScore, Predictions

SPLITS = ("train", "val", "test")
NO_SPLIT = ""  # of an instance that is in none


@dataclass(frozen=True)
class InstanceFilter:
    """Which instances are looked at; None lets all through. Ranges hold their ends."""

    split: str | None = "test"
    degree: tuple[float, float] | None = None  # of a node; of a graph the mean, of a link the smaller one's
    size: tuple[float, float] | None = None  # nodes of a graph
    homophily: tuple[float, float] | None = None  # share of a node's neighbours that are of its class
    motif: bool | None = None  # inside a motif, or with one
    text: str = ""  # in the name, whatever the case

    def __post_init__(self):
        if self.split is not None:
            one_of("split", self.split, SPLITS)
        for name in ("degree", "size", "homophily"):
            bounds = getattr(self, name)
            if bounds is not None and (len(bounds) != 2 or not bounds[0] <= bounds[1]):
                raise InvalidValue(f"{name} must be a range, its smaller end first", bounds, "for example (0, 3)")


@dataclass(frozen=True, eq=False)
class Instances:
    """One row for each instance: nodes, graphs or links, with what a filter may ask. Plain numpy."""

    numbers: np.ndarray  # (T,): of nodes or graphs; of links, of the rows given
    names: Sequence[str]
    probabilities: np.ndarray  # (T, C)
    truth: np.ndarray  # (T,): -1 where it is not known
    split: np.ndarray  # (T,): one of SPLITS, or empty
    degree: np.ndarray  # (T,)
    size: np.ndarray  # (T,): not a number where it has no meaning, as below
    homophily: np.ndarray  # (T,)
    motif: np.ndarray  # (T,): 1, 0 or not a number
    class_names: Sequence[str]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def predicted(self) -> np.ndarray:
        return self.probabilities.argmax(1) if len(self) else np.empty(0, dtype=np.int64)

    @cached_property
    def confidence(self) -> np.ndarray:
        return self.probabilities.max(1) if len(self) else np.empty(0)

    @property
    def known(self) -> np.ndarray:
        return self.truth != NO_LABEL

    @property
    def right(self) -> np.ndarray:
        return self.known & (self.predicted == self.truth)

    @property
    def wrong(self) -> np.ndarray:
        return self.known & (self.predicted != self.truth)

    def of(self, rows: np.ndarray) -> "Instances":
        columns = ("numbers", "probabilities", "truth", "split", "degree", "size", "homophily", "motif")
        names = [self.names[i] for i in np.arange(len(self))[rows].tolist()]
        return replace(self, names=names, **{name: getattr(self, name)[rows] for name in columns})

    def filtered(self, filter: InstanceFilter) -> "Instances":
        keep = np.ones(len(self), dtype=bool)
        if filter.split is not None and (self.split != NO_SPLIT).any():  # nobody's own network says how it was trained
            keep &= self.split == filter.split
        for name in ("degree", "size", "homophily"):
            bounds, values = getattr(filter, name), getattr(self, name)
            if bounds is not None:
                keep &= (values >= bounds[0]) & (values <= bounds[1])  # what is not a number is in no range
        if filter.motif is not None:
            keep &= self.motif == float(filter.motif)
        if filter.text:
            keep &= np.array([filter.text.casefold() in name.casefold() for name in self.names], dtype=bool)
        return self.of(keep)


def surest_first(instances: Instances) -> Instances:
    return instances.of(np.lexsort((instances.numbers, -instances.confidence)))


def csv_rows(instances: Instances) -> Iterator[list]:
    """A list as rows for a CSV file, a line of names first."""
    classes = [instances.class_names[c] for c in range(instances.probabilities.shape[1])]
    yield ["number", "name", "split", "true", "predicted", "confidence", *(f"P({name})" for name in classes)]
    for i in range(len(instances)):
        truth = instances.truth[i]
        yield [
            int(instances.numbers[i]),
            instances.names[i],
            str(instances.split[i]),
            "" if truth == NO_LABEL else classes[truth],
            classes[instances.predicted[i]],
            float(instances.confidence[i]),
            *instances.probabilities[i].tolist(),
        ]


# From predictions to instances


def instances_of(
    data: Graph | GraphSet, predictions: Predictions, split: Mapping[str, Sequence[int]] | None = None
) -> Instances:
    """The nodes of a graph or the graphs of a set as a network predicts them. `split` has the numbers of train, val and test."""
    count = len(predictions.predicted)
    if isinstance(data, GraphSet) or count != data.num_nodes:
        columns = _graph_columns(data if isinstance(data, GraphSet) else GraphSet.from_graphs([data]))
    else:
        columns = _node_columns(data)
    return Instances(
        numbers=np.arange(count),
        probabilities=predictions.probabilities,
        truth=np.full(count, NO_LABEL) if predictions.truth is None else predictions.truth,
        split=split_column(count, split),
        class_names=data.class_names or [str(label) for label in range(predictions.probabilities.shape[1])],
        **columns,
    )


def link_instances(
    graph: Graph, scores: Sequence[LinkScore], split: Mapping[str, Sequence[int]] | None = None
) -> Instances:
    """Pairs of nodes as a link network judges them; the truth is whether they are joined. `split` has numbers of rows."""
    ends = np.array([(score.source, score.head) for score in scores], dtype=np.int64).reshape(-1, 2)
    linked = np.array([score.probability for score in scores], dtype=float)
    nothing = np.full(len(scores), np.nan)
    return Instances(
        numbers=np.arange(len(scores)),
        names=[f"{graph.node_name(a)} – {graph.node_name(b)}" for a, b in ends.tolist()],
        probabilities=np.stack([1 - linked, linked], axis=1),
        truth=np.array([int(score.exists) for score in scores], dtype=np.int64),
        split=split_column(len(scores), split),
        degree=graph.in_degree.numpy()[ends].min(1).astype(float) if len(ends) else np.empty(0),
        size=nothing,
        homophily=nothing,
        motif=nothing,
        class_names=("not joined", "joined"),
    )


def split_column(count: int, split: Mapping[str, Sequence[int]] | None) -> np.ndarray:
    """Of each instance the part it is in: (T,) texts."""
    column = np.full(count, NO_SPLIT, dtype="<U5")
    for part, rows in (split or {}).items():
        one_of("split", part, SPLITS)
        column[np.asarray(rows, dtype=np.int64)] = part
    return column


def _node_columns(graph: Graph) -> dict:
    labels = None if graph.labels is None else graph.labels.numpy()
    homophily = np.full(graph.num_nodes, np.nan)
    if labels is not None:
        source, target = graph.edge_index.numpy()
        known = (labels[source] != NO_LABEL) & (labels[target] != NO_LABEL) & (source != target)
        total = np.bincount(target[known], minlength=graph.num_nodes)
        same = np.bincount(target[known], labels[source[known]] == labels[target[known]], minlength=graph.num_nodes)
        homophily = np.divide(same, total, out=homophily, where=total > 0)
    return {
        "names": [graph.node_name(node) for node in range(graph.num_nodes)],
        "degree": graph.in_degree.numpy().astype(float),
        "size": np.full(graph.num_nodes, np.nan),
        "homophily": homophily,
        "motif": _motif(graph.node_motif, np.arange(graph.num_nodes + 1)),
    }


def _graph_columns(graphs: GraphSet) -> dict:
    sizes, edges = graphs.node_start.diff().numpy(), graphs.edge_start.diff().numpy()
    return {
        "names": [graphs.graph_name(i) for i in range(len(graphs))],
        "degree": edges / np.maximum(sizes, 1),
        "size": sizes.astype(float),
        "homophily": np.full(len(graphs), np.nan),
        "motif": _motif(graphs.node_motif, graphs.node_start.numpy()),
    }


def _motif(motif, start: np.ndarray) -> np.ndarray:
    """1 where any node from one start to the next is in a motif, else 0; not a number where none is known of."""
    if motif is None:
        return np.full(len(start) - 1, np.nan)
    inside = np.concatenate([[0], (motif.numpy() != NO_MOTIF).cumsum()])
    return (inside[start[1:]] > inside[start[:-1]]).astype(float)
