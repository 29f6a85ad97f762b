"""Further columns of a graph: what a network may read beside the features, one row for each node or edge, by name.

Edge attributes, positions, splits: they are cut, copied and joined with their nodes and edges, and never explained.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

Columns = Mapping[str, Tensor]


def check_columns(field: str, columns: Columns, size: int, thing: str) -> None:
    for name, values in columns.items():
        if not isinstance(values, Tensor) or values.ndim == 0 or len(values) != size:
            got = tuple(values.shape) if isinstance(values, Tensor) else f"a {type(values).__name__}"
            raise ValueError(f"{field}[{name!r}] must be a tensor with one row for each {thing}, {size} (got {got})")


def take_rows(columns: Columns, rows: Tensor | slice) -> dict[str, Tensor]:
    return {name: values[rows] for name, values in columns.items()}


def repeat_rows(columns: Columns, times: int) -> dict[str, Tensor]:
    return {name: values.repeat_interleave(times, 0) for name, values in columns.items()}


def move_rows(columns: Columns, device: torch.device) -> dict[str, Tensor]:
    return {name: values.to(device) for name, values in columns.items()}


def join_rows(field: str, parts: Sequence[Columns]) -> dict[str, Tensor]:
    """The columns of several graphs one below another; what one of them has, all must have."""
    if not parts:
        return {}
    names = dict.fromkeys(name for columns in parts for name in columns)
    for name in names:
        missing = [i for i, columns in enumerate(parts) if name not in columns]
        if missing:
            raise ValueError(
                f"graphs of a set must all have {field}[{name!r}], or none (got none in graph {missing[0]}); "
                "give it to every graph, or take it from the others"
            )
        shapes = {tuple(columns[name].shape[1:]) for columns in parts}
        if len(shapes) > 1:
            raise ValueError(
                f"graphs of a set must share the width of {field}[{name!r}] (got {sorted(shapes)}); give all the same"
            )
    return {name: torch.cat([columns[name] for columns in parts]) for name in names}
