"""What a name stands for: what ships, what a server was started with, and what a visitor brought and nobody else sees."""

import os
import stat
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save

import explainer_core as xc
from dashboard import catalogue, jobs, private_folder, tasks
from dashboard.cache import Cache
from dashboard.catalogue import launched, own
from dashboard.catalogue.entry import Entry
from dashboard.limits import Limits
from dashboard.schema import Request
from dashboard.tasks.subjects import load_data, network
from explainer_core.graph.files import from_bytes, to_bytes
from explainer_core.models import GNN

ANN, BOB = "a" * 22, "b" * 22


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A server of its own: nobody has brought anything yet."""
    monkeypatch.setenv(private_folder.FOLDER, str(tmp_path))
    monkeypatch.setattr(own, "_visitors", {})
    monkeypatch.setattr(own, "_known", set())
    yield tmp_path
    catalogue.connect(lambda: None)


@pytest.fixture
def karate():
    return xc.load_dataset("karate")


def network_of(data: xc.Graph, seed: int = 0) -> tuple[xc.Card, bytes]:
    torch.manual_seed(seed)
    spec = xc.ModelSpec("gcn", "node", data.num_features, data.num_classes, hidden=8, num_layers=2)
    card = replace(xc.list_cards("karate")[0], model="gcn", architecture=spec.to_dict())
    return card, save(GNN(spec).state_dict())


def test_a_graph_and_a_set_come_back_from_their_bytes():
    for name in ("karate", "ba_shapes", "les_miserables", "molecules"):
        data = xc.load_dataset(name)
        again = from_bytes(to_bytes(data))
        assert type(again) is type(data)
        assert torch.equal(again.x, data.x)
        assert torch.equal(again.edge_index, data.edge_index)
        assert list(again.class_names) == list(data.class_names)
        assert to_bytes(again) == to_bytes(data)


def test_further_columns_come_back_from_bytes():
    times = torch.tensor([[1.0], [2.0]])
    data = xc.Graph.from_arrays([(0, 1), (1, 2)], labels=["a", None, "b"], edge_data={"when": times})
    again = from_bytes(to_bytes(data))
    assert torch.equal(again.edge_data["when"], times)
    assert again.labels.tolist() == [0, -1, 1]


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 64, save({"x": torch.zeros(2, 2)})])
def test_bytes_that_are_no_graph_are_refused_in_one_sentence(content):
    with pytest.raises(ValueError, match="must be a graph that was written by to_bytes"):
        from_bytes(content)


def test_what_a_visitor_brought_is_theirs_alone(karate):
    name = own.add(ANN, "Club", karate)
    catalogue.connect(lambda: ANN)
    assert catalogue.datasets()[name].title == "Club"
    catalogue.connect(lambda: BOB)
    assert name not in catalogue.datasets()
    assert catalogue.brought_cards() == []
    with pytest.raises(catalogue.NotHere, match="bring it again"):
        own.drop(BOB, name)
    with pytest.raises(catalogue.NotHere, match="bring it again"):
        own.add_network(BOB, name, *network_of(karate))


def test_the_name_comes_from_content_and_token(karate):
    name = own.add(ANN, "Club", karate)
    assert own.add(ANN, "The same again", karate) == name
    assert own.add(BOB, "Club", karate) != name
    assert own.add(ANN, "Club", replace(karate, name="another")) != name
    assert [entry.info.title for entry in own.of(ANN)] == ["The same again", "Club"]


def test_the_folder_is_for_this_user_only(monkeypatch, karate):
    monkeypatch.delenv(private_folder.FOLDER)
    made = private_folder.private_folder()
    try:
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        own.add(ANN, "Club", karate)
        assert sorted(path.suffix for path in made.rglob("*") if path.is_file()) == [".safetensors"]
    finally:
        private_folder.remove_private_folder()
    assert not made.exists()


def test_folders_of_servers_that_died_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(private_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    gone, mine = tmp_path / "graph-explainer-999999999-abc", tmp_path / f"graph-explainer-{os.getpid()}-abc"
    other = tmp_path / "graph-explainer-notes-abc"
    for folder in (gone, mine, other):
        folder.mkdir()
    private_folder.remove_left_behind()
    assert [folder.exists() for folder in (gone, mine, other)] == [False, True, True]


def test_a_network_gives_the_numbers_of_its_weights(karate):
    name = own.add(ANN, "Club", karate)
    card, weights = network_of(karate)
    model = own.add_network(ANN, name, card, weights)
    plain = GNN(xc.ModelSpec(**card.architecture))
    plain.load_state_dict(network(name, model).state_dict())
    target = xc.Node(3)
    found = xc.explain(network(name, model), load_data(name), target)
    assert found.probabilities == xc.explain(plain.eval(), karate, target).probabilities


def test_a_name_never_comes_to_stand_for_other_weights(karate):
    name = own.add(ANN, "Club", karate)
    names = [own.add_network(ANN, name, *network_of(karate, seed)) for seed in range(3)]
    assert names == ["gcn", "gcn-2", "gcn-3"]
    assert [card.model for card in own.of(ANN)[0].cards] == names
    assert [card.main for card in own.of(ANN)[0].cards] == [True, False, False]


def test_weights_that_do_not_fit_leave_nothing_behind(karate, folder):
    name = own.add(ANN, "Club", karate)
    card, _ = network_of(karate)
    with pytest.raises(ValueError, match="does not fit the network on its card"):
        own.add_network(ANN, name, card, save({"x": torch.zeros(1)}))
    assert own.of(ANN)[0].cards == ()
    assert [path.name for path in (folder / name).iterdir()] == ["data.safetensors"]


@pytest.mark.parametrize("model", ["../up", "a/b", "", "A", "x" * 41, "a.b"])
def test_names_of_networks_are_plain(karate, model):
    name = own.add(ANN, "Club", karate)
    card, weights = network_of(karate)
    with pytest.raises(ValueError, match="small letters"):
        own.add_network(ANN, name, replace(card, model=model), weights)


@pytest.mark.parametrize("name", ["own-", "own-../../etc", "own-" + "0" * 32, "own-" + "g" * 32, "launched-x"])
def test_a_name_that_was_made_up_leads_nowhere(name):
    for ask in (catalogue.load_data, lambda each: catalogue.load_model(each, "gcn")):
        with pytest.raises(catalogue.NotHere):
            ask(name)


def test_data_goes_after_an_hour_without_its_visitor(monkeypatch, karate, folder):
    now = [0.0]
    monkeypatch.setattr(own, "_clock", lambda: now[0])
    name = own.add(ANN, "Club", karate)
    kept: Cache[int] = Cache(8)
    kept.put(Request(name, "gcn", "node", 3), 1)
    kept.put((name, "gcn"), 1)
    kept.put(("karate", "gcn"), 1)
    now[0] = 3000.0
    assert len(own.of(ANN)) == 1  # here again: the hour starts anew
    now[0] = 6000.0
    own.drop_the_absent()
    assert (folder / name).exists()
    now[0] = 6601.0
    own.drop_the_absent()
    assert not (folder / name).exists()
    assert own.of(ANN) == []
    assert len(kept) == 1  # and what was worked out of it is forgotten


def test_an_open_page_keeps_its_data(monkeypatch, karate, folder):
    now = [0.0]
    monkeypatch.setattr(own, "_clock", lambda: now[0])
    monkeypatch.setattr(own, "_watched", [lambda token: token == ANN])
    names = [own.add(token, "Club", karate) for token in (ANN, BOB)]
    now[0] = 9999.0
    own.drop_the_absent()
    assert [(folder / name).exists() for name in names] == [True, False]


def test_what_is_dropped_is_gone(karate, folder):
    name = own.add(ANN, "Club", karate)
    load_data(name)
    own.drop(ANN, name)
    assert list(folder.iterdir()) == []
    with pytest.raises(catalogue.NotHere, match="not on this server any more"):
        load_data(name)


def test_there_is_a_limit_for_one_visitor_and_for_all(monkeypatch, karate):
    size = len(to_bytes(karate))
    monkeypatch.setattr(own, "MOST_OF_ONE", 2 * size + 100)
    monkeypatch.setattr(own, "MOST_IN_ALL", 3 * size + 100)
    variants = [replace(karate, name=f"graph{i}") for i in range(3)]
    own.add(ANN, "one", variants[0])
    own.add(ANN, "two", variants[1])
    with pytest.raises(ValueError, match="what you bring may take"):
        own.add(ANN, "three", variants[2])
    own.add(BOB, "one", variants[0])
    assert own.room_left(BOB) < size
    with pytest.raises(ValueError, match="all visitors' data may take"):
        own.add(BOB, "two", variants[1])
    own.drop(ANN, own.of(ANN)[0].info.name)
    own.add(BOB, "two", variants[1])


def test_a_worker_process_explains_what_a_visitor_brought(monkeypatch, karate):
    name = own.add(ANN, "Club", karate)
    model = own.add_network(ANN, name, *network_of(karate))
    request = Request(name, model, "node", 3)
    here = tasks.predict_edited(request, emit=lambda progress: None)
    monkeypatch.setattr(jobs._here, "pool", None)
    for limit, value in Limits(workers=1).to_environment().items():
        monkeypatch.setenv(limit, value)
    jobs.start_workers()
    try:
        assert jobs.call(tasks.predict_edited, request, key=request) == here
    finally:
        jobs.stop_workers()


def test_what_a_server_was_started_with_is_everybodys(karate):
    card, _ = network_of(karate)
    model = object()
    info = xc.DatasetInfo("launched-club", "Club", "node", "", lambda: karate)
    launched.add(Entry(info, (replace(card, dataset=info.name),), lambda name: model))
    try:
        for token in (ANN, BOB, None):
            catalogue.connect(lambda token=token: token)
            assert next(iter(catalogue.datasets())) == "launched-club"
        assert catalogue.load_data("launched-club") is karate
        assert catalogue.load_model("launched-club", "gcn") is model
        with pytest.raises(catalogue.NotHere, match="model must be one of these data: gcn"):
            catalogue.card_of("launched-club", "gat")
    finally:
        launched.remove("launched-club")
    with pytest.raises(catalogue.NotHere):
        catalogue.load_data("launched-club")


def test_links_to_what_is_not_here_say_so():
    assert "your own data, which is not on this server" in catalogue.missing_sentence("own-" + "0" * 32)
    assert "its server was started with" in catalogue.missing_sentence("launched-club")
    assert catalogue.missing_sentence("karate2") is None
    assert catalogue.missing_sentence("own-<b>") is None
