"""What a visitor brings: their files read and previewed, kept for them alone, and networks for it, trained or brought."""

import hashlib
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dashboard import catalogue, jobs, tasks
from dashboard.catalogue import own
from dashboard.catalogue.entry import weights_name
from dashboard.limits import MB
from dashboard.private_folder import private_folder
from dashboard.schema import Card
from dashboard.services.catalogue import DatasetFacts, DatasetInfo, facts_of
from dashboard.services.pictures import picture_of
from dashboard.tasks import FileRefused
from dashboard.tasks.subjects import load_data
from dashboard.view import palette
from dashboard.view.picture import Picture
from explainer_core import Graph, GraphSet
from explainer_core.datasets.splits import has_own_split
from explainer_core.files import (
    FORMATS,
    MAX_BYTES,
    MAX_EDGES,
    MAX_FEATURES,
    MAX_MOLECULES,
    MAX_NODES,
    Format,
    Options,
    SentFile,
)
from explainer_core.files.examples import example_files
from explainer_core.graph import NO_LABEL
from explainer_core.models import ModelSpec
from explainer_core.zoo.own_data import kinds_for, plan, tasks_for
from explainer_core.zoo.pretrained import read_weights

LIMITS = (
    f"At most {MAX_BYTES // MB} MB a file, {MAX_NODES:,} nodes, {MAX_EDGES:,} edges and {MAX_FEATURES:,} features, "
    f"or {MAX_MOLECULES:,} molecules."
)
DRAWN = 120  # nodes of the small picture
SHOWN_GRAPHS = 4
SHOWN_ROWS = 5
SHOWN_FEATURES = 5
LONGEST_TITLE = 60


@dataclass(frozen=True)
class Upload:
    """Files as they were understood, not yet kept."""

    data: Graph | GraphSet
    facts: DatasetFacts
    unknown: int  # nodes or graphs without a class
    has_split: bool
    fields: tuple[str, ...]
    label_field: str
    notes: tuple[str, ...]
    left_out: tuple[str, ...]  # lines that could not be read, a reason each
    python: str  # an expression that reads the same
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first nodes or graphs, as they were read


def formats() -> dict[str, Format]:
    return FORMATS


def examples(format: str) -> tuple[SentFile, ...]:
    return example_files(format)


def read_upload(format: str, files: tuple[SentFile | None, ...], options: Options) -> Upload | FileRefused:
    """In a worker, where a file that takes too long or too much is ended. Raises RunRefused then."""
    found = jobs.call(tasks.read_upload, format, files, options, key=(format, files, options))
    if isinstance(found, FileRefused):
        return found
    data = found.data
    labels = None if data.labels is None else data.labels.numpy()
    heading, rows = _first_graphs(data) if isinstance(data, GraphSet) else _first_nodes(data)
    return Upload(
        data,
        facts_of(data),
        0 if labels is None else int((labels == NO_LABEL).sum()),
        has_own_split(data),
        found.fields,
        found.label_field,
        found.notes,
        found.left_out,
        _python_of(format, files, options),
        heading,
        rows,
    )


def _python_of(format: str, files: tuple[SentFile | None, ...], options: Options) -> str:
    names = [file.name for file in files if file is not None]
    changed = [each for each in fields(options) if getattr(options, each.name) != each.default]
    settings = "".join(f", {each.name}={getattr(options, each.name)!r}" for each in changed)
    return f"xc.read_files({format!r}, {names!r}{settings}).data  # your own files"


def _first_nodes(graph: Graph) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    features = graph.feature_names[:SHOWN_FEATURES]
    shown = range(min(SHOWN_ROWS, graph.num_nodes))
    rows = [
        (graph.node_name(i), _class(graph, i), *(f"{value:.4g}" for value in graph.x[i, : len(features)].tolist()))
        for i in shown
    ]
    return ("Node", "Class", *features), tuple(rows)


def _first_graphs(graphs: GraphSet) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    some = [graphs[i] for i in range(min(SHOWN_ROWS, len(graphs)))]
    rows = [
        (graph.name, _class(graphs, i), f"{graph.num_nodes:,}", f"{graph.num_edges // 2:,}")
        for i, graph in enumerate(some)
    ]
    return ("Molecule", "Class", "Atoms", "Bonds"), tuple(rows)


def _class(data: Graph | GraphSet, index: int) -> str:
    label = NO_LABEL if data.labels is None else int(data.labels[index])
    return "" if label == NO_LABEL else data.class_names[label]


def small_pictures(upload: Upload) -> tuple[tuple[str, Picture], ...]:
    """Titles and pictures: a few molecules, or the surroundings of the best-joined node."""
    if isinstance(upload.data, GraphSet):
        some = [upload.data[i] for i in range(min(SHOWN_GRAPHS, len(upload.data)))]
        return tuple((graph.name, _picture(graph, list(range(graph.num_nodes)))) for graph in some)
    nodes = _around_the_middle(upload.data)
    whole = len(nodes) == upload.data.num_nodes
    return (
        ("" if whole else f"{len(nodes):,} nodes around the one with most neighbours", _picture(upload.data, nodes)),
    )


def _around_the_middle(graph: Graph) -> list[int]:
    if graph.num_nodes <= DRAWN:
        return list(range(graph.num_nodes))
    ends = graph.edge_index.numpy()
    found = [int(np.bincount(ends.ravel(), minlength=graph.num_nodes).argmax())]
    known = set(found)
    while len(found) < DRAWN:
        touched = np.isin(ends, found)
        new = [node for node in np.unique(ends[touched[::-1]]).tolist() if node not in known]
        if not new:
            break
        found += new[: DRAWN - len(found)]
        known.update(new)
    return found


def _picture(graph: Graph, nodes: list[int]) -> Picture:
    ends = np.sort(graph.edge_index.numpy().T, axis=1)
    pairs = np.unique(ends[(ends[:, 0] != ends[:, 1]) & np.isin(ends, nodes).all(1)], axis=0)
    key = ("preview", hashlib.sha256(graph.edge_index.numpy().tobytes()).hexdigest(), tuple(nodes))
    return picture_of(
        graph,
        nodes,
        pairs,
        colours=_colours(graph, nodes),
        tips=tuple(graph.node_name(node) for node in nodes),
        layout_key=key,
    )


def _colours(graph: Graph, nodes: list[int]) -> tuple[str, ...]:
    if graph.labels is None:
        return tuple(palette.ELEMENTS.get(graph.node_name(node), palette.QUIET) for node in nodes)
    colours = (*palette.class_colours([False] * graph.num_classes, graph.class_names), palette.QUIET)
    return tuple(colours[label] for label in graph.labels[nodes].tolist())


# What is kept


def keep(upload: Upload, title: str) -> str:
    """The name that the data goes by from now on. Raises ValueError where there is no room."""
    title = " ".join(title.split())[:LONGEST_TITLE] or "My graph"
    possible = tasks_for(upload.data)
    summary = f"Brought by you: {_size(upload.facts)}."
    task = possible[0] if possible else None
    return own.add(visitor_token(), title, upload.data, task=task, summary=summary, python=upload.python)


def _size(facts: DatasetFacts) -> str:
    if facts.graphs > 1:
        return f"{facts.graphs:,} graphs of {facts.nodes:,} nodes in all"
    return f"{facts.nodes:,} nodes and {facts.edges:,} edges"


def own_datasets() -> dict[str, DatasetInfo]:
    """What this visitor brought, the last one first."""
    return {entry.info.name: entry.info for entry in reversed(own.of(visitor_token()))}


def own_networks(dataset: str) -> list[Card]:
    return [card for entry in own.of(visitor_token()) if entry.info.name == dataset for card in entry.cards]


def drop(dataset: str) -> None:
    own.drop(visitor_token(), dataset)


def drop_network(card: Card) -> None:
    own.drop_network(visitor_token(), card.dataset, card.model)


def visitor_token() -> str:
    """Of the visitor who asks."""
    token = catalogue.token()
    if token is None:
        raise RuntimeError("whoever brings data must have a token (got none); connect the page first")
    return token


# Networks


def tasks_of(dataset: str) -> tuple[str, ...]:
    return tasks_for(load_data(dataset))


def kinds_of(dataset: str) -> tuple[str, ...]:
    return kinds_for(load_data(dataset))


def sizes_of_weights(data: bytes) -> dict[str, Any]:
    """What the shapes tell of the network; raises ValueError for what is no safetensors file."""
    return jobs.call(tasks.sizes_of_weights, data, key=data)


def usual_spec(dataset: str, found: dict[str, Any]) -> dict[str, Any]:
    """All fields of a network as a form offers them: what the weights tell, else what a training here would take."""
    data, possible = load_data(dataset), tasks_of(dataset)
    task = found.get("task") if found.get("task") in possible else (possible or ("node",))[0]
    kind = found.get("kind") if found.get("kind") in kinds_of(dataset) else "gcn"
    usual = plan(data, str(task), str(kind)).spec if possible else ModelSpec(str(kind), "node", data.num_features, 2)
    classes = usual.num_classes if task == "link" or not data.num_classes else data.num_classes
    return usual.to_dict() | found | {"in_features": data.num_features, "num_classes": classes}


def add_weights(dataset: str, data: bytes, fields: dict[str, Any]) -> str:
    """Raises ValueError with one sentence on the first tensor that does not fit."""
    key = (dataset, data, tuple(sorted(fields.items())))
    card, weights = jobs.call(tasks.take_weights, dataset, data, fields, key=key)
    return own.add_network(visitor_token(), dataset, card, weights)


def weights_file(card: Card) -> SentFile:
    """The weights of one of this visitor's networks, as safetensors."""
    return SentFile(weights_name(card), read_weights(card, private_folder() / card.dataset))
