"""What is drawn, as plain data: one Picture of a graph, and the Panels that colour it. Positions in lists, no drawing."""

from dataclasses import dataclass, field
from typing import NamedTuple

# Shapes of a node: right and wrong differ in shape as well as colour.
DOT, SQUARE = "dot", "square"


@dataclass(frozen=True)
class Picture:
    """One graph as it is drawn. All panels share it, so that the eye compares weights and nothing else.

    Lists are columns: entry i of each belongs to node i (or edge i). Edges, targets and truth speak of positions in
    these lists, not of the data set's own numbers, which are in `nodes`. One unit is one pixel at zoom 1; a node is
    about 8 wide and an edge about 50 long. `y` grows downwards, as on a screen.
    """

    nodes: tuple[int, ...]  # the data set's numbers: what a click gives back
    x: tuple[float, ...]
    y: tuple[float, ...]
    colours: tuple[str, ...]  # "#RRGGBB"
    labels: tuple[str, ...]  # drawn at the node; "" for none. An atom's letters in a molecule
    tips: tuple[str, ...]  # shown on hover, lines apart by "\n"
    edges: tuple[tuple[int, int], ...]
    shapes: tuple[str, ...] = ()  # DOT or SQUARE; empty: all dots
    targets: tuple[int, ...] = ()  # nodes with a ring: what is explained
    truth: tuple[int, ...] = ()  # edges of the planted motif: dashed outline
    bonds: tuple[int, ...] = ()  # 1, 2 or 3 lines for each edge; empty: not a molecule
    directed: bool = False


class Label(NamedTuple):
    """A name that is written."""

    node: int
    zoom: int  # from which on, in the picture's `label_zooms`
    place: int  # in PLACES


@dataclass(frozen=True)
class Panel:
    """One way to weigh the edges of a Picture."""

    name: str  # for the file a picture is saved in, and for tests
    title: str
    lines: tuple[str, ...] = ()  # scores and remarks under the title
    weights: tuple[float, ...] | None = None  # 0 to 1 for each edge; None: the graph itself, nothing weighed
    kept: tuple[int, ...] = ()  # edges of G_S
    kept_nodes: tuple[int, ...] = ()
    unstable: tuple[int, ...] = ()  # edges that some starts keep and others drop: dotted
    shared: tuple[int, ...] = ()  # edges that another panel keeps too: a dot in the middle
    cut: tuple[int, ...] = ()  # edges that were taken away: faint, with a cross
    added: tuple[int, ...] = ()  # edges that were not there: strong, with a plus
    frames: tuple[tuple[int, tuple[float, ...]], ...] = ()  # (step, weights): how the mask formed
    curves: dict[str, tuple[float, ...]] = field(default_factory=dict)  # loss terms, one value a step
    labels: tuple[Label, ...] | None = None  # where names are; None: where they lie best


@dataclass(frozen=True)
class Points:
    """A map: one point for each node or graph of a data set. Columns, like a Picture; x and y from 0 to 1, y up."""

    ids: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour_of: tuple[int, ...]  # indices into `legend`
    legend: tuple[tuple[str, str], ...]  # (name, "#RRGGBB")
    tips: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()  # positions; drawn faintly under the points


@dataclass(frozen=True)
class Thumbnail:
    """One small picture in a gallery."""

    id: int
    title: str
    note: str
    svg: str  # made by svg.py, which escapes what it writes


def known_truth(picture: Picture) -> str:
    """What a dashed outline means: nothing was planted in a real molecule."""
    return "groups known to do harm" if picture.bonds else "the planted answer"
