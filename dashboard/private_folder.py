"""The folder in which a server keeps what visitors brought: nobody else may read it, and it goes with the server."""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

import psutil

from dashboard.limits import PREFIX

FOLDER = f"{PREFIX}OWN_FOLDER"  # the environment variable that tells worker processes where
NAME = re.compile(r"graph-explainer-(\d+)-\w+")


def private_folder() -> Path:
    """Made by whoever asks first, which a server does before it starts its workers."""
    if FOLDER not in os.environ:
        remove_left_behind()
        os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"graph-explainer-{os.getpid()}-")  # mode 0700
        atexit.register(remove_private_folder)
    return Path(os.environ[FOLDER])


def remove_private_folder() -> None:
    folder = os.environ.pop(FOLDER, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left_behind() -> None:
    """Folders of this user's servers that were killed and could not tidy up."""
    for folder in Path(tempfile.gettempdir()).glob("graph-explainer-*-*"):
        found = NAME.fullmatch(folder.name)
        if found and not folder.is_symlink() and _is_mine(folder) and not psutil.pid_exists(int(found[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_mine(folder: Path) -> bool:
    try:
        return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False
