"""Files of one's own as they go wrong: read into a graph whose numbers are finite, or refused with a sentence of ours."""

import json

import pytest
import torch
from bounds import LONGEST, examples, little_memory, outcome
from hypothesis import given
from hypothesis import strategies as st
from mutations import broken_bytes, broken_json

from explainer_core.files import FORMATS, FileProblem, Options, SentFile, read_files
from explainer_core.files.examples import example_files
from explainer_core.graph import Graph, GraphSet
from explainer_core.models import ModelSpec
from explainer_core.zoo.shipped import FOLDER
from explainer_core.zoo.weight_shapes import network_from, read_tensors, suggested_sizes

pytestmark = pytest.mark.long
ODD_CELLS = (
    "",
    "nan",
    "1e999",
    "-1",
    "1_0",
    "=1+1",
    "\ufeff",
    '"',
    "'",
    ",",
    ";",
    "\t",
    "\x00",
    "é" * 300,
    "train",
    "inf",
    "0x10",
)
# A browser sends the name along, and whoever writes the request by hand may send any.
ODD_NAMES = st.one_of(
    st.sampled_from(["", ".", "..", "/", "../../etc/passwd", "C:\\x.csv", "a\nb", "\x00", "\u202egpj.csv", "é" * 3000]),
    st.sampled_from(["<img src=x onerror=alert(1)>.csv", "=1+1", "[x](http://x)", "x" * 3000 + ".json", "\ufeff"]),
    st.text(max_size=20),
)
OPTIONS = st.builds(
    Options,
    directed=st.sampled_from([None, True, False]),
    label=st.sampled_from([None, "", "age", "label", "interest", "nothing"]),
    features=st.sampled_from([None, (), ("age",), ("interest", "age"), ("id",)]),
    split=st.sampled_from([None, "", "label"]),
    header=st.sampled_from([None, True, False]),
    own_feature=st.booleans(),
    scale=st.booleans(),
)


@st.composite
def odd_cells(draw, text: str) -> bytes:
    """A table with some of its cells exchanged, doubled or moved to another line."""
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(draw(st.integers(1, 5))):
        row = draw(st.sampled_from(rows))
        row[draw(st.integers(0, len(row) - 1))] = draw(st.sampled_from(ODD_CELLS) | st.text(max_size=8))
        if draw(st.booleans()):
            rows.insert(draw(st.integers(0, len(rows))), list(draw(st.sampled_from(rows))))
    return "\n".join(",".join(row) for row in rows).encode("utf-8", "replace")


def broken(file: SentFile, format: str) -> st.SearchStrategy[SentFile]:
    ways = [broken_bytes(file.data), st.just(file.data)]
    if format == "json":
        ways += [broken_json(file.data.decode()).map(lambda text: text.encode("utf-8", "replace"))] * 2
    elif format != "graphml":
        ways += [odd_cells(file.data.decode())] * 2
    names = st.one_of(st.just(file.name), st.just(file.name), ODD_NAMES)
    return st.builds(SentFile, names, st.one_of(ways))


def first_lines(file: SentFile) -> SentFile:
    """Enough for every rule, and quickly read; of JSON and XML only the whole is a file."""
    return SentFile(file.name, b"\n".join(file.data.splitlines()[:12]) + b"\n")


def small(format: str) -> list[SentFile]:
    if format == "json":
        data = json.loads(example_files(format)[0].data)
        known = {node["id"] for node in data["nodes"][:6]}
        links = [link for link in data["links"] if {link["source"], link["target"]} <= known]
        return [SentFile("g.json", json.dumps(data | {"nodes": data["nodes"][:6], "links": links}).encode())]
    files = example_files(format)
    return list(files) if format == "graphml" else [first_lines(file) for file in files]


@pytest.mark.parametrize("format", FORMATS)
def test_broken_files_of_every_format(share, format):
    files = st.tuples(*(broken(file, format) for file in small(format)))

    @examples(share(3_000))
    @given(files, OPTIONS)
    def holds(sent, options):
        found, error = outcome(read_files, format, sent, options)
        if found is None:
            assert isinstance(error, FileProblem)
            assert error.file in [file.name for file in sent]
            return
        assert torch.isfinite(found.data.x).all()
        assert all(0 < len(note) <= LONGEST for note in found.notes)
        assert 0 < len(found.data.name if isinstance(found.data, Graph) else "a set") <= LONGEST
        names = found.data.graph_names if isinstance(found.data, GraphSet) else found.data.node_names
        assert all(name.encode("utf-8") for name in names or ())

    with little_memory():
        holds()


def test_broken_weights(share):
    """Names, shapes and numbers of a stranger: a network that gives finite numbers, or a sentence."""
    data = (FOLDER / "karate_gat.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little") + 8
    head = broken_bytes(data[:length]).map(lambda start: start + data[length:])
    spec = ModelSpec(**json.loads((FOLDER / "karate_gat.json").read_text())["architecture"])

    @examples(share(3_000))
    @given(st.one_of(head, head, broken_bytes(data), st.just(data)))
    def holds(sent):
        tensors, _ = outcome(read_tensors, sent)
        if tensors is None:
            return
        sizes, error = outcome(suggested_sizes, tensors)
        assert error is None
        outcome(lambda: ModelSpec(**spec.to_dict() | sizes))
        model, _ = outcome(network_from, spec, tensors)
        assert model is None or all(torch.isfinite(each).all() for each in model.parameters())

    with little_memory():
        holds()
