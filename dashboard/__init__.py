"""Draws the explanations of explainer_core: a Streamlit page, thin, with no computing of its own.

    from dashboard import launch
    launch(model, data)

opens it on a network and a graph of one's own.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.launching import launch

__all__ = ["launch"]


def __getattr__(name: str) -> object:
    """When it is asked for: most of the package must not wait for torch."""
    if name == "launch":
        from dashboard.launching import launch

        return launch
    raise AttributeError(f"module 'dashboard' has no attribute {name!r}")
