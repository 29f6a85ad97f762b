"""What an explanation says, in words a student knows, with the paper's symbols beside them."""

from collections.abc import Sequence

from dashboard.compute import Scores, Stability, TargetFacts, Trust

MUCH_MORE = 2  # times K_M that are kept call for a word

METHODS = {
    "gnnexplainer": "GNNExplainer",
    "gradient": "Gradient",
    "integrated_gradients": "Integrated gradients",
    "attention": "GAT attention",
    "occlusion": "Occlusion",
    "random": "Random",
    "proximity": "Nearest first",
}
ABOUT = {
    "gnnexplainer": "A mask learnt so that the few edges it keeps carry the prediction.",
    "gradient": "How strongly the loss reacts to each edge.",
    "integrated_gradients": "The gradient, summed on the way from no edges to all.",
    "attention": "How much the data set's attention network listens along each edge.",
    "occlusion": "How much the prediction drops when one edge is taken away.",
    "random": "Chance: what a method must beat.",
    "proximity": "The nearest edges first, without asking the network.",
}
LABELS = {
    "k_m": "Size of the explanation, K_M",
    "k_m_unit": "K_M counts",
    "k_f": "Features kept, K_F",
    "connected": "One connected part",
    "refine": "Repair the subgraph",
    "size": "Fewer edges (size)",
    "size_start": "Size weight at the start",
    "entropy": "All or nothing (entropy)",
    "feat_size": "Fewer features (size)",
    "feat_entropy": "Features all or nothing (entropy)",
    "laplacian": "Neighbours alike (Laplacian)",
    "steps": "Steps",
    "learning_rate": "Learning rate",
    "temperature": "Temperature",
    "start": "Where every edge starts",
    "seeds": "Runs averaged (seeds)",
    "seed": "Seed",
    "feature_fill": "A hidden feature becomes",
    "feature_mask": "Feature mask",
    "direction": "Directions of an edge",
    "max_edges": "Largest neighbourhood",
}
TERMS = {
    "prediction": "prediction",
    "size": "edges",
    "entropy": "entropy",
    "feat_size": "features",
    "feat_entropy": "feature entropy",
    "laplacian": "Laplacian",
}


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def seconds(value: float) -> str:
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"


def _signed(value: float) -> str:
    """Two decimals with a true minus sign, and no minus zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def score_lines(scores: Scores) -> tuple[str, ...]:
    """The figures under a panel's title."""
    judged = scores.judged
    first = [] if scores.auc is None else [f"edge AUC {scores.auc:.2f}"]
    first += [f"fidelity+ {_signed(judged.fidelity_plus)}", f"fidelity− {_signed(judged.fidelity_minus)}"]
    second = [f"sparsity {percent(judged.sparsity)}", seconds(scores.seconds)]
    return " · ".join(first), " · ".join(second)


def size_lines(kept: int, k_m: int, unit: str, kind: str) -> tuple[str, ...]:
    """Why far more is kept than K_M says, where it is: the paper's rule has one threshold for all edges."""
    if kept < MUCH_MORE * k_m:
        return ()
    why = "all weigh at least what joins them to the target" if kind in ("node", "link") else "all join at one weight"
    return (f"keeps {kept:,} {unit}, not {k_m}: {why}",)


def whole_of(kind: str) -> str:
    """What an explanation is a part of."""
    return "the whole neighbourhood" if kind in ("node", "link") else "the whole graph"


def asks_for_another(facts: TargetFacts) -> bool:
    """Whether the question is about a class that the network does not predict."""
    return facts.explained not in (None, facts.predicted)


def verdict(facts: TargetFacts, scores: Scores, k_m: int, unit: str, kind: str) -> str:
    """Whether the kept subgraph alone gives the class that is asked about."""
    name = facts.class_names[facts.predicted if facts.explained is None else facts.explained]
    kept, whole = scores.judged, whole_of(kind)
    alone, full = percent(kept.kept), percent(kept.full)
    if asks_for_another(facts):
        gives = f"gives “{name}”" if kept.keeps_class else f"does not give “{name}” either"
        return f"The kept part (G_S) alone {gives}: {alone}, where {whole} gives {full}."
    if kept.keeps_class:
        return f"The kept part (G_S) alone still gives “{name}”: {alone} instead of {full} from {whole}."
    larger = f" K_M of {k_m} {unit} may be too small; the curve shows how much is enough." if kept.sparsity > 0 else ""
    return f"The kept part (G_S) alone does not give “{name}”: only {alone}, against {full} from {whole}.{larger}"


def beware(facts: TargetFacts, trust: Trust) -> list[str]:
    """What a careful reader should know: a default class, or a motif that is not enough."""
    asked = facts.predicted if facts.explained is None else facts.explained
    name, found = facts.class_names[asked], []
    if trust.empty_class == asked:
        found.append(
            f"Without any edge the network says “{name}” as well ({percent(trust.empty_probability)}): it may be its "
            "default answer, and then no edge is needed for it."
        )
    if trust.motif_class is not None and trust.motif_class != asked:
        found.append(
            f"The dashed part by itself makes the network say “{facts.class_names[trust.motif_class]}”, not “{name}”: "
            "it looks at more than that, and so does a faithful explanation."
        )
    return found


def stability_badge(found: Stability, drawn: int) -> tuple[str, str]:
    """A word and a sentence on how much the seeds agree; so many of the edges on which they differ are drawn."""
    word = "stable" if found.share >= 0.9 else "mostly stable" if found.share >= 0.7 else "unstable"
    agree = f"{word.capitalize()}: {found.seeds} runs from other starts share {percent(found.share)} of their edges."
    count = len(found.flips)
    if drawn < count:
        return word, f"{agree} They differ on {counted(count, 'edge')}; those that are drawn are dotted."
    if count == 1:
        return word, f"{agree} The one on which they differ is dotted."
    return word, f"{agree} The {count} on which they differ are dotted." if count else agree


def how_to_read(facts: TargetFacts, has_truth: bool, molecule: bool) -> str:
    """One sentence for somebody who sees the picture for the first time."""
    parts = "bonds" if molecule else "edges"
    truth = " Dashed: groups known to do harm." if molecule else " Dashed: the planted answer."
    why = "are what the prediction rests on"
    if asks_for_another(facts):
        why = f"speak most for “{facts.class_names[facts.explained]}”"
    return f"Thick blue {parts} {why} (G_S); the rest is faint.{truth if has_truth else ''}"


def shown_part(shown: int, of: int, kind: str) -> str:
    """How much of a neighbourhood, or of a whole graph, is drawn."""
    if shown == of:
        return counted(of, "node")
    return f"the {'nearest' if kind in ('node', 'link') else 'best joined'} {shown:,} of {of:,} nodes"


def sentences(facts: TargetFacts, remarks: Sequence[str]) -> list[str]:
    """The explanation in a few sentences, for a page that stands alone."""
    truth = "" if facts.truth is None else f"; true: “{facts.class_names[facts.truth]}”"
    said = f"Predicted “{facts.class_names[facts.predicted]}” ({percent(facts.probabilities[facts.predicted])}){truth}."
    return [said, *remarks]
