"""Room for names: which places beside a node are free, and from which zoom on.

Everything is looked at on a ladder of zooms at once. Boxes are columns, left, top, right and bottom, of which the last axis
is the zoom: (4, ..., zooms).
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dashboard.view.drawing import RADIUS, RING_GAP
from dashboard.view.picture import Label, Picture
from dashboard.view.plain_text import shortened
from dashboard.view.style import STYLE, growth, label_size
from dashboard.view.text_width import text_width

LONGEST = 22  # letters: a name of a class, as of a member of a prototype, is whole
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
AT_ONCE = 50_000  # pairs of a name and a node at a zoom that are compared in one go


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
# A name's distances from its node, as (places, 3), and where it begins, in its own widths.
_DISTANCES = np.array([place[:3] for place in PLACES])
_BEGINS = np.array([{"start": 0.0, "middle": -0.5, "end": -1.0}[anchor] for _, _, anchor in _SIDES])


def label_text(label: str) -> str:
    return shortened(label, LONGEST)


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


class PlacedLabels:
    """Names that have a place, and from which zoom on they are clear of one another."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.at = np.array([picture.x, picture.y]).reshape(2, -1)
        sheet = np.array([self.at.min(1), self.at.max(1)]) if self.at.size else np.zeros((2, 2))
        self.scales = _ladder(sheet)
        room = (np.array(USUAL) - 2 * STYLE["fit"]["margin"]) / np.maximum(sheet[1] - sheet[0], 1e-6)
        self.usual = int(np.searchsorted(self.scales, min(*room, STYLE["fit"]["largest"]), side="right")) - 1
        grown = [growth(scale) for scale in self.scales.tolist()]
        self.grow = np.array(grown)
        self.sizes = np.array([label_size(grow * STEP**0.5) for grow in grown])  # as large as until the next zoom
        margin = np.array([-1, 1])[:, None, None] * (STYLE["fit"]["margin"] + 1)
        self.low, self.high = sheet[..., None] * self.scales + margin  # (2, zooms) each
        self.spots = self.at[..., None] * self.scales  # (2, nodes, zooms)
        ringed = np.isin(np.arange(self.at.shape[1]), picture.targets)
        self.reach = np.where(ringed, RING, RADIUS)[:, None] * self.grow  # (nodes, zooms)
        self.discs = np.concatenate([self.spots - self.reach, self.spots + self.reach])
        self.labels: list[Label] = []
        self.since = np.empty(0, int)
        self.boxes = np.empty((4, 0, len(self.scales)))  # of each; at zooms at which it is not there, around nothing

    def add_all(self, nodes: list[int], rank: np.ndarray, ink_for: Callable[[int], np.ndarray]) -> None:
        """Those that matter most first, of equals in the order given; they may leave the sheet, if need be."""
        rank = rank[nodes]
        first = np.searchsorted(self.scales, _earliest(self.at.T[nodes], rank))
        boxes = self._boxes(nodes)
        cut = (boxes[:2] < self.low[:, None, None]).any(0) | (boxes[2:] > self.high[:, None, None]).any(0)
        around = np.concatenate([boxes[:2].min(2), boxes[2:].max(2)])  # all sides of a name together (4, names, zooms)
        lower = rank < 2  # what is explained may lie on nodes
        least = np.repeat(first[:, None], len(_SIDES), 1)  # (names, sides)
        least[lower] = np.maximum(least[lower], self._off_nodes(nodes, boxes, around, first, lower))
        may = (np.arange(len(self.scales)) >= least[..., None]) & ((rank > 0)[:, None, None] | ~cut)
        self.boxes = np.empty((4, len(nodes), len(self.scales)))
        for i in np.argsort(-rank, kind="stable").tolist():
            free = self._free(boxes[:, i], around[:, i], int(first[i])) & may[i]  # (sides, zooms)
            if rank[i] == 1 and (whole := free & ~cut[i]).any():
                free = whole
            seen = free.any(0)
            zoom = int(seen.argmax())
            if seen[zoom]:
                sides = np.flatnonzero(free[:, zoom])
                side = self._least_hiding(nodes[i], zoom, sides, boxes[:, i], cut[i], lambda i=i: ink_for(nodes[i]))
                self._add(nodes[i], zoom, side, boxes[:, i, side])
        self.boxes = self.boxes[:, : len(self.labels)]

    def _least_hiding(
        self, node: int, zoom: int, sides: np.ndarray, boxes: np.ndarray, cut: np.ndarray, ink: Callable[[], np.ndarray]
    ) -> int:
        """The first of those sides at which a name hides least: there or where the whole picture is seen, and one and two
        doublings on."""
        if len(sides) == 1:
            return int(sides[0])
        begin = max(zoom, self.usual)
        seen = [z for z in (begin, begin + 4, begin + 8) if z < len(self.scales)]
        there = boxes[:, sides[:, None], seen]  # (4, sides, zooms)
        hidden = CUT * cut[sides[:, None], seen] + _covered(there[:, :, None], self._points(ink(), seen)).sum(1)
        if node in self.picture.targets:
            hidden = hidden + COVER * self._on_nodes(node, there, seen)
        return int(sides[hidden.sum(1).argmin()])

    def _on_nodes(self, node: int, boxes: np.ndarray, seen: list[int]) -> np.ndarray:
        """Whether each box lies on another node than its own (sides, zooms)."""
        others = np.arange(len(self.reach)) != node
        discs = self.spots[:, None, others][..., seen], self.reach[others][:, seen]
        return np.any(_within(boxes[:, :, None], *discs), axis=1)

    def _points(self, ink: np.ndarray, zooms: list[int] | slice) -> np.ndarray:
        """Points of ink with what they reach, as boxes (4, points, zooms)."""
        spots = ink.T[..., None] * self.scales[zooms]
        return np.concatenate([spots - INK_PX, spots + INK_PX])

    def clear_of(self, others: "PlacedLabels", ink: np.ndarray) -> np.ndarray:
        """From which zoom on each name is clear of each of the others and of each point of ink (names, others and points)."""
        boxes = np.concatenate([others.boxes, self._points(ink, slice(None))], 1)
        near = _covered(self._in_units[:, :, None], self._units(boxes)[:, None])
        own, other = np.nonzero(near)
        clash = _covered(self.boxes[:, own], boxes[:, other])  # (pairs that can, zooms)
        clear = np.zeros(near.shape, np.uint8)
        clear[own, other] = np.where(clash.any(1), len(self.scales) - clash[:, ::-1].argmax(1), 0)
        return clear

    @cached_property
    def _in_units(self) -> np.ndarray:
        return self._units(self.boxes)

    def _units(self, boxes: np.ndarray) -> np.ndarray:
        """What each box covers of the picture, in its units, at any zoom at which it is there (4, boxes)."""
        units = boxes / self.scales
        return np.concatenate([units[:2].min(2), units[2:].max(2)])

    def _add(self, node: int, zoom: int, side: int, box: np.ndarray) -> None:
        is_target = node in self.picture.targets
        always = is_target and not self.labels
        there = self.boxes[:, len(self.labels)]
        there[:, zoom:] = box[:, zoom:]
        there[:2, :zoom], there[2:, :zoom] = np.inf, -np.inf
        self.labels.append(Label(node, 0 if always else zoom + 1, side + len(_SIDES) * is_target))
        self.since = np.append(self.since, zoom)

    def _free(self, boxes: np.ndarray, around: np.ndarray, first: int) -> np.ndarray:
        """From which zooms on, and at which sides, no other name is ever in the way (sides, zooms)."""
        others = self.boxes[:, : len(self.labels), first:]
        near = np.flatnonzero(_covered(around[:, None, first:], others).any(1))  # of many names, few
        clash = np.any(_covered(boxes[:, :, None, first:], others[:, None, near]), axis=1)
        free = np.zeros(boxes.shape[1:], bool)
        free[:, first:] = ~np.logical_or.accumulate(clash[:, ::-1], 1)[:, ::-1]
        return free

    def _off_nodes(
        self, nodes: list[int], boxes: np.ndarray, around: np.ndarray, first: np.ndarray, which: np.ndarray
    ) -> np.ndarray:
        """Of `which` names, from which zoom on each side lies on no node but its own (names, sides).

        From the nearest zoom outwards: most names soon have no side left that is to be looked at.
        """
        clear, own = np.zeros((len(nodes), len(_SIDES)), int), np.array(nodes, int)
        end = len(self.scales)
        while end > 0 and len(asking := np.flatnonzero(which & (first < end) & ~clear.all(1))):
            begin = max(0, end - max(1, AT_ONCE // (len(asking) * len(self.reach))))
            zooms = slice(begin, end)
            near = _covered(around[:, asking, None, zooms], self.discs[:, None, :, zooms])
            near[np.arange(len(asking)), own[asking]] = False
            name, node, zoom = np.nonzero(near)  # of many nodes, few
            name, zoom = asking[name], zoom + begin
            sides = boxes[:, name, :, zoom].transpose(1, 0, 2)  # (4, those near, sides)
            discs = self.spots[:, node, zoom, None], self.reach[node, zoom, None]
            hit, side = np.nonzero(_within(sides, *discs))
            np.maximum.at(clear, (name[hit], side), zoom[hit] + 1)
            end = begin
        return clear[which]

    def _boxes(self, nodes: list[int]) -> np.ndarray:
        """Around each name, at every side and zoom (4, names, sides, zooms)."""
        picture, count = self.picture, len(_SIDES)
        places = _DISTANCES.reshape(2, count, 3)[[int(node in picture.targets) for node in nodes]][..., None, :]
        widths = np.array([text_width(label_text(picture.labels[node])) for node in nodes])[:, None, None]
        at = self.at[:, nodes, None, None]  # (2, names, 1, 1)
        long, tall = widths * self.sizes / 100, TALL * self.sizes
        x = at[0] * self.scales + places[..., 0] * self.grow + _BEGINS[:, None] * long
        y = at[1] * self.scales + places[..., 1] * self.grow + places[..., 2] * self.sizes
        return np.stack([x - ASIDE, y - tall, x + long + ASIDE, y + tall])


def _covered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether boxes overlap; those of equal shape, but for the first axis, or of one that fits."""
    return (a[0] < b[2]) & (a[2] > b[0]) & (a[1] < b[3]) & (a[3] > b[1])


def _within(boxes: np.ndarray, spots: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Whether discs, by their middles and how far they reach, lie under boxes."""
    apart = np.maximum(np.maximum(boxes[:2] - spots, spots - boxes[2:]), 0.0)  # from the disc's middle to the box
    return (apart**2).sum(0) < reach**2
