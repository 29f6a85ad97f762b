"""Every data set opens on the page of data sets with no exception, whether its data are there, missing or broken."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import services
from dashboard.view.plain_text import for_markdown, for_plotly
from explainer_core.datasets.download import is_available

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
PAGE = "screens/data_and_models.py"
NAMES = list(services.datasets())
DOWNLOADED = [name for name, info in services.datasets().items() if info.archive]


@pytest.fixture(autouse=True)
def no_memory():
    """Caches outlive a test; what one has read the next must not see."""
    st.cache_data.clear()
    services.clear_caches()
    yield
    st.cache_data.clear()
    services.clear_caches()


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path))


def opened(name: str) -> AppTest:
    app = AppTest.from_file(str(APP.parent / PAGE), default_timeout=120)
    app.query_params["dataset"] = name
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def headings(app: AppTest) -> list[str]:
    return [element.value for element in app.header]


def texts(elements) -> str:
    """What the alerts or captions say, with the escapes taken away again."""
    return "\n".join(element.value for element in elements).replace("\\", "")


def test_the_app_leads_from_the_explain_page_to_this_one_and_back():
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"dataset": "karate", "steps": "5"})
    run(app)
    assert "Karate club" in app.html[0].value
    run(app.switch_page(PAGE))
    assert [title.value for title in app.title] == ["Data sets and models"]
    run(app.switch_page("screens/explain.py"))
    assert "Karate club" in app.html[0].value


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_opens_without_data(name, no_data):
    app = opened(name)
    assert headings(app)[0].replace("\\", "") == services.datasets()[name].title
    assert any("Download" in button.label for button in app.button) == (name in DOWNLOADED)


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_opens_with_the_data_of_this_machine(name):
    info = services.datasets()[name]
    if info.archive and not is_available(info.archive):
        pytest.skip(f"{name} is neither cached nor in GNN_DATA_DIR")
    assert {"Graphs", "Nodes", "Edges", "Features"} <= {metric.label for metric in opened(name).metric}


@pytest.mark.parametrize("name", DOWNLOADED)
def test_a_broken_archive_is_one_sentence(name, tmp_path, monkeypatch):
    archive = services.datasets()[name].archive
    (tmp_path / archive.name).write_bytes(b"not an archive")
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    services.clear_caches()  # what is known of the data stays known while a server runs
    app = opened(name)
    assert "cannot be used" in texts(app.error)
    assert "Models" in headings(app) or app.subheader


def test_the_progress_of_a_download_reaches_the_page_and_a_refusal_ends_it(no_data, monkeypatch):
    seen = []

    def refused(name, progress):
        progress(1_000_000, 0)
        progress(3_000_000, 2_000_000)  # a server may send more than it said
        seen.append(name)
        raise services.DataUnavailable("no data for *MUTAG*: the line is cut")

    monkeypatch.setattr(services, "download", refused)
    app = opened("mutag")
    app.button[0].click()
    run(app)
    assert seen == ["mutag"]
    assert texts(app.error) == "No data for *MUTAG*: the line is cut."


def test_without_any_model_the_page_says_how_to_train_one(monkeypatch):
    monkeypatch.setattr(services, "all_cards", list)
    app = opened("karate")
    assert "There is no model trained on these data" in texts(app.info)
    assert "explainer_core train" in app.code[0].value


@pytest.mark.parametrize("name", NAMES)
def test_a_card_shows_its_command_and_its_fingerprint(name, monkeypatch):
    card = make_card(name)
    monkeypatch.setattr(services, "all_cards", lambda: [card])
    app = opened(name)
    shown = [block.value for block in app.code]
    assert card.command in shown
    assert card.sha256 in shown
    assert "<b>bold</b> *star*" in texts(app.caption)
    assert any("91.3 %" in for_reader(expander.label) for expander in app.expander)


def for_reader(text: str) -> str:
    return text.replace("\\", "")


def make_card(dataset: str) -> services.Card:
    info = services.datasets()[dataset]
    return services.Card(
        dataset=dataset,
        model="gcn",
        main=True,
        task=info.task,
        architecture={"kind": "gcn", "num_layers": 3, "hidden": 20, "jump": "cat", "readout": "max", "dropout": 0.1},
        training={"learning_rate": 0.001, "weight_decay": 0.0},
        seed=0,
        split={"rule": "80/10/10 by class", "seed": 0, "train": 80, "val": 10, "test": 10},
        train_accuracy=0.99,
        val_accuracy=0.95,
        test_accuracy=0.913,
        majority_accuracy=0.5,
        best_epoch=7,
        epochs=1000,
        command=f"python -m explainer_core train {dataset} gcn --seed 0",
        torch_version="2.13.0",
        sha256="ab" * 32,
        fresh_graph_accuracy=0.9 if info.generated else None,
        fresh_graph_seed=1000 if info.generated else None,
        test_auc=0.9 if info.task == "link" else None,
        notes=["<b>bold</b> *star*"],
        weights="mutagenicity_gcn" if info.models_of else "",
    )


def test_text_from_outside_is_never_markup():
    assert for_markdown("*a* <b> [x](y)\n# z") == r"\*a\* \<b\> \[x\]\(y\) \# z"
    assert for_plotly("<a href='x'>&") == "&lt;a href='x'&gt;&amp;"
