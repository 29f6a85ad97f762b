"""What the Explain page says and charts: sentences from known numbers, the cells marked, the chosen K, the colours."""

from dataclasses import replace

import pytest

from dashboard import explaining_words as words
from dashboard import figures
from dashboard.compute import ExplainConfig, Scores, Stability, TargetFacts, Trust
from dashboard.figures import FeatureRow
from dashboard.palette import CLASSES, LEAST, WEIGHTS, class_colours, shade
from explainer_core import METHODS
from explainer_core.metrics import Faithfulness

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
    curve=((1, 0.4), (2, 0.7), (6, 0.9)),
    empty_class=0,
    empty_probability=0.2,
    motif_class=None,
    motif_probability=None,
)


def scores(kept: float = 0.9, without: float = 0.3, keeps: bool = True, auc: float | None = None) -> Scores:
    return Scores("gnnexplainer", 0.25, auc, Faithfulness(0.92, kept, without, keeps, sparsity=0.8))


def test_every_setting_and_every_method_has_a_name_in_words():
    assert set(words.LABELS) == set(ExplainConfig().to_dict())
    assert set(words.METHODS) == set(METHODS)


def test_the_verdict_says_whether_the_kept_part_is_enough():
    enough = words.verdict(FACTS, scores(), 6, "nodes", "node")
    assert "alone still gives “Officer”" in enough
    assert f"{words.percent(0.9)} instead of {words.percent(0.92)}" in enough
    too_little = words.verdict(FACTS, scores(kept=0.31, keeps=False), 3, "edges", "graph")
    assert "the whole graph" in too_little
    assert "alone does not give “Officer”" in too_little
    assert words.percent(0.31) in too_little
    assert "K_M of 3 edges" in too_little


def test_the_class_that_is_asked_about_is_the_one_in_the_sentence():
    assert "“Officer”" in words.verdict(replace(FACTS, explained=None), scores(), 6, "nodes", "node")
    asked = replace(FACTS, explained=0)
    assert "alone gives “Mr. Hi”" in words.verdict(asked, scores(), 6, "nodes", "node")
    in_vain = words.verdict(asked, scores(keeps=False), 6, "nodes", "node")
    assert "does not give “Mr. Hi” either" in in_vain
    assert "K_M" not in in_vain
    assert "speak most for “Mr. Hi”" in words.how_to_read(asked, False, False)
    assert "the prediction rests on" in words.how_to_read(FACTS, True, True)


def test_all_that_there_is_cannot_be_too_small():
    whole = replace(scores(kept=0.3, keeps=False), judged=Faithfulness(0.92, 0.3, 0.3, False, sparsity=0.0))
    assert "may be too small" not in words.verdict(FACTS, whole, 50, "nodes", "node")


def test_a_default_class_and_a_motif_that_is_not_enough_are_told():
    assert words.beware(FACTS, TRUST) == []
    (default,) = words.beware(FACTS, replace(TRUST, empty_class=1, empty_probability=0.97))
    assert "Without any edge the network says “Officer”" in default
    assert words.percent(0.97) in default
    (motif,) = words.beware(FACTS, replace(TRUST, motif_class=0, motif_probability=0.1))
    assert "“Mr. Hi”, not “Officer”" in motif
    assert words.beware(FACTS, replace(TRUST, motif_class=1, motif_probability=0.9)) == []


@pytest.mark.parametrize(
    ("share", "word"), [(1.0, "stable"), (0.9, "stable"), (0.75, "mostly stable"), (0.5, "unstable")]
)
def test_the_badge_follows_the_share_of_edges_the_seeds_agree_on(share, word):
    said, sentence = words.stability_badge(Stability(share, 10, ()), 0)
    assert said == word
    assert sentence.startswith(word.capitalize())
    assert "dotted" not in sentence
    two = Stability(share, 10, ((0, 1), (1, 2)))
    assert "The 2 on which they differ are dotted" in words.stability_badge(two, 2)[1]
    assert "They differ on 2 edges; those that are drawn are dotted" in words.stability_badge(two, 1)[1]


def test_scores_have_a_true_minus_and_no_minus_zero():
    first, second = words.score_lines(scores(kept=0.95, without=0.92, auc=0.987))
    assert first == "edge AUC 0.99 · fidelity+ 0.00 · fidelity− −0.03"
    assert second == f"sparsity {words.percent(0.8)} · 250 ms"
    assert words.score_lines(scores(kept=0.921))[0] == "fidelity+ 0.62 · fidelity− 0.00"  # −0.001 is nothing


def test_a_part_far_larger_than_asked_for_comes_with_its_reason():
    assert words.size_lines(7, 6, "edges", "node") == ()
    (line,) = words.size_lines(1569, 6, "edges", "node")
    assert line.startswith("keeps 1,569 edges, not 6: ")
    assert words.size_lines(30, 6, "nodes", "graph") != words.size_lines(30, 6, "nodes", "link")


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
    rows = [FeatureRow("GNNExplainer", [0.2, 0.4, 0.1], frozenset({1, 0})), FeatureRow("Gradient", [0, 0, 8], {2})]
    figure = figures.features(rows, ["degree", "<b>age</b>", "size"])
    heat, dots = figure.data
    assert [max(row) for row in heat.z] == [1, 1]
    assert list(heat.z[0]) == pytest.approx([0.5, 1, 0.25])
    assert list(zip(dots.x, dots.y, strict=True)) == [(0, "GNNExplainer"), (1, "GNNExplainer"), (2, "Gradient")]
    assert figure.layout.xaxis.ticktext == ("degree", "&lt;b&gt;age&lt;/b&gt;", "size")
    assert heat.customdata[0][1][0] == "&lt;b&gt;age&lt;/b&gt;"
    assert heat.customdata[1][2][1] == 8  # hovering shows the method's own number


def test_a_method_that_gives_no_feature_any_weight_divides_nothing_by_zero():
    heat = figures.features([FeatureRow("Gradient", [0.0, 0.0], frozenset())], ["a", "b"]).data[0]
    assert list(heat.z[0]) == [0, 0]


def test_the_curve_marks_the_chosen_size_and_the_whole_neighbourhood():
    figure = figures.over_size(TRUST.curve, 2, 0.92, "<i>Officer</i>", "whole graph")
    line, chosen = figure.data
    assert list(line.x) == [1, 2, 6]
    assert list(line.y) == pytest.approx([40, 70, 90])
    assert (chosen.x, chosen.y) == ((2,), (70,))
    assert figure.layout.shapes[0].y0 == pytest.approx(92)
    assert "<i>" not in line.hovertemplate
    assert (
        len(figures.over_size(TRUST.curve, 5, 0.92, "Officer", "whole graph").data) == 1
    )  # a size that is not on the curve


def test_classes_get_colours_of_their_own_and_leave_the_accent_alone():
    assert class_colours([False] * 7) == CLASSES[:7]
    assert len(set(class_colours([True, False, True, False]))) == 4
    assert WEIGHTS not in class_colours([True, False] * 8)
    assert len(class_colours([False] * 30)) == 30  # they come round again


def test_every_confidence_has_a_shade():
    assert len({shade(value) for value in (1.0, 0.95, 0.8, 0.6, 0.2, 0.0)}) == len(LEAST)
