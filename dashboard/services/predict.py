"""What is known of a request before anything is explained: predictions, names, classes and their colours."""

from dataclasses import replace

from dashboard.cache import Cache
from dashboard.schema import LINK_CLASSES, Request, TargetFacts
from dashboard.tasks.subjects import computation_graph, load_data, load_graph, load_graphs, network, subject
from dashboard.view import palette
from explainer_core import Graph, GraphSet
from explainer_core.graph import NO_LABEL
from explainer_core.predictions import Predictions, predictions

SMILES_DATASETS = ("mutagenicity", "molecules")  # the networks read what molecule_from_smiles makes

_COLOURS: Cache[tuple[str, ...]] = Cache(64)
_PREDICTIONS: Cache[Predictions] = Cache(64)


def all_predictions(dataset: str, model: str) -> Predictions:
    """What the network says of every node or graph of a data set."""
    return _PREDICTIONS.get_or_create(
        (dataset, model), lambda: predictions(network(dataset, model), load_data(dataset))
    )


def problem_with(text: str) -> str:
    """Why a typed text is no molecule the networks can read, in one sentence; empty if it is one."""
    try:
        subject(Request("molecules", "", "smiles", text))
    except ValueError as error:
        return str(error)
    return ""


def size_of(request: Request) -> dict[str, int]:
    """How many nodes and undirected edges the target's computation graph has."""
    computation = computation_graph(request)
    return {"nodes": len(set(computation.nodes.tolist())), "edges": len(computation.undirected()[0])}


def num_features(request: Request) -> int:
    return subject(request)[0].num_features


def features_vary(request: Request) -> bool:
    """False where all nodes have the same features, so that none can tell anything."""
    return subject(request)[0].features_vary


def class_names(dataset: str, task: str) -> tuple[str, ...]:
    """The classes a network of this task tells apart; its data may have others, as Cora's papers have for links."""
    return LINK_CLASSES if task == "link" else tuple(load_data(dataset).class_names)


def class_colours(dataset: str) -> tuple[str, ...]:
    """A colour for each class. A class none of whose nodes lies in a planted motif is the ground, and quiet."""
    return _COLOURS.get_or_create(dataset, lambda: _class_colours(load_data(dataset)))


def _class_colours(data: Graph | GraphSet) -> tuple[str, ...]:
    return palette.class_colours(_ground(data), data.class_names)


def _ground(data: Graph | GraphSet) -> list[bool]:
    if isinstance(data, GraphSet) or data.node_motif is None or data.labels is None:
        return [False] * max(data.num_classes, len(LINK_CLASSES))
    planted = data.labels[data.node_motif >= 0].unique().tolist()
    return [label not in planted for label in range(data.num_classes)]


def target_facts(request: Request) -> TargetFacts:
    computation, data = computation_graph(request), subject(request)[0]
    names = tuple(data.class_names) if request.kind != "link" else LINK_CLASSES
    if request.kind == "smiles":
        names = tuple(load_data("molecules").class_names)
    facts = TargetFacts(
        name=target_name(request),
        class_names=names,
        probabilities=computation.probabilities,
        colours=class_colours(request.dataset),
        predicted=computation.predicted_class,
        truth=_truth(request),
        explained=None,
    )
    return replace(facts, explained=_explained(request.target_class, facts))


def asked_class(request: Request) -> int | str:
    """The class in the core's own terms: "true" becomes a number, or "predicted" where the truth is not known."""
    if request.target_class != "true":
        return request.target_class
    truth = _truth(request)
    return computation_graph(request).predicted_class if truth is None else truth


def target_name(request: Request) -> str:
    if request.kind == "smiles":
        return request.smiles
    if request.kind == "graph":
        graphs = load_graphs(request.dataset)
        return graphs.graph_name(request.number) if graphs.graph_names else f"graph {request.number}"
    graph = load_graph(request.dataset)
    if request.kind == "link":
        return " and ".join(graph.node_name(end) if graph.node_names else f"node {end}" for end in request.ends)
    named = f"node {request.number}"
    return f"{named}, {graph.node_name(request.number)}" if graph.node_names else named


def _truth(request: Request) -> int | None:
    """Of what was not edited: edits change what the network says, not what is true."""
    data = load_data(request.dataset)
    if request.kind == "link":
        return int(_is_joined(load_graph(request.dataset), *request.ends))
    if request.kind == "smiles" or data.labels is None:
        return None
    label = int(data.labels[request.number])
    return None if label == NO_LABEL else label


def _is_joined(graph: Graph, one: int, other: int) -> bool:
    source, head = graph.edge_index
    return bool((((source == one) & (head == other)) | ((source == other) & (head == one))).any())


def _explained(wanted: int | str, facts: TargetFacts) -> int | None:
    if wanted == "distribution":
        return None
    if wanted == "true":
        return facts.predicted if facts.truth is None else facts.truth
    return facts.predicted if isinstance(wanted, str) else wanted
