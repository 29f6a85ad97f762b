"""The command line of the library: datasets, models, train, download. `graph-explainer` adds `run` to them."""

import argparse
import json
import sys
from pathlib import Path

import torch
from tqdm import tqdm

from explainer_core.datasets.download import Archive, DataUnavailable, is_available, read_archive
from explainer_core.datasets.registry import CASES, DATASETS, DatasetInfo, dataset_info
from explainer_core.device import describe_device, pick_device, use_one_thread
from explainer_core.extras import MissingExtra
from explainer_core.version import __version__
from explainer_core.zoo.cards import measured_accuracy, train_recipe
from explainer_core.zoo.pretrained import Card, list_cards, load_weights, read_cards, save_pretrained
from explainer_core.zoo.recipes import NETWORK_OPTIONS, TRAINING_OPTIONS, WHOLE_NUMBERS, find_recipe
from explainer_core.zoo.shipped import FOLDER, OUTPUT_FOLDER
from explainer_core.zoo.training import Epoch

TOLERANCE = 0.005  # how far a measured accuracy may lie from its card


def main(arguments: list[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    options = (parser or build_parser()[0]).parse_args(arguments)
    use_one_thread()
    try:
        return options.run(options)
    except (DataUnavailable, MissingExtra, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        return 130


def show_datasets(options) -> int:
    rows = [_dataset_row(info) for info in DATASETS.values()]
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        _print_table(rows, ("name", "title", "task", "where", "summary"))
    return 0


def show_models(options) -> int:
    rows, wrong = [], []
    cards, broken = list_cards(folder=options.folder), read_cards(options.folder)[1]
    for card in tqdm(cards, desc="measuring", disable=not options.check or options.json):
        row = _model_row(card)
        if options.check:
            measured = measured_accuracy(card, load_weights(card, folder=options.folder))
            row["measured_accuracy"] = None if measured is None else round(measured, 4)
            told = card.test_accuracy
            if measured is not None and told is not None and abs(measured - told) > TOLERANCE:
                wrong.append(card.name)
        rows.append(row)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        _print_table(rows, tuple(rows[0]) if rows else ())
    if wrong:
        print(
            f"the card must agree with the measurement to {TOLERANCE:.1%} (got otherwise for {', '.join(wrong)})",
            file=sys.stderr,
        )
    for error in broken.values():
        print(f"left out: {error}", file=sys.stderr)
    return 1 if wrong or broken else 0


def train(options) -> int:
    network, config = _given(options, NETWORK_OPTIONS), _given(options, TRAINING_OPTIONS)
    recipe = find_recipe(options.dataset, options.model).changed(network, config)
    device = torch.device(options.device) if options.device else pick_device()
    print(f"training {options.model} on {options.dataset}, device {describe_device(device)}")
    archive = dataset_info(options.dataset).archive
    if archive and not is_available(archive):
        _download(dataset_info(options.dataset).title, archive)
    with tqdm(total=recipe.config.epochs, unit="epoch") as bar:

        def on_epoch(epoch: Epoch) -> None:
            bar.set_postfix(loss=f"{epoch.loss:.3f}", val=f"{epoch.val_accuracy:.3f}", refresh=False)
            bar.update()

        model, card = train_recipe(recipe, seed=options.seed, device=device, on_epoch=on_epoch)
    card = save_pretrained(model, card, folder=options.folder)
    print(f"wrote {options.folder / card.name}.safetensors and .json")
    _print_table([_model_row(card)], tuple(_model_row(card)))
    return 0


def download(options) -> int:
    for name in options.datasets or [name for name, info in DATASETS.items() if info.archive]:
        info = dataset_info(name)
        if info.archive is None:
            print(f"{info.title} needs no download")
        else:
            _download(info.title, info.archive)
    return 0


def _download(title: str, archive: Archive) -> None:
    with tqdm(desc=title, unit="B", unit_scale=True) as bar:

        def progress(done: int, expected: int) -> None:
            bar.total = expected or None
            bar.update(done - bar.n)

        read_archive(archive, progress)
    print(f"{title} is ready")


def _dataset_row(info: DatasetInfo) -> dict:
    if info.archive is None:
        where = "built in"
    else:
        where = "on this machine" if is_available(info.archive) else "downloaded on first use"
    return {
        "name": info.name,
        "title": info.title,
        "task": info.task,
        "where": where,
        "summary": info.summary,
        "citation": info.citation,
        "url": info.archive.url if info.archive else None,
    }


def _model_row(card: Card) -> dict:
    fields = ("dataset", "model", "main", "task", "test_accuracy", "fresh_graph_accuracy")
    return {field: getattr(card, field) for field in fields}


def _given(options, fields: dict[str, str]) -> dict:
    """The settings that were typed; the recipe's hold for the others."""
    return {field: getattr(options, field) for field in fields.values() if getattr(options, field) is not None}


def _print_table(rows: list[dict], columns: tuple[str, ...]) -> None:
    cells = [columns, *(tuple(_cell(row[column]) for column in columns) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "main" if value else ""
    return f"{value:.1%}" if isinstance(value, float) else str(value)


def build_parser(prog: str = "python -m explainer_core"):
    """The parser, and the place where another program adds commands of its own."""
    parser = argparse.ArgumentParser(prog=prog, description="See why a graph neural network predicted what it did.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add = _command(commands, "datasets", show_datasets, "list the data sets")
    add("--json", action="store_true", help="print a JSON list")
    add = _command(commands, "models", show_models, "list the trained models")
    add("--json", action="store_true", help="print a JSON list")
    add("--check", action="store_true", help="load every model and measure it again where the data are on this machine")
    add("--folder", type=Path, default=FOLDER, help="where the models are")
    add = _command(commands, "train", train, "train a model and write its weights and card")
    add("dataset", metavar="DATASET", choices=[*DATASETS, *CASES])
    add("model", metavar="MODEL")
    add("--seed", type=int, default=0, help="decides a generated graph, the split and the first weights")
    for name, field in (NETWORK_OPTIONS | TRAINING_OPTIONS).items():
        add(f"--{name}", dest=field, type=int if name in WHOLE_NUMBERS else float, help="instead of the recipe's")
    add("--device", choices=("cuda", "mps", "cpu"), help="instead of the best there is")
    add(
        "--out",
        dest="folder",
        type=Path,
        default=OUTPUT_FOLDER,
        help="where to write; an older model of that name is replaced at the end",
    )
    add = _command(commands, "download", download, "fetch the data sets that are not built in")
    add("datasets", metavar="DATASET", nargs="*", help="only these")
    return parser, commands


def _command(commands, name: str, run, text: str):
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run)
    return command.add_argument


if __name__ == "__main__":
    sys.exit(main())
