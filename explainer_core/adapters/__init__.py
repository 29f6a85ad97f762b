"""Any torch or PyTorch Geometric network as a Model: called as it wants, masked from outside, measured instead of asked."""

from explainer_core.adapters.adapt import adapt, as_model, check_kind
from explainer_core.adapters.adapted import Adapted

__all__ = ["Adapted", "adapt", "as_model", "check_kind"]
