"""How fast an explanation is, against PyTorch Geometric's GNNExplainer with the same weights.

Goals are for the shipped networks, with our default settings against PyG's 100 steps on the whole graph: for the mask alone,
and for "verified", which goes on to ask the network. The 3-layer networks of earlier releases are reported beside, with the
mask alone and 100 steps for both.
"""

import copy
import statistics
import time
from collections.abc import Callable

import torch

import explainer_core as xc
from benchmarks import figures
from benchmarks.data import many_graphs, motif_nodes, one_graph
from benchmarks.pyg_peer import explain_node, explain_node_locally, pyg_explainer
from explainer_core.computation.batches import computation_of
from explainer_core.datasets.download import DataUnavailable
from explainer_core.explanation.explain_batch import ExplainBatch
from explainer_core.methods.gnnexplainer import _Learner
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.training import freeze

STEPS = 100
CPU = torch.device("cpu")
MASK = "gnnexplainer"
SHIPPED = ("ba_shapes", "tree_cycles", "tree_grid")
GOALS = {MASK: (5, 30), "verified": (1.5, 8)}  # times faster: one explanation, and each of many in one call
MANY = 50


def measure(report: figures.Report, quick: bool, device: torch.device = CPU) -> None:
    for name in SHIPPED:
        _shipped(report, name, quick, device)
    for name in ("ba_shapes", "tree_cycles"):
        graph = one_graph(name)
        model = three_layers(graph).to(device)
        _one(report, name, graph, model, repeats=2 if quick else 7)
        _many(report, name, graph, model, quick)
        if device != CPU:
            _difference(report, name, graph, model, count=5 if quick else 50)
    _molecules(report, quick, device)
    _step(report, device)


def _shipped(report, name: str, quick: bool, device: torch.device) -> None:
    """The networks that ship, with default settings: what a user waits for."""
    graph, model = one_graph(name), xc.load_pretrained(name, "gcn", device=str(device))
    peer, (x, edges) = pyg_explainer(model, STEPS), _beside(model, graph)
    nodes = motif_nodes(graph)
    targets = [xc.Node(nodes[i]) for i in torch.linspace(0, len(nodes) - 1, 10 if quick else MANY).int().tolist()]
    repeats = 1 if quick else 3
    where, times = f"{name}, shipped, {model.num_layers} layers", {"PyG": [], **{method: [] for method in GOALS}}
    for target in targets[:: len(targets) // (2 if quick else 10)]:  # alternately, as below
        times["PyG"].append(seconds(lambda n=target.node: explain_node(peer, x, edges, n)))
        for method in GOALS:
            times[method].append(seconds(lambda t=target, m=method: xc.explain(model, graph, t, method=m)))
    on_graph = statistics.median(times["PyG"])
    report.add(f"{where}: one explanation, PyG on the whole graph", 1e3 * on_graph, "ms")
    for method, (one_goal, many_goal) in GOALS.items():
        report.add(f"{where}: one explanation, {method}", 1e3 * statistics.median(times[method]), "ms")
        report.add(f"{where}: one, {method} faster than PyG", _ratio(times["PyG"], times[method]), "times", one_goal)
        calls = [seconds(lambda m=method: xc.explain_many(model, graph, targets, method=m)) for _ in range(repeats)]
        each = statistics.median(calls) / len(targets)
        report.add(f"{where}: {len(targets)} in one call, {method}, each", 1e3 * each, "ms")
        report.add(
            f"{where}: {len(targets)}, {method} faster than PyG", on_graph / each, "times", None if quick else many_goal
        )


def three_layers(data) -> GNN:
    """A 3-layer summing GCN as in the paper's experiments. Speed does not depend on what the weights say."""
    task = "graph" if isinstance(data, xc.GraphSet) else "node"
    spec = ModelSpec(
        *("gcn", task, data.num_features, data.num_classes),
        **{"num_layers": 3, "hidden": 20, "normalize": False, "jump": "cat", "unit_length": True},
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return freeze(GNN(spec))


def _one(report, name: str, graph: xc.Graph, model: GNN, repeats: int) -> None:
    config = xc.ExplainConfig(steps=STEPS)
    peer, (x, edges) = pyg_explainer(model, STEPS), _beside(model, graph)
    nodes = [int(node) for node in torch.linspace(graph.num_nodes * 0.6, graph.num_nodes - 1, repeats)]
    ours, on_graph, local = [], [], []
    for node in nodes:  # alternately, so that a slow moment of the machine hits all of them
        ours.append(seconds(lambda n=node: xc.explain(model, graph, xc.Node(n), config, MASK)))
        on_graph.append(seconds(lambda n=node: explain_node(peer, x, edges, n)))
        local.append(seconds(lambda n=node: explain_node_locally(peer, x, edges, n, model.num_layers)))
    report.add(f"{name}: one explanation, ours", 1e3 * statistics.median(ours), "ms")
    report.add(f"{name}: one explanation, PyG on the whole graph", 1e3 * statistics.median(on_graph), "ms")
    report.add(f"{name}: one explanation, PyG on the k-hop subgraph", 1e3 * statistics.median(local), "ms")
    report.add(f"{name}: faster than PyG on the whole graph", _ratio(on_graph, ours), "times")
    report.add(f"{name}: faster than PyG on the k-hop subgraph", _ratio(local, ours), "times")


def _many(report, name: str, graph: xc.Graph, model: GNN, quick: bool) -> None:
    config = xc.ExplainConfig(steps=STEPS)
    targets = [xc.Node(node) for node in motif_nodes(graph)]
    targets = targets[:40] if quick else targets
    peer, (x, edges) = pyg_explainer(model, STEPS), _beside(model, graph)
    nodes = [target.node for target in targets[:: max(1, len(targets) // (2 if quick else 7))]]
    on_graph = [seconds(lambda n=node: explain_node(peer, x, edges, n)) for node in nodes]
    each = seconds(lambda: xc.explain_many(model, graph, targets, config, MASK)) / len(targets)
    report.add(f"{name}: {len(targets)} in one call, each", 1e3 * each, "ms")
    report.add(f"{name}: faster than PyG per explanation", statistics.median(on_graph) / each, "times")


def _difference(report, name: str, graph: xc.Graph, model: GNN, count: int) -> None:
    """The same masks optimised on the device and on the cpu: sums in another order, and nothing else."""
    targets = [xc.Node(node) for node in motif_nodes(graph)][:count]
    config = xc.ExplainConfig(steps=STEPS, features="joint")
    here, there = (
        xc.explain_many(copy.deepcopy(model).to(where), graph, targets, config, MASK) for where in (_device(model), CPU)
    )
    largest = max(float(abs(a.edge_weight - b.edge_weight).max()) for a, b in zip(here, there, strict=True))
    report.add(f"{name}: largest difference of a mask to the cpu's, {count} targets", largest, "", 1e-3, "lower")


def _molecules(report, quick: bool, device: torch.device) -> None:
    try:
        molecules = many_graphs("mutagenicity")
    except DataUnavailable as error:
        print(f"Mutagenicity is left out: {error}")
        return
    count = 50 if quick else 500
    model, config = three_layers(molecules).to(device), xc.ExplainConfig(steps=STEPS)
    targets = [xc.WholeGraph(i) for i in range(count)]
    each = seconds(lambda: xc.explain_many(model, molecules, targets, config, MASK)) / count
    peer, single = pyg_explainer(model, STEPS), []
    for i in range(0, count, count // (2 if quick else 10)):
        graph = molecules[i]
        x, edges = _beside(model, graph)
        batch = torch.zeros(graph.num_nodes, dtype=torch.int64, device=device)
        single.append(seconds(lambda x=x, e=edges, b=batch: peer(x, e, batch=b)))
    report.add(f"mutagenicity: {count} molecules in one call, each", 1e3 * each, "ms")
    report.add("mutagenicity: one molecule, PyG", 1e3 * statistics.median(single), "ms")
    report.add("mutagenicity: faster than PyG per molecule", statistics.median(single) / each, "times")


def _step(report, device: torch.device) -> None:
    """One step of learning against a bare forward and backward pass on the same computation graph."""
    graph = xc.load_dataset("ba_shapes")
    model, target = three_layers(graph).to(device), [xc.Node(500)]
    computation = computation_of(graph, target, model.num_layers, max_edges=200_000)
    batch = ExplainBatch.make(
        model, graph, target, computation, xc.ExplainConfig(steps=2000), xc.METHODS[MASK], "predicted"
    )
    weight = torch.ones(computation.num_edges, device=device, requires_grad=True)
    learner = _Learner(batch.objective)

    def bare() -> None:
        torch.autograd.grad(batch.objective.loss(batch.objective.logits(weight)).sum(), weight)

    times = [(seconds(bare), seconds(learner.step)) for _ in range(200)]
    bare_time, step_time = (statistics.median(column) for column in zip(*times, strict=True))
    report.add("a step: bare forward and backward", 1e3 * bare_time, "ms")
    report.add("a step: times a bare forward and backward", step_time / bare_time, "times")


def _device(model: GNN) -> torch.device:
    return next(model.parameters()).device


def _beside(model: GNN, graph: xc.Graph) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and edges where the model is."""
    return graph.x.to(_device(model)), graph.edge_index.to(_device(model))


def seconds(call: Callable[[], object]) -> float:
    """Until the device has done it, not only until it was told to."""
    start = time.perf_counter()
    call()
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return time.perf_counter() - start


def _ratio(slow: list[float], fast: list[float]) -> float:
    return statistics.median(slow) / statistics.median(fast)


if __name__ == "__main__":
    figures.run(measure, __doc__, on_devices=True)
