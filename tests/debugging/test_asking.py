"""Edited copies: what is worked out from what changes, from copies, and from graphs built anew is the same."""

import numpy as np
import pytest
import torch

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import run
from explainer_core.debugging import asking
from explainer_core.debugging.asking import Asked, Asker
from explainer_core.debugging.candidates import (
    add_candidates,
    cut_candidates,
    feature_candidates,
    gradient,
    possible_edges,
)
from explainer_core.debugging.editing import apply_edits
from explainer_core.debugging.site import Site, graph_of_target
from explainer_core.targets import Link, Node, WholeGraph
from tests.small_networks import network, random_graph, random_set

KINDS = ("gcn", "sage", "gat", "gin", "gated", "rgcn")
SUMS = ("gcn", "sage", "gat")  # kinds that also come without normalisation


def case(task, kind, **changes):
    typed = kind == "rgcn"
    if task == "graph":
        return network(kind, "graph", **changes), random_set(typed=typed), [WholeGraph(i) for i in (2, 0, 3)]
    graph = random_graph(24, 34, typed=typed, directed=typed)
    if task == "link":
        links = [Link(*pair) for pair in graph.edge_index.t()[:2].tolist()]
        return network(kind, "link", **changes), graph, [*links, Link(18, 2)]
    return network(kind, **changes), graph, [Node(node) for node in (4, 0, 11)]


def questions(model, data, site, seed=0):
    """Random sets of one to four of all candidates there are."""

    def margin(logits):
        return logits[:, 0] - logits[:, 1]

    possible = possible_edges(site)
    found = gradient(model, site, margin, possible)
    candidates = cut_candidates(site, np.arange(len(site.pair_numbers[0])))
    candidates += add_candidates(site, possible, found.added) + feature_candidates(site, found.x, data.x)
    rng = np.random.default_rng(seed)
    return [
        Asked(candidates, np.stack([rng.choice(len(candidates), size, replace=False) for _ in range(6)]))
        for size in (1, 2, 4)
    ]


def from_scratch(model, data, target, edits):
    edited = apply_edits(graph_of_target(data, target), edits)
    computation = computation_of(edited.graph, [edited.target(target)], model.hops, max_edges=10_000)
    return run(model, computation, model.task)[0].numpy()


def cases():
    for task in ("node", "graph", "link"):
        for kind in KINDS:
            yield task, kind, {}
            if kind in SUMS:
                yield task, kind, {"normalize": False}
        yield task, "gin", {"jump": "cat", "num_layers": 3, "batch_norm": True}
        yield task, "gcn", {"jump": "max", "num_layers": 3, "unit_length": True}


@pytest.mark.parametrize(("task", "kind", "changes"), list(cases()))
def test_edited_copies_answer_like_graphs_built_from_scratch(task, kind, changes):
    model, data, targets = case(task, kind, **changes)
    sites = [Site.of(model, data, target, wide=True) for target in targets]
    asked = [(i, question) for i, site in enumerate(sites) for question in questions(model, data, site)]
    asker, copying = Asker(model, sites), Asker(model, sites)
    copying.fast = False
    assert asker.fast == (task != "graph")
    with torch.no_grad():
        for (i, question), rows, copied in zip(asked, asker.logits(asked), copying.logits(asked), strict=True):
            for chosen, row in zip(question.sets, rows, strict=True):
                edits = [question.candidates[j].edit for j in chosen]
                assert np.allclose(row, from_scratch(model, data, targets[i], edits), atol=1e-4)
            assert np.allclose(rows, copied, atol=1e-4)


def test_cut_edges_reach_no_further_than_the_network(monkeypatch):
    """A site of the usual width, in passes of a few rows."""
    monkeypatch.setattr(asking, "FIRST_ROWS", 5)
    for kind in KINDS:
        model, data, targets = case("node", kind)
        sites = [Site.of(model, data, target) for target in targets]
        for i, site in enumerate(sites):
            candidates = cut_candidates(site, np.arange(len(site.pair_numbers[0])))
            sets = np.arange(len(candidates))[:, None]
            (rows,) = Asker(model, sites).logits([(i, Asked(candidates, sets))])
            with torch.no_grad():
                anew = [from_scratch(model, data, targets[i], [each.edit]) for each in candidates]
            assert np.allclose(rows, anew, atol=1e-4)


def test_undirected_edges_count_once():
    graph = random_graph(10, 14)
    site = Site.of(network(num_layers=4), graph, Node(0))
    pairs, _ = site.pair_numbers
    assert 2 * len(pairs) == len(site.edges)
    assert all(len(each.cut) == 2 for each in cut_candidates(site, np.arange(len(pairs))))
