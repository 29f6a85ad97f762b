"""How the cost of one explanation depends on the size of the graph around it: it must not."""

import resource
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import explainer_core as xc
from benchmarks import figures
from benchmarks.speed import seconds, three_layers
from explainer_core.computation.batches import computation_of
from explainer_core.computation.in_edges import InEdges

NODES, DEGREE = 1_000_000, 10  # ten edges in and out of every node: 10 million directed edges
SMALL = 10_000
TARGETS = 1_000


def measure(report: figures.Report, quick: bool) -> None:
    nodes = 100_000 if quick else NODES
    large = ring_graph(nodes)
    edge_list = large.edge_index.numel() * large.edge_index.element_size()
    report.add("graph: directed edges", large.num_edges)
    started = time.perf_counter()
    index, added = memory_added(lambda: InEdges.of(large))
    report.add("index: time to build", time.perf_counter() - started, "s", 15, "lower")
    kept = sum(tensor.numel() * tensor.element_size() for tensor in vars(index).values())
    report.add("index: memory kept, against the edge list", kept / edge_list, "times", 3, "lower")
    report.add(
        "index: memory at the peak, against the edge list",
        added / edge_list,
        "times",
        3,
        "lower",
    )
    _one_node(report, large)
    _many_nodes(report, large, TARGETS // 10 if quick else TARGETS)


def ring_graph(nodes: int) -> xc.Graph:
    """Every node is joined to the nearest ones on a ring: each neighbourhood is the same, whatever the ring's length."""
    steps = torch.tensor([offset for offset in range(-DEGREE // 2, DEGREE // 2 + 1) if offset])
    target = torch.arange(nodes).repeat_interleave(len(steps))
    source = (target + steps.repeat(nodes)) % nodes
    order = torch.randperm(len(target), generator=torch.Generator().manual_seed(0))  # edge lists come in any order
    features = torch.randn(nodes, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.zeros(nodes, dtype=torch.int64)
    return xc.Graph(features, torch.stack([source, target])[:, order], labels=labels, class_names=("a", "b"))


def _one_node(report, large: xc.Graph) -> None:
    small, config = ring_graph(SMALL), xc.ExplainConfig()
    model = three_layers(large)
    sizes = {computation_of(g, [xc.Node(50)], 3, max_edges=200_000).num_edges for g in (small, large)}
    assert len(sizes) == 1, "the two neighbourhoods must be the same"
    times = [
        tuple(seconds(lambda g=g, n=node: xc.explain(model, g, xc.Node(n), config)) for g in (small, large))
        for node in np.linspace(100, SMALL - 100, 11).astype(int).tolist()
    ]
    in_small, in_large = (statistics.median(column) for column in zip(*times, strict=True))
    report.add(f"one node in {SMALL:,} nodes", 1e3 * in_small, "ms")
    report.add(f"one node in {large.num_nodes:,} nodes", 1e3 * in_large, "ms")
    report.add("one node: large graph against small", in_large / in_small, "times", 1.3, "lower")


def _many_nodes(report, large: xc.Graph, count: int) -> None:
    model = three_layers(large)
    targets = [xc.Node(node) for node in np.linspace(0, large.num_nodes - 1, count).astype(int).tolist()]
    started = time.perf_counter()
    _, added = memory_added(lambda: xc.explain_many(model, large, targets))
    report.add(f"{count:,} nodes in one call, each", 1e3 * (time.perf_counter() - started) / count, "ms")
    report.add(f"{count:,} nodes in one call, memory added at the peak", added / 2**20, "MiB", 1024, "lower")


def memory_added(call: Callable[[], object]) -> tuple[object, int]:
    """The result of a call, and how far the memory of this process rose above where it was, in bytes."""
    before, highest, done = _resident(), 0, threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(0.005):
            highest = max(highest, _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = call()
    finally:
        done.set()
        watcher.join()
    return result, max(highest, _resident()) - before


def _resident() -> int:
    """The memory this process holds now; torch's tensors are not seen by tracemalloc, so the system is asked."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    figures.run(measure, __doc__)
