"""The written pages: their links lead somewhere, and what they show is what the code does."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import explainer_core
from explainer_core.datasets.registry import DATASETS
from explainer_core.version import __version__
from explainer_core.zoo.pretrained import list_cards

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def anchors(page: Path) -> set[str]:
    """The headings as GitHub names them in an address."""
    titles = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} links to {link}"
        assert target.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {link}"


def test_every_page_can_be_reached_from_the_readme():
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in LINK.findall((ROOT / "README.md").read_text())}
    assert set(PAGES) - linked == {ROOT / "README.md"}


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 75


def test_the_lines_of_python_in_the_readme_do_what_they_say(capsys):
    block, launching = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own lines
    level, alone, without = re.search(r'# here "(.+)", (\S+) and (\S+)', block).groups()
    printed = capsys.readouterr().out.splitlines()[-1]
    assert printed.startswith(level)
    assert [f"{float(number):.2f}" for number in printed.removeprefix(level).split()] == [alone, without]
    compile(launching, "README.md", "exec")  # run in a browser by tests/browser/test_launched_page.py


def test_the_list_of_networks_is_complete():
    text = (ROOT / "docs" / "data_and_networks.md").read_text()
    for name, info in DATASETS.items():
        shipped = ", ".join(f"`{card.model}`" for card in list_cards(name))
        assert f"| `{name}` | {f'those of `{info.models_of}`' if info.models_of else shipped} |" in text


def test_the_changelog_knows_the_version():
    wanted = "Unreleased" if ".dev" in __version__ else __version__
    assert f"## [{wanted}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_api_page_is_made_without_a_warning(tmp_path):
    """As `make docs` makes it, where a docstring that cannot be read is an error."""
    command = [sys.executable, "-W", "error::UserWarning", "-m", "pdoc", "explainer_core", "-o", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "explainer_core.html").read_text()
    for name in explainer_core.__all__:
        assert f'id="{name}"' in page
