"""Molecules as people write them: any SMILES read into a graph, and well-known compounds with known answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from explainer_core.datasets.chemistry import BONDS, MUTAGENICITY_ATOMS, MUTAGENICITY_CLASSES, functional_groups
from explainer_core.extras import Chem, rdBase, rdMolStandardize
from explainer_core.graph import Graph, GraphSet

MAX_CHARACTERS = 300
MAX_ATOMS = 500  # with hydrogens; the largest molecule of the Mutagenicity data has 417
SHOWN = 40  # how much of a text an error repeats

METALS = ("Na", "K", "Li", "Ca")
DRAWN_WITH_DOUBLE_BONDS = ("S", "P", "Cl", "Br", "I")
BOND_NUMBERS = {"SINGLE": 0, "DOUBLE": 1, "TRIPLE": 2}  # by RDKit's names


@dataclass(frozen=True)
class Compound:
    """A compound by its common name; `mutagen` is the accepted outcome of the Ames test on bacteria."""

    name: str
    smiles: str
    mutagen: bool


def molecule_from_smiles(text: str, name: str | None = None) -> Graph:
    """The graph the Mutagenicity models see for a SMILES, drawn by the conventions of their data.

    There, hydrogens are atoms, aromatic rings alternate single and double bonds, a nitro group is N(=O)-O, acids
    and bases are neutral (a hydrochloride is a molecule of HCl alongside) and metal ions stand alone.
    """
    text = _checked_text(text)
    with rdBase.BlockLogs():  # RDKit also prints what it raises; a typing error is no news for the server's log
        mol = _neutral(_parsed(text), text)
        title = Chem.MolToSmiles(mol)
        mol = _drawn_out(mol, text)
    symbols = [atom.GetSymbol() for atom in mol.GetAtoms()]
    x = torch.eye(len(MUTAGENICITY_ATOMS))[[MUTAGENICITY_ATOMS.index(symbol) for symbol in symbols]]  # (N, 14)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), _bond_number(bond, text)) for bond in mol.GetBonds()]
    rows = sorted(bonds + [(b, a, kind) for a, b, kind in bonds])
    edges = torch.tensor(rows, dtype=torch.int64).reshape(-1, 3).t().contiguous()  # (3, E)
    node_motif, edge_motif = functional_groups(x, edges[:2])
    return Graph(
        x=x,
        edge_index=edges[:2],
        name=name or title,
        edge_types=edges[2],
        node_motif=node_motif,
        edge_motif=edge_motif,
        node_names=symbols,
        class_names=MUTAGENICITY_CLASSES,
        feature_names=MUTAGENICITY_ATOMS,
        edge_type_names=BONDS,
    )


def molecules() -> GraphSet:
    """All well-known compounds, each with its name and its known class."""
    graphs = [
        replace(
            molecule_from_smiles(compound.smiles, compound.name),
            label=MUTAGENICITY_CLASSES.index("mutagen" if compound.mutagen else "nonmutagen"),
        )
        for compound in COMPOUNDS
    ]
    return GraphSet.from_graphs(graphs, name="molecules")


def _checked_text(text: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"a molecule must be text (got {type(text).__name__}); give SMILES, for example 'Nc1ccccc1'")
    text = text.strip()
    if not text:
        raise ValueError("a molecule must not be empty (got no characters); give SMILES, for example 'Nc1ccccc1'")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(
            f"a SMILES must be at most {MAX_CHARACTERS} characters (got {len(text)}, {_shown(text)}); choose a smaller molecule"
        )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError(
            f"a SMILES must be plain letters, digits and signs without spaces (got {_shown(text)}); "
            "give the SMILES alone, without the compound's name"
        )
    return text


def _parsed(text: str) -> Chem.Mol:
    """The atoms and bonds as typed, not yet checked for valence, so that an unknown element is named first."""
    params = Chem.SmilesParserParams()
    params.sanitize = params.removeHs = params.allowCXSMILES = params.parseName = False
    mol = Chem.MolFromSmiles(text, params)
    if mol is None or mol.GetNumAtoms() == 0:
        raise ValueError(
            f"a molecule must be valid SMILES (got {_shown(text)}); check brackets and ring numbers, "
            "or copy the SMILES from a database such as PubChem"
        )
    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() == 0:
            raise ValueError(f"every atom must be an element (got the wildcard '*' in {_shown(text)}); name the atom")
        if atom.GetSymbol() not in MUTAGENICITY_ATOMS:
            raise ValueError(
                f"atoms must be among those the models have seen, {', '.join(MUTAGENICITY_ATOMS)} "
                f"(got {atom.GetSymbol()} in {_shown(text)}); choose a molecule made of these"
            )
    return mol


def _neutral(mol: Chem.Mol, text: str) -> Chem.Mol:
    """Metals cut loose, valences checked, every charge taken away that a hydrogen more or less can take away."""
    mol = Chem.RWMol(mol)
    for atom in mol.GetAtoms():
        if atom.GetSymbol() in METALS:
            atom.SetNumExplicitHs(0)
            atom.SetNoImplicit(True)
    salt_bonds = [
        (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        for bond in mol.GetBonds()
        if {bond.GetBeginAtom().GetSymbol(), bond.GetEndAtom().GetSymbol()} & set(METALS)
    ]
    for ends in salt_bonds:
        mol.RemoveBond(*ends)
    try:
        Chem.SanitizeMol(mol)
        mol = Chem.RemoveHs(mol)
        neutral = rdMolStandardize.Uncharger(canonicalOrder=True, force=True).uncharge(mol)
        # Some ions, like hexafluorophosphate, have no room for a hydrogen; they keep their charge.
        return mol if Chem.SanitizeMol(neutral, catchErrors=True) else neutral
    except (ValueError, RuntimeError) as error:
        raise _impossible(text, error) from None


def _drawn_out(mol: Chem.Mol, text: str) -> Chem.Mol:
    """Every hydrogen an atom, every aromatic ring in single and double bonds."""
    try:
        mol = Chem.AddHs(mol)
        Chem.Kekulize(mol, clearAromaticFlags=True)
    except (ValueError, RuntimeError) as error:
        raise _impossible(text, error) from None
    if mol.GetNumAtoms() > MAX_ATOMS:
        raise ValueError(
            f"a molecule must have at most {MAX_ATOMS} atoms with its hydrogens (got {mol.GetNumAtoms()} in {_shown(text)}); "
            "choose a smaller one"
        )
    return mol


def _bond_number(bond: Chem.Bond, text: str) -> int:
    kind = bond.GetBondType().name
    if kind not in BOND_NUMBERS:
        raise ValueError(
            f"bonds must be {', '.join(BONDS)} or part of an aromatic ring (got {kind.lower()} in {_shown(text)}); "
            "write the bond as one of these"
        )
    # RDKit splits charges in perchlorate, and people write sulfoxides both ways; the data knows the double bond only.
    for atom, other in ((bond.GetBeginAtom(), bond.GetEndAtom()), (bond.GetEndAtom(), bond.GetBeginAtom())):
        positive = atom.GetSymbol() in DRAWN_WITH_DOUBLE_BONDS and atom.GetFormalCharge() > 0
        if positive and other.GetSymbol() == "O" and other.GetFormalCharge() < 0:
            return BONDS.index("double")
    return BOND_NUMBERS[kind]


def _impossible(text: str, error: Exception) -> ValueError:
    # RDKit explains what it was asked to check (ValueError); its internal complaints (RuntimeError) help nobody.
    reason = f": {str(error)[:100].strip()}" if isinstance(error, ValueError) else ""
    return ValueError(
        f"a molecule must be chemically possible (got {_shown(text)}{reason}); check bonds, charges and aromatic rings"
    )


def _shown(text: str) -> str:
    """A text short and escaped enough to stand in a message."""
    return ascii(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def _mutagens(*pairs: tuple[str, str]) -> tuple[Compound, ...]:
    return tuple(Compound(name, smiles, mutagen=True) for name, smiles in pairs)


def _nonmutagens(*pairs: tuple[str, str]) -> tuple[Compound, ...]:
    return tuple(Compound(name, smiles, mutagen=False) for name, smiles in pairs)


COMPOUNDS: tuple[Compound, ...] = (
    *_mutagens(
        ("2-nitrofluorene", "O=[N+]([O-])c1ccc2c(c1)Cc1ccccc1-2"),
        ("1-nitropyrene", "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34"),
        ("1,8-dinitropyrene", "O=[N+]([O-])c1ccc2ccc3ccc([N+](=O)[O-])c4ccc1c2c34"),
        ("4-nitroquinoline 1-oxide", "O=[N+]([O-])c1cc[n+]([O-])c2ccccc12"),
        ("TNT", "Cc1c([N+](=O)[O-])cc([N+](=O)[O-])cc1[N+](=O)[O-]"),
        ("nitrofurantoin", "O=C1CN(/N=C/c2ccc([N+](=O)[O-])o2)C(=O)N1"),
        ("nitrofurazone", "NC(=O)N/N=C/c1ccc([N+](=O)[O-])o1"),
        ("furazolidone", "O=C1OCCN1/N=C/c1ccc([N+](=O)[O-])o1"),
        ("furylfuramide", "NC(=O)/C(=C/c1ccc([N+](=O)[O-])o1)c1ccco1"),
        ("metronidazole", "Cc1ncc([N+](=O)[O-])n1CCO"),
        ("niridazole", "O=C1NCCN1c1ncc([N+](=O)[O-])s1"),
        ("4-nitro-o-phenylenediamine", "Nc1ccc([N+](=O)[O-])cc1N"),
        ("2-naphthylamine", "Nc1ccc2ccccc2c1"),
        ("benzidine", "Nc1ccc(-c2ccc(N)cc2)cc1"),
        ("3,3'-dichlorobenzidine", "Nc1ccc(-c2ccc(N)c(Cl)c2)cc1Cl"),
        ("4-aminobiphenyl", "Nc1ccc(-c2ccccc2)cc1"),
        ("2-aminoanthracene", "Nc1ccc2cc3ccccc3cc2c1"),
        ("2-aminofluorene", "Nc1ccc2c(c1)Cc1ccccc1-2"),
        ("2-acetylaminofluorene", "CC(=O)Nc1ccc2c(c1)Cc1ccccc1-2"),
        ("2,4-diaminotoluene", "Cc1ccc(N)cc1N"),
        ("4-aminoazobenzene", "Nc1ccc(/N=N/c2ccccc2)cc1"),
        ("o-aminoazotoluene", "Cc1ccccc1/N=N/c1ccc(N)c(C)c1"),
        ("9-aminoacridine", "Nc1c2ccccc2nc2ccccc12"),
        ("proflavine", "Nc1ccc2cc3ccc(N)cc3nc2c1"),
        ("ethidium", "CC[n+]1c(-c2ccccc2)c2cc(N)ccc2c2ccc(N)cc21"),
        ("IQ (from grilled meat)", "Cn1c(N)nc2c1ccc1ncccc12"),
        ("PhIP (from grilled meat)", "Cn1c(N)nc2ncc(-c3ccccc3)cc21"),
        ("Trp-P-2 (from grilled meat)", "Cc1nc(N)cc2[nH]c3ccccc3c12"),
        ("benzo[a]pyrene", "c1ccc2c(c1)cc1ccc3cccc4ccc2c1c34"),
        ("dibenz[a,h]anthracene", "c1ccc2c(c1)ccc1cc3c(ccc4ccccc43)cc12"),
        ("7,12-dimethylbenz[a]anthracene", "Cc1c2ccccc2c(C)c2c1ccc1ccccc12"),
        ("3-methylcholanthrene", "Cc1ccc2cc3c(ccc4ccccc43)c3c2c1CC3"),
        ("quinoline", "c1ccc2ncccc2c1"),
        ("aflatoxin B1", "COc1cc2c(c3oc(=O)c4c(c13)CCC4=O)C1C=COC1O2"),
        ("sterigmatocystin", "COc1cc2c(c3oc4cccc(O)c4c(=O)c13)C1C=COC1O2"),
        ("N-nitrosodimethylamine", "CN(C)N=O"),
        ("N-nitrosodiethylamine", "CCN(CC)N=O"),
        ("N-methyl-N-nitrosourea", "CN(N=O)C(N)=O"),
        ("MNNG", "CN(N=O)C(=N)N[N+](=O)[O-]"),
        ("streptozotocin", "CN(N=O)C(=O)NC1C(O)OC(CO)C(O)C1O"),
        ("methyl methanesulfonate", "COS(C)(=O)=O"),
        ("ethyl methanesulfonate", "CCOS(C)(=O)=O"),
        ("dimethyl sulfate", "COS(=O)(=O)OC"),
        ("beta-propiolactone", "O=C1CCO1"),
        ("ethylene oxide", "C1CO1"),
        ("epichlorohydrin", "ClCC1CO1"),
        ("1,2-dibromoethane", "BrCCBr"),
        ("cyclophosphamide", "O=P1(N(CCCl)CCCl)NCCCO1"),
        ("melphalan", "NC(Cc1ccc(N(CCCl)CCCl)cc1)C(=O)O"),
    ),
    *_nonmutagens(
        ("caffeine", "Cn1c(=O)c2c(ncn2C)n(C)c1=O"),
        ("theophylline", "Cn1c(=O)c2[nH]cnc2n(C)c1=O"),
        ("nicotine", "CN1CCCC1c1cccnc1"),
        ("aspirin", "CC(=O)Oc1ccccc1C(=O)O"),
        ("salicylic acid", "O=C(O)c1ccccc1O"),
        ("paracetamol", "CC(=O)Nc1ccc(O)cc1"),
        ("ibuprofen", "CC(C)Cc1ccc(C(C)C(=O)O)cc1"),
        ("naproxen", "COc1ccc2cc(C(C)C(=O)O)ccc2c1"),
        ("diazepam", "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"),
        ("diphenhydramine", "CN(C)CCOC(c1ccccc1)c1ccccc1"),
        ("lidocaine", "CCN(CC)CC(=O)Nc1c(C)cccc1C"),
        ("dapsone", "Nc1ccc(S(=O)(=O)c2ccc(N)cc2)cc1"),
        ("sulfamethoxazole", "Cc1cc(NS(=O)(=O)c2ccc(N)cc2)no1"),
        ("ampicillin", "CC1(C)SC2C(NC(=O)C(N)c3ccccc3)C(=O)N2C1C(=O)O"),
        ("glucose", "OCC1OC(O)C(O)C(O)C1O"),
        ("sucrose", "OCC1OC(OC2(CO)OC(CO)C(O)C2O)C(O)C(O)C1O"),
        ("mannitol", "OCC(O)C(O)C(O)C(O)CO"),
        ("vitamin C", "OCC(O)C1OC(=O)C(O)=C1O"),
        ("citric acid", "OC(=O)CC(O)(CC(=O)O)C(=O)O"),
        ("benzoic acid", "OC(=O)c1ccccc1"),
        ("saccharin", "O=C1NS(=O)(=O)c2ccccc12"),
        ("glycine", "NCC(=O)O"),
        ("phenylalanine", "NC(Cc1ccccc1)C(=O)O"),
        ("tryptophan", "NC(Cc1c[nH]c2ccccc12)C(=O)O"),
        ("urea", "NC(N)=O"),
        ("melamine", "Nc1nc(N)nc(N)n1"),
        ("ethanol", "CCO"),
        ("acetone", "CC(C)=O"),
        ("dimethyl sulfoxide", "CS(C)=O"),
        ("glycerol", "OCC(O)CO"),
        ("benzene", "c1ccccc1"),
        ("toluene", "Cc1ccccc1"),
        ("phenol", "Oc1ccccc1"),
        ("aniline", "Nc1ccccc1"),
        ("nitrobenzene", "O=[N+]([O-])c1ccccc1"),
        ("anthranilic acid", "Nc1ccccc1C(=O)O"),
        ("naphthalene", "c1ccc2ccccc2c1"),
        ("chloroform", "ClC(Cl)Cl"),
        ("DDT", "Clc1ccc(C(c2ccc(Cl)cc2)C(Cl)(Cl)Cl)cc1"),
        ("menthol", "CC1CCC(C(C)C)C(O)C1"),
        ("limonene", "CC1=CCC(C(C)=C)CC1"),
        ("camphor", "CC1(C)C2CCC1(C)C(=O)C2"),
        ("vanillin", "COc1cc(C=O)ccc1O"),
        ("eugenol", "COc1cc(CC=C)ccc1O"),
        ("cholesterol", "CC(C)CCCC(C)C1CCC2C3CC=C4CC(O)CCC4(C)C3CCC12C"),
    ),
)

# The compounds that the Mutagenicity data do not contain: only these can test models trained on it.
NOT_IN_MUTAGENICITY = frozenset(
    (
        *("streptozotocin", "theophylline", "salicylic acid", "paracetamol", "diphenhydramine", "lidocaine"),
        *("sulfamethoxazole", "ampicillin", "glucose", "sucrose", "saccharin", "tryptophan", "dimethyl sulfoxide"),
        *("aniline", "naphthalene", "chloroform", "camphor", "eugenol", "cholesterol"),
    )
)
