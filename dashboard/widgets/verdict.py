"""What the network says and how far the explanation can be trusted, in words and small charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import cast

import numpy as np
import streamlit as st

from dashboard import services, state
from dashboard.schema import Trust, judged
from dashboard.view import definitions, explanation_text, figures, prototype_text
from dashboard.view.palette import WRONG
from dashboard.view.plain_text import for_markdown, shortened
from dashboard.view.things import things_of
from dashboard.widgets.graph_view import network_view

BARS = 3  # so many classes are shown as bars: the likeliest, and the true one
LOW = 280  # pixels: the height of a small picture
COLUMNS = 20  # so many features are shown side by side
# Wrong has its mark of the pictures, a square; that of right is grey there, which is a class's colour here.
MARKS = {
    True: '<span class="right">✓ right</span>',
    False: f'<span class="wrong"><i style="background:{WRONG}"></i>✗ wrong</span>',
}
Explanations = Sequence[tuple[str, services.Explanation]]  # (method, what it says)


@dataclass(frozen=True)
class Remark:
    """A sentence about an explanation."""

    icon: str  # a name from Material Symbols
    colour: str  # a name Streamlit knows
    text: str


def show_prediction(title: str, facts: services.TargetFacts, level: int = 1) -> None:
    """The heading: what is explained, what the network says, and whether it is right."""
    predicted = f"<b>{escape(facts.class_names[facts.predicted])}</b> {explanation_text.percent(facts.probabilities[facts.predicted])}"
    truth = "" if facts.truth is None else f" · true <b>{escape(facts.class_names[facts.truth])}</b>"
    mark = "" if facts.right is None else MARKS[facts.right]
    st.html(
        f'<section class="prediction"><div><h{level}>{escape(shortened(title, 90))}</h{level}>'
        f"<p>predicted {predicted}{truth} {mark}</p></div>{_bars(facts)}</section>"
    )


def _bars(facts: services.TargetFacts) -> str:
    """The likeliest classes as bars; the true one is never left out."""
    order = sorted(range(len(facts.class_names)), key=lambda i: -facts.probabilities[i])
    shown = order[:BARS]
    if facts.truth is not None and facts.truth not in shown:
        shown[-1] = facts.truth
    rows = [
        f'<span class="name">{escape(facts.class_names[i])}</span>'
        f'<span class="bar"><i style="width:{100 * facts.probabilities[i]:.1f}%;background:{facts.colours[i]}"></i></span>'
        f'<span class="share">{explanation_text.percent(facts.probabilities[i])}</span>'
        for i in shown
    ]
    return f'<div class="bars" role="img" aria-label="Probability of each class">{"".join(rows)}</div>'


def in_markdown(remark: Remark) -> str:
    return f":{remark.colour}[:material/{remark.icon}:] {for_markdown(remark.text)}"


def remarks(answer: services.Answer, trust: Trust) -> tuple[Remark, ...]:
    """What to beware of; whether other starts agree is said beside the verdict."""
    things = things_of(answer.question.drawing.picture)
    warnings = explanation_text.beware(answer.facts, judged(answer.explanation), trust, things)
    return tuple(Remark("lightbulb", "orange", text) for text in warnings)


def show_remarks(found: Sequence[Remark]) -> None:
    for remark in found:
        st.markdown(in_markdown(remark))


def show_features(question: services.Question, explanations: Explanations) -> None:
    """The heatmap of methods by features."""
    if not question.feature_names:
        st.caption("All nodes have the same features, so the prediction rests on the edges alone.")
        return
    names, k_f = question.feature_names, question.request.config.k_f
    weighed = [(method, each) for method, each in explanations if each.feature_weight is not None]
    if not weighed:
        st.caption("No method here weighs features.")
        return
    columns = feature_columns([each for _, each in weighed], k_f)
    rows = [_feature_row(method, each, columns, k_f) for method, each in weighed]
    st.plotly_chart(
        figures.features(rows, [names[i] for i in columns], dark=st.context.theme.type == "dark"),
        config=figures.STILL,
        key="feature_chart",
        alt="How much each method makes of each feature",
    )
    first = weighed[0][1]
    hollow, things = any(row.kept & row.absent for row in rows), things_of(question.drawing.picture)
    caption = explanation_text.features_caption(_weights(first).tolist(), k_f, hollow, things)
    st.caption(for_markdown(caption), help=definitions.in_markdown("K_F"))


def _weights(explanation: services.Explanation) -> np.ndarray:
    """The weights of the features; only of methods that weigh them."""
    return cast(np.ndarray, explanation.feature_weight)


def _feature_row(method: str, explanation: services.Explanation, columns: np.ndarray, k_f: int) -> figures.FeatureRow:
    """One method's weights. Where features were hidden one by one, those that made no difference weigh nothing."""
    weights, kept = _weights(explanation)[columns], np.isin(columns, explanation.top_features(k_f))
    absent = np.zeros(len(columns), dtype=bool)
    if explanation.feature_absent is not None:
        telling = weights >= explanation_text.TIED
        weights, kept, absent = np.where(telling, weights, 0.0), kept & telling, explanation.feature_absent[columns]
    return figures.FeatureRow(
        services.described(method).title,
        weights.tolist(),
        frozenset(np.flatnonzero(kept).tolist()),
        frozenset(np.flatnonzero(absent).tolist()),
    )


def strongest_features(question: services.Question, explanations: Explanations) -> dict[str, list[tuple[str, float]]]:
    """Each method's K_F features with their weights, scaled to its largest; none where all nodes have the same."""
    names, found = question.feature_names, {}
    for method, each in explanations:
        top = _telling(each, each.top_features(question.request.config.k_f)) if names else []
        largest = max((float(_weights(each)[i]) for i in top), default=0.0) or 1.0
        if top:
            found[services.described(method).title] = [
                (names[i] + _if_absent(each, i), float(_weights(each)[i]) / largest) for i in top
            ]
    return found


def _telling(explanation: services.Explanation, features: Sequence[int]) -> list[int]:
    """Those of the features that make a difference; only where they were hidden one by one is that known."""
    known = explanation.feature_absent is not None
    return [i for i in features if not known or _weights(explanation)[i] >= explanation_text.TIED]


def _if_absent(explanation: services.Explanation, feature: int) -> str:
    return " (absent)" if explanation.feature_absent is not None and explanation.feature_absent[feature] else ""


def feature_columns(explanations: Sequence[services.Explanation], k_f: int) -> np.ndarray:
    """The features any method keeps, the strongest of the first method first, and the next ones as far as there is room."""
    kept = [i for explanation in explanations for i in explanation.top_features(k_f)]
    first = _weights(explanations[0])
    strongest = np.argsort(-first, kind="stable")[:COLUMNS].tolist()
    wanted = list(dict.fromkeys([*kept, *strongest]))[:COLUMNS]
    return np.array(sorted(wanted, key=lambda i: -first[i]))


def show_class_beside(answer: services.Answer) -> None:
    """The prototype of the predicted class, where there is one, and how far this explanation is from it."""
    request, facts, explanation = answer.request, answer.facts, answer.explanation
    label = facts.predicted
    prototype = None if request.kind == "smiles" else services.prototype_of_class(state.classes_seen(), request, label)
    if prototype is None:
        return
    asked = services.ClassRequest(request.dataset, request.model, label, len(prototype.members), request.config)
    heading = f"Beside the prototype of “{facts.class_names[label]}”"
    if services.is_of_molecules(request.dataset):
        show_fragments_beside(heading, services.fragments(asked, prototype), answer)
        return
    alike, missing, extra = services.beside_prototype(prototype, request, explanation)
    st.subheader(for_markdown(heading))
    picture, panel = services.prototype_picture(asked, prototype)
    lines = (
        f"{explanation_text.percent(alike)} alike",
        f"{missing} of its edges missing here, {extra} beyond it",
    )
    titled = services.titled(panel, "Prototype", lines)
    network_view("class_prototype", picture, [titled], height=LOW, clickable=False, subject=heading)


def show_fragments_beside(heading: str, found: Sequence[services.DrawnFragment], answer: services.Answer) -> None:
    """The fragments that a class of molecules shares, and whether this explanation keeps them."""
    if not found:
        return
    kept = services.kept_fragments(answer.request.dataset, found, answer.explanation)
    st.subheader(for_markdown(heading))
    st.markdown(prototype_text.kept_here(sum(kept), len(found)))
    for number, (column, one, here) in enumerate(zip(st.columns(len(found)), found, kept, strict=True), 1):
        with column:
            share = prototype_text.found_in(len(one.fragment.members), one.members)
            panel = services.titled(one.panel, "Kept here too" if here else "Not kept here", (share,))
            look = {"height": LOW, "clickable": False, "subject": heading}
            network_view(f"class_fragment {number}", one.picture, [panel], **look)
