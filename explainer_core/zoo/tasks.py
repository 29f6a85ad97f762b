"""What a network is trained for: the examples of a node, graph or link task, their split, loss and accuracy."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn.functional import cross_entropy

from explainer_core.checks import one_of
from explainer_core.datasets.splits import LEAST_EXAMPLES, PARTS, split_80_10_10, split_of
from explainer_core.graph import Batch, Graph, GraphSet
from explainer_core.models import GNN
from explainer_core.zoo.random_parts import joined, random_parts, shares_kept

LINK_CLASSES = ("no link", "link")
PART_DRAWS = 4  # of each graph, when a network is evaluated on parts
EVALUATION_NODES = 100_000  # graphs are evaluated in batches of about this many nodes, to bound the memory


def dropped_edges(num_edges: int, share: float, generator: torch.Generator, device) -> Tensor | None:
    """Edge weights of one and zero that silence a random share of the messages; None for no share."""
    if share <= 0:
        return None
    return (torch.rand(num_edges, generator=generator) >= share).float().to(device)


def swapped_features(x: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """A random share of all feature values replaced by that feature's value at a random other node.

    The network learns not to know nodes by their noise, and meets the very values an explainer fills in.
    """
    if share <= 0:
        return x
    swap = torch.rand(x.shape, generator=generator) < share
    other = torch.randint(len(x), x.shape, generator=generator).to(x.device)
    return torch.where(swap.to(x.device), x.gather(0, other), x)


@dataclass
class NodeTask:
    """Tell the class of nodes of one graph."""

    graph: Graph
    seed: int
    device: torch.device

    def __post_init__(self):
        self._labels = _labels(self.graph, "a node task needs the labels of the nodes")
        self.num_classes = self.graph.num_classes
        self.split = split_of(self.graph, self._labels, self.seed)
        self._inputs = _inputs(self.graph, self.device)

    def losses(self, model: GNN, config, generator: torch.Generator) -> Iterator[Tensor]:
        """The loss of each step of one epoch: here a single step over all training nodes.

        Where edges are dropped the loss is taken on the whole graph too, beside the thinned one, or accuracy on it suffers.
        """
        x, edge_index, edge_type = self._inputs
        x = swapped_features(x, config.feature_swap, generator)
        train, truth = self.split["train"], self.truth("train").to(self.device)
        loss = cross_entropy(model(x, edge_index, edge_type=edge_type)[train], truth)
        if config.edge_drop > 0:
            keep = dropped_edges(self.graph.num_edges, config.edge_drop, generator, self.device)
            loss = (loss + cross_entropy(model(x, edge_index, keep, edge_type=edge_type)[train], truth)) / 2
        yield loss

    def truth(self, part: str) -> Tensor:
        return self._labels[self.split[part]]

    def logits(self, model: GNN, part: str) -> tuple[Tensor, Tensor]:
        """The logits of one part of the split, and the truth."""
        return model(*self._inputs[:2], edge_type=self._inputs[2])[self.split[part]].cpu(), self.truth(part)

    def accuracy_on(self, model: GNN, other: Graph) -> float:
        """Accuracy over all nodes of another graph of the same family."""
        x, edge_index, edge_type = _inputs(other, self.device)
        return accuracy(model(x, edge_index, edge_type=edge_type).cpu(), _labels(other, "accuracy needs labels"))


@dataclass
class GraphTask:
    """Tell the class of whole graphs."""

    graphs: GraphSet
    seed: int
    device: torch.device

    def __post_init__(self):
        self._labels = _labels(self.graphs, "a graph task needs the labels of the graphs")
        self.num_classes = self.graphs.num_classes
        self.split = split_of(self.graphs, self._labels, self.seed)

    def losses(self, model: GNN, config, generator: torch.Generator) -> Iterator[Tensor]:
        """The loss of each minibatch of one epoch, in a new order every time.

        Parts go through the network together with the whole graphs, so that batch norms see both at once.
        """
        train = self.split["train"]
        for chosen in train[torch.randperm(len(train), generator=generator)].split(config.batch_size):
            batch, weights = self.graphs.batch(chosen), None
            if config.parts > 0:
                parts = random_parts(batch, generator)
                weights = shares_kept(batch, parts).to(self.device) if config.weigh_parts else None
                batch = joined(batch, parts)
            keep = dropped_edges(batch.edge_index.shape[1], config.edge_drop, generator, self.device)
            logits = self._forward(model, batch, keep).split(len(chosen))  # of whole graphs, then of parts
            truth = self._labels[chosen].to(self.device)
            loss = (1 - config.parts) * cross_entropy(logits[0], truth)
            yield loss + config.parts * _loss(logits[1], truth, weights) if config.parts > 0 else loss

    def truth(self, part: str) -> Tensor:
        return self._labels[self.split[part]]

    def logits(self, model: GNN, part: str) -> tuple[Tensor, Tensor]:
        """The logits of one part of the split, and the truth."""
        return self.logits_of(model, self.split[part]), self.truth(part)

    def logits_of(self, model: GNN, chosen: Tensor) -> Tensor:
        if len(chosen) == 0:
            return torch.empty(0, self.num_classes)
        sizes = self.graphs.node_start.diff()[chosen]
        chunk = sizes.cumsum(0) // EVALUATION_NODES  # (len(chosen),): rising, so each value is one batch
        parts = [chosen[chunk == i] for i in chunk.unique()]
        return torch.cat([self._forward(model, self.graphs.batch(part)).cpu() for part in parts])

    def loss_of_parts(self, model: GNN, part: str, weigh: bool = False) -> Tensor:
        """The loss on random parts of these graphs, the same ones every time."""
        generator = torch.Generator().manual_seed(self.seed)
        batch = self.graphs.batch(self.split[part])
        drawn = [random_parts(batch, generator) for _ in range(PART_DRAWS)]
        logits = torch.cat([self._forward(model, parts).cpu() for parts in drawn])
        weights = torch.cat([shares_kept(batch, parts) for parts in drawn]) if weigh else None
        return _loss(logits, self.truth(part).repeat(PART_DRAWS), weights)

    def accuracy_on(self, model: GNN, other: GraphSet) -> float:
        """Accuracy over all graphs of another set of the same family."""
        task = GraphTask(other, self.seed, self.device)
        return accuracy(task.logits_of(model, torch.arange(len(other))), task._labels)

    def _forward(self, model: GNN, batch: Batch, keep: Tensor | None = None) -> Tensor:
        types = None if batch.edge_types is None else batch.edge_types.to(self.device)
        return model(
            batch.x.to(self.device),
            batch.edge_index.to(self.device),
            keep,
            edge_type=types,
            graph_of=batch.graph_of.to(self.device),
            num_graphs=batch.num_graphs,
        )


@dataclass
class LinkTask:
    """Tell joined pairs of nodes from others. Validation and test edges carry no messages: the network never sees them."""

    graph: Graph
    seed: int
    device: torch.device
    supervised: float = 0.3  # share of the training edges that are hidden and predicted in an epoch

    def __post_init__(self):
        if not self.graph.is_undirected:
            raise ValueError(
                "a link task needs an undirected graph (got a directed one); add the edges' other directions"
            )
        self.num_classes = len(LINK_CLASSES)
        ends = self.graph.edge_index
        self._pairs = ends[:, ends[0] < ends[1]]  # (2, P): each edge once
        most = self.graph.num_nodes * (self.graph.num_nodes - 1) // 2
        if not LEAST_EXAMPLES <= self._pairs.shape[1] <= most // 2:
            raise ValueError(
                f"a link task needs at least {LEAST_EXAMPLES} joined pairs of nodes, and as many that are not "
                f"(got {self._pairs.shape[1]:,} of {most:,} pairs joined)"
            )
        self.split = split_80_10_10(np.zeros(self._pairs.shape[1], dtype=int), self.seed)
        generator = torch.Generator().manual_seed(self.seed)
        self._negatives = {part: self._sampled_negatives(len(self.split[part]), generator) for part in PARTS}

    @property
    def message_edges(self) -> Tensor:
        """The edges the network may look at when it is evaluated: those of the training part, both directions."""
        return self._both_ways(self.split["train"])

    def losses(self, model: GNN, config, generator: torch.Generator) -> Iterator[Tensor]:
        """One step: some training edges are hidden and predicted, among as many negative pairs."""
        train = self.split["train"]
        train = train[torch.randperm(len(train), generator=generator)]
        hidden, visible = train.tensor_split([max(1, int(self.supervised * len(train)))])
        links = torch.cat([self._pairs[:, hidden], self._sampled_negatives(len(hidden), generator)], dim=1)
        edge_index = self._both_ways(visible)
        keep = dropped_edges(edge_index.shape[1], config.edge_drop, generator, self.device)
        yield cross_entropy(
            self._forward(model, links, edge_index, keep), _edges_then_negatives(len(hidden)).to(self.device)
        )

    def truth(self, part: str) -> Tensor:
        return _edges_then_negatives(len(self.split[part]))

    def logits(self, model: GNN, part: str) -> tuple[Tensor, Tensor]:
        """The logits of one part's edges and as many negatives, and the truth."""
        return self._forward(model, self.pairs(part), self.message_edges).cpu(), self.truth(part)

    def pairs(self, part: str) -> Tensor:
        """The edges of one part, then as many negatives: (2, 2 P)."""
        return torch.cat([self._pairs[:, self.split[part]], self._negatives[part]], dim=1)

    def auc(self, model: GNN, part: str) -> float:
        logits, truth = self.logits(model, part)
        return float(roc_auc_score(truth, logits[:, 1] - logits[:, 0]))

    def _forward(self, model: GNN, links: Tensor, edge_index: Tensor, keep: Tensor | None = None) -> Tensor:
        return model(self.graph.x.to(self.device), edge_index.to(self.device), keep, links=links.to(self.device))

    def _both_ways(self, chosen: Tensor) -> Tensor:
        pairs = self._pairs[:, chosen]
        return torch.cat([pairs, pairs.flip(0)], dim=1)

    def _sampled_negatives(self, count: int, generator: torch.Generator) -> Tensor:
        """Random pairs of different nodes with no edge between them in the whole graph: (2, count)."""
        size, found = self.graph.num_nodes, []
        joined = self._pairs[0] * size + self._pairs[1]
        while sum(part.shape[1] for part in found) < count:
            pairs = torch.randint(size, (2, 2 * count), generator=generator).sort(0).values
            new = (pairs[0] != pairs[1]) & ~torch.isin(pairs[0] * size + pairs[1], joined)
            found.append(pairs[:, new])
        return torch.cat(found, dim=1)[:, :count]


def make_task(data: Graph | GraphSet, task: str, seed: int, device: torch.device) -> NodeTask | GraphTask | LinkTask:
    kind = {"node": NodeTask, "graph": GraphTask, "link": LinkTask}[one_of("task", task, ("node", "graph", "link"))]
    expected = GraphSet if task == "graph" else Graph
    if not isinstance(data, expected):
        raise ValueError(f"a {task} task needs a {expected.__name__} (got {type(data).__name__})")
    return kind(data, seed, device)


def accuracy(logits: Tensor, truth: Tensor) -> float:
    return float((logits.argmax(-1) == truth).float().mean())


def _loss(logits: Tensor, truth: Tensor, weights: Tensor | None) -> Tensor:
    """The mean cross entropy, of each example times its weight if there are any."""
    if weights is None:
        return cross_entropy(logits, truth)
    return (weights * cross_entropy(logits, truth, reduction="none")).mean()


def _edges_then_negatives(count: int) -> Tensor:
    """Labels of `count` links followed by as many pairs that are none."""
    return torch.tensor([1, 0]).repeat_interleave(count)


def _labels(data: Graph | GraphSet, rule: str) -> Tensor:
    if data.labels is None:
        raise ValueError(f"{rule} (got none in {data.name!r})")
    return data.labels


def _inputs(graph: Graph, device: torch.device) -> tuple[Tensor, Tensor, Tensor | None]:
    types = None if graph.edge_types is None else graph.edge_types.to(device)
    return graph.x.to(device), graph.edge_index.to(device), types
