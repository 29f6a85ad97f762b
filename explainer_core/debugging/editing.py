"""Edits applied to a graph: a new graph, checked; the old one is not touched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explainer_core.checks import InvalidValue, index_of
from explainer_core.debugging.edits import (
    AddEdge,
    CutEdge,
    DeleteNode,
    Edit,
    HideFeature,
    RestoreEdge,
    SetFeature,
    SetType,
    checked_edits,
)
from explainer_core.debugging.valence import check_valence
from explainer_core.graph import Graph, take_rows
from explainer_core.graph.rules import NO_MOTIF
from explainer_core.targets import Link, Node, Target, WholeGraph


@dataclass(frozen=True, eq=False)
class Edited:
    """A graph after edits, and which of the nodes before are left: (N',) numbers before the edits."""

    graph: Graph
    kept: np.ndarray

    def target(self, target: Target) -> Target:
        """The same target in the edited graph."""
        if isinstance(target, WholeGraph):
            return WholeGraph()
        ends = (target.node,) if isinstance(target, Node) else (target.source, target.head)
        at = [int(np.searchsorted(self.kept, node)) for node in ends]
        for node, position in zip(ends, at, strict=True):
            if position == len(self.kept) or self.kept[position] != node:
                raise InvalidValue("a target must not be deleted", node, "keep the node that is asked about")
        return Node(*at) if isinstance(target, Node) else Link(*at)


def apply_edits(graph: Graph, edits: Sequence[Edit], *, molecules: bool = True) -> Edited:
    """The graph with all edits made, one after another.

    An added edge has the type and further columns of the first edge of the commonest type. In a molecule no atom may end up
    with more bonds than its element holds, unless `molecules` is False; open bonds are not filled with hydrogens.
    """
    state = _State(graph)
    for edit in checked_edits(edits):
        state.make(edit)
    edited = state.edited()
    if molecules:
        strained = sorted(state.strained & set(edited.kept.tolist()))
        check_valence(edited.graph, np.searchsorted(edited.kept, strained), strained)
    return edited


class _State:
    """A graph while it is edited."""

    def __init__(self, graph: Graph):
        self.graph, self.x = graph, graph.x.clone()
        self.ends = graph.edge_index.t().numpy()  # (E, 2)
        self.there = np.ones(graph.num_edges, dtype=bool)
        self.nodes = np.ones(graph.num_nodes, dtype=bool)
        self.added: list[tuple[int, int]] = []
        self.cut: set[tuple[int, int]] = set()
        self.strained: set[int] = set()  # atoms that may have got more bonds than they hold

    def make(self, edit: Edit) -> None:
        for name in ("source", "target", "node"):
            node = getattr(edit, name, None)
            if node is not None:
                index_of("node", node, self.graph.num_nodes)
                if not self.nodes[node]:
                    raise InvalidValue("an edit must name a node that is there", node, "it was deleted before")
        if isinstance(edit, HideFeature | SetFeature):
            index_of("feature", edit.feature, self.graph.num_features)
        if isinstance(edit, CutEdge | RestoreEdge | AddEdge):
            self._edge(edit)
        elif isinstance(edit, DeleteNode):
            self._delete(edit.node)
        elif isinstance(edit, SetType):
            self._set_type(edit)
        elif isinstance(edit, SetFeature):
            self.x[edit.node, edit.feature] = edit.value
        else:
            self._hide(edit)

    def edited(self) -> Edited:
        if not self.nodes.any():
            raise InvalidValue("a graph must keep at least one node", "all of them deleted", "keep one")
        g, kept = self.graph, np.flatnonzero(self.nodes)
        number = torch.full((g.num_nodes,), -1)
        number[torch.from_numpy(kept)] = torch.arange(len(kept))
        rows, like = torch.from_numpy(np.flatnonzero(self.there)), self._like()
        copied = torch.cat([rows, torch.full((len(self.added),), like)])
        new = torch.tensor(self.added, dtype=torch.int64).reshape(-1, 2).t()
        edge_motif = _rows(g.edge_motif, copied)
        if edge_motif is not None:
            edge_motif[len(rows) :] = NO_MOTIF
        graph = replace(
            g,
            x=self.x[torch.from_numpy(kept)],
            edge_index=number[torch.cat([g.edge_index[:, rows], new], dim=1)],
            labels=_rows(g.labels, kept),
            edge_types=_rows(g.edge_types, copied),
            node_motif=_rows(g.node_motif, kept),
            edge_motif=edge_motif,
            node_names=None if not g.node_names else [g.node_names[i] for i in kept.tolist()],
            node_data=take_rows(g.node_data, torch.from_numpy(kept)),
            edge_data=take_rows(g.edge_data, copied),
        )
        return Edited(graph, kept)

    def _edge(self, edit: CutEdge | RestoreEdge | AddEdge) -> None:
        pair = self._pair(edit.source, edit.target)
        between = self._between(pair)
        joined = bool(self.there[between].any()) or pair in self.added
        if isinstance(edit, CutEdge):
            if not joined:
                raise InvalidValue("an edge must be there to be cut", pair, "choose one of the graph's edges")
            self.there[between] = False
            self.added = [each for each in self.added if each not in self._ways(pair)]
            self.cut |= {pair} if len(between) else set()
        elif isinstance(edit, RestoreEdge):
            if pair not in self.cut:
                raise InvalidValue("an edge must have been cut to be restored", pair, "cut it first, or add an edge")
            self.there[between] = True
            self.cut.remove(pair)
        else:
            if joined or pair in self.cut or pair[0] == pair[1]:
                rule = "an added edge must join two different nodes that have none"
                raise InvalidValue(rule, pair, "restore the edge that was cut" if pair in self.cut else "choose others")
            self.added += self._ways(pair)
        if not isinstance(edit, CutEdge):
            self.strained |= set(pair)

    def _pair(self, source: int, target: int) -> tuple[int, int]:
        return (min(source, target), max(source, target)) if self.graph.is_undirected else (source, target)

    def _ways(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        return [pair, (pair[1], pair[0])] if self.graph.is_undirected else [pair]

    def _between(self, pair: tuple[int, int]) -> np.ndarray:
        """The graph's own edges between two nodes, there or cut."""
        hit = (self.ends == pair).all(1)
        if self.graph.is_undirected:
            hit |= (self.ends == pair[::-1]).all(1)
        return np.flatnonzero(hit)

    def _delete(self, node: int) -> None:
        self.nodes[node] = False
        self.there &= (self.ends != node).all(1)
        self.added = [pair for pair in self.added if node not in pair]
        self.cut = {pair for pair in self.cut if node not in pair}

    def _set_type(self, edit: SetType) -> None:
        index_of("type", edit.type, self.graph.num_features)
        row = self.x[edit.node]
        if self.graph.num_features < 2 or int((row != 0).sum()) != 1 or float(row.sum()) != 1:
            raise InvalidValue("a node must have exactly one type to get another", row.tolist()[:5], "use SetFeature")
        self.x[edit.node] = 0
        self.x[edit.node, edit.type] = 1
        self.strained.add(edit.node)

    def _hide(self, edit: HideFeature) -> None:
        fill = 0.0 if self.graph.features_are_types else float(self.graph.feature_mean[edit.feature])
        self.x[slice(None) if edit.node is None else edit.node, edit.feature] = fill

    def _like(self) -> int:
        """The edge whose type and further columns an added one has."""
        if not self.added:
            return 0
        if not self.graph.num_edges:
            if self.graph.edge_types is None and not self.graph.edge_data:
                return 0
            raise InvalidValue("an edge can be added like others only", "a graph without edges", "add none")
        return example_edge(self.graph.edge_types)


def example_edge(edge_types: Tensor | None) -> int:
    """The first edge of the commonest type."""
    if edge_types is None or not len(edge_types):
        return 0
    return int((edge_types == torch.bincount(edge_types).argmax()).nonzero()[0])


def _rows(values: Tensor | None, rows: Any) -> Tensor | None:
    return None if values is None else values[torch.as_tensor(rows)]
