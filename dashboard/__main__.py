"""The command `graph-explainer`: `run` starts the dashboard, `prototypes` makes what its page opens with; others are the library's."""

import argparse
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")
LIBRARIES = (
    "streamlit",
    "plotly",
    "pandas",
    "rdkit",
    "cachetools",
    "pyvis",
    "psutil",
)  # what the extra [dashboard] installs
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
        print(
            f"error: the dashboard needs {', '.join(missing)} (not installed); run: pip install 'graph-explainer[dashboard]'",
            file=sys.stderr,
        )
        return 2
    from streamlit.web.cli import main as streamlit

    streamlit(["run", str(SERVER), *_streamlit_options(options)], prog_name="streamlit")
    return 0


def _streamlit_options(options) -> list[str]:
    """Only what was typed: without a port Streamlit looks for a free one, and the rest is in .streamlit/config.toml."""
    given = []
    if options.port is not None:
        given.append(f"--server.port={options.port}")
    if options.host is not None:
        given.append(f"--server.address={options.host}")
    if options.open:
        given.append("--server.headless=false")
    return given


def _run_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graph-explainer run", description=RUN)
    parser.add_argument("--port", type=_port, help="instead of 8501, or the next one that is free")
    parser.add_argument("--host", help="instead of localhost; 0.0.0.0 lets others on your network see the page")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port must be 1 to 65535 (got {text!r})")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
