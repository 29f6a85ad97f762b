"""Networks and data of one's own as an entry of the catalogue: adapted, checked and measured at once."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import explainer_core as xc
from dashboard.catalogue.entry import Entry
from dashboard.catalogue.launched import PREFIX
from dashboard.catalogue.reading import read_data, read_split, with_all_names
from dashboard.first_look import FirstLook
from dashboard.schema import SPLITS
from explainer_core import Card, DatasetInfo, Graph, GraphSet, Model
from explainer_core.adapters.copying import check_module, hookable_copy
from explainer_core.device import one_thread
from explainer_core.models import GNN
from explainer_core.models.protocol import check_model
from explainer_core.predictions import Predictions, predictions

MOST_NAME = 60  # letters
NOT_SPLIT = "No split was given: the accuracy is over everything whose class is known."
SUMMARY = "Data of your own, here for as long as this server runs."
UNLABELLED = "The data has no classes to compare with."
FEW, MANY = 2, 20  # neighbours of a node that is worth looking at first


@one_thread()
def entry_of(
    model: Any,
    data: Any,
    *,
    name: str | None = None,
    class_names: Any = None,
    feature_names: Any = None,
    node_names: Any = None,
    split: Mapping[str, Any] | None = None,
    task: str | None = None,
    output: str | None = None,
) -> Entry:
    """Raises ValueError with one sentence for whatever is wrong with the networks or the data.

    A network is shown as it is now, whatever it learns afterwards.
    """
    graphs, python = read_data(data, class_names=class_names, feature_names=feature_names, node_names=node_names)
    given = _by_name(model)
    models = {each: _adapted(network, graphs, task, output) for each, network in given.items()}
    if isinstance(graphs, Graph) and all(each.task == "graph" for each in models.values()):
        graphs, python = GraphSet.from_graphs([graphs]), f"xc.GraphSet.from_graphs([{python}])"
        models = {each: _adapted(network, graphs, "graph", output) for each, network in given.items()}
    classes = {each.num_classes for each in models.values() if each.task != "link"}
    if len(classes) > 1:
        raise ValueError(f"networks that are opened together must tell apart the same classes (got {sorted(classes)})")
    graphs = with_all_names(graphs, classes.pop() if classes else None)
    title = _title(name, graphs)
    dataset = PREFIX + (re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "data")
    parts = read_split(graphs, split)
    main, first = next(iter(models)), next(iter(models.values()))
    judged = {each: None if model.task == "link" else predictions(model, graphs) for each, model in models.items()}
    return Entry(
        info=DatasetInfo(dataset, title, first.task, SUMMARY, lambda: graphs),
        cards=tuple(
            _card(dataset, name, name == main, each, judged[name], None if each.task == "link" else parts)
            for name, each in models.items()
        ),
        load_model=models.__getitem__,
        parts=parts,
        first=_first_look(graphs, first, judged[main], parts),
        python=(f"{python}  # what you gave to launch", {each: _python_of(each, model) for each in models}),
    )


def _by_name(model: Any) -> dict[str, Any]:
    if not isinstance(model, Mapping):
        return {type(getattr(model, "module", model)).__name__[:MOST_NAME]: model}
    named = {str(each): network for each, network in model.items()}
    if not named or any(not each.strip() or len(each) > MOST_NAME for each in named):
        raise ValueError(
            f"networks must have names of 1 to {MOST_NAME} letters (got {list(named)}); pass {{name: network}}"
        )
    return named


def _python_of(name: str, model: Any) -> str:
    return f"model[{name!r}]" if isinstance(model, Mapping) else "model"


def _adapted(network: Any, data: Graph | GraphSet, task: str | None, output: str | None) -> Model:
    if isinstance(network, xc.Adapted | GNN) or not hasattr(network, "forward"):
        if not hasattr(network, "logits"):
            check_module(network)  # has the sentence for what is no network
        check_model(network)
        return network
    return xc.adapt(hookable_copy(check_module(network), shared=False), data, task, output)


def _title(name: str | None, data: Graph | GraphSet) -> str:
    if name is None:
        name = (
            data.name
            if data.name not in ("graph", "graphs")
            else "Your graph"
            if isinstance(data, Graph)
            else "Your graphs"
        )
    if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME:
        raise ValueError(f"name must be 1 to {MOST_NAME} letters (got {name!r})")
    return name.strip()


def _card(
    dataset: str, name: str, main: bool, model: Model, judged: Predictions | None, parts: np.ndarray | None
) -> Card:
    """What can be measured; a network of one's own tells nothing of how it was trained."""
    shares = {part: _accuracy(judged, None if parts is None else parts == part) for part in SPLITS}
    overall = shares["test"] if parts is not None and (parts == "test").any() else _accuracy(judged, None)
    split = (
        {}
        if parts is None
        else {"rule": "as given"} | {p: int((parts == p).sum()) for p in SPLITS if (parts == p).any()}
    )
    notes = [UNLABELLED] if overall is None and model.task != "link" else []
    notes += [NOT_SPLIT] if "test" not in split and overall is not None else []
    spec = getattr(model, "spec", None)
    described = {"network": type(getattr(model, "module", model)).__name__, "hops": model.hops}
    return Card(
        dataset=dataset,
        model=name,
        main=main,
        task=model.task,
        architecture=described if spec is None else spec.to_dict(),
        training={},
        seed=0,
        split=split,
        train_accuracy=None if parts is None else shares["train"],
        val_accuracy=None if parts is None else shares["val"],
        test_accuracy=overall,
        majority_accuracy=_majority(judged, None if "test" not in split else parts == "test"),
        best_epoch=0,
        epochs=0,
        command="",
        torch_version="",
        sha256="",
        notes=notes,
    )


def _accuracy(judged: Predictions | None, chosen: np.ndarray | None) -> float | None:
    if judged is None or judged.right is None:
        return None
    counted = ~judged.unknown if chosen is None else chosen & ~judged.unknown
    return round(float(judged.right[counted].mean()), 4) if counted.any() else None


def _majority(judged: Predictions | None, chosen: np.ndarray | None) -> float | None:
    if judged is None or judged.truth is None:
        return None
    counted = judged.truth[~judged.unknown if chosen is None else chosen & ~judged.unknown]
    return round(float(np.bincount(counted).max() / len(counted)), 4) if len(counted) else None


def _first_look(
    data: Graph | GraphSet, model: Model, judged: Predictions | None, parts: np.ndarray | None
) -> FirstLook:
    """Something that the network gets right and has never seen, with a few neighbours; else the nearest to that."""
    if judged is None:
        ends = data.edge_index[:, 0].tolist() if data.edge_index.shape[1] else (0, 1)
        return FirstLook((int(ends[0]), int(ends[1])), label=1)
    wanted = np.ones(len(judged.predicted), dtype=bool)
    tests = [np.isin(parts, ("test", "val"))] if parts is not None else []
    tests += [judged.right & ~judged.unknown] if judged.right is not None else []
    if isinstance(data, Graph):
        degree = data.in_degree.numpy()
        tests = [degree > 0, (degree >= FEW) & (degree <= MANY), *tests]
    else:  # of two classes the second is mostly the one that has something
        tests = [*tests, judged.predicted > 0]
    for test in tests:
        wanted = wanted & test if (wanted & test).any() else wanted
    target = int(np.flatnonzero(wanted)[0])
    return FirstLook(target, label=int(judged.predicted[target]))
