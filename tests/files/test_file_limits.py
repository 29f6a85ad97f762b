"""Files that are too large, or much larger inside: refused before they are read, with little memory and none of it kept."""

import gc
import time
import tracemalloc

import pytest

from explainer_core.files import MAX_BYTES, MAX_EDGES, MAX_FEATURES, MAX_MOLECULES, MAX_NODES, FileProblem, SentFile
from explainer_core.files import read_files as read

MB = 2**20
FEW = 300 * MB  # of memory while reading, whatever is sent; a file of 20 MB of numbers in JSON is 240
ENTITIES = b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 10))


def repeated(part: bytes, size: int = MAX_BYTES) -> bytes:
    return (part * (size // len(part) + 1))[:size]


COLUMNS = [b"w%d" % i for i in range(MAX_FEATURES)]


def wide(rows: int, cell: bytes, last: bytes) -> bytes:
    """Edges between nodes that have so many columns, and the nodes: one cell again and again, another in the last row."""
    lines = [b"%d" % i + (b"," + cell) * MAX_FEATURES for i in range(rows)]
    return b"\n".join([b"id," + b",".join(COLUMNS), *lines, b"last" + (b"," + last) * MAX_FEATURES])


def wide_json(rows: int, cell: bytes, last: bytes) -> bytes:
    def node(number: int, value: bytes) -> bytes:
        return b'{"id":%d,' % number + b",".join(b'"%s":%s' % (name, value) for name in COLUMNS) + b"}"

    nodes = [*(node(i, cell) for i in range(rows)), node(rows, last)]
    return b'{"nodes":[' + b",".join(nodes) + b'],"links":[]}'


BOMBS = {
    "ten million lines": ("csv", b"1\n" * 10_000_000, "at most"),
    "lines": ("csv", repeated(b"1,2\n"), f"at most {MAX_EDGES:,} edges"),
    "blank lines": ("csv", repeated(b"\n"), f"at most {MAX_EDGES:,} edges"),
    "one line": ("csv", repeated(b"1,"), "a line must have at most"),
    "an open quotation mark": ("csv", b'source,target\n"' + repeated(b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"), "must"),
    "quotation marks": ("csv", b"source,target\n" + repeated(b'"\n",', 350_000 * 4), "a row must"),
    "too many nodes": ("csv", b"".join(b"%d,%d\n" % (i, i + 1) for i in range(MAX_NODES + 1)), f"at most {MAX_NODES:,} nodes"),
    "an edge too many": ("csv", b"a,b\n" * (MAX_EDGES + 1), f"at most {MAX_EDGES:,} edges"),
    "words, one more in the last row": ("nodes", wide(4_990, b"a", b"b"), f"at most {MAX_FEATURES:,} features"),
    "numbers, none in the last row": ("nodes", wide(4_990, b"1", b"b"), "a feature must be a number (got 'b')"),
    "words in JSON, one more at the end": ("json", wide_json(860, b'"a"', b'"b"'), f"at most {MAX_FEATURES:,} features"),
    "lists": ("json", b'{"nodes":[' + repeated(b"[],"), "at most"),
    "deep": ("json", repeated(b"["), "at most"),
    "numbers": ("json", b'{"nodes":[{"id":1,"x":[' + repeated(b"0.1,", 18 * MB) + b'1]}],"links":[]}', f"at most {MAX_FEATURES:,} features"),
    "fields": ("json", b'{"nodes":[{"id":1,' + b",".join(b'"k%d":1' % i for i in range(10**6)) + b'}],"links":[]}', f"at most {MAX_FEATURES:,} features"),
    "a long number": ("json", b'{"nodes":[' + repeated(b"1", 10 * MB), "numbers must be"),
    "a billion laughs": ("graphml", b'<!DOCTYPE l [<!ENTITY a0 "laugh">' + ENTITIES + b"]><graphml>&a9;</graphml>", "must have no document type"),
    "an entity from elsewhere": ("graphml", b'<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><graphml>&a;</graphml>', "must have no document type"),
    "tags": ("graphml", b"<graphml>" + repeated(b"<a/>"), "tags"),
    "attributes": ("graphml", b"<graphml " + b" ".join(b'a%d=""' % i for i in range(10**6)) + b"/>", "a tag or a text"),
    "nested tags": ("graphml", repeated(b"<graphml>", 15 * MB), "nested at most"),
    "nodes": ("graphml", b"<graphml><graph>" + b"".join(b'<node id="%d"/>' % i for i in range(900_000)), f"at most {MAX_NODES:,} nodes"),
    "molecules": ("smiles", repeated(b"C\n"), f"at most {MAX_MOLECULES:,} molecules"),
    "a long molecule": ("smiles", repeated(b"C"), "a line must have at most"),
}  # fmt: skip


def refused(name: str) -> str:
    """The sentence that a bomb is refused with."""
    format, data, _ = BOMBS[name]
    files = [SentFile("bomb", data[:MAX_BYTES])]
    if format == "nodes":
        format, files = "csv", [SentFile("e.csv", b"0,1\n"), *files]
    try:
        read(format, files)
    except FileProblem as problem:
        return str(problem)
    return "read"


def seconds_of(name: str) -> float:
    """Of work, so that others who are busy do not count."""
    began = time.process_time()
    refused(name)
    return time.process_time() - began


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_a_second(name):
    assert BOMBS[name][2] in refused(name)
    assert min(seconds_of(name) for _ in range(3)) < 1  # what slows a core is not ours


@pytest.mark.parametrize("name", BOMBS)
def test_the_memory_of_a_bomb_is_bounded_and_freed(name):
    gc.collect()
    gc.disable()  # what is left must not wait for the collector
    tracemalloc.start()
    try:
        refused(name)
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert peak <= FEW
    assert left <= 1 * MB


def test_a_file_above_the_limit_is_refused_by_its_size_alone():
    file = SentFile("large.csv", bytes(MAX_BYTES + 1))
    tracemalloc.start()
    try:
        with pytest.raises(FileProblem, match=r"large.csv: a file must be at most 20 MB \(got 20.0 MB\)"):
            read("csv", [file])
        assert tracemalloc.get_traced_memory()[1] < MB
    finally:
        tracemalloc.stop()


def test_words_that_would_become_too_many_columns_end_the_reading():
    heading = b"id," + b",".join(b"w%d" % i for i in range(2000))
    rows = [b"%d," % i + b",".join(b"%c" % (97 + (i * j) % 26) for j in range(2000)) for i in range(1000)]
    with pytest.raises(FileProblem, match=f"at most {MAX_FEATURES:,} features") as problem:
        read("csv", [SentFile("e.csv", b"0,1\n"), SentFile("n.csv", b"\n".join([heading, *rows]))])
    assert "100 nodes" in str(problem.value)  # the first look, and not the last, tells


def test_what_just_fits_is_read():
    edges = b"\n".join(b"%d,%d" % (i % 1000, i // 1000 + 1000) for i in range(MAX_EDGES))
    graph = read("csv", [SentFile("e.csv", edges)]).data
    assert graph.num_edges == 2 * MAX_EDGES
    wide = b"id," + b",".join(b"f%d" % i for i in range(MAX_FEATURES)) + b"\n" + b"0" + b",1" * MAX_FEATURES + b"\n"
    assert read("csv", [SentFile("e.csv", b"0,0\n"), SentFile("n.csv", wide)]).data.num_features == MAX_FEATURES
