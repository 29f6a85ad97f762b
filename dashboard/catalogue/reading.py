"""What people hand to `launch` or define in a script, as our own data: PyTorch Geometric, networkx, a list of graphs, a split."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from dashboard.schema import NO_SPLIT, SPLITS
from explainer_core import Graph, GraphSet
from explainer_core.adapters import check_kind

MASKS = {part: f"{part}_mask" for part in SPLITS}  # as PyTorch Geometric calls them


def read_data(given: Any, **names: Sequence[str] | None) -> tuple[Graph | GraphSet, str]:
    """The data, and the Python that makes it of what was given, which people call `data`.

    `names` are class_names, feature_names and node_names, each None where the data's own are kept.
    """
    data, python = _read(given, tuple(names.get("class_names") or ()))
    check_kind(data)
    named = {field: tuple(map(str, value)) for field, value in names.items() if value is not None}
    return (replace(data, **named) if named else data), python


def _read(given: Any, class_names: Sequence[str]) -> tuple[Any, str]:
    if isinstance(given, Graph | GraphSet):
        return given, "data"
    if isinstance(given, nx.Graph):
        return Graph.from_networkx(given), "xc.Graph.from_networkx(data)"
    if hasattr(given, "edge_index") or hasattr(given, "node_types"):
        return Graph.from_pyg(given, class_names=class_names), "xc.Graph.from_pyg(data)"
    if not isinstance(given, Mapping) and hasattr(given, "__len__") and hasattr(given, "__getitem__") and len(given):
        return _read_many(given, class_names)
    return given, "data"  # whatever it is, `check_kind` has a sentence for it


def _read_many(given: Any, class_names: Sequence[str]) -> tuple[Any, str]:
    first = given[0]
    if isinstance(first, Graph):
        return GraphSet.from_graphs(given), "xc.GraphSet.from_graphs(data)"
    if not hasattr(first, "edge_index"):
        return given, "data"
    if len(given) == 1 and _has_classes_of_nodes(first):  # a dataset of one graph, such as PyG's Planetoid
        return Graph.from_pyg(first, class_names=class_names), "xc.Graph.from_pyg(data[0])"
    graphs = GraphSet.from_pyg(given, class_names=class_names)
    named = any(getattr(each, "name", None) for each in given)
    return graphs if named else replace(graphs, graph_names=None), "xc.GraphSet.from_pyg(data)"


def _has_classes_of_nodes(data: Any) -> bool:
    y = getattr(data, "y", None)
    return y is None or np.size(np.asarray(y)) == data.num_nodes


def with_all_names(data: Graph | GraphSet, num_classes: int | None) -> Graph | GraphSet:
    """A name for every class that a network tells apart, and for every feature: the page shows them.

    A network that tells joined pairs from others, num_classes None, leaves the classes of nodes as they are.
    """
    num_classes = len(data.class_names) if num_classes is None else num_classes
    known = tuple(data.class_names)
    if known == tuple(map(str, range(len(known)))):
        known = ()  # numbers alone say little: "class 2"
    if len(data.class_names) > num_classes:
        raise ValueError(
            f"a network must tell apart all {len(data.class_names)} classes of the data (got one of {num_classes} outputs); "
            "give it data with its own classes"
        )
    classes = known + tuple(f"class {i}" for i in range(len(known), num_classes))
    features = tuple(data.feature_names) or tuple(f"feature {i}" for i in range(data.num_features))
    return replace(data, class_names=classes, feature_names=features)


def read_split(data: Graph | GraphSet, split: Mapping[str, Any] | None) -> np.ndarray | None:
    """ "train", "val", "test" or "" for each node or graph; None where no split is known.

    `split` holds masks or numbers by part; without it, the masks that came with the data.
    """
    count = len(data) if isinstance(data, GraphSet) else data.num_nodes
    if split is None:
        if isinstance(data, GraphSet):
            return None
        split = {part: data.node_data[mask] for part, mask in MASKS.items() if _is_mask(data.node_data.get(mask))}
        if not split:
            return None
    if not isinstance(split, Mapping) or not split or set(split) - set(SPLITS):
        got = list(split) if isinstance(split, Mapping) else type(split).__name__
        raise ValueError(
            f"split must have some of train, val and test (got {got}); give each a mask or a list of numbers"
        )
    parts = np.full(count, NO_SPLIT, dtype="<U5")
    for part, chosen in split.items():
        parts[_rows(part, chosen, count)] = part
    return parts


def _is_mask(values: Any) -> bool:
    return values is not None and values.ndim == 1 and str(values.dtype) == "torch.bool"


def _rows(part: str, chosen: Any, count: int) -> np.ndarray:
    rows = np.asarray(chosen)
    if rows.dtype == bool:
        if rows.shape != (count,):
            raise ValueError(f"a mask of the split must have {count} entries (got shape {rows.shape} for {part})")
        return np.flatnonzero(rows)
    if rows.size and (rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= count):
        raise ValueError(f"the split must hold whole numbers from 0 to {count - 1}, or masks (got others for {part})")
    return rows.astype(int)
