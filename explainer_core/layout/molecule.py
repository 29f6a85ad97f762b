"""A molecule as chemists draw it: where its atoms stand, and how many lines a bond has."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from explainer_core.datasets.chemistry import BONDS
from explainer_core.extras import Chem, rdBase, rdDepictor
from explainer_core.graph import Graph
from explainer_core.layout.graph import EDGE_LENGTH, apart, neighbourhood_layout

AROMATIC = "aromatic"
RDKIT_BOND = 1.5  # what RDKit draws a bond as
SYMBOLS = (  # of the 118 elements, in their order
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr "
    "Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir "
    "Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
)
ELEMENTS = frozenset(SYMBOLS.split())


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
            positions = apart(_drawn_by_rdkit(rdkit_molecule(graph)))  # hydrogens of crowded rings may coincide
    except (ValueError, RuntimeError):
        # a typed or uploaded molecule may hold what RDKit has no picture of; it is still a graph
        return neighbourhood_layout(graph.num_nodes, graph.edge_index.t().numpy())
    return positions - (positions.min(0) + positions.max(0)) / 2


def bond_orders(graph: Graph) -> tuple[int, ...] | None:
    """1, 2 or 3 lines for each directed edge; None if the graph is no molecule.

    Aromatic bonds alternate single and double where RDKit finds a way to; where it does not, they are all single.
    """
    if not is_molecule(graph):
        return None
    with rdBase.BlockLogs():
        mol = rdkit_molecule(graph)
        with suppress(ValueError, RuntimeError):  # a ring may have no such pattern, as where its N lacks its hydrogen
            Chem.Kekulize(mol, clearAromaticFlags=True)
    orders = {Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3}
    ends = graph.edge_index.t().tolist()
    return tuple(orders.get(mol.GetBondBetweenAtoms(a, b).GetBondType(), 1) if a != b else 1 for a, b in ends)


def rdkit_molecule(graph: Graph) -> Chem.RWMol:
    """The atoms and bonds as the graph has them. Nothing is sanitised: the data draws nitro groups uncharged."""
    assert graph.node_names is not None  # is_molecule was asked
    assert graph.edge_types is not None
    mol = Chem.RWMol()
    for symbol in graph.node_names:
        atom = Chem.Atom(symbol)
        atom.SetNoImplicit(True)
        mol.AddAtom(atom)
    kinds = {"single": Chem.BondType.SINGLE, "double": Chem.BondType.DOUBLE, "triple": Chem.BondType.TRIPLE}
    for (a, b), number in zip(graph.edge_index.t().tolist(), graph.edge_types.tolist(), strict=True):
        if a == b or mol.GetBondBetweenAtoms(a, b) is not None:
            continue
        name = graph.edge_type_names[int(number)]
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
    positions = mol.GetConformer().GetPositions()[:, :2] * (1, -1)
    return positions * EDGE_LENGTH / RDKIT_BOND
