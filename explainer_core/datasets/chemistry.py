"""The chemistry the molecule data sets share: atoms, bonds, classes, and the groups known to damage DNA."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explainer_core.graph.rules import NO_MOTIF

# In the order of the data's own numbers, which are the columns of the models' input.
MUTAGENICITY_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
BONDS = ("single", "double", "triple")
MUTAGENICITY_CLASSES = ("mutagen", "nonmutagen")

# What a nitrogen holds two of in a nitro group (NO2) and in an amino group (NH2).
GROUP_PARTNERS = ("O", "H")


def functional_groups(
    x: Tensor, edge_index: Tensor, atom_names: Sequence[str] = MUTAGENICITY_ATOMS
) -> tuple[Tensor, Tensor]:
    """The NO2 and NH2 groups of one molecule, or of many side by side: motif numbers (N,) and (E,), -1 elsewhere.

    A group is a nitrogen with three neighbours of which exactly two are oxygens, or hydrogens, bound to nothing
    else. So a nitrate ester counts, and ammonia, the nitrate ion and a nitrite ester do not. Groups are numbered
    from 0 in the order of their nitrogens. The bond to the rest of the molecule is not part of the group. Every
    bond is expected once in each direction, hydrogens as atoms: where they are left out no NH2 is found.
    """
    if len(atom_names) != x.shape[1]:
        raise ValueError(f"atom_names must have one name for each feature, {x.shape[1]} (got {len(atom_names)})")
    source, target = edge_index  # (E,) each
    neighbours = torch.bincount(source, minlength=len(x))  # (N,)
    centre = _is_atom(x, "N", atom_names) & (neighbours == 3)  # (N,)
    node_motif = torch.full((len(x),), NO_MOTIF, device=x.device)
    edge_motif = torch.full_like(source, NO_MOTIF)

    arms = [
        centre[source] & (_is_atom(x, partner, atom_names) & (neighbours == 1))[target] for partner in GROUP_PARTNERS
    ]  # (E,) each: bonds from a nitrogen to an end atom of this kind
    groups = [torch.bincount(source[arm], minlength=len(x)) == 2 for arm in arms]  # (N,) each
    inside = (arms[0] & groups[0][source]) | (arms[1] & groups[1][source])  # (E,)

    nitrogens = groups[0] | groups[1]  # (N,)
    node_motif[nitrogens] = torch.arange(int(nitrogens.sum()), device=x.device)
    node_motif[target[inside]] = node_motif[source[inside]]
    # An arm's end atom has only this bond, so any bond between two atoms of one motif is the motif's own.
    both = node_motif[source]
    same = (both != NO_MOTIF) & (both == node_motif[target])
    edge_motif[same] = both[same]
    return node_motif, edge_motif


def _is_atom(x: Tensor, symbol: str, atom_names: Sequence[str]) -> Tensor:
    """Which rows are this atom: (N,) bool. A data set that does not know the atom has none of it."""
    if symbol not in atom_names:
        return torch.zeros(len(x), dtype=torch.bool, device=x.device)
    return x[:, list(atom_names).index(symbol)] > 0
