"""Data sets as benchmarks need them: known to be one graph, or many, and the nodes of planted motifs."""

import explainer_core as xc


def one_graph(name: str, seed: int = 0) -> xc.Graph:
    data = xc.load_dataset(name, seed=seed)
    if not isinstance(data, xc.Graph):
        raise TypeError(f"the data set must be one graph (got many in {name!r})")
    return data


def many_graphs(name: str) -> xc.GraphSet:
    data = xc.load_dataset(name)
    if not isinstance(data, xc.GraphSet):
        raise TypeError(f"the data set must be many graphs (got one in {name!r})")
    return data


def motif_nodes(graph: xc.Graph) -> list[int]:
    return [] if graph.node_motif is None else (graph.node_motif >= 0).nonzero().flatten().tolist()


def motif_edges(graph: xc.Graph) -> list[int]:
    return [] if graph.edge_motif is None else (graph.edge_motif >= 0).nonzero().flatten().tolist()


def graphs_of_class(graphs: xc.GraphSet, label: int) -> list[int]:
    return [] if graphs.labels is None else (graphs.labels == label).nonzero().flatten().tolist()


def node_of(explanation: xc.Explanation) -> int:
    if not isinstance(explanation.target, xc.Node):
        raise TypeError(f"the target must be a node (got {explanation.target})")
    return explanation.target.node
