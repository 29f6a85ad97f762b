"""What tasks, networks and cards are called in words a student knows; every text comes out free of markup."""

from collections.abc import Sequence

from dashboard.schema import Card

TASKS = {
    "node": "Node classification: which class does a node belong to?",
    "graph": "Graph classification: which class does a whole graph belong to?",
    "link": "Link prediction: are two nodes joined?",
}
KINDS = {
    "gcn": ("GCN", "graph convolution: a node takes the mean of its neighbours, scaled by their degrees"),
    "sage": ("GraphSAGE", "a node keeps its own state and adds the mean of its neighbours"),
    "gin": ("GIN", "graph isomorphism: a node adds up its neighbours and passes the sum through a small network"),
    "gat": ("GAT", "attention: a node learns how much to listen to each neighbour"),
    "gated": ("Gated GNN", "a gate decides how much of the neighbours' news a node takes in"),
    "rgcn": ("R-GCN", "relational graph convolution: every type of edge has weights of its own"),
}
SPECIAL_MODELS = {"jk": "-JK", "link": " (links)"}
JUMPS = {
    "cat": "jumping knowledge: the output sees all layers side by side",
    "max": "jumping knowledge: the output sees the maximum over all layers",
}
READOUTS = {"mean": "the mean", "sum": "the sum", "max": "the maximum"}


def _looks(hops: int | None) -> str:
    if hops is None:
        return "; a prediction may look at the whole graph"
    return f"; a prediction looks {hops} {'edge' if hops == 1 else 'edges'} far"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def formula(elements: Sequence[tuple[str, int]]) -> str:
    """A molecule's formula as chemists order it: carbon, hydrogen, then by the alphabet."""
    subscripts = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    ordered = sorted(elements, key=lambda pair: (pair[0] != "C", pair[0] != "H", pair[0]))
    return "".join(symbol + (str(count).translate(subscripts) if count > 1 else "") for symbol, count in ordered)


def model_title(card: Card) -> str:
    """The kind of network, and the card's own name where the kind does not say it all."""
    kind = str(card.architecture.get("kind"))
    if kind not in KINDS or not card.sha256:  # one of one's own goes by the name it was given
        return card.model
    title = KINDS[kind][0]
    return title if card.model == kind else title + SPECIAL_MODELS.get(card.model, f" ({card.model})")


def architecture(card: Card) -> str:
    """The network in sentences, read from the settings it is built from."""
    spec = card.architecture
    if "network" in spec:
        return f"{spec['network']}, a network of your own{_looks(spec['hops'])}."
    kind = KINDS.get(str(spec.get("kind")), ("", str(spec.get("kind"))))[1]
    if spec.get("kind") == "gcn" and not spec.get("normalize", True):
        kind = "graph convolution: a node adds up its neighbours"
    parts = [f"{spec.get('num_layers')} layers of {spec.get('hidden')} units", kind]
    parts += [f"{spec.get('heads')} attention heads"] if spec.get("kind") == "gat" else []
    parts += [JUMPS[spec["jump"]]] if spec.get("jump") in JUMPS else []
    parts += (
        [f"{READOUTS.get(str(spec.get('readout')))} over all nodes stands for the graph"]
        if card.task == "graph"
        else []
    )
    parts += ["every state is scaled to length one"] if spec.get("unit_length") else []
    parts += ["batch normalisation"] if spec.get("batch_norm") else []
    parts += [f"dropout {spec['dropout']:g} while training"] if spec.get("dropout") else []
    return "; ".join(parts) + "."


def is_borrowed(card: Card) -> bool:
    """True for a model trained on another data set."""
    return bool(card.weights) and card.weights != card.name


def majority(card: Card) -> float | None:
    """The score of always naming the commonest class; a borrowed model's card has none for this data set."""
    return None if is_borrowed(card) else card.majority_accuracy


def how_to_read(cards: Sequence[Card]) -> str:
    """One or two sentences under the chart of accuracies."""
    told = any(map(is_borrowed, cards)) or not all("test" in card.split for card in cards)
    parts = [] if told else ["Test examples were never seen in training."]
    parts += ["A fresh graph is a new one of the same family."] if any(c.fresh_graph_accuracy for c in cards) else []
    parts += ["Guessing always names the commonest class."] if any(majority(c) is not None for c in cards) else []
    return " ".join(parts) or "Unseen compounds are those that were not in the training data."


def accuracies(card: Card) -> list[tuple[str, str]]:
    """What was measured and the result, best known first; what was not measured is left out."""
    test = "On compounds absent from the training data" if is_borrowed(card) else "Test part"
    test = test if "test" in card.split else "Everything whose class is known"
    rows = [
        (test, card.test_accuracy),
        (f"A fresh graph of the same family (seed {card.fresh_graph_seed})", card.fresh_graph_accuracy),
        ("Validation part", card.val_accuracy),
        ("Training part", card.train_accuracy),
        ("Always naming the commonest class", majority(card)),
        ("Area under the ROC curve, test part", card.test_auc),
        ("Well-known compounds absent from the training data", None if is_borrowed(card) else card.shelf_accuracy),
    ]
    return [(label, percent(value)) for label, value in rows if value is not None]


def _split_told(card: Card) -> str:
    rule, seed = card.split.get("rule", "not recorded"), card.split.get("seed", card.seed if card.epochs else None)
    return rule if seed is None else f"{rule}, seed {seed}"


def training(card: Card) -> list[tuple[str, str]]:
    """How the network came to be."""
    settings = card.training
    parts = [(part, card.split[part]) for part in ("train", "val", "test") if part in card.split]
    sizes = " / ".join(f"{count:,}" for _, count in parts)
    names = {"train": "training", "val": "validation", "test": "test"}
    rows = [
        ("Task", TASKS.get(card.task, card.task).split(":")[0]),
        *([("Split", _split_told(card))] if card.split else []),
        *([(" / ".join(names[part] for part, _ in parts).capitalize() + " examples", sizes)] if parts else []),
    ]
    if not card.epochs:
        return rows  # nobody has told how it was trained
    rows += [
        ("Seed", str(card.seed)),
        ("Epochs", f"{card.epochs:,}; the weights of epoch {card.best_epoch:,} are kept"),
    ]
    chosen = {
        "Learning rate": settings.get("learning_rate"),
        "Weight decay": settings.get("weight_decay"),
        "Share of messages silenced": settings.get("edge_drop"),
        "Share of feature values swapped": settings.get("feature_swap"),
    }
    rows += [(label, f"{value:g}") for label, value in chosen.items() if value]
    return [*rows, ("PyTorch", card.torch_version)] if card.torch_version else rows
