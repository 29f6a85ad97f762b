"""Who may import whom, and what a file may be called: the plan of the house as a test."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMELESS = {"utils", "common", "helpers", "misc"}
# A module may import from its own room and from rooms in earlier lines, never from another room in its own line.
CORE = (
    {"version", "extras", "checks"},
    {"device", "config", "targets", "hashing"},
    {"graph"},
    {"datasets", "models"},
    {"layout", "computation", "files"},
    {"zoo", "methods", "adapters"},
    {"explanation"},
    {"api", "predictions"},
    {"prototypes"},
    {"debugging"},
    {"__init__", "__main__"},
)
DASHBOARD = (
    {"schema", "first_look", "limits", "cache"},
    {"view", "jobs", "address", "seats", "private_folder", "uploads"},
    {"catalogue", "gate"},
    {"tasks"},
    {"state", "services"},
    {"widgets"},
    {"screens"},
    {"app", "asgi"},
    {"launching", "server"},
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


def room(path: Path, package: str) -> str:
    return path.relative_to(ROOT / package).parts[0].removesuffix(".py")


def line(name: str, plan: tuple[set[str], ...]) -> int:
    found = [number for number, rooms in enumerate(plan) if name in rooms]
    assert found, f"{name} has no place in the plan of the house yet; give it one"
    return found[0]


def outside_the_plan(path: Path, package: str, plan: tuple[set[str], ...]) -> list[str]:
    """What a file imports from its own package that stands no earlier in the plan, and is not its own room."""
    own = room(path, package)
    rooms = {name.split(".")[1] for name in imports(path) if within(name, package) and name != package}
    return [name for name in rooms if name != own and line(name, plan) >= line(own, plan)]


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files("explainer_core"), ids=label)
def test_the_core_draws_nothing(path):
    """Only `extras` names pyvis, and loads it when a notebook first asks for a picture."""
    drawing = ("streamlit", "plotly", "dashboard", *(() if path.stem == "extras" else ("pyvis",)))
    assert not [name for name in imports(path) for package in drawing if within(name, package)]


@pytest.mark.parametrize("path", files("explainer_core"), ids=label)
def test_the_core_imports_from_earlier_rooms_only(path):
    assert not outside_the_plan(path, "explainer_core", CORE)


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_the_dashboard_never_imports_torch(path):
    assert not [name for name in imports(path) if within(name, "torch")]


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_the_dashboard_imports_from_earlier_rooms_only(path):
    assert not outside_the_plan(path, "dashboard", DASHBOARD)


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_only_services_call_the_core(path):
    """The schema only names the core's plain data for those who must not call it."""
    if room(path, "dashboard") not in ("catalogue", "services", "tasks", "schema", "__main__"):
        assert not [name for name in imports(path) if within(name, "explainer_core")]


@pytest.mark.parametrize("path", files("dashboard"), ids=label)
def test_only_state_touches_session_state_and_query_params(path):
    if room(path, "dashboard") != "state":
        touched = [node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
        assert not {"session_state", "query_params"} & set(touched)


@pytest.mark.parametrize("path", files("dashboard/screens"), ids=label)
def test_pages_do_not_know_each_other(path):
    assert not [name for name in imports(path) if within(name, "dashboard.screens")]


@pytest.mark.parametrize("path", files("dashboard/view"), ids=label)
def test_what_is_drawn_knows_no_streamlit(path):
    assert not [name for name in imports(path) if within(name, "streamlit")]


def test_every_file_is_named_by_what_it_holds_and_says_what_it_owns():
    for folder in ("explainer_core", "dashboard", "tests", "benchmarks"):
        for path in files(folder):
            assert path.stem not in NAMELESS, path
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} does not say what it owns"


def test_names_of_test_files_are_unique():
    names = [path.name for path in files("tests") if path.name.startswith("test_")]
    assert len(names) == len(set(names))
