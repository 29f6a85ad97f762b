"""Prototypes: one picture for a whole class, and its members drawn in the same places."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

import explainer_core as xc
from dashboard import jobs, tasks
from dashboard.cache import Cache
from dashboard.jobs import Priority
from dashboard.schema import Request
from dashboard.services.browse import links
from dashboard.services.costs import check_class
from dashboard.services.fragments import fragments, is_of_molecules, molecule_of_member
from dashboard.services.predict import all_predictions, class_colours, target_name
from dashboard.tasks import ClassRequest, usual_request
from dashboard.tasks.subjects import load_data, network
from dashboard.view.palette import QUIET
from dashboard.view.picture import Panel, Picture, Thumbnail
from dashboard.view.svg import thumbnail
from explainer_core import Explanation, Graph, Prototype
from explainer_core.layout.graph import neighbourhood_layout
from explainer_core.prototypes.joining import compare
from explainer_core.prototypes.member import Member
from explainer_core.prototypes.request import members_of_class
from explainer_core.targets import Target

LEAST_AGREEMENT = 0.15  # edges that fewer members have are not drawn
STRAY = 32.0  # pixels between a node without a role and the node it hangs on

_PROTOTYPES: Cache[Prototype] = Cache(32)
_PICTURES: Cache[tuple[Picture, Panel]] = Cache(64)


def found_prototype(request: ClassRequest) -> Prototype | None:
    """The prototype that ships with the weights, or one that was made since the server started."""
    shipped = tasks.stored_prototypes(request).get(request.label)
    return _PROTOTYPES.get(request) if shipped is None else shipped


def make_prototype(request: ClassRequest, on_progress: Callable[[object], None]) -> Prototype:
    """Explains and aligns the members; `on_progress` may raise to stop.

    Raises ValueError for a class without members, and RunRefused where so many cannot be explained.
    """
    pairs = targets_of_class(request)
    check_class(request, [_target_of(target) for target in pairs or _members(request)])
    made = jobs.call(
        tasks.make_prototype,
        request,
        pairs,
        key=request,
        priority=Priority.BELOW,
        long=True,
        on_progress=on_progress,
    )
    return _PROTOTYPES.put(request, made)


def targets_of_class(request: ClassRequest) -> list[xc.Link] | None:
    """The pairs of a class of links; None where the core itself finds the members."""
    return _links_of_class(request) if network(request.dataset, request.model).task == "link" else None


def _members(request: ClassRequest) -> list[Target]:
    """The nodes or graphs of the class, as the core itself finds them."""
    predicted, data = all_predictions(request.dataset, request.model), load_data(request.dataset)
    return members_of_class(predicted, data, request.label, network(request.dataset, request.model).task)


def _links_of_class(request: ClassRequest) -> list[xc.Link]:
    """Pairs the network puts into the class, rightly."""
    table = links(request.dataset, request.model)
    right = table[(table["joined"] == bool(request.label)) & ((table["score"] > 0.5) == bool(request.label))]
    if right.empty:
        raise ValueError(f"a class needs at least one pair the network gets right (got none for class {request.label})")
    return [xc.Link(a, b) for a, b in zip(right["source"].tolist(), right["head"].tolist(), strict=True)]


def prototype_of_class(seen: Sequence[ClassRequest], request: Request, label: int) -> Prototype | None:
    """The class's prototype to lay beside one of its members: what ships, else the last one that this visitor has seen."""
    shipped = tasks.stored_prototypes(usual_request(request.dataset, request.model, label)).get(label)
    if shipped is not None:
        return shipped
    wanted = (request.dataset, request.model, label)
    kept = [_PROTOTYPES.get(asked) for asked in seen if (asked.dataset, asked.model, asked.label) == wanted]
    return next((each for each in reversed(kept) if each is not None), None)


def beside_prototype(prototype: Prototype, request: Request, explanation: Explanation) -> tuple[float, int, int]:
    """How alike the two pictures are: the share of edges they have in common, and how many are missing here or extra.

    Of what is drawn, G_S and the prototype's cut; the alignment itself looks at more.
    """
    member = compare(prototype, explanation, load_data(request.dataset))
    role = {node: i for i, node in enumerate(member.nodes) if node is not None}
    kept = [tuple(sorted((role.get(a, -1 - a), role.get(b, -1 - b)))) for a, b in explanation.subgraph().edges]
    here, there = set(kept), set(prototype.cut().edges)
    return len(here & there) / max(1, len(here | there)), len(there - here), len(here - there)


def with_label(request: ClassRequest, label: int) -> ClassRequest:
    return replace(request, label=label)


def prototype_features(request: ClassRequest, prototype: Prototype) -> tuple[str, ...]:
    """The names of the features that matter most to the class; none where all nodes have the same."""
    data = load_data(request.dataset)
    return tuple(data.feature_names[i] for i in prototype.top_features(3)) if data.features_vary else ()


# Drawing


def class_cards(request: ClassRequest, names: Sequence[str]) -> tuple[Thumbnail, ...]:
    """The prototypes of all classes that are made already, as small pictures."""
    cards = []
    for label, name in enumerate(names):
        asked = with_label(request, label)
        prototype = found_prototype(asked)
        if prototype is not None:
            cards.append(Thumbnail(label, name, *_small(asked, prototype)))
    return tuple(cards)


def _small(request: ClassRequest, prototype: Prototype) -> tuple[str, str]:
    """A note and a small picture; of molecules that share no fragment, the most typical one."""
    count = f"{len(prototype.members)} members"
    if not is_of_molecules(request.dataset):
        return count, thumbnail(*prototype_picture(request, prototype))
    first = next(iter(fragments(request, prototype)), None)
    if first is None:
        return f"{count}, no shared fragment", thumbnail(*molecule_of_member(request, prototype.reference_member))
    return f"in {len(first.fragment.members)} of {count}", thumbnail(first.picture, first.panel)


def titled(panel: Panel, title: str, lines: Sequence[str]) -> Panel:
    return replace(panel, title=title, lines=tuple(lines))


def prototype_picture(request: ClassRequest, prototype: Prototype) -> tuple[Picture, Panel]:
    """The roles as nodes; the width of an edge is the share of the members that have it."""
    key = (request.dataset, request.model, prototype)  # it is beside every member of its class
    return _PICTURES.get_or_create(key, lambda: _picture(request, prototype))


def _picture(request: ClassRequest, prototype: Prototype) -> tuple[Picture, Panel]:
    pairs = np.argwhere(np.triu(prototype.agreement >= LEAST_AGREEMENT, 1))
    cut = prototype.cut()
    roles = sorted({*prototype.roots, *cut.nodes, *pairs.ravel().tolist()}) or [0]
    index = {role: i for i, role in enumerate(roles)}
    edges = tuple((index[a], index[b]) for a, b in pairs.tolist())
    where = neighbourhood_layout(
        len(roles), np.array(edges, dtype=int).reshape(-1, 2), [index[r] for r in prototype.roots]
    )
    colours, labels = zip(*(_role_looks(request, prototype, role) for role in roles), strict=True)
    named = tuple(label if role in cut.nodes else "" for role, label in zip(roles, labels, strict=True))
    picture = Picture(
        nodes=tuple(roles),
        x=tuple(where[:, 0].round(1).tolist()),
        y=tuple(where[:, 1].round(1).tolist()),
        colours=colours,
        labels=named,
        tips=tuple(_role_tip(prototype, role, label) for role, label in zip(roles, labels, strict=True)),
        edges=edges,
        targets=tuple(index[role] for role in prototype.roots),
    )
    position = {tuple(pair): i for i, pair in enumerate(pairs.tolist())}
    panel = Panel(
        name="prototype",
        title="",
        weights=tuple(prototype.agreement[a, b].round(3).item() for a, b in pairs.tolist()),
        kept=tuple(position[edge] for edge in cut.edges if edge in position),
        kept_nodes=tuple(index[role] for role in cut.nodes if role in index),
    )
    return picture, panel


def _role_looks(request: ClassRequest, prototype: Prototype, role: int) -> tuple[str, str]:
    """Colour and label of a role: the predicted class that most members have there."""
    graphs = [(member, node) for member in prototype.members if (node := member.nodes[role]) is not None]
    if not graphs:
        return QUIET, ""
    if isinstance(load_data(request.dataset), Graph) and network(request.dataset, request.model).task == "node":
        predicted = all_predictions(request.dataset, request.model).predicted[[node for _, node in graphs]].tolist()
        label = int(max(set(predicted), key=predicted.count))
        return class_colours(request.dataset)[label], load_data(request.dataset).class_names[label]
    return QUIET, ""


def _role_tip(prototype: Prototype, role: int, label: str) -> str:
    first = "the target" if role in prototype.roots else f"role {role}"
    share = f"{100 * prototype.presence[role]:.0f} % of the members have it"
    return "\n".join([first, *([f"mostly {label}"] if label else []), share])


def member_cards(request: ClassRequest, prototype: Prototype) -> tuple[Thumbnail, ...]:
    """The members as small pictures, those least like the prototype first.

    They stand in the prototype's places; molecules as they are, and first those that keep none of its fragments.
    """
    if is_of_molecules(request.dataset):
        return _molecule_cards(request, prototype)
    picture, _ = prototype_picture(request, prototype)
    where = {role: (picture.x[i], picture.y[i]) for i, role in enumerate(picture.nodes)}
    cards = []
    for number, member in enumerate(prototype.outliers):
        note = f"{100 * (1 - member.distance):.0f} % like it"
        name = target_name(request.one(_target_of(member.target)))
        cards.append(Thumbnail(number, name, note, thumbnail(*_member_picture(request, member, where))))
    return tuple(cards)


def _molecule_cards(request: ClassRequest, prototype: Prototype) -> tuple[Thumbnail, ...]:
    found = fragments(request, prototype)
    having = {id(prototype.members[i]): 0 for one in found for i in one.fragment.members}
    for one in found:
        for i in one.fragment.members:
            having[id(prototype.members[i])] += 1
    cards = []
    for number, member in enumerate(prototype.outliers):
        count = having.get(id(member), 0)
        note = f"keeps {count} of {len(found)}" if found else ""
        name = target_name(request.one(_target_of(member.target)))
        cards.append((count, Thumbnail(number, name, note, thumbnail(*molecule_of_member(request, member)))))
    return tuple(card for _, card in sorted(cards, key=lambda each: each[0]))


def member_query_params(request: ClassRequest, prototype: Prototype, number: int) -> dict[str, str]:
    """The query parameters with which the Explain page opens a member."""
    target = prototype.outliers[number].target
    where = {"source": target.source, "head": target.head} if isinstance(target, xc.Link) else {
        "node" if isinstance(target, xc.Node) else "graph": _target_of(target)
    }  # fmt: skip
    config = {"k_m": request.config.k_m, "k_m_unit": request.config.k_m_unit}
    # the browser's way back leads to the same query parameters on the Prototypes page, which needs the class
    back = {"label": request.label, "instances": request.instances}
    values = {"dataset": request.dataset, "model": request.model, **where, **config, **back}
    return {key: str(value) for key, value in values.items()}


def _target_of(target: Target) -> int | tuple[int, int]:
    if isinstance(target, xc.Link):
        return target.source, target.head
    # a member comes from a set of graphs, where each has its number
    return target.node if isinstance(target, xc.Node) else cast(int, target.index)


def _member_picture(
    request: ClassRequest, member: Member, where: dict[int, tuple[float, float]]
) -> tuple[Picture, Panel]:
    """A member with its nodes where their roles are; nodes without a role hang beside their neighbours."""
    at = {node: where[role] for role, node in enumerate(member.nodes) if node is not None and role in where}
    for _ in range(len(member.edges)):
        for a, b in member.edges:
            for known, new in ((a, b), (b, a)):
                if known in at and new not in at:
                    turn = 2.4 * len(at)  # radians: strays of one node fan out instead of lying on each other
                    at[new] = (at[known][0] + STRAY * np.cos(turn), at[known][1] + STRAY * np.sin(turn))
    nodes = sorted(at)
    index = {node: i for i, node in enumerate(nodes)}
    edges = [(a, b) for a, b in member.edges if a in index and b in index]
    colours = (QUIET,) * len(nodes)
    if isinstance(load_data(request.dataset), Graph) and network(request.dataset, request.model).task == "node":
        predicted = all_predictions(request.dataset, request.model).predicted
        colours = tuple(class_colours(request.dataset)[predicted[node]] for node in nodes)
    picture = Picture(
        nodes=tuple(nodes),
        x=tuple(round(float(at[node][0]), 1) for node in nodes),
        y=tuple(round(float(at[node][1]), 1) for node in nodes),
        colours=colours,
        labels=("",) * len(nodes),
        tips=("",) * len(nodes),
        edges=tuple((index[a], index[b]) for a, b in edges),
        targets=tuple(index[root] for root in member.explanation.roots if root in index),
    )
    extra = set(member.extra)
    shared = tuple(i for i, edge in enumerate(edges) if edge not in extra)
    ends = tuple(sorted({end for i in shared for end in picture.edges[i]}))
    return picture, Panel("member", "", weights=(1.0,) * len(edges), kept=shared, kept_nodes=ends)
