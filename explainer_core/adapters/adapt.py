"""`adapt`: a network of one's own made ready to be explained, with one sentence for each thing that is wrong with it."""

import threading
import weakref
from dataclasses import replace
from typing import Any, cast

import torch
from torch import nn

from explainer_core.adapters import measure, preflight
from explainer_core.adapters.adapted import Adapted, AdaptedPath, Facts
from explainer_core.adapters.call import PAIRS, candidates
from explainer_core.adapters.copying import check_module, stamp
from explainer_core.adapters.output import as_logits
from explainer_core.adapters.probe import cut_batch, everything, sample_targets
from explainer_core.checks import one_of
from explainer_core.device import one_thread
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model, Task, device_of
from explainer_core.targets import Node

TASKS = ("node", "graph", "link")
_known: "weakref.WeakKeyDictionary[nn.Module, dict]" = weakref.WeakKeyDictionary()
_known_lock = threading.Lock()


def adapt(
    module: nn.Module,
    data: Graph | GraphSet,
    task: str | None = None,
    output: str | None = None,
    hops: int | None = None,
) -> Adapted:
    """Any torch.nn.Module as a model that can be explained; nothing on the module is changed.

    It is called as its forward asks for it: x, edge_index, edge_weight, edge_attr, edge_type, batch, or one Data. `output` is
    "logits", "log_probs", "probs" or "binary" (one logit for two classes). What is None is found out: `hops`, how far it
    looks, by comparing cuts with the whole graph.
    """
    module = check_module(module)
    check_kind(data)
    if task is not None:
        one_of("task", task, TASKS)
    if hops is not None and (type(hops) is not int or hops < 1):
        raise ValueError(f"hops must be a whole number from 1 (got {hops!r}); leave it out to have it measured")
    if isinstance(data, GraphSet) and task not in (None, "graph"):
        raise ValueError(f"a {task} network looks at one graph (got a GraphSet); pass graphs[i]")
    # on one thread, as explaining is; and what the network draws must not change what the caller draws next
    with one_thread(), torch.random.fork_rng(devices=[]):
        return Adapted(module, _facts(module, data, cast("Task | None", task), output, hops))


def check_kind(data: object) -> None:
    """Raises ValueError unless it is a Graph or a GraphSet."""
    if isinstance(data, Graph | GraphSet):
        return
    kind = type(data).__name__
    if "HeteroData" in kind:
        raise ValueError(
            "a graph must have one kind of nodes (got HeteroData, which is not explained yet); data.to_homogeneous() makes one of it"
        )
    raise ValueError(
        f"data must be a Graph or a GraphSet (got a {kind}); Graph.from_pyg(data), Graph.from_networkx(net) and "
        "GraphSet.from_pyg(dataset) make one"
    )


def as_model(model: Any, data: Graph | GraphSet, task: str | None = None) -> Model:
    """A model as it is; any other torch module adapted to the data, once for each state of its weights."""
    if not isinstance(model, nn.Module) or all(
        hasattr(model, name) for name in ("task", "num_classes", "hops", "logits")
    ):
        return cast(Model, model)
    check_kind(data)
    module = check_module(model)
    asked, now = (id(data), task), stamp(module)
    with _known_lock:
        found = _known.setdefault(module, {}).get(asked)
    if found is not None and found[0] == now and found[1]() is data:
        return cast(Model, Adapted(module, *found[2]))
    made = adapt(module, data, task)
    with _known_lock:
        _known[module][asked] = now, weakref.ref(data), (made.facts, made.copies)
    return cast(Model, made)


def _facts(module: nn.Module, data: Graph | GraphSet, task: Task | None, output: str | None, hops: int | None) -> Facts:
    device = device_of(cast(Model, module))
    task = _task(module, data, task, device)
    targets = sample_targets(data, task)
    batch = everything(data, task, targets, device)
    call, answer = preflight.called(module, batch)
    facts = preflight.check_rows(preflight.first_facts(module, batch, call, answer, output), batch, answer)
    loops = bool((data.edge_index[0] == data.edge_index[1]).any())
    facts = replace(facts, degrees=not loops)  # a loop may lie just outside a cut, and would be counted twice
    small, _ = cut_batch(data, targets[:4], None if task == "graph" else 2, device)
    plain = preflight.check_deterministic(Adapted(module, facts), small)
    model = preflight.check_mask(Adapted(module, facts), small, plain)
    rounds, attends = _watched(model, small)
    facts = replace(model.facts, attends=attends)
    if task == "graph":
        apart = facts.apart or measure.batch_disturbs(Adapted(module, facts), data, targets, None, device)
        return _with_repeats(module, data, replace(facts, apart=apart), targets, device)
    assert isinstance(data, Graph)
    whole = as_logits(answer, facts.output)
    whole = whole[[t.node for t in targets if isinstance(t, Node)]] if task == "node" else whole
    model = Adapted(module, facts)
    if hops is None:
        hops = measure.measured_hops(model, data, targets, whole, rounds, device)
        if hops is None and facts.degrees:  # it may count in a way of its own, and want all edges for it
            model = Adapted(module, replace(facts, degrees=False))
            hops = measure.measured_hops(model, data, targets, whole, rounds, device)
    facts = replace(model.facts, hops=hops)
    model = Adapted(module, facts)
    apart = measure.batch_disturbs(model, data, targets, hops, device)
    if hops is None or apart:
        return _with_repeats(module, data, replace(facts, apart=apart), targets, device)
    batch, _ = cut_batch(data, targets[:4], hops, device)
    trim = measure.usable_trim(model, batch) if facts.hooks else None
    facts = replace(facts, trim=trim, silent_is_absent=measure.silent_is_absent(model, batch))
    return _with_repeats(module, data, facts, targets, device)


def _with_repeats(
    module: nn.Module, data: Graph | GraphSet, facts: Facts, targets: list, device: torch.device
) -> Facts:
    batch, _ = cut_batch(data, targets[: 1 if facts.apart else 4], facts.hops, device)
    return replace(facts, repeats=measure.can_repeat(Adapted(module, facts), batch))


def _task(module: nn.Module, data: Graph | GraphSet, task: Task | None, device: torch.device) -> Task:
    """As given; else a set is for graphs, pairs for links, and the number of rows says the rest."""
    if task is not None:
        return task
    if isinstance(data, GraphSet):
        return "graph"
    batch = everything(data, "node", [], device)
    if any(PAIRS in call.meanings for call in candidates(module, replace(batch, task="link"))):
        return "link"
    _, answer = preflight.called(module, batch)
    if len(answer) == data.num_nodes:
        return "node"
    if len(answer) == 1:
        return "graph"
    raise ValueError(
        f"a network must give a row for each of {data.num_nodes} nodes, or one for the graph (got {tuple(answer.shape)}); say task="
    )


@torch.no_grad()
def _watched(model: Adapted, batch) -> tuple[int, bool]:
    """How often messages are sent in one pass, and whether any layer pays attention."""
    path = AdaptedPath(model, batch)
    if path._pieces is not None:
        path = path._pieces[0].path
    _, this = path.answer(None, attend=True)
    return max(1, this.calls) if model.facts.hooks else 4, bool(this.attention)
