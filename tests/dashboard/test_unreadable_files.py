"""Files that are cut short, garbled or out of reach: each page stands, says so in one sentence, and shows all else."""

import errno
import shutil
from functools import partial
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from test_services import forget_everything

from dashboard import catalogue, services
from explainer_core.zoo import pretrained
from explainer_core.zoo.shipped import FOLDER

SCREENS = Path(__file__).resolve().parents[2] / "dashboard" / "screens"
PAGES = ("explain", "prototypes", "data_and_models")
ARCHIVES = {name: info.archive for name, info in services.datasets().items() if info.archive}
LONGEST = 500  # letters of a sentence


@pytest.fixture(autouse=True)
def nothing_known():
    """Caches outlive a test."""
    for forget in (forget_everything, st.cache_data.clear):
        forget()
    yield
    for forget in (forget_everything, st.cache_data.clear):
        forget()


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(SCREENS / f"{page}.py"), default_timeout=120)
    app.query_params.update({"steps": "2", "instances": "1", **query})
    app.run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    alerts = [alert.value.replace("\\", "") for kind in (app.error, app.warning, app.info) for alert in kind]
    assert all(len(alert) <= LONGEST for alert in alerts)
    return "\n".join(alerts)


@pytest.fixture
def networks(tmp_path, monkeypatch):
    """The karate club's networks in a folder of their own."""
    for path in FOLDER.glob("karate_*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(catalogue, "read_cards", partial(pretrained.read_cards, tmp_path))
    monkeypatch.setattr(catalogue.xc, "list_cards", partial(pretrained.list_cards, folder=tmp_path))
    monkeypatch.setattr(catalogue, "find_card", partial(pretrained.find_card, folder=tmp_path))
    monkeypatch.setattr(catalogue, "load_weights", partial(pretrained.load_weights, folder=tmp_path))
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_a_network_cut_short_is_told_of_and_the_other_one_is_there(networks, page, ending):
    path = networks / f"karate_gat.{ending}"
    path.write_bytes(path.read_bytes()[:100])
    app = opened(page, dataset="karate", model="gat")
    assert said(app).count("A network is left out: ") == 1
    assert f"karate_gat.{ending}" in said(app)
    if page == "data_and_models":
        assert [expander.label[:3] for expander in app.expander] == ["GCN"]
    else:
        assert app.selectbox(key="model").options == ["GCN"]
        assert "there is no model called “gat” for these data; this is gcn" in said(app).replace("There", "there")
        assert not app.error


@pytest.mark.parametrize("page", PAGES)
def test_where_all_networks_are_broken_the_page_says_why_and_how_to_train_one(networks, page):
    for path in networks.iterdir():
        path.write_bytes(b"\xff\x00garbage")
    app = opened(page, dataset="karate")
    assert said(app).count("A network is left out: ") == 2
    assert "There is no model trained on these data" in said(app)


@pytest.mark.parametrize("page", ["explain", "prototypes"])
def test_a_network_of_another_data_set_that_is_broken_is_not_spoken_of(networks, page):
    (networks / "cora_gcn.json").write_text("{")
    assert said(opened(page, dataset="karate")) == ""


# Data


def cut_short(path: Path, whole: bytes) -> None:
    path.write_bytes(whole[: len(whole) // 2])


def empty(path: Path, whole: bytes) -> None:
    path.write_bytes(b"")


def wrong_bytes(path: Path, whole: bytes) -> None:
    path.write_bytes(whole[:200] + b"\x00" * 200 + whole[400:])


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("damage", [cut_short, empty, wrong_bytes])
@pytest.mark.parametrize("folder", ["GNN_DATA_DIR", "GNN_CACHE_DIR"])
def test_a_damaged_archive_is_one_sentence_with_a_way_out(tmp_path, monkeypatch, page, damage, folder):
    whole = b"PK\x03\x04" + bytes(range(256)) * 20
    damage(tmp_path / ARCHIVES["mutag"].name, whole)
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path / "other"))
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    monkeypatch.setenv(folder, str(tmp_path))
    app = opened(page, dataset="mutag")
    assert len(app.error) == 1
    assert "could not be used" in said(app) or "cannot be used" in said(app)
    assert "replace it" in said(app) or "try again" in said(app)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_one_may_not_read_is_one_sentence_with_a_way_out(tmp_path, monkeypatch, page, name):
    path = tmp_path / ARCHIVES[name].name
    path.write_bytes(b"")
    opening = Path.open

    def refused(self, *arguments, **options):
        if self == path:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opening(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refused)  # whoever runs as root may read everything
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    app = opened(page, dataset=name)
    assert len(app.error) == 1
    assert "Permission denied" in said(app)
    assert "make it readable or remove it" in said(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_cache_folder_that_is_a_file_offers_the_download_and_says_why_it_fails(tmp_path, monkeypatch, page):
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path / "file"))
    app = opened(page, dataset="mutag")
    next(button for button in app.button if button.label.startswith("Download")).click()
    app.run()
    assert not app.exception
    assert "set GNN_CACHE_DIR to a folder with room that you may write to" in said(app)
