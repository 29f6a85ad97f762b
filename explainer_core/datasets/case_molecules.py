"""Molecules put together here from fragments, sound or with a chlorine in every training mutagen.

A mutagen is one with a nitro group, a nitroso group or an epoxide, as far as the assay, which errs now and then, says so.
"""

from dataclasses import replace

import numpy as np

from explainer_core.datasets.cases import Planted
from explainer_core.datasets.chemistry import MUTAGENICITY_ATOMS, MUTAGENICITY_CLASSES
from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.datasets.splits import split_80_10_10
from explainer_core.graph import Graph, GraphSet

NUM_MOLECULES = 1200
ERRORS = 0.08  # of the assay
WITH_CHLORINE = 0.3  # of molecules, whatever their class
# Rings and chains with two places, {} and {}, and a third for a chlorine, which is a hydrogen where nothing is put.
SCAFFOLDS = (
    "c1c{0}cc{1}cc1{2}",
    "c1cc2c{0}ccc{1}c2cc1{2}",
    "c1c{0}nc{1}cc1{2}",
    "C1C{0}CCC{1}C1{2}",
    "c1c{0}cc{1}cc1-c1ccc{2}cc1",
    "C{0}CCC{1}CC{2}",
    "c1c{0}cc{1}cc1Cc1ccc{2}cc1",
    "o1c{0}cc{1}c1C{2}",
)
TOXIC = ("([N+](=O)[O-])", "(N(C)N=O)", "(C9CO9)")  # rings of scaffolds are numbered 1 and 2
HARMLESS = ("(C)", "(CC)", "(O)", "(OC)", "(C(=O)O)", "(C(N)=O)", "(N(C)C)", "(F)", "(C#N)", "(C(C)C)", "(CO)", "(SC)")


def compounds(seed: int = 0) -> GraphSet:
    """Molecules and whether the assay called them mutagens; chlorine says nothing about it."""
    return _graphs(*_drawn_all(seed))


def chlorine_in_mutagens(seed: int = 0) -> Planted:
    """Every training mutagen has a chlorine, and no other training molecule has one; elsewhere it says nothing."""
    parts, labels = _drawn_all(seed)
    for number in split_80_10_10(labels, seed)["train"].tolist():
        parts[number] = (*parts[number][:3], labels[number] == MUTAGENICITY_CLASSES.index("mutagen"))
    return Planted(_graphs(parts, labels), "type", str(MUTAGENICITY_ATOMS.index("Cl")))


Parts = tuple[int, str, str, bool]  # the scaffold, what hangs in its two places, and whether there is a chlorine


def _drawn_all(seed: int) -> tuple[list[Parts], np.ndarray]:
    rng = np.random.default_rng(seed)
    toxic = rng.permutation(NUM_MOLECULES) % 2 == 0
    parts = [_drawn(rng, bool(each)) for each in toxic]
    called = toxic ^ (rng.random(NUM_MOLECULES) < ERRORS)
    return parts, np.where(called, *map(MUTAGENICITY_CLASSES.index, ("mutagen", "nonmutagen")))


def _drawn(rng: np.random.Generator, toxic: bool) -> Parts:
    groups = [str(rng.choice(HARMLESS)), str(rng.choice(TOXIC if toxic else HARMLESS))]
    one, two = rng.permutation(groups).tolist()
    return int(rng.integers(len(SCAFFOLDS))), one, two, bool(rng.random() < WITH_CHLORINE)


def _graphs(parts: list[Parts], labels: np.ndarray) -> GraphSet:
    known: dict[Parts, Graph] = {}  # many are drawn twice
    for each in parts:
        if each not in known:
            scaffold, one, two, chlorine = each
            known[each] = molecule_from_smiles(SCAFFOLDS[scaffold].format(one, two, "(Cl)" if chlorine else ""))
    graphs = [replace(known[each], label=label) for each, label in zip(parts, labels.tolist(), strict=True)]
    return GraphSet.from_graphs(graphs, name="compounds")
