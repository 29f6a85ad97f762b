"""The data sets by name: what each one is, and how to load it."""

from collections.abc import Callable
from dataclasses import dataclass

from explainer_core.checks import one_of
from explainer_core.datasets import ba_2motifs, case_molecules, cases, cora, molecules, social, synthetic, tu
from explainer_core.datasets.download import Archive, Progress
from explainer_core.graph import Graph, GraphSet


@dataclass(frozen=True)
class DatasetInfo:
    """What a person needs to choose a data set. `task` is what its main model predicts: node, graph or link."""

    name: str
    title: str
    task: str
    summary: str
    load: Callable[..., Graph | GraphSet]
    archive: Archive | None = None
    generated: bool = False
    models_of: str | None = None  # the data set whose models judge this one, where it has none of its own
    citation: str = ""


def load_dataset(name: str, *, seed: int = 0, progress: Progress | None = None) -> Graph | GraphSet:
    """A data set by its name in DATASETS. Only generated sets depend on the seed; only downloads report progress."""
    info = dataset_info(name)
    if info.generated:
        return info.load(seed=seed)
    return info.load(progress=progress) if info.archive else info.load()


def dataset_info(name: str) -> DatasetInfo:
    if isinstance(name, str) and name in CASES:
        return CASES[name]
    return DATASETS[one_of("data set", name, DATASETS)]


def planted_fault(name: str, seed: int = 0) -> cases.Planted:
    """The fault of a case, with the data it is in."""
    return _FAULTS[one_of("case", name, _FAULTS)](seed)


def _paper(name: str, title: str, load, summary: str) -> DatasetInfo:
    return DatasetInfo(name, title, "node", summary, load, generated=True, citation="Ying et al. 2019")


DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        _paper(
            "ba_shapes",
            "BA-Shapes",
            synthetic.ba_shapes,
            "Houses hung on a random graph; the class of a node is its place in the house.",
        ),
        _paper(
            "ba_community",
            "BA-Community",
            synthetic.ba_community,
            "Two BA-Shapes side by side; the class is the place in the house and the community, which one feature tells.",
        ),
        _paper(
            "tree_cycles",
            "Tree-Cycles",
            synthetic.tree_cycles,
            "Six-cycles hung on a binary tree; is a node part of a cycle?",
        ),
        _paper(
            "tree_grid",
            "Tree-Grid",
            synthetic.tree_grid,
            "3-by-3 grids hung on a binary tree; is a node part of a grid?",
        ),
        DatasetInfo(
            "ba_2motifs",
            "BA-2motifs",
            "graph",
            "1,000 small random trees with a house or a ring of five hung on each; which of the two is it?",
            ba_2motifs.ba_2motifs,
            generated=True,
            citation="Luo et al. 2020 (PGExplainer)",
        ),
        DatasetInfo(
            "karate",
            "Karate club",
            "node",
            "34 members of a club that split in two; who went with whom?",
            social.karate,
            citation="Zachary 1977",
        ),
        DatasetInfo(
            "les_miserables",
            "Les Misérables",
            "link",
            "77 characters of the novel; which two appear in a chapter together?",
            social.les_miserables,
            citation="Knuth 1993",
        ),
        DatasetInfo(
            "mutagenicity",
            "Mutagenicity",
            "graph",
            "4,337 molecules; does a molecule damage the DNA of bacteria? Nitro and amino groups are the known culprits.",
            tu.mutagenicity,
            archive=tu.MUTAGENICITY,
            citation="Kazius et al. 2005; Riesen & Bunke 2008",
        ),
        DatasetInfo(
            "mutag",
            "MUTAG",
            "graph",
            "188 aromatic nitro compounds; which ones are mutagens?",
            tu.mutag,
            archive=tu.MUTAG,
            citation="Debnath et al. 1991; Morris et al. 2020",
        ),
        DatasetInfo(
            "reddit_binary",
            "REDDIT-BINARY",
            "graph",
            "2,000 discussion threads, users joined by replies; questions with answers, or open discussion?",
            tu.reddit_binary,
            archive=tu.REDDIT_BINARY,
            citation="Yanardag & Vishwanathan 2015; Morris et al. 2020",
        ),
        DatasetInfo(
            "cora",
            "Cora",
            "node",
            "2,708 machine-learning papers joined by citations; which field is a paper from?",
            cora.cora,
            archive=cora.CORA,
            citation="Sen et al. 2008",
        ),
        DatasetInfo(
            "molecules",
            "Molecules",
            "graph",
            "A shelf of well-known compounds, and any molecule you type as SMILES; judged by the Mutagenicity models.",
            molecules.molecules,
            models_of="mutagenicity",
        ),
    )
}

PAPERS = "5,000 papers joined by citations, with the words they have; which field is a paper from?"
COMPOUNDS = "1,200 molecules; does an assay call them mutagens?"
_FAULTS: dict[str, Callable[[int], cases.Planted]] = {
    "case_1": cases.leaked_word,
    "case_2": cases.training_hub,
    "case_3": cases.shuffled_part,
    "case_4": case_molecules.chlorine_in_mutagens,
}


def _case(name: str, task: str, summary: str) -> DatasetInfo:
    title = name.replace("_", " ").capitalize()
    return DatasetInfo(name, title, task, summary, lambda seed=0: _FAULTS[name](seed).data, generated=True)


# Made here, each with one fault that its network has fallen for. They have a list of their own: nobody should meet them by chance.
CASES: dict[str, DatasetInfo] = {
    name: _case(name, "graph" if name == "case_4" else "node", COMPOUNDS if name == "case_4" else PAPERS)
    for name in _FAULTS
}
