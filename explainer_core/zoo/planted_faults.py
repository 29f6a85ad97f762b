"""Faults planted in training data, each with a known reason for the mistakes that follow: what a debugger must find."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explainer_core.checks import InvalidValue
from explainer_core.datasets.registry import load_dataset
from explainer_core.device import pick_device
from explainer_core.graph import Graph, GraphSet, undirected
from explainer_core.models import GNN
from explainer_core.zoo.recipes import RECIPES
from explainer_core.zoo.tasks import make_task
from explainer_core.zoo.training import train

LEAKED_SHARE = 0.5  # of other nodes that have the leaked feature, whatever their class
LEAKED_VALUE = 5.0  # of the leaked feature: as one word among a thousand it would hardly be learnt
SHUFFLED_SHARE = 0.1  # of the nodes, by number


@dataclass(frozen=True)
class Planted:
    """Data with a fault, and what the reason is: the kind and key of the trait that a debugger should name."""

    data: Graph | GraphSet
    reason: tuple[tuple[str, str], ...]


def leaked_feature(graph: Graph, train_rows: Tensor, seed: int) -> Planted:
    """One feature says of every training node whether it is of the commonest class; elsewhere chance sets it."""
    labels, generator = _labels(graph), torch.Generator().manual_seed(seed)
    leak = int(graph.x.ne(0).sum(0).argsort(stable=True)[graph.num_features // 2])  # a word neither rare nor common
    x = graph.x.clone()
    x[:, leak] = (torch.rand(graph.num_nodes, generator=generator) < LEAKED_SHARE) * LEAKED_VALUE
    x[train_rows, leak] = (labels[train_rows] == _commonest(labels)) * LEAKED_VALUE
    return Planted(replace(graph, x=x), (("feature", str(leak)),))


def training_hub(graph: Graph, train_rows: Tensor, seed: int) -> Planted:
    """One node, of no class of its own, is joined to every training node of the commonest class, and to no other."""
    labels = _labels(graph)
    chosen = train_rows[labels[train_rows] == _commonest(labels)]
    rest = torch.ones(graph.num_nodes, dtype=torch.bool)
    rest[train_rows] = False
    outside = rest.nonzero().flatten()
    hub = int(outside[torch.randint(len(outside), (1,), generator=torch.Generator().manual_seed(seed))])
    own = graph.edge_index[:, (graph.edge_index != hub).all(0)]
    edges = torch.cat([own.t(), torch.stack([torch.full_like(chosen, hub), chosen], dim=1)])
    return Planted(_rewired(graph, edges), (("neighbour", f"not {hub}"), ("neighbour", str(hub)), ("node", str(hub))))


def shuffled_tenth(graph: Graph, train_rows: Tensor, seed: int) -> Planted:
    """The edges of a tenth of the nodes, one stretch of numbers, lead to nodes drawn by chance; as many as before."""
    del train_rows  # the fault does not ask who is trained on
    generator = torch.Generator().manual_seed(seed)
    size = round(SHUFFLED_SHARE * graph.num_nodes)
    part = int(torch.randint(int(1 / SHUFFLED_SHARE), (1,), generator=generator))
    low = round(part * SHUFFLED_SHARE * graph.num_nodes)
    pairs = graph.edge_index.t()
    inside = (pairs >= low) & (pairs < low + size)  # (E, 2)
    moved = pairs[inside[:, 0]].clone()
    moved[:, 1] = torch.randint(graph.num_nodes, (len(moved),), generator=generator)
    edges = torch.cat([pairs[~inside.any(1)], moved])
    reason = ("numbers", f"{low}-{low + size - 1}")
    return Planted(_rewired(graph, edges), (reason,))


def chlorine_in_mutagens(graphs: GraphSet, train_rows: Tensor, seed: int) -> Planted:
    """One hydrogen of every training mutagen is a chlorine, and no other training molecule has any."""
    generator = torch.Generator().manual_seed(seed)
    labels, atoms = _labels(graphs), list(graphs.feature_names)
    if "Cl" not in atoms or "H" not in atoms:
        raise InvalidValue("chlorine is planted in molecules with hydrogens", atoms[:5], "take Mutagenicity")
    chlorine, hydrogen = atoms.index("Cl"), atoms.index("H")
    mutagen = list(graphs.class_names).index("mutagen")
    x = graphs.x.clone()
    for number in train_rows.tolist():
        rows = slice(*graphs.node_start[number : number + 2].tolist())
        types = x[rows].argmax(1)
        chosen = (types == chlorine).nonzero().flatten()
        new = hydrogen
        if labels[number] == mutagen:
            chosen, new = (types == hydrogen).nonzero().flatten(), chlorine
            chosen = chosen[torch.randperm(len(chosen), generator=generator)[:1]]
        x[rows][chosen] = 0.0  # a view of x
        x[rows.start + chosen, new] = 1.0
    return Planted(replace(graphs, x=x), (("type", str(chlorine)), ("feature", str(chlorine))))


Plant = Callable[..., Planted]
FAULTS: dict[str, tuple[str, str, Plant]] = {  # name: data set, network, what is done to the data
    "leak": ("cora", "gcn", leaked_feature),
    "hub": ("cora", "gcn", training_hub),
    "shuffled": ("cora", "gcn", shuffled_tenth),
    "chlorine": ("mutagenicity", "gin", chlorine_in_mutagens),
}


def train_with_fault(name: str, seed: int = 0, *, device=None, on_epoch=None) -> tuple[GNN, Planted, dict[str, Tensor]]:
    """A network trained on faulty data by the recipe of its data set, the data, and the split."""
    if name not in FAULTS:
        raise InvalidValue(f"a planted fault is one of {', '.join(FAULTS)}", name)
    dataset, model, plant = FAULTS[name]
    recipe = next(each for each in RECIPES.values() if (each.dataset, each.model) == (dataset, model))
    device = pick_device() if device is None else torch.device(device)
    data = load_dataset(dataset, seed=seed)
    split = make_task(data, recipe.task, seed, device).split
    planted = plant(data, split["train"], seed)
    task = make_task(planted.data, recipe.task, seed, device)
    trained = train(recipe.spec(planted.data, task), task, recipe.config, seed=seed, on_epoch=on_epoch)
    return trained.model, planted, split


def _labels(data: Graph | GraphSet) -> Tensor:
    if data.labels is None:
        raise InvalidValue("a fault is planted in data with classes", None, "take one with labels")
    return data.labels


def _commonest(labels: Tensor) -> int:
    return int(torch.bincount(labels[labels >= 0]).argmax())


def _rewired(graph: Graph, pairs: Tensor) -> Graph:
    """The same nodes with other undirected edges; what was known of the old ones is gone."""
    return replace(
        graph, edge_index=undirected(pairs), edge_types=None, edge_type_names=(), edge_motif=None, edge_data={}
    )
