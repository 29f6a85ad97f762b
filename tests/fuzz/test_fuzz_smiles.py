"""Molecules as people mistype them: read into a graph, or refused with a sentence of ours."""

import pytest
import torch
from bounds import LONGEST, examples, little_memory, outcome
from hypothesis import given
from hypothesis import strategies as st

import explainer_core as xc
from dashboard import services
from explainer_core.datasets.molecules import COMPOUNDS, MAX_ATOMS

pytestmark = pytest.mark.long
KNOWN = [compound.smiles for compound in COMPOUNDS]
TOKENS = (
    *(
        "C",
        "c",
        "N",
        "n",
        "O",
        "o",
        "S",
        "s",
        "P",
        "F",
        "Cl",
        "Br",
        "I",
        "B",
        "H",
        "[Na+]",
        "[K+]",
        "[Ca+2]",
        "[Fe]",
        "*",
    ),
    *(
        "[nH]",
        "[N+]",
        "[O-]",
        "[C@@H]",
        "[13C]",
        "[H]",
        "[H+]",
        "[2H]",
        "[CH5]",
        "[C-4]",
        "[S+6]",
        "[Li]",
        "[*:1]",
        "[C:999]",
    ),
    *(
        "=",
        "#",
        "$",
        ":",
        "-",
        "/",
        "\\",
        ".",
        "(",
        ")",
        "[",
        "]",
        "1",
        "2",
        "9",
        "%10",
        "%99",
        "%(100)",
        "@",
        "+",
        "~",
        ">",
        ">>",
    ),
)


@st.composite
def edited(draw) -> str:
    """A known compound with letters lost, doubled, moved or exchanged."""
    text = draw(st.sampled_from(KNOWN))
    for _ in range(draw(st.integers(1, 5))):
        at, to = (draw(st.integers(0, max(len(text), 1))) for _ in range(2))
        start, end = sorted((at, to))
        text = draw(
            st.sampled_from(
                [
                    text[:start] + text[end:],
                    text[:end] + text[start:end] + text[end:],
                    text[:at] + draw(st.sampled_from(TOKENS)) + text[at:],
                    text[:at] + draw(st.sampled_from(TOKENS)) + text[at + 1 :],
                    text + "." + draw(st.sampled_from(KNOWN)),
                ]
            )
        )
    return text


WRITTEN = st.one_of(
    edited(),
    edited(),
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=60).map("".join),
    st.text(max_size=80),
    st.text(alphabet="()[]%123CNO=#.", max_size=320),
    st.builds(lambda token, times: token * times, st.sampled_from(TOKENS), st.integers(1, 400)),
)


def test_typed_molecules(share):
    @examples(share(5_000))
    @given(WRITTEN)
    def holds(text):
        graph, error = outcome(xc.molecule_from_smiles, text)
        problem, none = outcome(services.problem_with, text)
        assert none is None
        assert (problem == "") == (error is None)
        assert len(problem) <= LONGEST
        if graph is not None:
            assert 1 <= graph.num_nodes <= MAX_ATOMS
            assert torch.equal(graph.x.sum(1), torch.ones(graph.num_nodes))  # every atom is one the networks know
            assert graph.is_undirected

    with little_memory():
        holds()


def test_typed_molecules_are_explained(share):
    """Whatever can be read can be judged and drawn, as the page does it."""

    @examples(share(500))
    @given(edited())
    def holds(text):
        if services.problem_with(text):
            return
        request = services.Request("molecules", "gin", "smiles", text, config=services.ExplainConfig(steps=1))
        question, error = outcome(services.ask, request)
        assert error is None
        assert sum(question.facts.probabilities) == pytest.approx(1, abs=1e-4)
        assert len(question.drawing.picture.x) >= 1

    with little_memory():
        holds()
