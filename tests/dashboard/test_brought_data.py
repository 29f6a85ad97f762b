"""What a visitor brings, behind the page: read where it can be ended, kept for them, trained on within limits, and dropped."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from test_catalogue import ANN, BOB
from test_gate import Browser, gate

from dashboard import catalogue, jobs, private_folder, services, uploads
from dashboard.catalogue import own
from dashboard.jobs import RunRefused
from dashboard.limits import Limits
from dashboard.services import trainings
from dashboard.tasks.splits import parts_of
from dashboard.tasks.subjects import load_data, network
from dashboard.view import model_text, training
from explainer_core.files import Options, SentFile
from explainer_core.files.examples import example_files
from explainer_core.zoo.training import Epoch


@pytest.fixture(autouse=True)
def ann(monkeypatch, tmp_path):
    """A server of its own, and Ann before it."""
    monkeypatch.setenv(private_folder.FOLDER, str(tmp_path))
    monkeypatch.setattr(own, "_visitors", {})
    monkeypatch.setattr(own, "_known", set())
    catalogue.connect(lambda: ANN)
    yield
    catalogue.connect(lambda: None)


def read(format: str = "csv") -> services.Upload:
    found = services.read_upload(format, tuple(example_files(format)), Options())
    assert isinstance(found, services.Upload)
    return found


def until(holds, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def train(request: services.TrainRequest) -> services.TrainingState:
    """Begins a training and waits for its end."""
    services.begin_training(request)
    until(lambda: services.running_training() is None)
    return services.last_training(request.dataset)


def quick(dataset: str, **changes) -> services.TrainRequest:
    usual = services.usual_training(dataset, services.tasks_of(dataset)[0], "gcn")
    return replace(usual, epochs=5, **changes)


@pytest.mark.parametrize(("format", "size"), [("csv", 90), ("graphml", 90), ("json", 90), ("smiles", 94)])
def test_files_are_previewed_as_they_were_read(format, size):
    upload = read(format)
    assert (upload.facts.graphs if format == "smiles" else upload.facts.nodes) == size
    assert upload.label_field == "label"
    assert sum(count for _, count in upload.facts.class_counts) + upload.unknown == size
    assert len(upload.rows) == 5
    assert all(len(row) == len(upload.heading) for row in upload.rows)
    pictures = services.small_pictures(upload)
    assert len(pictures) == (4 if format == "smiles" else 1)
    assert all(len(picture.nodes) >= 20 for _, picture in pictures)


def test_of_a_large_graph_the_surroundings_of_its_best_joined_node_are_drawn():
    edges = "\n".join(f"0,{i}\n{i},{i + 1000}" for i in range(1, 400))
    upload = services.read_upload("csv", (SentFile("e.csv", edges.encode()),), Options())
    ((title, picture),) = services.small_pictures(upload)
    assert len(picture.nodes) == 120
    assert upload.data.node_name(picture.nodes[0]) == "0"
    assert "120 nodes around" in title


def test_what_is_wrong_comes_back_with_its_file_and_the_columns_to_choose_from():
    files = (SentFile("e.csv", b"a,b\n"), SentFile("n.csv", b"id,age,town\na,1,Ulm\nb,x,Bonn\n"))
    found = services.read_upload("csv", files, Options())
    assert isinstance(found, services.FileRefused)
    assert found.file == "n.csv"
    assert found.sentence.startswith("n.csv, line 3, column 'age': a feature must be a number (got 'x')")
    assert found.fields == ("age", "town")
    assert isinstance(services.read_upload("csv", files, Options(features=("town",))), services.Upload)


def test_a_network_is_trained_kept_and_explained():
    name = services.keep(read(), "  My \n clubs ")
    assert services.own_datasets()[name].title == "My clubs"
    ended = train(quick(name))
    (card,) = services.own_networks(name)
    model = card.model
    assert ended.card == card
    assert card.main
    assert ended.curves.number == card.epochs == 5
    assert [epoch.number for epoch in ended.curves.epochs] == [1, 2, 3, 4, 5]
    assert services.datasets()[name].title == "My clubs"
    request = services.Request(name, model, "node", 3)
    answer = services.explain(services.ask(request), lambda progress: None)
    assert abs(sum(answer.facts.probabilities) - 1) < 1e-4
    again = torch.frombuffer(bytearray(services.weights_file(card).data), dtype=torch.uint8)
    assert len(again) > 1000


def test_parts_of_the_split_are_those_it_was_trained_with():
    name = services.keep(read(), "Clubs")
    model = train(quick(name)).card.model
    parts, (card,) = parts_of(name, model), services.own_networks(name)
    assert {part: int((parts == part).sum()) for part in ("train", "val", "test")} == {
        part: card.split[part] for part in ("train", "val", "test")
    }
    labels = load_data(name).labels.numpy()
    assert ((parts == "") == (labels == -1)).all()
    right = network(name, model)(load_data(name).x, load_data(name).edge_index).argmax(1).numpy() == labels
    assert right[parts == "test"].mean() == pytest.approx(card.test_accuracy, abs=1e-4)


def test_weights_are_taken_by_their_shapes():
    name = services.keep(read(), "Clubs")
    train(quick(name))
    data = services.weights_file(services.own_networks(name)[0]).data
    found = services.sizes_of_weights(data)
    fields = services.usual_spec(name, found)
    assert (fields["kind"], fields["num_layers"], fields["hidden"], fields["in_features"]) == ("gcn", 2, 32, 4)
    model = services.add_weights(name, data, fields)
    assert model == "gcn-2"
    brought = services.own_networks(name)[1]
    assert [label for label, _ in model_text.training(brought)] == ["Task"]  # nobody has told how it was trained
    trained = replace(services.own_networks(name)[0], torch_version="")
    assert "PyTorch" not in dict(model_text.training(trained))  # nor by what
    with pytest.raises(ValueError, match=r"the tensor 'layers.0.bias' must be float32 of shape 64"):
        services.add_weights(name, data, fields | {"hidden": 64})
    with pytest.raises(ValueError, match="in_features must be that of the data, 4"):
        services.add_weights(name, data[:0] + _other_weights(), fields | {"in_features": 7})


def _other_weights() -> bytes:
    from safetensors.torch import save

    from explainer_core.models import GNN, ModelSpec

    return save(GNN(ModelSpec("gcn", "node", 7, 3, hidden=32, num_layers=2, dropout=0.3)).state_dict())


def test_a_training_that_needs_too_much_is_refused_before_it_begins(monkeypatch):
    name = services.keep(read(), "Clubs")
    monkeypatch.setattr(jobs, "limits", lambda: Limits(run_memory=256, train_seconds=10))
    assert services.training_seconds() == 10
    assert train(quick(name)).card is not None
    edges = "\n".join(f"{i % 997},{i // 997 + 1000}" for i in range(190_000))
    big = services.keep(services.read_upload("csv", (SentFile("e.csv", edges.encode()),), Options()), "Big")
    wanted = replace(services.usual_training(big, "link", "gcn"), layers=8, hidden=256)
    with pytest.raises(
        RunRefused, match=r"a run may take 256 MB \(about [\d,]+ MB for 8 layers of 256 on this graph\)"
    ):
        services.begin_training(wanted)
    assert services.last_training(big) is None


# Trainings, which go on without a page


def endless(dataset: str) -> services.TrainRequest:
    return replace(quick(dataset, stop_early=False), epochs=5000)


@pytest.fixture
def going_on():
    """A training that will not end by itself soon, after some epochs."""
    name = services.keep(read(), "Clubs")
    services.begin_training(endless(name))
    run = own.trainings(ANN)[name].run
    until(lambda: services.running_training().curves is not None)
    yield name, run
    run.drop()
    run.join(30)


def test_a_training_goes_on_while_nobody_looks_and_is_found_again(going_on):
    name, _ = going_on
    before = services.running_training()
    assert before.request == endless(name)
    until(lambda: services.running_training().curves.number > before.curves.number)
    assert services.own_networks(name) == []


def test_stopping_keeps_the_best_epoch_so_far(going_on):
    name, _ = going_on
    services.stop_training()
    until(lambda: services.running_training() is None)
    ended = services.last_training(name)
    assert ended.stopping
    assert ended.problem == ""
    assert services.own_networks(name) == [ended.card]
    assert 1 <= ended.card.best_epoch <= ended.card.epochs < 5000
    assert not ended.running
    best = max(ended.curves.epochs, key=lambda epoch: epoch.val_accuracy)
    assert ended.card.val_accuracy >= round(best.val_accuracy, 4)


def test_a_visitor_has_one_training_at_a_time_and_a_server_as_many_as_visitors(going_on, monkeypatch):
    name, _ = going_on
    with pytest.raises(RunRefused, match=r"one training at a time \(one is running\); stop it, or wait for it"):
        services.begin_training(quick(name))
    catalogue.connect(lambda: BOB)
    other = services.keep(read("graphml"), "Clubs")
    monkeypatch.setattr(jobs, "limits", lambda: Limits(visitors=1))
    with pytest.raises(RunRefused, match="at most 1 trainings at a time"):
        services.begin_training(quick(other))
    monkeypatch.setattr(jobs, "limits", lambda: Limits(visitors=2))
    assert train(quick(other)).card is not None


def test_another_visitor_neither_sees_nor_stops_a_training(going_on):
    name, run = going_on
    catalogue.connect(lambda: BOB)
    assert services.running_training() is None
    assert services.last_training(name) is None
    services.stop_training()
    assert not run.stopping


def test_a_training_ends_with_the_data_that_are_removed(going_on):
    name, run = going_on
    services.drop(name)
    run.join(30)
    assert run.finished
    assert run.result is None
    assert own.all_trainings() == []


def test_a_training_of_one_who_is_gone_comes_to_its_end_and_is_kept_for_them(going_on, monkeypatch):
    name, run = going_on
    gone = trainings.LEFT_AFTER + 1
    monkeypatch.setattr(own, "_watched", [lambda token: True])  # a page of theirs is open somewhere, and says nothing
    monkeypatch.setattr(own, "_clock", lambda: time.monotonic() + gone)
    run.join(0.5)
    assert not run.stopping
    monkeypatch.setattr(own, "_watched", [])
    monkeypatch.setattr(own, "_clock", lambda: time.monotonic() + 2 * gone)
    run.join(30)
    (card,) = services.own_networks(name)
    assert card.model == run.result
    monkeypatch.setattr(own, "_clock", lambda: time.monotonic() + own.AWAY + 3 * gone)
    own.drop_the_absent()
    assert own.all_trainings() == []


def test_a_training_ends_with_its_server(going_on):
    _, run = going_on
    jobs.stop_workers()
    assert run.finished
    assert run.result is None


def test_a_training_that_fails_says_why_and_the_next_one_may_begin(monkeypatch):
    name = services.keep(read(), "Clubs")
    edges = "\n".join(f"{i},{i + 1}" for i in range(20))
    nodes = "id,label,split\n" + "\n".join(f"{i},{'ab'[i > 15]},{'test' if i > 15 else 'train'}" for i in range(21))
    files = (SentFile("e.csv", edges.encode()), SentFile("n.csv", nodes.encode()))
    name = services.keep(services.read_upload("csv", files, Options()), "One class to learn")
    ended = train(quick(name))
    assert "the training part must have at least two classes (got 1)" in ended.problem
    assert ended.card is None
    assert train(replace(quick(name), task="link")).card is not None


def test_a_network_is_removed_and_its_name_never_given_again():
    name = services.keep(read(), "Clubs")
    first, second = train(quick(name)).card, train(quick(name)).card
    room = own.room_left(ANN)
    services.drop_network(first)
    (left,) = services.own_networks(name)
    assert (left.model, left.main) == (second.model, True)
    assert own.room_left(ANN) == room + len(services.weights_file(left).data)
    assert train(quick(name)).card.model == "gcn-3"
    with pytest.raises(ValueError, match="bring it again"):
        catalogue.load_model(name, first.model)


def test_what_is_dropped_is_gone_with_its_networks():
    name = services.keep(read(), "Clubs")
    train(quick(name))
    services.drop(name)
    assert services.own_datasets() == {}
    with pytest.raises(ValueError, match="bring it again"):
        catalogue.load_data(name)


def test_another_visitor_sees_and_trains_nothing_of_it():
    name = services.keep(read(), "Clubs")
    catalogue.connect(lambda: BOB)
    assert services.own_datasets() == {}
    assert services.own_networks(name) == []
    with pytest.raises(ValueError, match="bring it again"):
        services.drop(name)
    assert "needs your own data" in services.missing_sentence(name)


def test_curves_of_thousands_of_epochs_stay_small():
    from dashboard.tasks.own_data import MOST_POINTS, _thinned

    epochs = [Epoch(i, 5000, 1.0, 0.5, 0.5) for i in range(1, 4322)]
    thin = _thinned(epochs)
    assert len(thin) <= MOST_POINTS + 1
    assert (thin[0].number, thin[-1].number) == (1, 4321)


def test_figures_of_a_training_show_every_epoch():
    epochs = [Epoch(i, 9, 1 / i, i / 10, i / 20) for i in range(1, 10)]
    (loss,) = training.loss_curve(epochs).data
    train, val = training.accuracy_curves(epochs).data
    assert list(loss.x) == list(range(1, 10))
    assert loss.y[1] == 0.5
    assert (train.y[4], val.y[4]) == (50, 25)
    assert training.so_far(9, 9, epochs) == "Epoch 9 of at most 9: loss 0.111, validation 45.0 %"


# Files on their way


def held(monkeypatch, **files: int) -> None:
    """Pages by their session, each with so many files of 40 MB."""
    file = SimpleNamespace(data=bytes(40 * 2**20))
    storage = {page: {str(i): file for i in range(count)} for page, count in files.items()}
    manager = SimpleNamespace(file_storage=storage)
    monkeypatch.setattr(uploads.runtime, "exists", lambda: True)
    monkeypatch.setattr(uploads.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=manager))


def put(path: str) -> tuple[int, str]:
    import asyncio

    from test_gate import messages

    browser = Browser(gate())
    scope = browser.scope("http", path, {}) | {"method": "PUT"}
    sent = asyncio.run(messages(browser.gate, scope))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode()


def test_a_page_may_hold_some_files_and_all_pages_some_memory(monkeypatch):
    held(monkeypatch, ann=2)
    assert put("/_stcore/upload_file/ann/1")[0] == 200
    monkeypatch.setattr(uploads, "MOST_FILES", 2)
    status, text = put("/_stcore/upload_file/ann/1")
    assert (status, text) == (413, "a page must hold at most 2 files (got one more); load it again\n")
    assert put("/_stcore/upload_file/bob/1")[0] == 200
    monkeypatch.setattr(uploads, "MOST_BYTES", 80 * 2**20)
    status, text = put("/_stcore/upload_file/bob/1")
    assert status == 413
    assert "all pages together must hold at most 80 MB" in text
