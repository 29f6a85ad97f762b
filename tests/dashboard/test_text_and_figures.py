"""What the Explain page says and charts: sentences from known numbers, the cells marked, the chosen K, the colours."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dashboard import services
from dashboard.schema import ExplainConfig, Scores, SizePoint, TargetFacts, Trust, Verdict
from dashboard.view import explanation_text as words
from dashboard.view import figures
from dashboard.view.figures import FeatureRow
from dashboard.view.palette import BY_NAME, CLASSES, LEAST, RIGHT, WEIGHTS, WRONG, class_colours, shade
from dashboard.view.style import DARK, LIGHT
from dashboard.view.things import ATOMS
from dashboard.widgets import verdict
from explainer_core import METHODS
from explainer_core.explanation.metrics import Faithfulness
from explainer_core.explanation.trust import Agreement
from explainer_core.explanation.verdict import CARRIES, DEFAULT, LEVELS, MOSTLY, NOT_ENOUGH
from explainer_core.methods.verified import NECESSITIES

FACTS = TargetFacts(
    name="node 8",
    class_names=("Mr. Hi", "Officer"),
    probabilities=(0.08, 0.92),
    colours=("#E69F00", "#009E73"),
    predicted=1,
    truth=1,
    explained=1,
)
TRUST = Trust(
    faithfulness=Faithfulness(0.92, 0.9, 0.3, True, 0.8),
    curve=(SizePoint(1, 0.4, 0.9, False), SizePoint(2, 0.7, 0.5, True), SizePoint(6, 0.9, 0.3, True)),
    empty_class=0,
    empty_probability=0.2,
    motif_class=None,
    motif_probability=None,
)


def judged(level: str = CARRIES, alone: float = 0.9, keeps: bool = True) -> Verdict:
    return Verdict(level, full=0.92, alone=alone, without=0.3, empty=0.2, keeps_class=keeps, winner="occlusion")


def shown(level: str = CARRIES, method: str = "verified", refine: bool = True) -> SimpleNamespace:
    return SimpleNamespace(method=method, verdict=judged(level), config=ExplainConfig(refine=refine))


def scores(kept: float = 0.9, without: float = 0.3, keeps: bool = True, auc: float | None = None) -> Scores:
    return Scores("verified", 0.25, auc, Faithfulness(0.92, kept, without, keeps, sparsity=0.8), score=1.0)


def test_every_setting_and_every_method_has_a_name_in_words():
    assert set(words.LABELS) == set(ExplainConfig().to_dict())
    for method in (*METHODS, "paper"):
        assert services.described(method).title
        assert services.described(method).about.endswith(".")


NUMBERS = "(92.0\u00a0% with everything); without them 30.0\u00a0%."
HEADLINES = {  # the headline and the sentence of each level, for three nodes that are a triangle
    CARRIES: ("“Officer”, because of this triangle", f"These 3 nodes alone give 90.0\u00a0% of “Officer” {NUMBERS}"),
    MOSTLY: (
        "“Officer”, mostly because of this triangle",
        f"These 3 nodes alone give 90.0\u00a0% of “Officer” {NUMBERS}",
    ),
    NOT_ENOUGH: (
        "“Officer” needs more than this triangle",
        f"These 3 nodes alone give only 90.0\u00a0% of “Officer” {NUMBERS}",
    ),
    DEFAULT: (
        "“Officer” by default: nothing to explain",
        "The network says “Officer” without any edge too (20.0\u00a0%): nothing in the graph needs explaining.",
    ),
}


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_has_honest_words(level):
    assert words.headline(FACTS, judged(level), 3, "nodes", "triangle") == HEADLINES[level]


def test_what_is_no_shape_is_counted_and_a_lost_class_is_told():
    title, _ = words.headline(FACTS, judged(), 5, "nodes")
    assert title == "“Officer”, because of these 5 nodes"
    title, sentence = words.headline(FACTS, judged(NOT_ENOUGH, 0.387, keeps=False), 1, "edges")
    assert title == "“Officer” needs more than this one edge"
    assert sentence == (
        "This one edge alone gives only 38.7\u00a0% of “Officer”, too little for that class "
        "(92.0\u00a0% with everything); without it 30.0\u00a0%."
    )


def test_nobody_is_told_to_add_nodes_where_fewer_are_enough():
    title, sentence = words.headline(FACTS, judged(NOT_ENOUGH), 6, "nodes", enough=5)
    assert title == "“Officer” does not rest on these 6 nodes"
    assert sentence.endswith("A part of 5 is enough.")
    for level in set(LEVELS) - {NOT_ENOUGH}:  # what is said of them is not about their number
        assert words.headline(FACTS, judged(level), 6, "nodes", enough=5) == words.headline(
            FACTS, judged(level), 6, "nodes"
        )


def test_only_what_carries_the_prediction_gets_a_tick():
    badges = {level: words.badge(FACTS, judged(level)) for level in LEVELS}
    assert [level for level, (icon, _) in badges.items() if icon == "✓"] == [CARRIES]
    assert len({icon for icon, _ in badges.values()}) == len({word for _, word in badges.values()}) == len(LEVELS)


def test_the_class_that_is_asked_about_is_the_one_in_the_headline():
    assert "“Officer”" in words.headline(replace(FACTS, explained=None), judged(), 6, "nodes")[0]
    asked = replace(FACTS, explained=0)
    title, sentence = words.headline(asked, judged(), 6, "nodes")
    assert title == "What speaks for “Mr. Hi”: these 6 nodes"
    assert "of “Mr. Hi”" in sentence
    assert words.headline(asked, judged(NOT_ENOUGH, keeps=False), 6, "nodes")[0].endswith(", not enough")
    assert words.accent_means(asked, shown()) == "what speaks for “Mr. Hi”"
    assert words.badge(asked, judged())[1] == "carries it"  # it is not the prediction
    nothing = words.headline(asked, judged(NOT_ENOUGH, keeps=False), 0, "nodes")
    assert nothing[0] == "Nothing speaks for “Mr. Hi”"
    assert nothing[1].startswith("There is no edge within reach")


def test_a_part_that_the_rest_can_do_without_is_no_reason():
    """Nine tenths of the probability are left without it: no tick, and nothing is "because of" it."""
    for level, word in ((CARRIES, "enough, but not needed"), (MOSTLY, "most of it, but not needed")):
        spare, needed = replace(judged(level), without=0.84), replace(judged(level), without=0.82)
        title, sentence = words.headline(FACTS, spare, 6, "nodes")
        assert title == "“Officer”, with or without these 6 nodes"
        assert sentence.endswith("without them 84.0\u00a0%.")
        assert words.badge(FACTS, spare) == ("◑", word)
        assert words.accent_means(FACTS, shown_with(spare)) == "the part that is kept"
        assert "because of" in words.headline(FACTS, needed, 6, "nodes")[0]
        assert words.badge(FACTS, needed) == words.BADGES[level]
    house = words.headline(FACTS, replace(judged(), without=0.9), 6, "nodes", "house")[0]
    assert house == "“Officer”, with or without this house"
    for level in (NOT_ENOUGH, DEFAULT):
        spare = replace(judged(level), without=0.92)
        assert words.badge(FACTS, spare) == words.BADGES[level]
        assert "not needed" not in " ".join(words.headline(FACTS, spare, 6, "nodes"))


def shown_with(verdict: Verdict) -> SimpleNamespace:
    return SimpleNamespace(**vars(shown()) | {"verdict": verdict})


def test_the_legend_claims_no_more_than_the_verdict():
    for level in LEVELS:
        rests = words.accent_means(FACTS, shown(level)) == "what the prediction rests on"
        assert rests == (level in (CARRIES, MOSTLY))
    assert words.accent_means(FACTS, shown(method="gnnexplainer")) == "what the mask keeps"


@pytest.mark.parametrize(
    ("share", "kept_by", "drawn", "told"),
    [
        (1.0, {(0, 1): 1.0}, 0, "9 other starts agree."),
        (0.95, {(0, 1): 0.9}, 1, "9 other starts nearly agree (95\u00a0%); what differs is dotted."),
        (0.75, {(0, 1): 0.5}, 1, "9 other starts mostly agree (75\u00a0%); what differs is dotted."),
        (
            0.3,
            {(0, 1): 0.5},
            0,
            "9 other starts disagree (30\u00a0%); what differs is dotted where it is drawn.",
        ),
    ],
)
def test_the_headline_says_what_other_starts_say(share, kept_by, drawn, told):
    assert words.starts_agree(Agreement(share, 10, kept_by), drawn) == told


def test_in_a_molecule_there_are_atoms_and_bonds():
    for level in LEVELS:
        said = " ".join(words.headline(FACTS, judged(level), 6, "nodes", things=ATOMS))
        assert "node" not in said
        assert "edge" not in said
    assert words.headline(FACTS, judged(), 6, "nodes", things=ATOMS)[0] == "“Officer”, because of these 6 atoms"
    assert words.headline(FACTS, judged(), 1, "edges", things=ATOMS)[1].startswith("This one bond alone gives")
    grown = SimpleNamespace(**vars(shown()) | {"verdict": replace(judged(), winner="growth")})
    assert words.found_by(grown, ATOMS) == "G_S: found by growing it bond by bond, then bonds exchanged"
    assert words.shown_part(20, 20, "graph", ATOMS) == "20 atoms"
    (told,) = words.beware(FACTS, judged(), replace(TRUST, empty_class=1), ATOMS)
    assert "With no bond at all" in told


def test_a_subgraph_says_where_it_came_from():
    assert words.found_by(shown()) == "G_S: found by occlusion, then edges exchanged"
    assert words.found_by(shown(refine=False)) == "G_S: found by occlusion"
    assert "mask" in words.found_by(shown(method="gnnexplainer"))
    proposed = {"occlusion", "integrated gradients", *(f"mask, necessity {each:g}" for each in NECESSITIES)}
    assert proposed < set(words.WINNERS)


def test_features_that_weigh_the_same_as_the_last_one_are_counted():
    assert "others weigh" not in words.features_caption([0.5, 0.4, 0.1], 2, absent=False)
    assert "2 others weigh the same as the last one kept" in words.features_caption(
        [0.5, 0.4, 0.4, 0.4], 2, absent=False
    )
    assert "1 other weighs the same" in words.features_caption([0.4, 0.5, 0.4], 2, absent=False)
    assert "only the first makes a difference" in words.features_caption([0.5, 0.0, 0.0], 2, absent=False)
    assert "none makes a difference" in words.features_caption([0.0, 0.0], 1, absent=False)
    assert "Hollow" in words.features_caption([0.5], 5, absent=True)


def test_a_default_class_and_a_motif_that_is_not_enough_are_told():
    assert words.beware(FACTS, judged(), TRUST) == []
    empty = replace(TRUST, empty_class=1)
    (told,) = words.beware(FACTS, judged(), empty)
    assert "With no edge at all the network says “Officer” as well (20.0\u00a0%)" in told
    assert words.beware(FACTS, judged(DEFAULT), empty) == []  # the verdict has said so already
    (motif,) = words.beware(FACTS, judged(), replace(TRUST, motif_class=0, motif_probability=0.1))
    assert "“Mr. Hi”, not “Officer”" in motif
    assert words.beware(FACTS, judged(), replace(TRUST, motif_class=1, motif_probability=0.9)) == []


def test_edges_only_add_to_a_class_that_needs_none_unless_the_others_speak_against_it():
    """REDDIT-BINARY's graph 1263: 69 % with no edge at all, 5 % with the edges outside the part."""
    empty = replace(TRUST, empty_class=1)
    (against,) = words.beware(FACTS, replace(judged(), empty=0.69, without=0.05), empty)
    assert "speak against it: with them alone it is 5.0\u00a0%" in against
    (surer,) = words.beware(FACTS, replace(judged(), empty=0.69, without=0.8), empty)
    assert "speak against" not in surer
    assert "they do not decide it" in surer


def test_scores_have_a_true_minus_and_no_minus_zero():
    first, second = words.score_lines(scores(kept=0.95, without=0.92, auc=0.987))
    assert first == "edge AUC 0.99 · fidelity+ 0.00 · fidelity− −0.03"
    assert second == f"sparsity {words.percent(0.8)} · 250 ms"
    assert words.score_lines(scores(kept=0.921))[0] == "fidelity+ 0.62 · fidelity− 0.00"  # −0.001 is nothing


def test_what_is_nearly_certain_is_not_said_to_be_as_sure_as_what_is():
    assert words.percent(0.997) != words.percent(1.0)
    assert words.percent(0.003) != words.percent(0.0)
    assert words.percent(0.003) < words.percent(0.009)  # a smaller share never reads as a larger one


def test_the_prediction_comes_first_in_a_page_that_stands_alone():
    first, second = words.sentences(FACTS, ["It rests on one edge."])
    assert first == f"Predicted “Officer” ({words.percent(0.92)}); true: “Officer”."
    assert second == "It rests on one edge."
    assert "true" not in words.sentences(replace(FACTS, truth=None), [])[0]


def test_the_heatmap_scales_each_row_and_marks_exactly_the_features_kept():
    rows = [
        FeatureRow("Verified", [0.2, 0.4, 0.1], frozenset({1, 0}), frozenset({0, 2})),
        FeatureRow("Gradient", [0, 0, 8], frozenset({2})),
    ]
    figure = figures.features(rows, ["degree", "<b>age</b>", "size"])
    heat, full, hollow = figure.data
    assert [max(row) for row in heat.z] == [1, 1]
    assert list(heat.z[0]) == pytest.approx([0.5, 1, 0.25])
    assert list(zip(full.x, full.y, strict=True)) == [(1, "Verified"), (2, "Gradient")]
    assert list(zip(hollow.x, hollow.y, strict=True)) == [(0, "Verified")]  # kept, and absent
    assert (full.marker.symbol, hollow.marker.symbol) == ("circle", "circle-open")
    assert figure.layout.xaxis.ticktext == ("degree", "&lt;b&gt;age&lt;/b&gt;", "size")
    assert heat.customdata[0][1][0] == "&lt;b&gt;age&lt;/b&gt;"
    assert [note.text for note in figure.layout.annotations] == ["Verified", "Gradient"]  # above the rows
    assert heat.customdata[1][2][1] == 8  # hovering shows the method's own number


def test_a_method_that_gives_no_feature_any_weight_divides_nothing_by_zero():
    heat = figures.features([FeatureRow("Gradient", [0.0, 0.0], frozenset())], ["a", "b"]).data[0]
    assert list(heat.z[0]) == [0, 0]


def test_classes_get_colours_of_their_own_and_leave_the_accent_alone():
    assert class_colours([False] * 7) == CLASSES[:7]
    assert len(set(class_colours([True, False, True, False]))) == 4
    accents = {WEIGHTS, LIGHT.accent, DARK.accent}
    assert not accents & {*class_colours([True, False] * 20), *BY_NAME.values(), RIGHT, WRONG, *(c for *_, c in LEAST)}
    assert len(class_colours([False] * 30)) == 30  # they come round again


def test_a_class_has_one_colour_in_every_data_set():
    one, other = (
        class_colours([False] * 2, ("mutagen", "nonmutagen")),
        class_colours([False] * 2, ("nonmutagen", "mutagen")),
    )
    assert one == other[::-1]
    assert len(set(one)) == 2


def test_every_confidence_has_a_shade():
    assert len({shade(value) for value in (1.0, 0.95, 0.8, 0.6, 0.2, 0.0)}) == len(LEAST)


def test_bars_of_classes_have_the_colours_of_the_classes_and_nobody_else_has():
    accent = {LIGHT.accent, DARK.accent, WEIGHTS}
    bars = figures.class_balance([("a", 3), ("b", 1)], class_colours([False, False]))
    assert list(bars.to_dict()["data"][0]["marker"]["color"]) == list(class_colours([False, False]))
    models = figures.accuracies([figures.AccuracyRow("GCN", 0.9, 0.5, 0.8)])
    for figure in (figures.class_balance([("a", 3)]), models):
        colours = {trace["marker"]["color"] for trace in figure.to_dict()["data"] if "marker" in trace}
        assert not colours & (accent | set(CLASSES))


def test_a_file_lists_no_feature_that_the_page_says_makes_no_difference():
    weights, absent = np.array([0.5, 0.0, 0.2]), np.array([False, True, True])
    hidden = SimpleNamespace(feature_weight=weights, feature_absent=absent, top_features=lambda k_f: (0, 2, 1))
    learnt = SimpleNamespace(feature_weight=weights, feature_absent=None, top_features=lambda k_f: (0, 2, 1))
    question = SimpleNamespace(feature_names=("a", "b", "c"), request=SimpleNamespace(config=SimpleNamespace(k_f=3)))
    found = verdict.strongest_features(question, [("verified", hidden), ("gradient", learnt)])  # type: ignore[arg-type]
    assert list(found.values()) == [[("a", 1.0), ("c (absent)", 0.4)], [("a", 1.0), ("c", 0.4), ("b", 0.0)]]
