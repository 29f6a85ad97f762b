"""Single changes that may help to flip one prediction: edges to cut, edges to add, features to change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explainer_core.debugging.edits import AddEdge, CutEdge, Edit, SetFeature, SetType
from explainer_core.debugging.site import Site
from explainer_core.graph import one_hot_types
from explainer_core.models.protocol import Model, PredictionBatch, ask

CANDIDATES = 60  # of each kind that every set of changes is made of
MORE_CUTS = 60  # edges that are only tried with what the gradient thinks of them
PARTNERS = 2_000  # edges that could be added, of which the gradient chooses


@dataclass(frozen=True)
class Candidate:
    """One change, as an edit of the graph and as what it does to a site."""

    edit: Edit
    slot: tuple  # no two changes of one set may have the same
    distance: int  # hops from the target
    cut: tuple[int, ...] = ()  # edges of the site
    lost: tuple[int, ...] = ()  # nodes, once for every edge into them that is cut, inside the site or just outside
    added: tuple[tuple[int, int], ...] = ()
    changed: tuple[tuple[int, int, float], ...] = ()  # node, feature, value


@dataclass(frozen=True)
class Gradient:
    """How much the margin of the wanted class grows with every edge and feature, and with edges that could be added."""

    edge: np.ndarray  # (e,)
    added: np.ndarray  # (a,)
    x: np.ndarray  # (n, F)


Margin = Callable[[Tensor], Tensor]  # from logits (P, C) to how far the wanted class is ahead: (P,)


def nearest_edges(site: Site, gain: np.ndarray | None) -> np.ndarray:
    """The site's pairs, the nearest first; of equally near ones those that the gradient would cut, where it was asked. (p,)"""
    pairs, _ = site.pair_numbers
    promise = np.zeros(len(pairs)) if gain is None else cut_gain(site, gain)
    return np.lexsort((np.arange(len(pairs)), -promise, site.hop[pairs].min(1) if len(pairs) else promise))


def cut_gain(site: Site, gain: np.ndarray) -> np.ndarray:
    """What the gradient expects of cutting each pair: (p,)."""
    pairs, number = site.pair_numbers
    return np.bincount(number, -gain, minlength=len(pairs))


def cut_candidates(site: Site, chosen: np.ndarray) -> list[Candidate]:
    """Some of the site's pairs, to be cut."""
    pairs, number = site.pair_numbers
    by_pair = np.argsort(number, kind="stable")
    start = np.concatenate([[0], np.bincount(number, minlength=len(pairs)).cumsum()])
    found = []
    for pair in chosen.tolist():
        a, b = site.nodes[pairs[pair]].tolist()
        edges = tuple(by_pair[start[pair] : start[pair + 1]].tolist())
        lost = _losing_nodes(site, pairs[pair].tolist(), site.ends[1, list(edges)].tolist())
        found.append(Candidate(CutEdge(a, b), ("edge", a, b), int(site.hop[pairs[pair]].min()), edges, lost))
    return found


def _losing_nodes(site: Site, pair: list[int], targets: list[int]) -> tuple[int, ...]:
    """Edges into the outermost nodes are no part of a site, but an undirected edge is lost at both of its ends."""
    if not site.undirected or pair[0] == pair[1]:
        return tuple(targets)
    return tuple(pair) * max(targets.count(end) for end in pair)


def possible_edges(site: Site, most: int = PARTNERS) -> np.ndarray:
    """Pairs without an edge: of a node or link with one of its ends, of a graph any; the nearest first. (a, 2)"""
    joined = set(map(tuple, site.pair_numbers[0].tolist()))
    near = np.argsort(site.hop, kind="stable")
    sources = near[: int(np.sqrt(4 * most))] if site.task == "graph" else site.roots
    asked = {tuple(sorted(site.roots.tolist()))} if site.task == "link" else set()
    found: list[tuple[int, int]] = []
    for node in near.tolist():
        for root in sources.tolist():
            pair = (min(node, root), max(node, root)) if site.undirected else (node, root)
            if node != root and pair not in joined and tuple(sorted(pair)) not in asked:
                joined.add(pair)
                found.append(pair)
        if len(found) >= most:
            break
    return np.array(found[:most], dtype=np.int64).reshape(-1, 2)


def add_candidates(site: Site, possible: np.ndarray, gain: np.ndarray, most: int = CANDIDATES) -> list[Candidate]:
    """The edges that the gradient would add first."""
    found = []
    for at in np.argsort(-gain, kind="stable")[:most].tolist():
        pair = tuple(possible[at].tolist())
        a, b = site.nodes[possible[at]].tolist()
        ways = (pair, pair[::-1]) if site.undirected else (pair,)
        found.append(Candidate(AddEdge(a, b), ("edge", a, b), int(site.hop[possible[at]].min()), added=ways))
    return found


def feature_candidates(
    site: Site, gain: np.ndarray, values: Tensor, allowed: np.ndarray | None = None, most: int = CANDIDATES
) -> list[Candidate]:
    """The changes of one feature of one node that the gradient thinks most of; `allowed` says which types a node may get.

    A one-hot type becomes another type, a feature of two values the other one, and any other the smallest or largest that
    the data has.
    """
    x = site.x.numpy()
    if one_hot_types(values):
        old = x.argmax(1)
        better = gain - np.take_along_axis(gain, old[:, None], 1)
        better[np.arange(len(x)), old] = -np.inf
        seen = (values != 0).any(0).numpy()
        better[:, ~seen] = -np.inf
        if allowed is not None:
            better[~allowed] = -np.inf
        new = np.broadcast_to(np.ones(1), x.shape)
    else:
        low, high = (bound.numpy() for bound in values.aminmax(dim=0))
        new = np.where(gain > 0, high, low)
        better = np.where(new != x, gain * (new - x), -np.inf)
        old = None
    order = np.argsort(-better, axis=None, kind="stable")[:most]
    return [
        _feature_candidate(site, int(node), int(feature), float(new[node, feature]), None if old is None else old[node])
        for node, feature in zip(*np.unravel_index(order, better.shape), strict=True)
        if np.isfinite(better[node, feature])
    ]


def _feature_candidate(site: Site, node: int, feature: int, value: float, old: int | None) -> Candidate:
    name, distance = int(site.nodes[node]), int(site.hop[node])
    if old is not None:
        changes = (node, int(old), 0.0), (node, feature, 1.0)
        return Candidate(SetType(name, feature), ("type", name), distance, changed=changes)
    return Candidate(
        SetFeature(name, feature, value), ("feature", name, feature), distance, changed=((node, feature, value),)
    )


def gradient(model: Model, site: Site, margin: Margin, possible: np.ndarray | None = None) -> Gradient | None:
    """None where torch cannot follow the network. An edge that could be added is there with weight zero."""
    batch = site.batch(model)
    edge_index, weight = batch.edge_index, torch.ones(batch.edge_index.shape[1], device=batch.x.device)
    extra = {}
    if possible is not None and len(possible):
        more = torch.from_numpy(possible.T).to(edge_index)
        if site.undirected:
            more = torch.cat([more, more.flip(0)], dim=1)
        extra = {"edge_index": torch.cat([edge_index, more], dim=1)} | added_columns(site, batch, more.shape[1])
        weight = torch.cat([weight, torch.zeros(more.shape[1], device=weight.device)])
    batch = replace(batch, **extra)
    weight, x = weight.requires_grad_(), batch.x.clone().requires_grad_()
    with torch.enable_grad():
        ahead = margin(ask(model, batch, weight, x)).sum()
        if not ahead.requires_grad:
            return None
        of_edge, of_x = torch.autograd.grad(ahead, (weight, x), allow_unused=True)
    edge = np.zeros(len(weight)) if of_edge is None else of_edge.cpu().numpy()
    own, added = np.split(edge, [len(site.edges)])
    if possible is not None and len(possible) and site.undirected:
        added = added.reshape(2, -1).sum(0)
    return Gradient(own, added, np.zeros(x.shape) if of_x is None else of_x.cpu().numpy())


def added_columns(site: Site, batch: PredictionBatch, count: int) -> dict:
    """What a batch has of its edges, with so many added ones behind them."""
    types = batch.edge_types
    if types is not None:
        types = torch.cat([types, types.new_full((count,), site.new_type or 0)])
    more = {name: rows.expand(count, *rows.shape[1:]).to(batch.x.device) for name, rows in site.new_data.items()}
    return {
        "edge_types": types,
        "edge_data": {name: torch.cat([rows, more[name]]) for name, rows in batch.edge_data.items()},
    }


def slots_differ(candidates: Sequence[Candidate], sets: np.ndarray) -> np.ndarray:
    """Which sets change nothing twice: (R,) bool."""
    numbers: dict[tuple, int] = {}
    slot = np.array([numbers.setdefault(each.slot, len(numbers)) for each in candidates])
    if len(numbers) == len(candidates):
        return np.ones(len(sets), dtype=bool)
    ordered = np.sort(slot[sets], axis=1)
    return (ordered[:, 1:] != ordered[:, :-1]).all(1)
