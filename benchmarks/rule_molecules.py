"""Real molecules whose label follows an exact rule, so that what a network must look at is known to the bond.

The molecules are those of Mutagenicity. A molecule is "present" if it holds every pattern of the rule; the truth is then
the bonds of all matches. Rules and patterns were fixed before anything was trained on them. As many molecules
are taken of each class. The "absent" ones are as misleading as there are: those that hold most of the rule's decoys,
parts of the pattern that do not make it up, so that no short cut (an oxygen, a nitrogen, a ring) tells the classes apart.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from rdkit import Chem, rdBase
from torch import Tensor

import explainer_core as xc
from benchmarks.data import many_graphs
from explainer_core.graph.rules import NO_MOTIF

CLASSES = ("absent", "present")
BOND_TYPES = (Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE)
CARBONYL, DIVALENT_OXYGEN = "[CX3]=[OX1]", "[OX2]"
NH, NITROGEN, RING_NITROGEN = "[#7][H]", "[#7]", "[#7;R]"


@dataclass(frozen=True)
class Rule:
    """Which patterns (SMARTS) must all be there, and what makes a molecule without them misleading."""

    name: str
    patterns: tuple[str, ...]
    decoys: tuple[str, ...]


RULES = {
    rule.name: rule
    for rule in (
        Rule("carboxyl", ("[CX3](=[OX1])[OX2]",), (CARBONYL, DIVALENT_OXYGEN)),
        Rule("nitrogen_ring", ("[#7]1~*~*~*~*~*1",), (NITROGEN, RING_NITROGEN, "*1~*~*~*~*~*1")),
        Rule("carbonyl_and_nh", (CARBONYL, NH), (CARBONYL, NH)),
    )
}


def rule_molecules(rule: Rule, seed: int = 0) -> xc.GraphSet:
    """The balanced set of a rule; motifs only in its "present" molecules. DataUnavailable where Mutagenicity is not."""
    molecules, mols, _ = _mutagenicity()
    holds = {i: all(mol.HasSubstructMatch(_query(smarts)) for smarts in rule.patterns) for i, mol in mols.items()}
    chance = np.random.default_rng(seed).permutation(len(molecules))  # decides between equals
    present = sorted((i for i in mols if holds[i]), key=chance.__getitem__)
    decoys = {i: sum(mols[i].HasSubstructMatch(_query(smarts)) for smarts in rule.decoys) for i in mols if not holds[i]}
    absent = sorted(decoys, key=lambda i: (-decoys[i], chance[i]))
    size = min(len(present), len(absent))
    chosen = sorted(present[:size] + absent[:size])
    return xc.GraphSet.from_graphs([_labelled(molecules[i], mols[i], rule) for i in chosen], name=rule.name)


def labelled(graph: xc.Graph, rule: Rule) -> xc.Graph:
    """One molecule with the rule's label and truth in place of its own."""
    return _labelled(graph, mol_of(graph), rule)


def refused() -> int:
    """How many molecules of Mutagenicity RDKit takes for impossible; they are left out."""
    return _mutagenicity()[2]


def mol_of(graph: xc.Graph) -> Chem.Mol:
    """A molecule graph as RDKit sees it, hydrogens as atoms; ValueError where its valences are impossible.

    The data draw nitro groups and N-oxides without charges: a nitrogen with four bonds is N+, an oxygen with one is O-.
    """
    mol, kinds = Chem.RWMol(), [] if graph.edge_types is None else graph.edge_types.tolist()
    for symbol in graph.node_names or ():
        mol.AddAtom(Chem.Atom(symbol))
    for (a, b), kind in zip(graph.edge_index.t().tolist(), kinds, strict=True):
        if a < b:
            mol.AddBond(a, b, BOND_TYPES[kind])
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(True)
        valence = sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds())
        atom.SetFormalCharge({("N", 4.0): 1, ("O", 1.0): -1}.get((atom.GetSymbol(), valence), 0))
    with rdBase.BlockLogs():
        Chem.SanitizeMol(mol)
    return mol.GetMol()


def _labelled(graph: xc.Graph, mol: Chem.Mol, rule: Rule) -> xc.Graph:
    matches = [_matches(mol, smarts) for smarts in rule.patterns]
    label = int(all(matches))
    truth = [match for of_pattern in matches for match in of_pattern] if label else []
    node_motif, edge_motif = _motifs(graph, truth)
    return replace(graph, label=label, class_names=CLASSES, node_motif=node_motif, edge_motif=edge_motif)


def _matches(mol: Chem.Mol, smarts: str) -> list[set[tuple[int, int]]]:
    """The bonds of every match of a pattern, in either direction."""
    query = _query(smarts)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in query.GetBonds()]
    found: list[set[tuple[int, int]]] = []
    for atoms in mol.GetSubstructMatches(query, uniquify=False, maxMatches=100_000):
        match = {pair for a, b in bonds for pair in ((atoms[a], atoms[b]), (atoms[b], atoms[a]))}
        if match not in found:  # a ring is matched from each of its atoms
            found.append(match)
    return found


def _motifs(graph: xc.Graph, matches: list[set[tuple[int, int]]]) -> tuple[Tensor, Tensor]:
    """The number of the first match that each atom (N,) and each bond (E,) lies in, -1 elsewhere."""
    node_motif = torch.full((graph.num_nodes,), NO_MOTIF)
    edge_motif = torch.full((graph.num_edges,), NO_MOTIF)
    pairs = [tuple(pair) for pair in graph.edge_index.t().tolist()]
    for number, match in reversed(list(enumerate(matches))):
        node_motif[[a for a, _ in match]] = number
        edge_motif[[i for i, pair in enumerate(pairs) if pair in match]] = number
    return node_motif, edge_motif


@cache
def _query(smarts: str) -> Chem.Mol:
    return Chem.MolFromSmarts(smarts)


@cache
def _mutagenicity() -> tuple[xc.GraphSet, dict[int, Chem.Mol], int]:
    """The data, its molecules by number as far as RDKit believes in them, and how many it does not."""
    molecules, mols = many_graphs("mutagenicity"), {}
    for i, graph in enumerate(molecules):
        try:
            mols[i] = mol_of(graph)
        except ValueError:  # left out, and counted
            continue
    return molecules, mols, len(molecules) - len(mols)
