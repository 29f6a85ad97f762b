"""Where the reason is known to the bond: edge AUC on rule-labelled molecules and planted motifs.

Only predictions that rest on the truth can be asked for it: alone it must keep the class, and without it the class must be
lost. How many do is reported.
"""

import numpy as np
import torch
from tqdm import tqdm

import explainer_core as xc
from benchmarks.data import graphs_of_class, many_graphs, motif_edges
from benchmarks.figures import Report
from benchmarks.networks import CPU, RULE_KINDS, trained_on_rule
from benchmarks.rivals import METHODS, VERIFIED, Setting, timed
from benchmarks.rule_molecules import CLASSES, RULES, refused, rule_molecules
from explainer_core.explanation import metrics
from explainer_core.zoo.pretrained import find_card, load_weights
from explainer_core.zoo.tasks import GraphTask, accuracy

GOAL = 0.95
LARGEST = 50  # K_M may not be larger
TARGETS, QUICK_TARGETS = 100, 5


def measure_truth(report: Report, quick: bool) -> None:
    _measure_motifs(report, quick)
    if quick:  # six networks would have to be trained
        return
    try:
        report.add("rule-labelled molecules: refused by RDKit", refused())
    except xc.DataUnavailable as error:
        print(f"rule-labelled molecules are left out: {error}")
        return
    for rule in RULES.values():
        molecules = rule_molecules(rule)
        networks = {kind: trained_on_rule(rule, molecules, kind) for kind in RULE_KINDS}
        for kind, (model, task) in networks.items():
            name = f"{rule.name} {kind}"
            holding = set(graphs_of_class(molecules, CLASSES.index("present")))
            present = [i for i in task.split["test"].tolist() if i in holding]
            _measure_network(report, name, model, networks["gat"][0], task, present, TARGETS)


def _measure_motifs(report: Report, quick: bool) -> None:
    if "ba_2motifs" not in xc.DATASETS:
        return
    card, graphs = find_card("ba_2motifs"), many_graphs("ba_2motifs")
    model, task = load_weights(card, device=CPU), GraphTask(graphs, card.seed, CPU)
    gats = [c for c in xc.list_cards("ba_2motifs") if c.architecture["kind"] == "gat"]
    gat = load_weights(gats[0], device=CPU) if gats else None
    test = task.split["test"].tolist()
    _measure_network(report, f"ba_2motifs {card.model}", model, gat, task, test, QUICK_TARGETS if quick else TARGETS)


@torch.no_grad()
def _measure_network(report: Report, name: str, model, gat, task: GraphTask, wanted: list[int], count: int) -> None:
    """Edge AUC of every method over the wanted graphs that are predicted right and rest on their truth."""
    report.add(f"{name}: test accuracy", accuracy(*task.logits(model, "test")))
    predicted = task.logits_of(model, torch.tensor(wanted)).argmax(-1).tolist()
    chosen = [i for i, label in zip(wanted, predicted, strict=True) if task.graphs[i].label == label][:count]
    setting = Setting(name, task.graphs, model, gat, [xc.WholeGraph(i) for i in chosen], [0] * len(chosen))
    truths = [_truth(task.graphs[i]) for i in chosen]
    judged = metrics.faithfulness(model, task.graphs, setting.frames, truths)
    resting = [i for i, f in enumerate(judged) if f.keeps_class and f.without < 0.5]  # of two classes
    report.add(f"{name}: truth alone keeps the class", float(np.mean([f.keeps_class for f in judged])))
    report.add(f"{name}: class is lost without the truth", float(np.mean([f.without < 0.5 for f in judged])))
    report.add(f"{name}: predictions that rest on the truth, of {len(chosen)}", len(resting))
    if resting:
        sizes = [min(LARGEST, len(truth.edges)) for truth in truths]
        _add_areas(report, Setting(name, task.graphs, model, gat, setting.targets, sizes).of(resting))


def _add_areas(report: Report, setting: Setting) -> None:
    areas = {}
    for method in tqdm(METHODS, desc=setting.name, leave=False):
        if method != "attention" or setting.gat is not None:
            with torch.enable_grad():
                found = [explanation for explanation in timed(setting, method)[0] if explanation is not None]
            areas[method] = metrics.edge_auc(setting.data, found, protocol="per_instance")
    ours = areas.pop(VERIFIED)
    report.add(f"{setting.name}: {VERIFIED}, edge AUC per instance", ours, "", GOAL)
    report.note({f"{setting.name}: {method}, edge AUC per instance": area for method, area in areas.items()})
    print("  others: " + ", ".join(f"{method} {area:.3f}" for method, area in areas.items()))
    best = max(areas, key=areas.__getitem__)
    report.add(f"{setting.name}: edge AUC ahead of the best other ({best})", ours - areas[best], "", 0.0)


def _truth(graph: xc.Graph) -> xc.Subgraph:
    ends = graph.edge_index[:, motif_edges(graph)].t().tolist()
    pairs = tuple(sorted({tuple(sorted(pair)) for pair in ends}))
    return xc.Subgraph(tuple(sorted({node for pair in pairs for node in pair})), pairs, 0.0, 0)
