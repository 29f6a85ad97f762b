"""What if: edits of the graph of one target, what the network says then, and the picture with what was changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dashboard import jobs, tasks
from dashboard.cache import Cache
from dashboard.schema import AddEdge, CutEdge, DeleteNode, Edit, Flip, HideFeature, Request, SetFeature, SetType
from dashboard.services.answer import Answer, ask, explain, known_answer
from dashboard.services.explanations import Progress, ignore
from dashboard.services.pictures import Drawn, drawn
from dashboard.services.why_not import CLOSE
from dashboard.tasks.subjects import edited_graph, graph_of
from dashboard.view.palette import ELEMENTS, QUIET
from dashboard.view.picture import Panel
from explainer_core.debugging.valence import is_molecule

_ANSWERS: Cache[tuple[float, ...]] = Cache(512)
_FLIPS: Cache[Flip] = Cache(128)


@dataclass(frozen=True)
class Changed:
    """The drawing of an edited graph in the places of before, and which of its edges were cut and added."""

    drawing: Drawn
    cut: tuple[int, ...]
    added: tuple[int, ...]


@dataclass(frozen=True)
class NodeFacts:
    """What can be changed of one node: its features, those that are not zero first, or its type."""

    name: str
    values: tuple[tuple[int, str, float], ...]  # feature, name, value
    type: int | None  # of a node that has exactly one
    type_names: tuple[str, ...]
    is_target: bool


def ask_edited(request: Request, on_progress: Progress = ignore) -> tuple[float, ...]:
    """The probability of every class after the edits; raises ValueError with one sentence for edits that cannot be made."""
    plain = _plain(request)

    def make() -> tuple[float, ...]:
        return jobs.call(tasks.predict_edited, plain, key=plain, on_progress=on_progress)

    return _ANSWERS.get_or_create(plain, make)


def _plain(request: Request) -> Request:
    return Request(request.dataset, request.model, request.kind, request.target, edits=request.edits)


# One edit more, or one less


def toggled(request: Request, one: int, other: int) -> tuple[Edit, ...]:
    """The edits with the edge between two nodes cut, restored, added or taken away again."""
    graph, pair = graph_of(replace(request, edits=())), (min(one, other), max(one, other))
    if request.kind == "link" and set(pair) == set(request.ends):
        raise ValueError("the link that is asked about is hidden from the network already; choose another edge")
    ours = [each for each in request.edits if isinstance(each, CutEdge | AddEdge) and _pair(each) == pair]
    if ours:
        return tuple(each for each in request.edits if each not in ours)
    source, target = graph.edge_index.numpy()
    ways = [pair, pair[::-1]]
    joined = [way for way in ways if ((source == way[0]) & (target == way[1])).any()]
    return (*request.edits, CutEdge(*joined[0]) if joined else AddEdge(*pair))


def _pair(edit: CutEdge | AddEdge) -> tuple[int, int]:
    return min(edit.source, edit.target), max(edit.source, edit.target)


def with_feature(request: Request, node: int, feature: int, value: float | None) -> tuple[Edit, ...]:
    """The edits with a feature of a node hidden (None) or set."""
    kept = [each for each in request.edits if not _is_of(each, node, feature)]
    return (*kept, HideFeature(node, feature) if value is None else SetFeature(node, feature, value))


def _is_of(edit: Edit, node: int, feature: int) -> bool:
    return isinstance(edit, HideFeature | SetFeature) and (edit.node, edit.feature) == (node, feature)


def with_type(request: Request, node: int, kind: int) -> tuple[Edit, ...]:
    """The edits with a node made one of another type."""
    kept = [each for each in request.edits if not (isinstance(each, SetType) and each.node == node)]
    before = int(graph_of(replace(request, edits=())).x[node].argmax())
    return tuple(kept) if kind == before else (*kept, SetType(node, kind))


def without_node(request: Request, node: int) -> tuple[Edit, ...]:
    return (*request.edits, DeleteNode(node))


def node_facts(request: Request, node: int, most: int = 200) -> NodeFacts | None:
    """What can be changed of a node; None where it is not there any more."""
    edited = edited_graph(request) if request.edits else None
    graph = graph_of(request) if edited is None else edited.graph
    at = node if edited is None else int(np.searchsorted(edited.kept, node))
    if at >= graph.num_nodes or (edited is not None and edited.kept[at] != node):
        return None
    row = graph.x[at].numpy()
    order = np.argsort(-np.abs(row), kind="stable")[:most].tolist()
    names = list(graph.feature_names) or [f"feature {i}" for i in range(graph.num_features)]
    one_type = is_molecule(graph) and int((row != 0).sum()) == 1
    ends = {"node": (request.target,), "link": request.target}.get(request.kind, ())
    return NodeFacts(
        name=f"{graph.node_name(at)} (atom {node})" if is_molecule(graph) else f"node {node}",
        values=tuple((int(i), str(names[i]), float(row[i])) for i in order),
        type=int(row.argmax()) if one_type else None,
        type_names=tuple(names) if one_type else (),
        is_target=node in ends,
    )


def names_in(request: Request) -> tuple[Callable[[int], str], Callable[[int], str]]:
    """What nodes and features are called in a sentence."""
    graph = graph_of(replace(request, edits=()))

    def node(number: int) -> str:
        if not 0 <= number < graph.num_nodes or not graph.node_names:
            return str(number)
        return f"{graph.node_name(number)} {number}" if is_molecule(graph) else graph.node_name(number)

    names = graph.feature_names
    return node, lambda number: names[number] if number < len(names) else f"feature {number}"


def has_features_to_change(request: Request) -> bool:
    return graph_of(replace(request, edits=())).features_vary


def has_types(request: Request) -> bool:
    """Whether nodes are atoms, which can be changed and deleted."""
    return is_molecule(graph_of(replace(request, edits=())))


# The picture


def changed_drawing(request: Request) -> Changed:
    """The unedited drawing with what was cut and added marked; nothing else moves."""
    base = drawn(replace(request, edits=()), near=CLOSE)
    picture, index = base.picture, {node: i for i, node in enumerate(base.picture.nodes)}
    deleted = {each.node for each in request.edits if isinstance(each, DeleteNode)}
    cut = {_pair(each) for each in request.edits if isinstance(each, CutEdge)}
    new = [_pair(each) for each in request.edits if isinstance(each, AddEdge) and not deleted & set(_pair(each))]
    new = [pair for pair in new if pair[0] in index and pair[1] in index]
    gone = tuple(i for i, pair in enumerate(base.pairs) if pair in cut or deleted & set(pair))
    added = tuple(range(len(picture.edges), len(picture.edges) + len(new)))
    labels, colours = list(picture.labels), list(picture.colours)
    for edit in request.edits:
        if isinstance(edit, SetType) and edit.node in index:
            name = graph_of(replace(request, edits=())).feature_names[edit.type]
            labels[index[edit.node]], colours[index[edit.node]] = name, ELEMENTS.get(name, QUIET)
    for node in deleted & set(index):
        labels[index[node]] = "–" if picture.bonds else labels[index[node]]
    picture = replace(
        picture,
        edges=(*picture.edges, *((index[a], index[b]) for a, b in new)),
        bonds=(*picture.bonds, *(1 for _ in new)) if picture.bonds else (),
        labels=tuple(labels),
        colours=tuple(colours),
    )
    shown = np.concatenate([base.shown, np.full(len(new), -1, dtype=base.shown.dtype)])
    return Changed(replace(base, picture=picture, shown=shown), gone, added)


def edited_panel(changed: Changed, title: str, lines: Sequence[str]) -> Panel:
    return Panel("what_if", title, tuple(lines), cut=changed.cut, added=changed.added)


# Explained again, and the smallest change


def explain_edited(request: Request, on_progress: Progress = ignore) -> Answer:
    """The explanation of the edited graph."""
    question = ask(request, near=CLOSE)
    return known_answer(question) or explain(question, on_progress)


def kept_after(request: Request, answer: Answer) -> tuple[set[tuple[int, int]], set[int]]:
    """The edges and nodes that the edited graph's explanation keeps, in the numbers of before the edits."""
    before, part = edited_graph(request).kept, answer.explanation.subgraph()
    pairs = [(int(before[a]), int(before[b])) for a, b in part.edges]
    return {(min(pair), max(pair)) for pair in pairs}, {int(before[node]) for node in part.nodes}


def explained_panel(request: Request, answer: Answer, changed: Changed, title: str, lines: Sequence[str]) -> Panel:
    edges, nodes = kept_after(request, answer)
    pairs, picture = changed.drawing.pairs, changed.drawing.picture
    kept = tuple(i for i, pair in enumerate(pairs) if pair in edges)
    return Panel(
        "again",
        title,
        tuple(lines),
        weights=tuple(1.0 if i in set(kept) else 0.0 for i in range(len(pairs))),
        kept=kept,
        kept_nodes=tuple(i for i, node in enumerate(picture.nodes) if node in nodes),
        cut=changed.cut,
        added=changed.added,
    )


def known_flip(request: Request, kinds: tuple[str, ...], to: int | None) -> Flip | None:
    return _FLIPS.get((_plain(replace(request, edits=())), kinds, to))


def find_flip(request: Request, kinds: tuple[str, ...], to: int | None, on_progress: Progress = ignore) -> Flip:
    """The smallest change of the unedited graph that flips the prediction."""
    plain = _plain(replace(request, edits=()))
    key = (plain, kinds, to)
    return _FLIPS.put(key, jobs.call(tasks.find_flip, plain, kinds, to, key=key, long=True, on_progress=on_progress))
