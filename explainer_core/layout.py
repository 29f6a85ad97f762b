"""Where nodes are drawn: a neighbourhood in pixels, a whole data set's map in the unit square, a molecule as chemists do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy import fft
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from explainer_core.datasets.chemistry import BONDS
from explainer_core.extras import Chem, rdBase, rdDepictor
from explainer_core.graph import Graph

EDGE_LENGTH = 50.0  # pixels at zoom 1, of a typical edge
LEAST_DISTANCE = 14.0  # pixels between two nodes; a node is about 8 wide
AROMATIC = "aromatic"
RDKIT_BOND = 1.5  # what RDKit draws a bond as
SYMBOLS = (  # of the 118 elements, in their order
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr "
    "Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir "
    "Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
)
ELEMENTS = frozenset(SYMBOLS.split())

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))  # turns by it never meet again, so they spread points evenly
SMALL = 400  # nodes; up to here every distance is looked at, above that forces have to do
STRESS_ROUNDS = 120  # half of them above 150 nodes
SETTLED = 1e-3  # edge lengths: a round that moves no node further is the last
APART_ROUNDS = 40
PIVOTS = 50  # nodes whose distances to all others place a large graph
UNFOLDING_ROUNDS, SHAPING_ROUNDS = 50, 100


# A neighbourhood


def neighbourhood_layout(num_nodes: int, pairs: Sequence, targets: Sequence[int] = ()) -> np.ndarray:
    """Positions of a small graph's nodes in pixels, y downwards, around 0: (N, 2).

    Stress majorisation (Gansner et al. 2004): distances on paper follow distances in the graph. Parts that do not
    hang together stand in rows, those with a target first. No two nodes come closer than LEAST_DISTANCE.
    """
    pairs = _checked_pairs(num_nodes, pairs)
    for target in targets:
        if not 0 <= target < num_nodes:
            raise ValueError(f"a target must be a node, 0 to {num_nodes - 1} (got {target})")
    parts = _parts(num_nodes, pairs, targets)
    return _in_rows(num_nodes, [(nodes, _connected_layout(len(nodes), inner)) for nodes, inner in parts])


def _connected_layout(size: int, pairs: np.ndarray) -> np.ndarray:
    """One connected part in pixels, its long side level."""
    if size == 1:
        return np.zeros((1, 2))
    if size > SMALL:
        places = _forces(size, pairs, _pivot_scaling(size, pairs))
    else:
        distances = shortest_path(_matrix(size, pairs), method="D", directed=False, unweighted=True)  # (N, N)
        places = _stress(distances, _classical_scaling(distances))
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    to_neighbour = cKDTree(places).query(places, k=2)[0][:, 1]
    # a crowd of nodes that all know each other needs room, so that its edges are longer
    scale = max(EDGE_LENGTH / np.median(lengths), LEAST_DISTANCE / max(np.quantile(to_neighbour, 0.2), 1e-2))
    return _apart(_level(places * scale))


def _classical_scaling(distances: np.ndarray) -> np.ndarray:
    """The plane in which the distances are kept best (Torgerson 1952); nodes that coincide fan out a little: (N, 2)."""
    squared = distances**2
    centred = -(squared - squared.mean(0) - squared.mean(1, keepdims=True) + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    places = fixed_signs(vectors[:, :-3:-1]) * np.sqrt(np.maximum(values[:-3:-1], 0))
    return places + 0.01 * turns(np.arange(len(places)))


def _stress(distances: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Moves nodes until the squared errors of all distances, near ones counting most (d^-2), are least: (N, 2)."""
    size = len(distances)
    weight = (distances + np.eye(size)) ** -2.0  # no zeros to divide by; the diagonal is emptied next
    np.fill_diagonal(weight, 0)
    inverse = np.linalg.inv(np.diag(weight.sum(1)) - weight + 1 / size) - 1 / size
    pull = weight * distances
    for _ in range(STRESS_ROUNDS if size <= 150 else STRESS_ROUNDS // 2):
        ratio = pull / np.maximum(cdist(places, places), 1e-9)
        moved = inverse @ (ratio.sum(1, keepdims=True) * places - ratio @ places)
        settled = np.abs(moved - places).max() < SETTLED
        places = moved
        if settled:
            break
    return places


# A molecule


def is_molecule(graph: Graph) -> bool:
    """True if every node is named after an element and every edge type is a bond."""
    if graph.edge_types is None or not graph.edge_type_names or not graph.node_names:
        return False
    return {*BONDS, AROMATIC}.issuperset(graph.edge_type_names) and ELEMENTS.issuperset(graph.node_names)


def molecule_layout(graph: Graph) -> np.ndarray:
    """Positions of atoms as chemists draw them, in pixels, y downwards, around 0; hydrogens too where they are nodes: (N, 2)."""
    if not is_molecule(graph):
        raise ValueError(
            f"a molecule has elements as node names and bonds as edge types (got {graph.name!r}); use neighbourhood_layout"
        )
    try:
        with rdBase.BlockLogs():
            places = _apart(_drawn_by_rdkit(_rdkit_molecule(graph)))  # hydrogens of crowded rings may coincide
    except (ValueError, RuntimeError):
        # a typed or uploaded molecule may hold what RDKit has no picture of; it is still a graph
        return neighbourhood_layout(graph.num_nodes, graph.edge_index.t().numpy())
    return places - (places.min(0) + places.max(0)) / 2


def bond_orders(graph: Graph) -> tuple[int, ...] | None:
    """1, 2 or 3 lines for each directed edge; None if the graph is no molecule.

    Aromatic bonds alternate single and double where RDKit finds a way to; where it does not, they are all single.
    """
    if not is_molecule(graph):
        return None
    with rdBase.BlockLogs():
        mol = _rdkit_molecule(graph)
        with suppress(ValueError, RuntimeError):  # a ring may have no such pattern, as where its N lacks its hydrogen
            Chem.Kekulize(mol, clearAromaticFlags=True)
    orders = {Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3}
    ends = graph.edge_index.t().tolist()
    return tuple(orders.get(mol.GetBondBetweenAtoms(a, b).GetBondType(), 1) if a != b else 1 for a, b in ends)


def _rdkit_molecule(graph: Graph) -> Chem.RWMol:
    """The atoms and bonds as the graph has them. Nothing is sanitised: the data draws nitro groups uncharged."""
    mol = Chem.RWMol()
    for symbol in graph.node_names:
        atom = Chem.Atom(symbol)
        atom.SetNoImplicit(True)
        mol.AddAtom(atom)
    kinds = {"single": Chem.BondType.SINGLE, "double": Chem.BondType.DOUBLE, "triple": Chem.BondType.TRIPLE}
    for (a, b), number in zip(graph.edge_index.t().tolist(), graph.edge_types.tolist(), strict=True):
        if a == b or mol.GetBondBetweenAtoms(a, b) is not None:
            continue
        name = graph.edge_type_names[number]
        mol.AddBond(a, b, kinds.get(name, Chem.BondType.AROMATIC))
        if name == AROMATIC:
            mol.GetBondBetweenAtoms(a, b).SetIsAromatic(True)
            for end in (a, b):
                mol.GetAtomWithIdx(end).SetIsAromatic(True)
    mol.UpdatePropertyCache(strict=False)
    Chem.GetSymmSSSR(mol)
    return mol


def _drawn_by_rdkit(mol: Chem.RWMol) -> np.ndarray:
    """(N, 2)"""
    Chem.SetHybridization(mol)  # without it a nitrile bends
    rdDepictor.Compute2DCoords(mol, canonOrient=True)
    places = mol.GetConformer().GetPositions()[:, :2] * (1, -1)
    return places * EDGE_LENGTH / RDKIT_BOND


# A map


def map_layout(num_nodes: int, pairs: Sequence) -> np.ndarray:
    """Positions of a whole data set's nodes for an overview, in 0 to 1 in both axes, shapes kept: (N, 2).

    A large part starts where its distances to a few pivots put it; then joined nodes pull and all others push.
    Parts that do not hang together stand in rows, large ones first.
    """
    pairs = _checked_pairs(num_nodes, pairs)
    parts = _parts(num_nodes, pairs, ())
    places = _in_rows(num_nodes, [(nodes, _connected_layout(len(nodes), inner)) for nodes, inner in parts])
    if num_nodes == 0:
        return places
    middle, extent = (places.min(0) + places.max(0)) / 2, np.ptp(places, axis=0).max()
    return np.clip(0.5 + (places - middle) / max(extent, 1.0), 0, 1)


def _pivot_scaling(size: int, pairs: np.ndarray) -> np.ndarray:
    """Classical scaling from the distances to a few nodes far from one another (Brandes & Pich 2006): (N, 2)."""
    matrix = _matrix(size, pairs)
    columns, pivot = [], 0
    nearest = np.full(size, np.inf)
    for _ in range(min(PIVOTS, size)):
        columns.append(shortest_path(matrix, method="D", directed=False, unweighted=True, indices=pivot))
        nearest = np.minimum(nearest, columns[-1])
        pivot = int(nearest.argmax())
    squared = np.stack(columns, axis=1) ** 2  # (N, pivots)
    centred = -(squared - squared.mean(0) - squared.mean(1, keepdims=True) + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred.T @ centred)
    places = centred @ fixed_signs(vectors[:, -2:][:, ::-1])
    return places / np.maximum(values[-2:][::-1], 1e-9) ** 0.25


def _forces(size: int, pairs: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Springs along edges, all nodes push (Fruchterman & Reingold 1991), steps shrink. One unit is an edge: (N, 2).

    A push that reaches far (1 / d^2) unfolds the whole first; one that does not (1 / d^3) then gives motifs their shape.
    The springs of a node with few edges are strong: a house holds together on a hub that is pulled at from all sides.
    """
    source, head = pairs.T
    degree = np.bincount(pairs.ravel(), minlength=size)
    strength = 3 / np.minimum(degree[source], degree[head])[:, None]
    places = places + 0.3 * turns(np.arange(size))
    cells = 128 if size < 4000 else 256
    for power, rounds in ((2, UNFOLDING_ROUNDS), (3, SHAPING_ROUNDS)):
        push = _Push(power, cells)
        for round_ in range(rounds):
            along = places[source] - places[head]
            spring = along * np.linalg.norm(along, axis=1, keepdims=True) * strength
            force = push(places)
            for axis in (0, 1):
                force[:, axis] -= np.bincount(source, spring[:, axis], size) - np.bincount(head, spring[:, axis], size)
            length = np.linalg.norm(force, axis=1, keepdims=True)
            limit = (0.1 * np.sqrt(size) + 1) * (1 - round_ / rounds) ** 2 + 0.02
            places = places + force * np.minimum(1, limit / np.maximum(length, 1e-9))
    return places


class _Push:
    """The push of every node on every other, 1 / distance^power, by a convolution on a grid: N hardly costs."""

    def __init__(self, power: int, cells: int):
        self.power, self.cells = power, cells
        steps = fft.fftfreq(2 * cells, 1 / (2 * cells)).astype(np.float32)  # 0, 1, ..., -2, -1 cells
        squared = steps[:, None] ** 2 + steps[None] ** 2 + np.float32(0.5)  # half a cell blurs what the grid cannot see
        kernel = steps[:, None] / squared ** ((power + 1) / 2)
        self.spectra = fft.rfft2(kernel), fft.rfft2(kernel.T)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """(N, 2)"""
        side = 2 * self.cells  # twice as wide as the nodes, so that nothing comes round the edge
        cell = max(np.ptp(places, axis=0).max() / (self.cells - 2), 1e-6)
        position = (places - places.min(0)) / cell
        corner = position.astype(np.int64)
        right, up = (position - corner).T
        at = corner[:, 0] * side + corner[:, 1]
        corners = np.stack([at, at + 1, at + side, at + side + 1])  # (4, N)
        shares = np.stack([(1 - right) * (1 - up), (1 - right) * up, right * (1 - up), right * up])
        mass = np.bincount(corners.ravel(), shares.ravel(), side * side).astype(np.float32)
        spectrum = fft.rfft2(mass.reshape(side, side))
        fields = [fft.irfft2(spectrum * kernel).ravel() for kernel in self.spectra]
        return np.stack([(shares * field[corners]).sum(0) for field in fields], axis=1) / cell**self.power


# Shared by all


def _checked_pairs(num_nodes: int, pairs: Sequence) -> np.ndarray:
    """Each pair once, smaller number first, no loops: (P, 2)."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= num_nodes):
        raise ValueError(f"pairs must join nodes 0 to {num_nodes - 1} (got {pairs.min()} to {pairs.max()})")
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)


def _matrix(size: int, pairs: np.ndarray):
    return coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()


def _parts(num_nodes: int, pairs: np.ndarray, targets: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The nodes of each connected part and its pairs in the part's own numbers; those with targets first, then large ones."""
    count, part_of = connected_components(_matrix(num_nodes, pairs), directed=False)
    if count == 0:
        return []
    by_part = np.argsort(part_of, kind="stable")
    groups = np.split(by_part, np.cumsum(np.bincount(part_of))[:-1])
    own_number = np.empty(num_nodes, dtype=np.int64)
    for nodes in groups:
        own_number[nodes] = np.arange(len(nodes))
    pair_part = part_of[pairs[:, 0]]
    order = np.argsort(pair_part, kind="stable")
    inner = np.split(own_number[pairs[order]], np.cumsum(np.bincount(pair_part, minlength=count))[:-1])
    wanted = {int(part_of[target]) for target in targets}
    ranked = sorted(range(count), key=lambda i: (i not in wanted, -len(groups[i]), groups[i][0]))
    return [(groups[i], inner[i]) for i in ranked]


def _in_rows(num_nodes: int, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The parts side by side in rows that make about a square, an edge's length apart, and the whole around 0."""
    places = np.zeros((num_nodes, 2))
    sizes = [np.ptp(drawn, axis=0) + EDGE_LENGTH for _, drawn in parts]
    width = max([np.sqrt(sum(size.prod() for size in sizes)) * 1.2, *(size[0] for size in sizes)], default=0)
    x, y, height = 0.0, 0.0, 0.0
    for (nodes, drawn), size in zip(parts, sizes, strict=True):
        if x > 0 and x + size[0] > width + 1e-6:
            x, y, height = 0.0, y + height, 0.0
        places[nodes] = drawn - drawn.min(0) + (x, y)
        x, height = x + size[0], max(height, size[1])
    return places - (places.min(0) + places.max(0)) / 2 if num_nodes else places


def _level(places: np.ndarray) -> np.ndarray:
    """Turned so that the long side is level; the same way up every time."""
    places = places - places.mean(0)
    return places @ fixed_signs(np.linalg.eigh(places.T @ places)[1][:, ::-1])


def fixed_signs(vectors: np.ndarray) -> np.ndarray:
    """Columns whose largest entry is positive: an eigenvector's sign is chance."""
    largest = np.abs(vectors).round(9).argmax(0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1)


def _apart(places: np.ndarray) -> np.ndarray:
    """Pushes nodes off one another; where that does not end, all grows until no two are closer than LEAST_DISTANCE."""
    if len(places) < 2:
        return places
    places = places.copy()
    for _ in range(APART_ROUNDS):
        close = cKDTree(places).query_pairs(LEAST_DISTANCE, output_type="ndarray")
        if len(close) == 0:
            break
        one, other = close.T
        gap = places[one] - places[other]
        length = np.linalg.norm(gap, axis=1, keepdims=True)
        way = np.where(length > 1e-9, gap / np.maximum(length, 1e-9), turns(one + other))
        move = way * (1.1 * LEAST_DISTANCE - length) / 2
        np.add.at(places, one, move)
        np.subtract.at(places, other, move)
    nearest = cKDTree(places).query(places, k=2)[0][:, 1].min()
    return places * max(1.0, LEAST_DISTANCE / max(nearest, 0.1 * LEAST_DISTANCE))


def turns(number: np.ndarray) -> np.ndarray:
    """A direction for each number, all different: (len(number), 2)."""
    return np.stack([np.cos(GOLDEN_ANGLE * number), np.sin(GOLDEN_ANGLE * number)], axis=1)
