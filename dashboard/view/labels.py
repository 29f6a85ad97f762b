"""Names of nodes: which are written, and where they hide least.

The canvas does the same in labels.js, since it depends on the zoom; both go by the numbers of style.py and by the widths
of text_width.py, and a test in the browser compares the two.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.view.plain_text import shortened
from dashboard.view.scene import Scene, Words
from dashboard.view.style import STYLE, Ink
from dashboard.view.text_width import text_width

LONGEST = 18  # letters
Box = tuple[float, float, float, float]


class _Spot(NamedTuple):
    hidden: int
    x: float
    y: float
    box: Box
    cut: bool


def label_text(label: str) -> str:
    return shortened(label, LONGEST)


def label_words(scene: Scene) -> Iterator[Words]:
    """The target's name first, then the explanation's, then others, as long as none lie on one another."""
    style = STYLE["label"]
    rank = {i: _importance(scene, i) for i, label in enumerate(scene.picture.labels) if label and _shows(scene, i)}
    least = 0
    if scene.view.scale < style["from_scale"]:  # with many nodes in view, and with many that matter
        counts = [sum(each >= least for each in rank.values()) for least in (0, 1, 2)]
        least = next((i for i, count in enumerate(counts) if count <= style["at_most"]), 2)
    size = _rounded(min(max(style["size"] * scene.grow, style["range_px"][0]), style["range_px"][1]))
    ink, taken = list(_important_ink(scene)), []
    for i in sorted(rank, key=lambda i: -rank[i]):
        if rank[i] < least:
            break
        text = label_text(scene.picture.labels[i])
        spot = _best_spot(scene, i, text_width(text) * size / 100, size, ink, taken)
        if spot is None or (spot.cut and not rank[i]):
            continue  # no room that is not another label's, or not enough of it
        taken.append(spot.box)
        share = 1.0 if rank[i] else style["share"] if i in scene.standing else style["faded"]
        weight = style["weights"][bool(rank[i])]
        yield Words(text, spot.x, spot.y, size, weight, Ink("text", share), style["halo_px"])


def _rounded(value: float) -> int:
    return int(value + 0.5)  # as JavaScript rounds


def _shows(scene: Scene, i: int) -> bool:
    return 0 < scene.x[i] < scene.view.width and scene.view.above < scene.y[i] < scene.view.height


def _importance(scene: Scene, i: int) -> int:
    """2 for what is explained, 1 for what the explanation keeps, 0 for the rest."""
    if i in scene.picture.targets:
        return 2
    return int(scene.weights is not None and not scene.forming and i in scene.standing)


def _important_ink(scene: Scene) -> Iterator[tuple[float, float]]:
    """Points along what a label should not cover: kept edges, and nodes that are not faded."""
    for edge in scene.kept:
        at = scene.segment(edge)
        for part in STYLE["label"]["along"]:
            yield at.ax + (at.bx - at.ax) * part, at.ay + (at.by - at.ay) * part
    yield from ((scene.x[i], scene.y[i]) for i in scene.standing)


def _best_spot(scene: Scene, i: int, width: float, size: float, ink: list, taken: list[Box]) -> _Spot | None:
    """Below, above, right or left of the node: where no other label is, and least of the ink."""
    style, view, best = STYLE["label"], scene.view, None
    away = scene.radius + style["target_gap" if i in scene.picture.targets else "gap"] * scene.grow
    half, tall, near = width / 2 + style["aside_px"], size * style["tall"], style["ink_px"]
    for right, down in style["sides"]:
        x, y = scene.x[i] + right * (away + half), scene.y[i] + down * (away + tall)
        if not right:
            x = max(half, min(view.width - half, x))  # pushed in from the sheet's edge
        box = (x - half, y - tall, x + half, y + tall)
        if any(_overlap(box, other) for other in taken):
            continue
        cut = box[0] <= -1 or box[1] <= view.above - 1 or box[2] >= view.width + 1 or box[3] >= view.height + 1
        covered = sum(_overlap(box, (a - near, b - near, a + near, b + near)) for a, b in ink)
        spot = _Spot(style["cut_cost"] * cut + covered, x, y, box, cut)
        if best is None or spot.hidden < best.hidden:
            best = spot
        if not spot.hidden:
            break
    return best


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and a[2] > b[0] and a[1] < b[3] and a[3] > b[1]
