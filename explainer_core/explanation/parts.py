"""Hard parts of computation graphs side by side, ready for the model to be asked about."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from explainer_core.graph import Columns, join_rows, move_rows
from explainer_core.models.protocol import Delta, FastPath, Model, PredictionBatch, ask, device_of, offered


@dataclass(frozen=True)
class Parts:
    """Hard parts side by side, each with a prediction of its own."""

    model: Model
    batch: PredictionBatch
    part: Tensor  # (n,): which part a node belongs to
    edge_weight: Tensor | None = None  # (e,): 0 for a silent edge, where it has to stay in its place

    @property
    def x(self) -> Tensor:
        return self.batch.x

    @property
    def count(self) -> int:
        return self.batch.num_predictions

    def logits(self, x: Tensor | None = None) -> Tensor:
        """(count, C), with other features if given."""
        deduplicated = offered(self.model, "deduplicated")
        if deduplicated is not None and x is None and self.edge_weight is None:
            return deduplicated(self.batch)
        if x is not None and self._fast is not None:  # other features come many times
            return self._fast.logits(self.edge_weight, x, None)
        return ask(self.model, self.batch, self.edge_weight, x)

    @cached_property
    def _fast(self) -> FastPath | None:
        fast = offered(self.model, "fast")
        return None if fast is None else fast(self.batch)


@dataclass(frozen=True)
class Changed:
    """Copies of one computation graph without some of its edges, worked out from the prediction with all of them."""

    delta: Delta
    silent: np.ndarray  # (count, e) bool

    def logits(self) -> Tensor:
        return self.delta.logits(self.silent)


@dataclass(frozen=True)
class Piece:
    """Some graphs as arrays, not yet joined with others; node and edge numbers count from zero."""

    x: Tensor  # (n, F)
    ends: np.ndarray  # (2, e)
    part: np.ndarray  # (n,)
    count: int
    targets: np.ndarray | None
    degree: np.ndarray | None = None
    edge_types: np.ndarray | None = None
    node_data: Columns = field(default_factory=dict)
    edge_data: Columns = field(default_factory=dict)
    in_place: "Parts | Changed | None" = None  # where silent edges have to stay, ready to run as it is


def joined(model: Model, pieces: Sequence[Piece]) -> Parts | Changed:
    if len(pieces) == 1 and pieces[0].in_place is not None:
        return pieces[0].in_place
    device = device_of(model)
    first_node = np.cumsum([0, *(len(piece.part) for piece in pieces)])[:-1]
    first_part = np.cumsum([0, *(piece.count for piece in pieces)])

    def tensor(arrays: Sequence[np.ndarray], shifts: np.ndarray | None = None) -> Tensor:
        shifts = np.zeros(len(arrays), dtype=np.int64) if shifts is None else shifts
        joined = np.concatenate([a + shift for a, shift in zip(arrays, shifts, strict=True)], axis=-1)
        return torch.from_numpy(joined).to(device)

    def tensor_if_all(arrays: Sequence[np.ndarray | None], shifts: np.ndarray | None = None) -> Tensor | None:
        known = [array for array in arrays if array is not None]
        return tensor(known, shifts) if len(known) == len(arrays) else None

    targets = tensor_if_all([None if piece.targets is None else piece.targets.T for piece in pieces], first_node)
    part = tensor([piece.part for piece in pieces], first_part[:-1])
    batch = PredictionBatch(
        task=model.task,
        x=torch.cat([piece.x for piece in pieces]).to(device),
        edge_index=tensor([piece.ends for piece in pieces], first_node),
        num_predictions=int(first_part[-1]),
        targets=targets if targets is None or targets.ndim == 1 else targets.t(),
        graph_of=part,
        degree=tensor_if_all([piece.degree for piece in pieces]),
        edge_types=tensor_if_all([piece.edge_types for piece in pieces]),
        node_data=move_rows(join_rows("node_data", [piece.node_data for piece in pieces]), device),
        edge_data=move_rows(join_rows("edge_data", [piece.edge_data for piece in pieces]), device),
    )
    return Parts(model, batch, part)
