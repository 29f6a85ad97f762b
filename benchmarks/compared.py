"""Which method does best over a data set: each method's G_S of the size the page shows, judged by the network on test targets.

Of every shipped network random test targets are explained as the page does it, K_M left to "auto"; every other method is cut
at the size that was found and judged in the same batch. Where the test part has fewer than 10 targets, all are taken. Methods
that ask the network about every edge are left out where a target has more than 2,500. With --keep the means go to the cards.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import explainer_core as xc
from benchmarks import figures
from benchmarks.networks import CPU
from dashboard.first_look import first_look
from dashboard.schema import PAPER
from explainer_core.config import AUTO
from explainer_core.datasets.molecules import NOT_IN_MUTAGENICITY
from explainer_core.explanation.comparing import judged_beside, on_edges_of, score
from explainer_core.explanation.metrics import Faithfulness
from explainer_core.models import GNN
from explainer_core.zoo.compared import MethodFigures, MethodsCompared
from explainer_core.zoo.pretrained import Card, find_card, list_cards, load_weights, save_card
from explainer_core.zoo.tasks import LinkTask, make_task

TARGETS, QUICK_TARGETS = 40, 5
FEW = 10  # a test part of fewer targets says nothing: all are taken instead
OCCLUDED = 2500  # edges of a target above which it would take too long to take them away one at a time
DIGITS = 4
SETS = tuple(name for name in xc.DATASETS if list_cards(name))
QUICK = ("karate", "molecules")


def measure(report: figures.Report, quick: bool, only: Sequence[str] = SETS, keep: bool = False) -> None:
    for name in only:
        for card in list_cards(name) if not quick or name in QUICK else ():
            try:
                found = compared(card, QUICK_TARGETS if quick else TARGETS)
            except xc.DataUnavailable as error:
                print(f"{name} is left out: {error}")
                break
            _tell(report, card, found)
            if keep:
                print(f"wrote {_kept(card, found)}")


def compared(card: Card, count: int = TARGETS) -> MethodsCompared:
    """Every method over random targets of a network's data set."""
    data, model = xc.load_dataset(card.dataset), load_weights(card, device=CPU)
    part, targets = _targets(data, card)
    chosen = np.random.default_rng(0).permutation(len(targets))[:count]
    unit = first_look(card.dataset).unit
    config = xc.ExplainConfig(k_m_unit=unit)
    shown = xc.explain_many(model, data, [targets[i] for i in sorted(chosen.tolist())], config)
    shown = [each for each in shown if len(each.pairs) > 1]  # of a single edge there is nothing to choose
    methods = {
        name: _means(shown, judged_beside(model, data, shown, others))
        for name, others in _methods(card, model, data, shown).items()
    }
    best_first = dict(sorted(methods.items(), key=lambda pair: -pair[1].score))
    return MethodsCompared(
        targets=len(shown),
        part=part,
        k_m=AUTO,
        k_m_unit=unit,
        protocol=shown[0].protocol,
        command=f"python -m benchmarks.compared --only {card.dataset} --keep",
        full=_mean([each.verdict.full for each in shown if each.verdict is not None]),
        methods=best_first,
    )


def _targets(data: xc.Graph | xc.GraphSet, card: Card) -> tuple[str, list]:
    """Which part of the data set is asked about, and its targets."""
    if isinstance(data, xc.GraphSet) and xc.DATASETS[card.dataset].models_of:
        names = data.graph_names or ()
        return "test", [xc.WholeGraph(i) for i, name in enumerate(names) if name in NOT_IN_MUTAGENICITY]
    task = make_task(data, card.task, card.seed, CPU)
    if isinstance(task, LinkTask):
        return "test", [xc.Link(*pair) for pair in task.pairs("test").t().tolist()]
    kind, test = xc.WholeGraph if card.task == "graph" else xc.Node, task.split["test"].tolist()
    if len(test) >= FEW:
        return "test", [kind(i) for i in test]
    return "all", [kind(i) for i in range(len(data) if isinstance(data, xc.GraphSet) else data.num_nodes)]


def _methods(card: Card, model: GNN, data, shown: list[xc.Explanation]) -> dict[str, list[xc.Explanation]]:
    """What each method says of the same targets, on the same edges."""
    targets, found = [each.target for each in shown], {}
    largest = max(len(each.pairs) for each in shown)
    for name, method in xc.METHODS.items():
        if method.one_by_one and largest > OCCLUDED:
            print(f"{card.name}: {name} is left out (a target has {largest:,} edges)")
        elif method.verifies:
            found[name] = shown
        elif method.needs_attention:
            paid = _by_attention(card, model, data, targets, name)
            if paid is not None:
                found[name] = [on_edges_of(own, other) for own, other in zip(shown, paid, strict=True)]
        else:
            found[name] = xc.explain_many(model, data, targets, xc.ExplainConfig(k_m=1), name)
            if method.mask:
                found[PAPER] = xc.explain_many(model, data, targets, xc.ExplainConfig.paper(k_m=1), name)
    return found


def _by_attention(card: Card, model: GNN, data, targets: list, name: str) -> list[xc.Explanation] | None:
    """By the data set's GAT for the same task: the network itself, if it is one."""
    if model.spec.kind != "gat":
        gats = [c for c in list_cards(card.dataset) if c.architecture["kind"] == "gat" and c.task == card.task]
        if not gats:
            return None
        model = load_weights(gats[0], device=CPU)
    return xc.explain_many(model, data, targets, xc.ExplainConfig(k_m=1), name)


def _means(shown: list[xc.Explanation], judged: list[Faithfulness]) -> MethodFigures:
    return MethodFigures(
        alone=_mean([each.kept for each in judged]),
        without=_mean([each.without for each in judged]),
        keeps=_mean([each.keeps_class for each in judged]),
        score=_mean([score(own, each) for own, each in zip(shown, judged, strict=True)]),
    )


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), DIGITS)


def _tell(report: figures.Report, card: Card, found: MethodsCompared) -> None:
    print(f"\n{card.dataset} {card.model}, {found.targets} targets ({found.part}), with everything {found.full:.3f}")
    for name, each in found.methods.items():
        print(f"{name:<24}alone {each.alone:.3f}  without {each.without:.3f}  keeps {each.keeps:.3f}  {each.score:.3f}")
        report.note({f"{card.dataset} {card.model}: {name}, sufficiency + necessity": each.score})
    ours = found.methods[xc.DEFAULT_METHOD].score
    others = {name: each.score for name, each in found.methods.items() if name != xc.DEFAULT_METHOD}
    best = max(others, key=others.__getitem__)
    report.add(f"{card.dataset} {card.model}: ahead of the best other ({best})", ours - others[best], "", 0.0)


def _kept(card: Card, found: MethodsCompared):
    """Writes the figures to the card whose weights they are about, in one step."""
    if not card.weights:
        return save_card(replace(card, compared=found.to_dict()))
    owner = find_card(xc.DATASETS[card.dataset].models_of or card.dataset, card.model)
    return save_card(replace(owner, shelf_compared=found.to_dict()))


if __name__ == "__main__":
    figures.run(measure, __doc__, sets=SETS, kept="the cards of the networks")
