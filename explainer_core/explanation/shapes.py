"""The name of a kept part where it is a shape that people have a word for: a house, a ring, a nitro group. Else none."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import networkx as nx
from networkx.algorithms.isomorphism import categorical_node_match

Edges = Sequence[tuple[int, int]]
HALOGENS = {"F": "fluorine", "Cl": "chlorine", "Br": "bromine", "I": "iodine"}
LARGEST = 40  # nodes; nobody has a word for more


def _graph(edges: Edges) -> "nx.Graph[Any]":
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edges_from(edges)
    return graph


def _pattern(atoms: str, bonds: Edges) -> "nx.Graph[Any]":
    graph = _graph(bonds)
    nx.set_node_attributes(graph, dict(enumerate(atoms.split())), "atom")
    return graph


# Atoms and bonds of functional groups; atom 0 is where the rest of the molecule hangs.
GROUPS = (
    ("nitro group", _pattern("N O O", [(0, 1), (0, 2)])),
    ("carboxyl group", _pattern("C O O H", [(0, 1), (0, 2), (2, 3)])),
    ("amino group", _pattern("N H H", [(0, 1), (0, 2)])),
    ("hydroxyl group", _pattern("O H", [(0, 1)])),
    ("methyl group", _pattern("C H H H", [(0, 1), (0, 2), (0, 3)])),
)
HOUSE = _graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])


def shape_of(edges: Edges) -> str | None:
    """The word for the graph of these edges, whatever its nodes are. Each edge is given once."""
    degree = Counter(node for edge in edges for node in edge)
    size = len(degree)
    pattern = _pattern_of(size, sorted(degree.values()))
    if not 3 <= size <= LARGEST or pattern is None or any(a == b for a, b in edges):
        return None
    name, known = pattern
    graph = _graph(edges)
    fits = nx.is_connected(graph) if known is None else nx.is_isomorphic(graph, known)
    return name if fits else None


def _pattern_of(size: int, degrees: list[int]) -> "tuple[str, nx.Graph[Any] | None] | None":
    """The only shape there can be with these degrees, the least first, and what it is like if they alone do not tell. Most
    parts are none, and are told so without looking at a graph."""
    if degrees == [2] * size:
        return "triangle" if size == 3 else f"ring of {size}", None
    if size >= 4 and degrees == [1] * (size - 1) + [size - 1]:
        return f"star with {size - 1} rays", None
    if degrees == sorted(degree for _, degree in HOUSE.degree):
        return "house", HOUSE
    for rows, columns in product(range(2, 7), repeat=2):
        fits = rows <= columns and columns > 2 and rows * columns == size
        if fits and sum(degrees) == 2 * (rows * (columns - 1) + columns * (rows - 1)):
            return f"{rows} by {columns} grid", nx.grid_2d_graph(rows, columns)
    return None


def group_of(kept: Edges, atoms: Sequence[str], bonds: Edges, orders: Sequence[int]) -> str | None:
    """The functional group that the kept bonds of a molecule are, with or without the carbon it hangs on."""
    graph, molecule = _graph(kept), _graph(())
    molecule.add_edges_from((a, b, {"order": order}) for (a, b), order in zip(bonds, orders, strict=True))
    if not 2 <= len(graph) <= LARGEST or not nx.is_connected(graph):
        return None
    nx.set_node_attributes(graph, {node: atoms[node] for node in graph}, "atom")
    return _benzene(graph, molecule) or _halogen(graph) or _functional(graph, molecule)


def _benzene(graph: "nx.Graph[Any]", molecule: "nx.Graph[Any]") -> str | None:
    is_ring = len(graph) == 6 and all(degree == 2 for _, degree in graph.degree)
    carbon = all(atom == "C" for _, atom in graph.nodes(data="atom"))
    doubles = sum(molecule.edges[edge]["order"] == 2 for edge in graph.edges)
    return "benzene ring" if is_ring and carbon and doubles == 3 else None


def _halogen(graph: "nx.Graph[Any]") -> str | None:
    found = [HALOGENS[atom] for _, atom in graph.nodes(data="atom") if atom in HALOGENS]
    return f"{found[0]} atom" if len(graph) == 2 and len(found) == 1 else None


def _functional(graph: "nx.Graph[Any]", molecule: "nx.Graph[Any]") -> str | None:
    same = categorical_node_match("atom", None)
    for name, pattern in GROUPS:
        for group in _bare_and_hung(graph, pattern):
            matcher = nx.isomorphism.GraphMatcher(group, pattern, node_match=same)
            for match in matcher.isomorphisms_iter():
                outside = {node: set(molecule[node]) - set(group) for node in match}
                if all(len(outside[node]) == (place == 0) for node, place in match.items()):
                    return name
    return None


def _bare_and_hung(graph: "nx.Graph[Any]", pattern: "nx.Graph[Any]") -> "list[nx.Graph[Any]]":
    """The part itself, or the part without an end that is a carbon, where that has as many atoms as the pattern."""
    if len(graph) == len(pattern):
        return [graph]
    ends = [node for node, degree in graph.degree if degree == 1 and graph.nodes[node]["atom"] == "C"]
    return [nx.Graph(graph.subgraph(set(graph) - {end})) for end in ends if len(graph) == len(pattern) + 1]
