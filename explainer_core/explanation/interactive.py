"""An explanation as a network to drag about, in a notebook or in a file: pyvis, without its calls to the network."""

import html
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explainer_core.extras import MissingExtra, pyvis_network
from explainer_core.graph import Graph

if TYPE_CHECKING:
    from explainer_core.explanation.result import Explanation

ACCENT, OTHER_EDGES, OTHER_NODES, TARGET = "#0072B2", "#C9CDD2", "#8A9097", "#1F2328"
# Okabe and Ito's colours, without the accent.
CLASSES = ("#E69F00", "#009E73", "#D55E00", "#F0E442", "#CC79A7", "#56B4E9", "#6B7178")
FADED = 0.35
MOST_NODES = 150  # more move too slowly to be of use
HEIGHT = 460  # pixels
OPTIONS = {
    "layout": {"randomSeed": 7, "improvedLayout": True},
    "physics": {"stabilization": {"iterations": 300}},
    "edges": {"smooth": False},
    "nodes": {"shape": "dot", "font": {"size": 15}},
    "interaction": {"hover": True},
}
# pyvis loads Bootstrap from a content delivery network in each of its modes; nothing on the page needs it.
_FROM_ELSEWHERE = re.compile(r"<link\b[^>]*>|<script\b[^>]*\bsrc\s*=[^>]*>\s*</script>|<!--.*?-->", re.DOTALL)
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def to_pyvis(
    explanation: "Explanation",
    graph: Graph | None = None,
    k_m: int | None = None,
    *,
    colours: Mapping[int, str] | None = None,
    max_nodes: int = MOST_NODES,
) -> Any:
    """A pyvis Network of the computation graph: the wider an edge the higher its score, G_S in blue.

    With the graph, nodes have their names and the colours of their classes; `colours` gives others, by node. Of a large
    neighbourhood G_S and what lies nearest is shown.
    """
    kept = explanation.subgraph(k_m)
    nodes = list(dict.fromkeys((*explanation.roots, *kept.nodes, *explanation.nodes.tolist())))[:max_nodes]
    shown, kept_edges = set(nodes), set(kept.edges)
    net = _offline_network()
    for node in nodes:
        stands = node in kept.nodes or node in explanation.roots
        net.add_node(node, **_node_look(explanation, graph, node, stands, colours or {}))
    pairs, scores = explanation.undirected()
    for (start, end), score in zip(pairs.tolist(), scores.tolist(), strict=True):
        if start in shown and end in shown:
            colour = ACCENT if (start, end) in kept_edges else OTHER_EDGES
            net.add_edge(start, end, width=1 + 6 * min(max(score, 0), 1), color=colour, title=f"score {score:.3f}")
    net.set_options(json.dumps(OPTIONS))
    return net


def _node_look(
    explanation: "Explanation", graph: Graph | None, node: int, stands: bool, colours: Mapping[int, str]
) -> dict[str, Any]:
    """Names are text: vis-network writes labels on a canvas and titles as text, and pyvis packs both as JSON."""
    name = str(node) if graph is None else graph.node_name(node)
    colour, lines = colours.get(node, OTHER_NODES), [name if name != str(node) else f"node {node}"]
    if graph is not None and graph.labels is not None:
        known = int(graph.labels[node])
        colour = colours.get(node, CLASSES[known % len(CLASSES)])
        lines.append(f"class: {graph.class_names[known]}")
    is_target = node in explanation.roots
    return {
        "label": name if stands or (graph is not None and graph.node_names) else " ",
        "title": "\n".join(lines),
        "color": {"background": colour, "border": TARGET if is_target else colour},
        "borderWidth": 4 if is_target else 1,
        "size": 16 if is_target else 11,
        "opacity": 1.0 if stands else FADED,
    }


def _offline_network() -> Any:
    class OfflineNetwork(pyvis_network.Network):
        """A pyvis Network whose page has everything in it, however it is written."""

        def generate_html(self, *arguments: Any, **options: Any) -> str:
            page = super().generate_html(*arguments, **options)
            head, data = page.rsplit("<body>", 1) if "<body>" in page else ("", page)
            policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            return _FROM_ELSEWHERE.sub("", head).replace("<head>", f"<head>{policy}", 1) + f"<body>{data}"

    return OfflineNetwork(height="calc(100vh - 20px)", width="100%", cdn_resources="in_line")


def notebook_html(explanation: "Explanation") -> str | None:
    """What a notebook shows: a frame of its own, so that the page around it is left alone; None without pyvis."""
    try:
        page = to_pyvis(explanation).generate_html()
    except MissingExtra:
        return None
    look = f'width="100%" height="{HEIGHT + 20}" style="border:0" sandbox="allow-scripts"'
    return f'<iframe title="Explanation" {look} srcdoc="{html.escape(page)}"></iframe>'
