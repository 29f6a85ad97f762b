"""What each column of a file is for, and columns of classes and of splits as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explainer_core.files.limits import MAX_CLASSES
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import plain
from explainer_core.graph import NO_LABEL

# Headings as people write them, the first ones first.
IDS = ("id", "node", "nodeid", "key", "vertex", "index")
LABELS = ("label", "class", "y", "target", "group", "category", "community", "club")
SPLITS = ("split", "part", "set", "fold", "subset")
NAMES = ("name", "title")
SOURCES = ("source", "src", "from", "sourceid", "sourcenode", "fromnode", "fromid", "node1", "id1", "u", "start")
TARGETS = ("target", "dst", "to", "targetid", "targetnode", "tonode", "toid", "node2", "id2", "v", "end")
TYPES = ("type", "relation", "kind", "edgetype", "label")
WEIGHTS = ("weight", "w", "value", "strength")
SMILES = ("smiles", "smi", "molecule", "structure", "canonicalsmiles")
PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
}


@dataclass(frozen=True)
class Options:
    """How a file is to be read. None: found out; an empty name: no such column."""

    directed: bool | None = None
    label: str | None = None
    split: str | None = None
    features: tuple[str, ...] | None = None
    header: bool | None = None
    own_feature: bool = False  # where there are no features: one of its own for each node, else a single 1
    scale: bool = True  # features beyond 10 to mean 0 and spread 1, which networks learn from better


def chosen(file: str, fields: Sequence[str], asked: str | None, known: Sequence[str], taken: Sequence[str]) -> str:
    """The field that was asked for, else the first one with a known heading; "" for none."""
    if asked is not None:
        if asked and asked not in fields:
            raise FileProblem(file, f"a column must be one of {_some(fields)}", asked, "choose one of these")
        return asked
    by_name = {plain(field): field for field in reversed(fields) if field not in taken}
    return next((by_name[name] for name in known if name in by_name), "")


def _some(fields: Sequence[str]) -> str:
    return ", ".join(field[:30] for field in fields[:8]) + (", …" if len(fields) > 8 else "")


def read_classes(
    file: str, field: str, values: Sequence[str | None], thing: str = "classes", unknown: str = "-1"
) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """(N,) int64, -1 where a class is not known, and the names; None if none is known.

    Whole numbers from 0 stay what they are, so that class 2 is a network's third column; all else is sorted.
    """
    found = {value for value in values if value is not None}
    numbers = {value for value in found if value.removeprefix("-").isascii() and value.removeprefix("-").isdigit()}
    if found and found == numbers and all(len(value) < 10 for value in found):
        found.discard(unknown)
        whole = sorted(found, key=int)
        from_zero = bool(whole) and int(whole[0]) == 0 and int(whole[-1]) < MAX_CLASSES
        names = tuple(map(str, range(int(whole[-1]) + 1))) if from_zero else tuple(whole)
    else:
        names = tuple(sorted(found))
    if len(names) > MAX_CLASSES:
        got = Bare(f"{len(names):,} different values")
        rule, way_out = f"{thing} must be at most {MAX_CLASSES}", f"choose another column for the {thing}"
        raise FileProblem(file, rule, got, way_out, column=field)
    if not names:
        return None
    code = {name: i for i, name in enumerate(names)}
    return np.array([code.get(value or "", NO_LABEL) for value in values], dtype=np.int64), names


def masks_of(parts: Sequence[str]) -> dict[str, np.ndarray]:
    """train_mask, val_mask and test_mask, as PyTorch Geometric calls them: (N,) bool each; none where no part is named."""
    if not any(parts):
        return {}
    found = np.array(parts)
    return {f"{part}_mask": found == part for part in ("train", "val", "test")}
