"""The package as people get it: built, installed into an environment of its own, used from another folder."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rdkit import Chem

from explainer_core.layout.molecule import ELEMENTS
from explainer_core.version import __version__
from tests.browser.serving import free_port, wait_until_healthy

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = (
    *("explainer_core", "dashboard", "pretrained", ".streamlit"),
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE"),
)
OPTIONAL = ("streamlit", "plotly", "pandas", "rdkit", "pyvis")
BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""
EXPLAIN = """
import json
import explainer_core as xc
graph = xc.load_dataset("ba_shapes")
why = xc.explain(xc.load_pretrained("ba_shapes", "gcn"), graph, xc.Node(414))
print(json.dumps({
    "file": xc.__file__, "version": xc.__version__, "level": why.verdict.level,
    "models": len(xc.list_cards()) + sum(len(xc.list_cards(case)) for case in xc.CASES), "edges": len(why.subgraph().edges),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel made from the source distribution, so that both are complete; built on a copy, so that no litter stays."""
    source, output = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", output, source], cwd=output)
    (built,) = output.glob("*.whl")
    return built


def installed(wheel: Path, folder: Path) -> Path:
    """A new environment with the wheel in it and nothing else."""
    venv.create(folder, symlinks=os.name != "nt")
    install = ["install", "--quiet", "--no-index", "--no-deps", wheel]
    run([sys.executable, "-m", "pip", "--python", interpreter(folder), *install], cwd=folder)
    return folder


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """A new environment in which the package meets what it depends on.

    That is seen through a path file that names this interpreter's packages. Path files over there are not read again,
    so an editable install of this checkout stays out of sight.
    """
    folder = installed(wheel, tmp_path_factory.mktemp("environment"))
    ours = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site_packages(folder) / "dependencies.pth").write_text("\n".join(ours) + "\n")
    return folder


def site_packages(environment: Path) -> Path:
    (folder,) = environment.rglob("site-packages")
    return folder


def interpreter(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: list, cwd: Path, code: int = 0) -> str:
    """What a program prints; without the variables that would lead it back to this checkout."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr if code else done.stdout


def python(environment: Path, cwd: Path, program: str) -> str:
    return run([interpreter(environment), "-I", "-c", program], cwd=cwd)


def test_an_installed_package_explains_a_node(environment, tmp_path):
    result = json.loads(python(environment, tmp_path, EXPLAIN))
    assert Path(result["file"]).is_relative_to(environment)
    assert result["version"] == __version__
    assert result["level"] == "carries it"
    assert result["edges"] > 0
    assert result["models"] > len(list((ROOT / "pretrained").glob("*.json")))  # all of them, and the borrowed ones


def test_the_core_needs_no_extra(environment, tmp_path):
    """And what needs one says so in a sentence."""
    program = """
from explainer_core.layout.graph import neighbourhood_layout
print(neighbourhood_layout(2, [(0, 1)]).shape)
for ask in (lambda: xc.molecule_from_smiles("CCO"), lambda: xc.load_dataset("molecules"), why.to_pandas):
    try:
        ask()
    except xc.MissingExtra as error:
        print(error)
"""
    printed = python(environment, tmp_path, BLOCK.format(blocked=OPTIONAL) + EXPLAIN + program).splitlines()
    assert json.loads(printed[0])["level"] == "carries it"
    assert printed[1:] == [
        "(2, 2)",
        *["reading or drawing a molecule needs rdkit (not installed); run: pip install 'graph-explainer[chem]'"] * 2,
        "to_pandas needs pandas (not installed); run: pip install 'graph-explainer[notebook]'",
    ]


def test_without_the_extra_the_dashboard_says_what_to_install(wheel, tmp_path):
    bare = installed(wheel, tmp_path)
    assert run([interpreter(bare).with_name("graph-explainer"), "run"], cwd=tmp_path, code=2) == (
        "error: the dashboard needs streamlit, plotly, pandas, rdkit, cachetools, pyvis, psutil, segno (not installed); "
        "run: pip install 'graph-explainer[dashboard]'\n"
    )


def test_the_command_runs_from_any_folder(environment, tmp_path):
    command = interpreter(environment).with_name("graph-explainer")
    assert run([command, "--version"], cwd=tmp_path) == f"{__version__}\n"
    assert json.loads(run([command, "models", "--json"], cwd=tmp_path))
    assert re.search(r"^ +run +start the dashboard", run([command, "--help"], cwd=tmp_path), re.MULTILINE)
    printed = run([command, "run", "--port", "99999"], cwd=tmp_path, code=2)
    assert "a port must be 1 to 65535 (got '99999')" in printed


def test_the_command_trains_into_the_folder_it_is_started_in(environment, tmp_path):
    command = interpreter(environment).with_name("graph-explainer")
    run([command, "train", "karate", "gcn", "--epochs", "2", "--device", "cpu"], cwd=tmp_path)
    assert {path.name for path in (tmp_path / "pretrained").iterdir()} == {"karate_gcn.json", "karate_gcn.safetensors"}


def test_the_command_serves_the_dashboard(environment, tmp_path):
    log, port = tmp_path / "log", free_port()
    command = [interpreter(environment).with_name("graph-explainer"), "run", "--port", str(port)]
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=tmp_path, env=known, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_healthy(process, port, log)
    finally:
        process.terminate()
        process.wait(20)
    # the address in .streamlit/config.toml, which a wheel has beside the script: nobody else is let in
    assert f"On this machine: http://localhost:{port}\n" in log.read_text()
    assert "For others" not in log.read_text()
    assert "Traceback" not in log.read_text()


def test_the_wheel_has_every_file_of_the_checkout(environment):
    """Byte for byte, and in the places where an installed package looks for them."""
    here = site_packages(environment)
    copies = {"pretrained": "explainer_core/weights", ".streamlit": "dashboard/.streamlit"}
    for folder in ("explainer_core", "dashboard", *copies):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = here / copies.get(folder, folder) / path.relative_to(ROOT / folder)
                assert copy.read_bytes() == path.read_bytes(), copy
    assert (here / "explainer_core" / "py.typed").exists()
    assert (here / "dashboard" / "py.typed").exists()


# What is declared


def declared(extra: str | None = None) -> dict[str, Requirement]:
    """The requirements of an extra with those it includes, or of the core, by name."""
    found = {}
    for line in PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == PROJECT["name"]:
            for included in requirement.extras:
                found |= declared(included)
        else:
            found[requirement.name.lower()] = requirement
    return found


def third_party(folder: str) -> set[str]:
    """The distributions that a package's files import, lazily or not."""
    distribution_of = packages_distributions()
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.partition(".")[0])
    names -= {*sys.stdlib_module_names, "explainer_core", "dashboard"}
    return {distribution_of[name][0].lower() for name in names}


def test_what_is_imported_is_declared():
    core = set(declared())
    assert third_party("explainer_core") <= core.union(*map(declared, ("chem", "notebook", "pyg")))
    assert third_party("dashboard") <= core | set(declared("dashboard"))
    assert not core & set(OPTIONAL)


def test_the_exact_versions_lie_within_the_ranges():
    lines = [
        *(ROOT / "requirements.txt").read_text().splitlines(),
        *(ROOT / "requirements-dev.txt").read_text().splitlines(),
    ]
    pinned = dict(line.split("==") for line in lines if "==" in line)
    ranges = declared() | declared("dev")
    assert set(pinned) == set(ranges)
    for name, version in pinned.items():
        assert ranges[name].specifier.contains(version), name


def test_the_elements_known_without_rdkit_are_those_of_rdkit():
    table = Chem.GetPeriodicTable()
    assert {table.GetElementSymbol(number) for number in range(1, 119)} == ELEMENTS
