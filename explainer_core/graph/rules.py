"""The rules a graph keeps, each with the sentence a user reads when it is broken."""

from collections.abc import Sequence

import torch
from torch import Tensor

NO_MOTIF = -1
NO_LABEL = -1  # of a node or graph whose class nobody knows


def check_structure(x: Tensor, edge_index: Tensor) -> None:
    if x.ndim != 2 or x.shape[0] == 0 or not x.is_floating_point():
        raise ValueError(
            f"x must be floats of shape (nodes, features) with at least one node (got {x.dtype} {tuple(x.shape)})"
        )
    if not torch.isfinite(x).all():
        node, feature = (~torch.isfinite(x)).nonzero()[0].tolist()
        raise ValueError(
            f"features must be finite (got {x[node, feature].item()} at node {node}, feature {feature}); fill or drop missing values"
        )
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.int64:
        raise ValueError(
            f"edge_index must be int64 of shape (2, edges) (got {edge_index.dtype} {tuple(edge_index.shape)}); "
            "a list of pairs needs .t()"
        )
    if edge_index.numel() == 0:
        return
    low, high = edge_index.aminmax()
    if low < 0 or high >= x.shape[0]:
        wrong = int(low if low < 0 else high)
        raise ValueError(f"edges must join nodes 0 to {x.shape[0] - 1} (got {wrong}); number the nodes from 0")


def check_column(field: str, values: Tensor, size: int, thing: str) -> None:
    if values.ndim != 1 or len(values) != size or values.dtype != torch.int64:
        raise ValueError(
            f"{field} must be int64, one for each {thing}: shape ({size},) (got {values.dtype} {tuple(values.shape)})"
        )


def check_classes(
    field: str, values: Tensor | None, size: int, thing: str, names: Sequence[str], names_field: str, low: int = 0
) -> None:
    if values is None:
        return
    check_column(field, values, size, thing)
    if not names:
        raise ValueError(f"{field} need {names_field} (got none); name every value, for example ('no', 'yes')")
    if len(values) and (values.min() < low or values.max() >= len(names)):
        wrong = int(values.min() if values.min() < low else values.max())
        unknown = "" if low == 0 else f", or {low} where it is not known"
        raise ValueError(
            f"{field} must be 0 to {len(names) - 1}, one number for each of {names_field}{unknown} (got {wrong}); "
            "renumber them from 0"
        )


def check_motif(field: str, values: Tensor | None, size: int, thing: str) -> None:
    if values is None:
        return
    check_column(field, values, size, thing)
    if len(values) and values.min() < NO_MOTIF:
        raise ValueError(f"{field} must be a motif number, or -1 for none (got {int(values.min())})")


def check_names(field: str, names: Sequence[str], size: int, thing: str) -> None:
    if names and len(names) != size:
        raise ValueError(f"{field} must have one name for each {thing}, {size} (got {len(names)})")


def check_starts(field: str, start: Tensor, size: int) -> None:
    ordered = start.ndim == 1 and len(start) >= 2 and start.dtype == torch.int64 and bool((start.diff() >= 0).all())
    if not ordered or start[0] != 0 or start[-1] != size:
        raise ValueError(
            f"{field} must be int64, rising from 0 to {size}, one entry more than there are graphs (got {start.tolist()[:5]})"
        )
