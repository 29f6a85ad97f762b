"""Plotly figures from plain data; no st here."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.plain_text import for_plotly, shortened

# Okabe and Ito's palette, told apart by colour-blind eyes; grey stands in for black, which dark ground swallows.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
QUIET = "#8A9097"  # readable on light and on dark ground
FONT = 14
STILL = {"displayModeBar": False}  # config of figures there is nothing to zoom into


class AccuracyRow(NamedTuple):
    """One model; shares of one, None where there is nothing to compare with."""

    title: str
    test: float
    fresh: float | None
    majority: float | None


def class_balance(counts: Sequence[tuple[str, int]]) -> go.Figure:
    """How many examples each class has."""
    total = sum(count for _, count in counts)
    names = [for_plotly(shortened(name, 28)) for name, _ in counts]
    figure = go.Figure(
        go.Bar(
            x=[count for _, count in counts],
            y=names,
            orientation="h",
            marker_color=[OKABE_ITO[i % len(OKABE_ITO)] for i in range(len(counts))],
            text=[f"{count:,}  ({100 * count / total:.1f} %)" for _, count in counts],
            textposition="outside",
            textfont_size=FONT,
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    figure.update_xaxes(visible=False, range=[0, max(count for _, count in counts)], fixedrange=True)
    return _calm(figure, height=24 + 34 * len(counts), right=105)


def accuracies(rows: Sequence[AccuracyRow], measured: str = "test accuracy") -> go.Figure:
    """Each model's accuracy and the score of guessing beside it; shapes differ as well as colours."""
    names = [for_plotly(shortened(row.title, 28)) for row in rows]
    figure = go.Figure()
    _add_stems(figure, names, rows)
    _add_marks(figure, "guessing", names, [row.majority for row in rows], "line-ns-open", QUIET)
    _add_marks(figure, "fresh graph", names, [row.fresh for row in rows], "diamond-open", OKABE_ITO[1])
    _add_marks(figure, measured, names, [row.test for row in rows], "circle", OKABE_ITO[0])
    _add_numbers(figure, names, rows)
    figure.update_xaxes(
        range=[0, 102], ticksuffix=" %", dtick=25, tickangle=0, fixedrange=True, zeroline=False, tickfont_size=FONT - 1
    )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "maxheight": 200, "y": 1, "yanchor": "bottom", "x": 0, "traceorder": "reversed"},
        legend_font_size=FONT,
    )
    return _calm(figure, height=120 + 38 * len(rows), right=68, top=40)


def _add_stems(figure: go.Figure, names: list[str], rows: Sequence[AccuracyRow]) -> None:
    """What a model gains over guessing, as a line; None lifts the pen between rows."""
    ends = [(name, row) for name, row in zip(names, rows, strict=True) if row.majority is not None]
    figure.add_scatter(
        x=[x for _, row in ends for x in (100 * row.majority, 100 * row.test, None)],
        y=[y for name, _ in ends for y in (name, name, None)],
        mode="lines",
        line={"color": QUIET, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_marks(figure: go.Figure, label: str, names: list[str], shares: list, symbol: str, colour: str) -> None:
    known = [(100 * share, name) for share, name in zip(shares, names, strict=True) if share is not None]
    if known:
        figure.add_scatter(
            x=[x for x, _ in known],
            y=[name for _, name in known],
            mode="markers",
            cliponaxis=False,
            name=label,
            marker={"symbol": symbol, "color": colour, "size": 12, "line": {"width": 2.5, "color": colour}},
            hovertemplate=f"{label}: %{{x:.1f}} %<extra></extra>",
        )


def _add_numbers(figure: go.Figure, names: list[str], rows: Sequence[AccuracyRow]) -> None:
    """The accuracies in one column on the right, where no mark can lie on them."""
    figure.add_scatter(
        x=[102] * len(rows),
        y=names,
        mode="text",
        text=[f"\u2002{100 * row.test:.1f} %" for row in rows],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _calm(figure: go.Figure, height: int, right: int, top: int = 8) -> go.Figure:
    """First row on top, nothing to drag, no frame; on the right as many pixels as the numbers there need."""
    figure.update_yaxes(
        autorange="reversed", fixedrange=True, showgrid=False, ticks="", automargin=True, tickfont_size=FONT, title=""
    )
    figure.update_layout(
        height=height,
        font_size=FONT,
        margin={"l": 8, "r": right, "t": top, "b": 8},
        bargap=0.35,
        dragmode=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return figure
