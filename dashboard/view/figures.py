"""Plotly figures from plain data; no st here."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.view.palette import QUIET, WEIGHTS
from dashboard.view.plain_text import for_plotly, shortened
from dashboard.view.text_width import text_width

FONT = 14
INK, CHALK = "#1F2328", "#FFFFFF"
STILL = {"displayModeBar": False}  # config of figures there is nothing to zoom into


class AccuracyRow(NamedTuple):
    """One model; shares of one, None where there is nothing to compare with."""

    title: str
    test: float
    fresh: float | None
    majority: float | None


class FeatureRow(NamedTuple):
    """One method's weight for every feature that is shown, and which ones it keeps. Sets hold positions in the columns."""

    title: str
    weights: Sequence[float]
    kept: frozenset[int]
    absent: frozenset[int] = frozenset()  # of them: in none of the kept nodes


class SizeCurve(NamedTuple):
    """The probability of one class from a part of every size from 1 on, and the size that is shown."""

    title: str
    colour: str
    values: Sequence[float]
    chosen: int


def class_balance(counts: Sequence[tuple[str, int]], colours: Sequence[str] = ()) -> go.Figure:
    """How many examples each class has, in the `colours` the classes have on every page, where they have any."""
    total = sum(count for _, count in counts)
    names = [for_plotly(shortened(name, 28)) for name, _ in counts]
    figure = go.Figure(
        go.Bar(
            x=[count for _, count in counts],
            y=names,
            orientation="h",
            marker_color=colours or QUIET,
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
    """Each model's accuracy and the score of guessing beside it, told apart by shape: colours are for classes."""
    names = [for_plotly(shortened(row.title, 28)) for row in rows]
    figure = go.Figure()
    _add_stems(figure, names, rows)
    _add_markers(figure, "guessing", names, [row.majority for row in rows], "line-ns-open", QUIET)
    _add_markers(figure, "fresh graph", names, [row.fresh for row in rows], "diamond-open", QUIET)
    _add_markers(figure, measured, names, [row.test for row in rows], "circle", QUIET)
    _add_numbers(figure, names, rows)
    figure.update_xaxes(
        range=[0, 102], ticksuffix=" %", dtick=25, tickangle=0, fixedrange=True, zeroline=False, tickfont_size=FONT
    )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "maxheight": 200, "y": 1, "yanchor": "bottom", "x": 0, "traceorder": "reversed"},
        legend_font_size=FONT,
    )
    return _calm(figure, height=120 + 38 * len(rows), right=68, top=40)


def features(rows: Sequence[FeatureRow], names: Sequence[str], *, dark: bool = False) -> go.Figure:
    """Methods by features: how much each method makes of each feature; a dot marks the K_F it keeps, a hollow one those
    that matter by being absent.

    Every row is scaled to its largest weight, because the methods have different units.
    """
    titles = [for_plotly(row.title) for row in rows]
    columns = [for_plotly(shortened(name, 18)) for name in names]
    scaled = [[weight / max(max(row.weights, default=0.0), 1e-12) for weight in row.weights] for row in rows]
    mark, rim = (CHALK, INK) if dark else (INK, CHALK)
    full = {"symbol": "circle", "line": {"width": 2, "color": rim}}
    hollow = {"symbol": "circle-open", "line": {"width": 2.5, "color": mark}}
    heat = {
        "type": "heatmap",
        "z": scaled,
        "x": list(range(len(columns))),
        "y": titles,
        "customdata": [
            [[for_plotly(name), weight] for name, weight in zip(names, row.weights, strict=True)] for row in rows
        ],
        "colorscale": [[0, "rgba(86,180,233,0.06)"], [1, WEIGHTS]],
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "xgap": 2,
        "ygap": 40,
        "hovertemplate": "%{y}<br>%{customdata[0]}: %{customdata[1]:.3g}<extra></extra>",
    }
    marks = [
        {
            "type": "scatter",
            "x": [position for some in chosen for position in sorted(some)],
            "y": [title for title, some in zip(titles, chosen, strict=True) for _ in some],
            "mode": "markers",
            "marker": {"size": 9, "color": mark} | look,
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for look, chosen in (
            (full, [row.kept - row.absent for row in rows]),
            (hollow, [row.kept & row.absent for row in rows]),
        )
    ]
    # In one piece: Plotly checks all of it at once, in a fifth of the time that a figure takes that is changed step by step.
    return go.Figure({"data": [heat, *marks], "layout": _features_layout(titles, columns, mark)})


def _features_layout(titles: list[str], columns: list[str], mark: str) -> dict:
    longest = max(map(text_width, columns), default=0) * FONT / 100  # pixels the upright labels need
    layout = _calm_layout(height=round(54 + 60 * len(titles) + longest), right=8, top=26)
    layout["xaxis"] = {
        "tickvals": list(range(len(columns))), "ticktext": columns, "tickangle": -90, "fixedrange": True,
        "showgrid": False, "zeroline": False, "side": "bottom", "range": [-0.5, len(columns) - 0.5],
        "tickfont": {"size": FONT},
    }  # fmt: skip
    layout["yaxis"] |= {
        "showticklabels": False, "automargin": False, "autorange": False, "range": [len(titles) - 0.5, -0.5]
    }  # fmt: skip
    # Above its row a name takes no width from the columns: on a phone each is just as wide as a line of its label.
    layout["annotations"] = [
        {
            "x": 0, "xref": "paper", "y": place - 0.5, "text": title, "showarrow": False, "xanchor": "left",
            "yanchor": "top", "borderpad": 0, "font": {"color": mark, "size": FONT},
        }
        for place, title in enumerate(titles)
    ]  # fmt: skip
    return layout


def along_sizes(rows: Sequence[SizeCurve], unit: str, *, dark: bool = False) -> go.Figure:
    """What each part alone gives of its class, for every size; a large mark at the size that is shown."""
    figure, ink = go.Figure(), CHALK if dark else INK
    for row, symbol, dash in zip(rows, ("circle", "square"), ("solid", "dot"), strict=False):
        sizes = list(range(1, len(row.values) + 1))
        marks = [12 if size == row.chosen else 5 for size in sizes]
        figure.add_scatter(
            x=sizes,
            y=[100 * value for value in row.values],
            name=for_plotly(shortened(row.title, 40)),
            mode="lines+markers",
            line={"color": row.colour, "width": 2.5, "dash": dash},
            marker={"symbol": symbol, "size": marks, "color": row.colour, "line": {"width": 1, "color": ink}},
            hovertemplate=f"{for_plotly(row.title)}<br>%{{x}} {unit}: %{{y:.1f}} %<extra></extra>",
        )
    largest = max(len(row.values) for row in rows)
    figure.update_xaxes(
        title=f"size of the part, K_M ({unit})", range=[0.5, largest + 0.5], fixedrange=True, zeroline=False,
        showgrid=False, dtick=max(1, round(largest / 10)), tickfont_size=FONT,
    )  # fmt: skip
    _calm(figure, height=280, right=8, top=40)
    figure.update_yaxes(autorange=False, range=[-3, 103], ticksuffix=" %", dtick=25, showgrid=True)
    legend = {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}
    return figure.update_layout(showlegend=True, legend=legend, legend_font_size=FONT)


def _add_stems(figure: go.Figure, names: list[str], rows: Sequence[AccuracyRow]) -> None:
    """What a model gains over guessing, as a line; None parts the rows."""
    ends = [(name, row.majority, row.test) for name, row in zip(names, rows, strict=True) if row.majority is not None]
    figure.add_scatter(
        x=[x for _, majority, test in ends for x in (100 * majority, 100 * test, None)],
        y=[y for name, _, _ in ends for y in (name, name, None)],
        mode="lines",
        line={"color": QUIET, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_markers(figure: go.Figure, label: str, names: list[str], shares: list, symbol: str, colour: str) -> None:
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
    """The accuracies in one column on the right, where no marker can lie on them."""
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
    return figure.update_layout(_calm_layout(height, right, top))


def _calm_layout(height: int, right: int, top: int = 8) -> dict:
    """First row on top, nothing to drag, no frame; on the right as many pixels as the numbers there need."""
    return {
        "yaxis": {
            "autorange": "reversed",
            "fixedrange": True,
            "showgrid": False,
            "ticks": "",
            "automargin": True,
            "tickfont": {"size": FONT},
            "title": {"text": ""},
        },
        "height": height,
        "font": {"size": FONT},
        "margin": {"l": 8, "r": right, "t": top, "b": 8},
        "bargap": 0.35,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
