"""What a model says of many edited copies of the sites of some targets, in as few passes as memory allows.

The numbers are those of graphs built anew with the edits, degrees included.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from explainer_core.debugging.candidates import Candidate, added_columns
from explainer_core.debugging.site import FAR, Site
from explainer_core.models.edited import EditRows
from explainer_core.models.protocol import Model, PredictionBatch, ask, device_of, offered

BATCH_EDGES = 10_000  # of all copies in one pass; 100,000 took twice as long on molecules
BATCH_VALUES = 4_000_000  # feature values of all copies in one pass
FIRST_ROWS, MOST_ROWS = 200, 4_000  # copies in a pass where only what changes is computed
BATCH_MESSAGES = 60_000  # in such a pass, going by the one before
HOPS_HELD = 20_000_000  # distances from targets to nodes that are held at once


@dataclass(frozen=True)
class Asked:
    """Sets of changes, all of one size, as numbers of candidates."""

    candidates: Sequence[Candidate]
    sets: np.ndarray  # (R, k)


@dataclass(frozen=True)
class Flat:
    """What the sets of one question do to a site, row by row."""

    cut: np.ndarray  # (2, c): row, edge
    lost: np.ndarray  # (2, d): row, node
    added: np.ndarray  # (3, a): row, source, target
    changed: np.ndarray  # (3, f): row, node, feature
    values: np.ndarray  # (f,)

    @classmethod
    def of(cls, candidates: Sequence[Candidate], sets: np.ndarray) -> "Flat":
        cut = _spread([each.cut for each in candidates], sets, 1)
        lost = _spread([each.lost for each in candidates], sets, 1)
        added = _spread([each.added for each in candidates], sets, 2)
        changed = _spread([each.changed for each in candidates], sets, 3)
        cut, lost, added, places = (each.astype(np.int64) for each in (cut, lost, added, changed[:3]))
        return cls(cut, lost, added, places, changed[3].astype(np.float32))


class Asker:
    """Asks a model about edited copies of some sites."""

    def __init__(self, model: Model, sites: Sequence[Site]):
        self.model, self.sites, self.rows = model, sites, FIRST_ROWS
        self.fast = offered(model, "edited") is not None and bool(sites) and sites[0].task != "graph"

    @torch.no_grad()
    def logits(self, asked: Sequence[tuple[int, Asked]]) -> list[np.ndarray]:
        """Of each question, with the number of its site, what the model says of every set: (R, C)."""
        ask_all = self._only_what_changes if self.fast else self._copies
        found: list[list[np.ndarray]] = [[np.empty((0, self.model.num_classes))] for _ in asked]
        for some in self._passes(asked):
            answers = ask_all([(self.sites[site], question) for _, site, question in some]).cpu().double().numpy()
            sizes = [len(question.sets) for _, _, question in some]
            for (number, _, _), rows in zip(some, np.split(answers, np.cumsum(sizes)[:-1]), strict=True):
                found[number].append(rows)
        return [np.concatenate(parts) for parts in found]

    def _passes(self, asked: Sequence[tuple[int, Asked]]) -> Iterator[list[tuple[int, int, Asked]]]:
        """The questions in pieces, each with its number and its site's."""
        some, room = [], 1.0
        for number, (at, question) in enumerate(asked):
            site, done = self.sites[at], 0
            copy = max(1 / MOST_ROWS, len(site.edges) / BATCH_EDGES, site.x.numel() / BATCH_VALUES)
            while done < len(question.sets):
                cost = 1 / self.rows if self.fast else copy
                if some and (room < cost or (self.fast and not self._shares and some[0][1] != at)):
                    yield some
                    some, room = [], 1.0
                count = max(1, min(len(question.sets) - done, int(room / cost)))
                some.append((number, at, replace(question, sets=question.sets[done : done + count])))
                done, room = done + count, room - count * cost
        if some:
            yield some

    # Copies of whole sites, for any model

    def _copies(self, some: Sequence[tuple[Site, Asked]]) -> Tensor:
        return ask(self.model, joined_batches([self._copied(site, question) for site, question in some]))

    def _copied(self, site: Site, question: Asked) -> PredictionBatch:
        flat, count, n = Flat.of(question.candidates, question.sets), len(question.sets), site.num_nodes
        base = site.batch(self.model)
        kept = np.ones((count, len(site.edges)), dtype=bool)
        kept[flat.cut[0], flat.cut[1]] = False
        row, edge = kept.nonzero()
        at = torch.from_numpy(edge).to(base.x.device)
        ends = np.concatenate([site.ends[:, edge] + row * n, flat.added[1:] + flat.added[0] * n], axis=1)
        degree = np.tile(site.degree, count)
        np.subtract.at(degree, flat.lost[0] * n + flat.lost[1], 1)
        np.add.at(degree, flat.added[0] * n + flat.added[2], 1)
        x = base.x.repeat(count, 1)
        rows, columns = (torch.from_numpy(each) for each in (flat.changed[0] * n + flat.changed[1], flat.changed[2]))
        x[rows, columns] = torch.from_numpy(flat.values).to(x)
        left = replace(
            base,
            x=x,
            edge_index=torch.from_numpy(ends).to(base.x.device),
            num_predictions=count,
            targets=site.targets_of(count, base.x.device),
            graph_of=torch.arange(count, device=base.x.device).repeat_interleave(n),
            edge_types=None if base.edge_types is None else base.edge_types[at],
            degree=None if base.degree is None else torch.from_numpy(degree).to(base.x.device),
            node_data={name: values.repeat(count, *[1] * (values.ndim - 1)) for name, values in base.node_data.items()},
            edge_data={name: values[at] for name, values in base.edge_data.items()},
        )
        return replace(left, **added_columns(site, left, flat.added.shape[1]))

    # Only what changes, for a model that offers it

    @cached_property
    def _shares(self) -> bool:
        """Links do not share a graph: each hides itself."""
        return self.sites[0].task == "node"

    def _only_what_changes(self, some: Sequence[tuple[Site, Asked]]) -> Tensor:
        site = some[0][0]
        key = 0 if self._shares else id(site)
        if key not in self._unions:
            self._unions[key] = _Union(self.model, self.sites if self._shares else [site])
        union = self._unions[key]
        answers = union.logits(some)
        self.rows = min(MOST_ROWS, max(50, BATCH_MESSAGES * len(answers) // max(1, union.edited.messages)))
        return answers

    @cached_property
    def _unions(self) -> "dict[int, _Union]":
        return {}


class _Union:
    """The sites of some targets as one graph, each node once."""

    def __init__(self, model: Model, sites: Sequence[Site]):
        make = offered(model, "edited")
        assert make is not None  # the asker has seen that it is there
        self.number = {id(site): i for i, site in enumerate(sites)}
        self.nodes = np.unique(np.concatenate([site.nodes for site in sites]))
        edges = np.concatenate([site.edges for site in sites])
        self.edges, first = np.unique(edges, return_index=True)
        ends = np.concatenate([np.searchsorted(self.nodes, site.nodes)[site.ends] for site in sites], axis=1)[:, first]
        hop = np.full((len(sites), len(self.nodes)), FAR, dtype=np.int16)
        degree = np.zeros(len(self.nodes), dtype=np.int64)
        x = torch.zeros(len(self.nodes), sites[0].x.shape[1], dtype=sites[0].x.dtype)
        for i, site in enumerate(sites):
            at = np.searchsorted(self.nodes, site.nodes)
            hop[i, at], degree[at] = site.hop, site.degree
            x[torch.from_numpy(at)] = site.x
        types = None
        if sites[0].edge_types is not None:
            types = torch.cat([site.edge_types for site in sites if site.edge_types is not None])
            types = types[torch.from_numpy(first)]
        device = device_of(model)
        roots = np.stack([np.searchsorted(self.nodes, site.nodes[site.roots]) for site in sites])  # (P, 1 or 2)
        batch = PredictionBatch(
            task=sites[0].task,
            x=x.to(device),
            edge_index=torch.from_numpy(ends).to(device),
            num_predictions=len(sites),
            targets=torch.from_numpy(roots if sites[0].task == "link" else roots[:, 0]).to(device),
            edge_types=None if types is None else types.to(device),
            degree=torch.from_numpy(degree).to(device),
        )
        self.edited = make(batch, hop)

    def logits(self, some: Sequence[tuple[Site, Asked]]) -> Tensor:
        prediction, parts, types, done = [], [], [], 0
        for site, question in some:
            flat = Flat.of(question.candidates, question.sets)
            node, edge = np.searchsorted(self.nodes, site.nodes), np.searchsorted(self.edges, site.edges)
            parts.append(
                Flat(
                    np.stack([flat.cut[0] + done, edge[flat.cut[1]]]),
                    np.stack([flat.lost[0] + done, node[flat.lost[1]]]),
                    np.stack([flat.added[0] + done, *node[flat.added[1:]]]),
                    np.stack([flat.changed[0] + done, node[flat.changed[1]], flat.changed[2]]),
                    flat.values,
                )
            )
            types.append(np.full(flat.added.shape[1], site.new_type or 0))
            prediction.append(np.full(len(question.sets), self.number[id(site)]))
            done += len(question.sets)
        return self.edited.logits(
            EditRows(
                np.concatenate(prediction),
                np.concatenate([part.cut for part in parts], axis=1),
                np.concatenate([part.lost for part in parts], axis=1),
                np.concatenate([part.added for part in parts], axis=1),
                np.concatenate(types),
                np.concatenate([part.changed for part in parts], axis=1),
                np.concatenate([part.values for part in parts]),
            )
        )


def _spread(items: Sequence[Sequence], sets: np.ndarray, width: int) -> np.ndarray:
    """What the candidates of every set hold, each with the number of its set before it: (1 + width, m)."""
    sizes = np.array([len(each) for each in items], dtype=np.int64)
    flat = np.array([item for each in items for item in each], dtype=np.float64).reshape(-1, width)
    start = np.concatenate([[0], sizes.cumsum()])
    rows = np.repeat(np.arange(len(sets)), sets.shape[1]) if sets.size else np.empty(0, dtype=np.int64)
    chosen = sets.ravel()
    count = sizes[chosen]
    owner = np.repeat(np.arange(len(chosen)), count)
    offset = np.arange(len(owner)) - (count.cumsum() - count)[owner]
    return np.concatenate([rows[owner][None], flat[start[chosen][owner] + offset].T.reshape(width, -1)])


def joined_batches(batches: Sequence[PredictionBatch]) -> PredictionBatch:
    """Batches side by side as one."""
    if len(batches) == 1:
        return batches[0]
    nodes = np.cumsum([0] + [len(b.x) for b in batches]).tolist()
    predictions = np.cumsum([0] + [b.num_predictions for b in batches]).tolist()
    first = batches[0]

    def cat(name: str, shift: Sequence[int] | None = None, dim: int = 0) -> Tensor | None:
        parts = [getattr(b, name) for b in batches]
        if parts[0] is None:
            return None
        return torch.cat([part + shift[i] if shift else part for i, part in enumerate(parts)], dim=dim)

    x, edge_index = cat("x"), cat("edge_index", nodes, 1)
    assert x is not None  # it is there in every batch
    assert edge_index is not None
    return replace(
        first,
        x=x,
        edge_index=edge_index,
        num_predictions=predictions[-1],
        targets=cat("targets", nodes),
        graph_of=cat("graph_of", predictions),
        edge_types=cat("edge_types"),
        degree=cat("degree"),
        node_data={name: torch.cat([b.node_data[name] for b in batches]) for name in first.node_data},
        edge_data={name: torch.cat([b.edge_data[name] for b in batches]) for name in first.edge_data},
    )
