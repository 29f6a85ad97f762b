"""Libraries that only some of the package needs: loaded when first used, with one sentence where they are missing."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING


class MissingExtra(ImportError):
    """A library that an extra of the package would have installed."""


def load_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """The module, or a MissingExtra that says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != library:
            raise  # the library is there and lacks something itself: another story
        raise MissingExtra(
            f"{purpose} needs {library} (not installed); run: pip install 'graph-explainer[{extra}]'"
        ) from error


class LazyModule:
    """Stands for a module of an extra, and loads it when something in it is first asked for."""

    def __init__(self, module: str, extra: str, purpose: str):
        self._wanted = (module, extra, purpose)
        self._module: ModuleType | None = None

    def __getattr__(self, name: str):
        if self._module is None:
            self._module = load_extra(*self._wanted)
        return getattr(self._module, name)


if TYPE_CHECKING:
    import torch_geometric.data as pyg_data
    import torch_geometric.explain as pyg_explain
    from pyvis import network as pyvis_network
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.MolStandardize import rdMolStandardize
else:
    Chem, rdBase, rdDepictor, rdMolStandardize = (
        LazyModule(module, "chem", "reading or drawing a molecule")
        for module in (
            "rdkit.Chem",
            "rdkit.rdBase",
            "rdkit.Chem.rdDepictor",
            "rdkit.Chem.MolStandardize.rdMolStandardize",
        )
    )
    pyg_data, pyg_explain = (
        LazyModule(module, "pyg", "PyTorch Geometric's form of a graph")
        for module in ("torch_geometric.data", "torch_geometric.explain")
    )
    pyvis_network = LazyModule("pyvis.network", "notebook", "an interactive network")
