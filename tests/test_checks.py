"""Every rule for what comes from outside: what it lets through stays as it is, what it does not is said with the value."""

import re

import numpy as np
import pytest

from explainer_core import checks

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("check", "good", "bad", "rule"),
    [
        (lambda v: checks.one_of("shown", v, ("mask", "all")), "mask", "masks", "shown must be one of mask, all"),
        (lambda v: checks.index_in("node", v, 2000), "1999", "2000", "node must be 0 to 1,999"),
        (lambda v: checks.index_in("node", v, 2000), "0", "٣", "node must be 0 to 1,999"),
        (lambda v: checks.index_in("node", v, 2000), "7", "9" * 5000, "node must be 0 to 1,999"),
        (lambda v: checks.index_in("class", v, 3, ("true",)), "true", "-1", "class must be true or 0 to 2"),
        (lambda v: checks.whole_number("steps", v), 3, True, "steps must be a whole number from 0"),
        (lambda v: checks.whole_number("label", v, 4), 3, 4, "label must be a whole number from 0 to 3"),
        (lambda v: checks.index_of("node", v, 2000), np.int64(1999), 2000, "node must be 0 to 1999"),
        (lambda v: checks.index_of("node", v, 2000), 0, True, "node must be 0 to 1999"),
        (lambda v: checks.number("cost", v, 0.0), 0.5, NAN, "cost must be a number from 0 to 1e+100"),
        (lambda v: checks.number("cost", v, 0.5), 0.5, "1", "cost must be a number from 0.5 to 1e+100"),
        (lambda v: checks.setting("size", v, float, 0.0, 5.0), 5, INF, "size must be a number"),
        (lambda v: checks.setting("size", v, float, 0.0, 5.0), 0.0, 5.1, "size must be 0 to 5"),
        (lambda v: checks.setting("k_m", v, int, 1, 50, "auto"), "auto", "x", "k_m must be an int or 'auto'"),
        (lambda v: checks.setting("k_m", v, int, 1, 50, "auto"), 50, 0, "k_m must be 1 to 50 or 'auto'"),
        (lambda v: checks.setting("refine", v, bool), False, 0, "refine must be a bool"),
    ],
)
def test_a_rule_is_said_with_the_value_that_breaks_it(check, good, bad, rule):
    assert str(check(good)) == str(good)
    with pytest.raises(checks.InvalidValue, match=re.escape(f"{rule} (got {checks.shown(bad)})")) as caught:
        check(bad)
    assert (caught.value.rule, repr(caught.value.value)) == (rule, repr(bad))


def test_a_field_has_its_declared_type_and_a_share_is_one():
    for value, declared in ((1, float), (None, float | None), (["a"], list[str]), (True, bool), ({}, dict)):
        checks.typed("field", value, declared)
    for value, declared in ((True, int), ("1", float), ([1], list[str]), (None, str), (1.5, int | None)):
        with pytest.raises(checks.InvalidValue, match=re.escape(f"field must be {declared} (got {value!r})")):
            checks.typed("field", value, declared)
    checks.share("accuracy", 1)
    with pytest.raises(checks.InvalidValue, match=r"accuracy must be 0 to 1 \(got nan\)"):
        checks.share("accuracy", NAN)


def test_some_of_names_what_is_unknown():
    checks.some_of("methods", ["a", "none"], ("a", "b"), also=("none",))
    with pytest.raises(checks.InvalidValue, match=re.escape("methods must be some of a, b (got 'x,y')")):
        checks.some_of("methods", ["y", "a", "x"], ("a", "b"))


@pytest.mark.parametrize(
    ("value", "kind", "ndim"),
    [
        ([1, NAN], float, 1),
        ([[1], [2]], float, 1),
        (["a"], float, 1),
        ([{}], float, 1),
        ([True], float, 1),
        ([INF], float, 1),
        ([-1], np.int64, 1),
        ([1.5], np.int64, 1),
        ([0, 1], bool, 1),
    ],
)
def test_an_array_has_its_type_its_shape_and_finite_numbers(value, kind, ndim):
    with pytest.raises(ValueError, match="edges must be"):
        checks.array("edges", value, kind, ndim)


def test_good_arrays_come_through():
    assert checks.array("nodes", [3, 4], np.int64, 1).dtype == np.int64
    assert checks.array("absent", [True, False], bool, 1).tolist() == [True, False]
    assert checks.array("masks", [[1, 0.5]], float, 2).shape == (1, 2)
    assert checks.floats("probabilities", [0, 1]) == (0.0, 1.0)
    checks.shares("verdict", [0.0, 1.0])
    with pytest.raises(ValueError, match="verdict must hold probabilities from 0 to 1"):
        checks.shares("verdict", [1.1])
    with pytest.raises(ValueError, match="it must have two rows"):
        checks.all_hold({"one row": True, "two rows": False})


def test_numbers_of_an_array_lie_between_two_ends():
    checks.all_between("labels must be 0 to 3", np.array([0, 3]), 0, 3)
    checks.all_between("labels must be 0 to 3", np.array([], int), 0, 3)
    checks.all_between("motifs must be from -1", np.array([-1, 10**6]), -1)
    for wrong in (4, -1):
        sentence = f"labels must be 0 to 3 (got {wrong}); renumber them"
        with pytest.raises(checks.InvalidValue, match=re.escape(sentence)):
            checks.all_between("labels must be 0 to 3", np.array([0, wrong, 2]), 0, 3, "renumber them")


def test_there_is_one_for_each_and_an_array_is_told_by_type_and_shape():
    checks.one_for_each("names", ("a", "b"), 2, "name", "node")
    with pytest.raises(checks.InvalidValue, match=re.escape("names must have one name for each node, 3 (got 2)")):
        checks.one_for_each("names", ("a", "b"), 3, "name", "node")
    with pytest.raises(checks.InvalidValue, match=re.escape("x must be numbers in 1 dimensions (got float64 (1, 2))")):
        checks.array("x", [[1.0, 2.0]], float, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("masks", "'masks'"),
        (-3, "-3"),
        (np.zeros((3, 4)), "ndarray float64 (3, 4)"),
        (np.int64(7), "np.int64(7)"),
        ([1, 2, 3], "[1, 2, 3]"),
        ("a\nb", r"'a\nb'"),
    ],
)
def test_a_value_is_shown_as_it_is_written_or_in_brief(value, text):
    assert checks.shown(value) == text


def test_a_number_that_python_does_not_write_is_shown_by_its_size():
    assert checks.shown(2**16_609) == "a number of 16,610 bits"


@pytest.mark.parametrize(
    "value", ["x" * 10_000, [[["x" * 100] * 100] * 100], {i: "y" * 50 for i in range(99)}, range(10**9)]
)
def test_a_long_value_is_cut(value):
    assert len(checks.shown(value)) <= 120


def test_an_object_that_cannot_be_written_is_named_by_its_kind():
    class Mute:
        def __repr__(self):
            raise RuntimeError

    assert "Mute" in checks.shown(Mute())
