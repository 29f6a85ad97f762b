"""What is sent to the browser for a view: the same for the same picture, byte for byte, and small. No Streamlit here.

Columns of small numbers travel as base64 of unsigned bytes, weights in 255 steps; a mask's frames as differences from
one to the next, deflated, since little changes between two steps.
"""

import base64
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from dashboard.view import legend
from dashboard.view.drawing import drawing_of
from dashboard.view.explained import packed_frames
from dashboard.view.labels import NEVER, PLACES, label_text, label_zooms, place_labels
from dashboard.view.legend import Entry
from dashboard.view.picture import SQUARE, Panel, Picture, Points, Thumbnail

UNIT = 10  # positions in tenths of a pixel
LARGEST_SHORT = 65536  # so many nodes can be numbered in 16 bits


def network(
    key: str,
    picture: Picture,
    panels: Sequence[Panel],
    *,
    group: str,
    columns: int,
    height: int,
    clickable: bool,
    joins: bool = False,
    subject: str = "",
    entries: Sequence[Entry] = (),
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
        "joins": joins,
        "subject": subject,
        "legend": legend.payload(entries),
        "picture": _picture(picture),
        "panels": [_panel(panel, picture) for panel in panels],
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


def confusion(
    key: str,
    rows: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
    counts: np.ndarray,
    *,
    down: str,
    across: str,
    diagonal: bool,
    chosen: tuple[int, int] | None,
) -> dict:
    """Rows and columns are names with colours, and `down` and `across` what they are; a `diagonal` is what agrees."""
    return {
        "key": key,
        "rows": [list(each) for each in rows],
        "columns": [list(each) for each in columns],
        "counts": counts.tolist(),
        "down": down,
        "across": across,
        "diagonal": diagonal,
        "chosen": None if chosen is None else list(chosen),
    }


@lru_cache(64)  # a page shows most pictures in several views, and the main one twice; nobody changes what is sent
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
        "tips": _tips(picture.tips),
        "edges": _pairs(picture.edges, len(nodes)),
        "squares": _squares(picture.shapes),
        "targets": list(map(int, picture.targets)),
        "truth": list(map(int, picture.truth)),
        "molecule": bool(picture.bonds),
        "directed": picture.directed,
        "drawing": _drawing(picture),
    }


def _tips(tips: Sequence[str]) -> dict:
    """Each line once, since many nodes share theirs, and which lines each node has."""
    lines: dict[str, int] = {}
    rows = [[lines.setdefault(line, len(lines)) for line in tip.split("\n")] for tip in tips]
    return {"rows": rows, "lines": list(lines)}


def _drawing(picture: Picture) -> dict:
    drawing = drawing_of(picture)
    lines = {layer: [_short(line) for line in lines] for layer, lines in drawing.lines.items()}
    names = {} if picture.bonds else {"places": PLACES, "zooms": label_zooms(picture)}
    return drawing._asdict() | {"lines": lines} | names


def _labels(picture: Picture, panel: Panel) -> str:
    """For each node the zoom its name is written from, and its place; NEVER for none."""
    columns = np.full((len(picture.nodes), 2), NEVER)
    for node, zoom, place in place_labels(picture, panel):
        columns[node] = zoom, place
    return _packed(columns, "u1")


def _panel(panel: Panel, picture: Picture) -> dict:
    edges = len(picture.edges)
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
        "shared": list(map(int, panel.shared)),
        "cut": list(map(int, panel.cut)),
        "added": list(map(int, panel.added)),
        "labels": _labels(picture, panel),
        "frames": _frames(panel),
        "curves": {name: [float(f"{value:.4g}") for value in curve] for name, curve in panel.curves.items()},
    }


def _short(numbers: Iterable[float]) -> list[float]:
    return [round(number, 2) if number % 1 else int(number) for number in numbers]


def _frames(panel: Panel) -> dict | None:
    if len(panel.frames) < 2 or panel.weights is None:
        return None  # nothing to replay
    return {
        "steps": [int(step) for step, _ in panel.frames],
        "weights": packed_frames([weights for _, weights in panel.frames]),
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
