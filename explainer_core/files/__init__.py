"""Graphs from files that strangers send: CSV, GraphML, node-link JSON and SMILES, within stated limits."""

from explainer_core.files.columns import Options
from explainer_core.files.limits import (
    MAX_BYTES,
    MAX_CLASSES,
    MAX_EDGES,
    MAX_FEATURES,
    MAX_MOLECULES,
    MAX_NODES,
)
from explainer_core.files.problem import FileProblem
from explainer_core.files.reading import FORMATS, Format, Reading, read_files
from explainer_core.files.text import SentFile

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "MAX_CLASSES",
    "MAX_EDGES",
    "MAX_FEATURES",
    "MAX_MOLECULES",
    "MAX_NODES",
    "FileProblem",
    "Format",
    "Options",
    "Reading",
    "SentFile",
    "read_files",
]
