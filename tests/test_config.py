"""Every knob is in its range or says so: the rule, the value, and nothing else gets in."""

import dataclasses

import pytest

from explainer_core.config import ExplainConfig

KNOBS = {knob.name: knob for knob in dataclasses.fields(ExplainConfig)}
NUMBERS = [name for name, knob in KNOBS.items() if knob.metadata["low"] is not None]
WHOLE = [name for name in NUMBERS if type(KNOBS[name].default) is int]
AUTO = [name for name in NUMBERS if KNOBS[name].metadata["auto"]]
REAL = [name for name in NUMBERS if type(KNOBS[name].default) is float]
CHOICES = [name for name, knob in KNOBS.items() if knob.metadata["choices"]]
FLAGS = [name for name, knob in KNOBS.items() if type(knob.default) is bool]


def limits(name):
    return KNOBS[name].metadata["low"], KNOBS[name].metadata["high"]


def with_knob(name, value):
    return ExplainConfig(**{name: value})


def test_every_knob_is_a_number_a_choice_or_a_flag_and_has_help():
    assert sorted(NUMBERS + CHOICES + FLAGS) == sorted(KNOBS)
    for knob in KNOBS.values():
        assert knob.metadata["help"].strip()


@pytest.mark.parametrize("name", KNOBS)
def test_defaults_are_in_range(name):
    rule, default = KNOBS[name].metadata, KNOBS[name].default
    if name in NUMBERS and default != "auto":
        assert rule["low"] <= default <= rule["high"]
    if name in CHOICES:
        assert default in rule["choices"]
    assert getattr(ExplainConfig(), name) == default


@pytest.mark.parametrize("name", NUMBERS)
def test_both_ends_of_a_range_are_allowed(name):
    low, high = limits(name)
    assert getattr(with_knob(name, low), name) == low
    assert getattr(with_knob(name, high), name) == high


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("side", [0, 1], ids=["below", "above"])
def test_a_number_outside_its_range_is_refused(name, side):
    value = limits(name)[side] + (-1, 1)[side]
    with pytest.raises(ValueError, match=rf"^{name} must be .+ to .+ \(got .+\)$"):
        with_knob(name, value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k_m": 0}, r"^k_m must be 1 to 50 or 'auto' \(got 0\)$"),
        ({"k_f": 51}, r"k_f must be 1 to 50 \(got 51\)"),
        ({"entropy": -0.5}, r"entropy must be 0 to 5 \(got -0.5\)"),
        ({"steps": 2001}, r"steps must be 1 to 2,?000 \(got 2001\)"),
        ({"seed": -1}, r"seed must be 0 to 2,?147,?483,?647 \(got -1\)"),
        ({"max_edges": 0}, r"max_edges must be 1 to 10,?000,?000 \(got 0\)"),
        ({"max_edges": 12345678}, r"\(got 12,?345,?678\)"),
        ({"k_m": True}, r"^k_m must be an int or 'auto' \(got True\)$"),
        ({"k_m": "automatic"}, r"^k_m must be an int or 'auto' \(got 'automatic'\)$"),
        ({"k_f": "auto"}, r"^k_f must be an int \(got 'auto'\)$"),
        ({"steps": "auto"}, r"^steps must be an int \(got 'auto'\)$"),
        ({"features": "before"}, r"features must be one of after, joint, none \(got 'before'\)"),
        ({"k_m": 6.0}, r"\(got 6.0\)"),
        ({"size": "0.3"}, r"size must be a number \(got '0.3'\)"),
        ({"connected": 1}, r"connected must be a bool \(got 1\)"),
        ({"direction": "both"}, r"direction must be one of directed, symmetric \(got 'both'\)"),
    ],
)
def test_an_error_gives_the_rule_and_the_value(changes, message):
    with pytest.raises(ValueError, match=message):
        ExplainConfig(**changes)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [True, None, "1", [1], float("nan"), float("inf"), -float("inf"), 1j])
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be a"):
        with_knob(name, value)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_number_has_no_fraction(name):
    with pytest.raises(ValueError, match=rf"^{name} must be an? int"):
        ExplainConfig(**{name: float(KNOBS[name].default)})


@pytest.mark.parametrize("name", REAL)
def test_a_whole_number_will_do_where_a_fraction_may_stand(name):
    assert getattr(with_knob(name, 1), name) == 1


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["up", "down"])
def test_a_number_too_large_for_a_float_is_refused_like_any_other(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        with_knob(name, value)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["", "other", None, 1, True, ["zero"]])
def test_an_unknown_choice_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be one of .+ \(got "):
        ExplainConfig(**{name: value})


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [0, 1, None, "yes", 1.0])
def test_a_flag_is_true_or_false(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be a bool \(got "):
        ExplainConfig(**{name: value})


def test_a_mistyped_knob_is_refused():
    with pytest.raises(TypeError, match="edge_size"):
        ExplainConfig(edge_size=0.1)
    with pytest.raises(TypeError):
        ExplainConfig(6)


def test_a_config_never_changes():
    config = ExplainConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.k_m = 7


def test_no_size_weight_at_all_is_allowed():
    assert ExplainConfig(size=0.0).size == 0


def test_the_dictionary_of_a_config_makes_it_again():
    config = ExplainConfig(k_m=9, feature_fill="zero", seeds=3)
    assert ExplainConfig(**config.to_dict()) == config
    assert hash(ExplainConfig(**config.to_dict())) == hash(config)


def test_only_k_m_may_be_auto_and_is_unless_told():
    assert AUTO == ["k_m"]
    assert ExplainConfig().k_m == ExplainConfig(k_m="auto").k_m == "auto"
    assert [ExplainConfig(k_m=k_m).k_m for k_m in (1, 50)] == [1, 50]


def test_the_paper_s_settings_are_the_published_ones():
    """Appendix of Ying et al. 2019: size 0.005, Laplacian 0.5, features 0.1; both masks at once, by sufficiency alone."""
    paper = ExplainConfig.paper()
    assert (paper.size, paper.laplacian, paper.feat_size, paper.entropy) == (0.005, 0.5, 0.1, 1.0)
    assert (paper.necessity, paper.features, paper.refine, paper.size_start) == (0.0, "joint", False, 0.0)
    assert (paper.direction, paper.feature_fill, paper.temperature, paper.k_m) == ("symmetric", "marginal", 1.0, 6)


def test_the_paper_s_settings_may_be_changed_one_by_one():
    assert ExplainConfig.paper(k_m=9) == dataclasses.replace(ExplainConfig.paper(), k_m=9)
    assert ExplainConfig.paper(k_m="auto").k_m == "auto"
    with pytest.raises(ValueError, match="size must be 0 to 5"):
        ExplainConfig.paper(size=-1.0)
    with pytest.raises(TypeError, match="surprise"):
        ExplainConfig.paper(surprise=1)
