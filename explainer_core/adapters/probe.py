"""Small batches of the data that a network is tried out on before it is explained."""

import torch

from explainer_core.computation.batches import computation_of
from explainer_core.computation.forward import prediction_batch, whole_graph_batch
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import PredictionBatch
from explainer_core.targets import Link, Node, Target, WholeGraph

TARGETS = 12  # that are tried
PROBE_EDGES = 20_000  # of one of them, where it is only tried out and nothing is compared with the whole graph
MEASURED_EDGES = 2_000_000  # of all of them together, where it is


def sample_targets(data: Graph | GraphSet, task: str) -> list[Target]:
    """The nodes with the most edges, and others from all over the data; the same ones every time."""
    if task == "graph":
        if isinstance(data, Graph):
            return [WholeGraph(), WholeGraph()]
        spread = torch.linspace(0, len(data) - 1, min(4, len(data))).long().tolist()
        return [WholeGraph(i) for i in (spread if len(data) > 1 else [0, 0])]
    assert isinstance(data, Graph)  # nodes and links lie in one
    degree, count = data.in_degree, data.num_nodes
    busiest = degree.argsort(descending=True, stable=True)[: TARGETS // 3].tolist()
    spread = torch.linspace(0, count - 1, min(TARGETS - len(busiest), count)).long().tolist()
    nodes = list(dict.fromkeys([*busiest, *spread]))
    if task == "node":
        return [Node(node) for node in nodes]
    others = [(node + max(1, count // 3)) % count for node in nodes]
    joined = set(zip(*data.edge_index.tolist(), strict=True))  # an existing link is hidden where it is asked about
    free = [(a, b) for a, b in zip(nodes, others, strict=True) if a != b and not {(a, b), (b, a)} & joined]
    return [Link(a, b) for a, b in free or [(0, 1)]]


def cut_batch(
    data: Graph | GraphSet, targets: list[Target], hops: int | None, device: torch.device, max_edges: int = PROBE_EDGES
) -> tuple[PredictionBatch, bool]:
    """The computation graphs of some targets as a batch, and whether any was too large and sampled."""
    task = {Node: "node", WholeGraph: "graph", Link: "link"}[type(targets[0])]
    computation = computation_of(data, targets, hops, max_edges=max_edges).to(device)
    return prediction_batch(computation, task), bool(computation.sampled.any())


def everything(data: Graph | GraphSet, task: str, targets: list[Target], device: torch.device) -> PredictionBatch:
    """All nodes in one graph; the sampled links on it; or the sampled graphs side by side."""
    if task == "graph":
        return cut_batch(data, targets, None, device)[0]
    assert isinstance(data, Graph)
    if task == "node":
        return whole_graph_batch(data, device)
    pairs = torch.tensor([(link.source, link.head) for link in targets if isinstance(link, Link)])
    return whole_graph_batch(data, device, pairs)
