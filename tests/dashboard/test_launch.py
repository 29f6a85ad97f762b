"""`launch` and `run --script`: networks and data of one's own, on every page, and nothing left when it ends."""

import socket
import sys
import textwrap
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import torch
from pyg_examples import CLASSES, GraphGIN, LinkGCN, planetoid, rings, trained_gcn, trained_gin
from streamlit.testing.v1 import AppTest
from torch_geometric.data import Data, HeteroData

import explainer_core as xc
from dashboard import jobs, launch, launching, private_folder, services, tasks
from dashboard.__main__ import main
from dashboard.catalogue import launched, script
from dashboard.catalogue.given import NOT_SPLIT, UNLABELLED, entry_of
from dashboard.limits import Limits
from dashboard.schema import Request
from dashboard.tasks.splits import parts_of
from dashboard.tasks.subjects import network

SCREENS = Path(__file__).resolve().parents[2] / "dashboard" / "screens"
PAGES = ("explain", "debug", "prototypes", "data_and_models")
DATA = planetoid()
MODEL = trained_gcn(DATA)
RINGS = rings()
GIN = trained_gin(RINGS)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    for entry in launched.entries():
        launched.remove(entry.info.name)


def bare() -> Data:
    return Data(x=DATA.x, edge_index=DATA.edge_index)


def one_way() -> Data:
    return Data(x=DATA.x, edge_index=DATA.edge_index[:, ::2], y=DATA.y)


def all_alike() -> Data:
    return Data(x=torch.ones(300, 1), edge_index=DATA.edge_index, y=DATA.y)


def half_known() -> Data:
    data = DATA.clone()
    data.y = torch.where(torch.arange(300) % 2 == 0, DATA.y, -1)
    return data


def on_ones() -> torch.nn.Module:
    from torch_geometric.nn import GAT

    with torch.random.fork_rng():
        torch.manual_seed(3)
        return GAT(1, 8, 2, CLASSES, heads=2)


CASES = {
    "planetoid": lambda: entry_of(MODEL, DATA),
    "two networks": lambda: entry_of({"before": trained_gcn(DATA, 1), "after": MODEL}, DATA, name="<b>*Papers*</b>"),
    "no labels": lambda: entry_of(MODEL, bare()),
    "directed, no split": lambda: entry_of(MODEL, one_way()),
    "features all alike": lambda: entry_of(on_ones(), all_alike()),
    "some labels": lambda: entry_of(MODEL, half_known()),
    "graphs": lambda: entry_of(GIN, RINGS, class_names=["tree", "ring"], split={"test": range(20, 40)}),
    "one graph": lambda: entry_of(GIN, RINGS[1]),
    "links": lambda: entry_of(LinkGCN(), DATA, task="link", output="binary"),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("case", CASES)
def test_every_page_stands(case, page):
    entry = CASES[case]()
    launched.add(entry)
    app = AppTest.from_file(str(SCREENS / f"{page}.py"), default_timeout=120)
    app.query_params.update({"dataset": entry.info.name, "steps": "10", "instances": "2"})
    app.run()
    assert not app.exception
    assert [error.value for error in app.error] == []


def test_the_page_opens_on_what_was_launched():
    entry = CASES["planetoid"]()
    launched.add(entry)
    app = AppTest.from_file(str(SCREENS / "explain.py"), default_timeout=120).run()
    assert app.selectbox[0].value == entry.info.name


def test_the_numbers_of_the_page_are_those_of_the_network():
    entry = CASES["planetoid"]()
    launched.add(entry)
    asked = Request(entry.info.name, "GCN", "node", 7)
    with torch.no_grad():
        plain = MODEL.eval()(DATA.x, DATA.edge_index)[7].softmax(-1)
    np.testing.assert_allclose(services.target_facts(asked).probabilities, plain.numpy(), atol=1e-5)


def test_the_card_has_the_accuracy_of_the_test_mask_and_of_guessing():
    (card,) = CASES["planetoid"]().cards
    with torch.no_grad():
        right = MODEL.eval()(DATA.x, DATA.edge_index).argmax(1) == DATA.y
    assert card.test_accuracy == round(right[DATA.test_mask].float().mean().item(), 4)
    assert card.train_accuracy == round(right[DATA.train_mask].float().mean().item(), 4)
    assert card.majority_accuracy == round((DATA.y[DATA.test_mask].bincount().max() / DATA.test_mask.sum()).item(), 4)
    assert card.notes == []


def test_what_cannot_be_measured_is_said():
    assert CASES["no labels"]().cards[0].test_accuracy is None
    assert CASES["no labels"]().cards[0].notes == [UNLABELLED]
    assert CASES["directed, no split"]().cards[0].notes == [NOT_SPLIT]


def test_the_split_is_the_one_given():
    entry = entry_of(MODEL, DATA, split={"train": [0, 1], "test": np.arange(300) > 290})
    launched.add(entry)
    parts = parts_of(entry.info.name, "GCN")
    assert parts[:3].tolist() == ["train", "train", ""]
    assert (parts == "test").sum() == 9


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        ({}, "split must have some of train, val and test"),
        ({"training": [0]}, "split must have some of train, val and test"),
        ({"test": [300]}, "whole numbers from 0 to 299"),
        ({"test": [True]}, "must have 300 entries"),
    ],
)
def test_a_split_that_fits_nothing_is_refused(split, sentence):
    with pytest.raises(ValueError, match=sentence):
        entry_of(MODEL, DATA, split=split)


def test_what_is_wrong_is_one_sentence_and_at_once():
    with pytest.raises(ValueError, match="the network must run when called as"):
        launch(torch.nn.Linear(2, 2), DATA)
    with pytest.raises(ValueError, match="got HeteroData, which is not explained yet"):
        launch(MODEL, HeteroData())
    with pytest.raises(ValueError, match=r"a network must be a torch\.nn\.Module"):
        launch("a network", DATA)
    with pytest.raises(ValueError, match="data must be a Graph or a GraphSet"):
        launch(MODEL, {"x": 1})
    with pytest.raises(ValueError, match="name must be 1 to 60 letters"):
        launch(MODEL, DATA, name="")
    with pytest.raises(ValueError, match="must tell apart all 4 classes of the data"):
        launch(on_two_classes(), DATA)
    assert launched.entries() == []


def on_two_classes() -> torch.nn.Module:
    from torch_geometric.nn import GCN

    return GCN(DATA.num_features, 8, 2, 2)


def test_the_page_shows_the_network_as_it_was():
    model = trained_gcn(DATA, 2)
    entry = entry_of(model, DATA)
    before = services.all_cards()  # nothing of it is in a cache yet
    assert all(card.dataset != entry.info.name for card in before)
    launched.add(entry)
    asked = Request(entry.info.name, "GCN", "node", 7)
    was = tasks.predict_edited(asked, emit=lambda progress: None)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(1.0)
    assert tasks.predict_edited(asked, emit=lambda progress: None) == was


def test_nothing_is_left_on_the_network():
    before = {name: values.clone() for name, values in MODEL.state_dict().items()}
    MODEL.train()
    entry = CASES["planetoid"]()
    launched.add(entry)
    tasks.explain(Request(entry.info.name, "GCN", "node", 7), emit=lambda progress: None)
    assert MODEL.training
    assert all(weights.requires_grad for weights in MODEL.parameters())
    assert all(torch.equal(values, before[name]) for name, values in MODEL.state_dict().items())
    assert all(not module._forward_hooks for module in MODEL.modules())


@pytest.mark.parametrize("case", ["planetoid", "two networks", "graphs"])
def test_the_python_lines_give_the_same_part(case):
    entry = CASES[case]()
    launched.add(entry)
    card = entry.cards[-1]
    asked = Request(entry.info.name, card.model, card.task, entry.first.target)
    shown = tasks.explain(asked, emit=lambda progress: None).found.explanation
    given = {"model": GIN, "data": RINGS} if case == "graphs" else {"model": MODEL, "data": DATA}
    given |= {"model": {"after": MODEL}} if case == "two networks" else {}
    exec(services.as_python(asked), given)  # noqa: S102  (our own lines)
    assert given["explanation"].subgraph() == shown.subgraph()


def test_a_map_of_more_than_a_browser_can_draw_is_refused_in_a_sentence(monkeypatch):
    entry = CASES["planetoid"]()
    launched.add(entry)
    monkeypatch.setattr(services, "MOST_ON_MAP", 100)
    app = AppTest.from_file(str(SCREENS / "explain.py"), default_timeout=120)
    app.query_params.update({"dataset": entry.info.name, "steps": "10", "view": "whole data set"})
    app.run()
    assert [each.value for each in app.info] == ["A map shows at most 100 nodes, and these are 300: choose by number."]
    assert not app.exception


# The server


def answer_of(url: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=20) as response:
        return response.status


def test_from_a_notebook_it_returns_at_once_and_can_be_stopped_and_started_again():
    for _ in range(2):
        page = launch(MODEL, DATA, block=False, open_browser=False)
        beside = launch(GIN, RINGS, block=False, open_browser=False, name="Rings")
        try:
            assert answer_of(page.url) == 200
            assert page.url.partition("/?")[0] == beside.url.partition("/?")[0]  # one server in a process
            assert "dataset=launched-rings" in beside.url
            with pytest.raises(ValueError, match="one process serves at one port"):
                launch(MODEL, DATA, port=1)
        finally:
            beside.stop()
            assert answer_of(page.url) == 200
            page.stop()
        assert repr(page) == "Graph Explainer, stopped"
        with pytest.raises(urllib.error.URLError):
            answer_of(page.url)
    assert launched.entries() == []


def test_a_port_that_is_taken_is_refused_in_one_sentence():
    with socket.socket() as taken:
        taken.bind((launching.HOST, 0))
        taken.listen()
        with pytest.raises(ValueError, match="port must be one that is free"):
            launch(MODEL, DATA, port=taken.getsockname()[1])
    assert launched.entries() == []


def test_it_listens_to_this_machine_only():
    page = launch(MODEL, DATA, block=False, open_browser=False)
    try:
        assert launching._servers[0]._socket.getsockname()[0] == "127.0.0.1"
    finally:
        page.stop()


# Scripts

RANDOM_SCRIPT = """
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN

edge_index = torch.randint(30, (2, 80))  # other numbers in every process
data = Data(x=torch.randn(30, 5), edge_index=edge_index)
model = {"one": GCN(5, 8, 2, 3), "other": GCN(5, 8, 2, 3)}
class_names = ["a", "b", "c"]
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(private_folder.FOLDER, str(tmp_path))
    monkeypatch.delenv(script.SCRIPT, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "my_model.py"
    path.write_text(textwrap.dedent(text))
    return path


def test_workers_of_a_script_have_the_servers_numbers(folder, monkeypatch):
    monkeypatch.setenv(script.SCRIPT, "")  # put back afterwards
    script.run_in_server(written(folder, RANDOM_SCRIPT))
    (entry,) = launched.entries()
    assert entry.info.title == "my_model"
    asked = [Request(entry.info.name, card.model, "node", 3) for card in entry.cards]
    here = [tasks.predict_edited(each, emit=lambda progress: None) for each in asked]
    assert here[0] != here[1]
    monkeypatch.setattr(jobs._here, "pool", None)
    for limit, value in Limits(workers=1).to_environment().items():
        monkeypatch.setenv(limit, value)
    jobs.start_workers()
    try:
        there = [jobs.call(tasks.predict_edited, each, key=each) for each in asked]
    finally:
        jobs.stop_workers()
    np.testing.assert_allclose(there, here, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import torch\n\nmodel = nothing_of_the_kind\n", r"line 3.*\n.*nothing_of_the_kind\n(.|\n)*NameError"),
        ("def broken(:\n", "SyntaxError"),
        ("import sys\nsys.exit(1)\n", "line 2"),
        ("model = 1\n", "must define model and data .got no data."),
        ("model, data = 1, 2\n", "my_model.py: data must be a Graph or a GraphSet"),
        ("from dashboard import launch\nlaunch(1, 2)\n", "must not call launch"),
    ],
)
def test_what_is_wrong_with_a_script_is_told_with_its_line(folder, text, sentence):
    with pytest.raises(script.ScriptError, match=sentence) as told:
        script.run_in_server(written(folder, text))
    assert "importlib" not in str(told.value)
    assert not script.is_running()


def test_the_command_tells_the_line_and_starts_nothing(folder, capsys, monkeypatch):
    monkeypatch.setattr("dashboard.__main__._environment", lambda options: {})
    path = written(folder, "model = 1\ndata = model.nothing\n")
    assert main(["run", "--script", str(path)]) == 2
    told = capsys.readouterr().err
    assert 'my_model.py", line 2' in told
    assert told.rstrip().endswith("AttributeError: 'int' object has no attribute 'nothing'")


def test_a_network_without_torch_needs_no_weights(folder, monkeypatch):
    monkeypatch.setenv(script.SCRIPT, "")
    text = """
    import torch
    import explainer_core as xc

    class Counting:
        task, num_classes, hops = "node", 2, 1
        def logits(self, batch, edge_weight=None, x=None):
            weight = torch.ones(batch.edge_index.shape[1]) if edge_weight is None else edge_weight
            sums = torch.zeros(len(batch.x)).index_add(0, batch.edge_index[1], weight)
            return torch.stack([2 - sums, sums], 1)[batch.targets]

    model = Counting()
    data = xc.Graph.from_arrays([(0, 1), (1, 2), (2, 3), (3, 1)], directed=False)
    """
    script.run_in_server(written(folder, text))
    assert [card.model for card in launched.entries()[0].cards] == ["Counting"]
    assert network("launched-my-model", "Counting").num_classes == 2


def test_a_graph_network_is_called_by_its_class():
    assert [card.model for card in entry_of(GraphGIN(), RINGS).cards] == ["GraphGIN"]
    assert [card.model for card in entry_of(xc.adapt(GIN, xc.GraphSet.from_pyg(RINGS)), RINGS).cards] == ["GraphGIN"]
