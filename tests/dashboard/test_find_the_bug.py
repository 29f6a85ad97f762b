"""The page "Find the bug": four cards that do not tell, hints one by one, and the solution on demand."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import services
from dashboard.view import cases_text
from explainer_core.datasets.registry import planted_fault

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "find_the_bug.py"
CASES = list(services.cases())


def opened() -> AppTest:
    return run(AppTest.from_file(str(PAGE), default_timeout=120))


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    assert not app.error
    return app


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


def test_there_is_a_card_for_every_case_with_its_complaint():
    app = opened()
    assert [title.value for title in app.header] == ["Case 1", "Case 2", "Case 3", "Case 4"]
    for card in services.case_cards():
        assert cases_text.complaint(card) in said(app)
    assert set(cases_text.CASES) == set(CASES)


def test_nothing_gives_a_fault_away_before_somebody_asks():
    told = said(opened()).casefold()
    assert not [word for word in ("leak", "hub", "chance", "chlor", "planted", "word 31") if word in told]


def test_hints_come_one_by_one_and_stay():
    app, hints = opened(), cases_text.CASES["case_1"].hints
    for count in range(1, len(hints) + 1):
        app.button(key="hint case_1").click()
        run(app)
        assert [hint in said(app) for hint in hints] == [i < count for i in range(len(hints))]
    assert "hint case_1" not in [button.key for button in app.button]


@pytest.mark.parametrize("case", CASES)
def test_the_solution_names_what_was_planted(case):
    app, planted = opened(), planted_fault(case)
    app.button(key=f"solution {case}").click()
    run(app)
    names = {"feature": f"word {planted.key}", "neighbour": f"Node {planted.key}", "type": "(Cl)"}
    assert names.get(planted.kind, planted.key.replace("-", " to ")) in said(app)
    for heading in ("What was planted", "What shows it", "How to repair it"):
        assert heading in said(app)
    app.button(key=f"solution {case}").click()
    assert "What was planted" not in said(run(app))


def test_a_network_that_cannot_be_read_is_said_and_the_others_stand(monkeypatch):
    known = [card for card in services.case_cards() if card.dataset != "case_3"]
    monkeypatch.setattr(services, "case_cards", lambda: known)
    app = opened()
    assert "The network of Case 3 cannot be read" in app.warning[0].value
    assert [button.key for button in app.button if button.key.startswith("open")] == [
        f"open {case}" for case in CASES if case != "case_3"
    ]
