"""Odd tensors and objects through the public functions: an answer in finite numbers, or a sentence of ours."""

import shutil
from dataclasses import fields

import numpy as np
import pytest
import torch
from bounds import examples, little_memory, outcome
from hypothesis import given
from hypothesis import strategies as st
from small_networks import case, network, random_graph, random_set

import explainer_core as xc
from explainer_core.zoo.shipped import FOLDER

pytestmark = pytest.mark.long
METHODS = tuple(xc.METHODS)
CHEAP = {"steps": 2, "refine": False}
CASES = {task: case(task) for task in ("node", "graph", "link")} | {"gat": case("node", "gat")}


class Unwilling:
    """An object that fails at whatever it is asked."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def __repr__(self):
        raise RuntimeError("no text")


def tensors() -> st.SearchStrategy:
    shapes = st.sampled_from([(), (0,), (1,), (2,), (5,), (0, 5), (2, 0), (2, 3), (3, 2), (5, 5), (2, 2, 2), (1, 0, 3)])
    kinds = st.sampled_from(
        [
            *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8),
            *(torch.uint8, torch.bool, torch.complex64),
        ]
    )
    fills = st.sampled_from([0, 1, -1, 2, 4, 5, 1000, float("nan"), float("inf"), -float("inf"), 3e38, 1e-45])
    return st.builds(_tensor, shapes, kinds, fills, st.booleans())


def _tensor(shape, kind, fill, counted) -> torch.Tensor:
    if kind.is_floating_point or kind.is_complex:
        made = torch.full(shape, fill).to(kind)
    else:
        made = torch.full(shape, int(fill) if abs(fill) < 1e9 else 7).to(kind)
    if counted and made.ndim:
        made = torch.arange(made.numel()).reshape(shape).to(kind)
    return made


SPECIAL = st.sampled_from(
    [
        torch.zeros(3, 2).to_sparse(),
        torch.zeros(3, 5, device="meta"),
        torch.ones(3, 5, requires_grad=True),
        torch.ones(3, 5).t(),
        torch.nn.Parameter(torch.ones(3, 5)),
        torch.zeros(1, 5).expand(4, 5),
        np.ones((3, 5), dtype=np.float32),
        np.array(["a", "b"]),
        np.array([{}, None], dtype=object),
        np.float64("nan"),
        np.int64(3),
        np.bool_(True),
    ]
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.binary(max_size=4),
    st.sampled_from(
        ["predicted", "distribution", "true", "verified", "x" * 5000, 10**5000, -(10**400), 1j, Ellipsis, object, print]
    ),
    st.builds(Unwilling),
    st.sampled_from(
        [[], {}, (), [0], [1, 2], ["a"] * 3, [[0, 1], [1, 0]], {0: 1}, {"a": "b"}, set(), range(3), range(10**12)]
    ),
    tensors(),
    SPECIAL,
)
EDGES = st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 6)), max_size=8).map(
    lambda pairs: torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).t()
)
FEATURES = st.integers(1, 6).flatmap(
    lambda nodes: st.sampled_from(
        [
            torch.ones(nodes, 5),
            torch.eye(nodes, 5),
            torch.full((nodes, 5), 1e15),
            torch.full((nodes, 5), 3e38),
            torch.rand(nodes, 2),
        ]
    )
)


def mostly(usual: st.SearchStrategy) -> st.SearchStrategy:
    """Right three times of four: what is odd then meets what is right in all else."""
    return st.integers(0, 3).flatmap(lambda turn: usual if turn else ODD)


GRAPH_FIELDS = {
    "x": mostly(FEATURES),
    "edge_index": mostly(EDGES),
    "name": mostly(st.text(max_size=5)),
    "labels": mostly(st.none() | st.lists(st.integers(0, 2), min_size=1, max_size=6).map(torch.tensor)),
    "label": mostly(st.none() | st.integers(0, 2)),
    "edge_types": mostly(st.none()),
    "node_motif": mostly(st.none()),
    "edge_motif": mostly(st.none()),
    "node_names": mostly(st.none()),
    "class_names": mostly(st.just(("a", "b", "c"))),
    "feature_names": mostly(st.just(())),
    "edge_type_names": mostly(st.just(())),
}
TARGETS = st.one_of(
    st.builds(xc.Node, mostly(st.integers(0, 6))),
    st.builds(xc.WholeGraph, mostly(st.none() | st.integers(0, 3))),
    st.builds(xc.Link, mostly(st.integers(0, 6)), mostly(st.integers(0, 6))),
)
CONFIG_FIELDS = st.fixed_dictionaries({}, optional={name: ODD for name in xc.ExplainConfig().to_dict()})


def finite(explanation: xc.Explanation) -> bool:
    arrays = [explanation.edge_weight, explanation.probabilities, explanation.undirected()[1]]
    arrays += [values for values in (explanation.feature_weight, explanation.feature_mask) if values is not None]
    return all(np.isfinite(np.asarray(values, dtype=float)).all() for values in arrays)


def test_graphs(share):
    """A graph that is accepted can be listed, exported, joined into a set and cut out of it again."""
    required = {name: GRAPH_FIELDS[name] for name in ("x", "edge_index")}
    optional = {name: values for name, values in GRAPH_FIELDS.items() if name not in required}

    @examples(share(2_000))
    @given(st.fixed_dictionaries(required, optional=optional))
    def holds(given_fields):
        graph, _ = outcome(xc.Graph, **given_fields)
        if graph is None:
            return
        assert outcome(use, graph)[1] is None
        graphs, _ = outcome(xc.GraphSet.from_graphs, [graph, graph])
        assert graphs is None or graphs[1].num_nodes == graph.num_nodes

    with little_memory():
        holds()


def use(graph: xc.Graph) -> None:
    assert len(graph.to_networkx()) == graph.num_nodes
    assert torch.isfinite(graph.x).all()
    assert all(isinstance(graph.node_name(node), str) for node in range(graph.num_nodes))
    assert isinstance(graph.features_vary, bool)
    assert isinstance(graph.features_are_types, bool)
    assert len(graph.in_degree) == graph.num_nodes
    assert graph.motif_edges(0).shape == (graph.num_edges,)


def test_graph_sets(share):
    columns = {name: ODD for name in GRAPH_FIELDS if name != "label"} | {
        "graph_names": ODD,
        "node_start": ODD,
        "edge_start": ODD,
    }
    whole = random_set(3)
    usual = {name: getattr(whole, name) for name in ("x", "edge_index", "node_start", "edge_start")}

    @examples(share(1_000))
    @given(st.fixed_dictionaries({}, optional=columns), ODD, st.lists(ODD | st.just(random_graph()), max_size=3))
    def holds(changes, number, graphs):
        graphs_of, _ = outcome(xc.GraphSet, **usual | changes)
        if graphs_of is not None:
            assert outcome(list, graphs_of)[1] is None
            outcome(graphs_of.__getitem__, number)
            outcome(graphs_of.batch, number)
        outcome(xc.GraphSet.from_graphs, graphs)

    with little_memory():
        holds()


def test_settings_and_targets(share):
    @examples(share(1_000))
    @given(CONFIG_FIELDS, TARGETS)
    def holds(settings, target):
        config, _ = outcome(xc.ExplainConfig, **settings)
        if config is not None:
            assert xc.ExplainConfig(**config.to_dict()) == config
        outcome(xc.ExplainConfig.paper, **settings)
        outcome(xc.explain, *CASES["node"][:2], target, xc.ExplainConfig(**CHEAP), "gradient")

    with little_memory():
        holds()


EXTREMES = {
    setting.name: st.sampled_from(setting.metadata["choices"] or (setting.metadata["low"], setting.metadata["high"]))
    for setting in fields(xc.ExplainConfig)
    if setting.metadata["choices"] or (setting.metadata["high"] and setting.name not in ("steps", "seeds"))
}


@st.composite
def requests(draw) -> dict:
    """A request that can be answered, with settings at the ends of their ranges; then up to two parts of it odd."""
    model, data, targets = CASES[draw(st.sampled_from(list(CASES)))]
    extreme = draw(st.fixed_dictionaries({}, optional=EXTREMES))
    asked = {
        "model": model,
        "data": data,
        "target": draw(st.sampled_from(targets)),
        "config": xc.ExplainConfig(**extreme | CHEAP),
        "method": draw(st.sampled_from(METHODS)),
        "target_class": draw(st.sampled_from(["predicted", "distribution", 0, 1])),
    }
    return asked | {
        name: draw(ODD | TARGETS) for name in sorted(draw(st.sets(st.sampled_from(list(asked)), max_size=2)))
    }


def test_requests(share):
    """explain, explain_many, explain_steps, prototype and trust, asked for anything."""

    @examples(share(1_000))
    @given(requests(), ODD, ODD)
    def holds(asked, number, other):
        model, data, target, config = (asked[name] for name in ("model", "data", "target", "config"))
        rest = {name: asked[name] for name in ("method", "target_class")}
        found, _ = outcome(xc.explain, model, data, target, config, **rest)
        if found is not None:
            assert finite(found)
            assert 0 <= found.predicted_class < len(found.probabilities)
            outcome(found.subgraph, number)
            outcome(found.subgraph, unit=other)
            outcome(found.top_features, number)
            outcome(xc.trust, model, data, found)
        else:
            outcome(xc.explain_many, model, data, [target, other], config, **rest)
            outcome(lambda: next(iter(xc.explain_steps(model, data, target, config, every=number, **rest))))
            outcome(xc.prototype, model, data, number, targets=None, reference=other, config=config)

    with little_memory():
        holds()


def test_requests_on_odd_graphs(share):
    """Graphs that are accepted, however few nodes and however large features they have, are explained in finite numbers."""
    models = {task: network("gcn", task, num_classes=2 if task == "link" else 3) for task in ("node", "graph", "link")}

    @examples(share(1_000))
    @given(FEATURES, EDGES, st.sampled_from(list(models)), st.sampled_from(METHODS))
    def holds(x, edges, task, method):
        graph, _ = outcome(xc.Graph, x, edges)
        if graph is None:
            return
        target = {"node": xc.Node(0), "graph": xc.WholeGraph(), "link": xc.Link(0, 1)}[task]
        found, _ = outcome(xc.explain, models[task], graph, target, xc.ExplainConfig(**CHEAP), method)
        assert found is None or finite(found)

    with little_memory():
        holds()


def test_names_and_texts(share, tmp_path):
    """What is looked up by name, or read from a text, is given anything."""
    folder = tmp_path
    for path in FOLDER.glob("karate_gcn.*"):
        shutil.copy(path, folder)

    @examples(share(1_000))
    @given(ODD, ODD)
    def holds(one, other):
        outcome(xc.load_dataset, one)
        outcome(xc.list_cards, one, folder=folder)
        outcome(xc.load_pretrained, one, other, folder=folder)
        outcome(xc.load_pretrained, "karate", one, folder=folder)
        outcome(xc.molecule_from_smiles, one)
        outcome(xc.Explanation.from_json, one)
        outcome(xc.Prototype.from_json, one)
        outcome(xc.ModelSpec, "gcn", "node", in_features=one, num_classes=other)
        outcome(xc.ModelSpec, "gcn", "node", in_features=2, num_classes=2, hidden=one, dropout=other)
        outcome(xc.TrainConfig, epochs=one, learning_rate=other)
        outcome(xc.make_task, random_graph(), one, 0, torch.device("cpu"))

    with little_memory():
        holds()
