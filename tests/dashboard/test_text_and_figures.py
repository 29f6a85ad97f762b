"""What the Explain page says and charts: sentences from known numbers, the cells marked, the chosen K, the colours."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dashboard import services
from dashboard.schema import ExplainConfig, Scores, SizePoint, TargetFacts, Trust, Verdict
from dashboard.view import explanation_text as words
from dashboard.view import figures
from dashboard.view.figures import FeatureRow
from dashboard.view.palette import CLASSES, LEAST, WEIGHTS, class_colours, shade
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


CURVE = [(point.size, point.alone, point.without) for point in TRUST.curve]


def judged(level: str = CARRIES, alone: float = 0.9, keeps: bool = True) -> Verdict:
    return Verdict(level, full=0.92, alone=alone, without=0.3, empty=0.2, keeps_class=keeps, winner="occlusion")


def shown(level: str = CARRIES, method: str = "verified", refine: bool = True) -> SimpleNamespace:
    return SimpleNamespace(method=method, verdict=judged(level), config=ExplainConfig(refine=refine))


def scores(kept: float = 0.9, without: float = 0.3, keeps: bool = True, auc: float | None = None) -> Scores:
    return Scores("verified", 0.25, auc, Faithfulness(0.92, kept, without, keeps, sparsity=0.8))


def test_every_setting_and_every_method_has_a_name_in_words():
    assert set(words.LABELS) == set(ExplainConfig().to_dict())
    for method in (*METHODS, "paper"):
        assert services.described(method).title
        assert services.described(method).about.endswith(".")


def test_the_verdict_says_what_is_kept_and_what_is_left():
    enough = words.verdict(FACTS, judged(), 5, "nodes", "node")
    assert enough == (
        "These 5 nodes alone give “Officer”: 90.0\u00a0%, where the whole neighbourhood gives 92.0\u00a0%. "
        "Without them 30.0\u00a0% are left."
    )
    one = words.verdict(FACTS, judged(NOT_ENOUGH, 0.31, keeps=False), 1, "edges", "graph")
    assert one.startswith(
        "This one edge alone does not give “Officer”: 31.0\u00a0%, where the whole graph gives 92.0\u00a0%."
    )
    assert "Without it" in one
    little = words.verdict(FACTS, judged(NOT_ENOUGH, 0.31), 3, "edges", "graph")
    assert "alone give “Officer”: only 31.0\u00a0%" in little
    nothing = words.verdict(FACTS, judged(DEFAULT), 3, "edges", "graph")
    assert (
        nothing
        == "The network says “Officer” without any edge too (20.0\u00a0%): nothing in the graph needs explaining."
    )


def test_only_what_carries_the_prediction_gets_a_tick():
    assert set(words.LEVELS) == set(LEVELS)
    ticked = [level for level, (icon, _) in words.LEVELS.items() if "check" in icon]
    assert ticked == [CARRIES]
    assert len(set(words.LEVELS.values())) == len(LEVELS)


def test_the_class_that_is_asked_about_is_the_one_in_the_sentence():
    assert "“Officer”" in words.verdict(replace(FACTS, explained=None), judged(), 6, "nodes", "node")
    asked = replace(FACTS, explained=0)
    assert "alone give “Mr. Hi”" in words.verdict(asked, judged(), 6, "nodes", "node")
    in_vain = words.verdict(asked, judged(NOT_ENOUGH, keeps=False), 6, "nodes", "node")
    assert "do not give “Mr. Hi” either" in in_vain
    assert "speak most for “Mr. Hi”" in words.how_to_read(asked, shown(), False, False)


def test_the_caption_of_the_picture_claims_no_more_than_the_verdict():
    for level in LEVELS:
        rests = "the prediction rests on" in words.how_to_read(FACTS, shown(level), True, True)
        assert rests == (level in (CARRIES, MOSTLY))
    assert "what the mask keeps" in words.how_to_read(FACTS, shown(method="gnnexplainer"), False, False)


def test_a_subgraph_says_where_it_came_from():
    assert words.found_by(shown()) == "found by occlusion, then edges exchanged"
    assert words.found_by(shown(refine=False)) == "found by occlusion"
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
    assert "Without any edge the network says “Officer” as well (20.0\u00a0%)" in told
    assert words.beware(FACTS, judged(DEFAULT), empty) == []  # the verdict has said so already
    (motif,) = words.beware(FACTS, judged(), replace(TRUST, motif_class=0, motif_probability=0.1))
    assert "“Mr. Hi”, not “Officer”" in motif
    assert words.beware(FACTS, judged(), replace(TRUST, motif_class=1, motif_probability=0.9)) == []


@pytest.mark.parametrize(
    ("share", "word"), [(1.0, "stable"), (0.9, "stable"), (0.75, "mostly stable"), (0.5, "unstable")]
)
def test_the_badge_follows_the_share_of_edges_the_starts_agree_on(share, word):
    said, sentence = words.agreement_badge(Agreement(share, 10, {(0, 1): 1.0}), 0)
    assert said == word
    assert sentence.startswith(word.capitalize())
    assert "dotted" not in sentence
    two = Agreement(share, 10, {(0, 1): 0.5, (1, 2): 0.9, (2, 3): 1.0})
    assert "The 2 on which they differ are dotted" in words.agreement_badge(two, 2)[1]
    assert "They differ on 2 edges; those that are drawn are dotted" in words.agreement_badge(two, 1)[1]


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


def test_the_curve_marks_the_chosen_size_and_the_whole_neighbourhood():
    figure = figures.over_size(CURVE, 2, 0.92, "<i>Officer</i>", "whole graph")
    without, alone, chosen = figure.data
    assert list(alone.x) == list(without.x) == [1, 2, 6]
    assert list(alone.y) == pytest.approx([40, 70, 90])
    assert list(without.y) == pytest.approx([90, 50, 30])
    assert (chosen.x, chosen.y) == ((2,), (70,))
    assert figure.layout.shapes[0].y0 == pytest.approx(92)
    assert "<i>" not in alone.hovertemplate + without.hovertemplate
    assert len(figures.over_size(CURVE, 5, 0.92, "Officer", "whole graph").data) == 2  # a size that is not on the curve


def test_classes_get_colours_of_their_own_and_leave_the_accent_alone():
    assert class_colours([False] * 7) == CLASSES[:7]
    assert len(set(class_colours([True, False, True, False]))) == 4
    assert WEIGHTS not in class_colours([True, False] * 8)
    assert len(class_colours([False] * 30)) == 30  # they come round again


def test_every_confidence_has_a_shade():
    assert len({shade(value) for value in (1.0, 0.95, 0.8, 0.6, 0.2, 0.0)}) == len(LEAST)
