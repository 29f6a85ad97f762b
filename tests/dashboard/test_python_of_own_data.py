"""The Python lines of what a visitor brought: run where their files and the downloaded weights lie, they give the page's numbers."""

from dataclasses import replace

import numpy as np
import pytest
from test_brought_data import ann, quick, train

from dashboard import services
from dashboard.services.export import as_python
from explainer_core.files import FileProblem, Options, SentFile, read_files
from explainer_core.files.examples import example_files

__all__ = ["ann"]  # a server of its own, and Ann before it
EDGES, NODES = example_files("csv")
MOLECULES = SentFile('my "molecules".csv', example_files("smiles")[0].data + b"C?,active,odd\n")
CASES = {
    "node": ("csv", (EDGES, NODES), Options(), "node", 3),
    "options": ("csv", (EDGES, NODES), Options(label="interest", features=("age",), directed=True, scale=False), "node", 5),
    "edges alone": ("csv", (EDGES, None), Options(own_feature=True), "link", (0, 1)),
    "graphml": ("graphml", tuple(example_files("graphml")), Options(), "node", 7),
    "json": ("json", tuple(example_files("json")), Options(scale=False), "node", 7),
    "molecule": ("smiles", (MOLECULES,), Options(), "graph", 2),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_lines_give_the_same_numbers(case, tmp_path, monkeypatch):
    format, files, options, kind, target = CASES[case]
    found = services.read_upload(format, files, options)
    dataset = services.keep(found, "Mine")
    card = train(replace(quick(dataset, hidden=16, layers=3), kind="sage")).card
    request = services.Request(dataset, card.model, kind, target)
    request = replace(request, config=replace(request.config, steps=5))
    answer = services.explain(services.ask(request), lambda progress: None)
    for file in (*files, services.weights_file(card)):
        if file is not None:
            (tmp_path / file.name).write_bytes(file.data)
    monkeypatch.chdir(tmp_path)
    lines: dict = {}
    exec(as_python(request), lines)  # noqa: S102  (what the page offers)
    again = lines["explanation"]
    assert np.array_equal(again.edge_index, answer.explanation.edge_index)
    assert np.allclose(again.edge_weight, answer.explanation.edge_weight, atol=1e-6)
    assert again.subgraph() == answer.explanation.subgraph()


def test_files_are_read_by_their_path_within_the_same_limits(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(EDGES.data)
    assert read_files("csv", [str(path)]).data.num_nodes == read_files("csv", [EDGES]).data.num_nodes
    assert read_files("csv", [path], directed=True).data.num_edges < read_files("csv", [path]).data.num_edges
    with path.open("wb") as file:
        file.truncate(2**40)  # a terabyte of nothing
    with pytest.raises(FileProblem, match=r"e.csv: a file must be at most 20 MB"):
        read_files("csv", [path])
    with pytest.raises(TypeError, match="colour"):
        read_files("csv", [path], colour="red")
