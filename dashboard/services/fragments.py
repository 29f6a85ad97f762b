"""Prototypes of molecules: real fragments as chemists draw them, and members as the molecules they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from dashboard.cache import Cache
from dashboard.services.pictures import picture_of, plain_colours
from dashboard.tasks import ClassRequest
from dashboard.tasks.subjects import load_data, load_graphs
from dashboard.view.palette import ELEMENTS, QUIET
from dashboard.view.picture import Panel, Picture
from explainer_core import Explanation, Graph, GraphSet, Prototype
from explainer_core.layout.molecule import bond_orders, molecule_layout
from explainer_core.prototypes import fragments as core
from explainer_core.prototypes.fragments import Fragment
from explainer_core.prototypes.member import Member

CHARGES = {-1: "⁻", 0: "", 1: "⁺"}

_FRAGMENTS: Cache[tuple["DrawnFragment", ...]] = Cache(128)


@dataclass(frozen=True)
class DrawnFragment:
    """A fragment as it is drawn, and how many of the members have it: in the kept part, and in the molecule at all."""

    fragment: Fragment
    picture: Picture
    panel: Panel
    members: int


def is_of_molecules(dataset: str) -> bool:
    return core.has_fragments(load_data(dataset))


def fragments(request: ClassRequest, prototype: Prototype) -> tuple[DrawnFragment, ...]:
    """What the members' kept parts share, that of most members first; none where they share too little."""

    def make() -> tuple[DrawnFragment, ...]:
        found = core.common_fragments(prototype, load_graphs(request.dataset))
        return tuple(_drawn(request.dataset, one, len(prototype.members)) for one in found)

    targets = tuple((member.target, tuple(member.explanation.subgraph().edges)) for member in prototype.members)
    return _FRAGMENTS.get_or_create((request.dataset, targets), make)


def kept_fragments(dataset: str, found: Sequence[DrawnFragment], explanation: Explanation) -> tuple[bool, ...]:
    """Of each fragment, whether this explanation keeps it too."""
    data = cast(GraphSet, load_data(dataset))
    return tuple(core.contains(explanation, data, one.fragment, data) for one in found)


def _drawn(dataset: str, fragment: Fragment, members: int) -> DrawnFragment:
    graph = load_graphs(dataset)[cast(int, fragment.target.index)]
    atoms, index = fragment.atoms, {atom: i for i, atom in enumerate(fragment.atoms)}
    where = molecule_layout(graph)[list(atoms)]
    where = where - (where.min(0) + where.max(0)) / 2
    order = dict(zip(map(tuple, graph.edge_index.t().tolist()), bond_orders(graph) or (), strict=True))
    charges = core.formal_charges(graph)
    names = [graph.node_name(atom) for atom in atoms]
    picture = Picture(
        nodes=atoms,
        x=tuple(where[:, 0].round(1).tolist()),
        y=tuple(where[:, 1].round(1).tolist()),
        colours=tuple(ELEMENTS.get(name, QUIET) for name in names),
        labels=tuple(
            # the partner of a charge may lie outside the fragment: the atom is charged all the same
            name + CHARGES[charges[atom]]
            for name, atom in zip(names, atoms, strict=True)
        ),
        tips=tuple(names),
        edges=tuple((index[a], index[b]) for a, b in fragment.bonds),
        bonds=tuple(order[bond] for bond in fragment.bonds),
    )
    everything = tuple(range(len(fragment.bonds)))
    panel = Panel("fragment", "", weights=(1.0,) * len(everything), kept=everything, kept_nodes=tuple(index.values()))
    return DrawnFragment(fragment, picture, panel, members)


def molecule_of_member(request: ClassRequest, member: Member) -> tuple[Picture, Panel]:
    """The whole molecule of a member, with what its explanation keeps."""
    number = cast(int, member.target.index)  # type: ignore[union-attr]
    graph = load_graphs(request.dataset)[number]
    pairs = _pairs(graph)
    nodes = list(range(graph.num_nodes))
    picture = picture_of(
        graph,
        nodes,
        pairs,
        colours=plain_colours(graph, nodes),
        tips=("",) * len(nodes),
        layout_key=("member", request.dataset, number),
    )
    kept = member.explanation.subgraph()
    inside = set(kept.edges)
    shown = tuple(i for i, pair in enumerate(pairs.tolist()) if tuple(pair) in inside)
    weights = tuple(1.0 if i in shown else 0.0 for i in range(len(pairs)))
    return picture, Panel("member", "", weights=weights, kept=shown, kept_nodes=tuple(kept.nodes))


def _pairs(graph: Graph) -> np.ndarray:
    """Bonds, smaller number first: (u, 2)."""
    return np.unique(np.sort(graph.edge_index.numpy().T, axis=1), axis=0).reshape(-1, 2)
