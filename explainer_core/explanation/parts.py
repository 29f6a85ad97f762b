"""Hard parts of computation graphs side by side, ready for the model to be asked about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.models.delta import Baseline, Changes, embeddings


@dataclass(frozen=True)
class Parts:
    """Hard parts side by side, each with a prediction of its own."""

    model: nn.Module
    x: Tensor  # (n, F)
    edge_index: Tensor  # (2, e)
    part: Tensor  # (n,): which part a node belongs to
    count: int
    targets: Tensor | None  # (count,) or, for links, (count, 2): places of the nodes the predictions are read from
    degree: Tensor | None = None  # (n,)
    edge_types: Tensor | None = None  # (e,)
    edge_weight: Tensor | None = None  # (e,): 0 for a silent edge, where it has to stay in its place
    prefixes: tuple[tuple[int, int], ...] | None = None

    def logits(self, x: Tensor | None = None) -> Tensor:
        """(count, C), with other features if given."""
        x, model = self.x if x is None else x, self.model
        if self.targets is None:
            graphs = {"graph_of": self.part, "num_graphs": self.count, "edge_type": self.edge_types}
            return model(x, self.edge_index, self.edge_weight, **graphs)
        settings = {"edge_type": self.edge_types, "degree": self.degree, "prefixes": self.prefixes}
        if self.targets.ndim == 2:
            z = model.embed(x, self.edge_index, self.edge_weight, **settings)
            return model.decode(z[self.targets[:, 0]], z[self.targets[:, 1]])
        return model(x, self.edge_index, self.edge_weight, **settings)[self.targets]


@dataclass(frozen=True)
class Changed:
    """Copies of one computation graph without some of its edges, worked out from what is said of all of them."""

    model: nn.Module
    baseline: Baseline
    changes: Changes
    targets: Tensor  # (count,) or, for links, (count, 2)

    def logits(self) -> Tensor:
        z = embeddings(self.baseline, self.changes)
        if self.targets.ndim == 2:
            return self.model.decode(z[self.targets[:, 0]], z[self.targets[:, 1]])
        return self.model.head(z[self.targets])


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
    in_place: "Parts | Changed | None" = None  # where silent edges have to stay, ready to run as it is


def joined(model: nn.Module, pieces: Sequence[Piece]) -> Parts | Changed:
    if len(pieces) == 1 and pieces[0].in_place is not None:
        return pieces[0].in_place
    device = next(model.parameters()).device
    first_node = np.cumsum([0, *(len(piece.part) for piece in pieces)])[:-1]
    first_part = np.cumsum([0, *(piece.count for piece in pieces)])

    def tensor(arrays, shifts=None) -> Tensor | None:
        if any(array is None for array in arrays):
            return None
        shifts = np.zeros(len(arrays), dtype=np.int64) if shifts is None else shifts
        joined = np.concatenate([a + shift for a, shift in zip(arrays, shifts, strict=True)], axis=-1)
        return torch.from_numpy(joined).to(device)

    targets = [piece.targets if piece.targets is None else piece.targets.T for piece in pieces]
    joined = tensor(targets, first_node)
    return Parts(
        model=model,
        x=torch.cat([piece.x for piece in pieces]).to(device),
        edge_index=tensor([piece.ends for piece in pieces], first_node),
        part=tensor([piece.part for piece in pieces], first_part[:-1]),
        count=int(first_part[-1]),
        targets=joined if joined is None or joined.ndim == 1 else joined.t(),
        degree=tensor([piece.degree for piece in pieces]),
        edge_types=tensor([piece.edge_types for piece in pieces]),
    )
