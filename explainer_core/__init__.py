"""See why a graph neural network predicted what it did."""

from explainer_core.datasets.download import DataUnavailable
from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.datasets.registry import DATASETS, DatasetInfo, load_dataset
from explainer_core.graph import Graph, GraphSet
from explainer_core.pretrained import Card, PretrainedError, list_cards, load_pretrained

__all__ = [
    "DATASETS",
    "Card",
    "DataUnavailable",
    "DatasetInfo",
    "Graph",
    "GraphSet",
    "PretrainedError",
    "list_cards",
    "load_dataset",
    "load_pretrained",
    "molecule_from_smiles",
]
