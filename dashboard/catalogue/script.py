"""A script of the user's that defines `model` and `data`, run by the server and by each of its workers; never an upload.

What the script makes in the server is what counts: workers take its numbers, in case they came from a random start.
"""

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dashboard.catalogue import launched
from dashboard.catalogue.entry import Entry
from dashboard.catalogue.given import entry_of
from dashboard.limits import PREFIX
from dashboard.private_folder import private_folder
from explainer_core.adapters.weights import weights_from_bytes, weights_to_bytes
from explainer_core.graph.files import from_bytes, to_bytes

SCRIPT = f"{PREFIX}SCRIPT"  # the environment variable with its path
MODULE = "graph_explainer_script"
FOLDER = "script"
OPTIONS = ("name", "class_names", "feature_names", "node_names", "split", "task", "output")
_state = {"running": False}


class ScriptError(ValueError):
    """What is wrong with a script, with its lines."""


def is_running() -> bool:
    return _state["running"]


def run_in_server(path: Path) -> None:
    """Adds what the script defines to the catalogue, and keeps its numbers for the workers, who are told of the script."""
    path = path.resolve()
    entry = _entry(path, _imported(path))
    folder = private_folder() / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "data.safetensors").write_bytes(to_bytes(entry.info.load()))
    for number, card in enumerate(entry.cards):
        network = _module(entry.load_model(card.model))
        if network is not None:
            (folder / f"{number}.safetensors").write_bytes(weights_to_bytes(network))
    (folder / "parts.json").write_text(json.dumps(None if entry.parts is None else entry.parts.tolist()))
    launched.add(entry)
    os.environ[SCRIPT] = str(path)


def run_in_worker() -> None:
    """The same entry in a worker of that server; nothing where it was started without a script."""
    if SCRIPT not in os.environ or launched.entries():
        return
    path, folder = Path(os.environ[SCRIPT]), private_folder() / FOLDER
    module = _imported(path)
    for number, network in enumerate(map(_module, _networks(module.model))):
        if network is not None:
            weights_from_bytes(network, (folder / f"{number}.safetensors").read_bytes())
    vars(module)["data"] = from_bytes((folder / "data.safetensors").read_bytes())
    parts = json.loads((folder / "parts.json").read_text())
    launched.add(replace(_entry(path, module), parts=None if parts is None else np.array(parts, dtype="<U5")))


def _networks(model: Any) -> Iterator[Any]:
    return iter(model.values()) if isinstance(model, Mapping) else iter([model])


def _module(network: Any) -> Any:
    """The torch module in it; None where there is none, and so no weights that could differ."""
    found = getattr(network, "module", network)
    return found if hasattr(found, "state_dict") else None


def _entry(path: Path, module: ModuleType) -> Entry:
    """Raises ScriptError for a script that does not define what is needed, or that can not be explained."""
    missing = [each for each in ("model", "data") if not hasattr(module, each)]
    if missing:
        raise ScriptError(f"{path.name} must define model and data (got no {' and no '.join(missing)})")
    options = {each: getattr(module, each) for each in OPTIONS if hasattr(module, each)}
    options.setdefault("name", path.stem[:60])
    try:
        return entry_of(module.model, module.data, **options)
    except ValueError as error:
        raise ScriptError(f"{path.name}: {error}") from error


def _imported(path: Path) -> ModuleType:
    """The script as a module, once it has run; `__name__` is not "__main__" there."""
    if not path.is_file():
        raise ScriptError(f"the script must be a Python file (got none at {path})")
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise ScriptError(f"the script must be a Python file, NAME.py (got {path.name})")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # so that its classes know where they come from
    sys.path.insert(0, str(path.parent))  # as Python itself does
    _state["running"] = True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ScriptError(_told(path, error)) from error
    finally:
        _state["running"] = False
    return module


def _told(path: Path, error: BaseException) -> str:
    """The error as Python tells it, from the script's own lines on."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if Path(frame.filename) == path), len(frames))
    lines = [*traceback.format_list(frames[first:]), *traceback.format_exception_only(error)]
    return f"{path.name} must run without errors (got one):\n" + "".join(lines).rstrip()
