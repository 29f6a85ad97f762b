"""Networks for a benchmark: the shipped ones, the same trained anew or untrained, and those of rule-labelled molecules."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import platformdirs
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm

from benchmarks.rule_molecules import Rule
from explainer_core.graph import GraphSet
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.cards import train_recipe
from explainer_core.zoo.pretrained import PretrainedError, find_card, load_weights, save_pretrained
from explainer_core.zoo.recipes import RECIPES, Recipe
from explainer_core.zoo.tasks import GraphTask
from explainer_core.zoo.training import Epoch, TrainConfig, freeze, train

CPU = torch.device("cpu")
# As the shipped networks of Mutagenicity; attention by sigmoid, since a softmax cannot count.
RULE_NETWORK = {"num_layers": 5, "hidden": 64, "jump": "cat", "batch_norm": True, "dropout": 0.1, "normalize": False}
RULE_TRAINING = TrainConfig(epochs=50, learning_rate=0.003, weight_decay=1e-5, batch_size=64)
RULE_KINDS = ("gin", "gat")


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
        model, card = train_recipe(recipe, seed=seed, on_epoch=_counting(bar))
    save_pretrained(model, card, folder=folder)
    return model


def _counting(bar: tqdm) -> Callable[[Epoch], None]:
    """tqdm's own answer is True now and then, which would end the training."""

    def on_epoch(_: Epoch) -> None:
        bar.update()

    return on_epoch


def trained_on_rule(rule: Rule, molecules: GraphSet, kind: str, seed: int = 0) -> tuple[GNN, GraphTask]:
    """A network of this kind for a rule's molecules, kept for the next run, and its task with the split."""
    spec = ModelSpec(kind, "graph", molecules.num_features, molecules.num_classes, **RULE_NETWORK)
    task = GraphTask(molecules, seed, CPU)
    path = _rule_folder() / f"{rule.name}_{kind}_{_fingerprint(rule, molecules, spec, seed)}.safetensors"
    if path.is_file():
        model = GNN(spec)
        model.load_state_dict(load_file(path))
        return freeze(model), task
    with tqdm(total=RULE_TRAINING.epochs, desc=f"training {rule.name}, {kind}", leave=False) as bar:
        model = train(spec, task, RULE_TRAINING, seed=seed, on_epoch=_counting(bar)).model
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), path)
    return model, task


def _fingerprint(rule: Rule, molecules: GraphSet, spec: ModelSpec, seed: int) -> str:
    """Other molecules, another network or another training is another file."""
    made_of = [repr(rule), molecules.graph_names, spec.to_dict(), RULE_TRAINING.to_dict(), seed, torch.__version__]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]


def untrained(model: GNN, seed: int = 0) -> GNN:
    """The same network with random weights: a method that still finds the motif does not explain the model."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return freeze(GNN(model.spec))


def _same_network(card, recipe: Recipe) -> bool:
    return all(card.architecture.get(field) == value for field, value in recipe.network.items())


def _folder(seed: int) -> Path:
    return _cache() / f"seed{seed}"


def _rule_folder() -> Path:
    return _cache() / "rules"


def _cache() -> Path:
    return platformdirs.user_cache_path("graph-explainer", appauthor=False) / "benchmarks"


class SlowGNN:
    """A network of the zoo with nothing but what the protocol demands: no prefixes, CSR or manual backward."""

    def __init__(self, gnn: GNN):
        self.gnn, self.task, self.num_classes, self.hops = gnn, gnn.task, gnn.num_classes, gnn.hops

    def logits(self, batch, edge_weight=None, x=None):
        settings = {"edge_type": batch.edge_types, "degree": batch.degree}
        z = self.gnn.embed(batch.x if x is None else x, batch.edge_index, edge_weight, **settings)
        return self.gnn.head(z[batch.targets])
