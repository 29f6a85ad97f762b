"""How a training goes: its loss and its accuracies, epoch by epoch, as figures and in words. No st here."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.schema import Card, Epoch
from dashboard.view.figures import FONT
from dashboard.view.model_text import percent
from dashboard.view.palette import QUIET, WEIGHTS

HEIGHT = 260


def loss_curve(epochs: Sequence[Epoch]) -> go.Figure:
    figure = go.Figure(_line("training loss", epochs, [epoch.loss for epoch in epochs], WEIGHTS, "solid", ".3f"))
    figure.update_yaxes(rangemode="tozero")
    return _calm(figure)


def accuracy_curves(epochs: Sequence[Epoch]) -> go.Figure:
    train, val = ([100 * getattr(epoch, part) for epoch in epochs] for part in ("train_accuracy", "val_accuracy"))
    figure = go.Figure(
        [
            _line("training part", epochs, train, QUIET, "dot", ".1f"),
            _line("validation part", epochs, val, WEIGHTS, "solid", ".1f"),
        ]
    )
    figure.update_yaxes(range=[0, 102], ticksuffix=" %", dtick=25)
    return _calm(figure)


def so_far(number: int, total: int, epochs: Sequence[Epoch]) -> str:
    last = epochs[-1]
    return f"Epoch {number:,} of at most {total:,}: loss {last.loss:.3f}, validation {percent(last.val_accuracy)}"


def result(card: Card) -> str:
    """One sentence on a network that was just trained."""
    score = "" if card.test_accuracy is None else f"{percent(card.test_accuracy)} of the test part right"
    guess = (
        ""
        if card.majority_accuracy is None
        else f" (always naming the commonest class: {percent(card.majority_accuracy)})"
    )
    seen = f"trained for {card.epochs:,} epochs, the weights of epoch {card.best_epoch:,} kept"
    return f"{score}{guess}; {seen}" if score else seen


def _line(
    name: str, epochs: Sequence[Epoch], values: Sequence[float], colour: str, dash: str, digits: str
) -> go.Scatter:
    return go.Scatter(
        x=[epoch.number for epoch in epochs],
        y=values,
        name=name,
        mode="lines",
        line={"color": colour, "width": 2.5, "dash": dash},
        hovertemplate=f"epoch %{{x}}: %{{y:{digits}}}<extra>{name}</extra>",
    )


def _calm(figure: go.Figure) -> go.Figure:
    figure.update_xaxes(title="epoch", fixedrange=True, zeroline=False, showgrid=False, tickfont_size=FONT - 1)
    figure.update_yaxes(fixedrange=True, zeroline=False, tickfont_size=FONT - 1)
    return figure.update_layout(
        height=HEIGHT,
        font_size=FONT,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        dragmode=False,
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        legend_font_size=FONT,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
