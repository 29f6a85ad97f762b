"""The one step that pyproject.toml cannot describe: two folders of the checkout are installed inside the packages."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# The trained weights, and how Streamlit serves and colours the page: it looks beside the script it runs.
PLACES = {"pretrained": "explainer_core/weights", ".streamlit": "dashboard/.streamlit"}


class BuildWithFolders(build_py):
    """A wheel has the folders inside the packages; an editable install finds them in the checkout itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, place in PLACES.items():
                shutil.copytree(source, Path(self.build_lib) / place, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithFolders})
