"""Rule-labelled molecules: a label exactly where the pattern is, and its bonds as the truth."""

import pytest

import explainer_core as xc
from benchmarks.rule_molecules import CLASSES, RULES, labelled, refused, rule_molecules
from explainer_core.datasets.download import is_available

with_data = pytest.mark.skipif(
    not is_available(xc.DATASETS["mutagenicity"].archive), reason="Mutagenicity is not on this machine"
)


def truth(graph: xc.Graph) -> list[str]:
    """The bonds of the truth as pairs of elements, each once, sorted."""
    ends = graph.edge_index[:, graph.edge_motif >= 0].t().tolist()
    return sorted("".join(sorted((graph.node_names[a], graph.node_names[b]))) for a, b in ends if a < b)


@pytest.mark.parametrize(
    ("rule", "smiles", "bonds"),
    [
        ("carboxyl", "CC(=O)O", ["CO", "CO"]),  # acetic acid: both oxygens, not the O-H
        ("nitrogen_ring", "Cc1ccccn1", ["CC", "CC", "CC", "CC", "CN", "CN"]),  # the ring of picoline, not its methyl
        ("carbonyl_and_nh", "CC(N)=O", ["CO", "HN", "HN"]),  # acetamide: not the C-N between the two groups
        ("nitrogen_ring", "c1ccncc1.c1ccncc1", ["CC"] * 8 + ["CN"] * 4),  # every match counts
    ],
)
def test_the_truth_is_the_bonds_of_every_match(rule, smiles, bonds):
    graph = labelled(xc.molecule_from_smiles(smiles), RULES[rule])
    assert CLASSES[graph.label] == "present"
    assert truth(graph) == bonds
    inside = set(graph.edge_index[:, graph.edge_motif >= 0].flatten().tolist())
    assert set((graph.node_motif >= 0).nonzero().flatten().tolist()) == inside


@pytest.mark.parametrize(
    ("rule", "smiles"),
    [
        ("carboxyl", "CC(=O)COC"),  # a carbonyl and an ether oxygen, but not on one carbon
        ("carboxyl", "CC(N)=O"),
        ("nitrogen_ring", "Nc1ccccc1"),  # a nitrogen and a six-ring, the one outside the other
        ("nitrogen_ring", "C1CCNC1"),  # in a ring, but of five
        ("carbonyl_and_nh", "CC(C)=O"),
        ("carbonyl_and_nh", "Nc1ccccc1"),
    ],
)
def test_part_of_a_pattern_is_no_pattern(rule, smiles):
    graph = labelled(xc.molecule_from_smiles(smiles), RULES[rule])
    assert CLASSES[graph.label] == "absent"
    assert truth(graph) == []


@with_data
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_set_is_balanced_large_and_misleading(rule):
    molecules = rule_molecules(rule)
    present = molecules.labels == 1
    assert present.float().mean() == 0.5
    assert present.sum() >= 300
    for i, graph in enumerate(molecules):
        assert bool((graph.edge_motif >= 0).any()) == bool(present[i])
    if rule.name == "carbonyl_and_nh":  # of the two groups every other molecule has exactly one
        alone = [labelled(g, part) for g in molecules if g.label == 0 for part in _each_alone(rule)]
        assert sum(g.label for g in alone) == (~present).sum()


@with_data
def test_few_molecules_are_refused():
    assert refused() == 3


def _each_alone(rule):
    return [type(rule)(smarts, (smarts,), ()) for smarts in rule.patterns]
