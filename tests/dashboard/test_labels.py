"""Names of nodes: never on one another, at any zoom; what matters comes first; nothing jumps."""

import random
from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from dashboard import services
from dashboard.services.pictures import drawn
from dashboard.view.labels import NEVER, label_text, labels_at_sizes, labels_in, place_labels
from dashboard.view.picture import Panel, Picture
from dashboard.view.scene import Scene, View
from dashboard.view.shapes import Circle, Words
from dashboard.view.text_width import text_width

ZOOMS = (0.21, 0.37, 0.5, 0.74, 1.0, 1.33, 1.9, 2.7, 6.1, 20.0)
BEGINS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def crowd(nodes: int, seed: int) -> tuple[Picture, Panel]:
    dice = random.Random(seed)
    size = 60 * nodes**0.5
    edges = tuple((dice.randrange(nodes), dice.randrange(nodes)) for _ in range(2 * nodes))
    picture = Picture(
        nodes=tuple(range(nodes)),
        x=tuple(round(dice.uniform(0, size), 1) for _ in range(nodes)),
        y=tuple(round(dice.uniform(0, size), 1) for _ in range(nodes)),
        colours=("#E69F00",) * nodes,
        labels=tuple("name"[: dice.randrange(5)] + "x" * dice.randrange(9) for _ in range(nodes)),
        tips=("",) * nodes,
        edges=edges,
        targets=(0,),
    )
    kept = tuple(range(6))
    ends = tuple(sorted({end for edge in kept for end in edges[edge]}))
    return replace(picture, labels=("target", *picture.labels[1:])), Panel(
        "p", "P", weights=(0.5,) * len(edges), kept=kept, kept_nodes=ends
    )


def written(picture: Picture, panel: Panel, zoom: float) -> list[Words]:
    scene = Scene.on(picture, panel, View(zoom, 0, 0, 640, 380))
    return [shape for shape in scene.shapes() if isinstance(shape, Words)]


def box(words: Words) -> tuple[float, float, float, float]:
    wide = text_width(words.text) * words.size / 100
    left = words.x - BEGINS[words.anchor] * wide
    return left, words.y - words.size / 2, left + wide, words.y + words.size / 2


CROWDS = [(crowd(nodes, seed), weighed) for nodes, seed in ((30, 1), (90, 2), (200, 3)) for weighed in (False, True)]


@pytest.mark.parametrize(("drawn", "weighed"), CROWDS)
def test_no_two_names_overlap_at_any_zoom(drawn, weighed):
    picture, panel = drawn[0], drawn[1] if weighed else Panel("g", "G")
    for zoom in ZOOMS:
        for a, b in combinations(map(box, written(picture, panel, zoom)), 2):
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), zoom


@pytest.mark.parametrize(("drawn", "weighed"), CROWDS)
def test_who_comes_nearer_sees_more_names_and_the_target_has_always_its_own(drawn, weighed):
    picture, panel = drawn[0], drawn[1] if weighed else Panel("g", "G")
    texts = [sorted(words.text for words in written(picture, panel, zoom)) for zoom in ZOOMS]
    assert all(len(near) >= len(far) for far, near in pairwise(texts))
    assert len(texts[-1]) > len(texts[0])
    assert all("target" in names for names in texts)


def test_names_of_the_explanation_give_way_to_none_of_the_others():
    picture, panel = crowd(200, 5)
    important = {*panel.kept_nodes, *picture.targets}
    alone = replace(picture, labels=tuple(t if i in important else "" for i, t in enumerate(picture.labels)))
    among = [label for label in place_labels(picture, panel) if label.node in important]
    assert among == list(place_labels(alone, panel))


def test_many_names_wait_until_one_is_near():
    picture, _ = crowd(200, 7)
    assert len(written(picture, Panel("g", "G"), 0.3)) < 10
    assert len(written(picture, Panel("g", "G"), 3)) > 100


def test_no_name_of_the_others_lies_on_a_kept_edge():
    picture, panel = crowd(90, 8)
    for zoom in ZOOMS:
        for words in written(picture, panel, zoom):
            if words.weight == 400:
                left, top, right, bottom = box(words)
                for edge in panel.kept:
                    (ax, ay), (bx, by) = ((picture.x[i] * zoom, picture.y[i] * zoom) for i in picture.edges[edge])
                    middle = (ax + bx) / 2, (ay + by) / 2
                    assert not (left < middle[0] < right and top < middle[1] < bottom)


# ---- real graphs ----

GRAPHS = [
    ("karate", "node", 19),
    ("karate", "node", 0),
    ("les_miserables", "link", (31, 55)),
    ("les_miserables", "link", (11, 25)),
    ("ba_shapes", "node", 414),
]


def asked(dataset: str, kind: str, target) -> tuple[Picture, Panel]:
    """A picture of the page, and a panel that keeps what is around the target."""
    model = next(card.model for card in services.all_cards() if card.dataset == dataset)
    picture = drawn(services.Request(dataset, model, kind, target)).picture
    kept = tuple(i for i, edge in enumerate(picture.edges) if set(edge) & set(picture.targets))[:12]
    ends = tuple(sorted({end for edge in kept for end in picture.edges[edge]}))
    return picture, Panel("p", "P", weights=(0.5,) * len(picture.edges), kept=kept, kept_nodes=ends)


@pytest.mark.parametrize(("dataset", "kind", "target"), GRAPHS)
@pytest.mark.parametrize("weighed", [False, True])
def test_no_name_lies_on_a_node_or_a_ring(dataset, kind, target, weighed):
    picture, panel = asked(dataset, kind, target)
    panel = panel if weighed else Panel("p", "P")
    targets = {picture.labels[i] for i in picture.targets}
    names = 0
    for zoom in ZOOMS:
        scene = Scene.on(picture, panel, View(zoom, 0, 0, 640, 380))
        shapes = list(scene.shapes())
        discs = [shape for shape in shapes if isinstance(shape, Circle)]
        for words in (shape for shape in shapes if isinstance(shape, Words)):
            own = scene.at(picture.labels.index(words.text))
            others = [disc for disc in discs if (disc.x, disc.y) != own]
            if words.text not in targets:  # what is explained is named even where there is no room
                names += 1
                assert not [disc for disc in others if touches(box(words), disc)], (words.text, zoom)
    assert names > 20


def growing(dataset: str, kind: str, target, seed: int = 0) -> tuple[Picture, tuple]:
    """A part of every size that grows from the targets, but now and then drops what it had, as searched parts do."""
    picture, dice = asked(dataset, kind, target)[0], random.Random(seed)
    parts, nodes = [], list(picture.targets)
    for size in range(len(nodes), 21):
        near = {b for a, b in (*picture.edges, *((b, a) for a, b in picture.edges)) if a in nodes} - set(nodes)
        nodes = [*nodes, dice.choice(sorted(near))] if near else nodes
        kept = nodes if size % 5 else [*picture.targets, *nodes[len(picture.targets) + 1 :]]
        edges = tuple(i for i, edge in enumerate(picture.edges) if set(edge) <= set(kept))
        parts.append((edges, tuple(sorted(kept))))
    return picture, tuple(parts)


@pytest.mark.parametrize(("dataset", "kind", "target"), GRAPHS)
def test_at_every_size_names_are_clear_of_one_another_and_of_nodes(dataset, kind, target):
    picture, parts = growing(dataset, kind, target)
    targets, shown = {picture.labels[i] for i in picture.targets}, 0
    for (edges, nodes), columns in zip(parts, labels_at_sizes(picture, parts, 5), strict=True):
        weights = (0.5,) * len(picture.edges)
        panel = Panel("p", "P", weights=weights, kept=edges, kept_nodes=nodes, labels=labels_in(columns))
        for zoom in ZOOMS:
            scene = Scene.on(picture, panel, View(zoom, 0, 0, 640, 380))
            shapes = list(scene.shapes())
            names = [shape for shape in shapes if isinstance(shape, Words)]
            discs = [shape for shape in shapes if isinstance(shape, Circle)]
            for a, b in combinations(map(box, names), 2):
                assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), zoom
            for words in (each for each in names if each.text not in targets):
                own = scene.at(picture.labels.index(words.text))
                assert not [d for d in discs if (d.x, d.y) != own and touches(box(words), d)], (words.text, zoom)
                shown += picture.labels.index(words.text) in nodes
    assert shown > 100


@pytest.mark.parametrize(("dataset", "kind", "target"), GRAPHS)
def test_from_size_to_size_no_name_of_the_explanation_moves(dataset, kind, target):
    picture, parts = growing(dataset, kind, target)
    at, seen = labels_at_sizes(picture, parts, 5), {}
    for (_, nodes), columns in zip(parts, at.tolist(), strict=True):
        for node in nodes:
            assert seen.setdefault(node, columns[node]) == columns[node]
    assert sum(zoom != NEVER for zoom, _ in seen.values()) > 10


def test_what_is_explained_is_named_clear_of_nodes_where_there_is_room():
    picture, panel = asked("karate", "node", 19)
    scene = Scene.on(picture, panel, View(1.6, 0, 0, 640, 380))
    shapes = list(scene.shapes())
    (name,) = [
        shape for shape in shapes if isinstance(shape, Words) and shape.text == picture.labels[picture.targets[0]]
    ]
    own = scene.at(picture.targets[0])
    discs = [shape for shape in shapes if isinstance(shape, Circle) and (shape.x, shape.y) != own]
    assert not [disc for disc in discs if touches(box(name), disc)]


def touches(around: tuple[float, float, float, float], disc: Circle) -> bool:
    left, top, right, bottom = around
    dx, dy = max(left - disc.x, disc.x - right, 0), max(top - disc.y, disc.y - bottom, 0)
    return dx**2 + dy**2 < disc.radius**2


def test_names_of_classes_are_whole_at_the_nodes_of_a_prototype():
    names = services.class_names("ba_community", "node")
    assert [name for name in names if label_text(name) != name] == []
