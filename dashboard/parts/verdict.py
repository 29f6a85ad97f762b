"""What the network says and how far the explanation can be trusted, in words and small charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from dashboard import compute, explaining_words, figures
from dashboard.graph_view import network_view
from dashboard.plain_text import for_markdown, shortened

BARS = 3  # so many classes are shown as bars: the likeliest, and the true one
LOW = 280  # pixels: the height of a small picture
COLUMNS = 20  # so many features are shown side by side
Explanations = Sequence[tuple[str, compute.Explanation]]  # (method, what it says)


@dataclass(frozen=True)
class Remark:
    """A sentence about an explanation; `good` is None where it is not known yet."""

    icon: str  # a name from Material Symbols
    good: bool | None
    text: str


def show_prediction(title: str, facts: compute.TargetFacts) -> None:
    """The heading: what is explained, what the network says, and whether it is right."""
    said = f"<b>{escape(facts.class_names[facts.predicted])}</b> {explaining_words.percent(facts.probabilities[facts.predicted])}"
    truth = "" if facts.truth is None else f" · true <b>{escape(facts.class_names[facts.truth])}</b>"
    mark = {None: "", True: '<span class="right">✓ right</span>', False: '<span class="wrong">✗ wrong</span>'}[
        facts.right
    ]
    st.html(
        f'<section class="prediction"><div><h1>{escape(shortened(title, 90))}</h1>'
        f"<p>predicted {said}{truth} {mark}</p></div>{_bars(facts)}</section>"
    )


def _bars(facts: compute.TargetFacts) -> str:
    """The likeliest classes as bars; the true one is never left out."""
    order = sorted(range(len(facts.class_names)), key=lambda i: -facts.probabilities[i])
    shown = order[:BARS]
    if facts.truth is not None and facts.truth not in shown:
        shown[-1] = facts.truth
    rows = [
        f'<span class="name">{escape(facts.class_names[i])}</span>'
        f'<span class="bar"><i style="width:{100 * facts.probabilities[i]:.1f}%;background:{facts.colours[i]}"></i></span>'
        f'<span class="share">{explaining_words.percent(facts.probabilities[i])}</span>'
        for i in shown
    ]
    return f'<div class="bars" role="img" aria-label="Probability of each class">{"".join(rows)}</div>'


def remarks(
    request: compute.Request,
    facts: compute.TargetFacts,
    scores: compute.Scores,
    trust: compute.Trust,
    stability: compute.Stability | None,
    drawn_flips: int,
) -> tuple[Remark, ...]:
    """Whether the kept part is enough, whether other seeds agree, and what to beware of."""
    enough = explaining_words.verdict(facts, scores, request.config.k_m, request.config.k_m_unit, request.kind)
    said = [Remark("check_circle" if scores.judged.keeps_class else "help", scores.judged.keeps_class, enough)]
    if stability is None:
        said.append(Remark("hourglass_empty", None, f"Trying {compute.seeded(request).config.seeds} other starts …"))
    else:
        word, sentence = explaining_words.stability_badge(stability, drawn_flips)
        said.append(Remark("casino", word == "stable", sentence))
    return (*said, *(Remark("lightbulb", False, text) for text in explaining_words.beware(facts, trust)))


def show_remarks(said: Sequence[Remark]) -> None:
    for remark in said:
        colour = {True: "green", False: "orange", None: "gray"}[remark.good]
        st.markdown(f":{colour}[:material/{remark.icon}:] {for_markdown(remark.text)}")


def show_features(request: compute.Request, explanations: Explanations) -> None:
    """The heatmap of methods by features."""
    if not compute.features_vary(request):
        st.caption("All nodes have the same features, so the prediction rests on the edges alone.")
        return
    names, k_f = compute.feature_names(request), request.config.k_f
    weighed = [(method, each) for method, each in explanations if each.feature_weight is not None]
    columns = feature_columns([each for _, each in weighed], k_f)
    rows = [
        figures.FeatureRow(
            explaining_words.METHODS[method],
            each.feature_weight[columns].tolist(),
            frozenset(np.flatnonzero(np.isin(columns, each.top_features(k_f))).tolist()),
        )
        for method, each in weighed
    ]
    st.plotly_chart(
        figures.features(rows, [names[i] for i in columns]),
        config=figures.STILL,
        key="features",
        alt="How much each method makes of each feature",
    )
    st.caption("Dots mark the features each method keeps (K_F). Every row is scaled to its largest weight.")


def strongest_features(request: compute.Request, explanations: Explanations) -> dict[str, list[tuple[str, float]]]:
    """Each method's K_F features with their weights, scaled to its largest; none where all nodes have the same."""
    if not compute.features_vary(request):
        return {}
    names, found = compute.feature_names(request), {}
    for method, each in explanations:
        top = each.top_features(request.config.k_f)
        largest = max((float(each.feature_weight[i]) for i in top), default=0.0) or 1.0
        if top:
            found[explaining_words.METHODS[method]] = [(names[i], float(each.feature_weight[i]) / largest) for i in top]
    return found


def show_sizes(facts: compute.TargetFacts, trust: compute.Trust, k_m: int, kind: str) -> None:
    """The probability from the kept part alone, for every size."""
    asked = facts.predicted if facts.explained is None else facts.explained
    name = facts.class_names[asked]
    st.plotly_chart(
        figures.over_size(
            trust.curve, k_m, facts.probabilities[asked], name, explaining_words.whole_of(kind).removeprefix("the ")
        ),
        config=figures.STILL,
        key="over_size",
        alt="Probability of the explained class from the kept part alone, for every size K_M",
    )
    st.caption(for_markdown(f"Probability of “{name}” from the kept part (G_S) alone, by its size K_M."))


def feature_columns(explanations: Sequence[compute.Explanation], k_f: int) -> np.ndarray:
    """The features any method keeps, the strongest of the first method first, and the next ones as far as there is room."""
    kept = [i for explanation in explanations for i in explanation.top_features(k_f)]
    strongest = np.argsort(-explanations[0].feature_weight, kind="stable")[:COLUMNS].tolist()
    wanted = list(dict.fromkeys([*kept, *strongest]))[:COLUMNS]
    return np.array(sorted(wanted, key=lambda i: -explanations[0].feature_weight[i]))


def show_class_beside(request: compute.Request, facts: compute.TargetFacts, explanation: compute.Explanation) -> None:
    """The prototype of the predicted class, where somebody has made one, and how far this explanation is from it."""
    label = facts.predicted
    prototype = None if request.kind == "smiles" else compute.prototype_of_class(request, label)
    if prototype is None:
        return
    alike, missing, extra = compute.beside_prototype(prototype, request, explanation)
    st.subheader(for_markdown(f"Beside the prototype of “{facts.class_names[label]}”"))
    asked = compute.ClassRequest(request.dataset, request.model, label, len(prototype.members), request.config)
    picture, panel = compute.prototype_picture(asked, prototype)
    lines = (
        f"{explaining_words.percent(alike)} alike",
        f"{missing} of its edges missing here, {extra} beyond it",
    )
    network_view("class_prototype", picture, [compute.titled(panel, "Prototype", lines)], height=LOW, clickable=False)
