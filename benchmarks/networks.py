"""Networks for a benchmark: the shipped ones, the same trained anew on another graph, and the same untrained."""

from pathlib import Path

import platformdirs
import torch
from tqdm import tqdm

from explainer_core.cards import train_recipe
from explainer_core.models import GNN
from explainer_core.pretrained import PretrainedError, find_card, load_weights, save_pretrained
from explainer_core.recipes import RECIPES, Recipe
from explainer_core.training import freeze


def main_recipe(dataset: str) -> Recipe:
    return next(recipe for recipe in RECIPES.values() if recipe.dataset == dataset and recipe.main)


def trained(dataset: str, seed: int) -> GNN:
    """The data set's main network trained anew on the graph of this seed; kept, so that a second run does not train."""
    recipe, folder = main_recipe(dataset), _folder(seed)
    try:
        card = find_card(dataset, recipe.model, folder=folder)
        if (card.training, card.torch_version) == (recipe.config.to_dict(), torch.__version__) and _same_network(
            card, recipe
        ):
            return load_weights(card, folder=folder)
    except PretrainedError:
        pass  # not there yet, or of another version: trained below
    with tqdm(total=recipe.config.epochs, desc=f"training {dataset}, seed {seed}", leave=False) as bar:
        model, card = train_recipe(recipe, seed=seed, on_epoch=lambda *_: bar.update())
    save_pretrained(model, card, folder=folder)
    return model


def untrained(model: GNN, seed: int = 0) -> GNN:
    """The same network with random weights: a method that still finds the motif does not explain the model."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return freeze(GNN(model.spec))


def _same_network(card, recipe: Recipe) -> bool:
    return all(card.architecture.get(field) == value for field, value in recipe.network.items())


def _folder(seed: int) -> Path:
    return platformdirs.user_cache_path("graph-explainer", appauthor=False) / "benchmarks" / f"seed{seed}"
