"""Prototypes kept beside the weights they were made with: read where weights and request are the same, and checked.

A file holds numbers of nodes and edges and what was computed for them. Features belong to the data, and are looked up there.
"""

import gzip
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from explainer_core.computation.batches import check_targets
from explainer_core.config import ExplainConfig
from explainer_core.explanation.result import Explanation
from explainer_core.graph import Graph, GraphSet
from explainer_core.prototypes.joining import role_profile
from explainer_core.prototypes.member import Member
from explainer_core.prototypes.parts import Part, feature_scale
from explainer_core.prototypes.prototype import Prototype
from explainer_core.targets import WholeGraph
from explainer_core.zoo.pretrained import Card, write_atomically
from explainer_core.zoo.shipped import FOLDER

FORMAT = 1  # another where the same request would give another prototype, or the file looks different
MAX_FILE_BYTES, MAX_TEXT_BYTES = 2_000_000, 40_000_000
DIGITS = 5  # of weights of edges, which a picture shows two of; what an alignment rests on stays to the last bit
DERIVED = ("agreement", "mean", "median", "presence")  # follow from the members, and are worked out again


class StoredError(ValueError):
    """A file that is broken, or that is not about this data set."""


def stored_file(card: Card, folder: Path = FOLDER) -> Path:
    return folder / f"{card.name}.prototypes.json.gz"


def stored_key(card: Card, instances: int, config: ExplainConfig) -> str:
    """Another for other weights, another network and another request."""
    asked = [FORMAT, card.dataset, card.sha256, card.architecture, instances, config.to_dict()]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def save_prototypes(
    made: Mapping[int, Prototype], card: Card, instances: int, config: ExplainConfig, folder: Path = FOLDER
) -> Path:
    """Writes the prototypes of a network's classes, by their labels. The same prototypes give the same bytes."""
    written = {str(label): _plain(prototype) for label, prototype in made.items()}
    text = json.dumps({"key": stored_key(card, instances, config), "prototypes": written}, separators=(",", ":"))
    path = stored_file(card, folder)
    write_atomically(path, gzip.compress(text.encode(), mtime=0))
    return path


def read_prototypes(
    card: Card, data: Graph | GraphSet, instances: int, config: ExplainConfig, folder: Path = FOLDER
) -> dict[int, Prototype]:
    """The prototypes by class; none where there is no file for these weights and this request.

    Raises StoredError for a file that cannot be believed.
    """
    path = stored_file(card, folder)
    if not path.is_file():
        return {}
    try:
        values = json.loads(_text(path))
        if values["key"] != stored_key(card, instances, config):
            return {}
        read = {int(label): Prototype.from_json(json.dumps(one)) for label, one in values["prototypes"].items()}
        for label, prototype in read.items():
            if prototype.label != label:
                raise ValueError(f"a prototype must be of its own class (got {prototype.label} for {label})")
            for member in prototype.members:
                _check_against(member.explanation, data)
        return {label: _with_features(prototype, data) for label, prototype in read.items()}
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
        OSError,
    ) as error:
        raise StoredError(
            f"{path.name} must hold prototypes as they were written ({type(error).__name__}: {error!s:.200}); "
            "restore it, or run: graph-explainer prototypes"
        ) from error


def compact(prototype: Prototype) -> Prototype:
    """The same members and shapes, without what no picture of a prototype shows."""
    small = {id(member.explanation): _compact_explanation(member) for member in prototype.members}

    def lighter(one: Prototype) -> Prototype:
        members = tuple(
            replace(member, explanation=small[id(member.explanation)], weights=_rounded(member.weights))
            for member in one.members
        )
        clusters = tuple(lighter(cluster) for cluster in one.clusters)
        return replace(one, members=members, clusters=clusters, features=None, feature_scale=None)

    return lighter(prototype)


def _compact_explanation(member: Member) -> Explanation:
    """The edges that were aligned and those of G_S, with their nodes."""
    full = member.explanation
    wanted = {*member.edges, *full.subgraph().edges}
    inside = np.array([tuple(pair) in wanted for pair in full.pairs.tolist()], dtype=bool)
    edges = inside[full.pair_numbers] if len(full.pairs) else np.zeros(0, dtype=bool)
    ends = {*full.roots, *(node for pair in wanted for node in pair), *(n for n in member.nodes if n is not None)}
    nodes = np.isin(full.nodes, sorted(ends))
    judged = full.judged(full.size) if full.table else None
    small = replace(
        full,
        edge_index=full.edge_index[:, edges],
        edge_ids=full.edge_ids[edges],
        edge_weight=full.edge_weight[edges].round(DIGITS),
        edge_part=full.edge_part[edges],
        nodes=full.nodes[nodes],
        hop=full.hop[nodes],
        probabilities=_rounded(full.probabilities),
        masked_probabilities=None,
        table=() if judged is None else (judged,),
        **dict.fromkeys(("verdict", "feature_mask", "feature_absent", "edge_spread", "seed_weights")),
        history={},
        snapshots=(),
    )
    if set(small.subgraph().edges) != set(full.subgraph().edges):
        raise ValueError(f"G_S must stay what it was (got another for {full.target}); nothing was written")
    return small


def _rounded(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(value, DIGITS) for value in values)


def _plain(prototype: Prototype) -> dict:
    values = json.loads(compact(prototype).to_json())
    for explanation in values["explanations"]:
        del explanation["edge_score"]
    for one in (values["prototype"], *values["prototype"]["clusters"]):
        for name in DERIVED:
            del one[name]
    return values


def _text(path: Path) -> str:
    """What is in the file; one that unpacks to more than any honest one is not read to its end."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"a file must be at most {MAX_FILE_BYTES:,} bytes (got {path.stat().st_size:,})")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(path.read_bytes())) as packed:
            text = packed.read(MAX_TEXT_BYTES + 1)
    except EOFError as error:
        raise ValueError("the file must be whole (got a part of it)") from error
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError(f"a file must unpack to at most {MAX_TEXT_BYTES:,} bytes (got more)")
    return text.decode()


def _check_against(explanation: Explanation, data: Graph | GraphSet) -> None:
    """Its target, its nodes and its edges are those of the data."""
    check_targets(data, [explanation.target])
    graph = data
    if isinstance(data, GraphSet):
        if not isinstance(explanation.target, WholeGraph) or explanation.target.index is None:
            raise ValueError(f"a member of a set of graphs must be one of them (got {explanation.target})")
        graph = data[explanation.target.index]
    assert isinstance(graph, Graph)
    ids = torch.from_numpy(explanation.edge_ids)
    if len(ids) and int(ids.max()) >= graph.num_edges:
        raise ValueError(f"edges must be below {graph.num_edges} (got {int(ids.max())})")
    if not np.array_equal(graph.edge_index[:, ids].numpy(), explanation.edge_index):
        raise ValueError(f"edges must be those of the data (got others for {explanation.target})")
    if len(explanation.nodes) and int(explanation.nodes.max()) >= graph.num_nodes:
        raise ValueError(f"nodes must be below {graph.num_nodes} (got {int(explanation.nodes.max())})")


def _with_features(prototype: Prototype, data: Graph | GraphSet) -> Prototype:
    """The prototype with the features of its roles, as they follow from the data."""
    parts = {id(m.explanation): Part.from_edges(m.explanation, m.edges, m.weights, data) for m in prototype.members}
    scale = feature_scale(list(parts.values()))
    if scale is None:
        return prototype

    def filled(one: Prototype) -> Prototype:
        own = [parts[id(member.explanation)] for member in one.members]
        found = []
        for member, part in zip(one.members, own, strict=True):
            index = {node: i for i, node in enumerate(part.nodes)}
            found.append(np.array([-1 if node is None else index[node] for node in member.nodes]))
        features = role_profile([part.values for part in own], found)
        clusters = tuple(filled(cluster) for cluster in one.clusters)
        return replace(one, features=features, feature_scale=scale, clusters=clusters)

    return filled(prototype)
