"""Each planted fault is found: the first pattern among the mistakes of the network that ships names it."""

import pytest
import torch

import explainer_core as xc
from benchmarks.planted import names_fault, sound_data, systematic_of, trained_on
from explainer_core.datasets.registry import CASES, planted_fault
from explainer_core.zoo.cards import measured_accuracy
from explainer_core.zoo.pretrained import find_card
from explainer_core.zoo.recipes import CASE_RECIPES
from explainer_core.zoo.tasks import make_task
from explainer_core.zoo.training import TrainConfig

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=CASES)
def case(request):
    planted, card = planted_fault(request.param), find_card(request.param)
    model = xc.load_pretrained(request.param, device=CPU)
    split = make_task(planted.data, card.task, 0, CPU).split
    return planted, card, systematic_of(model, planted.data, split)


def test_the_fault_tops_the_first_pattern(case):
    planted, _, found = case
    assert names_fault(found.patterns[0], planted)


def test_the_first_pattern_is_the_largest(case):
    _, _, found = case
    assert len(found.patterns[0].mistakes) == max(len(pattern.mistakes) for pattern in found.patterns)


def test_counts_add_up(case):
    _, card, found = case
    wrong = min(200, round((1 - card.test_accuracy) * card.split["test"]))
    assert sum(len(group.mistakes) for group in found.by_cause) == wrong
    for pattern in found.patterns:
        assert pattern.num_mistakes == pattern.num_right == wrong
        assert len(pattern.mistakes) <= wrong
        assert pattern.p_value <= 0.05


def test_a_network_with_a_fault_does_better_in_training(case):
    _, card, _ = case
    if card.dataset != "case_3":  # whose fault is in all parts alike
        assert card.train_accuracy > card.test_accuracy + 0.15


def test_the_network_that_ships_does_as_its_card_says(case):
    _, card, _ = case
    model = xc.load_pretrained(card.dataset, device=CPU)
    assert measured_accuracy(card, model) == pytest.approx(card.test_accuracy, abs=5e-5)


def test_cards_do_not_give_the_fault_away(case):
    _, card, _ = case
    told = str(card.to_dict()).casefold()
    assert not [word for word in ("leak", "hub", "shuffl", "chlor", "fault", "planted") if word in told]


def test_the_recipes_are_those_of_the_cards():
    for (dataset, model), recipe in CASE_RECIPES.items():
        card = find_card(dataset, model)
        assert TrainConfig(**card.training) == recipe.config
        assert card.command == f"python -m explainer_core train {dataset} {model} --seed 0"


def test_the_same_data_without_the_fault_show_no_pattern():
    recipe = CASE_RECIPES["case_2", "sage"]
    data = sound_data(recipe, 0)
    model, split, accuracy = trained_on(data, recipe, 0)
    assert accuracy["test"] > 0.9
    assert systematic_of(model, data, split).patterns == ()
