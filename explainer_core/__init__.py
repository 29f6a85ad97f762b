"""See why a graph neural network predicted what it did."""

from explainer_core.adapters import Adapted, adapt
from explainer_core.api import LearningStep, explain, explain_many, explain_starts, explain_steps, weigh
from explainer_core.config import ExplainConfig
from explainer_core.datasets.download import DataUnavailable
from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.datasets.registry import CASES, DATASETS, DatasetInfo, load_dataset
from explainer_core.debugging.causes import Cause, cause_of, causes_of
from explainer_core.debugging.editing import Edited, apply_edits
from explainer_core.debugging.edits import (
    AddEdge,
    CutEdge,
    DeleteNode,
    HideFeature,
    RestoreEdge,
    SetFeature,
    SetType,
    edits_from_json,
    edits_from_text,
    edits_to_json,
    edits_to_text,
)
from explainer_core.debugging.flip import Flip, flip, flip_many
from explainer_core.debugging.instances import InstanceFilter, Instances, instances_of, link_instances
from explainer_core.debugging.mistakes import Overview, overview
from explainer_core.debugging.patterns import Group, Pattern, Trait
from explainer_core.debugging.systematic import Systematic, systematic_mistakes
from explainer_core.debugging.two_networks import TwoNetworks, compare_networks
from explainer_core.explanation.extraction import Subgraph
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.trust import trust
from explainer_core.explanation.verdict import Verdict
from explainer_core.extras import MissingExtra
from explainer_core.files import read_files
from explainer_core.graph import Graph, GraphSet
from explainer_core.methods import DEFAULT_METHOD, METHODS
from explainer_core.methods.method import Method
from explainer_core.models import Model, ModelSpec, PredictionBatch
from explainer_core.predictions import Prediction, predict
from explainer_core.prototypes.prototype import Prototype
from explainer_core.prototypes.request import prototype
from explainer_core.targets import Link, Node, WholeGraph
from explainer_core.version import __version__
from explainer_core.zoo.own_data import read_network
from explainer_core.zoo.pretrained import Card, PretrainedError, list_cards, load_pretrained
from explainer_core.zoo.tasks import make_task
from explainer_core.zoo.training import TrainConfig, train

__all__ = [
    "CASES",
    "DATASETS",
    "DEFAULT_METHOD",
    "METHODS",
    "Adapted",
    "AddEdge",
    "Card",
    "Cause",
    "CutEdge",
    "DataUnavailable",
    "DatasetInfo",
    "DeleteNode",
    "Edited",
    "ExplainConfig",
    "Explanation",
    "Flip",
    "Graph",
    "GraphSet",
    "Group",
    "HideFeature",
    "InstanceFilter",
    "Instances",
    "LearningStep",
    "Link",
    "Method",
    "MissingExtra",
    "Model",
    "ModelSpec",
    "Node",
    "Overview",
    "Pattern",
    "Prediction",
    "PredictionBatch",
    "PretrainedError",
    "Prototype",
    "RestoreEdge",
    "SetFeature",
    "SetType",
    "Subgraph",
    "Systematic",
    "TrainConfig",
    "Trait",
    "TwoNetworks",
    "Verdict",
    "WholeGraph",
    "__version__",
    "adapt",
    "apply_edits",
    "cause_of",
    "causes_of",
    "compare_networks",
    "edits_from_json",
    "edits_from_text",
    "edits_to_json",
    "edits_to_text",
    "explain",
    "explain_many",
    "explain_starts",
    "explain_steps",
    "flip",
    "flip_many",
    "instances_of",
    "link_instances",
    "list_cards",
    "load_dataset",
    "load_pretrained",
    "make_task",
    "molecule_from_smiles",
    "overview",
    "predict",
    "prototype",
    "read_files",
    "read_network",
    "systematic_mistakes",
    "train",
    "trust",
    "weigh",
]
