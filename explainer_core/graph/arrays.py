"""Values as people have them, numpy, lists, float64 or strings, read as the tensors a Graph keeps."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explainer_core.graph.columns import Columns, repeat_rows
from explainer_core.graph.rules import NO_LABEL

MOST_CLASSES = 10_000  # a number of more is no number of a class


def read_edges(edges: Any) -> Tensor:
    """(2, E) int64 from (2, E) or from a list of pairs; of two pairs the rows are read as sources and targets."""
    if _is_sparse(edges):
        raise ValueError(
            f"edge_index must be a tensor of shape (2, edges) (got a {type(edges).__name__}); "
            "a sparse matrix gives it by torch.stack([adj_t.coo()[1], adj_t.coo()[0]])"
        )
    found = _array("edge_index", edges)
    if found.size == 0:
        return torch.empty(2, 0, dtype=torch.int64)
    if found.ndim == 2 and found.shape[0] != 2 and found.shape[1] == 2:
        found = found.T
    if found.ndim != 2 or found.shape[0] != 2:
        raise ValueError(f"edges must be of shape (2, edges), or pairs of nodes (got shape {found.shape})")
    if found.dtype.kind not in "iuf" or (found.dtype.kind == "f" and not (found == np.floor(found)).all()):
        raise ValueError(f"edges must join numbers of nodes (got {found.dtype}); number the nodes from 0")
    return torch.from_numpy(np.ascontiguousarray(found.astype(np.int64)))


def read_features(features: Any, num_nodes: int | None) -> tuple[Tensor, tuple[str, ...]]:
    """(N, F) float32, and names where they follow; a single 1 for every node where there are none."""
    if features is None:
        if num_nodes is None:
            raise ValueError("a graph without features must have its number of nodes (got neither); pass num_nodes")
        return torch.ones(num_nodes, 1), ("constant",)
    if isinstance(features, Tensor) and features.layout != torch.strided:
        features = features.to_dense()
    found = _array("x", features)
    if found.dtype.kind not in "iufb":
        raise ValueError(f"x must be numbers (got {found.dtype}); turn words into one-hot columns first")
    if found.ndim == 1:
        found = found[:, None]
    names = tuple(str(name) for name in getattr(features, "columns", ()))
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and refused as that
        return torch.from_numpy(np.ascontiguousarray(found.astype(np.float32))), names


def read_classes(
    field: str, values: Any, size: int, thing: str, names: Sequence[str] = ()
) -> tuple[Tensor | None, tuple[str, ...]]:
    """Class numbers, -1 where -1, None or NaN says that nobody knows, and the names of the classes; None if none is known.

    Strings are numbered in alphabetical order, or as `names` says. Numbers stay: class 2 is the network's third column.
    """
    column = _column(field, values, size, thing)
    if isinstance(column, np.ndarray):
        return _numbered_classes(field, column, names)
    known = [value for value in column if value is not None]
    if not known:
        return None, tuple(names)
    if any(isinstance(value, str) for value in known):
        return _named_classes(field, column, names)
    numbers = [NO_LABEL if value is None else _class_number(field, value) for value in column]
    names = tuple(names) or tuple(map(str, range(max(numbers) + 1)))
    return torch.tensor(numbers), names


def both_ways(edges: Tensor, edge_data: Columns) -> tuple[Tensor, dict[str, Tensor]]:
    """Every edge also the other way, with the same data; a self-loop once."""
    twice = torch.stack([edges, edges.flip(0)], -1).flatten(1)  # (2, 2 E): each followed by its reverse
    keep = torch.ones(twice.shape[1], dtype=torch.bool)
    keep[1::2] = edges[0] != edges[1]
    return twice[:, keep], {name: values[keep] for name, values in repeat_rows(edge_data, 2).items()}


def read_rows(columns: dict[str, Any]) -> dict[str, Tensor]:
    """Numbers of any kind as tensors, in the precision that networks have."""
    return {name: as_rows(name, values) for name, values in columns.items()}


def as_rows(name: str, values: Any) -> Tensor:
    found = values.detach().cpu() if isinstance(values, Tensor) else torch.from_numpy(_array(name, values))
    return found.float() if found.dtype == torch.float64 else found


def _is_sparse(values: Any) -> bool:
    layout = getattr(values, "layout", torch.strided)
    return type(values).__name__ == "SparseTensor" or layout != torch.strided or hasattr(values, "tocoo")


def _array(field: str, values: Any) -> np.ndarray:
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{field} must be a rectangle of numbers (got rows of different lengths)") from None


def _column(field: str, values: Any, size: int, thing: str) -> list | np.ndarray:
    """One value for each thing, None where it is missing; whole numbers as they are, which spares millions a list."""
    found = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    found = found if isinstance(found, np.ndarray) else np.asarray(found, dtype=object)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or len(found) != size:
        raise ValueError(
            f"{field} must have one class for each {thing}, {size} (got shape {found.shape}); "
            "of one-hot rows take argmax(1)"
        )
    if found.dtype.kind in "iub":
        return found
    column = found.tolist()
    return [None if value is None or (isinstance(value, float) and math.isnan(value)) else value for value in column]


def _numbered_classes(field: str, column: np.ndarray, names: Sequence[str]) -> tuple[Tensor | None, tuple[str, ...]]:
    numbers = torch.from_numpy(column.astype(np.int64))
    if len(numbers) == 0 or bool((numbers == NO_LABEL).all()):
        return None, tuple(names)
    for extreme in numbers.aminmax():
        _class_number(field, int(extreme))
    return numbers, tuple(names) or tuple(map(str, range(int(numbers.max()) + 1)))


def _class_number(field: str, value: Any) -> int:
    number = (
        int(value) if isinstance(value, int | np.integer) or (isinstance(value, float) and value % 1 == 0) else None
    )
    if number is None or not NO_LABEL <= number < MOST_CLASSES:
        raise ValueError(
            f"{field} must be classes: whole numbers from 0, or strings; -1, None or NaN where one is not known "
            f"(got {value!r}); turn values to be regressed into classes first"
        )
    return number


def _named_classes(field: str, column: list, names: Sequence[str]) -> tuple[Tensor, tuple[str, ...]]:
    texts = [None if value is None else str(value) for value in column]
    names = tuple(names) or tuple(sorted({text for text in texts if text is not None}))
    number = {name: i for i, name in enumerate(names)}
    unknown = sorted({text for text in texts if text is not None} - set(number))
    if unknown:
        raise ValueError(f"{field} must be among class_names, {', '.join(names)} (got {unknown[0]!r})")
    return torch.tensor([NO_LABEL if text is None else number[text] for text in texts]), names
