"""A graph or a set of graphs as bytes: safetensors with the names as JSON in its header. Nothing in it can run."""

import json
from dataclasses import fields
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from explainer_core.graph.graph import Graph
from explainer_core.graph.graph_set import GraphSet

KINDS = {"graph": Graph, "graphs": GraphSet}
COLUMNS = ("node_data", "edge_data")
HEADER = "fields"


def to_bytes(data: Graph | GraphSet) -> bytes:
    """Equal data give equal bytes."""
    tensors: dict[str, Tensor] = {}
    others: dict[str, Any] = {"kind": "graph" if isinstance(data, Graph) else "graphs"}
    for field in fields(data):
        value = getattr(data, field.name)
        if isinstance(value, Tensor):
            tensors[field.name] = value.cpu().contiguous()
        elif field.name in COLUMNS:
            tensors |= {f"{field.name}/{name}": rows.cpu().contiguous() for name, rows in value.items()}
        else:
            others[field.name] = list(value) if isinstance(value, list | tuple) else value
    return save(_apart(tensors), metadata={HEADER: json.dumps(others, sort_keys=True)})


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """safetensors takes no two names for the same memory."""
    seen: set[int] = set()
    found = {}
    for name, values in tensors.items():
        found[name] = values.clone() if values.data_ptr() in seen else values
        seen.add(values.data_ptr())
    return found


def from_bytes(content: bytes) -> Graph | GraphSet:
    """Raises ValueError with one sentence for bytes that are no graph; the graph checks itself."""
    try:
        tensors, others = load(content), json.loads(_header(content)[HEADER])
        kind = KINDS[others.pop("kind")]
        values: dict[str, Any] = {name: {} for name in COLUMNS} | others
        for name, rows in tensors.items():
            field, _, column = name.partition("/")
            if column:
                values[field][column] = rows
            else:
                values[field] = rows
    except (SafetensorError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"the file must be a graph that was written by to_bytes (got {type(error).__name__})"
        ) from error
    return kind(**values)


def _header(content: bytes) -> dict:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length])["__metadata__"]
