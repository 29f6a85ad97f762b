"""The words beside a picture: one table, which every place that uses them reads."""

import ast
from pathlib import Path

import pytest

from dashboard.schema import ExplainConfig
from dashboard.view.definitions import DEFINITIONS, OF_SETTING, in_markdown, used_in
from dashboard.view.picture import Panel, Picture
from dashboard.view.standalone import html
from explainer_core.explanation.metrics import Faithfulness
from explainer_core.explanation.verdict import CARRIES, Verdict

ROOT = Path(__file__).resolve().parents[2]
TERMS = {"G_S", "K_M", "K_F", "sufficiency", "necessity", "fidelity+", "fidelity−", "sparsity", "edge AUC", "starts"}
DOT = Picture((0,), (0.0,), (0.0,), ("#E69F00",), ("",), ("",), ())


def test_every_word_has_one_sentence_and_a_formula():
    assert set(DEFINITIONS) == TERMS
    for term, (sentence, formula) in DEFINITIONS.items():
        assert sentence.endswith("."), term
        assert ". " not in sentence, term
        assert formula
        assert "`" not in formula  # it stands between such marks
        assert sentence.replace("“", "")[:8] in in_markdown(term).replace("“", "")


def test_the_formulas_are_what_the_core_computes():
    judged = Faithfulness(full=0.9, kept=0.6, without=0.2, keeps_class=True, sparsity=0.75)
    known = {"P(y | G)": 0.9, "P(y | G_S)": 0.6, "P(y | G without G_S)": 0.2}

    def value(term: str) -> float:
        formula = DEFINITIONS[term].formula.replace("−", "-")
        for name in sorted(known, key=len, reverse=True):
            formula = formula.replace(name, str(known[name]))
        return _computed(ast.parse(formula, mode="eval").body)

    verdict = Verdict(CARRIES, 0.9, 0.6, 0.2, 0.1, True, "mask")
    assert value("fidelity+") == pytest.approx(judged.fidelity_plus)
    assert value("fidelity−") == pytest.approx(judged.fidelity_minus)
    assert value("sufficiency") == pytest.approx(verdict.sufficiency)
    assert value("necessity") == pytest.approx(verdict.necessity)


def _computed(node: ast.expr) -> float:
    """Numbers, differences, quotients and min: what the formulas are made of."""
    match node:
        case ast.Constant(value=float() | int() as number):
            return number
        case ast.BinOp(left, ast.Sub(), right):
            return _computed(left) - _computed(right)
        case ast.BinOp(left, ast.Div(), right):
            return _computed(left) / _computed(right)
        case ast.Call(ast.Name("min"), arguments):
            return min(map(_computed, arguments))
    raise AssertionError(ast.dump(node))


def test_settings_point_at_words_and_are_settings():
    assert set(OF_SETTING) <= set(ExplainConfig().to_dict())
    assert set(OF_SETTING.values()) <= TERMS


def test_a_definition_is_written_once():
    """In no other file of the page."""
    for path in (ROOT / "dashboard").rglob("*"):
        if path.suffix in (".py", ".js", ".css") and path.name != "definitions.js":
            text = path.read_text(encoding="utf-8")
            assert not [term for term, told in DEFINITIONS.items() if told.sentence in text], path


def test_a_page_that_stands_alone_explains_the_words_it_uses_and_no_others():
    assert set(used_in(["fidelity+ 0.9 · sparsity 80 %"])) == {"fidelity+", "sparsity"}
    page = html("T", ["9 other starts agree."], DOT, [Panel("p", "P", ("sparsity 80 %",))])
    assert DEFINITIONS["sparsity"].sentence in page
    assert DEFINITIONS["starts"].sentence in page
    assert DEFINITIONS["edge AUC"].sentence not in page
    assert "<h2>Words</h2>" not in html("T", [], DOT, [Panel("p", "P")])
