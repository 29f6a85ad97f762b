"""Networks of PyTorch Geometric, explained as they are, against its own GNNExplainer with the same weights and steps.

Times are of the processor, on one thread each: what else the machine does then matters little. Networks are trained for a
moment, so that they say something; K_M is 6 for masks, where PyG's gives none at all.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn.pool import global_mean_pool

import explainer_core as xc
from benchmarks import figures
from benchmarks.launched import measure_launch
from benchmarks.networks import SlowGNN
from explainer_core.datasets.download import DataUnavailable
from explainer_core.models import GNN, ModelSpec

KINDS: dict[str, Callable[..., nn.Module]] = {"GCN": pyg.GCN, "GAT": pyg.GAT, "GIN": pyg.GIN}
LAYERS = {"ba_shapes": 3, "cora": 2, "mutagenicity": 3}
HIDDEN = 32
MANY, STEPS = 100, 100
MASK = "gnnexplainer"
NODES, NEIGHBOURS = 100_000, 20


class GraphNetwork(nn.Module):
    """A backbone of PyG's, the mean of its nodes, and a head."""

    def __init__(self, make: Callable[..., nn.Module], num_features: int, num_classes: int):
        super().__init__()
        self.nodes, self.head = make(num_features, HIDDEN, LAYERS["mutagenicity"]), nn.Linear(HIDDEN, num_classes)

    def forward(self, x, edge_index, batch):
        return self.head(global_mean_pool(self.nodes(x, edge_index), batch))


def measure(report: figures.Report, quick: bool) -> None:
    steps, many = (20, 20) if quick else (STEPS, MANY)
    for name in ("ba_shapes", "cora", "mutagenicity"):
        try:
            data = xc.load_dataset(name)
        except DataUnavailable as error:
            print(f"{name} is left out: {error}")
            continue
        for kind in ("GCN",) if quick and name != "ba_shapes" else KINDS:
            _against_pyg(report, name, kind, data, steps, many, quick)
    _against_the_zoo(report, 3 if quick else 9)
    _large(report, 10_000 if quick else NODES, 3 if quick else 7)
    measure_launch(report, 1 if quick else 3)


def trained(name: str, kind: str, data) -> nn.Module:
    """After a few dozen steps on all labels: enough to depend on edges."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if isinstance(data, xc.Graph):
            network = KINDS[kind](data.num_features, HIDDEN, LAYERS[name], data.num_classes)
            inputs, truth = (data.x, data.edge_index), data.labels
        else:
            network = GraphNetwork(KINDS[kind], data.num_features, data.num_classes)
            batch = data.batch(range(500))
            inputs, truth = (batch.x, batch.edge_index, batch.graph_of), data.labels[:500]
        optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
        for _ in range(150 if name == "ba_shapes" else 40):
            optimiser.zero_grad()
            assert truth is not None  # all three sets have classes
            nn.functional.cross_entropy(network(*inputs), truth).backward()
            optimiser.step()
    return network.eval()


def _against_pyg(report, name: str, kind: str, data, steps: int, many: int, quick: bool) -> None:
    network, config = trained(name, kind, data), xc.ExplainConfig(steps=steps, k_m=6)
    level = "node" if isinstance(data, xc.Graph) else "graph"
    peer = Explainer(
        network,
        GNNExplainer(epochs=steps),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": level, "return_type": "raw"},
    )
    targets = _targets(data, many)
    some = targets[:: max(1, many // ((2 if quick else 3) if name == "cora" else (3 if quick else 9)))]
    xc.explain(network, data, some[0], config, MASK)  # measured once, as a user's first click does
    times: dict[str, list[float]] = {"PyG": [], MASK: [], "verified": []}
    for target in some:  # alternately, so that a slow moment of the machine hits all of them
        times["PyG"].append(seconds(lambda t=target: _by_pyg(peer, data, t)))
        times[MASK].append(seconds(lambda t=target: xc.explain(network, data, t, config, MASK)))
        times["verified"].append(seconds(lambda t=target: xc.explain(network, data, t)))
    one = {who: statistics.median(column) for who, column in times.items()}
    together = [
        seconds(lambda: xc.explain_many(network, data, targets, config, MASK)) for _ in range(1 if quick else 3)
    ]
    each = statistics.median(together) / many
    where = f"{name}, {kind}"
    for who, value in one.items():
        report.add(f"{where}: one, {'PyG, ' + str(steps) + ' steps' if who == 'PyG' else who}", 1e3 * value, "ms")
    goal = (lambda value: None) if quick else (lambda value: value)
    report.add(f"{where}: the mask of one, faster than PyG", one["PyG"] / one[MASK], "times", goal(1.5))
    report.add(f"{where}: the masks of {many} in one call, faster than PyG each", one["PyG"] / each, "times", goal(20))
    report.add(f"{where}: verified for one, faster than PyG's mask", one["PyG"] / one["verified"], "times", goal(1))


def _targets(data, count: int) -> list:
    if isinstance(data, xc.GraphSet):
        return [xc.WholeGraph(i) for i in range(count)]
    return [xc.Node(int(node)) for node in torch.linspace(0, data.num_nodes - 1, count)]


def _by_pyg(peer: Explainer, data, target) -> object:
    if isinstance(target, xc.Node):
        return peer(data.x, data.edge_index, index=target.node)
    graph = data[target.index]
    return peer(graph.x, graph.edge_index, batch=torch.zeros(graph.num_nodes, dtype=torch.int64))


def _against_the_zoo(report, repeats: int) -> None:
    """The same layers in the zoo, without its fast paths, on the same neighbourhoods."""
    graph, config = xc.load_dataset("ba_shapes"), xc.ExplainConfig(steps=STEPS, k_m=6)
    for kind in ("GCN", "GAT", "GIN"):
        spec = ModelSpec(
            kind.lower(), "node", graph.num_features, graph.num_classes, hidden=HIDDEN, num_layers=3, heads=1
        )
        with torch.random.fork_rng():
            torch.manual_seed(0)
            slow: Any = SlowGNN(GNN(spec).eval().requires_grad_(False))
        network = trained("ba_shapes", kind, graph)
        xc.explain(network, graph, xc.Node(400), config, MASK)
        times = [
            [
                seconds(lambda m=model, n=node: xc.explain(m, graph, xc.Node(n), config, MASK))
                for model in (network, slow)
            ]
            for node in torch.linspace(300, 699, repeats).int().tolist()
        ]
        ours, zoo = (statistics.median(column) for column in zip(*times, strict=True))
        report.add(f"{kind}: the adapter against the zoo's slow path", ours / zoo, "times", 1.3, "lower")


def ring_data(nodes: int) -> Data:
    """Every node is joined to the nearest ones on a ring: each neighbourhood is the same, whatever the ring's length."""
    steps = torch.tensor([offset for offset in range(-NEIGHBOURS // 2, NEIGHBOURS // 2 + 1) if offset])
    target = torch.arange(nodes).repeat_interleave(len(steps))
    source = (target + steps.repeat(nodes)) % nodes
    x = torch.randn(nodes, 16, generator=torch.Generator().manual_seed(0))
    return Data(x=x, edge_index=torch.stack([source, target]), y=torch.arange(nodes) % 3)


def _large(report, nodes: int, repeats: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = pyg.GCN(16, HIDDEN, 2, 3).eval()
    given = ring_data(nodes)
    started = time.process_time()
    large = xc.Graph.from_pyg(given)
    xc.explain(network, large, xc.Node(50))  # reads it, finds out all about the network, and answers
    report.add(f"{nodes:,} nodes, {large.num_edges:,} edges: opened, first answer", time.process_time() - started, "s")
    small = xc.Graph.from_pyg(ring_data(200))
    small = replace(small, x=large.x[:200])
    times = [
        [seconds(lambda g=g, n=node: xc.explain(network, g, xc.Node(n))) for g in (large, small)]
        for node in torch.linspace(45, 150, repeats).int().tolist()
    ]
    in_large, in_small = (statistics.median(column) for column in zip(*times[1:], strict=True))
    report.add(f"a click in {nodes:,} nodes", 1e3 * in_large, "ms")
    report.add("a click: the large graph against the neighbourhood alone", in_large / in_small, "times", 1.5, "lower")


def seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


if __name__ == "__main__":
    figures.run(measure, "Networks of PyTorch Geometric against its own GNNExplainer.")
