"""The smallest change that flips a prediction: found, size, place and time, beside trivial rules and exhaustive search.

Synthetic sets: motif nodes that networks trained anew (seeds 21 to 25) get right. Everywhere at most five changes. The rules
delete one edge after another, among the same 60 nearest: in random order, the nearest first, or those first whose loss alone
lowers the class most. Exhaustive search tries every set of one, then two, then three. Faults: see benchmarks/planted.py.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np

import explainer_core as xc
from benchmarks import figures
from benchmarks.accuracy import PLANTED, REPORTED_SEEDS, Setting
from benchmarks.data import many_graphs, one_graph
from benchmarks.networks import trained
from benchmarks.planted import measure_faults
from explainer_core.debugging.asking import Asked, Asker
from explainer_core.debugging.candidates import CANDIDATES, Candidate, cut_candidates, nearest_edges
from explainer_core.debugging.search import SURE
from explainer_core.debugging.site import Site
from explainer_core.targets import Target

MOST, EXHAUSTIVE = 5, 3
NODES, QUICK_NODES = 200, 10
TARGETS, QUICK_TARGETS = 100, 5
TIMED = 25  # targets that are also searched for one by one
FOUND_GOAL, SIZE_GOAL, REAL_GOAL = 0.99, 1.02, 0.95
SECONDS = {"synthetic": 0.3, "real": 1.0}
REAL = ("mutagenicity", "cora")
FAULTS = "faults"
SETS = (*PLANTED, *REAL, FAULTS)
DELETE, BOTH = ("delete",), ("delete", "feature")
Ends = tuple[tuple[int, int], ...]
Result = TypeVar("Result")


def measure(report: figures.Report, quick: bool, only: Sequence[str] = SETS) -> None:
    for dataset in only:
        if dataset == FAULTS:
            measure_faults(report, quick)
        elif dataset in REAL:
            try:
                _real(report, dataset, QUICK_TARGETS if quick else TARGETS)
            except xc.DataUnavailable as error:
                print(f"{dataset} is left out: {error}")
        elif dataset == "tree_cycles" or not quick:
            _synthetic(report, dataset, quick)


@dataclass
class Tally:
    """What one way of flipping found: the edges it deleted for each target, None where it found nothing."""

    sizes: list[int | None]
    inside: list[float]  # of all deletions, which lie in the target's own motif

    @classmethod
    def empty(cls) -> "Tally":
        return cls([], [])

    def add(self, graph: xc.Graph, node: int, ends: Ends | None) -> None:
        self.sizes.append(None if ends is None else len(ends))
        if ends is not None:
            of_motif = graph.edge_index[:, graph.motif_edges(node)].t().tolist()
            motif = {tuple(sorted(pair)) for pair in of_motif}
            self.inside += [float(tuple(sorted(pair)) in motif) for pair in ends]

    @property
    def found(self) -> float:
        return float(np.mean([size is not None for size in self.sizes]))

    @property
    def mean_size(self) -> float:
        return float(np.mean([size for size in self.sizes if size is not None]))

    @property
    def share_inside(self) -> float:
        return float(np.mean(self.inside))


# Synthetic sets


def _synthetic(report: figures.Report, dataset: str, quick: bool) -> None:
    seeds = REPORTED_SEEDS[:1] if quick else REPORTED_SEEDS
    tallies = {name: Tally.empty() for name in ("flip", "exhaustive", *RULES)}
    alone, together, count = [], 0.0, (QUICK_NODES if quick else NODES) // len(seeds)
    for seed in seeds:
        setting = Setting.of(dataset, one_graph(dataset, seed=seed), trained(dataset, seed))
        targets = setting.some(count)
        seconds, flips = _timed(lambda s=setting, t=targets: xc.flip_many(s.model, s.graph, t))
        together += seconds
        few = targets[: TIMED // len(seeds)]
        alone += [_timed(lambda s=setting, t=target: xc.flip(s.model, s.graph, t))[0] for target in few]
        for target, flip in zip(targets, flips, strict=True):
            ends = None if flip.changes is None else tuple(_ends(change) for change in flip.changes)
            tallies["flip"].add(setting.graph, target.node, ends)
            subject = Subject.of(setting.model, setting.graph, target, flip.predicted)
            tallies["exhaustive"].add(setting.graph, target.node, subject.exhaustive())
            for name, rule in RULES.items():
                tallies[name].add(setting.graph, target.node, subject.one_by_one(rule(subject)))
    _add_synthetic(report, f"{dataset}, {len(tallies['flip'].sizes)} nodes", tallies)
    _add_times(report, dataset, "synthetic", alone, together / len(tallies["flip"].sizes))


def _add_synthetic(report: figures.Report, where: str, tallies: dict[str, Tally]) -> None:
    ours, best = tallies["flip"], tallies["exhaustive"]
    # over the targets that both flipped: exhaustive search ends at three
    both = [(a, b) for a, b in zip(ours.sizes, best.sizes, strict=True) if a is not None and b is not None]
    ratio = float(np.sum([a for a, _ in both]) / np.sum([b for _, b in both]))
    report.add(f"{where}: found", ours.found, "", FOUND_GOAL)
    report.add(f"{where}: mean size over exhaustive search's", ratio, "", SIZE_GOAL, "lower")
    report.add(f"{where}: deletions inside the motif", ours.share_inside, "", round(best.share_inside, 4))
    for name, tally in tallies.items():
        for what in ("found", "mean_size", "share_inside"):
            report.add(f"{where}: {name}, {what.replace('_', ' ')}", getattr(tally, what))


@dataclass(frozen=True)
class Subject:
    """One prediction and the 60 nearest edges, asked about by sets."""

    asker: Asker
    site: Site
    candidates: list[Candidate]
    predicted: int
    seed: int

    @classmethod
    def of(cls, model, graph: xc.Graph, target: xc.Node, predicted: int) -> "Subject":
        site = Site.of(model, graph, target)
        candidates = cut_candidates(site, nearest_edges(site, None)[:CANDIDATES])
        return cls(Asker(model, [site]), site, candidates, predicted, target.node)

    def ahead(self, sets: np.ndarray) -> np.ndarray:
        (logits,) = self.asker.logits([(0, Asked(self.candidates, sets))])
        return np.delete(logits, self.predicted, axis=1).max(1) - logits[:, self.predicted]

    def exhaustive(self) -> Ends | None:
        """Of the smallest sets that flip, the surest."""
        for size in range(1, EXHAUSTIVE + 1):
            sets = np.array(list(combinations(range(len(self.candidates)), size))).reshape(-1, size)
            ahead = self.ahead(sets) if len(sets) else np.empty(0)
            if len(ahead) and ahead.max() > SURE:
                return self._named(sets[int(ahead.argmax())])
        return None

    def one_by_one(self, order: np.ndarray) -> Ends | None:
        """Deletes the edges in this order until the prediction flips."""
        for size in range(1, min(MOST, len(order)) + 1):
            if self.ahead(order[None, :size])[0] > SURE:
                return self._named(order[:size])
        return None

    def _named(self, chosen: np.ndarray) -> Ends:
        return tuple(_ends(self.candidates[i].edit) for i in chosen.tolist())


def _random(subject: Subject) -> np.ndarray:
    return np.random.default_rng(subject.seed).permutation(len(subject.candidates))


def _nearest(subject: Subject) -> np.ndarray:
    return np.arange(len(subject.candidates))


def _occlusion(subject: Subject) -> np.ndarray:
    if not subject.candidates:
        return np.empty(0, dtype=np.int64)
    return np.argsort(-subject.ahead(np.arange(len(subject.candidates))[:, None]), kind="stable")


RULES: dict[str, Callable[[Subject], np.ndarray]] = {
    "random deletions": _random,
    "nearest first": _nearest,
    "occlusion": _occlusion,
}


# Real sets


def _real(report: figures.Report, dataset: str, count: int) -> None:
    model = xc.load_pretrained(dataset)
    rng = np.random.default_rng(21)
    data = many_graphs(dataset) if dataset == "mutagenicity" else one_graph(dataset)
    targets: Sequence[Target]
    if isinstance(data, xc.GraphSet):
        targets = [xc.WholeGraph(i) for i in rng.choice(len(data), count, replace=False)]
    else:
        targets = [xc.Node(i) for i in rng.choice(data.num_nodes, count, replace=False)]
    for kinds in (BOTH, DELETE, ("feature",)):
        where = f"{dataset}, {count} targets, {'+'.join(kinds)}"
        seconds, flips = _timed(lambda k=kinds: xc.flip_many(model, data, targets, kinds=k))
        settled = float(np.mean([flip.found or flip.proven for flip in flips]))
        to_three = float(np.mean([flip.found or flip.exhausted >= EXHAUSTIVE for flip in flips]))
        goal = REAL_GOAL if kinds == BOTH else None
        report.add(f"{where}: found or none of all sets to 5", settled, "", goal)
        report.add(f"{where}: found", float(np.mean([flip.found for flip in flips])))
        report.add(f"{where}: found or none of all sets to 3", to_three)
        sizes = [len(flip.changes) for flip in flips if flip.changes is not None]
        report.add(f"{where}: mean size", float(np.mean(sizes)) if sizes else np.nan)
        alone = [_timed(lambda k=kinds, t=t: xc.flip(model, data, t, kinds=k))[0] for t in targets[:TIMED]]
        _add_times(report, where, "real", alone, seconds / count)


def _add_times(report: figures.Report, where: str, kind: str, alone: Sequence[float], each: float) -> None:
    report.add(f"{where}: one flip, median", np.median(alone), "s", SECONDS[kind], "lower")
    report.add(f"{where}: one flip, longest", np.max(alone), "s")
    report.add(f"{where}: in one batch, each", each, "s", SECONDS[kind] / 5, "lower")


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def _ends(edit) -> tuple[int, int]:
    return edit.source, edit.target


if __name__ == "__main__":
    figures.run(measure, __doc__, sets=SETS)
