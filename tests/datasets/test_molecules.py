"""Molecules against their formulas and the laws of valence, and what a user reads when a text is no molecule."""

import random
import re
from collections import Counter

import pytest
import torch
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

from explainer_core.datasets.chemistry import BONDS, MUTAGENICITY_ATOMS, MUTAGENICITY_CLASSES
from explainer_core.datasets.molecules import COMPOUNDS, molecule_from_smiles, molecules
from explainer_core.graph import Graph

FORMULAS = {
    "2-nitrofluorene": "C13H9NO2",
    "1-nitropyrene": "C16H9NO2",
    "1,8-dinitropyrene": "C16H8N2O4",
    "4-nitroquinoline 1-oxide": "C9H6N2O3",
    "TNT": "C7H5N3O6",
    "nitrofurantoin": "C8H6N4O5",
    "nitrofurazone": "C6H6N4O4",
    "furazolidone": "C8H7N3O5",
    "furylfuramide": "C11H8N2O5",
    "metronidazole": "C6H9N3O3",
    "niridazole": "C6H6N4O3S",
    "4-nitro-o-phenylenediamine": "C6H7N3O2",
    "2-naphthylamine": "C10H9N",
    "benzidine": "C12H12N2",
    "3,3'-dichlorobenzidine": "C12H10Cl2N2",
    "4-aminobiphenyl": "C12H11N",
    "2-aminoanthracene": "C14H11N",
    "2-aminofluorene": "C13H11N",
    "2-acetylaminofluorene": "C15H13NO",
    "2,4-diaminotoluene": "C7H10N2",
    "4-aminoazobenzene": "C12H11N3",
    "o-aminoazotoluene": "C14H15N3",
    "9-aminoacridine": "C13H10N2",
    "proflavine": "C13H11N3",
    "ethidium": "C21H20N3+",
    "IQ (from grilled meat)": "C11H10N4",
    "PhIP (from grilled meat)": "C13H12N4",
    "Trp-P-2 (from grilled meat)": "C12H11N3",
    "benzo[a]pyrene": "C20H12",
    "dibenz[a,h]anthracene": "C22H14",
    "7,12-dimethylbenz[a]anthracene": "C20H16",
    "3-methylcholanthrene": "C21H16",
    "quinoline": "C9H7N",
    "aflatoxin B1": "C17H12O6",
    "sterigmatocystin": "C18H12O6",
    "N-nitrosodimethylamine": "C2H6N2O",
    "N-nitrosodiethylamine": "C4H10N2O",
    "N-methyl-N-nitrosourea": "C2H5N3O2",
    "MNNG": "C2H5N5O3",
    "streptozotocin": "C8H15N3O7",
    "methyl methanesulfonate": "C2H6O3S",
    "ethyl methanesulfonate": "C3H8O3S",
    "dimethyl sulfate": "C2H6O4S",
    "beta-propiolactone": "C3H4O2",
    "ethylene oxide": "C2H4O",
    "epichlorohydrin": "C3H5ClO",
    "1,2-dibromoethane": "C2H4Br2",
    "cyclophosphamide": "C7H15Cl2N2O2P",
    "melphalan": "C13H18Cl2N2O2",
    "caffeine": "C8H10N4O2",
    "theophylline": "C7H8N4O2",
    "nicotine": "C10H14N2",
    "aspirin": "C9H8O4",
    "salicylic acid": "C7H6O3",
    "paracetamol": "C8H9NO2",
    "ibuprofen": "C13H18O2",
    "naproxen": "C14H14O3",
    "diazepam": "C16H13ClN2O",
    "diphenhydramine": "C17H21NO",
    "lidocaine": "C14H22N2O",
    "dapsone": "C12H12N2O2S",
    "sulfamethoxazole": "C10H11N3O3S",
    "ampicillin": "C16H19N3O4S",
    "glucose": "C6H12O6",
    "sucrose": "C12H22O11",
    "mannitol": "C6H14O6",
    "vitamin C": "C6H8O6",
    "citric acid": "C6H8O7",
    "benzoic acid": "C7H6O2",
    "saccharin": "C7H5NO3S",
    "glycine": "C2H5NO2",
    "phenylalanine": "C9H11NO2",
    "tryptophan": "C11H12N2O2",
    "urea": "CH4N2O",
    "melamine": "C3H6N6",
    "ethanol": "C2H6O",
    "acetone": "C3H6O",
    "dimethyl sulfoxide": "C2H6OS",
    "glycerol": "C3H8O3",
    "benzene": "C6H6",
    "toluene": "C7H8",
    "phenol": "C6H6O",
    "aniline": "C6H7N",
    "nitrobenzene": "C6H5NO2",
    "anthranilic acid": "C7H7NO2",
    "naphthalene": "C10H8",
    "chloroform": "CHCl3",
    "DDT": "C14H9Cl5",
    "menthol": "C10H20O",
    "limonene": "C10H16",
    "camphor": "C10H16O",
    "vanillin": "C8H8O3",
    "eugenol": "C10H12O2",
    "cholesterol": "C27H46O",
}


def atoms_of(formula: str) -> Counter:
    return Counter({symbol: int(count or 1) for symbol, count in re.findall(r"([A-Z][a-z]?)(\d*)", formula)})


def order_sums(graph: Graph) -> torch.Tensor:
    """The sum of each atom's bond orders: (N,)."""
    return torch.zeros(graph.num_nodes, dtype=torch.int64).index_add(0, graph.edge_index[0], graph.edge_types + 1)


def bonds_of(graph: Graph) -> Counter:
    """How often each bond occurs, written like 'N=O'."""
    pairs = zip(graph.edge_index.t().tolist(), graph.edge_types.tolist(), strict=True)
    return Counter(
        "-=#"[kind].join(sorted((graph.node_name(a), graph.node_name(b)))) for (a, b), kind in pairs if a < b
    )


def test_compounds_and_formulas_have_the_same_names():
    assert [compound.name for compound in COMPOUNDS] == list(FORMULAS)


@pytest.mark.parametrize("compound", COMPOUNDS, ids=lambda compound: compound.name)
def test_compound_has_its_known_formula(compound):
    formula = FORMULAS[compound.name]
    assert CalcMolFormula(Chem.MolFromSmiles(compound.smiles)) == formula
    graph = molecule_from_smiles(compound.smiles)
    assert Counter(graph.node_names) == atoms_of(formula)


@pytest.mark.parametrize("compound", COMPOUNDS, ids=lambda compound: compound.name)
def test_compound_keeps_the_laws_of_chemistry(compound):
    graph = molecule_from_smiles(compound.smiles, compound.name)
    assert graph.name == compound.name
    assert graph.is_undirected
    assert (graph.x.sum(1) == 1).all()
    assert [MUTAGENICITY_ATOMS[kind] for kind in graph.x.argmax(1)] == list(graph.node_names)
    assert int(graph.in_degree.sum()) == graph.num_edges
    names, orders = list(graph.node_names), order_sums(graph)
    for symbol, valence in (("H", 1), ("C", 4), ("Cl", 1), ("Br", 1)):
        assert {int(orders[i]) for i, name in enumerate(names) if name == symbol} <= {valence}
    assert all(graph.in_degree[i] == 1 for i, name in enumerate(names) if name == "H")


def test_molecules_are_the_labelled_compounds():
    data = molecules()
    assert len(data) == len(COMPOUNDS) >= 60
    assert data.graph_names == [compound.name for compound in COMPOUNDS]
    assert data.labels.tolist() == [0 if compound.mutagen else 1 for compound in COMPOUNDS]
    assert min(torch.bincount(data.labels).tolist()) >= 30
    assert (data.class_names, data.feature_names, data.edge_type_names) == (
        MUTAGENICITY_CLASSES,
        MUTAGENICITY_ATOMS,
        BONDS,
    )


def test_no_compound_is_there_twice():
    assert len({molecule_from_smiles(compound.smiles).name for compound in COMPOUNDS}) == len(COMPOUNDS)


@pytest.mark.parametrize(
    ("written", "as_in_the_data"),
    [
        ("CN(=O)=O", "C[N+](=O)[O-]"),
        ("C1=CC=CC=C1", "c1ccccc1"),
        ("[NH3+]CC(=O)[O-]", "NCC(=O)O"),
        ("CC(=O)[O-].[Na+]", "CC(=O)O.[Na]"),
        ("CC(=O)O[Na]", "CC(=O)O.[Na]"),
        ("Nc1ccccc1.[H]Cl", "[NH3+]c1ccccc1.[Cl-]"),
        ("[Ca](Cl)Cl", "Cl.Cl.[Ca]"),
        ("C[S+](C)[O-]", "CS(C)=O"),
        ("[2H]C([2H])([2H])[13CH2]O", "CCO"),
        ("  CCO\n", "CCO"),
    ],
)
def test_one_molecule_written_two_ways_is_drawn_one_way(written, as_in_the_data):
    one, two = molecule_from_smiles(written), molecule_from_smiles(as_in_the_data)
    assert Counter(one.node_names) == Counter(two.node_names)
    assert bonds_of(one) == bonds_of(two)


@pytest.mark.parametrize(
    ("smiles", "bonds"),
    [
        ("C[N+](=O)[O-]", {"C-H": 3, "C-N": 1, "N=O": 1, "N-O": 1}),
        ("c1ccccc1", {"C-H": 6, "C-C": 3, "C=C": 3}),
        ("C#N", {"C-H": 1, "C#N": 1}),
        ("CN=[N+]=[N-]", {"C-H": 3, "C-N": 1, "N=N": 2}),
        ("OCl(=O)(=O)=O", {"H-O": 1, "Cl-O": 1, "Cl=O": 3}),
        ("CS(=O)(=O)[O-].[K+]", {"C-H": 3, "C-S": 1, "O=S": 2, "O-S": 1, "H-O": 1}),
        ("[Na+].[Cl-]", {"Cl-H": 1}),
        ("C[N+](C)(C)C.[Br-]", {"C-H": 12, "C-N": 4, "Br-H": 1}),
        ("F[P-](F)(F)(F)(F)F", {"F-P": 6}),
        ("[Li+]", {}),
    ],
)
def test_bonds_are_drawn_as_in_the_data(smiles, bonds):
    assert bonds_of(molecule_from_smiles(smiles)) == bonds


@pytest.mark.parametrize("text", ["OCC", "[cH-]1cccc1", "CC(=O)O[Na]", "O=Cl(=O)(=O)O", "[H][H]", "[2H]OC"])
def test_the_name_is_smiles_of_the_same_graph(text):
    graph = molecule_from_smiles(text)
    again = molecule_from_smiles(graph.name)
    assert again.name == graph.name
    assert bonds_of(again) == bonds_of(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"must be text \(got NoneType\); give SMILES"),
        (b"CCO", r"must be text \(got bytes\)"),
        ("", "must not be empty"),
        (" \t\n", "must not be empty"),
        ("C" * 301, r"at most 300 characters \(got 301, 'C{40}\.\.\.'\)"),
        ("CCO ethanol", "without the compound's name"),
        ("C\0C", r"plain letters, digits and signs .*'C\\x00C'"),
        ("C≡N", r"plain letters, digits and signs .*'C\\u2261N'"),
        ("c1ccccc", r"valid SMILES \(got 'c1ccccc'\); check brackets and ring numbers"),
        ("aspirin", "valid SMILES"),
        ("CC>>CC", "valid SMILES"),
        ("C[Si](C)(C)C", r"C, O, Cl, H, N, F, Br, S, P, I, Na, K, Li, Ca \(got Si in"),
        ("C*", r"must be an element \(got the wildcard '\*' in 'C\*'\)"),
        ("C" * 200, r"at most 500 atoms with its hydrogens \(got 602 in"),
        ("C(C)(C)(C)(C)C", r"chemically possible .*valence for atom # 0 C, 5"),
        ("c1cccc1", r"chemically possible .*kekulize"),
        ("[CH400]", r"chemically possible \(got '\[CH400\]'\)"),
        ("C$C", r"single, double, triple .*\(got quadruple in 'C\$C'\)"),
        ("N->C", r"single, double, triple .*\(got dative in"),
        ("C~C", r"single, double, triple .*\(got unspecified in"),
    ],
)
def test_a_text_that_is_no_molecule_is_refused_with_the_way_out(text, message, capfd):
    with pytest.raises(ValueError, match=message):
        molecule_from_smiles(text)
    assert capfd.readouterr() == ("", "")  # RDKit's own log stays silent


@pytest.mark.parametrize("tail", ["<script>alert(1)</script>", "\x1b[31m\u202e\ud800", "C" * 200, "*" * 100])
def test_a_hostile_text_is_never_repeated_in_full(tail):
    text = "C" * 40 + tail
    with pytest.raises(ValueError, match="got") as caught:
        molecule_from_smiles(text)
    message = str(caught.value)
    assert tail not in message
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.long
def test_any_text_is_a_molecule_or_a_value_error(share):
    dice = random.Random(0)
    pieces = [*"CNOPScno()=#123-+.[]H@/\\%*~$> \0é", "[Na+]", "[O-]", "[N+]", "[nH]", "[Ca]", "c1ccccc1", "\ud800"]
    refusals = set()
    for _ in range(share(60_000)):
        text = "".join(dice.choices(pieces, k=dice.randint(0, 30)))
        try:
            assert molecule_from_smiles(text).num_nodes > 0
        except Exception as error:
            refusals.add(type(error))
    assert refusals == {ValueError}  # and none of RDKit's own kinds, which may carry the whole molecule
