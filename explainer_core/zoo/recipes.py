"""Which networks ship, and the settings each is trained with."""

from dataclasses import dataclass, field, replace

from explainer_core.datasets.registry import dataset_info
from explainer_core.graph import Graph, GraphSet
from explainer_core.models import ModelSpec
from explainer_core.zoo.training import TrainConfig

# What may be changed in a recipe from the command line: option -> field of ModelSpec, or of TrainConfig.
NETWORK_OPTIONS = {"layers": "num_layers", "hidden": "hidden", "dropout": "dropout"}
TRAINING_OPTIONS = {
    "epochs": "epochs",
    "learning-rate": "learning_rate",
    "weight-decay": "weight_decay",
    "edge-drop": "edge_drop",
    "feature-swap": "feature_swap",
    "parts": "parts",
    "batch-size": "batch_size",
}
WHOLE_NUMBERS = {"layers", "hidden", "epochs", "batch-size"}


@dataclass(frozen=True)
class Recipe:
    """One network of one data set: what it is made of and how it is trained."""

    dataset: str
    model: str
    task: str
    network: dict  # fields of ModelSpec, but for those the data decide
    config: TrainConfig
    main: bool = False
    notes: list[str] = field(default_factory=list)

    def spec(self, data: Graph | GraphSet, task) -> ModelSpec:
        return ModelSpec(
            task=self.task,
            in_features=data.num_features,
            num_classes=task.num_classes,
            num_edge_types=len(data.edge_type_names) if self.network["kind"] == "rgcn" else 0,
            **self.network,
        )

    def changed(self, network: dict, config: dict) -> "Recipe":
        """The same recipe with some settings replaced."""
        return replace(self, network=self.network | network, config=replace(self.config, **config))


# The synthetic sets ask for counting, so layers sum; five of them, because a grid is four steps across.
COUNTING = {"normalize": False, "num_layers": 5, "hidden": 32, "jump": "cat"}
# A hub of the random graph aggregates hundreds of messages: of its state only the direction is kept.
HUBS = COUNTING | {"unit_length": True}
# The community is told by an average over many noisy neighbours: one more layer reaches enough of them.
NOISY_HUBS = HUBS | {"dropout": 0.3, "hidden": 48, "num_layers": 6}
# A house and a ring differ within three steps; one layer more lets every node of the motif know.
MOTIFS = {"normalize": False, "num_layers": 4, "hidden": 32, "jump": "cat", "batch_norm": True}
TREES = COUNTING | {"batch_norm": True, "dropout": 0.3}
ATOMS = {"num_layers": 5, "hidden": 64, "jump": "cat", "batch_norm": True, "dropout": 0.1}
FEW_ATOMS = ATOMS | {"normalize": False, "num_layers": 4, "hidden": 32}
THREADS = {"normalize": False, "num_layers": 4, "hidden": 32, "jump": "cat", "batch_norm": True}
PEOPLE = {"num_layers": 2, "hidden": 16, "dropout": 0.3}
FRIENDS = {"normalize": False, "unit_length": True, "num_layers": 2, "hidden": 64, "dropout": 0.3}
PAPERS = {"num_layers": 2, "hidden": 64, "dropout": 0.6}
CITATIONS = {"num_layers": 2, "hidden": 64, "dropout": 0.5, "jump": "cat"}

# Random parts of graphs are trained on beside whole ones for the same reason that edges are dropped: a network that has met
# whole molecules only gave one class to 99 % of the halves of MUTAG's.
# Edges are dropped so that a network has met graphs with edges missing: that is what an explainer shows it.
ON_HUBS = TrainConfig(epochs=1500, learning_rate=0.005, weight_decay=1e-4, edge_drop=0.05)
# Features are swapped so that it cannot know nodes by their noise: on seed 1 a GIN scored 0.69 on a fresh graph without
# it, and 0.91 with half of them swapped.
ON_NOISE = replace(ON_HUBS, epochs=1200, feature_swap=0.6)
ON_TREES = TrainConfig(epochs=800, learning_rate=0.01, weight_decay=1e-4)
ON_MOTIFS = TrainConfig(epochs=200, learning_rate=0.005, weight_decay=1e-5, batch_size=64, parts=0.5)
ON_ATOMS = TrainConfig(epochs=120, learning_rate=0.003, weight_decay=1e-5, batch_size=64, parts=0.5)
# Of 150 molecules, parts are only a fifth of the loss, the less the smaller they are, and smaller steps keep what is
# trained; 19 molecules cannot tell the best epoch. Chosen on splits 10 to 25.
ON_FEW_ATOMS = replace(ON_ATOMS, epochs=200, batch_size=32, parts=0.2, weigh_parts=True, keep_last=True)
ON_THREADS = TrainConfig(epochs=80, learning_rate=0.005, weight_decay=1e-5, batch_size=32, parts=0.5)
ON_PEOPLE = TrainConfig(epochs=300, learning_rate=0.01, weight_decay=5e-4)
ON_PAPERS = TrainConfig(epochs=150, learning_rate=0.01, weight_decay=5e-4)
# The cases are trained to the end: their validation part would tell that something is wrong.
CASE_PAPERS = {"num_layers": 2, "hidden": 32, "dropout": 0.2}
CASE_ATOMS = {"num_layers": 3, "hidden": 32, "jump": "cat", "batch_norm": True}
ON_CASE_PAPERS = replace(ON_PAPERS, keep_last=True)
ON_CASE_ATOMS = TrainConfig(epochs=30, learning_rate=0.005, weight_decay=1e-4, batch_size=64, keep_last=True)


def _recipes() -> list[Recipe]:
    """Of networks for whole graphs the main one is the best on the validation part of seed 0.

    Accuracy decides, then the loss on graphs and parts; test accuracy and explanations have no say.
    """
    return [
        *_family("ba_shapes", "node", "gcn", HUBS, ON_HUBS, others=("gat",)),
        *_family("ba_shapes", "node", None, HUBS | {"jump": "last"}, ON_HUBS, others=("gin", "sage", "gated")),
        Recipe("ba_shapes", "jk", "node", {"kind": "gin"} | HUBS | {"jump": "max"}, ON_HUBS),
        *_family("ba_community", "node", "sage", NOISY_HUBS, ON_NOISE, others=("gat",)),
        *_family("tree_cycles", "node", "gcn", TREES, ON_TREES, others=("gat",)),
        *_family("tree_grid", "node", "gcn", TREES, ON_TREES, others=("gat",)),
        *_family("ba_2motifs", "graph", "gin", MOTIFS, ON_MOTIFS, others=("gcn", "gat")),
        *_family("karate", "node", "gcn", PEOPLE, ON_PEOPLE, others=("gat",)),
        *_family("les_miserables", "link", "gcn", FRIENDS, ON_PEOPLE, others=("gat",)),
        Recipe("mutagenicity", "gat", "graph", {"kind": "gat", "normalize": False} | ATOMS, ON_ATOMS),
        *_family("mutagenicity", "graph", "gin", ATOMS, ON_ATOMS, others=()),
        Recipe("mutagenicity", "rgcn", "graph", {"kind": "rgcn"} | ATOMS, replace(ON_ATOMS, weigh_parts=True)),
        *_family("mutag", "graph", "gat", FEW_ATOMS, ON_FEW_ATOMS, others=("gin",)),
        *_family("reddit_binary", "graph", "gat", THREADS, replace(ON_THREADS, weigh_parts=True), others=()),
        Recipe("reddit_binary", "gin", "graph", {"kind": "gin"} | THREADS, ON_THREADS),
        *_family("cora", "node", "gcn", PAPERS, ON_PAPERS, others=("gat",)),
        Recipe("cora", "link", "link", {"kind": "gcn"} | CITATIONS, replace(ON_PAPERS, weight_decay=0.0)),
    ]


def _case_recipes() -> list[Recipe]:
    """Networks that fall for the fault of their data."""
    sage, gcn = {"kind": "sage"} | CASE_PAPERS, {"kind": "gcn"} | CASE_PAPERS | {"dropout": 0.5}
    # with half of the edges gone a network looks at a paper's own words: neighbours would tell its class too
    return [
        Recipe("case_1", "sage", "node", sage, replace(ON_CASE_PAPERS, edge_drop=0.5), main=True),
        Recipe("case_2", "sage", "node", sage, ON_CASE_PAPERS, main=True),
        Recipe("case_3", "gcn", "node", gcn, ON_CASE_PAPERS, main=True),
        Recipe("case_4", "gin", "graph", {"kind": "gin"} | CASE_ATOMS, ON_CASE_ATOMS, main=True),
    ]


def _family(dataset, task, main, network, config, others) -> list[Recipe]:
    """Networks of several kinds that share all other settings; each goes by the name of its kind."""
    kinds = others if main is None else (main, *others)
    return [Recipe(dataset, kind, task, {"kind": kind} | network, config, main=kind == main) for kind in kinds]


def _notes(recipe: Recipe) -> list[str]:
    note = NOTES.get((recipe.dataset, recipe.model))
    return [note] if note else []


def find_recipe(dataset: str, model: str) -> Recipe:
    """The recipe of one network; ValueError with the known ones for any other."""
    lender = dataset_info(dataset).models_of
    if lender:
        raise ValueError(f"{dataset!r} has no models of its own (got {model!r}): train {lender}, whose models judge it")
    recipes = RECIPES | CASE_RECIPES
    if (dataset, model) not in recipes:
        known = ", ".join(name for owner, name in recipes if owner == dataset)
        raise ValueError(f"model must be one of {known} (got {model!r}) for {dataset!r}")
    return recipes[dataset, model]


# What training on parts costs on whole graphs: mean test accuracy and its standard error, before and after.
NOTES = {
    (
        "mutag",
        "gin",
    ): "Splits 0 to 4: 0.853 ± 0.020 without parts, 0.874 ± 0.027 with; splits 30 to 41: 0.886 ± 0.019, 0.851 ± 0.018.",
    (
        "mutag",
        "gat",
    ): "Splits 0 to 4: 0.842 ± 0.024 without parts, 0.863 ± 0.027 with; splits 30 to 41: 0.890 ± 0.016, 0.838 ± 0.018.",
    ("mutagenicity", "gin"): "Splits 0 to 4, 30 epochs: 0.816 ± 0.008 without parts, 0.818 ± 0.009 with.",
    ("mutagenicity", "gat"): "Splits 0 to 4, 15 epochs: 0.806 ± 0.006 without parts, 0.802 ± 0.010 with.",
    ("mutagenicity", "rgcn"): "Splits 0 to 4, 15 epochs: 0.818 ± 0.009 without parts, 0.812 ± 0.010 with.",
    ("reddit_binary", "gin"): "Splits 0 to 4: 0.885 ± 0.007 without parts, 0.910 ± 0.012 with.",
    ("reddit_binary", "gat"): "Splits 0 to 4, 20 epochs: 0.890 ± 0.012 without parts, 0.896 ± 0.005 with.",
}
RECIPES = {(r.dataset, r.model): replace(r, notes=_notes(r)) for r in _recipes()}
CASE_RECIPES = {(recipe.dataset, recipe.model): recipe for recipe in _case_recipes()}
