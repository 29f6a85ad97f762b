"""What a model says of everything in a data set at once: classes, embeddings and their map, and scores of links."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.adapters import as_model, check_kind
from explainer_core.checks import shown
from explainer_core.computation.batches import check_targets, computations
from explainer_core.computation.forward import run, whole_graph_batch
from explainer_core.config import ExplainConfig
from explainer_core.graph import NO_LABEL, Graph, GraphSet, move_rows
from explainer_core.models.frozen import frozen_eval_copy
from explainer_core.models.protocol import (
    Model,
    PredictionBatch,
    ask,
    check_features,
    check_model,
    device_of,
    offered,
    offers,
)
from explainer_core.targets import TASKS, Link, Target

BATCH_EDGES = 10_000  # judged together; 200,000 took three times as long on Mutagenicity, eight times on Cora's links
ALL_PAIRS = 200_000  # pairs; a graph with more is sampled, not ranked
SHARE_RANKED = 0.5  # of the missing links that are shown: the most probable ones; the others are drawn by chance


@dataclass(frozen=True, eq=False)
class Predictions:
    """One row for each node, or for each graph of a set, in the data's own order. Plain numpy.

    A link model says nothing of a single node: there is no column of probabilities then, `predicted` is -1 and
    `confidence` not a number.
    """

    probabilities: np.ndarray  # (T, C)
    predicted: np.ndarray  # (T,)
    truth: np.ndarray | None  # (T,)
    embedding: np.ndarray  # (T, D): what the model's head reads

    @cached_property
    def right(self) -> np.ndarray | None:
        """False where the truth is known and another: (T,) bool."""
        return None if self.truth is None else (self.predicted == self.truth) | (self.truth == NO_LABEL)

    @cached_property
    def unknown(self) -> np.ndarray:
        """Where nobody knows the truth: (T,) bool."""
        return np.ones(len(self.predicted), bool) if self.truth is None else self.truth == NO_LABEL

    @cached_property
    def confidence(self) -> np.ndarray:
        """The probability of the predicted class: (T,)."""
        return self.probabilities.max(1) if self.probabilities.shape[1] else np.full(len(self.predicted), np.nan)


@dataclass(frozen=True)
class LinkScore:
    """A pair of nodes, the smaller number first; an existing link is judged with that very link hidden."""

    source: int
    head: int
    exists: bool
    probability: float


def predictions(model: Model | nn.Module, data: Graph | GraphSet) -> Predictions:
    """Nodes of a graph for a node or link model, graphs of a set for a graph model."""
    check_kind(data)
    model = as_model(model, data)
    check_model(model)
    task = model.task
    if isinstance(data, GraphSet) and task != "graph":
        raise ValueError(f"a {task} model judges one graph (got the set {shown(data.name)}); pass graphs[i]")
    check_features(model, data.x, "; load a model of this data set")
    model = frozen_eval_copy(model)
    if isinstance(data, GraphSet) or task == "graph":
        graphs = data if isinstance(data, GraphSet) else GraphSet.from_graphs([data])
        batches, truth = _graph_batches(graphs, device_of(model)), graphs.labels
    elif task == "link":
        embedding = _link_embeddings(model, data)
        return Predictions(np.empty((len(embedding), 0)), np.full(len(embedding), -1), None, _numpy(embedding))
    else:
        batches, truth = [whole_graph_batch(data, device_of(model))], data.labels
    embedding, logits = map(torch.cat, zip(*(_embedded(model, batch) for batch in batches), strict=True))
    probabilities = _numpy(logits.softmax(-1))
    truth = None if truth is None else _numpy(truth)
    return Predictions(probabilities, probabilities.argmax(1), truth, _numpy(embedding))


@torch.no_grad()
def _embedded(model: Model, batch: PredictionBatch) -> tuple[Tensor, Tensor]:
    """Embeddings and logits; the logits stand in where a network shows no embeddings: (P, D), (P, C)."""
    embed, read = offered(model, "embeddings"), offered(model, "read")
    if embed is None:
        logits = ask(model, batch)
        return logits, logits
    embedding = embed(batch)
    return embedding, ask(model, batch) if read is None else read(embedding)


@torch.no_grad()
def _link_embeddings(model: Model, graph: Graph) -> Tensor:
    """Of every node; its features where a network shows no embeddings: (N, D)."""
    batch = whole_graph_batch(graph, device_of(model))
    embed = offered(model, "embeddings")
    return batch.x if embed is None else embed(batch)


def _graph_batches(graphs: GraphSet, device: torch.device) -> Iterator[PredictionBatch]:
    for chosen in _batches(graphs):
        batch = graphs.batch(chosen)
        yield PredictionBatch(
            task="graph",
            x=batch.x.to(device),
            edge_index=batch.edge_index.to(device),
            num_predictions=batch.num_graphs,
            graph_of=batch.graph_of.to(device),
            edge_types=None if batch.edge_types is None else batch.edge_types.to(device),
            node_data=move_rows(batch.node_data, device),
            edge_data=move_rows(batch.edge_data, device),
        )


def _batches(graphs: GraphSet) -> Iterator[Tensor]:
    """Runs of graphs with about BATCH_EDGES edges and nodes; one larger than that is a batch of its own."""
    sizes = graphs.edge_start.diff() + graphs.node_start.diff()
    number = (sizes.cumsum(0) - sizes) // BATCH_EDGES  # rising, so each value is one batch
    return iter(torch.arange(len(graphs)).split(torch.unique_consecutive(number, return_counts=True)[1].tolist()))


# Links


def link_pairs(model: Model | nn.Module, graph: Graph, *, limit: int = 2000, seed: int = 0) -> list[LinkScore]:
    """How probable the model finds the links of a graph, and pairs that are none, in the order of their numbers.

    Where there are more pairs than `limit`, existing links fill up to half of it and missing ones the rest: in a small
    graph the most probable ones and a random choice of the others, in a large one a random choice. Each probability is
    what `explain` finds for Link(source, head).
    """
    check_kind(graph)
    model = as_model(model, graph, "link")
    check_model(model)
    if model.task != "link" or not isinstance(graph, Graph):
        raise ValueError(
            f"links are judged by a link model on a Graph (got a {model.task} model, {type(graph).__name__})"
        )
    if limit < 2:
        raise ValueError(f"limit must be at least 2 (got {limit})")
    model, rng = frozen_eval_copy(model), np.random.default_rng(seed)
    existing = _existing_pairs(graph)
    total = graph.num_nodes * (graph.num_nodes - 1) // 2
    all_fit = total <= limit
    kept = existing if all_fit else _some(existing, limit // 2, rng)
    if total <= max(ALL_PAIRS, 4 * len(existing)):
        missing = _missing_pairs(graph.num_nodes, existing)
        chance = _missing_probabilities(model, graph, missing)
        chosen = slice(None) if all_fit else _ranked_and_drawn(chance, limit - len(kept), rng)
        missing, chance = missing[chosen], chance[chosen]
    else:
        missing = _drawn_missing(graph.num_nodes, existing, limit - len(kept), rng)
        chance = _missing_probabilities(model, graph, missing)
    scores = [*zip(kept.tolist(), _hidden_probabilities(model, graph, kept).tolist(), strict=True)]
    strangers = zip(missing.tolist(), chance.tolist(), strict=True)
    found = [LinkScore(a, b, True, p) for (a, b), p in scores] + [LinkScore(a, b, False, p) for (a, b), p in strangers]
    return sorted(found, key=lambda score: (score.source, score.head))


def link_scores(model: Model | nn.Module, graph: Graph, pairs: Sequence[tuple[int, int]]) -> list[LinkScore]:
    """How probable the model finds the links between these pairs of nodes, in their order; as `link_pairs` judges them."""
    check_kind(graph)
    model = frozen_eval_copy(as_model(model, graph, "link"))
    asked = np.sort(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    existing = _existing_pairs(graph)
    joined = np.isin(asked @ [graph.num_nodes, 1], existing @ [graph.num_nodes, 1])
    found = np.empty(len(asked))
    found[joined] = _hidden_probabilities(model, graph, asked[joined])
    if not joined.all():
        found[~joined] = _missing_probabilities(model, graph, asked[~joined])
    rows = zip(asked.tolist(), joined.tolist(), found.tolist(), strict=True)
    return [LinkScore(a, b, exists, probability) for (a, b), exists, probability in rows]


def _existing_pairs(graph: Graph) -> np.ndarray:
    """Each link once, smaller number first, no loops: (P, 2)."""
    ends = np.sort(_numpy(graph.edge_index).T, axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def _missing_pairs(num_nodes: int, existing: np.ndarray) -> np.ndarray:
    """All pairs without a link: (P, 2)."""
    free = np.triu(np.ones((num_nodes, num_nodes), dtype=bool), k=1)
    free[existing[:, 0], existing[:, 1]] = False
    return np.argwhere(free)


def _drawn_missing(num_nodes: int, existing: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many random pairs without a link, no pair twice. Most pairs have none, so that few draws are in vain."""
    joined = existing[:, 0] * num_nodes + existing[:, 1]
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        pairs = np.sort(rng.integers(num_nodes, size=(2 * count, 2)), axis=1)
        keys = (pairs[:, 0] * num_nodes + pairs[:, 1])[pairs[:, 0] != pairs[:, 1]]
        found = np.union1d(found, keys[~np.isin(keys, joined)])
    return np.stack(np.divmod(np.sort(rng.permutation(found)[:count]), num_nodes), axis=1)


def _some(pairs: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return pairs if len(pairs) <= count else pairs[np.sort(rng.choice(len(pairs), count, replace=False))]


def _ranked_and_drawn(chance: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The positions of the most probable pairs, and of a random choice of the others."""
    order = np.argsort(-chance, kind="stable")
    best = int(np.ceil(SHARE_RANKED * count))
    return np.concatenate([order[:best], rng.permutation(order[best:])[: count - best]])


@torch.no_grad()
def _missing_probabilities(model: Model, graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Nothing has to be hidden where there is no link: all pairs share the whole graph. (P,)"""
    device = device_of(model)
    parts = torch.from_numpy(pairs).to(device).split(BATCH_EDGES)
    decode = offered(model, "decode")
    if offers(model, "embeddings") and decode is not None:
        z = _link_embeddings(model, graph)
        logits = (decode(z[part[:, 0]], z[part[:, 1]]) for part in parts)
    else:
        logits = (ask(model, whole_graph_batch(graph, device, part)) for part in parts)
    return np.concatenate([_numpy(some.softmax(-1)[:, 1]) for some in logits])


def _hidden_probabilities(model: Model, graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Each link has computation graphs of its own, without itself: (P,)."""
    return _probabilities(model, graph, [Link(*pair) for pair in pairs.tolist()])[:, 1]


# Single targets


@dataclass(frozen=True)
class Prediction:
    """What a model says of one target."""

    target: Target
    predicted_class: int
    probabilities: tuple[float, ...]  # of every class


def predict(model: Model | nn.Module, data: Graph | GraphSet, targets: Sequence[Target]) -> list[Prediction]:
    """Classes and probabilities of these targets, in their order; any network, as `explain` takes it."""
    found = target_probabilities(model, data, targets)
    return [
        Prediction(target, int(row.argmax()), tuple(row.tolist())) for target, row in zip(targets, found, strict=True)
    ]


def target_probabilities(model: Model | nn.Module, data: Graph | GraphSet, targets: Sequence[Target]) -> np.ndarray:
    """What the model says of these targets, each from its own computation graph as `explain` finds it: (T, C)."""
    check_kind(data)
    check_targets(data, targets)
    model = as_model(model, data, TASKS[type(targets[0])] if targets else None)
    check_model(model)
    check_features(model, data.x)
    return _probabilities(frozen_eval_copy(model), data, targets)


@torch.no_grad()
def _probabilities(model: Model, data: Graph | GraphSet, targets: Sequence[Target]) -> np.ndarray:
    device, config, found = device_of(model), ExplainConfig(), [np.empty((0, model.num_classes))]
    settings = {"max_edges": config.max_edges, "seed": config.seed, "budget": BATCH_EDGES}
    for _, computation in computations(data, targets, model.hops, **settings):
        found.append(_numpy(run(model, computation.to(device), model.task).softmax(-1)))
    return np.concatenate(found)


def _numpy(values: Tensor) -> np.ndarray:
    return values.detach().cpu().numpy()
