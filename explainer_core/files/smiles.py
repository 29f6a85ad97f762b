"""Molecules with classes: CSV with a column of SMILES, or lines of a SMILES and a class."""

from dataclasses import dataclass, replace

import torch

from explainer_core.checks import cut
from explainer_core.datasets.molecules import molecule_from_smiles
from explainer_core.files.columns import LABELS, NAMES, SMILES, SPLITS, Options, chosen, masks_of, read_classes
from explainer_core.files.delimited import check_lines, checked_lines, counted, delimiter_of, read_rows
from explainer_core.files.features import text_of
from explainer_core.files.limits import MAX_EDGES, MAX_MOLECULES
from explainer_core.files.nodes import part_of
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, plain
from explainer_core.files.text import SentFile, decoded
from explainer_core.graph import GraphSet

KNOWN = {*SMILES, *LABELS, *NAMES, *SPLITS}
LONGEST_REASON = 240  # letters


@dataclass(frozen=True)
class Molecules:
    data: GraphSet
    fields: tuple[str, ...]  # that may be chosen as classes
    label_field: str
    left_out: tuple[str, ...]  # lines that are no molecule, a reason each


def read_molecules(file: SentFile, options: Options) -> Molecules:
    """The molecules as graphs. A line that is no molecule is left out and told; where half of them are none, the first is the
    reason to refuse the file. Of a list each molecule stands for itself, which no edge of a graph does."""
    rows = _rows(file, options)
    smiles, name, label, split = _roles(rows, options)
    graphs, names, labels, parts, bonds = [], [], [], [], 0
    problems: list[FileProblem] = []
    for where, row in rows.rows:
        try:
            graph = molecule_from_smiles(row[smiles])
        except ValueError as error:
            problems.append(FileProblem(file.name, str(error), line=where, column=rows.fields[smiles]))
            continue
        graphs.append(graph)
        bonds += graph.num_edges // 2
        if bonds > MAX_EDGES:
            rule = f"all molecules together must have at most {MAX_EDGES:,} bonds"
            raise rows.problem(where, None, rule, None, "send fewer molecules")
        names.append(graph.name if name is None else text_of(rows, where, row, name, "a name") or graph.name)
        labels.append(None if label is None else text_of(rows, where, row, label, "a class"))
        parts.append("" if split is None else part_of(rows, where, row, split))
    if problems and len(problems) >= len(graphs):
        raise problems[0]
    if not graphs:
        raise FileProblem(file.name, "a file must have at least one molecule", Bare("none"), "add some")
    field = "" if label is None else rows.fields[label]
    classes = read_classes(file.name, field, labels)
    joined = GraphSet.from_graphs(graphs, name="molecules")
    sizes = joined.node_start.diff()
    data = replace(
        joined,
        graph_names=names,
        node_motif=None,  # what the groups mean for these classes, nobody has said
        edge_motif=None,
        labels=None if classes is None else torch.from_numpy(classes[0]),
        class_names=() if classes is None else classes[1],
        node_data={name: torch.from_numpy(mask).repeat_interleave(sizes) for name, mask in masks_of(parts).items()},
    )
    fields = tuple(each for i, each in enumerate(rows.fields) if i not in (smiles, split))
    return Molecules(data, fields, field, tuple(map(_reason, problems)))


def _reason(problem: FileProblem) -> str:
    return cut(f"line {problem.line:,}: {problem.rule}", LONGEST_REASON)


def _rows(file: SentFile, options: Options) -> Rows:
    text = decoded(file)
    if delimiter_of(text) is not None:
        return read_rows(file, MAX_MOLECULES, "molecule", KNOWN, options.header)
    check_lines(file, MAX_MOLECULES, "molecule")
    cells = ((number, [*line.split(None, 1), ""]) for line, number in checked_lines(file.name, text) if line.strip())
    pairs = ((number, [each.strip() for each in parts[:2]]) for number, parts in cells)
    rest = (pair for i, pair in enumerate(pairs) if i or plain(pair[1][0]) not in SMILES)  # the header says nothing new
    return Rows(file.name, ("smiles", "label"), counted(file.name, rest, 2, MAX_MOLECULES, "molecule"))


def _roles(rows: Rows, options: Options) -> tuple[int, int | None, int | None, int | None]:
    place = {name: i for i, name in enumerate(rows.fields)}
    smiles = chosen(rows.file, rows.fields, None, SMILES, ()) or rows.fields[0]
    label = chosen(rows.file, rows.fields, options.label, LABELS, (smiles,))
    split = chosen(rows.file, rows.fields, options.split, SPLITS, (smiles, label))
    name = chosen(rows.file, rows.fields, None, NAMES, (smiles, label, split))
    if not label and options.label is None and len(rows.fields) == 2:
        label = next(each for each in rows.fields if each != smiles)  # beside a molecule stands its class
    return place[smiles], place.get(name), place.get(label), place.get(split)
