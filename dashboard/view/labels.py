"""Names of nodes: where each is written, and from which zoom on, so that none lie on one another or on a node at any zoom.

Only what is explained is always named, even where it has no room. A name keeps its place while one zooms, and while one goes
through the sizes of an explanation; it only appears. So painters decide nothing: they compare the zoom with a number.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dashboard.view.drawing import RADIUS, RING_GAP
from dashboard.view.picture import Label, Panel, Picture
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
NEVER = 255  # no zoom


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


Part = tuple[tuple[int, ...], tuple[int, ...]]  # kept edges and kept nodes


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
    if panel.labels is not None:
        return panel.labels
    if panel.weights is None:
        return tuple(sorted(_graph_labels(picture).labels))
    return labels_in(labels_at_sizes(picture, ((panel.kept, panel.kept_nodes),), 1)[0])


def labels_in(columns: np.ndarray) -> tuple[Label, ...]:
    """One size of `labels_at_sizes` as a panel has it."""
    written = np.flatnonzero(columns[:, 0] != NEVER).tolist()
    return tuple(Label(node, *columns[node].tolist()) for node in written)


@lru_cache(32)
def labels_at_sizes(picture: Picture, parts: tuple[Part, ...], usual: int) -> np.ndarray:
    """The zoom and the place of each node's name at every size (sizes, nodes, 2); NEVER for none.

    Names are placed once, in the order in which their nodes are first kept. So those of a small part have the best places,
    and none moves from one size to the next. `usual` is the size whose edges they keep clear of, or else the first they are in.
    """
    count = len(picture.nodes)
    edges, nodes = _members(parts, 0, len(picture.edges)), _members(parts, 1, count)  # (sizes, ...)
    nodes[:, list(picture.targets)] = True
    first = np.where(nodes.any(0), nodes.argmax(0), len(parts))
    named = [i for i in np.argsort(first, kind="stable").tolist() if first[i] < len(parts) and picture.labels[i]]
    rank = nodes.any(0).astype(int)
    rank[list(picture.targets)] = 2
    inks = [_ink(picture, np.flatnonzero(edges[k]), np.flatnonzero(nodes[k])) for k in range(len(parts))]
    placed, others = _Labels(picture), _graph_labels(picture)
    placed.add_all(named, rank, lambda node: inks[max(int(first[node]), usual - 1)])
    ever = np.flatnonzero(edges.any(0)), np.flatnonzero(nodes.any(0))
    clear = others.clear_of(placed, _ink(picture, *ever))  # (names, names placed and points of ink)
    own = [label.node for label in placed.labels]
    there = np.concatenate([nodes[:, own], edges[:, ever[0].repeat(len(ALONG))], nodes[:, ever[1]]], 1)
    columns = np.full((len(parts), count, 2), NEVER, np.uint8)
    for size, row in enumerate(columns):
        since = np.maximum(others.since, clear[:, there[size]].max(1, initial=0))
        for label, zoom in zip(others.labels, since.tolist(), strict=True):
            if zoom < len(others.scales):
                row[label.node] = zoom + 1, label.place
        row[nodes[size]] = NEVER
        for label in placed.labels:
            if nodes[size, label.node]:
                row[label.node] = label.zoom, label.place
    return columns


def _members(parts: Sequence[Part], which: int, count: int) -> np.ndarray:
    """Which edges (0) or nodes (1) each part keeps."""
    out = np.zeros((len(parts), count), bool)
    for row, part in zip(out, parts, strict=True):
        row[list(part[which])] = True
    return out


@lru_cache(64)
def _graph_labels(picture: Picture) -> "_Labels":
    """Names of the graph itself; what an explanation keeps then comes before them, and moves none."""
    rank = importance(picture, Panel("", ""))
    labels = _Labels(picture)
    ink = _ink(picture, (), range(len(rank)))
    labels.add_all([i for i, label in enumerate(picture.labels) if label], rank, lambda _: ink)
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

    def add_all(self, nodes: list[int], rank: np.ndarray, ink_for: Callable[[int], np.ndarray]) -> None:
        """Those that matter most first, of equals in the order given; they may leave the sheet, if need be."""
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
                begin, ink = max(zoom, self.usual), ink_for(nodes[i])
                seen = [z for z in (begin, begin + 4, begin + 8) if z < len(self.scales)]
                hidden = sum(
                    CUT * cut[i, z] + COVER * covers[z] + _covered(boxes[i, z], ink * self.scales[z]) for z in seen
                )
                side = int(np.where(free[zoom], hidden, np.inf).argmin())
                placed[len(self.labels)] = boxes[i, :, side]
                self._add(nodes[i], zoom, side)
                self.boxes = placed[: len(self.labels)]

    def clear_of(self, others: "_Labels", ink: np.ndarray) -> np.ndarray:
        """From which zoom on each name is clear of each of the others and of each point of ink (names, others and points)."""
        spots = ink[:, None] * self.scales[:, None]  # (points, zooms, 2)
        boxes = np.concatenate([others.boxes, np.concatenate([spots - INK_PX, spots + INK_PX], 2)])
        since = np.concatenate([others.since, np.zeros(len(ink), int)])
        own, other = np.nonzero(
            _overlap(self._around(self.boxes, self.since)[:, None], self._around(boxes, since)[None])
        )
        shown = np.arange(len(self.scales)) >= since[other, None]
        clash = _overlap(self.boxes[own], boxes[other]) & shown  # (pairs that can, zooms)
        clear = np.zeros((len(self.boxes), len(boxes)), int)
        clear[own, other] = np.where(clash.any(1), len(self.scales) - clash[:, ::-1].argmax(1), 0)
        return clear

    def _around(self, boxes: np.ndarray, since: np.ndarray) -> np.ndarray:
        """What each box covers of the picture, in its units, at any zoom from which on it is there (boxes, 4)."""
        there = (np.arange(len(self.scales)) >= since[:, None])[..., None]
        units = boxes / self.scales[:, None]
        low, high = np.where(there, units[..., :2], np.inf).min(1), np.where(there, units[..., 2:], -np.inf).max(1)
        return np.concatenate([low, high], 1)

    def _add(self, node: int, zoom: int, side: int) -> None:
        is_target = node in self.picture.targets
        always = is_target and not self.labels
        self.labels.append(Label(node, 0 if always else zoom + 1, side + len(_SIDES) * is_target))
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
