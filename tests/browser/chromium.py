"""Finds a Chromium for the browser tests, and installs one only where there is none."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# No sandbox: containers run as root. The rest keeps the browser itself off the network.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """The path of a Chromium: the one named by CHROMIUM, on the path, Playwright's own, or a newly installed one."""
    for find in (_named, _on_path, _playwrights, _from_debian, _from_playwright):
        if path := find():
            return path
    raise RuntimeError(
        "the browser tests need a Chromium (got none on the path and none could be installed); "
        "install one, or set CHROMIUM to its path"
    )


def _named() -> str | None:
    path = os.environ.get("CHROMIUM")
    if path and not os.access(path, os.X_OK):
        raise RuntimeError(f"CHROMIUM must name a program (got {path!r}); unset it or correct it")
    return path


def _on_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.access(path, os.X_OK) else None


def _from_debian() -> str | None:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return None
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]):
        # What is left of standard output is the answer, so the talk goes to standard error.
        subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
    return _on_path()


def _from_playwright() -> str | None:
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=sys.stderr, check=False)
    return _playwrights()


if __name__ == "__main__":
    try:
        sys.stdout.write(find_chromium() + "\n")
    except RuntimeError as error:
        sys.exit(f"error: {error}")
