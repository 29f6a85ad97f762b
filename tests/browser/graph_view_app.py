"""A page with every view on it, over fixed data: what test_graph_view.py drives. `?points=10000` gives a larger map."""

import math
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dashboard.view.picture import DOT, SQUARE, Panel, Picture, Points, Thumbnail
from dashboard.widgets.graph_view import gallery_view, map_view, network_view

HOSTILE = "<img src=x onerror=alert(1)>"
CLASSES = (("base", "#999999"), ("top of a house", "#D55E00"), ("middle", "#E69F00"), ("bottom", "#009E73"))
FIRST = 100  # the data set's number of node 0: a click must give numbers, not places
STEPS = 150
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 80"><script>alert(1)</script>'
    '<g stroke="currentColor" stroke-width="2" fill="none" onclick="alert(1)"><path d="M20 60 L60 20 L100 60 Z"/></g>'
    '<g fill="{colour}"><circle cx="20" cy="60" r="8"/><circle cx="60" cy="20" r="8"/><circle cx="100" cy="60" r="8"/>'
    "</g></svg>"
)


@st.cache_data
def houses(base: int = 46, count: int = 3) -> tuple[Picture, dict[str, tuple[float, ...]]]:
    """A random base graph with houses hung on, and masks that two explainers could have found for the first one."""
    random = np.random.default_rng(4)
    graph = nx.barabasi_albert_graph(base, 1, seed=6)
    graph.add_edges_from(zip(random.integers(0, base, 14).tolist(), random.integers(0, base, 14).tolist(), strict=True))
    graph.remove_edges_from(nx.selfloop_edges(graph))
    place = {node: 190 * spot for node, spot in nx.kamada_kawai_layout(graph).items()}
    roles, motif = {node: 0 for node in graph}, set()
    for house in range(count):
        top, left, right, low_left, low_right = range(base + 5 * house, base + 5 * house + 5)
        walls = [(top, left), (top, right), (left, right), (left, low_left), (right, low_right), (low_left, low_right)]
        out = np.array([math.cos(2.1 * house - 0.5), math.sin(2.1 * house - 0.5)])
        door = max(range(base), key=lambda node: float(place[node] @ out))
        graph.add_edges_from([*walls, (low_left, door)])
        roles |= {top: 1, left: 2, right: 2, low_left: 3, low_right: 3}
        corners = [(105, 22), (75, 0), (75, 44), (28, 0), (28, 44)]  # away from the door, and aside
        for node, (away, aside) in zip((top, left, right, low_left, low_right), corners, strict=True):
            place[node] = place[door] + away * out + aside * np.array([-out[1], out[0]])
        motif |= {frozenset(wall) for wall in walls} if house == 0 else set()
    edges = tuple(graph.edges)
    truth = tuple(i for i, edge in enumerate(edges) if frozenset(edge) in motif)
    noise = random.random(len(edges))
    clear = tuple(0.75 + 0.25 * noise[i] if i in truth else 0.3 * noise[i] ** 2 for i in range(len(edges)))
    vague = tuple(0.35 + 0.5 * noise[-i] if i in truth else 0.8 * noise[i] ** 2 for i in range(len(edges)))
    names = [f"node {FIRST + node}" for node in graph]
    names[base + 3] = HOSTILE
    picture = Picture(
        nodes=tuple(FIRST + node for node in graph),
        x=tuple(float(place[node][0]) for node in graph),
        y=tuple(float(place[node][1]) for node in graph),
        colours=tuple(CLASSES[roles[node]][1] for node in graph),
        labels=tuple(str(FIRST + node) for node in graph),
        tips=tuple(f"{names[node]}\n{CLASSES[roles[node]][0]}, degree {graph.degree(node)}" for node in graph),
        edges=edges,
        shapes=tuple(SQUARE if node % 17 == 5 else DOT for node in graph),
        targets=(base,),
        truth=truth,
    )
    return picture, {"clear": clear, "vague": vague}


def frames(weights: tuple[float, ...], count: int = 31) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """A mask that begins at one half everywhere and ends at the given weights."""
    logits = [math.log(weight / (1 - weight)) for weight in np.clip(weights, 0.01, 0.99)]
    shares = [frame / (count - 1) for frame in range(count)]
    return tuple(
        (round(share * STEPS), tuple(1 / (1 + math.exp(-logit * share)) for logit in logits)) for share in shares
    )


def panels_of(picture: Picture, masks: dict[str, tuple[float, ...]]) -> list[Panel]:
    time = np.linspace(0, 1, STEPS)
    curves = {
        "prediction": tuple(0.2 + 1.4 * np.exp(-5 * time) + 0.03 * np.sin(40 * time)),
        "size": tuple(0.9 * np.exp(-2.5 * time) + 0.12),
        "entropy": tuple(0.5 * np.exp(-1.2 * time)),
    }
    kept = picture.truth
    ends = lambda edges: tuple({node for edge in edges for node in picture.edges[edge]})  # noqa: E731
    loose = tuple(sorted(range(len(picture.edges)), key=lambda edge: -masks["vague"][edge])[:8])
    return [
        Panel("graph", "Neighbourhood", ("61 nodes within 3 hops", "click a node to explain it")),
        Panel(
            "gnnexplainer",
            "GNNExplainer",
            ("edge AUC 0.98", "stable 9 of 10 over seeds"),
            weights=masks["clear"],
            kept=kept,
            kept_nodes=ends(kept),
            unstable=kept[-1:],
            frames=frames(masks["clear"]),
            curves=curves,
        ),
        Panel("gradient", "Gradient", ("edge AUC 0.81",), weights=masks["vague"], kept=loose, kept_nodes=ends(loose)),
    ]


def nitrobenzene() -> tuple[Picture, Panel]:
    ring = [(50 * math.cos(angle), 50 * math.sin(angle)) for angle in np.radians(range(0, 360, 60))]
    places = [*ring, (100, 0), (125, -43.3), (125, 43.3)]
    letters = ["", "", "", "", "", "", "N", "O", "O"]
    colours = {"": "#404040", "N": "#3050F8", "O": "#E02020"}
    names = ["carbon"] * 6 + ["nitrogen", "oxygen", "oxygen"]
    edges = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 7), (6, 8))
    picture = Picture(
        nodes=tuple(range(9)),
        x=tuple(x for x, _ in places),
        y=tuple(y for _, y in places),
        colours=tuple(colours[letter] for letter in letters),
        labels=tuple(letters),
        tips=tuple(f"{name} {place}" for place, name in enumerate(names)),
        edges=edges,
        truth=(7, 8),
        bonds=(2, 1, 2, 1, 2, 1, 1, 2, 1),
    )
    weights = (0.2, 0.1, 0.15, 0.1, 0.1, 0.3, 0.55, 0.97, 0.9)
    kept = {"kept": (6, 7, 8), "kept_nodes": (0, 6, 7, 8)}
    return picture, Panel("molecule", "GNNExplainer", ("mutagenic, 96.2 %",), weights, **kept, frames=frames(weights))


@st.cache_data
def cloud(count: int) -> Points:
    random = np.random.default_rng(1)
    group = random.integers(0, 6, count)
    centres = np.array([[0.2, 0.3], [0.75, 0.25], [0.5, 0.55], [0.2, 0.8], [0.85, 0.75], [0.5, 0.12]])
    places = np.clip(centres[group] + random.normal(0, 0.06, (count, 2)), 0, 1)
    colours = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
    order = np.lexsort((places[:, 1], group))
    links = [(int(a), int(order[min(count - 1, i + step)])) for i, a in enumerate(order) for step in (3, 40)]
    return Points(
        ids=tuple(range(count)),
        x=tuple(places[:, 0].tolist()),
        y=tuple(places[:, 1].tolist()),
        colour_of=tuple(group.tolist()),
        legend=tuple((f"topic {place}" if place else HOSTILE, colour) for place, colour in enumerate(colours)),
        tips=tuple(f"paper {point}\ntopic {group[point]}" for point in range(count)),
        shapes=tuple(SQUARE if point % 11 == 3 else DOT for point in range(count)),
        edges=tuple(links),
    )


def noted(name: str) -> None:
    """Counts the clicks of a view and keeps the last one, as a page's callback does."""
    clicks = st.session_state.setdefault("clicks", {})
    number, _ = clicks.get(name, (0, None))
    clicks[name] = (number + 1, st.session_state[name]["clicked"])


def main() -> None:
    st.set_page_config(layout="wide")
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    seed = st.slider("Seed", 0, 20, 0)
    picture, masks = houses()
    panels = panels_of(picture, {name: tuple((w + seed / 40) % 1 for w in mask) for name, mask in masks.items()})
    returned = {}

    def shown(view, key, *arguments, **options) -> None:
        returned[key] = view(key, *arguments, on_click=lambda: noted(key), **options)

    shown(network_view, "houses", picture, panels, group="houses", columns=3, height=360)
    left, right = st.columns(2)
    with left:
        shown(network_view, "again", picture, panels[2:], group="houses", height=240)
    with right:
        molecule, panel = nitrobenzene()
        shown(network_view, "molecule", molecule, [panel], height=240)
    points = cloud(int(st.query_params.get("points", 2000)))
    chosen = st.session_state.get("clicks", {}).get("map", (0, 7))[1]
    shown(map_view, "map", points, selected=(chosen,))
    cards = [Thumbnail(9 + i, f"{name} {i}", f"{i} nodes", SVG.format(colour=c)) for i, (name, c) in enumerate(CLASSES)]
    cards.append(Thumbnail(20, HOSTILE, HOSTILE, SVG.format(colour="#CC79A7")))
    picked = st.session_state.get("clicks", {}).get("gallery", (0, 10))[1]
    shown(gallery_view, "gallery", cards, selected=picked)
    st.text(
        f"runs={st.session_state['runs']} seed={seed} clicks={st.session_state.get('clicks', {})} returned={returned}"
    )


main()
