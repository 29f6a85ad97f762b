"""Where the trained weights are that come with the package."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("explainer_core")))
INSTALLED = PACKAGE / "weights"  # setup.py puts pretrained/ there when it builds a wheel
IN_CHECKOUT = PACKAGE.parent / "pretrained"

FOLDER = INSTALLED if INSTALLED.is_dir() else IN_CHECKOUT
# A model trained by hand must not replace one that pip has installed, and pip's folder may not be writable.
OUTPUT_FOLDER = Path("pretrained") if INSTALLED.is_dir() else IN_CHECKOUT
