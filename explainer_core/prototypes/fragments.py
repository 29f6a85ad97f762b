"""What the kept parts of molecules share: real fragments, each cut out of one member, with the members that have it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from explainer_core.extras import Chem, rdBase
from explainer_core.graph import Graph, GraphSet
from explainer_core.layout.molecule import is_molecule, rdkit_molecule
from explainer_core.prototypes.member import Pair
from explainer_core.prototypes.prototype import Prototype
from explainer_core.targets import WholeGraph

LEAST_SHARE = 0.15  # of the members, and never a single one
MOST_SHOWN = 3
LEAST_ATOMS, MOST_ATOMS = 3, 12
BEAM = 60  # kinds of fragments of one size that are grown further, those that most members have
PLACES = 20  # of one kind in one member that are grown further
PLAIN = ("C", "H")  # every molecule has them; other elements tell more


@dataclass(frozen=True)
class Fragment:
    """Atoms and bonds of one member's molecule that others have too: nothing in it is made up."""

    target: WholeGraph  # the member it was cut out of
    atoms: tuple[int, ...]  # numbers in that member's graph
    bonds: tuple[Pair, ...]
    members: tuple[int, ...]  # indices of the members whose kept part contains it
    in_molecules: int  # how many members' whole molecules contain it
    share: float  # of the members, by their kept parts


@dataclass(frozen=True)
class _Kept:
    """The part of a molecule that its explanation keeps, and what fragments are matched with."""

    target: WholeGraph
    bonds: tuple[Pair, ...]
    whole: Chem.RWMol

    def cut(self, atoms: Iterable[int]) -> Chem.RWMol:
        inside = set(atoms)
        return sub_molecule(self.whole, [pair for pair in self.bonds if set(pair) <= inside])


def has_fragments(data: Graph | GraphSet) -> bool:
    return isinstance(data, GraphSet) and is_molecule(data[0])


def common_fragments(prototype: Prototype, data: GraphSet, most: int = MOST_SHOWN) -> tuple[Fragment, ...]:
    """The most telling fragments that the members' kept parts share, at most so many, that of most members first.

    A fragment counts by the share of members that have it, times its bonds and its atoms other than C and H: a nitro
    group that most have tells more than a piece of ring that all have. None lies within another. Where not even
    LEAST_SHARE of the members agree on three atoms there is none.
    """
    with rdBase.BlockLogs():
        kept = [_kept(member.explanation, data) for member in prototype.members]
        need = max(2, math.ceil(LEAST_SHARE * len(kept)))
        if len(kept) < need:
            return ()
        found = [_counted(i, atoms, kept) for i, atoms in _candidates(kept, need)]
        found.sort(key=lambda one: (-_tells(one, data), one.target.index, one.atoms))
        chosen: list[tuple[Fragment, Chem.RWMol]] = []
        for one in found:
            cut = sub_molecule(matching_molecule(data[cast(int, one.target.index)]), one.bonds)
            within = any(cut.HasSubstructMatch(other) or other.HasSubstructMatch(cut) for _, other in chosen)
            if len(one.members) >= need and not within and len(chosen) < most:
                chosen.append((one, cut))
    return tuple(sorted((fragment for fragment, _ in chosen), key=lambda one: -one.share))


def contains(explanation, data: Graph | GraphSet, fragment: Fragment, source: GraphSet) -> bool:
    """Whether what an explanation keeps of a molecule contains the fragment, which is from a graph of `source`."""
    with rdBase.BlockLogs():
        graph = data[explanation.target.index] if isinstance(data, GraphSet) else data
        part = sub_molecule(matching_molecule(graph), explanation.subgraph().edges)
        wanted = sub_molecule(matching_molecule(source[cast(int, fragment.target.index)]), fragment.bonds)
        return part.HasSubstructMatch(wanted)


def formal_charges(graph: Graph) -> tuple[int, ...]:
    """Of each atom: the data write a nitro group N(=O)-O, where chemistry has N+ and O-."""
    names, orders = graph.node_names or (), np.zeros(graph.num_nodes)
    mol = rdkit_molecule(graph)
    for bond in mol.GetBonds():
        orders[[bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]] += bond.GetBondTypeAsDouble()
    charges = [0] * graph.num_nodes
    for atom, name in enumerate(names):
        if name == "N" and orders[atom] == 4:
            ends = [end.GetIdx() for end in mol.GetAtomWithIdx(atom).GetNeighbors()]
            single = [end for end in ends if names[end] == "O" and orders[end] == 1]
            if single:
                charges[atom], charges[single[0]] = 1, -1
    return tuple(charges)


def matching_molecule(graph: Graph) -> Chem.RWMol:
    """Elements and bonds as they are compared: how a ring or a nitro group is drawn makes no difference."""
    mol = rdkit_molecule(graph)
    for atom, charge in zip(mol.GetAtoms(), formal_charges(graph), strict=True):
        atom.SetFormalCharge(charge)
    mol.UpdatePropertyCache(strict=False)
    Chem.SetAromaticity(mol)
    delocalised = {bond.GetIdx() for bond in mol.GetBonds() if bond.GetIsAromatic()}
    for atom in mol.GetAtoms():
        ends = [bond for bond in atom.GetBonds() if _is_bare_oxygen(bond.GetOtherAtom(atom))]
        if atom.GetSymbol() == "N" and len(ends) == 2:
            delocalised |= {bond.GetIdx() for bond in ends}
    plain = _atoms([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    for bond in mol.GetBonds():
        kind = Chem.BondType.AROMATIC if bond.GetIdx() in delocalised else bond.GetBondType()
        plain.AddBond(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), kind)
    Chem.FastFindRings(plain)
    return plain


def sub_molecule(mol: Chem.RWMol, bonds: Sequence[Pair]) -> Chem.RWMol:
    """The bonds and their atoms, alone."""
    atoms = sorted({end for pair in bonds for end in pair})
    index = {atom: i for i, atom in enumerate(atoms)}
    part = _atoms([mol.GetAtomWithIdx(atom).GetAtomicNum() for atom in atoms])
    for a, b in bonds:
        part.AddBond(index[a], index[b], mol.GetBondBetweenAtoms(a, b).GetBondType())
    Chem.FastFindRings(part)
    return part


def _atoms(numbers: Sequence[int]) -> Chem.RWMol:
    mol = Chem.RWMol()
    for number in numbers:
        atom = Chem.Atom(number)
        atom.SetNoImplicit(True)
        mol.AddAtom(atom)
    return mol


def _is_bare_oxygen(atom: Chem.Atom) -> bool:
    return atom.GetSymbol() == "O" and atom.GetDegree() == 1


def _kept(explanation, data: GraphSet) -> _Kept:
    whole = matching_molecule(data[explanation.target.index])
    return _Kept(explanation.target, tuple(explanation.subgraph().edges), whole)


def _candidates(kept: Sequence[_Kept], need: int) -> list[tuple[int, frozenset[int]]]:
    """A place of every kind of connected fragment that enough members have, grown atom by atom."""
    found: list[tuple[int, frozenset[int]]] = []
    level = {(i, frozenset(pair)) for i, part in enumerate(kept) for pair in part.bonds}
    for size in range(2, MOST_ATOMS + 1):
        kinds: dict[str, dict[int, list[frozenset[int]]]] = {}
        for i, atoms in sorted(level, key=lambda place: (place[0], sorted(place[1]))):
            kind = Chem.MolToSmiles(kept[i].cut(atoms))
            kinds.setdefault(kind, {}).setdefault(i, []).append(atoms)
        shared = sorted((kind for kind in kinds if len(kinds[kind]) >= need), key=lambda k: (-len(kinds[k]), k))[:BEAM]
        places = [(i, atoms) for kind in shared for i, some in kinds[kind].items() for atoms in some[:PLACES]]
        if size >= LEAST_ATOMS:
            found += [next((i, some[0]) for i, some in kinds[kind].items()) for kind in shared]
        level = {(i, atoms | set(pair)) for i, atoms in places for pair in kept[i].bonds if len(atoms & set(pair)) == 1}
        if not level:
            break
    return found


def _counted(i: int, atoms: frozenset[int], kept: Sequence[_Kept]) -> Fragment:
    bonds = tuple(pair for pair in kept[i].bonds if set(pair) <= atoms)
    wanted = sub_molecule(kept[i].whole, bonds)
    having = [n for n, part in enumerate(kept) if sub_molecule(part.whole, part.bonds).HasSubstructMatch(wanted)]
    whole = sum(part.whole.HasSubstructMatch(wanted) for part in kept)
    return Fragment(kept[i].target, tuple(sorted(atoms)), bonds, tuple(having), whole, len(having) / len(kept))


def _tells(fragment: Fragment, data: GraphSet) -> float:
    names = [data[cast(int, fragment.target.index)].node_name(atom) for atom in fragment.atoms]
    return fragment.share * (len(fragment.bonds) + sum(name not in PLAIN for name in names))
