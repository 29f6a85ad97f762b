"""Aligning small graphs: which node of each plays which part of a reference.

The cost of a pairing is |P^T A_v P - A*| + |P^T X_v - X*| (the paper's Appendix), every edge counted once: the weight of
the edges that one graph has and the other lacks, and how much the features of paired nodes differ. Every graph starts
from many relaxed assignments at once, each is rounded to a pairing and improved by exchanging two nodes while that pays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from explainer_core.device import one_thread

RESTARTS = 32  # relaxed ones; 16 miss the best pairing of one graph in 50 at 18 nodes
PLAIN_SHARE = 0.5  # as many again that are not relaxed: in dense graphs the relaxed ones end in too few places
STEPS = 10  # of the relaxed assignment; 20 end in the same few places from every start
SHARPNESS = 5.0, 20.0  # at the first step and at the last: from nearly anything goes to nearly a pairing
SPREAD = 4.0  # of the random starts; below 2 they all end in one place
BALANCING = 5  # rounds of rows and columns scaled to sum to one, each step
ALONE = 0.5  # what a node or role without a partner costs, where there are features: about half of two that differ
BATCH_CELLS = 2_000_000  # cells of all matrices that are worked on together, to bound the memory


@dataclass(frozen=True, eq=False)
class Piece:
    """A small graph to be aligned. Its first nodes may be anchors, which are paired with the reference's first."""

    adjacency: np.ndarray  # (n, n): symmetric, not negative, nothing on the diagonal
    features: np.ndarray  # (n, F): so scaled that their differences count as edges do

    @property
    def size(self) -> int:
        return len(self.adjacency)


@dataclass(frozen=True, eq=False)
class Alignment:
    """Who plays which part: `node_of[r]` is the node in role r of the reference, -1 where there is none."""

    node_of: np.ndarray  # (roles,)
    cost: float


@one_thread()
def align(
    pieces: Sequence[Piece], reference: Piece, *, anchors: int = 0, restarts: int = RESTARTS, seed: int = 0
) -> list[Alignment]:
    """The cheapest pairing found of each piece with the reference. Each is what it would be alone.

    A piece larger than the reference has nodes left over; a smaller one leaves roles empty.
    """
    largest = max([reference.size, 1, *(piece.size for piece in pieces)])
    starts = _starts(largest, restarts + int(PLAIN_SHARE * restarts), seed)
    share = max(1, BATCH_CELLS // (len(starts) * largest**2))
    found: list[np.ndarray] = []
    for first in range(0, len(pieces), share):
        batch = _Batch.of(pieces[first : first + share], reference, anchors)
        found += batch.solved(starts[:, : batch.width, : batch.width], restarts)
    return [
        Alignment(node_of, pairing_cost(piece, reference, node_of))
        for piece, node_of in zip(pieces, found, strict=True)
    ]


def permuted(adjacency: np.ndarray, node_of: np.ndarray) -> np.ndarray:
    """A matrix over the nodes as one over the roles, zero where a role has no node: (roles, roles)."""
    return np.pad(adjacency, (0, 1))[np.ix_(node_of, node_of)]  # -1 finds the empty row at the end


def pairing_cost(piece: Piece, reference: Piece, node_of: np.ndarray) -> float:
    """What a pairing costs; `node_of` names the node of each role, -1 for none."""
    covered = permuted(piece.adjacency, node_of)
    left_over = piece.adjacency.sum() - covered.sum()
    cost = (np.abs(covered - reference.adjacency).sum() + left_over) / 2
    if piece.features.shape[1]:
        roles = np.flatnonzero(node_of >= 0)
        cost += np.abs(piece.features[node_of[roles]] - reference.features[roles]).sum()
        cost += ALONE * (piece.size + reference.size - 2 * len(roles))
    return float(cost)


def random_pairing(piece: Piece, reference: Piece, anchors: int, rng: np.random.Generator) -> np.ndarray:
    """Anchors where they belong and everyone else anywhere: what a pairing is worth without looking."""
    width = max(piece.size, reference.size)
    order = np.concatenate([np.arange(anchors), anchors + rng.permutation(width - anchors)])[: reference.size]
    return np.where(order < piece.size, order, -1)


def _starts(size: int, restarts: int, seed: int) -> Tensor:
    """Random log-assignments: (restarts, size, size). A smaller size gets the corner of what a larger one gets."""
    rng = np.random.default_rng(seed)
    noise = np.empty((restarts, size, size), dtype=np.float32)
    for k in range(size):  # one shell after another
        shell = rng.standard_normal((2 * k + 1, restarts), dtype=np.float32)
        noise[:, k, : k + 1], noise[:, :k, k] = shell[: k + 1].T, shell[k + 1 :].T
    return SPREAD * torch.from_numpy(noise)


@dataclass(frozen=True)
class _Batch:
    """Pieces padded to one width N with nodes that have no edges; the reference is padded in the same way."""

    sizes: list[int]
    adjacency: Tensor  # (B, N, N)
    reference: Tensor  # (N, N)
    difference: Tensor  # (B, N, N): of the features of a node (row) and a role (column)
    movable: Tensor  # (B, N): True where node and role are open; the others stay with their like
    roles: int

    @classmethod
    def of(cls, pieces: Sequence[Piece], reference: Piece, anchors: int) -> "_Batch":
        width = max([reference.size, 1, *(piece.size for piece in pieces)])
        index = torch.arange(width)
        ends = torch.tensor([max(piece.size, reference.size) for piece in pieces])
        return cls(
            sizes=[piece.size for piece in pieces],
            adjacency=torch.stack([_padded(piece.adjacency, width) for piece in pieces]),
            reference=_padded(reference.adjacency, width),
            difference=torch.stack([_difference(piece, reference, width) for piece in pieces]),
            movable=(index >= anchors) & (index < ends.unsqueeze(1)),
            roles=reference.size,
        )

    @property
    def width(self) -> int:
        return len(self.reference)

    def solved(self, starts: Tensor, relaxed: int) -> list[np.ndarray]:
        """For each piece the node of every role, -1 for none, in the cheapest pairing of all starts.

        So many of the starts are relaxed first.
        """
        number = torch.arange(len(self.sizes))
        soft, plain = number.repeat_interleave(relaxed), number.repeat_interleave(len(starts) - relaxed)
        owner = torch.cat([soft, plain])  # (rows,)
        assigned = torch.cat([self._relaxed(starts[:relaxed], soft), starts[relaxed:].repeat(len(number), 1, 1)])
        order = _rounded(assigned, self._open(owner))
        costs = self._improved(order, owner)
        best = torch.stack([torch.where(owner == i, costs, torch.inf).argmin() for i in number])
        nodes = order[best, : self.roles].numpy()
        return [np.where(row < size, row, -1) for row, size in zip(nodes, self.sizes, strict=True)]

    def _open(self, owner: Tensor) -> Tensor:
        """Which node may take which role: (rows, N, N)."""
        movable = self.movable[owner]
        return (movable.unsqueeze(2) & movable.unsqueeze(1)) | torch.eye(self.width, dtype=torch.bool)

    def _relaxed(self, starts: Tensor, owner: Tensor) -> Tensor:
        """Doubly stochastic assignments that each step moves towards the pairs the last one speaks for: (rows, N, N).

        The gradient of the squared objective is 2 A_v P A* less the features' difference (graduated assignment, Gold and
        Rangarajan 1996).
        """
        adjacency, difference, open_pairs = self.adjacency[owner], self.difference[owner], self._open(owner).float()
        assigned = _balanced(starts.repeat(len(self.sizes), 1, 1), open_pairs)
        for sharpness in np.geomspace(*SHARPNESS, STEPS).tolist():
            gain = adjacency @ assigned @ self.reference - difference
            assigned = _balanced(sharpness * gain, open_pairs)
        return assigned

    def _improved(self, order: Tensor, owner: Tensor) -> Tensor:
        """Exchanges the nodes of two roles in place, each time the two that save most, until no exchange saves: costs (rows,)."""
        rows, size = order.shape
        permuted = _permuted(self.adjacency[owner], order)
        paired = self.difference[owner].gather(1, order.unsqueeze(2).expand(-1, -1, size))  # [role it is in, any role]
        movable = self.movable[owner]
        allowed = (movable.unsqueeze(2) & movable.unsqueeze(1)).triu(1)
        active = torch.arange(rows)
        for _ in range(10 * size):  # far more than it takes; rounding must not keep it going for ever
            saving = _exchange_costs(permuted[active], self.reference, paired[active])
            least, where = saving.masked_fill(~allowed[active], torch.inf).flatten(1).min(1)
            active, where = active[least < -1e-5], where[least < -1e-5]
            if len(active) == 0:
                break
            swapped = torch.arange(size).repeat(len(active), 1)
            one, other, each = where // size, where % size, torch.arange(len(active))
            swapped[each, one], swapped[each, other] = other, one
            order[active] = order[active].gather(1, swapped)
            permuted[active] = _permuted(permuted[active], swapped)
            paired[active] = paired[active].gather(1, swapped.unsqueeze(2).expand(-1, -1, size))
        return (permuted - self.reference).abs().sum((1, 2)) / 2 + paired.diagonal(dim1=1, dim2=2).sum(1)


def _padded(values: np.ndarray, width: int) -> Tensor:
    padded = torch.zeros(width, width)
    padded[: len(values), : len(values)] = torch.from_numpy(values)
    return padded


def _difference(piece: Piece, reference: Piece, width: int) -> Tensor:
    """How much the features of each node and each role differ; without features nothing does: (N, N)."""
    found = torch.zeros(width, width)
    if piece.features.shape[1]:
        found[: piece.size, reference.size :] = found[piece.size :, : reference.size] = ALONE
        pairs = np.abs(piece.features[:, None] - reference.features[None]).sum(-1)
        found[: piece.size, : reference.size] = torch.from_numpy(pairs)
    return found


def _balanced(logits: Tensor, open_pairs: Tensor) -> Tensor:
    """Sinkhorn: rows and columns scaled by turns until both nearly sum to one; closed pairs stay at zero."""
    scaled = (logits - logits.amax(2, keepdim=True)).exp().clamp(min=1e-12) * open_pairs
    for _ in range(BALANCING):
        scaled = scaled / scaled.sum(2, keepdim=True)
        scaled = scaled / scaled.sum(1, keepdim=True)
    return scaled


def _rounded(assigned: Tensor, open_pairs: Tensor) -> Tensor:
    """The nearest pairing to each assignment: the node of every role: (rows, N)."""
    wanted = assigned.masked_fill(~open_pairs, -1e3).numpy()
    return torch.from_numpy(np.stack([linear_sum_assignment(row.T, maximize=True)[1] for row in wanted]))


def _permuted(adjacency: Tensor, order: Tensor) -> Tensor:
    """The matrices with rows and columns in the given order: (rows, N, N)."""
    size = order.shape[1]
    rows = adjacency.gather(1, order.unsqueeze(2).expand(-1, -1, size))
    return rows.gather(2, order.unsqueeze(1).expand(-1, size, -1))


def _exchange_costs(permuted: Tensor, reference: Tensor, paired: Tensor) -> Tensor:
    """What it would cost to exchange the nodes of roles i and j: (rows, N, N).

    With D(i, j) = sum over k of |permuted_ik - reference_jk|, all four sums an exchange changes are entries of D, less the
    two terms k = i and k = j, whose edge or diagonal stays where it is.
    """
    crossed = torch.cdist(permuted, reference.expand_as(permuted), p=1)
    own = crossed.diagonal(dim1=1, dim2=2)
    after = crossed - permuted - reference
    before = own.unsqueeze(2) - (permuted - reference).abs()
    features = paired - paired.diagonal(dim1=1, dim2=2).unsqueeze(2)
    change = after - before + features
    return change + change.transpose(1, 2)
