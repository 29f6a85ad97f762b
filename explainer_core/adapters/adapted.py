"""A network of one's own as a Model: every answer is one row of logits for each prediction, under a mask that is an argument."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from explainer_core.adapters.call import Call
from explainer_core.adapters.copying import stamp, weights_of
from explainer_core.adapters.levels import Levels
from explainer_core.adapters.masking import MaskedNetwork, Pass
from explainer_core.adapters.output import answer_of, as_logits
from explainer_core.adapters.tape import Tape, record
from explainer_core.graph import take_rows
from explainer_core.models.protocol import PredictionBatch, Task


@dataclass(frozen=True)
class Facts:
    """What was found out about a network: how it is called, what it answers, and how far it looks."""

    call: Call
    task: Task
    output: str
    num_classes: int
    in_features: int
    hooks: bool = True  # its layers take hooks; else the mask comes in as edge_weight
    apart: bool = False  # several graphs in one pass disturb each other: one at a time
    degrees: bool = True  # degrees that are given are used
    attends: bool = False
    silent_is_absent: bool = False
    trim: str | None = None  # one of levels.TRIMS, where layers take no more than they need
    repeats: bool = False  # a pass may be recorded, and repeated without the network
    hops: int | None = None


class Adapted:
    """What `adapt` makes of a network. The network is only read: hooks are set on a copy that shares its weights."""

    def __init__(self, module: nn.Module, facts: Facts, copies: "Copies | None" = None):
        self.module, self.facts = module, facts
        self.copies = Copies() if copies is None else copies
        self.task: Task = facts.task
        self.num_classes, self.hops, self.in_features = facts.num_classes, facts.hops, facts.in_features
        self.silent_is_absent = facts.silent_is_absent

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.module.parameters()

    def __repr__(self) -> str:
        looks = "everything" if self.hops is None else f"{self.hops} hops"
        return f"Adapted({type(self.module).__name__}: a {self.task} model of {self.num_classes} classes that looks at {looks})"

    def logits(self, batch: PredictionBatch, edge_weight: Tensor | None = None, x: Tensor | None = None) -> Tensor:
        return AdaptedPath(self, batch).logits(edge_weight, x)

    def fast(self, batch: PredictionBatch) -> "AdaptedPath":
        return AdaptedPath(self, batch, repeats=self.facts.repeats)

    @property
    def attention(self) -> Callable[[PredictionBatch], Tensor] | None:
        return self._attention if self.facts.attends else None

    def _attention(self, batch: PredictionBatch) -> Tensor:
        """Mean over heads and layers: (e,)."""
        return AdaptedPath(self, batch).attention()


class Copies:
    """A copy of one network for every thread that asks; none of them refers to the network itself."""

    def __init__(self):
        self._local = threading.local()

    def of(self, module: nn.Module) -> MaskedNetwork:
        """This thread's copy, made anew where weights were exchanged."""
        now = tuple(pointer for pointer, _ in stamp(module))
        if getattr(self._local, "made_of", None) != now:
            self._local.network, self._local.made_of = MaskedNetwork(module), now
        return self._local.network


class AdaptedPath:
    """One batch that an adapted network is asked about, once or many times; with `repeats` its second pass is recorded, and
    repeated from then on."""

    manual_backward = weighs_nodes = False

    def __init__(self, model: Adapted, batch: PredictionBatch, trim: Any = ..., repeats: bool = False):
        self.repeats = repeats
        # by the types of the mask and the features that are given; None where there can be no tape
        self.tapes: dict[tuple[torch.dtype | None, ...], Tape | None] = {}
        self._asked_about: set[tuple[torch.dtype | None, ...]] = set()
        self.model, self.facts = model, model.facts
        self.network = model.copies.of(model.module)
        self._weights, self._trained = weights_of(self.network.network), ()
        self.batch = batch
        self.trim = model.facts.trim if trim is ... else trim

    def logits(self, edge_weight: Tensor | None, x: Tensor | None = None, node_weight: Tensor | None = None) -> Tensor:
        if self._pieces is not None:
            return torch.cat([self._of_piece(piece, edge_weight, x) for piece in self._pieces])
        if self._padding:
            return self._padded(edge_weight, x)
        given = [value for value in (edge_weight, x) if value is not None]
        what = tuple(None if value is None else value.dtype for value in (edge_weight, x))
        repeats = self.repeats and given and all(value.is_floating_point() for value in given)
        if not repeats or what not in self._asked_about:
            self._asked_about.add(what)
            return self._asked(edge_weight, x)
        trained = tuple(0 if weight.is_inference() else weight._version for weight in self._weights)
        if trained != self._trained:  # a tape holds what was worked out from weights
            self.tapes = {each: None for each, tape in self.tapes.items() if tape is None}
            self._trained = trained
        if what not in self.tapes:
            self.tapes[what], rows = self._recorded(edge_weight, x)
            return rows
        tape = self.tapes[what]
        return self._asked(edge_weight, x) if tape is None else tape.play(given)

    def _asked(self, edge_weight: Tensor | None, x: Tensor | None) -> Tensor:
        answer, _ = self.answer(edge_weight, x)
        rows = as_logits(answer, self.facts.output)
        if self.batch.task == "node":
            assert self.batch.targets is not None  # only whole graphs have none
            return rows.index_select(0, self.batch.targets)
        return rows

    def _recorded(self, edge_weight: Tensor | None, x: Tensor | None) -> tuple[Tape | None, Tensor]:
        """A tape of this pass, and its answer."""
        watched = [v if v is None or v.requires_grad else _followed(v) for v in (edge_weight, x)]
        with torch.enable_grad():
            tape, rows = record([v for v in watched if v is not None], lambda: self._asked(*watched))
        followed = torch.is_grad_enabled() and any(v is not None and v.requires_grad for v in (edge_weight, x))
        return tape, rows if followed else rows.detach()

    def answer(self, edge_weight: Tensor | None, x: Tensor | None = None, attend: bool = False) -> tuple[Tensor, Pass]:
        """What the network itself gives, and what was seen of its layers."""
        levels = self._all_levels if attend else self._levels
        this = Pass(levels, edge_weight if self.facts.hooks else None, attention=[] if attend else None)
        call = self.facts.call.of(self.batch, x, None if self.facts.hooks else edge_weight)
        return answer_of(self.network.run(this, call)), this

    @torch.no_grad()
    def attention(self) -> Tensor:
        if self._pieces is not None:
            found = torch.zeros(self.batch.edge_index.shape[1], device=self.batch.x.device)
            for piece in self._pieces:
                found[piece.edges] = piece.path.attention()
            return found
        _, this = self.answer(None, attend=True)
        total = torch.zeros(self.batch.edge_index.shape[1] + 1, device=self.batch.x.device)
        count = torch.zeros_like(total)
        for route, paid in this.attention or ():
            at = torch.arange(len(paid), device=paid.device) if route.positions is None else route.positions
            at = at.clamp(max=len(total) - 1)  # what is no edge of the graph counts nowhere
            total.index_add_(0, at, paid.float())
            count.index_add_(0, at, torch.ones_like(paid))
        return (total / count.clamp(min=1))[:-1]

    @cached_property
    def _levels(self) -> Levels:
        return Levels(self.batch, self.batch.degree if self.facts.degrees else None, self.trim)

    @cached_property
    def _all_levels(self) -> Levels:
        return Levels(self.batch, self.batch.degree if self.facts.degrees else None, None)

    # Graphs without a node, and graphs one at a time

    @cached_property
    def _padding(self) -> bool:
        """A pooling layer cannot know of empty graphs after the last node: one more graph of a single node tells it."""
        b = self.batch
        if b.task != "graph" or b.graph_of is None:
            return False
        return len(b.graph_of) == 0 or int(b.graph_of[-1]) < b.num_predictions - 1

    def _padded(self, edge_weight: Tensor | None, x: Tensor | None) -> Tensor:
        more = self._one_more
        x = None if x is None else torch.cat([x, more.batch.x[-1:]])
        return more.logits(edge_weight, x)[:-1]

    @cached_property
    def _one_more(self) -> "AdaptedPath":
        b = self.batch
        assert b.graph_of is not None
        row = {
            name: torch.cat([values, values.new_zeros(1, *values.shape[1:])]) for name, values in b.node_data.items()
        }
        padded = replace(
            b,
            x=torch.cat([b.x, b.x.new_zeros(1, b.x.shape[1])]),
            graph_of=torch.cat([b.graph_of, b.graph_of.new_full((1,), b.num_predictions)]),
            num_predictions=b.num_predictions + 1,
            degree=None if b.degree is None else torch.cat([b.degree, b.degree.new_zeros(1)]),
            node_data=row,
        )
        return AdaptedPath(self.model, padded, repeats=self.repeats)

    def _of_piece(self, piece: "Piece", edge_weight: Tensor | None, x: Tensor | None) -> Tensor:
        weight = None if edge_weight is None else edge_weight.index_select(0, piece.edges)
        return piece.path.logits(weight, None if x is None or not len(piece.nodes) else x.index_select(0, piece.nodes))

    @cached_property
    def _pieces(self) -> "list[Piece] | None":
        b = self.batch
        if not self.facts.apart or b.graph_of is None or b.num_predictions == 1:
            return None
        owner = b.graph_of[b.edge_index[1]] if b.edge_index.numel() else b.edge_index[1]
        return [self._piece(number, owner) for number in range(b.num_predictions)]

    def _piece(self, number: int, owner: Tensor) -> "Piece":
        b = self.batch
        assert b.graph_of is not None
        nodes, edges = (b.graph_of == number).nonzero().flatten(), (owner == number).nonzero().flatten()
        position = torch.full_like(b.graph_of, -1)
        position[nodes] = torch.arange(len(nodes), device=nodes.device)
        own = replace(
            b,
            x=b.x[nodes],
            edge_index=position[b.edge_index[:, edges]],
            num_predictions=1,
            targets=None if b.targets is None else position[b.targets[number : number + 1]],
            graph_of=torch.zeros_like(nodes),
            edge_types=None if b.edge_types is None else b.edge_types[edges],
            degree=None if b.degree is None else b.degree[nodes],
            node_data=take_rows(b.node_data, nodes),
            edge_data=take_rows(b.edge_data, edges),
            prefixes=None,
        )
        if not len(nodes):  # alone a network needs a node to look at: one of which nothing is known
            empty = {name: values.new_zeros(1, *values.shape[1:]) for name, values in b.node_data.items()}
            own = replace(own, x=b.x.new_zeros(1, b.x.shape[1]), graph_of=b.graph_of.new_zeros(1), node_data=empty)
        return Piece(AdaptedPath(self.model, own, repeats=self.repeats), nodes, edges)


def _followed(values: Tensor) -> Tensor:
    """The same with a gradient, also where it was made in inference mode; and one may write into it, as into no leaf."""
    return values.detach().clone().requires_grad_().clone()


@dataclass(frozen=True, eq=False)
class Piece:
    """The graph of one prediction by itself."""

    path: AdaptedPath
    nodes: Tensor
    edges: Tensor
