"""The Compare section of the Explain page: methods in the order the network gives them, and a second network beside."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services, state
from dashboard.jobs import RunRefused
from dashboard.schema import MASK_METHOD, Request, Scores
from dashboard.services import explanations, second_network
from dashboard.view import model_text, ranking
from dashboard.view.explanation_text import percent
from dashboard.view.things import ATOMS
from explainer_core.explanation.metrics import Faithfulness

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
KARATE = Request("karate", "gcn", "node", 19, config=replace(state.default_config("karate"), steps=5))


def opened(dataset: str = "karate", **address) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"} | {name: str(value) for name, value in address.items()})
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def views(app: AppTest) -> dict[str, dict]:
    sent = [json.loads(each.proto.json or each.proto.mixed.json) for each in app.get("bidi_component")]
    return {data["key"]: data for data in sent}


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


def tables(app: AppTest) -> dict[str, list[tuple[str, ...]]]:
    """The rows of each ranking, by its heading: rank, method, alone, without."""
    found = {}
    for element in app.html:
        if 'class="ranking"' in element.value:
            heading = re.search("<caption>(.*?)</caption>", element.value)[1]
            row = r"<td>(\d+)</td><th scope=\"row\">(.*?)</th>.*?<td>([^<]*)</td><td>([^<]*)</td></tr>"
            found[heading] = re.findall(row, element.value)
    return found


def for_target(app: AppTest) -> list[tuple[str, ...]]:
    return next(rows for heading, rows in tables(app).items() if heading.startswith("This target"))


def headline(app: AppTest, view: str = "why") -> tuple[float, float, str]:
    """What the main picture says of the size that is shown: alone, without, and its sentence."""
    explained = views(app)[view]["explained"]
    shown = explained["sizes"][explained["chosen"] - 1]
    return shown[2], shown[3], shown[-1]


# Methods


@pytest.mark.parametrize("address", [{}, {"shown": "mask"}, {"dataset": "molecules"}, {"dataset": "les_miserables"}])
def test_panels_and_table_stand_in_one_order_with_the_figures_of_the_headline(address):
    app = opened(**address)
    rows, panels = for_target(app), views(app)["beside"]["panels"]
    titles = [f"{rank}. {title}" for rank, title, *_ in rows]
    assert [panel["title"].removesuffix(", as shown above") for panel in panels] == titles
    for panel, (*_, alone, without) in zip(panels, rows, strict=True):
        assert panel["lines"][0].replace(" (too little for the class)", "") == f"alone {alone}, without {without}"
    assert [int(rank) for rank, *_ in rows] == sorted(int(rank) for rank, *_ in rows)
    (own,) = [row for row, panel in zip(rows, panels, strict=True) if panel["title"].endswith("as shown above")]
    alone, without, sentence = headline(app)
    assert own[2:] == (percent(alone), percent(without))
    assert own[2] in sentence or "without any edge too" in sentence


def test_a_method_that_does_better_than_what_is_shown_is_named_plainly():
    """A mask of this molecule is a tenth behind gradients and occlusion."""
    app = opened("molecules", graph=11, shown="mask", steps=services.ExplainConfig().steps)
    rows = for_target(app)
    own = next(int(rank) for rank, title, *_ in rows if title == xc.METHODS[MASK_METHOD].title)
    better = [title for rank, title, *_ in rows if int(rank) < own]
    assert better
    sentence = next(line for line in said(app).splitlines() if "better here than what is shown" in line)
    assert all(title in sentence for title in better)


def test_chance_is_ranked_though_nobody_has_chosen_it():
    app = opened(methods="gradient")
    assert "Random" in [title for _, title, *_ in for_target(app)]
    assert [panel["name"] for panel in views(app)["beside"]["panels"] if panel["name"] != "verified"] == ["gradient"]
    assert not tables(opened(methods="none"))


def test_attention_says_whose_it_is():
    def line(model: str) -> str:
        panels = views(opened(model=model, methods="attention"))["beside"]["panels"]
        return next(panel["lines"][1] for panel in panels if panel["name"] == "attention")

    about = xc.METHODS["attention"].about
    assert line("gcn") == f"{about} From another network, trained for attention."
    assert line("gat") == about


def test_edges_are_taken_away_one_by_one_only_where_there_are_few():
    assert "occlusion" in services.shown_first(KARATE)
    assert "occlusion" not in services.shown_first(Request("ba_shapes", "gcn", "node", 414))


def figures(alone: float, without: float) -> Scores:
    return Scores("any", 0.1, None, Faithfulness(0.9, alone, without, True, 0.5), score=alone - without)


def test_who_wins_is_said_of_every_outcome():
    def told(better=(), equal=()):
        return ranking.who_wins("Verified", better, equal, "5 nodes", chance="Random")

    assert told() == "With 5 nodes none of these does better here than what is shown, Verified."
    assert told(equal=["Occlusion"]) == "Occlusion does as well here as what is shown."
    one = told(better=[("Gradient", figures(0.8, 0.2))])
    assert one == f"Gradient does better here than what is shown (alone {percent(0.8)}, without {percent(0.2)})."
    two = told(better=[("Gradient", figures(0.8, 0.2)), ("Random", figures(0.7, 0.2))])
    assert two.startswith("Gradient and Random do better here than what is shown (Gradient: alone")
    assert two.endswith("Chance does no worse here.")


def test_a_name_from_elsewhere_is_no_markup_in_the_table():
    text = ranking.ranking([ranking.RankRow(1, "<img src=x>", 1.5, -2.0)], "<b>")
    assert "<img" not in text
    assert "<b>&lt;" not in text
    assert "left:0.0%;width:100.0%" in text  # a figure outside the scale stays on it


# The data set


def test_the_data_sets_ranking_is_that_of_the_card():
    app, card = opened(), next(card for card in services.all_cards() if card.name == "karate_gcn")
    measured = card.methods_compared
    rows = tables(app)[f"Over all {measured.targets} targets of this data set"]
    assert len(rows) == len(measured.methods)
    by_title = {services.described(name).title: each for name, each in measured.methods.items()}
    for _, title, alone, without in rows:
        assert (alone, without) == (percent(by_title[title].alone), percent(by_title[title].without))
    scores = [by_title[title].score for _, title, *_ in rows]
    assert scores == sorted(scores, reverse=True)


def test_a_network_nobody_has_measured_has_no_ranking_of_its_data_set(monkeypatch):
    cards = [replace(card, compared=None) for card in services.all_cards()]
    monkeypatch.setattr(services, "all_cards", lambda: cards)
    assert len(tables(opened())) == 1


def test_a_method_of_another_version_is_left_out():
    card = next(card for card in services.all_cards() if card.name == "karate_gcn")
    other = card.compared | {"methods": {"of_tomorrow": card.compared["methods"]["verified"]}}
    assert services.over_data_set(replace(card, compared=other)) is None
    both = card.compared | {"methods": card.compared["methods"] | other["methods"]}
    assert services.over_data_set(replace(card, compared=both)) == services.over_data_set(card)


# A second network


def test_nothing_is_explained_under_another_network_until_it_is_chosen(monkeypatch):
    models, really = [], explanations.optimise
    monkeypatch.setattr(
        explanations, "optimise", lambda request, *rest: models.append(request.model) or really(request, *rest)
    )
    services.clear_caches()
    app = opened()
    assert models == ["gcn"]
    app.selectbox(key="second").set_value("gat")
    run(app)
    assert models == ["gcn", "gat"]
    assert app.query_params["second"] in ("gat", ["gat"])
    run(app)
    assert models == ["gcn", "gat"]


@pytest.mark.parametrize(
    ("dataset", "model", "second"),
    [
        ("karate", "gcn", "gat"),
        ("les_miserables", "gcn", "gat"),
        ("molecules", "gin", "rgcn"),
        ("ba_shapes", "gat", "gcn"),
    ],
)
def test_both_networks_are_drawn_in_the_same_places_with_their_own_verdicts(dataset, model, second):
    app = opened(dataset, model=model, second=second)
    first, other = (views(app)[f"{which}_network"] for which in ("first", "second"))
    for column in ("nodes", "x", "y", "edges", "signature"):
        assert first["picture"][column] == other["picture"][column]
    assert first["panels"][0]["kept"] == views(app)["why"]["panels"][0]["kept"]
    alone = opened(dataset, model=second)  # the same target under that network by itself
    for page in (app, alone):
        sentence = headline(page)[2]
        assert sentence in said(app)
    if dataset == "karate":
        assert views(alone)["why"]["panels"][0]["kept"] == other["panels"][0]["kept"]


def test_a_size_that_was_chosen_is_the_size_under_both():
    app = opened(second="gat", k_m=2)
    for which in ("first_network", "second_network"):
        assert len(views(app)[which]["panels"][0]["kept_nodes"]) <= 2


def test_a_run_that_is_refused_is_one_sentence_where_it_would_have_stood(monkeypatch):
    really = explanations.check_run

    def check(request):
        if request.model == "gat":
            raise RunRefused("a run may take 1 second (about 9 here)")
        really(request)

    monkeypatch.setattr(explanations, "check_run", check)
    services.clear_caches()
    app = opened(second="gat")
    assert [error.value.replace("\\", "") for error in app.error] == ["A run may take 1 second (about 9 here)."]
    assert {"near", "why", "beside"} <= set(views(app))
    services.clear_caches()


def test_the_second_network_leaves_with_its_data_set_and_when_it_becomes_the_first():
    app = opened(second="gat")
    app.selectbox(key="model").set_value("gat")
    run(app)
    assert "second" not in app.query_params
    assert not app.warning
    app = opened(second="gat")
    app.selectbox(key="dataset").set_value("tree_cycles")
    run(app)
    assert "second" not in app.query_params


def test_a_data_set_with_one_network_for_the_task_offers_no_second():
    card = next(card for card in services.all_cards() if card.name == "cora_link")
    assert services.other_networks(card) == []
    others = services.other_networks(next(card for card in services.all_cards() if card.name == "cora_gcn"))
    assert [card.model for card in others] == ["gat"]


def test_an_edge_the_other_network_does_not_look_at_weighs_nothing():
    """As where it has fewer layers."""
    answer = services.explain(services.ask(KARATE))
    explanation, drawing = answer.explanation, answer.question.drawing
    fields = ("edge_index", "edge_ids", "edge_weight", "edge_part")
    there = explanation.pair_numbers % 2 == 0
    nearer = replace(explanation, table=(), **{name: getattr(explanation, name)[..., there] for name in fields})
    own = replace(answer, own=replace(answer.own, explanation=nearer))
    redrawn = second_network._redrawn(drawing, own, "predicted")
    panel = services.weighed(redrawn, nearer, name="any", title="", terms={})
    known = set(map(tuple, nearer.pairs.tolist()))
    weights = dict(zip(redrawn.pairs, panel.weights, strict=True))
    assert {pair for pair in redrawn.pairs if pair not in known}
    assert all(weights[pair] == 0 for pair in redrawn.pairs if pair not in known)
    scores = nearer.undirected()[1]
    expected = dict(zip(map(tuple, nearer.pairs.tolist()), np.round(scores / scores.max(), 3).tolist(), strict=True))
    assert all(weights[pair] == pytest.approx(expected[pair], abs=1e-3) for pair in redrawn.pairs if pair in known)


def test_what_two_networks_have_in_common_is_said():
    names = ("GCN", "GAT")
    same = ranking.in_common(names, ("top", "top"), 4, 6)
    assert same == "Both say “top”. Of the 6 edges that either keeps, 4 are in both parts."
    assert ranking.in_common(names, ("top", "base"), 1, 3).startswith("They disagree: GCN says “top”, GAT says “base”.")
    assert ranking.in_common(names, ("top", "top"), 0, 5).endswith(
        "Of the 5 edges that either keeps, none is in both parts."
    )
    assert ranking.in_common(names, ("top", "top"), 0, 0) == "Both say “top”."
    assert ranking.in_common(names, ("top", "top"), 4, 4).endswith("either keeps, all are in both parts.")
    one = [ranking.in_common(names, ("top", "top"), edges, 1).split(". ")[1] for edges in (0, 1)]
    assert one == [f"The one edge that either keeps is in {where}." for where in ("one part", "both parts")]
    assert "Of the 6 bonds that" in ranking.in_common(names, ("top", "top"), 4, 6, ATOMS)


def test_molecules_have_atoms_and_bonds_wherever_they_are_compared():
    app = opened("molecules", second="rgcn", k_m=4)
    assert any(heading.startswith("This target, K_M = 4 atoms") for heading in tables(app))
    assert not re.search(r"\d (node|edge)s?\b", said(app))
    assert re.search(r"Of the \d+ bonds that either keeps", said(app))
    title, name = services.datasets()["molecules"].title, views(app)["why"]["subject"].rpartition(" · ")[2]
    cards = {card.model: card for card in services.all_cards() if card.dataset == "molecules"}
    expected = [f"{title} · {model_text.model_title(cards[model])} · {name}" for model in ("gin", "rgcn")]
    assert [views(app)[f"{which}_network"]["subject"] for which in ("first", "second")] == expected
