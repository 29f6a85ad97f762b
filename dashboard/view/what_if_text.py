"""What edits do to a prediction, and what flips it, in sentences and bars."""

from collections.abc import Callable, Sequence
from html import escape

from dashboard.schema import AddEdge, CutEdge, DeleteNode, Edit, Flip, HideFeature, SetFeature, SetType, TargetFacts
from dashboard.view.explanation_text import counted, percent
from dashboard.view.things import NODES, Things

HOW_TO_EDGES = (
    "Click an edge to cut it, once more to restore it. Choose two nodes one after the other to join or part them."
)
HOW_TO_NODES = "Click a node to change its features."
HOW_TO_ATOMS = "Click an atom to change or delete it."
KINDS = {"delete": "cutting {edge}s", "add": "adding {edge}s", "feature": "changing features"}
Name = Callable[[int], str]


def now_said(facts: TargetFacts, after: Sequence[float]) -> str:
    """What the network says after the edits, beside what it said before."""
    now = max(range(len(after)), key=after.__getitem__)
    before, name = facts.class_names[facts.predicted], facts.class_names[now]
    if now == facts.predicted:
        return f"Still “{name}”: {percent(after[now])} ({percent(facts.probabilities[now])} before)."
    right = {None: "", True: ", which is true"}.get(None if facts.truth is None else now == facts.truth, "")
    return f"Now “{name}”{right}: {percent(after[now])}. It was “{before}”, which has {percent(after[facts.predicted])} left."


def bars(facts: TargetFacts, after: Sequence[float]) -> str:
    """All classes; a line where each bar was before."""
    rows = "".join(
        f'<span class="name">{escape(name)}</span>'
        f'<span class="bar"><i style="width:{100 * after[i]:.1f}%;background:{facts.colours[i]}"></i>'
        f'<b style="left:{100 * facts.probabilities[i]:.1f}%"></b></span><span class="share">{percent(after[i])}</span>'
        for i, name in enumerate(facts.class_names)
    )
    said = "; ".join(f"{name} {percent(after[i])}" for i, name in enumerate(facts.class_names))
    return f'<section class="prediction what-if"><div class="bars" role="img" aria-label="{escape(said)}">{rows}</div></section>'


def edit_said(edit: Edit, node: Name, feature: Name) -> str:
    """One edit in a few words."""
    match edit:
        case CutEdge(a, b):
            return f"cut {node(a)} – {node(b)}"
        case AddEdge(a, b):
            return f"added {node(a)} – {node(b)}"
        case HideFeature(None, which):
            return f"hid “{feature(which)}” everywhere"
        case HideFeature(int(one), which):
            return f"hid “{feature(which)}” at {node(one)}"
        case SetFeature(one, which, value):
            return f"set “{feature(which)}” at {node(one)} to {value:g}"
        case SetType(one, kind):
            return f"made {node(one)} {feature(kind)}"
        case DeleteNode(one):
            return f"deleted {node(one)}"
    return "restored an edge"


def edits_said(edits: Sequence[Edit], node: Name, feature: Name, most: int = 8) -> str:
    """All edits, the newest last; of many the last ones."""
    shown = [edit_said(each, node, feature) for each in edits[-most:]]
    more = len(edits) - len(shown)
    return f"{counted(len(edits), 'change')}: {f'{more} more, ' if more else ''}{', '.join(shown)}."


def flip_said(flip: Flip, class_names: Sequence[str], kinds: Sequence[str], things: Things = NODES) -> str:
    """What flips it, or that nothing does, and how far that is known."""
    if flip.changes is None or flip.reached is None or flip.after is None:
        aim = "flip it" if flip.wanted is None else f"make it “{class_names[flip.wanted]}”"
        proven = (
            "proven: all were tried"
            if flip.proven
            else f"all of up to {flip.exhausted} were tried, of more the most promising"
        )
        return (
            f"None within {flip.most}: {_listed(kinds, things)}, up to {flip.most} of them, does not {aim} ({proven})."
        )
    size = len(flip.changes)
    made = f"{_doing(flip.changes, things)} makes it “{class_names[flip.reached]}”, {percent(flip.after[flip.reached])}"
    if size == 1:
        return f"{made}; no smaller change is possible."
    if not flip.proven:
        return f"{made}; leaving out any one of them does not."
    return f"{made}; proven: no {'single one' if size == 2 else f'{size - 1} or fewer'} of the {counted(flip.candidates, 'candidate')} {'does' if size == 2 else 'do'}."


def _listed(kinds: Sequence[str], things: Things) -> str:
    return " or ".join(KINDS[kind].format(edge=things.edge) for kind in kinds)


def _doing(changes: Sequence[Edit], things: Things) -> str:
    kinds = (
        ("cutting", "edge", CutEdge),
        ("adding", "edge", AddEdge),
        ("changing", "feature", SetFeature | HideFeature),
    )
    parts = []
    for verb, thing, kind in (*kinds, ("changing", "atom", SetType)):
        count = sum(isinstance(each, kind) for each in changes)
        if count:
            parts.append(f"{verb} {'this' if count == 1 else f'these {count}'} {thing}{'' if count == 1 else 's'}")
    text = " and ".join(parts)
    return text[:1].upper() + text[1:]
