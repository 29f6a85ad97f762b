"""Weights from a file against the network they are for: the first tensor that does not fit, and sizes read from the shapes."""

import re
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from explainer_core.checks import cut, shown
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.training import freeze

MAX_BYTES = 20 * 2**20  # of weights that a stranger sends
MOST_TENSORS = 1_000
# A tensor of the first layer that only one kind has; gcn's is among those of gat and gated, which come first.
KIND_BY_TENSOR = {
    "layers.0.cell.weight_ih": "gated",
    "layers.0.source_score": "gat",
    "layers.0.linear.weight": "gcn",
    "layers.0.neighbors.weight": "sage",
    "layers.0.mlp.0.weight": "gin",
    "layers.0.weight": "rgcn",
}
# Which dimension of which tensor is the width of the first layer's input.
INPUT_BY_KIND = {
    "gat": ("layers.0.linear.weight", 1),
    "gcn": ("layers.0.linear.weight", 1),
    "sage": ("layers.0.neighbors.weight", 1),
    "gin": ("layers.0.mlp.0.weight", 1),
    "rgcn": ("layers.0.weight", 1),
}
HIDDEN_BY_KIND = {**INPUT_BY_KIND, "gated": ("layers.0.linear.weight", 0)}


def read_tensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a safetensors file; raises ValueError with one sentence. The format can hold nothing that runs."""
    if len(data) > MAX_BYTES:
        size = f"{len(data) / 2**20:,.1f} MB"
        raise ValueError(f"weights must be at most {MAX_BYTES // 2**20} MB (got {size}); send a smaller network")
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError, MemoryError) as error:
        raise ValueError(
            f"weights must be a safetensors file (got {cut(' '.join(str(error).split()))!r}); "
            "write it by safetensors.torch.save_file(model.state_dict(), path)"
        ) from None
    if not 1 <= len(tensors) <= MOST_TENSORS:
        raise ValueError(f"weights must be 1 to {MOST_TENSORS:,} tensors (got {len(tensors):,}); send one network")
    return tensors


def network_from(spec: ModelSpec, tensors: Mapping[str, Tensor]) -> GNN:
    """The network filled with these weights, frozen; raises ValueError that names the first tensor that does not fit."""
    weights = {name: _as_float(values) for name, values in tensors.items()}
    check_shapes(spec, weights)
    infinite = next((name for name, values in weights.items() if not torch.isfinite(values).all()), None)
    if infinite is not None:
        raise ValueError(f"weights must be finite numbers (got others in {shown(infinite)}); train the network again")
    model = GNN(spec)
    model.load_state_dict(weights)
    return freeze(model)


def check_shapes(spec: ModelSpec, weights: Mapping[str, Tensor]) -> None:
    """Before any memory is taken: a form or a card may speak of a network of gigabytes."""
    with torch.device("meta"):
        wanted = {name: _described(values) for name, values in GNN(spec).state_dict().items()}
    found = {name: _described(values) for name, values in weights.items()}
    for name in (*wanted, *sorted(set(found) - set(wanted))):
        if wanted.get(name) != found.get(name):
            rule = f"must be {wanted[name]}" if name in wanted else "must be absent"
            raise ValueError(f"the tensor {shown(name)} {rule} for these sizes (got {found.get(name, 'none')})")


def suggested_sizes(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Fields of a ModelSpec as far as the names and shapes tell them; empty where they are of another program."""
    shapes = {name: tuple(values.shape) for name, values in tensors.items()}
    kind = next((kind for name, kind in KIND_BY_TENSOR.items() if name in shapes), None)
    layers = {int(found[1]) for name in shapes if (found := re.match(r"layers\.(\d{1,3})\.", name))}
    if kind is None or layers != set(range(len(layers))):
        return {}
    hidden = _hidden(kind, shapes)
    if hidden is None:
        return {}
    sizes: dict[str, Any] = {"kind": kind, "num_layers": len(layers), "hidden": hidden}
    sizes["batch_norm"] = "norms.0.weight" in shapes
    if kind in INPUT_BY_KIND:
        name, dimension = INPUT_BY_KIND[kind]
        sizes["in_features"] = shapes[name][dimension]
    if kind == "gat":
        sizes["heads"] = shapes["layers.0.source_score"][0]
    if kind == "rgcn":
        sizes["num_edge_types"] = shapes["layers.0.weight"][0]
    return sizes | _head(shapes, hidden, len(layers))


def _hidden(kind: str, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """The width of the layers; None where a shape has too few dimensions to tell."""
    name, _ = HIDDEN_BY_KIND[kind]
    shape = shapes.get(name, ())
    if len(shape) != (3 if kind == "rgcn" else 2):
        return None
    if kind == "gat" and not shapes["layers.0.source_score"]:
        return None
    return shape[2] if kind == "rgcn" else shape[0]


def _head(shapes: Mapping[str, tuple[int, ...]], hidden: int, layers: int) -> dict[str, Any]:
    """One matrix gives classes of nodes; two give classes of graphs, or a single score for links."""
    single, last = shapes.get("head.weight", ()), shapes.get("head.2.weight", ())
    if len(single) == 2:
        found = {"task": "node", "num_classes": single[0]}
        width = single[1]
    elif len(last) == 2 and len(shapes.get("head.0.weight", ())) == 2:
        found = {"task": "link" if last[0] == 1 else "graph", "num_classes": max(last[0], 2)}
        width = shapes["head.0.weight"][1]
    else:
        return {}
    return found | {"jump": "cat" if layers > 1 and width == hidden * layers else "last"}


def _as_float(values: Tensor) -> Tensor:
    """Half and double precision become single; counters stay whole numbers."""
    return values.float() if values.is_floating_point() else values


def _described(values: Tensor) -> str:
    kind = str(values.dtype).removeprefix("torch.")
    return f"{kind} of shape {' × '.join(map(str, values.shape)) or 'none (a single number)'}"
