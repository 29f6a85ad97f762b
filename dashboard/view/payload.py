"""What is sent to the browser for a view: the same for the same picture, byte for byte, and small. No Streamlit here.

Columns of small numbers travel as base64 of unsigned bytes, weights in 255 steps; a mask's frames as differences from
one to the next, deflated, since little changes between two steps.
"""

import base64
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from dashboard.view.labels import label_text
from dashboard.view.picture import SQUARE, Panel, Picture, Points, Thumbnail
from dashboard.view.scene import twins
from dashboard.view.scene_molecule import bond_lines
from dashboard.view.text_width import text_width

UNIT = 10  # positions in tenths of a pixel
LARGEST_SHORT = 65536  # so many nodes can be numbered in 16 bits


def network(
    key: str, picture: Picture, panels: Sequence[Panel], *, group: str, columns: int, height: int, clickable: bool
) -> dict:
    names = [panel.name for panel in panels]
    if len(set(names)) != len(names):
        raise ValueError(f"the panels of a view must have names of their own (got {names})")
    return {
        "key": key,
        "group": group,
        "columns": columns,
        "height": height,
        "clickable": clickable,
        "picture": _picture(picture),
        "panels": [_panel(panel, len(picture.edges)) for panel in panels],
    }


def points(key: str, points: Points, *, selected: Sequence[int], height: int) -> dict:
    x, y = (_packed(np.rint(np.clip(column, 0, 1) * 65535), "<u2") for column in map(np.asarray, (points.x, points.y)))
    ids = list(map(int, points.ids))
    return {
        "key": key,
        "height": height,
        "selected": list(map(int, selected)),
        "points": {
            "signature": _signature(ids, x, y),
            "ids": ids,
            "x": x,
            "y": y,
            "colour_of": _packed(points.colour_of, "u1"),
            "legend": [list(entry) for entry in points.legend],
            "tips": list(points.tips),
            "squares": _squares(points.shapes),
            "edges": _pairs(points.edges, len(ids)),
        },
    }


def gallery(key: str, thumbnails: Sequence[Thumbnail], *, selected: int | None) -> dict:
    cards = [[int(thumbnail.id), thumbnail.title, thumbnail.note, thumbnail.svg] for thumbnail in thumbnails]
    return {"key": key, "selected": None if selected is None else int(selected), "thumbnails": cards}


def _picture(picture: Picture) -> dict:
    nodes = list(map(int, picture.nodes))
    x, y = ([round(position * UNIT) for position in column] for column in (picture.x, picture.y))
    palette = sorted(set(picture.colours))
    return {
        "signature": _signature(nodes, x, y),
        "nodes": nodes,
        "unit": UNIT,
        "x": x,
        "y": y,
        "palette": palette,
        "colours": [palette.index(colour) for colour in picture.colours],
        "labels": [label_text(label) for label in picture.labels],
        "label_widths": [] if picture.bonds else [text_width(label_text(label)) for label in picture.labels],
        "tips": list(picture.tips),
        "edges": _pairs(picture.edges, len(nodes)),
        "squares": _squares(picture.shapes),
        "targets": list(map(int, picture.targets)),
        "truth": list(map(int, picture.truth)),
        "bonds": _packed(picture.bonds, "u1"),
        "bond_lines": [_short(line) for line in bond_lines(picture)] if picture.bonds else [],
        "twins": twins(picture),
        "directed": picture.directed,
    }


def _panel(panel: Panel, edges: int) -> dict:
    for weights in (panel.weights, *(weights for _, weights in panel.frames)):
        if weights is not None and len(weights) != edges:
            raise ValueError(
                f"panel {panel.name!r} must have a weight for each of the {edges} edges (got {len(weights)})"
            )
    return {
        "name": panel.name,
        "title": panel.title,
        "lines": list(panel.lines),
        "weights": None if panel.weights is None else _packed(_levels(panel.weights), "u1"),
        "kept": list(map(int, panel.kept)),
        "kept_nodes": list(map(int, panel.kept_nodes)),
        "unstable": list(map(int, panel.unstable)),
        "frames": _frames(panel),
        "curves": {name: [float(f"{value:.4g}") for value in curve] for name, curve in panel.curves.items()},
    }


def _short(numbers: Iterable[float]) -> list[float]:
    return [round(number, 2) for number in numbers]


def _frames(panel: Panel) -> dict | None:
    if len(panel.frames) < 2 or panel.weights is None:
        return None  # nothing to replay
    levels = _levels([weights for _, weights in panel.frames])  # (F, E)
    # Differences wrap around, and back in the browser. Edge by edge, a mask's steady way packs twice as well.
    changes = np.diff(levels, axis=0, prepend=np.zeros_like(levels[:1])).T  # (E, F)
    return {
        "steps": [int(step) for step, _ in panel.frames],
        "weights": base64.b64encode(zlib.compress(changes.tobytes(), 9)).decode(),
    }


def _levels(weights: Sequence) -> np.ndarray:
    return np.rint(np.clip(np.asarray(weights, float), 0, 1) * 255).astype(np.uint8)


def _packed(values: Iterable, kind: str) -> str:
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()


def _pairs(edges: Sequence[tuple[int, int]], nodes: int) -> str:
    return _packed(edges, "<u4" if nodes > LARGEST_SHORT else "<u2")


def _squares(shapes: Sequence[str]) -> str:
    return _packed([shape == SQUARE for shape in shapes], "u1")


def _signature(*columns: object) -> int:
    """Tells one picture from another: the camera is kept as long as it stays the same."""
    return zlib.crc32(repr(columns).encode())
