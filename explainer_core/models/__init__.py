"""Graph neural networks in plain torch; every layer takes edge weights as an argument."""

from explainer_core.models.gnn import GNN, KINDS, READOUTS, TASKS, ModelSpec
from explainer_core.models.layers import Wiring

__all__ = ["GNN", "KINDS", "READOUTS", "TASKS", "ModelSpec", "Wiring"]
