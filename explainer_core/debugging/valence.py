"""How many bonds an atom holds: an edited molecule must stay one that can be drawn."""

from collections.abc import Iterable

import torch
from torch import Tensor

from explainer_core.checks import InvalidValue
from explainer_core.graph import Graph

# In the bonds of the data, where a nitro group is drawn with a nitrogen of four.
MOST_BONDS = {"H": 1, "C": 4, "N": 4, "O": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1, "S": 6, "P": 5} | {
    "Na": 1,
    "K": 1,
    "Li": 1,
    "Ca": 2,
}
ORDERS = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.5}


def is_molecule(graph: Graph) -> bool:
    """Features are elements, and edges, where they have types, are bonds."""
    elements = len(graph.feature_names) > 1 and set(graph.feature_names) <= set(MOST_BONDS)
    return elements and graph.edge_types is not None and set(graph.edge_type_names) <= set(ORDERS)


def bonds_of(graph: Graph) -> Tensor:
    """How many bonds each atom of a molecule has, a double one as two: (N,)."""
    assert graph.edge_types is not None  # it is a molecule
    order = torch.tensor([ORDERS[name] for name in graph.edge_type_names])[graph.edge_types]  # (E,)
    return torch.zeros(graph.num_nodes).index_add_(0, graph.edge_index[1], order)


def possible_elements(graph: Graph) -> Tensor:
    """Which elements hold the bonds that each atom of a molecule has: (N, F) bool."""
    most = torch.tensor([float(MOST_BONDS[element]) for element in graph.feature_names])
    return bonds_of(graph)[:, None] <= most


def free_bonds(graph: Graph) -> Tensor:
    """How many more bonds each atom of a molecule holds: (N,)."""
    most = torch.tensor([float(MOST_BONDS[element]) for element in graph.feature_names])
    return most[graph.x.argmax(1)] - bonds_of(graph)


def no_more_strained(before: Graph, after: Graph) -> bool:
    """Whether no atom of an edited molecule, which has the same atoms, holds more than it may and more than it did."""
    over, was_over = -free_bonds(after), -free_bonds(before)
    return bool((over <= was_over.clamp(min=0)).all())


def check_valence(graph: Graph, atoms: Iterable[int], named: Iterable[int]) -> None:
    """Raises ValueError if one of these atoms has more bonds than its element holds; a graph that is no molecule has none.

    Each is named by its number before any edit.
    """
    if not is_molecule(graph):
        return
    bonds = bonds_of(graph)
    for atom, name in zip(map(int, atoms), named, strict=True):
        element = graph.feature_names[int(graph.x[atom].argmax())]
        if float(bonds[atom]) > (most := MOST_BONDS[element]):
            raise InvalidValue(
                f"an atom of {element} holds at most {most} bond{'' if most == 1 else 's'}",
                f"{float(bonds[atom]):g} at atom {name}",
                "cut one of its bonds first",
            )
