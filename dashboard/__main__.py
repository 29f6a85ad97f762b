"""The command `graph-explainer`: `run` starts the dashboard, `prototypes` makes what its page opens with; others are the library's."""

import argparse
import os
import sys
import tomllib
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from dashboard.address import ALLOW_HOST, URL, checked_host, checked_url
from dashboard.limits import Limits, whole_number

SERVER = Path(__file__).with_name("server.py")
CONFIG = Path(".streamlit") / "config.toml"
LIBRARIES = (
    "streamlit",
    "plotly",
    "pandas",
    "rdkit",
    "cachetools",
    "pyvis",
    "psutil",
    "segno",
)  # of the extra [dashboard]
RUN = "start the dashboard and print its address"
PROTOTYPES = "make the prototypes that the page opens with, and keep them beside the weights"


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    # These two need no torch, which takes seconds to load; the server loads it while the browser is on its way.
    if arguments[:1] == ["run"]:
        return run(arguments[1:])
    if arguments == ["--version"]:
        print(version("graph-explainer"))
        return 0
    from explainer_core.__main__ import build_parser
    from explainer_core.__main__ import main as run_command

    parser, commands = build_parser("graph-explainer")
    commands.add_parser("run", help=RUN, add_help=False)  # for the list of commands; it never gets this far
    command = commands.add_parser("prototypes", help=PROTOTYPES, description=PROTOTYPES)
    command.add_argument("datasets", metavar="DATASET", nargs="*", help="only these")
    command.add_argument("--out", type=Path, help="where to write, instead of where the weights are")
    command.set_defaults(run=ship)
    return run_command(arguments, parser)


def ship(options) -> int:
    from dashboard.services.shipping import ship_prototypes
    from explainer_core.datasets.registry import DATASETS, dataset_info
    from explainer_core.zoo.shipped import OUTPUT_FOLDER

    for name in options.datasets or DATASETS:
        dataset_info(name)  # a name that is wrong is told before hours are spent on the others
    for name in options.datasets or DATASETS:
        path = ship_prototypes(name, options.out or OUTPUT_FOLDER, print)
        print(f"wrote {path} ({path.stat().st_size:,} bytes)")
    return 0


def run(arguments: list[str]) -> int:
    options = _run_parser().parse_args(arguments)
    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        return _error(
            f"the dashboard needs {', '.join(missing)} (not installed); run: pip install 'graph-explainer[dashboard]'"
        )
    try:
        os.environ |= _environment(options)
        if options.script is not None:
            _run_script(options.script)
    except ValueError as broken:
        return _error(str(broken))
    from streamlit.web.cli import main as streamlit

    streamlit(["run", str(SERVER), *_streamlit_options(options)], prog_name="streamlit")
    return 0


def _run_script(path: Path) -> None:
    """Before the server starts, so that what is wrong with it is told here and at once."""
    from dashboard.catalogue.script import run_in_server

    run_in_server(path)


def _error(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return 2


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """What the server and its worker processes read: the limits as typed, else as they were set before."""
    typed = {each.name: getattr(options, each.name) for each in fields(Limits)}
    before = Limits.from_environment()
    limits = Limits(**{name: getattr(before, name) if value is None else value for name, value in typed.items()})
    found = limits.to_environment()
    if options.url:
        found[URL] = options.url
    if options.allow_host:
        found[ALLOW_HOST] = ",".join(options.allow_host)
    return found


def _streamlit_options(options: argparse.Namespace) -> list[str]:
    """What was typed: without a port Streamlit looks for a free one, and the rest is in .streamlit/config.toml."""
    given = _config_flags()
    if options.port is not None:
        given.append(f"--server.port={options.port}")
    if options.host is not None:
        given.append(f"--server.address={options.host}")
    if options.open:
        given.append("--server.headless=false")
    if url := os.environ.get(URL):
        parts = urlsplit(url)
        given.append(f"--server.corsAllowedOrigins={parts.scheme}://{parts.netloc}")
        given.append(f"--server.baseUrlPath={parts.path.strip('/')}")
    return given


def _config_flags() -> list[str]:
    """Streamlit looks for its settings in the current folder and beside the script, where a wheel has them.

    A checkout that is run from elsewhere has them in neither: it would listen to the whole network, and show tracebacks.
    """
    ours = SERVER.parents[1] / CONFIG
    if SERVER.with_name(".streamlit").exists() or not ours.exists() or ours == CONFIG.resolve():
        return []
    return [f"--{name}={value}" for name, value in _flat(tomllib.loads(ours.read_text(encoding="utf-8")))]


def _flat(settings: dict, prefix: str = "") -> list[tuple[str, object]]:
    """By full name. Lists, which only colour and size things, cannot be flags."""
    found = []
    for name, value in settings.items():
        if isinstance(value, dict):
            found += _flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found.append((f"{prefix}{name}", str(value).lower() if isinstance(value, bool) else value))
    return found


def _run_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graph-explainer run", description=RUN)
    parser.add_argument("--port", type=_port, help="instead of 8501, or the next one that is free")
    parser.add_argument("--host", help="instead of localhost; 0.0.0.0 lets others on your network see the page")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--script", type=Path, metavar="FILE.py", help="of your own: defines `model` and `data` to open"
    )
    parser.add_argument("--url", type=_checked(checked_url), help="what people type, where a proxy stands in front")
    parser.add_argument(
        "--allow-host",
        type=_checked(checked_host),
        action="append",
        metavar="NAME",
        help="one more name of this server",
    )
    for each in fields(Limits):
        name = each.name.replace("_", "-")
        parser.add_argument(f"--{name}", type=whole_number, metavar="N", help=each.metadata["help"])
    return parser


def _checked(check: Callable[[str], str]) -> Callable[[str], str]:
    """argparse prints the sentence of this error only."""

    def read(text: str) -> str:
        try:
            return check(text)
        except ValueError as broken:
            raise argparse.ArgumentTypeError(str(broken)) from None

    return read


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port must be 1 to 65535 (got {text!r})")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
