"""What an explanation says, in words a student knows, with the paper's symbols beside them."""

from collections.abc import Sequence

from dashboard.schema import (
    CARRIES,
    DEFAULT,
    MOSTLY,
    NOT_ENOUGH,
    Agreement,
    Explanation,
    Scores,
    TargetFacts,
    Trust,
    Verdict,
    is_mask,
    judged,
)
from dashboard.view.things import NODES, Things

WINNERS = {  # where a subgraph came from, by the core's name of the proposal
    "mask": "the learnt mask",
    "mask, necessity 10": "a mask that has to be needed most of all",
    "occlusion": "occlusion",
    "integrated gradients": "integrated gradients",
    "gradient": "gradients",
    "growth": "growing it {edge} by {edge}",
}
BADGES = {  # the icon and the word of each level
    CARRIES: ("✓", "carries the prediction"),
    MOSTLY: ("◐", "carries most of it"),
    NOT_ENOUGH: ("✕", "not enough"),
    DEFAULT: ("○", "default class"),
}
SPARE = {  # instead, where the rest says it too
    CARRIES: ("◑", "enough, but not needed"),
    MOSTLY: ("◑", "most of it, but not needed"),
}
SEARCHING = "Looking for the part that carries the prediction …"
STABLE, MOSTLY_STABLE = 0.9, 0.7  # shares of edges that the starts have in common
TIED = 1e-3  # features whose weights differ by less weigh the same
LABELS = {
    "k_m": "Size of the explanation, K_M",
    "k_m_unit": "K_M counts",
    "k_f": "Features kept, K_F",
    "connected": "One connected part",
    "refine": "Exchange edges while it gets better",
    "necessity": "Needed (necessity)",
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
    "features": "Features are weighed",
    "feature_fill": "A hidden feature becomes",
    "feature_mask": "Feature mask",
    "readout": "Nodes without edges",
    "direction": "Directions of an edge",
    "max_edges": "Largest neighbourhood",
}
TERMS = {
    "prediction": "prediction",
    "necessity": "needed",
    "size": "edges",
    "entropy": "entropy",
    "feat_size": "features",
    "feat_entropy": "feature entropy",
    "laplacian": "Laplacian",
}


def percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"  # never parted at the end of a line


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


def whole_of(kind: str) -> str:
    """What an explanation is a part of."""
    return "the whole neighbourhood" if kind in ("node", "link") else "the whole graph"


def asks_for_another(facts: TargetFacts) -> bool:
    """Whether the question is about a class that the network does not predict."""
    return facts.explained not in (None, facts.predicted)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def kept_part(count: int, unit: str) -> tuple[str, str]:
    """What is kept, and the word that stands for it afterwards."""
    if count == 1:
        return f"this one {unit.removesuffix('s')}", "it"
    return f"these {count:,} {unit}", "them"


def headline(
    facts: TargetFacts,
    outcome: Verdict,
    count: int,
    unit: str,
    shape: str | None = None,
    things: Things = NODES,
    enough: int | None = None,
) -> tuple[str, str]:
    """The headline and its sentence: what the network says of the kept part, alone and without it.

    `count` nodes or edges are kept; `shape` is the word for them, where there is one. Where a smaller part carries the
    prediction, so many are `enough`, and it needs no more than these, but others.
    """
    name = facts.class_names[facts.predicted if facts.explained is None else facts.explained]
    quoted, (part, them) = f"“{_capital(name)}”", kept_part(count, things.many(unit))
    if outcome.level == DEFAULT:
        empty = f"The network says “{name}” without any {things.edge} too ({percent(outcome.empty)})"
        return f"{quoted} by default: nothing to explain", f"{empty}: nothing in the graph needs explaining."
    if count == 0:
        full = f"the network gives “{name}” {percent(outcome.full)}"
        return f"Nothing speaks for “{name}”", f"There is no {things.edge} within reach; {full}."
    because = part if shape is None else f"this {shape}"
    title = {
        CARRIES: f"{quoted}, because of {because}",
        MOSTLY: f"{quoted}, mostly because of {because}",
        NOT_ENOUGH: f"{quoted} {'does not rest on' if enough else 'needs more than'} {because}",
    }[outcome.level]
    if is_spare(outcome):
        title = f"{quoted}, with or without {because}"
    if asks_for_another(facts):
        title = f"What speaks for “{name}”: {because}{', not enough' if outcome.level == NOT_ENOUGH else ''}"
    only = "only " if outcome.level == NOT_ENOUGH else ""
    lost = "" if outcome.keeps_class else ", too little for that class"
    fewer = f" A part of {enough} is enough." if enough and only else ""
    return title, (
        f"{_capital(part)} alone {'gives' if count == 1 else 'give'} {only}{percent(outcome.alone)} of “{name}”{lost} "
        f"({percent(outcome.full)} with everything); without {them} {percent(outcome.without)}.{fewer}"
    )


def is_spare(outcome: Verdict) -> bool:
    """Whether the part would do and the rest would, too: then the prediction does not rest on either."""
    return outcome.level in SPARE and not outcome.is_needed


def badge(facts: TargetFacts, outcome: Verdict) -> tuple[str, str]:
    """The icon and the word of a level: never a colour alone."""
    if asks_for_another(facts):
        icon, word = BADGES[outcome.level]
        return icon, "carries it" if outcome.level == CARRIES else word
    return SPARE[outcome.level] if is_spare(outcome) else BADGES[outcome.level]


def starts_agree(found: Agreement, drawn: int) -> str:
    """What other starts say, as the end of the headline's sentence; so many of the edges on which they differ are drawn."""
    others = f"{found.starts - 1} other starts"
    if found.share >= STABLE and not found.unstable:
        return f"{others} agree."
    how = "nearly agree" if found.share >= STABLE else "mostly agree" if found.share >= MOSTLY_STABLE else "disagree"
    where = "dotted" if drawn == len(found.unstable) else "dotted where it is drawn"
    return f"{others} {how} ({100 * found.share:.0f}\u00a0%); what differs is {where}."


def found_by(explanation: Explanation, things: Things = NODES) -> str:
    """Where the subgraph that is shown came from."""
    if is_mask(explanation) or explanation.verdict is None:
        return f"G_S: the heaviest {things.edge}s of the mask"
    winner = explanation.verdict.winner
    exchanged = f", then {things.edge}s exchanged" if explanation.config.refine else ""
    return f"G_S: found by {WINNERS.get(winner, winner).format(edge=things.edge)}{exchanged}"


def beware(facts: TargetFacts, outcome: Verdict, trust: Trust, things: Things = NODES) -> list[str]:
    """What a careful reader should know: a class that needs no edge, or a motif that is not enough."""
    asked = facts.predicted if facts.explained is None else facts.explained
    name, found = facts.class_names[asked], []
    if trust.empty_class == asked and outcome.level != DEFAULT:
        found.append(_without_edges(name, outcome, things))
    if trust.motif_class is not None and trust.motif_class != asked:
        found.append(
            f"The dashed part by itself makes the network say “{facts.class_names[trust.motif_class]}”, not “{name}”: "
            "it looks at more than that, and so does a faithful explanation."
        )
    return found


def _without_edges(name: str, outcome: Verdict, things: Things) -> str:
    """Where the class needs no edge, what the others do: without the part they may well speak against it."""
    bare = f"With no {things.edge} at all the network says “{name}” as well ({percent(outcome.empty)})"
    if outcome.without < outcome.empty:
        return (
            f"{bare}. The {things.edge}s outside the part speak against it: with them alone it is "
            f"{percent(outcome.without)}, and the part makes up for that."
        )
    return f"{bare}: the {things.edge}s make it surer, they do not decide it."


def waiting(ahead: int) -> str:
    """For who waits until a worker is free."""
    if ahead == 0:
        return "Waiting for a free worker: yours is next"
    return f"Waiting for a free worker: {ahead} {'run' if ahead == 1 else 'runs'} before yours"


def features_caption(weights: Sequence[float], k_f: int, absent: bool, things: Things = NODES) -> str:
    """How to read the chart of features, and whether others weigh as much as the last one that is kept."""
    ranked = sorted(weights, reverse=True)
    caption = "Dots mark the features each method keeps (K_F). Every row is scaled to its largest weight."
    if absent:
        caption += f" Hollow: in none of the kept {things.node}s; its absence matters."
    if len(ranked) <= k_f:
        return caption
    last = ranked[k_f - 1]
    telling = sum(weight >= TIED for weight in ranked)
    if last < TIED:
        which = "none" if not telling else "only the first" if telling == 1 else f"only the first {telling}"
        return f"{caption} On the kept part {which} {'makes' if telling < 2 else 'make'} a difference when hidden."
    others = sum(abs(weight - last) < TIED for weight in ranked[k_f:])
    if not others:
        return caption
    return f"{caption} {counted(others, 'other')} {'weighs' if others == 1 else 'weigh'} the same as the last one kept."


def accent_means(facts: TargetFacts, shown: Explanation) -> str:
    """What the accent stands for in the legend; it claims no more than the verdict does."""
    if is_mask(shown):
        return "what the mask keeps"
    if facts.explained is not None and asks_for_another(facts):
        return f"what speaks for “{facts.class_names[facts.explained]}”"
    outcome = judged(shown)
    rests = outcome.level in (CARRIES, MOSTLY) and not is_spare(outcome)
    return "what the prediction rests on" if rests else "the part that is kept"


def shown_part(shown: int, of: int, kind: str, things: Things = NODES) -> str:
    """How much of a neighbourhood, or of a whole graph, is drawn."""
    if shown == of:
        return counted(of, things.node)
    return f"the {'nearest' if kind in ('node', 'link') else 'best joined'} {shown:,} of {of:,} {things.node}s"


def sentences(facts: TargetFacts, remarks: Sequence[str]) -> list[str]:
    """The explanation in a few sentences, for a page that stands alone."""
    truth = "" if facts.truth is None else f"; true: “{facts.class_names[facts.truth]}”"
    prediction = (
        f"Predicted “{facts.class_names[facts.predicted]}” ({percent(facts.probabilities[facts.predicted])}){truth}."
    )
    return [prediction, *remarks]
