"""The Explain page without a browser: every data set opens, every control does what it says, nothing breaks it."""

import base64
import json
import random
import re
import time
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services, state
from dashboard.services import ExplainConfig
from dashboard.tasks import explaining, subjects
from dashboard.view import model_text
from dashboard.view.definitions import OF_SETTING, in_markdown
from dashboard.view.labels import label_text
from dashboard.view.plain_text import for_markdown
from dashboard.widgets import welcome
from explainer_core.datasets.download import is_available

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
NAMES = list(services.datasets())
SETTINGS = {setting.name: setting for setting in fields(ExplainConfig)}
IMAGE = "<img src=x onerror=alert(1)>"
MARKUP = re.compile(r"(?<!\\)[<*_\[]")  # what Markdown would not show as a letter
QUICK = {"steps": "5"}  # where the numbers do not matter
FEW = {"steps": 6, "seeds": 2, "max_edges": 50}  # settings whose usual values take long
NITROBENZENE = "O=[N+]([O-])c1ccccc1"


def forget_everything() -> None:
    st.cache_data.clear()
    services.clear_caches()


@pytest.fixture
def alone():
    """Nothing that other tests have left, and nothing that is left to them."""
    forget_everything()
    yield
    forget_everything()


def opened(dataset: str | None = "karate", **address) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    given = QUICK | ({"dataset": dataset} if dataset else {}) | {name: str(value) for name, value in address.items()}
    app.query_params.update(given)
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def said(app: AppTest, name: str) -> str | None:
    """What the address says; Streamlit has lists there, since a name may come twice."""
    value = app.query_params.get(name)
    return value[-1] if isinstance(value, list) else value


def heading(app: AppTest) -> str:
    return next(element.value for element in app.html if 'class="prediction"' in element.value)


def texts(elements) -> str:
    """What is said, with the escapes taken away again."""
    return "\n".join(element.value for element in elements).replace("\\", "")


def remarks(app: AppTest) -> str:
    return texts(app.markdown)


def views(app: AppTest) -> dict[str, dict]:
    """What is sent to each view on the page, by its key."""
    found = [element.proto for element in app.get("bidi_component")]
    sent = [json.loads(proto.json or proto.mixed.json) for proto in found]
    return {data["key"]: data for data in sent}


def headline(app: AppTest) -> dict:
    """What is said of the size that is shown, and the numbers of it."""
    explained = views(app)["why"]["explained"]
    names = ("kept", "kept_nodes", "alone", "without", "keeps_class", "icon", "word", "headline", "sentence")
    return dict(zip(names, explained["sizes"][explained["chosen"] - 1], strict=True))


def choose_size(app: AppTest, size: int | str) -> AppTest:
    """As if the handle was let go: AppTest cannot reach into a view, but K_M goes by the address."""
    app.query_params["k_m"] = str(size)
    return run(app)


def is_whole(app: AppTest) -> bool:
    """True if the page has come to its end with an explanation on it."""
    return {"near", "why"} <= set(views(app)) and not app.error and any("import explainer" in c.value for c in app.code)


# Every data set


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_is_explained_or_offered(name):
    info = services.datasets()[name]
    app = opened(name)
    if info.archive and not is_available(info.archive):
        assert [button.label for button in app.button] == [f"Download {info.title}"]
        return
    card = next(card for card in services.all_cards() if card.dataset == name)
    title = heading(app)
    assert info.title in title
    assert model_text.model_title(card) in title
    bars = title.count('class="bar"')
    assert 2 <= bars <= 4
    assert "predicted <b>" in title
    assert is_whole(app)
    assert re.search(r"alone gives? .+ of “|without any (edge|bond) too", headline(app)["sentence"])
    assert len(json.dumps(views(app)["why"])) < 100_000
    assert "other starts" not in remarks(app)  # it is said once, beside the verdict
    assert re.match(r"\d+ other starts ", views(run(app))["why"]["explained"]["starts"])
    assert {"verified", "gnnexplainer", "random"} <= {panel["name"] for panel in views(app)["beside"]["panels"]}
    assert not app.warning


def test_data_that_are_not_here_are_offered_and_broken_ones_are_one_sentence(tmp_path, monkeypatch, alone):
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path))
    for name, info in services.datasets().items():
        if info.archive:
            assert [button.label for button in opened(name).button] == [f"Download {info.title}"]
    (tmp_path / services.datasets()["mutag"].archive.name).write_bytes(b"not an archive")
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    app = opened("mutag")
    assert len(app.error) == 1
    app.selectbox(key="dataset").set_value("karate")
    assert is_whole(run(app))


def test_without_models_the_page_says_how_to_train_one(monkeypatch):
    monkeypatch.setattr(services, "all_cards", list)
    assert "explainer_core train" in texts(opened().info)


# Settings


def another(setting, widget) -> object:
    """A value inside the widget's range that is not the default."""
    if setting.metadata["choices"]:
        return next(choice for choice in setting.metadata["choices"] if choice != setting.default)
    if isinstance(setting.default, bool):
        return not setting.default
    if setting.name in FEW:
        return FEW[setting.name]
    middle = type(setting.default)((widget.min + min(widget.max, 40)) / 2)
    return middle if middle != setting.default else middle + widget.step


def widget_of(app: AppTest, name: str):
    kinds = (app.slider, app.number_input, app.selectbox, app.toggle)
    (found,) = [widget for kind in kinds for widget in kind if widget.key == name]
    return found


@pytest.mark.parametrize("names", [list(SETTINGS)[start::4] for start in range(4)], ids=lambda names: names[0])
def test_settings_go_to_the_address_and_back_to_their_defaults(names):
    app = opened()
    names = [name for name in names if name != "k_m"]  # the track under the picture has a test of its own
    default = state.default_config("karate")
    wanted = {name: another(SETTINGS[name], widget_of(app, name)) for name in names}
    for name, value in wanted.items():
        told = in_markdown(OF_SETTING[name]) if name in OF_SETTING else SETTINGS[name].metadata["help"]
        assert widget_of(app, name).help == told
        widget_of(app, name).set_value(value)
    run(app)
    for name, value in wanted.items():
        assert said(app, name) == str(value)
        assert widget_of(app, name).value == value
    assert is_whole(app)
    shown = {True: "mask", False: None}[bool(set(names) - set(state.BESIDE_THE_MASK))]
    assert said(app, "shown") == shown
    for name in names[1:]:
        app.button(key=f"reset_{name}").click()
    run(app)
    assert said(app, names[0]) == str(wanted[names[0]])  # each goes back by itself
    for name in names[1:]:
        assert said(app, name) is None
        assert widget_of(app, name).value == getattr(default, name)
    assert not app.warning


def test_an_emptied_box_goes_back_to_its_default():
    app = opened(seed=7)
    for name in ("seed", "learning_rate", "max_edges"):
        app.number_input(key=name).set_value(None)
    run(app)
    for name in ("seed", "learning_rate", "max_edges"):
        assert app.number_input(key=name).value == getattr(ExplainConfig(), name)
    assert is_whole(app)


def test_the_first_page_needs_no_address_and_all_settings_go_back_to_none():
    app = opened(None)
    assert is_whole(app)
    next(button for button in app.button if button.label == "Reset all settings").click()
    run(app)
    assert app.slider(key="steps").value == ExplainConfig().steps
    assert is_whole(app)
    assert not app.warning


def count_runs(monkeypatch) -> list:
    runs, really = [], explaining.xc.explain_steps
    monkeypatch.setattr(
        explaining.xc, "explain_steps", lambda *args, **rest: runs.append(args[3]) or really(*args, **rest)
    )
    return runs


def test_sizes_are_instant_and_weights_are_learnt_anew(alone, monkeypatch):
    runs = count_runs(monkeypatch)
    app = opened()
    assert len(runs) == 1  # the other starts are not watched step by step
    before = views(app)["why"]
    runs.clear()
    app.query_params["k_m"] = "2"
    app.slider(key="k_f").set_value(1)
    run(app)
    assert runs == []
    after = views(app)["why"]
    assert len(after["panels"][0]["kept_nodes"]) == 2
    assert after["picture"] == before["picture"]
    assert "k_f=1" in texts(app.code)
    app.slider(key="size").set_value(1.0)
    run(app)
    assert {config.size for config in runs} == {1.0}
    assert said(app, "shown") == "mask"
    assert views(app)["why"]["panels"][0]["name"] == "gnnexplainer"
    assert views(app)["why"]["picture"] == before["picture"]


# The main picture


def panel(app: AppTest) -> dict:
    return views(app)["why"]["panels"][0]


def test_the_switch_shows_the_mask_and_back_without_another_run(alone, monkeypatch):
    app = opened()
    verified = panel(app)
    assert (verified["name"], verified["title"], verified["frames"]) == ("verified", "Verified", None)
    runs = count_runs(monkeypatch)
    app.segmented_control(key="shown").set_value("mask")
    run(app)
    assert said(app, "shown") == "mask"
    assert (panel(app)["title"], bool(panel(app)["frames"])) == ("GNNExplainer mask", True)
    assert [config for config in runs if config.features != "none"] == []  # only the other starts are new
    app.segmented_control(key="shown").set_value("verified")
    assert panel(run(app)) == verified


def test_the_mask_is_watched_from_the_verified_picture():
    app = opened()
    app.button(key="watch").click()
    run(app)
    assert said(app, "shown") == "mask"
    assert panel(app)["frames"]
    assert "watch" not in [button.key for button in app.button]


def test_a_slider_of_the_regularisation_shows_the_mask():
    app = opened()
    app.slider(key="necessity").set_value(6.0)
    run(app)
    assert (said(app, "shown"), said(app, "necessity")) == ("mask", "6.0")
    assert panel(app)["name"] == "gnnexplainer"
    assert app.segmented_control(key="shown").value == "mask"


def test_the_size_is_found_until_the_slider_is_moved(alone):
    app = opened()
    track = views(app)["why"]["explained"]
    found = track["chosen"]
    assert (track["is_auto"], track["auto"]) == (True, found)
    assert len(panel(app)["kept_nodes"]) == found
    track = views(choose_size(app, found + 2))["why"]["explained"]
    assert (track["is_auto"], track["auto"], track["chosen"]) == (False, found, found + 2)
    assert len(panel(app)["kept_nodes"]) == found + 2
    track = views(choose_size(app, "auto"))["why"]["explained"]
    assert (track["is_auto"], track["chosen"]) == (True, found)


@pytest.mark.parametrize("shown", ["verified", "mask"])
@pytest.mark.parametrize(
    "asked",
    [{"dataset": "karate", "node": "8"}, {"dataset": "molecules"}, {"dataset": "ba_shapes", "node": "414"}],
    ids=lambda asked: asked["dataset"],
)
def test_what_a_size_promises_is_what_choosing_it_gives(asked, shown):
    app = opened(**asked, shown=shown, steps=20)
    promised = views(app)["why"]["explained"]["sizes"]
    for size in (1, 3, 5, 7, len(promised)):
        came = headline(choose_size(app, size))
        kept, nodes, alone, without, keeps, _, word, _, sentence = promised[size - 1]
        assert came["alone"] == pytest.approx(alone, abs=5e-4)
        assert came["without"] == pytest.approx(without, abs=5e-4)
        assert (came["keeps_class"], came["word"]) == (keeps, word)
        assert (came["kept"], came["kept_nodes"]) == (kept, nodes)
        assert set(panel(app)["kept"]) == set(kept)
        assert came["sentence"] == sentence


@pytest.mark.parametrize("shown", ["verified", "mask"])
@pytest.mark.parametrize("dataset", ["ba_shapes", "tree_cycles"])
def test_no_size_is_said_to_be_too_small_where_a_smaller_one_carries_the_prediction(dataset, shown):
    carried = False
    for *_, icon, _, headline, sentence in views(opened(dataset, shown=shown, steps=75))["why"]["explained"]["sizes"]:
        assert not (carried and "needs more" in headline), (headline, sentence)
        carried = carried or icon == "✓"
    assert carried


def test_the_paper_is_one_button_away_and_all_settings_go_back():
    app = opened()
    next(button for button in app.button if button.label == "As in the paper").click()
    run(app)
    paper = ExplainConfig.paper()
    for name in set(SETTINGS) - {"k_m"}:
        assert widget_of(app, name).value == getattr(paper, name), name
    assert views(app)["why"]["explained"]["chosen"] == paper.k_m
    assert app.slider(key="size").proto.format == "%.3f"  # 0.005 is read as such
    assert said(app, "shown") == "mask"
    assert is_whole(app)
    next(button for button in app.button if button.label == "Reset all settings").click()
    run(app)
    assert said(app, "shown") is None
    assert panel(app)["name"] == "verified"


def test_what_is_said_twice_is_one_number():
    for shown in ("verified", "mask"):
        app = opened(shown=shown, steps=75)
        alone, whole, left = re.findall(r"([\d.]+)\s%", headline(app)["sentence"])
        plus, minus = re.search(r"fidelity\+ (\S+) · fidelity− (\S+)", panel(app)["lines"][0]).groups()
        assert float(plus) == pytest.approx((float(whole) - float(left)) / 100, abs=0.006)
        assert float(minus.replace("−", "-")) == pytest.approx((float(whole) - float(alone)) / 100, abs=0.006)
        assert f"{100 * headline(app)['alone']:.1f}" == alone


# What is explained


def test_a_model_is_chosen_by_its_name():
    app = opened(node=3)
    app.selectbox(key="model").set_value("gat")
    run(app)
    assert said(app, "model") == "gat"
    assert "GAT · node 3" in heading(app)
    assert is_whole(app)


def test_every_question_is_answered():
    app = opened(node=8)
    predicted = heading(app)
    assert "what speaks for “Mr. Hi”" in app.selectbox(key="class").options  # options are letters, never Markdown
    for asked in ("true", "distribution", 0, 1, "predicted"):
        app.selectbox(key="class").set_value(asked)
        run(app)
        assert said(app, "class") == str(asked)
        assert heading(app) == predicted
        assert is_whole(app), asked
        if asked in (0, 1):
            assert f"“{services.class_names('karate', 'node')[asked]}”" in headline(app)["sentence"]


def test_a_number_is_a_target_and_an_emptied_box_is_none():
    app = opened(node=3)
    app.number_input(key="node").set_value(5)
    assert "node 5," in heading(run(app))
    app.number_input(key="node").set_value(None)
    assert "node 5," in heading(run(app))
    app.selectbox(key="dataset").set_value("tree_cycles")
    run(app)
    assert said(app, "node") is None
    assert said(app, "steps") == "5"
    assert "Tree-Cycles" in heading(app)


def test_random_targets_are_what_their_buttons_say(monkeypatch):
    monkeypatch.setattr(random, "choice", lambda found: found[len(found) // 2])
    graph = xc.load_dataset("tree_cycles")
    app = opened("tree_cycles", model="gat")
    app.button(key="random_motif").click()
    run(app)
    assert graph.node_motif[int(said(app, "node"))] >= 0
    assert views(app)["why"]["picture"]["truth"]
    app.button(key="random_wrong").click()
    assert "✗ wrong" in heading(run(app))
    app.button(key="random_all").click()
    run(app)
    assert abs(int(said(app, "node")) - graph.num_nodes // 2) <= 1  # of all others than the one that was shown
    first = next(part for part in services.FROM_UNSEEN if len(services.candidates("tree_cycles", "gat", "wrong", part)))
    assert app.segmented_control(key="pick_split").value == first  # what the network never saw, where it errs there
    for split, told in (("any", "."), ("train", " in the training part.")):
        app.segmented_control(key="pick_split").set_value(split)
        assert said(run(app), "only_split") == split
        wrong = services.candidates("tree_cycles", "gat", "wrong", None if split == "any" else split)
        others = len(wrong) - (int(said(app, "node")) in wrong)
        assert f"One of {others:,} that the network gets wrong{told}" in texts(app.caption)
        assert f"only_split={split}" in texts(app.code)
    karate = opened("karate")
    assert karate.button(key="random_wrong").disabled  # the network makes no mistake there
    assert "There is no other one here." in texts(karate.caption)
    assert "One of 0" not in texts(karate.caption)


def test_a_wrong_one_is_another_than_is_shown(monkeypatch):
    """However chance falls: every candidate that may be drawn is wrong, and none is the one that is looked at."""
    wrong = services.candidates("tree_cycles", "gat", "wrong", None).tolist()
    drawn = []
    monkeypatch.setattr(random, "choice", lambda found: drawn.append(found) or found[0])
    app = opened("tree_cycles", model="gat", node=wrong[0], only_split="any")
    app.button(key="random_wrong").click()
    run(app)
    assert drawn == [[each for each in wrong if each != wrong[0]]]
    assert int(said(app, "node")) == wrong[1]


def test_ends_of_a_link_are_picked_and_swapped():
    app = opened("les_miserables", source=4, head=2)
    app.selectbox(key="head").set_value(7)
    run(app)
    assert (said(app, "source"), said(app, "head")) == ("4", "7")
    app.selectbox(key="source").set_value(7)
    run(app)
    assert (said(app, "source"), said(app, "head")) == ("7", "4")
    assert is_whole(app)
    names = services.node_names("les_miserables")
    assert f"{names[7]} and {names[4]}" in heading(app)
    picture = views(app)["near"]["picture"]
    assert {picture["nodes"][place] for place in picture["targets"]} == {7, 4}


def test_a_molecule_is_typed_and_taken_back():
    app = opened("molecules", graph=3)
    before = heading(app)
    app.text_input(key="smiles").set_value(NITROBENZENE)
    run(app)
    assert NITROBENZENE in heading(app)
    assert "predicted <b>" in heading(app)
    assert "true" not in heading(app)
    assert said(app, "graph") is None
    assert app.number_input(key="graph").value is None
    assert is_whole(app)
    app.number_input(key="graph").set_value(3)
    assert heading(run(app)) == before
    assert app.text_input(key="smiles").value == ""


def test_a_text_that_is_no_molecule_is_one_sentence_and_the_page_goes_on():
    app = opened("molecules")
    for typed in ("not a molecule", "C1CC", "[Xx]", IMAGE, "*", "C" * 499):
        app.text_input(key="smiles").set_value(typed)
        run(app)
        assert len(app.error) == 1, typed
        assert not MARKUP.search(app.error[0].value)
    app.text_input(key="smiles").set_value("CCO")
    assert is_whole(run(app))


# What is shown


def test_methods_are_added_and_all_taken_away():
    app = opened()
    app.pills(key="methods").set_value(["gradient", "occlusion", "random"])
    run(app)
    drawn = {panel["name"] for panel in views(app)["beside"]["panels"]}
    assert drawn == {"verified", "gradient", "occlusion", "random"}
    app.pills(key="methods").set_value([])
    run(app)
    assert "beside" not in views(app)
    assert run(app).pills(key="methods").value == []
    every = services.beside_main(services.methods_for(services.Request("karate", "gcn", "node", 8)), "verified")
    app.pills(key="methods").set_value(every)
    assert len(views(run(app))["beside"]["panels"]) == 1 + len(every)  # with what is shown


def test_the_map_is_drawn_both_ways_in_every_colour():
    app = opened(node=3)
    app.segmented_control(key="view").set_value("whole data set")
    run(app)
    assert "near" not in views(app)
    seen = set()
    for layout in ("graph", "embedding"):
        app.segmented_control(key="layout").set_value(layout)
        for colour in services.COLOURS:
            app.selectbox(key="colour").set_value(colour)
            run(app)
            assert said(app, "colour") == colour
            shown = views(app)["map"]
            assert shown["selected"] == [3]
            seen.add((shown["points"]["x"], str(shown["points"]["legend"])))
    assert said(app, "layout") == "embedding"
    assert len(seen) == 6  # class and predicted class have one legend


def test_the_gallery_is_filtered_and_turned():
    app = opened("molecules", view="whole data set")
    count = services.num_targets("molecules", "gat")
    first = [card[0] for card in views(app)["gallery"]["thumbnails"]]
    assert first == list(range(services.PER_PAGE))
    assert app.button(key="back").disabled
    app.button(key="on").click()
    assert views(run(app))["gallery"]["thumbnails"][0][0] == services.PER_PAGE
    app.selectbox(key="only_class").set_value(1)
    app.selectbox(key="only_right").set_value("right")
    run(app)
    shown = [card[0] for card in views(app)["gallery"]["thumbnails"]]
    graph_filter = services.GraphFilter(label=1, right=True)
    model = app.selectbox(key="model").value
    assert (
        shown == services.filtered_graphs("molecules", model, graph_filter)[: services.PER_PAGE].tolist()
    )  # from the first page again
    app.text_input(key="only_text").set_value("no compound is called so")
    assert "No graph passes" in texts(run(app).info)
    app.text_input(key="only_text").set_value("")
    app.slider(key="only_nodes").set_value((10, 14))
    run(app)
    sizes = services.sizes("molecules")
    assert {10 <= sizes[card[0]] <= 14 for card in views(app)["gallery"]["thumbnails"]} == {True}
    app.segmented_control(key="layout").set_value("embedding")
    assert len(views(run(app))["map"]["points"]["ids"]) == count
    assert is_whole_beside_the_map(app)


def is_whole_beside_the_map(app: AppTest) -> bool:
    return "why" in views(app) and not app.error


def test_links_are_listed_by_kind():
    app = opened("les_miserables", view="whole data set")
    everything = len(app.dataframe[0].value)
    counts = []
    for kind in ("joined", "not joined"):
        app.segmented_control(key="pairs").set_value(kind)
        table = run(app).dataframe[0].value
        assert set(table["joined"]) == {kind == "joined"}
        counts.append(len(table))
    assert sum(counts) == everything


# The address


@pytest.mark.parametrize(
    "address",
    [
        {"dataset": "karate", "model": "gat", "node": 12, "class": 1, "k_m": 4, "size": 0.75, "methods": "occlusion"},
        {"dataset": "les_miserables", "source": 5, "head": 11, "class": "distribution", "methods": "none"},
        {"dataset": "molecules", "smiles": NITROBENZENE, "k_m_unit": "edges", "connected": False},
        {"dataset": "karate", "node": 2, "view": "whole data set", "layout": "embedding", "colour": "right"},
    ],
    ids=lambda address: address["dataset"],
)
def test_a_shared_link_opens_the_same_page(address):
    first = run(opened(**address))  # without a browser, dotted edges arrive with the next run
    (link,) = [block.value for block in first.code if "dataset=" in block.value]
    second = AppTest.from_file(str(APP), default_timeout=120)
    second.query_params.update(dict(parse_qsl(link.split("?", 1)[1], keep_blank_values=True)))
    run(second)
    assert heading(second) == heading(first)
    assert views(second) == views(first)
    assert [block.value for block in second.code] == [block.value for block in first.code]
    assert not second.warning


def test_a_link_shows_the_same_page_whatever_others_have_looked_at(alone):
    link = {"dataset": "karate", "node": 8, "k_m": 5}
    first = run(opened(**link))  # without a browser, dotted edges arrive with the next run
    forget_everything()
    for other in ({"k_m": "auto"}, {"shown": "mask"}, {"methods": "gradient,random"}, {"class": 0}, {"seed": 3}):
        run(opened(**link | other))
    second = run(opened(**link))
    took = re.compile(r"[\d.]+ m?s$")  # how long a run took is no part of its answer
    for key, data in views(first).items():
        for one, other in zip(data.get("panels", ()), views(second)[key].get("panels", ()), strict=True):
            assert [took.sub("", line) for line in one.pop("lines")] == [
                took.sub("", line) for line in other.pop("lines")
            ]
            assert one == other, key
    assert headline(second) == headline(first)
    assert texts(second.markdown) == texts(first.markdown)


def test_where_no_feature_tells_anything_that_is_one_line_and_no_figure():
    app = opened("ba_shapes")
    assert "All nodes have the same features, so the prediction rests on the edges alone." in texts(app.caption)
    assert not app.get("plotly_chart")
    assert opened("molecules").get("plotly_chart")


@pytest.mark.parametrize(
    "bad",
    [
        {"dataset": "atlantis"},
        {"dataset": IMAGE, "node": IMAGE},
        {"model": IMAGE, "node": 10**9, "class": 99, "k_m": 0},
        {"node": -1, "size": "NaN", "entropy": "inf", "laplacian": -1, "k_m_unit": IMAGE},
        {"node": "x" * 10_000, "size": "y" * 10_000, "direction": "z" * 10_000},
        {"node": "", "class": IMAGE},
        {"methods": "junk"},
        {"second": "gcn"},  # the network that is explained is no second one
        {"second": IMAGE},
        {"dataset": "les_miserables", "source": 7, "head": 7},
        {"dataset": "les_miserables", "source": IMAGE, "head": -7},
    ],
    ids=lambda bad: "-".join(bad),
)
def test_a_bad_link_falls_back_with_a_word(bad):
    app = opened(**({"dataset": "karate"} | bad))
    assert is_whole(app)
    (warning,) = app.warning
    for name, asked in bad.items():
        if asked not in ("les_miserables", 7):
            assert for_markdown(str(asked).lower()[:30]) in warning.value.lower(), name
    assert not MARKUP.search(warning.value)
    assert len(warning.value.replace("\\", "")) <= 500


def test_of_a_link_with_much_that_is_bad_some_is_told_and_how_much_more():
    app = opened(**({"dataset": "karate"} | dict.fromkeys((*SETTINGS, "model", "class"), "x" * 600)))
    (warning,) = app.warning
    assert for_markdown("there is no model called “xxx").capitalize() in warning.value
    told = re.search(r"The link asks for (\d+) things more in vain\.", warning.value)
    assert told is not None
    assert int(told[1]) + warning.value.count("\n") == len(SETTINGS) + 2
    assert len(warning.value.replace("\\", "")) <= 500


# What goes wrong


def test_an_error_inside_a_run_is_one_sentence_and_the_page_goes_on(alone, monkeypatch):
    really = services.explain

    def explain(question, on_progress):
        if question.request.target == 3:
            raise RuntimeError("the *memory* is full")
        return really(question, on_progress)

    monkeypatch.setattr(services, "explain", explain)
    app = opened(node=3)
    assert texts(app.error) == "The *memory* is full."
    assert "node 3," in heading(app)
    app.number_input(key="node").set_value(5)
    assert is_whole(run(app))
    assert "node 5," in heading(app)


def test_a_stopped_run_offers_to_run_again(alone):
    request = services.Request(
        "karate", "gcn", "node", 3, config=replace(state.default_config("karate"), steps=int(QUICK["steps"]))
    )
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"dataset": "karate", "node": "3", **QUICK})
    app.session_state["stopped run"] = request
    run(app)
    assert "stopped" in texts(app.info)
    assert not is_whole(app)
    next(button for button in app.button if button.label == "Run it again").click()
    assert is_whole(run(app))


def test_a_run_that_takes_long_is_shown_while_it_learns(alone, monkeypatch):
    monkeypatch.setattr(explaining, "SELDOM", 0)
    shown, explain, mask_on = [], services.explain, services.mask_on

    def slow(question, on_progress):
        def slowly(progress):
            time.sleep(0.3)
            on_progress(progress)

        return explain(question, slowly)

    monkeypatch.setattr(services, "explain", slow)
    monkeypatch.setattr(services, "mask_on", lambda *args: shown.append(mask_on(*args)) or shown[-1])
    app = opened()
    assert is_whole(app)
    assert {len(weights) for weights in shown} == {views_edges(app)}
    assert not [button for button in app.button if button.label == "Stop"]  # the picture has taken its place


def views_edges(app: AppTest) -> int:
    """How many edges the explanation's picture has: one byte of weight for each."""
    return len(base64.b64decode(views(app)["why"]["panels"][0]["weights"]))


def test_names_that_look_like_code_are_letters(alone):
    graph = xc.load_dataset("karate")
    hostile = replace(graph, node_names=[IMAGE] * graph.num_nodes, class_names=(f"</b>{IMAGE}", "*b* [x](y)"))
    subjects._DATA.put("karate", hostile)
    app = opened(node=8)
    assert "<img" not in heading(app)
    assert "&lt;img" in heading(app)
    for element in [each for each in (*app.markdown, *app.caption) if each.value != welcome.TEXT]:
        assert not re.search(r"(?<!\\)[<*]", element.value.split("] ")[-1])
    assert views(app)["near"]["picture"]["labels"][0] == label_text(IMAGE)  # the view writes it as text


def test_a_visit_leaves_the_network_as_it_was():
    def weights() -> dict[str, bytes]:
        return {name: value.numpy().tobytes() for name, value in subjects.network("karate", "gat").state_dict().items()}

    before = weights()
    app = opened(model="gat", node=1, methods="gradient,attention,occlusion,integrated_gradients")
    app.query_params["k_m"] = "3"
    app.slider(key="entropy").set_value(1.0)
    run(app)
    assert weights() == before
    assert not subjects.network("karate", "gat").training


def test_the_first_sentence_is_there_until_something_is_touched_and_comes_back_by_a_button():
    def is_there(app: AppTest) -> bool:
        return any(each.value == welcome.TEXT for each in app.markdown)

    app = opened()
    assert is_there(app)
    app.button(key="next_target").click()
    assert not is_there(run(app))
    app.button(key="welcome").click()
    assert is_there(run(app))
    assert not is_there(run(app))


def test_the_arrows_lead_to_the_neighbouring_numbers_and_end_with_them():
    app = opened(node=32)
    app.button(key="next_target").click()
    assert "node 33," in heading(run(app))
    assert app.button(key="next_target").disabled
    app.button(key="previous_target").click()
    assert "node 32," in heading(run(app))
    assert opened(node=0).button(key="previous_target").disabled


def test_the_gallerys_filter_is_in_the_link_and_comes_back_with_it():
    app = opened("molecules", view="whole data set")
    app.selectbox(key="only_class").set_value(1)
    app.selectbox(key="only_right").set_value("right")
    app.slider(key="only_nodes").set_value((10, 14))
    run(app)
    shown = [card[0] for card in views(app)["gallery"]["thumbnails"]]
    assert (said(app, "only_class"), said(app, "only_right"), said(app, "only_nodes")) == ("1", "right", "10,14")
    link = next(each.value for each in app.code if "only_class" in each.value)
    assert "only_nodes=10%2C14" in link
    again = opened("molecules", view="whole data set", only_class=1, only_right="right", only_nodes="10,14")
    assert [card[0] for card in views(again)["gallery"]["thumbnails"]] == shown
    app.selectbox(key="only_class").set_value("any")
    run(app)
    assert said(app, "only_class") is None


@pytest.mark.parametrize(
    "bad",
    [{"only_class": 9}, {"only_right": "maybe"}, {"only_nodes": "5"}, {"only_nodes": "9,2"}, {"only_nodes": "a,b"}],
)
def test_a_bad_filter_shows_all_with_a_word(bad):
    app = opened("molecules", view="whole data set", **bad)
    assert str(next(iter(bad.values()))) in texts(app.warning)
    everything = opened("molecules", view="whole data set")
    assert views(app)["gallery"]["thumbnails"] == views(everything)["gallery"]["thumbnails"]
