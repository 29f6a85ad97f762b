"""The rules a graph keeps, each with the sentence a user reads when it is broken."""

from collections.abc import Sequence
from numbers import Integral

import torch
from torch import Tensor

from explainer_core.checks import InvalidValue, TypeAndShape, all_between, one_for_each, shown

NO_MOTIF = -1
NO_LABEL = -1  # of a node or graph whose class nobody knows
MOST = 1e15  # of a feature: means, and products of two, are then still numbers in float32


def check_tensor(field: str, values: object) -> None:
    if not isinstance(values, Tensor):
        raise InvalidValue(f"{field} must be a torch tensor; torch.as_tensor makes one of a list or an array", values)
    if values.layout != torch.strided or values.is_meta:
        raise ValueError(f"{field} must be a dense tensor (got {values.layout} on {values.device}); call .to_dense()")
    if values.requires_grad:
        raise ValueError(f"{field} must be plain numbers (got a tensor that requires gradients); call .detach()")


def check_text(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidValue(f"{field} must be text", value)


def check_structure(x: Tensor, edge_index: Tensor) -> None:
    check_tensor("x", x)
    check_tensor("edge_index", edge_index)
    if x.ndim != 2 or x.shape[0] == 0 or not x.is_floating_point():
        raise InvalidValue("x must be floats of shape (nodes, features) with at least one node", TypeAndShape(x))
    if not torch.isfinite(x).all():
        node, feature = (~torch.isfinite(x)).nonzero()[0].tolist()
        raise ValueError(
            f"features must be finite (got {x[node, feature].item()} at node {node}, feature {feature}); fill or drop missing values"
        )
    if x.numel() and float(x.abs().max()) > MOST:
        raise ValueError(f"features must be at most {MOST:g} in size (got {float(x.abs().max()):g}); scale them")
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.int64:
        raise InvalidValue(
            "edge_index must be int64 of shape (2, edges)", TypeAndShape(edge_index), "a list of pairs needs .t()"
        )
    last = x.shape[0] - 1
    all_between(f"edges must join nodes 0 to {last}", edge_index.flatten(), 0, last, "number the nodes from 0")


def check_column(field: str, values: Tensor, size: int, thing: str) -> None:
    check_tensor(field, values)
    if values.ndim != 1 or len(values) != size or values.dtype != torch.int64:
        raise InvalidValue(f"{field} must be int64, one for each {thing}: shape ({size},)", TypeAndShape(values))


def check_classes(
    field: str, values: Tensor | None, size: int, thing: str, names: Sequence[str], names_field: str, low: int = 0
) -> None:
    check_names(names_field, names)
    if values is None:
        return
    check_column(field, values, size, thing)
    if not names:
        raise ValueError(f"{field} need {names_field} (got none); name every value, for example ('no', 'yes')")
    last = len(names) - 1
    unknown = "" if low == 0 else f", or {low} where it is not known"
    rule = f"{field} must be 0 to {last}, one number for each of {names_field}{unknown}"
    all_between(rule, values, low, last, "renumber them from 0")


def check_motif(field: str, values: Tensor | None, size: int, thing: str) -> None:
    if values is None:
        return
    check_column(field, values, size, thing)
    all_between(f"{field} must be a motif number, or -1 for none", values, NO_MOTIF)


def check_label(label: object, names: Sequence[str]) -> None:
    check_names("class_names", names)
    if label is None:
        return
    if not isinstance(label, Integral) or isinstance(label, bool) or not 0 <= int(label) < max(len(names), 1):
        raise InvalidValue(f"label must be 0 to {len(names) - 1}, one number for each of class_names", label)
    if not names:
        raise ValueError("label need class_names (got none); name every value, for example ('no', 'yes')")


def check_names(field: str, names: Sequence[str], size: int | None = None, thing: str = "") -> None:
    """Texts, and with a size so many of them or none."""
    if not isinstance(names, Sequence) or isinstance(names, str | bytes):
        raise InvalidValue(f"{field} must be a list of texts", names)
    if size is not None and len(names):
        one_for_each(field, names, size, "name", thing)
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None or None in names:
        raise ValueError(f"{field} must be texts (got {shown(other)} among them); write them by str")


def check_starts(field: str, start: Tensor, size: int) -> None:
    check_tensor(field, start)
    ordered = start.ndim == 1 and len(start) >= 2 and start.dtype == torch.int64 and bool((start.diff() >= 0).all())
    if not ordered or start[0] != 0 or start[-1] != size:
        raise InvalidValue(
            f"{field} must be int64, rising from 0 to {size}, one entry more than there are graphs",
            start.flatten()[:5].tolist(),
        )
