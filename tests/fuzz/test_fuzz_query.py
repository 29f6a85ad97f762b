"""Query parameters from anywhere: every page load makes a request of them that can be asked, and says what it left out."""

from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
import streamlit
from bounds import LONGEST, examples, in_time, little_memory, outcome
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from dashboard import services, state
from dashboard.services import ExplainConfig
from dashboard.state import filters, names
from dashboard.view.plain_text import sentence

pytestmark = pytest.mark.long
SCREENS = Path(__file__).resolve().parents[2] / "dashboard" / "screens"
HERE = [name for name, info in services.datasets().items() if info.archive is None]
CARDS = {name: [card for card in services.all_cards() if card.dataset == name] for name in HERE}
SETTINGS = tuple(ExplainConfig().to_dict())
NAMES = (
    *("dataset", "model", "node", "graph", "source", "head", "smiles", "class", "label", "instances", "shown"),
    *("methods", "colour", "view", "layout", "everything", *SETTINGS, "utm_source", "__proto__", ""),
)
# All that a page may read, so that what comes later is tried too.
EVERY_NAME = sorted(
    {*NAMES, *filters.FILTER, filters.PICK_SPLIT, names.SECOND, *names.OF_TARGET, *names.OF_MISTAKES, "page"}
)
ODD = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "00",
        "+1",
        "1.5",
        "1e9",
        "1_000",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "True",
        "False",
        "None",
    ),
    *("true", "auto", "none", "predicted", "distribution", "é", "①", "١", "99999999999", "9" * 5000, "x" * 20_000),
    *("<img src=x onerror=alert(1)>", "../../etc/passwd", "\x00", "\r\n", "\ud800", "%00", "' OR 1=1", "**bold**"),
    *("cut-0-1", "cut-32-33_hide--3", "type-1-2", "add-0-9", "cut-0-1_" * 60, "cut-0-1~none~~", "_", "-", "cut-x-1"),
    *("0,1", "1,1", "9,9", "5,2", "0,100", "-1,3", "3", "any", "all", "test", "right", "wrong", "inside", "nodes"),
    *("C" * 400, "c1ccccc1", "C(" * 150, "gcn,gat", ",", ",,,", "paper,occlusion", "verified", "mask", "0" * 400 + "1"),
)
KNOWN = (
    *(name for name in services.datasets()),
    *("gcn", "gat", "gin", "nodes", "edges", "after", "joint", "embedding", "gallery", "confidence", "whole data set"),
)
VALUES = st.one_of(
    st.sampled_from(ODD),
    st.sampled_from(KNOWN),
    st.integers(-5, 2000).map(str),
    st.floats().map(str),
    st.text(max_size=30),
)
QUERIES = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), VALUES, max_size=12)


class Address(dict):
    """Query parameters as Streamlit has them: text to text."""

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, values: dict[str, str]) -> None:
        self.clear()
        self.update({name: str(value) for name, value in values.items()})


@pytest.fixture
def visit(monkeypatch) -> Address:
    """A visitor's address, in place of Streamlit's."""
    address, session = Address(), {}
    monkeypatch.setattr(streamlit, "query_params", address)
    monkeypatch.setattr(streamlit, "session_state", session)
    monkeypatch.setattr(streamlit, "context", SimpleNamespace(url="http://localhost:8501/", cookies={}))
    return address


def read(page: str, complaints: list[str]) -> state.Choice:
    """What the Explain page and the Prototypes page make of an address, in their order."""
    state.enter(page)
    complain = complaints.append
    missing = state.dataset_from_query(list(services.datasets()))
    if missing is not None:
        complain(f"there is no data set called “{missing[:40]}” here")
    dataset = streamlit.session_state[state.DATASET]
    dataset = dataset if dataset in HERE else HERE[0]
    card = state.model_from_query(CARDS[dataset], complain)
    kind, target = state.target_from_query(card, services.num_targets(dataset, card.model), complain)
    if isinstance(target, str) and (problem := services.problem_with(target)):
        complain(problem)
        kind, target = state.usual_target(card)
    names = services.class_names(dataset, card.task)
    state.label_from_query(dataset, names, complain)
    assert 1 <= state.instances_from_query(dataset, complain) <= state.MOST_INSTANCES
    target_class = state.class_from_query(names, complain)
    config = state.config_from_query(dataset, complain)
    method = state.method_from_query(complain)
    request = services.Request(dataset, card.model, kind, target, target_class, config, method)
    possible = services.methods_for(request)
    beside = services.beside_main(possible, method)
    return state.Choice(
        request=request,
        methods=state.methods_from_query(possible, beside, services.shown_first(request), complain),
        colour=state.one_of(state.COLOUR, tuple(services.COLOURS), "predicted", complain),
        view=state.one_of(state.VIEW, state.VIEWS, state.VIEWS[0], complain),
        layout=state.one_of(state.LAYOUT, state.LAYOUTS, state.LAYOUTS[0], complain),
        everything=state.query_param(state.EVERYTHING) == "True",
        second=state.one_of(
            state.SECOND,
            (state.NO_SECOND, *(each.model for each in services.other_networks(card))),
            state.NO_SECOND,
            complain,
        ),
    )


def test_every_address_is_a_request_and_its_link_the_same_request(share, visit):
    @examples(share(10_000))
    @given(QUERIES)
    def holds(query):
        visit.from_dict(query)
        complaints: list[str] = []
        choice, error = outcome(read, "explain", complaints)
        assert error is None
        assert all(0 < len(sentence(each).replace("\\", "")) <= LONGEST for each in complaints)
        link, error = outcome(state.link, choice)
        assert error is None
        visit.from_dict(dict(parse_qsl(urlsplit(link).query, keep_blank_values=True)))
        again: list[str] = []
        assert read("explain", again) == choice
        assert again == []

    with little_memory():
        holds()


def test_what_an_address_asks_for_can_be_drawn(share, visit):
    """The prediction, its computation graph and the drawing, which every page load works out."""

    @examples(share(1_000))
    @given(QUERIES)
    def holds(query):
        visit.from_dict(query)
        choice = read("explain", [])
        question, error = outcome(services.ask, choice.request, choice.colour, everything=choice.everything)
        assert error is None or choice.request.target_class == "true"
        assert question is None or abs(sum(question.facts.probabilities) - 1) < 1e-4

    with little_memory():
        holds()


def as_sent(text: str) -> str:
    """As it arrives: a browser's address is UTF-8, so half a character comes as a replacement mark."""
    return text.encode("utf-8", "replace").decode()


CHEAP = {"steps": "1", "seeds": "1", "max_edges": "200", "instances": "1", "methods": "none", "refine": "False"}


@pytest.mark.parametrize("page", sorted(path.stem for path in SCREENS.glob("*.py")))
def test_a_page_opens_at_any_address(share, page):
    """In Streamlit itself, with settings that cost little; what costs much is for the limits of a run."""
    services.connect(state.visitor, state.pulse, state.token)  # as the entry does
    queries = st.dictionaries(
        st.sampled_from([name for name in EVERY_NAME if name not in CHEAP and name]),
        VALUES.filter(lambda text: len(text) < 600).map(as_sent),
    )

    @examples(share(40))
    @given(queries)
    def holds(query):
        app = AppTest.from_file(str(SCREENS / f"{page}.py"), default_timeout=60)
        dataset = query.get("dataset")
        here = {} if dataset not in services.datasets() or dataset in HERE else {"dataset": HERE[-1]}
        app.query_params.update({**query, **CHEAP, **here})
        with in_time():
            app.run()
        assert not app.exception
        assert all(len(alert.value.replace("\\", "")) <= LONGEST for alert in (*app.error, *app.warning))

    holds()
