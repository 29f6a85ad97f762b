"""Which data sets and models there are, and what can be said of them without a prediction."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import streamlit as st

import explainer_core as xc
from dashboard import catalogue, jobs
from dashboard.cache import Cache
from dashboard.catalogue import LAUNCHED, OWN, SHIPPED, missing_sentence, source_of
from explainer_core import Card, DatasetInfo, DataUnavailable
from explainer_core.datasets.download import is_available
from explainer_core.datasets.molecules import COMPOUNDS
from explainer_core.device import describe_device, pick_device
from explainer_core.graph import NO_LABEL

__all__ = [
    "LAUNCHED",
    "OWN",
    "SHIPPED",
    "Card",
    "DataUnavailable",
    "DatasetFacts",
    "DatasetInfo",
    "MoleculeFacts",
    "all_cards",
    "broken_cards",
    "case_cards",
    "cases",
    "compounds",
    "connect",
    "dataset_facts",
    "datasets",
    "device_name",
    "download",
    "is_here",
    "missing_sentence",
    "molecule_facts",
    "source_of",
    "title_for_files",
]


@dataclass(frozen=True)
class DatasetFacts:
    """How large a data set is. An undirected edge counts once."""

    graphs: int
    nodes: int
    edges: int
    directed: bool
    feature_names: tuple[str, ...]
    class_counts: tuple[tuple[str, int], ...]  # of those whose class is known; empty where there are no classes


@dataclass(frozen=True)
class MoleculeFacts:
    """What a SMILES turned into, by the conventions of the Mutagenicity data."""

    elements: tuple[tuple[str, int], ...]
    bonds: int

    @property
    def atoms(self) -> int:
        return sum(count for _, count in self.elements)


_FACTS: Cache[DatasetFacts] = Cache(32)


def connect(visitor: Callable[[], Hashable], pulse: Callable[[], None], token: Callable[[], str]) -> None:
    """Who asks, in the thread that asks: a name for the queue, a word with them now and then, and the token by which what
    they brought is found."""
    jobs.connect(visitor, pulse)
    catalogue.connect(token)


def datasets() -> dict[str, DatasetInfo]:
    """For the visitor who asks: what the server was started with, what they brought, what ships."""
    return catalogue.datasets()


def title_for_files(name: str) -> str:
    """What ships goes by its name; what was brought, by what people call it."""
    info = None if source_of(name) == SHIPPED else datasets().get(name)
    return name if info is None else info.title


def cases() -> dict[str, DatasetInfo]:
    """Data with a planted fault, which have a list of their own."""
    return xc.CASES


@st.cache_data(max_entries=1, show_spinner=False)
def device_name() -> str:
    return describe_device(pick_device())


def is_here(info: DatasetInfo) -> bool:
    """True if the data can be read with no network."""
    return info.archive is None or is_available(info.archive)


def download(name: str, progress: Callable[[int, int], None]) -> None:
    """Fetches a data set into the cache folder; raises DataUnavailable with one sentence if it cannot be had."""
    xc.load_dataset(name, progress=progress)


def dataset_facts(name: str) -> DatasetFacts:
    """Raises DataUnavailable."""
    with st.spinner("Reading the data"):
        return _FACTS.get_or_create(name, lambda: facts_of(catalogue.load_data(name)))


def facts_of(data: xc.Graph | xc.GraphSet) -> DatasetFacts:
    """The data themselves are let go: REDDIT-BINARY alone has a million edges."""
    many = isinstance(data, xc.GraphSet)
    union = xc.Graph(x=data.x, edge_index=data.edge_index)
    edges = union.num_edges // 2 if union.is_undirected else union.num_edges
    known = None if data.labels is None else data.labels[data.labels != NO_LABEL]
    counts = [] if known is None else known.bincount(minlength=data.num_classes).tolist()
    return DatasetFacts(
        graphs=len(data) if many else 1,
        nodes=union.num_nodes,
        edges=edges,
        directed=not union.is_undirected,
        feature_names=tuple(data.feature_names),
        class_counts=tuple(zip(data.class_names, counts, strict=True)) if counts else (),
    )


def all_cards() -> list[Card]:
    """The cards of all data sets that the visitor sees, without those that cannot be read."""
    return catalogue.brought_cards() + catalogue.shipped_cards()


def cards_of(dataset: str) -> list[Card]:
    """Those of them that are of one data set, main networks first."""
    shipped = xc.list_cards(dataset) if dataset in xc.DATASETS else []
    return [card for card in catalogue.brought_cards() if card.dataset == dataset] + shipped


def case_cards() -> list[Card]:
    """The cards of the networks that fell for a planted fault."""
    return [card for case in xc.CASES for card in xc.list_cards(case)]


def broken_cards() -> dict[str, str]:
    """A sentence for each network that is left out, because its card or its weights cannot be read, by its file's name."""
    return catalogue.broken_cards()


@st.cache_data(max_entries=1, show_spinner=False)
def compounds() -> list[tuple[str, str, str]]:
    """Name, class and SMILES of the well-known compounds."""
    return [(c.name, "mutagen" if c.mutagen else "nonmutagen", c.smiles) for c in COMPOUNDS]


@st.cache_data(max_entries=256, show_spinner=False)
def molecule_facts(text: str) -> MoleculeFacts:
    """Raises ValueError with one sentence if the text is no molecule the models can read."""
    graph = xc.molecule_from_smiles(text)
    return MoleculeFacts(elements=tuple(Counter(graph.node_names).items()), bonds=graph.num_edges // 2)
