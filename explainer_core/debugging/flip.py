"""The smallest change that flips a prediction: the request, for one target or many in one batch, and its answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from explainer_core.adapters import as_model, check_kind
from explainer_core.checks import InvalidValue, index_of, setting, shown, some_of
from explainer_core.computation.batches import check_targets, computation_of
from explainer_core.computation.forward import run
from explainer_core.config import ExplainConfig
from explainer_core.debugging import candidates as single
from explainer_core.debugging.asking import HOPS_HELD, Asked, Asker
from explainer_core.debugging.candidates import CANDIDATES, MORE_CUTS, Candidate, Margin
from explainer_core.debugging.editing import apply_edits
from explainer_core.debugging.edits import Edit
from explainer_core.debugging.search import Asking, Found, Search, affordable_sets
from explainer_core.debugging.site import Site, graph_of_target
from explainer_core.debugging.valence import free_bonds, is_molecule, no_more_strained, possible_elements
from explainer_core.device import one_thread
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.frozen import frozen_eval_copy
from explainer_core.models.protocol import Model, check_features, check_model, device_of
from explainer_core.targets import TASKS, Target

KINDS = ("delete", "add", "feature")
MOST = 5
TOGETHER = 100  # targets that are searched for side by side
BUDGET = 30_000_000  # edges, or 32 feature values each, that all sets of one size may cost a model without a fast path
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Flip:
    """What flips a prediction. Where nothing within `most` changes was found, `changes` is None.

    `proven`: no smaller set of the candidates flips it, or none of at most `most` where nothing was found; every one was tried.
    Candidates are the 60 nearest edges, or the 60 added edges or feature changes that the gradient thinks most of; of several
    kinds the 60 that lead furthest by themselves.
    """

    target: Target
    predicted: int
    wanted: int | None  # the class asked for; None: any other
    changes: tuple[Edit, ...] | None
    reached: int | None  # the class after the changes
    before: tuple[float, ...]  # probabilities of all classes
    after: tuple[float, ...] | None
    proven: bool
    exhausted: int  # every set of so many candidates, and of fewer, was tried in vain
    candidates: int
    tried: int  # changed graphs the model was asked about
    most: int
    sampled: bool  # the neighbourhood was too large, and only a sample of its edges was looked at

    @property
    def found(self) -> bool:
        return self.changes is not None

    @property
    def size(self) -> int | None:
        return None if self.changes is None else len(self.changes)


def flip(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    target: Target,
    to: int | None = None,
    kinds: Sequence[str] = ("delete",),
    most: int = MOST,
    *,
    progress: Progress | None = None,
) -> Flip:
    """The fewest changes that flip a prediction, or that reach the class `to`.

    `kinds` are some of "delete" (edges, both directions of an undirected one as one), "add" (edges) and "feature" (one
    feature of one node). What is found was run on the changed graph built anew, and does not flip with any one change left
    out. In a molecule no atom gets more bonds than its element holds. `progress` is called with the number of changed graphs that were asked about, twice, and may raise to stop.
    """
    advance = None if progress is None else lambda _done, _total, tried: progress(tried, tried)
    return _flips(model, data, [target], to, kinds, most, advance)[0]


def flip_many(
    model: Model | nn.Module,
    data: Graph | GraphSet,
    targets: Iterable[Target],
    to: int | None = None,
    kinds: Sequence[str] = ("delete",),
    most: int = MOST,
    *,
    progress: Progress | None = None,
) -> list[Flip]:
    """`flip` of many targets, asked together; each is what it would be alone.

    `progress` is called with the targets done and all of them after every pass, and may raise to stop.
    """
    advance = None if progress is None else lambda done, total, _tried: progress(done, total)
    return _flips(model, data, list(targets), to, kinds, most, advance)


def _flips(model, data, targets: list[Target], to, kinds, most, advance) -> list[Flip]:
    check_kind(data)
    check_targets(data, targets)
    model = as_model(model, data, TASKS[type(targets[0])] if targets else None)
    check_model(model)
    if targets and TASKS[type(targets[0])] != model.task:
        raise ValueError(f"a {model.task} model predicts a {model.task} (got {shown(targets[0])}); load another model")
    check_features(model, data.x)
    if isinstance(kinds, str) or not kinds:
        raise InvalidValue(f"kinds must be some of {', '.join(KINDS)}", kinds, 'for example ("delete",)')
    some_of("kinds", kinds, KINDS)
    setting("most", most, int, 1, MOST)
    if to is not None:
        index_of("to", to, model.num_classes)
    request = _Request(frozen_eval_copy(model), data, to, tuple(kinds), most)
    found: list[Flip] = []
    with one_thread():
        for sites in request.sites(targets):
            report = None if advance is None else partial(_report, advance, len(found), len(targets))
            found += request.answers(sites, report)
    if advance is not None and targets:
        advance(len(found), len(targets), sum(each.tried for each in found))
    return found


def _report(advance, before: int, total: int, done: int, tried: int) -> None:
    advance(before + done, total, tried)


@dataclass(frozen=True)
class _Request:
    model: Model
    data: Graph | GraphSet
    to: int | None
    kinds: tuple[str, ...]
    most: int
    seen: dict[tuple, np.ndarray] = field(default_factory=dict)  # logits of graphs that were built anew

    def sites(self, targets: Sequence[Target]) -> Iterator[list[Site]]:
        some: list[Site] = []
        size = self.data.x.shape[0]
        for target in targets:
            some.append(Site.of(self.model, self.data, target, wide="add" in self.kinds))
            if len(some) == TOGETHER or len(some) * size > HOPS_HELD:
                yield some
                some = []
        if some:
            yield some

    def answers(self, sites: Sequence[Site], report: Callable[[int, int], None] | None) -> list[Flip]:
        """All searches side by side: in each round every one that is not done asks one question."""
        asker = Asker(self.model, sites)
        nothing = Asked((), np.empty((1, 0), dtype=np.int64))
        logits = asker.logits([(i, nothing) for i in range(len(sites))])
        searches = [self._search(asker, site, row[0]) for site, row in zip(sites, logits, strict=True)]
        found: dict[int, Found] = {}
        answers: dict[int, np.ndarray | None] = dict.fromkeys(range(len(sites)))
        running = {i: search.run() for i, search in enumerate(searches)}
        while running:
            asked: list[tuple[int, Asked]] = []
            for i, each in list(running.items()):
                try:
                    asked.append((i, _next(each, answers[i])))
                except StopIteration as end:
                    found[i] = end.value
                    del running[i]
            if report is not None:
                report(len(found), sum(search.tried for search in searches))
            given = asker.logits(asked)
            answers = {i: rows for (i, _), rows in zip(asked, given, strict=True)}
        return [self._flip(sites[i], searches[i], logits[i][0], found[i]) for i in range(len(sites))]

    def _search(self, asker: Asker, site: Site, logits: np.ndarray) -> Search:
        predicted = int(logits.argmax())
        ahead = partial(_ahead, predicted=predicted, to=self.to)
        if self.to == predicted:
            return Search([], list, ahead, lambda _: True, 0)
        candidates, more = self._candidates(site, partial(_margin, predicted=predicted, to=self.to))
        cost = max(1, max(len(site.edges), site.x.numel() // 32))
        affordable = affordable_sets(0 if asker.fast else cost, BUDGET)
        return Search(candidates, more, ahead, partial(self._verified, site, ahead), self.most, affordable)

    def _candidates(self, site: Site, margin: Margin) -> tuple[list[Candidate], Callable[[], list[Candidate]]]:
        found: list[Candidate] = []
        graph = graph_of_target(self.data, site.target)
        molecule = is_molecule(graph)
        possible = single.possible_edges(site) if "add" in self.kinds else None
        if possible is not None and molecule:
            possible = possible[(free_bonds(graph).numpy()[site.nodes[possible]] >= 1).all(1)]
        alike = site.task == "graph" and len(site.pair_numbers[0]) > CANDIDATES  # none is nearer than another
        gradient = None
        if alike or set(self.kinds) != {"delete"}:
            gradient = single.gradient(self.model, site, margin, possible)
        nearest = single.nearest_edges(site, None if gradient is None else gradient.edge)
        if "delete" in self.kinds:
            found += single.cut_candidates(site, nearest[:CANDIDATES])
        if gradient is not None and possible is not None:
            found += single.add_candidates(site, possible, gradient.added)
        if gradient is not None and "feature" in self.kinds:
            allowed = possible_elements(graph).numpy()[site.nodes] if molecule else None
            found += single.feature_candidates(site, gradient.x, self.data.x, allowed)
        return found, partial(self._more_cuts, site, nearest[CANDIDATES:], margin)

    def _more_cuts(self, site: Site, others: np.ndarray, margin: Margin) -> list[Candidate]:
        """Edges further off that the gradient would cut first."""
        if "delete" not in self.kinds or not len(others):
            return []
        gradient = single.gradient(self.model, site, margin)
        if gradient is None:
            return []
        gain = single.cut_gain(site, gradient.edge)[others]
        return single.cut_candidates(site, others[np.argsort(-gain, kind="stable")[:MORE_CUTS]])

    def _verified(self, site: Site, ahead, chosen: Sequence[Candidate]) -> bool:
        """Whether the model flips on the graph built anew; a molecule must stay one."""
        edits = tuple(each.edit for each in chosen)
        return self._can_be(site.target, edits) and bool(ahead(self._anew(site.target, edits)[None])[0] > 0)

    def _can_be(self, target: Target, edits: Sequence[Edit]) -> bool:
        graph = graph_of_target(self.data, target)
        return not is_molecule(graph) or no_more_strained(graph, apply_edits(graph, edits, molecules=False).graph)

    @torch.no_grad()
    def _anew(self, target: Target, edits: tuple[Edit, ...]) -> np.ndarray:
        """What the model says of a target in the graph built anew with these edits: (C,)."""
        if (target, edits) in self.seen:
            return self.seen[target, edits]
        edited, config = apply_edits(graph_of_target(self.data, target), edits, molecules=False), ExplainConfig()
        asked = edited.target(target)
        computation = computation_of(
            edited.graph, [asked], self.model.hops, max_edges=config.max_edges, seed=config.seed
        )
        logits = run(self.model, computation.to(device_of(self.model)), self.model.task)[0]
        self.seen[target, edits] = logits.cpu().double().numpy()
        return self.seen[target, edits]

    def _flip(self, site: Site, search: Search, logits: np.ndarray, found: Found) -> Flip:
        predicted = int(logits.argmax())
        reached_already = self.to == predicted
        changes = () if reached_already else None
        after, reached = (logits, predicted) if reached_already else (None, None)
        if found.chosen is not None:
            changes = tuple(each.edit for each in found.chosen)
            after = self._anew(site.target, changes)
            reached = int(after.argmax())
        smaller = self.most if changes is None else len(changes) - 1
        return Flip(
            target=site.target,
            predicted=predicted,
            wanted=self.to,
            changes=changes,
            reached=reached,
            before=_probabilities(logits),
            after=None if after is None else _probabilities(after),
            proven=found.exhausted >= smaller and not site.sampled,
            exhausted=found.exhausted,
            candidates=search.whole,
            tried=found.tried,
            most=self.most,
            sampled=site.sampled,
        )


def _next(search: Asking, answer: np.ndarray | None) -> Asked:
    return next(search) if answer is None else search.send(answer)


def _ahead(logits: np.ndarray, predicted: int, to: int | None) -> np.ndarray:
    """How far the wanted class, or the best but the predicted one, is ahead of all others: (R,)."""
    ours = predicted if to is None else to
    others = np.delete(logits, ours, axis=1).max(1)
    return others - logits[:, ours] if to is None else logits[:, ours] - others


def _margin(logits: Tensor, predicted: int, to: int | None) -> Tensor:
    """The same as `_ahead`, for torch to follow."""
    ours = predicted if to is None else to
    others = torch.cat([logits[:, :ours], logits[:, ours + 1 :]], dim=1).amax(1)
    return others - logits[:, ours] if to is None else logits[:, ours] - others


def _probabilities(logits: np.ndarray) -> tuple[float, ...]:
    return tuple(torch.from_numpy(logits).softmax(-1).tolist())
