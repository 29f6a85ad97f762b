"""Levels and figures of a verdict, worked out on paper."""

import pytest

from explainer_core.explanation.verdict import LEVELS, Judged, verdict_of


def judged(alone, without, *, keeps=True):
    return Judged(((0, 1),), alone, without, keeps, "mask")


def level(alone, without, *, full=0.8, empty=0.1, keeps=True, empty_keeps=False):
    return verdict_of(judged(alone, without, keeps=keeps), full=full, empty=empty, empty_keeps=empty_keeps).level


@pytest.mark.parametrize(
    ("alone", "keeps", "expected"),
    [
        (0.8, True, "carries it"),
        (0.95, True, "carries it"),  # more than the whole is still only all of it
        (0.9 * 0.8, True, "carries it"),
        (0.9 * 0.8 - 1e-9, True, "mostly"),
        (0.5 * 0.8, True, "mostly"),
        (0.5 * 0.8 - 1e-9, True, "not enough"),
        (0.0, True, "not enough"),
        (0.8, False, "not enough"),  # much of the probability, and yet another class has more
        (0.5, False, "not enough"),
    ],
)
def test_levels_at_their_borders(alone, keeps, expected):
    assert level(alone, 0.4, keeps=keeps) == expected


@pytest.mark.parametrize(
    ("empty", "without", "expected"),
    [
        (0.80, 0.8, "default class"),  # nothing says as much as everything, and nothing is lost without the part
        (0.72 + 1e-9, 0.8, "default class"),  # nine tenths of it
        (0.72 - 1e-9, 0.8, "carries it"),
        # alone 1 + lost 0.3 = 1.3, of which nine tenths are 1.17: more than the one that nothing can be at most
        (0.80, 0.5, "carries it"),
        # alone 1 + lost 1/9: at the border of what nothing reaches
        (0.80, 0.8 - 1 / 9 + 1e-9, "default class"),
        (0.80, 0.8 - 1 / 9 - 1e-9, "carries it"),
    ],
)
def test_a_class_is_a_default_one_where_nothing_is_nearly_as_good_as_the_part(empty, without, expected):
    assert level(0.8, without, empty=empty, empty_keeps=True) == expected


def test_nothing_must_keep_the_class_to_make_it_a_default_one():
    assert level(0.8, 0.8, empty=0.8, empty_keeps=False) == "carries it"


def test_a_part_that_carries_nothing_of_a_default_class_does_not_make_it_less_of_one():
    assert level(0.1, 0.8, empty=0.8, keeps=False, empty_keeps=True) == "default class"


def test_figures_on_paper():
    verdict = verdict_of(judged(0.6, 0.2), full=0.8, empty=0.1, empty_keeps=False)
    assert verdict.kept == verdict.sufficiency == pytest.approx(0.75)
    assert verdict.lost == pytest.approx(0.75)
    assert verdict.necessity == pytest.approx(0.6)
    assert (verdict.full, verdict.alone, verdict.without, verdict.empty) == (0.8, 0.6, 0.2, 0.1)
    assert (verdict.winner, verdict.keeps_class, verdict.agreement) == ("mask", True, None)


def test_what_gains_without_the_part_has_lost_nothing():
    verdict = verdict_of(judged(0.9, 0.95), full=0.8, empty=0.1, empty_keeps=False)
    assert (verdict.kept, verdict.lost) == (1.0, 0.0)
    assert verdict.necessity == pytest.approx(-0.15)


def test_agreement_never_changes_the_level():
    levels = {
        verdict_of(judged(0.8, 0.1), full=0.8, empty=0.1, empty_keeps=False, agreement=share).level
        for share in (None, 0.0, 0.5, 1.0)
    }
    assert levels == {"carries it"}


def test_a_class_that_is_never_predicted_divides_by_nothing():
    verdict = verdict_of(judged(0.0, 0.0, keeps=False), full=0.0, empty=0.0, empty_keeps=False)
    assert verdict.level == "not enough"
    assert (verdict.kept, verdict.lost) == (0.0, 0.0)


def test_the_score_is_sufficiency_and_necessity():
    """Of the predicted class all of its probability counts as one; of another class only certainty does."""
    assert judged(0.6, 0.2).score(full=0.8, ceiling=0.8) == pytest.approx(0.75 + 0.6)
    assert judged(0.9, 0.2).score(full=0.8, ceiling=0.8) == pytest.approx(1 + 0.6)
    assert judged(0.6, 0.1).score(full=0.3, ceiling=1.0) == pytest.approx(0.6 + 0.2)


def test_levels_have_no_doubles():
    assert len(set(LEVELS)) == 4
