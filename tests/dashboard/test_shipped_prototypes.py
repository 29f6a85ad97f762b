"""Prototypes that ship: the page opens with them and runs nothing, on the class people ask about, for every visitor the same."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import jobs, services
from dashboard.cache import clear_caches
from dashboard.first_look import FIRST_LOOKS, first_look
from dashboard.services import prototypes, shipping
from dashboard.tasks import prototyping, usual_request
from explainer_core import DATASETS
from explainer_core.datasets.chemistry import MUTAGENICITY_CLASSES
from explainer_core.prototypes.stored import stored_file
from explainer_core.zoo.pretrained import find_card
from explainer_core.zoo.shipped import FOLDER

APP = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "prototypes.py"
HERE = [name for name, info in DATASETS.items() if services.is_here(info)]
MOST_BYTES = 3_000_000


def opened(dataset: str, **address) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"dataset": dataset} | {name: str(value) for name, value in address.items()})
    app.run()
    assert not app.exception
    return app


def texts(elements) -> str:
    return "\n".join(element.value for element in elements).replace("\\", "")


def classes(dataset: str) -> tuple[str, ...]:
    card = next(card for card in services.all_cards() if card.dataset == dataset)
    return services.class_names(dataset, card.task)


@pytest.fixture
def runs(monkeypatch):
    """The tasks that were started."""
    started, call = [], jobs.call

    def counted(task, *arguments, **settings):
        started.append(task.__name__)
        return call(task, *arguments, **settings)

    monkeypatch.setattr(jobs, "call", counted)
    return started


@pytest.mark.parametrize("dataset", HERE)
def test_the_first_look_runs_nothing_and_shows_all_classes(dataset, runs):
    app = opened(dataset)
    assert runs == []
    assert f"“{classes(dataset)[first_look(dataset).label]}”" in texts(app.title)
    model = find_card(dataset).model
    for label in range(len(classes(dataset))):
        assert services.found_prototype(usual_request(dataset, model, label)) is not None


def test_another_request_is_computed(runs):
    opened("karate", instances=2, steps=20)
    assert runs == ["make_prototype"] * 2


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_data_set_ships_prototypes_of_its_main_network(dataset):
    assert stored_file(find_card(dataset), FOLDER).is_file()


def test_what_ships_is_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.prototypes.json.gz")) < MOST_BYTES


@pytest.mark.parametrize("dataset", HERE)
def test_the_page_opens_on_the_class_people_ask_about(dataset):
    names, chosen = classes(dataset), first_look(dataset).label
    data = prototypes.load_data(dataset)
    if set(MUTAGENICITY_CLASSES) == set(names):
        assert names[chosen] == "mutagen"
    elif names == services.LINK_CLASSES:
        assert names[chosen] == "joined"
    elif dataset != "ba_2motifs" and data.node_motif is not None:
        assert chosen == int(data.labels[data.node_motif >= 0].min())
    else:
        assert chosen == 0


def test_a_link_wins_over_the_usual_class():
    assert "“base”" in texts(opened("ba_shapes", label=0).title)


def test_every_data_set_has_its_first_look():
    assert set(FIRST_LOOKS) == set(DATASETS)


def test_a_broken_file_is_computed_instead_with_a_line_in_the_log(monkeypatch, tmp_path, caplog, runs):
    card = find_card("karate")
    stored_file(card, tmp_path).write_bytes(b"not what it was")
    read = prototyping.read_prototypes
    monkeypatch.setattr(prototyping, "read_prototypes", lambda *asked: read(*asked, folder=tmp_path))
    clear_caches()
    opened("karate")
    assert runs == ["make_prototype"] * 2
    assert "karate_gcn.prototypes.json.gz must hold prototypes" in caplog.text
    monkeypatch.undo()
    clear_caches()


def test_what_one_visitor_computes_changes_nothing_for_another():
    request = usual_request("karate", "gcn", 1)
    before = services.prototype_of_class([], request.one(19), 1)
    opened("karate", label=1, instances=2, steps=20)
    other = services.ClassRequest("karate", "gcn", 1, 2, services.ExplainConfig(steps=20))
    assert services.found_prototype(other) is not None
    assert services.prototype_of_class([other], request.one(19), 1) is before
    assert services.prototype_of_class([], request.one(19), 1) is before


def test_the_command_writes_what_ships(tmp_path):
    told, card, request = [], find_card("karate"), usual_request("karate", "gcn", 0)
    shipping.ship_prototypes("karate", tmp_path, told.append)
    assert len(told) == 2
    data = prototypes.load_data("karate")
    made, shipped = (
        prototyping.read_prototypes(card, data, request.instances, request.config, folder)
        for folder in (tmp_path, FOLDER)
    )
    for label in (0, 1):  # weights may differ in their last digits from machine to machine
        one, other = made[label], shipped[label]
        assert [member.target for member in one.members] == [member.target for member in other.members]


def test_molecules_show_fragments_with_their_share_and_members_as_they_are():
    app = opened("molecules")
    request = usual_request("molecules", find_card("molecules").model, 0)
    prototype = services.found_prototype(request)
    found = services.fragments(request, prototype)
    assert found
    for one in found:
        share = round(100 * len(one.fragment.members) / len(prototype.members))
        assert f"Found in {share} % of the members" in texts(app.header)
        assert len(one.picture.bonds) == len(one.picture.edges) == len(one.fragment.bonds)
    data = prototypes.load_data("molecules")
    for member in prototype.members:
        picture, panel = prototypes.molecule_of_member(request, member)
        real = {tuple(sorted(pair)) for pair in data[member.target.index].edge_index.T.tolist()}
        assert {tuple(sorted((picture.nodes[a], picture.nodes[b]))) for a, b in picture.edges} == real
        assert {picture.edges[i] for i in panel.kept} == set(member.explanation.subgraph().edges)


def test_molecules_that_share_nothing_are_said_to(monkeypatch):
    monkeypatch.setattr(services, "fragments", lambda request, prototype: ())
    assert "No fragment of three atoms" in texts(opened("molecules").info)
