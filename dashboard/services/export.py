"""An explanation as files other tools open, and the Python lines that give the same numbers."""

import csv

import networkx as nx

from dashboard.catalogue import python_of
from dashboard.schema import MAIN_METHOD, Request
from dashboard.services.answer import Answer
from dashboard.services.pictures import node_colours, plain_colours
from dashboard.services.predict import asked_class
from dashboard.tasks.subjects import graph_of
from dashboard.view.plain_text import for_spreadsheet, for_xml
from explainer_core import ExplainConfig
from explainer_core.explanation.interactive import to_pyvis
from explainer_core.graph import NO_LABEL


def as_json(answer: Answer) -> str:
    return answer.explanation.to_json()


def as_csv(answer: Answer) -> str:
    """Every directed edge with its names, its score and the mask behind it, heaviest first; `kept` marks G_S."""
    explanation, graph = answer.explanation, graph_of(answer.request)
    table = explanation.to_pandas()
    kept = set(explanation.subgraph().edges)
    table["source_name"] = [for_spreadsheet(graph.node_name(node)) for node in table["source"].tolist()]
    table["head_name"] = [for_spreadsheet(graph.node_name(node)) for node in table["head"].tolist()]
    table["kept"] = [
        (min(a, b), max(a, b)) in kept for a, b in zip(table["source"].tolist(), table["head"].tolist(), strict=True)
    ]
    # every text in quotes: a lone carriage return ends a row for some readers, and pandas alone would leave it bare
    return table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def as_graphml(answer: Answer) -> str:
    """The neighbourhood with names and weights, for Gephi, Cytoscape, yEd or networkx; `kept` marks G_S."""
    graph = graph_of(answer.request)
    net = answer.explanation.to_networkx()
    for node in net:
        net.nodes[node]["name"] = for_xml(graph.node_name(node))
        if graph.labels is not None and graph.labels[node] != NO_LABEL:
            net.nodes[node]["class"] = for_xml(graph.class_names[int(graph.labels[node])])
    return "\n".join(nx.generate_graphml(net))


def as_network(answer: Answer) -> str:
    """The neighbourhood as a page of its own, whose nodes can be dragged about; opens offline."""
    explanation, request, graph = answer.explanation, answer.request, graph_of(answer.request)
    nodes = explanation.nodes.tolist()
    if request.kind == "node":
        colours, _ = node_colours(request.dataset, request.model, nodes, "predicted")
    else:
        colours = plain_colours(graph, nodes)
    return to_pyvis(explanation, graph, colours=dict(zip(nodes, colours, strict=True))).generate_html()


def as_python(request: Request) -> str:
    """Lines that load the same network and give the same explanation."""
    config, default = request.config, ExplainConfig()
    changed = {name: value for name, value in config.to_dict().items() if value != getattr(default, name)}
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    data, model = python_of(request.dataset, request.model)
    target = {
        "node": f"xc.Node({request.target})",
        "graph": f"xc.WholeGraph({request.target})",
        "smiles": "xc.WholeGraph()",
        "link": f"xc.Link{request.target}",
    }[request.kind]
    if request.kind == "smiles":
        data = f"xc.molecule_from_smiles({request.target!r})"
    asked = asked_class(request)
    wanted = "" if request.method == MAIN_METHOD else f', method="{request.method}"'
    wanted += "" if asked == "predicted" else f", target_class={asked!r}"
    return "\n".join(
        [
            "import explainer_core as xc",
            "",
            f"data = {data}",
            f"model = {model}",
            f"config = xc.ExplainConfig({settings})",
            f"explanation = xc.explain(model, data, {target}, config{wanted})",
            "print(explanation.subgraph())",
            "print(explanation.top_features())",
        ]
    )
