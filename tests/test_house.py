"""Who may import whom, and what a file may be called: the plan of the house as a test."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMELESS = {"utils", "common", "helpers", "misc"}
# A module may import from its own storey and from those above it in this list.
STOREYS = (
    {"version", "shipped", "extras"},
    {"graph_rules", "graph", "device", "config", "hashing", "targets", "extraction", "verdict", "explanation_fields"},
    {"datasets", "models", "neighborhood", "layout", "parts"},
    {"tasks", "training", "pretrained", "recipes", "cards", "methods", "explanation", "predictions"},
    {"cutting", "judging", "moves", "search"},
    {"metrics"},
    {"features", "verifying"},
    {"cases", "explaining"},
    {"trust"},
    {"alignment", "prototype_parts", "prototype_fields", "prototypes"},
    {"__init__", "__main__"},
)


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Full names of all that a file imports, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full, so that this test can read them"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def storey(module: str) -> int:
    found = [level for level, members in enumerate(STOREYS) if module in members]
    assert found, f"explainer_core.{module} has no storey yet; give it one in STOREYS"
    return found[0]


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files("explainer_core"), ids=label)
def test_the_core_draws_nothing(path):
    drawing = ("streamlit", "plotly", "pyvis", "dashboard")
    assert not [name for name in imports(path) for package in drawing if within(name, package)]


@pytest.mark.parametrize("path", files("explainer_core"), ids=label)
def test_the_core_imports_downwards_only(path):
    own = path.relative_to(ROOT / "explainer_core").parts[0].removesuffix(".py")
    for name in imports(path):
        if within(name, "explainer_core") and name != "explainer_core":
            module = name.split(".")[1]
            assert storey(module) <= storey(own), f"{own} may not import {module}"


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_the_dashboard_never_imports_torch(path):
    assert not [name for name in imports(path) if within(name, "torch")]


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_only_compute_calls_the_core(path):
    if "compute" not in path.parts and path.name != "__main__.py":  # the command line hands its words on
        assert not [name for name in imports(path) if within(name, "explainer_core")]


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_only_state_touches_the_session_and_the_address(path):
    if path.name != "state.py":
        touched = [node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
        assert not {"session_state", "query_params"} & set(touched)


@pytest.mark.parametrize("path", files("dashboard/screens"), ids=label)
def test_pages_do_not_know_each_other(path):
    assert not [name for name in imports(path) if within(name, "dashboard.screens")]


def test_figures_know_no_streamlit():
    assert not [name for name in imports(ROOT / "dashboard" / "figures.py") if within(name, "streamlit")]


def test_every_file_is_named_by_what_it_holds_and_says_what_it_owns():
    for folder in ("explainer_core", "dashboard", "tests", "benchmarks"):
        for path in files(folder):
            assert path.stem not in NAMELESS, path
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} does not say what it owns"


def test_names_of_test_files_are_unique():
    names = [path.name for path in files("tests") if path.name.startswith("test_")]
    assert len(names) == len(set(names))
