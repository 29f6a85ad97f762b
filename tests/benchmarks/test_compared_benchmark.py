"""What goes to the cards is what the page shows: the means of its own figures over the same targets."""

import numpy as np
import pytest

import explainer_core as xc
from benchmarks.compared import compared
from dashboard import services, state
from dashboard.schema import Request
from explainer_core.datasets.molecules import NOT_IN_MUTAGENICITY
from explainer_core.zoo.pretrained import find_card

COUNT = 3
METHODS = ("paper", "gradient", "attention", "occlusion", "random")


def targets_of(card: xc.Card) -> list:
    """The random targets that are drawn, by the part of the data set they are drawn from."""
    if card.dataset == "karate":
        everyone = list(range(34))
    else:
        names = xc.load_dataset(card.dataset).graph_names
        everyone = [i for i, name in enumerate(names) if name in NOT_IN_MUTAGENICITY]
    return [everyone[i] for i in sorted(np.random.default_rng(0).permutation(len(everyone))[:COUNT].tolist())]


@pytest.mark.parametrize(("dataset", "model", "kind"), [("karate", "gcn", "node"), ("molecules", "gin", "graph")])
def test_the_figures_of_a_card_are_means_of_what_the_page_shows(dataset, model, kind):
    card = find_card(dataset, model)
    found = compared(card, COUNT)
    shown = []
    for target in targets_of(card):
        request = Request(dataset, model, kind, target, config=state.default_config(dataset))
        answer = services.explain(services.ask(request))
        shown.append({each.method: each.scores for _, each in services.compare(answer, METHODS).ranked})
    assert found.targets == COUNT
    for method in ("verified", *METHODS):
        page = [each[method] for each in shown]
        figures = found.methods[method]
        assert figures.alone == pytest.approx(np.mean([each.judged.kept for each in page]), abs=2e-3)
        assert figures.without == pytest.approx(np.mean([each.judged.without for each in page]), abs=2e-3)
        assert figures.score == pytest.approx(np.mean([each.score for each in page]), abs=2e-3)
        assert figures.keeps == pytest.approx(np.mean([each.judged.keeps_class for each in page]), abs=1e-3)


def test_a_target_does_not_lend_its_search_to_another_method():
    """Attention of another network is laid on the same edges, and on nothing else of the explanation that is shown."""
    figures = compared(find_card("karate", "gcn"), 10).methods
    assert figures["attention"] != figures["verified"]
