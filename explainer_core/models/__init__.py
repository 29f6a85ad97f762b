"""Graph neural networks in plain torch, and what an explainer asks of any network."""

from explainer_core.models.gnn import GNN
from explainer_core.models.layers import LayerInputs
from explainer_core.models.protocol import Model, PredictionBatch
from explainer_core.models.spec import KINDS, READOUTS, TASKS, ModelSpec

__all__ = ["GNN", "KINDS", "READOUTS", "TASKS", "LayerInputs", "Model", "ModelSpec", "PredictionBatch"]
