"""Planted faults: whether the first pattern among a network's mistakes names what was planted, and what sound networks show.

Networks are trained anew, data and fault by the same seed. The recipes and thresholds were chosen on seeds 100 to 106.
"""

import time
from collections.abc import Sequence

import numpy as np
import torch

import explainer_core as xc
from benchmarks import figures
from explainer_core.datasets.case_molecules import compounds
from explainer_core.datasets.cases import FIELDS, Planted, citations
from explainer_core.datasets.registry import planted_fault
from explainer_core.debugging.patterns import Pattern
from explainer_core.models.protocol import Model
from explainer_core.predictions import predictions
from explainer_core.zoo.recipes import CASE_RECIPES, Recipe
from explainer_core.zoo.tasks import make_task
from explainer_core.zoo.training import train

SEEDS = (1, 2, 3, 4, 5)
MOST = 200  # mistakes that are compared, as on the page
GROUPED, GROUPED_SECONDS = 200, 10.0
FOUND_GOAL, FALSE_GOAL = 19, 1
CPU = torch.device("cpu")
Split = dict[str, torch.Tensor]


def names_fault(pattern: Pattern, planted: Planted) -> bool:
    """Whether a pattern is about what was planted: the feature, the hub or its edges, the range of numbers, the atom."""
    kind, key = pattern.trait.kind, pattern.trait.key
    about = {(planted.kind, planted.key), ("shortcut", f"{planted.kind} {planted.key}")}
    if planted.kind == "neighbour":
        about.add(("node", planted.key))
    if planted.kind == "type":
        about.add(("feature", planted.key))
    return (kind, key) in about


def systematic_of(model: Model, data: xc.Graph | xc.GraphSet, split: Split, most: int = MOST) -> xc.Systematic:
    """What the surest mistakes of the test part have in common, against as many right ones by chance."""
    parts = {part: rows.tolist() for part, rows in split.items()}
    view = xc.overview(xc.instances_of(data, predictions(model, data), parts))
    kind = xc.WholeGraph if isinstance(data, xc.GraphSet) else xc.Node
    wrong = view.wrong.numbers[:most]
    right = view.instances.numbers[view.instances.right]
    drawn = np.random.default_rng(0).permutation(right)[: len(wrong)]
    groups = ([kind(int(i)) for i in rows] for rows in (wrong, drawn, split["train"]))
    mistaken, others, trained = groups
    return xc.systematic_mistakes(model, data, mistaken, others, train=trained)


def trained_on(data: xc.Graph | xc.GraphSet, recipe: Recipe, seed: int) -> tuple[Model, Split, dict[str, float | None]]:
    task = make_task(data, recipe.task, seed, CPU)
    found = train(recipe.spec(data, task), task, recipe.config, seed=seed)
    return found.model, task.split, found.accuracy


def sound_data(recipe: Recipe, seed: int) -> xc.Graph | xc.GraphSet:
    """The data of a case without its fault."""
    if recipe.task == "graph":
        return compounds(seed)
    return citations(seed, FIELDS[:2] if recipe.dataset == "case_1" else FIELDS)


def measure_faults(report: figures.Report, quick: bool) -> None:
    seeds: Sequence[int] = SEEDS[:1] if quick else SEEDS
    found, called, accuracies = 0, 0, []
    for recipe in CASE_RECIPES.values():
        first = 0
        for seed in seeds:
            planted = planted_fault(recipe.dataset, seed)
            model, split, accuracy = trained_on(planted.data, recipe, seed)
            patterns = systematic_of(model, planted.data, split).patterns
            first += bool(patterns) and names_fault(patterns[0], planted)
            accuracies.append((accuracy["train"], accuracy["test"]))
        report.add(f"{recipe.dataset}, {len(seeds)} networks: the fault tops the first pattern", first)
        train_mean, test_mean = np.mean(accuracies[-len(seeds) :], axis=0)
        report.add(f"{recipe.dataset}: right in training, mean", train_mean)
        report.add(f"{recipe.dataset}: right on the test part, mean", test_mean)
        found += first
    goal = FOUND_GOAL * len(seeds) / len(SEEDS)
    report.add(f"all {len(seeds) * len(CASE_RECIPES)} networks: the fault tops the first pattern", found, "", goal)
    for recipe in CASE_RECIPES.values():
        own = 0
        for seed in seeds:
            data = sound_data(recipe, seed)
            model, split, _ = trained_on(data, recipe, seed)
            own += len(systematic_of(model, data, split).patterns)
        report.add(f"{recipe.dataset} without its fault, {len(seeds)} networks: patterns", own, "", FALSE_GOAL, "lower")
        called += own
    report.add(f"all {len(seeds) * len(CASE_RECIPES)} sound networks: patterns", called)
    _time_grouping(report)


def _time_grouping(report: figures.Report) -> None:
    """200 mistakes and as many right predictions, of the shipped network that makes enough of them."""
    dataset, most = "case_2", GROUPED
    data, model = xc.load_dataset(dataset), xc.load_pretrained(dataset, device=CPU)
    split = make_task(data, "node", 0, CPU).split
    everything = {"train": split["train"], "test": torch.cat([split["val"], split["test"]])}
    start, cpu = time.perf_counter(), time.process_time()
    grouped = systematic_of(model, data, everything, most)
    seconds = time.perf_counter() - start
    count = sum(len(group.mistakes) for group in grouped.by_cause)
    report.add(f"{count} mistakes grouped", seconds, "s", GROUPED_SECONDS, "lower")
    report.add(f"{count} mistakes grouped, processor", time.process_time() - cpu, "s")
