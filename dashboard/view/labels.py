"""Names of nodes: where each is written, and from which zoom on, so that none lie on one another or on a node at any zoom.

Only what is explained is always named, even where it has no room. A name keeps its place while one zooms; it only appears. So painters decide nothing: they compare the zoom with a number.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dashboard.view.drawing import RADIUS, RING_GAP
from dashboard.view.picture import Panel, Picture
from dashboard.view.plain_text import shortened
from dashboard.view.style import STYLE, growth, label_size
from dashboard.view.text_width import text_width

LONGEST = 18  # letters
GAP, TARGET_GAP = RADIUS + 2.5, RADIUS + 6.5  # from the middle of a node
TALL = 0.6  # half a line of letters and the space around it, of their size
ASIDE = 2  # pixels free at both ends of a name
STEP = 2**0.25  # from one zoom that is looked at to the next
CLOSEST = 12.0  # pixels a unit; who is nearer sees no new names
SMALLEST = (270, 200)  # pixels a picture fills at least; it can be seen at half that
USUAL = (640, 380)  # pixels of a canvas
MOST = 40  # names in it, of nodes that matter as much, unless one is near
NEAR = 1.25  # pixels a unit from which all names may be written
CUT, INK_PX = 12, 3  # what it costs to leave the sheet, in points of ink; how far ink reaches
COVER = 6  # and to lie on a node
RING = RADIUS + RING_GAP + max(width for _, width in STYLE["ring"]) / 2  # how far a ring reaches
ALONG = (0.2, 0.35, 0.5, 0.65, 0.8)  # where a kept edge has its points of ink


class Place(NamedTuple):
    """Where a name lies of its node: distances right and down, heights of its letters down, and which part of it is there."""

    right: float
    down: float
    heights: float
    anchor: str


# Below, above, right or left; then pushed in from a border; then at the corners.
_SIDES = (
    *((0, 1, "middle"), (0, -1, "middle"), (1, 0, "start"), (-1, 0, "end")),
    *((-0.7, 1, "start"), (0.7, 1, "end"), (-0.7, -1, "start"), (0.7, -1, "end")),
    *((0.8, 0.6, "start"), (0.8, -0.6, "start"), (-0.8, 0.6, "end"), (-0.8, -0.6, "end")),
)
PLACES = tuple(
    Place(round(right * gap, 2), round(down * gap, 2), round(down * TALL, 2), anchor)
    for gap in (GAP, TARGET_GAP)
    for right, down, anchor in _SIDES
)
_BEGINS = {"start": 0.0, "middle": -0.5, "end": -1.0}  # where a name begins, in its own widths


class Label(NamedTuple):
    node: int
    zoom: int  # from which on it is written, in the picture's `label_zooms`
    place: int  # in PLACES


def label_text(label: str) -> str:
    return shortened(label, LONGEST)


def importance(picture: Picture, panel: Panel) -> np.ndarray:
    """2 for what is explained, 1 for what the explanation keeps, 0 for the rest."""
    rank = np.zeros(len(picture.nodes), int)
    if panel.weights is not None:
        rank[list(panel.kept_nodes)] = 1
    rank[list(picture.targets)] = 2
    return rank


def label_zooms(picture: Picture) -> tuple[float, ...]:
    """Pixels a unit; the first is any at all."""
    return (0.0, *(math.ceil(1000 * scale) / 1000 for scale in _graph_labels(picture).scales.tolist()))


def place_labels(picture: Picture, panel: Panel) -> tuple[Label, ...]:
    """The target's name first, then the explanation's, then others, each where it hides least and as early as it can."""
    if picture.bonds:
        return ()  # an atom's letters are its own shape
    everything = _graph_labels(picture)
    if panel.weights is None:
        return tuple(sorted(everything.labels))
    rank, named = importance(picture, panel), [i for i, label in enumerate(picture.labels) if label]
    ink = _ink(picture, panel.kept, np.flatnonzero(rank))
    first = _Labels(picture)
    first.add_all([i for i in named if rank[i]], rank, ink)
    return tuple(
        sorted((*first.labels, *everything.later_than(first, ink, without=set(np.flatnonzero(rank).tolist()))))
    )


@lru_cache(64)
def _graph_labels(picture: Picture) -> "_Labels":
    """Names of the graph itself; what an explanation keeps then comes before them, and moves none."""
    rank = importance(picture, Panel("", ""))
    labels = _Labels(picture)
    labels.add_all([i for i, label in enumerate(picture.labels) if label], rank, _ink(picture, (), range(len(rank))))
    return labels


def _ink(picture: Picture, kept: Iterable[int], standing: Iterable[int]) -> np.ndarray:
    """Points of what a name should not cover: kept edges, and nodes that are not faded."""
    ends = [picture.edges[edge] for edge in kept]
    x, y = picture.x, picture.y
    points = [(x[a] + (x[b] - x[a]) * part, y[a] + (y[b] - y[a]) * part) for a, b in ends for part in ALONG]
    return np.array([*points, *((x[i], y[i]) for i in standing)]).reshape(-1, 2)


def _ladder(sheet: np.ndarray) -> np.ndarray:
    """The zooms that are looked at, from the smallest canvas on."""
    across, down = np.maximum(sheet[1] - sheet[0], 1e-6).tolist()
    least = min(SMALLEST[0] / across, SMALLEST[1] / down, STYLE["fit"]["largest"]) / 2
    return least * STEP ** np.arange(1 + max(0, np.ceil(np.log(CLOSEST / least) / np.log(STEP))))


def _earliest(at: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """From which zoom on at most so many names, of nodes that matter as much, are in the window around each node."""
    out = np.zeros(len(at))
    for least in np.unique(rank[rank < 2]).tolist():
        among, asking = at[rank >= least], rank == least
        if len(among) > MOST:
            apart = (np.abs(at[asking][:, None] - among[None]) * 2 / np.array(USUAL)).max(2)  # windows a unit
            out[asking] = np.minimum(NEAR, 1 / np.maximum(np.partition(apart, MOST, 1)[:, MOST], 1e-9))
    return out


class _Labels:
    """Names that have a place, and from which zoom on they are clear of one another."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.at = np.array([picture.x, picture.y]).T.reshape(-1, 2)
        sheet = np.array([self.at.min(0), self.at.max(0)]) if len(self.at) else np.zeros((2, 2))
        self.scales = _ladder(sheet)
        room = (np.array(USUAL) - 2 * STYLE["fit"]["margin"]) / np.maximum(sheet[1] - sheet[0], 1e-6)
        self.usual = int(np.searchsorted(self.scales, min(*room, STYLE["fit"]["largest"]), side="right")) - 1
        grown = [growth(scale) for scale in self.scales.tolist()]
        self.grow = np.array(grown)
        self.sizes = np.array([label_size(grow * STEP**0.5) for grow in grown])  # as large as until the next zoom
        margin = np.array([-1, 1])[:, None, None] * (STYLE["fit"]["margin"] + 1)
        self.low, self.high = sheet[:, None] * self.scales[:, None] + margin  # (zooms, 2) each
        self.spots = self.at[:, None] * self.scales[:, None]  # (nodes, zooms, 2)
        ringed = np.isin(np.arange(len(self.at)), picture.targets)
        self.reach = np.where(ringed, RING, RADIUS)[:, None] * self.grow  # (nodes, zooms)
        self.discs = np.concatenate([self.spots - self.reach[..., None], self.spots + self.reach[..., None]], 2)
        self.labels: list[Label] = []
        self.boxes = np.empty((0, len(self.scales), 4))  # left, top, right, bottom of each, at every zoom
        self.since = np.empty(0, int)

    def add_all(self, nodes: list[int], rank: np.ndarray, ink: np.ndarray) -> None:
        """Those that matter most first; they may leave the sheet, if need be."""
        first = np.searchsorted(self.scales, _earliest(self.at[nodes], rank[nodes]))
        boxes = self._boxes(nodes)
        cut = (boxes[..., :2] < self.low[:, None]).any(-1) | (boxes[..., 2:] > self.high[:, None]).any(-1)
        placed = np.empty((len(nodes), len(self.scales), 4))
        for i in np.argsort(-rank[nodes], kind="stable").tolist():
            free = self._free(boxes[i], int(first[i])) & (rank[nodes[i]] > 0 or ~cut[i])  # (zooms, sides)
            covers = self._covers(nodes[i], boxes[i], int(free.any(1).argmax()))
            if rank[nodes[i]] < 2:
                free &= ~np.logical_or.accumulate(covers[::-1])[::-1]  # clear of all nodes from there on
                free = free & ~cut[i] if (free & ~cut[i]).any() else free
            zoom = int(free.any(1).argmax())
            if free[zoom].any():
                # there or where the whole picture is seen, and one and two doublings on
                begin = max(zoom, self.usual)
                seen = [z for z in (begin, begin + 4, begin + 8) if z < len(self.scales)]
                hidden = sum(
                    CUT * cut[i, z] + COVER * covers[z] + _covered(boxes[i, z], ink * self.scales[z]) for z in seen
                )
                side = int(np.where(free[zoom], hidden, np.inf).argmin())
                placed[len(self.labels)] = boxes[i, :, side]
                self._add(nodes[i], zoom, side)
                self.boxes = placed[: len(self.labels)]

    def later_than(self, others: "_Labels", ink: np.ndarray, without: set[int]) -> Iterable[Label]:
        """The same names, each once it is clear of the others and of the ink."""
        zooms = np.arange(1, len(self.scales) + 1)
        spots = ink[:, None] * self.scales[:, None]  # (points, zooms, 2)
        taboo = np.concatenate([others.boxes, np.concatenate([spots - INK_PX, spots + INK_PX], 2)])
        shown = zooms > np.concatenate([others.since, np.zeros(len(ink), int)])[:, None]
        clash = _overlap(self.boxes[:, None], taboo[None]) & shown  # (names, others, zooms)
        since = np.maximum(self.since, (clash.any(1) * zooms).max(1, initial=0))
        for label, zoom in zip(self.labels, since.tolist(), strict=True):
            if label.node not in without and zoom < len(self.scales):
                yield label._replace(zoom=zoom + 1)

    def _add(self, node: int, zoom: int, side: int) -> None:
        place = side + len(_SIDES) * (node in self.picture.targets)
        self.labels.append(Label(node, zoom + 1 if self.labels else 0, place))
        self.since = np.append(self.since, zoom)

    def _free(self, boxes: np.ndarray, first: int) -> np.ndarray:
        """From which zooms on, and at which sides, no other name is ever in the way (zooms, sides)."""
        free = np.zeros(boxes.shape[:2], bool)
        boxes, others = boxes[first:], self.boxes[:, first:]
        around = np.concatenate([boxes[..., :2].min(1), boxes[..., 2:].max(1)], 1)  # all sides together (zooms, 4)
        near = np.flatnonzero(_overlap(around, others).any(1))  # of many names, few
        shown = np.arange(first, first + len(boxes)) >= self.since[near, None]  # (names, zooms)
        clash = np.any(_overlap(boxes, others[near][:, :, None]) & shown[..., None], axis=0)  # (zooms, sides)
        free[first:] = ~np.logical_or.accumulate(clash[::-1])[::-1]
        return free

    def _covers(self, node: int, boxes: np.ndarray, first: int) -> np.ndarray:
        """At which zooms, from the `first` on, and sides a name lies on another node than its own (zooms, sides)."""
        out = np.zeros(boxes.shape[:2], bool)
        low, high = boxes[first:, :, :2], boxes[first:, :, 2:]
        around = np.concatenate([low.min(1), high.max(1)], 1)  # all sides together (zooms, 4)
        near = np.flatnonzero(_overlap(around, self.discs[:, first:]).any(1))  # of many nodes, few
        near = near[near != node]
        spots = self.spots[near, first:, None]  # (nodes, zooms, 1, 2)
        apart = np.maximum(np.maximum(low - spots, spots - high), 0.0)  # from the disc's middle to the box
        out[first:] = ((apart**2).sum(-1) < self.reach[near, first:, None] ** 2).any(0)
        return out

    def _boxes(self, nodes: list[int]) -> np.ndarray:
        """Around each name, at every zoom and side (names, zooms, sides, 4)."""
        picture, count = self.picture, len(_SIDES)
        gaps = np.array([PLACES[:count], PLACES[count:]], object)[..., :3].astype(float)  # (2, sides, 3)
        places = gaps[[int(node in picture.targets) for node in nodes]][:, None]  # (names, 1, sides, 3)
        begins = np.array([_BEGINS[anchor] for _, _, anchor in _SIDES])
        widths = np.array([text_width(label_text(picture.labels[node])) for node in nodes])[:, None, None]
        scales, size, grow = self.scales[:, None], self.sizes[:, None], self.grow[:, None]
        at = self.at[nodes][:, None, None]  # (names, 1, 1, 2)
        long, tall = widths * size / 100, TALL * size
        x = at[..., 0] * scales + places[..., 0] * grow + begins * long
        y = at[..., 1] * scales + places[..., 1] * grow + places[..., 2] * size
        return np.stack([x - ASIDE, y - tall, x + long + ASIDE, y + tall], -1)


def _covered(boxes: np.ndarray, ink: np.ndarray) -> np.ndarray:
    """How many points of ink each box lies on."""
    return _overlap(boxes[:, None], np.concatenate([ink - INK_PX, ink + INK_PX], 1)[None]).sum(1)


def _overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a[..., 0] < b[..., 2]) & (a[..., 2] > b[..., 0]) & (a[..., 1] < b[..., 3]) & (a[..., 3] > b[..., 1])
