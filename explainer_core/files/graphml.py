"""GraphML as rows of nodes and edges: read as a stream, without document types, entities or anything from elsewhere."""

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from explainer_core.files.limits import LONGEST_FIELD, MAX_EDGES, MAX_FEATURES, MAX_NODES
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows
from explainer_core.files.text import SentFile, check_count, decoded

MOST_TAGS = 2_000_000
LONGEST_TAG = 32_768  # bytes without the beginning of another: one tag may hold a million attributes
DEEPEST = 30
NESTED = ("hyperedge", "port")


@dataclass(frozen=True)
class _Key:
    """A declared attribute of nodes or edges."""

    name: str
    default: str | None


@dataclass
class GraphMLFile:
    """What was read: a row for each node and edge, and the graph's own word on directions."""

    nodes: Rows
    edges: Rows
    directed: bool


@dataclass
class _Reader:
    """Handlers for expat, which calls them in the order of the file; a broken rule ends the reading there."""

    file: str
    parser: expat.XMLParserType = field(default_factory=lambda: expat.ParserCreate("utf-8", "}"))
    depth: int = 0
    graphs: int = 0
    directed: bool = False
    keys: dict[str, dict[str, _Key]] = field(default_factory=lambda: {"node": {}, "edge": {}})
    nodes: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    edges: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    row: dict[str, str] | None = None  # of the node or edge that is open
    kind: str = ""
    key: str = ""  # whose text is being collected
    declared: tuple[str, str, str] | None = None  # id, for and name of a key that is open
    text: list[str] | None = None

    def read(self, text: str) -> None:
        parser = self.parser
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_entity
        parser.ExternalEntityRefHandler = self._refuse_entity
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            reason = Bare(expat.ErrorString(error.code))
            rule, way_out = "a GraphML file must be valid XML", "write it again with the program it is from"
            raise FileProblem(self.file, rule, reason, way_out, line=error.lineno, column=error.offset + 1) from None
        finally:  # the parser and its handlers hold each other, and all that was read
            parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
            parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = None

    def problem(self, rule: str, got: object = None, way_out: str = "", column: str | None = None) -> FileProblem:
        line = self.parser.CurrentLineNumber
        return FileProblem(self.file, rule, got, way_out, line=line, column=column, called="attribute")

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise self.problem("a GraphML file must have no document type", Bare("<!DOCTYPE"), "remove that part")

    def _refuse_entity(self, *_: object) -> NoReturn:
        raise self.problem("a GraphML file must declare no entities", Bare("one"), "remove it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition("}")[2]
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.problem(f"elements must be nested at most {DEEPEST} deep", None, "export the graph anew")
        if self.depth == 1 and name != "graphml":
            raise self.problem("a GraphML file must begin with <graphml>", name, "export the graph as GraphML")
        if name == "key":
            self._declare(attributes)
        elif name == "graph":
            self._begin_graph(attributes)
        elif name in ("node", "edge"):
            self._begin_row(name, attributes)
        elif name == "data" and self.row is not None:
            self.key, self.text = attributes.get("key", ""), []
        elif name == "default" and self.declared is not None:
            self.text = []
        elif name in NESTED:
            raise self.problem(f"a graph must have nodes and edges only, no <{name}>", None, "leave these out")

    def _declare(self, attributes: dict[str, str]) -> None:
        kind, own = attributes.get("for", "all"), attributes.get("id", "")
        self.declared = own, kind, attributes.get("attr.name", own)
        if sum(map(len, self.keys.values())) > 2 * MAX_FEATURES:
            raise self.problem(f"a file must have at most {MAX_FEATURES:,} features", None, "leave some out")
        self._add_key(None)

    def _add_key(self, default: str | None) -> None:
        assert self.declared is not None  # called where a key is open
        own, kind, name = self.declared
        for each in ("node", "edge") if kind == "all" else (kind,):
            if each in self.keys:
                self.keys[each][own] = _Key(name, default)

    def _begin_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.problem("a file must hold one graph, and none inside a node", Bare("another"), "send one")
        self.directed = attributes.get("edgedefault") == "directed"

    def _begin_row(self, kind: str, attributes: dict[str, str]) -> None:
        known, most = (self.nodes, MAX_NODES) if kind == "node" else (self.edges, MAX_EDGES)
        if len(known) >= most:
            raise self.problem(f"a graph must have at most {most:,} {kind}s", None, "send a part of it")
        needed = ("id",) if kind == "node" else ("source", "target")
        for each in needed:
            if each not in attributes:
                raise self.problem(f"a {kind} must have the attribute {each}", Bare("none"), "add it", each)
        self.kind, self.row = kind, {each: attributes[each] for each in needed}
        known.append((self.parser.CurrentLineNumber, self.row))

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _end(self, name: str) -> None:
        name = name.rpartition("}")[2]
        self.depth -= 1
        if name == "data" and self.row is not None and self.text is not None:
            self._end_data("".join(self.text).strip())
        elif name == "default" and self.declared is not None and self.text is not None:
            self._add_key("".join(self.text).strip())
        elif name in ("node", "edge"):
            self.row = None
        elif name == "key":
            self.declared = None
        if name in ("data", "default"):
            self.text = None

    def _end_data(self, value: str) -> None:
        assert self.row is not None  # the caller has looked
        known = self.keys[self.kind].get(self.key)
        if known is None:
            way_out = "declare it by <key> before the graph"
            raise self.problem(f"data of a {self.kind} must have a key declared for it", self.key, way_out)
        if len(value) > LONGEST_FIELD:
            raise self.problem(f"a value must be at most {LONGEST_FIELD:,} letters", None, "shorten it", known.name)
        self.row.setdefault(f" {self.key}", value)  # no name of an attribute of our own begins with a space

    def rows(self, kind: str) -> Rows:
        """Fields are those whose key is in use, or has a default."""
        found = self.nodes if kind == "node" else self.edges
        own = ("id",) if kind == "node" else ("source", "target")
        used = {name for _, row in found for name in row}
        keys = {key: known for key, known in self.keys[kind].items() if f" {key}" in used or known.default is not None}
        names = [*own]
        for key, known in keys.items():
            names.append(known.name if known.name not in names else f"{known.name} ({key})")
        values = (
            (line, [*(row[each] for each in own), *(row.get(f" {key}", known.default) for key, known in keys.items())])
            for line, row in found
        )
        return Rows(self.file, tuple(names), values, "attribute")


def read_graphml(file: SentFile) -> GraphMLFile:
    text = decoded(file)
    check_count(file, b"<", MOST_TAGS, f"a file must have at most {MOST_TAGS:,} tags", "send a part of the graph")
    _check_tags(file)
    reader = _Reader(file.name)
    reader.read(text)
    if not reader.nodes:
        raise FileProblem(file.name, "a graph must have at least one node", Bare("none"), "export the graph anew")
    return GraphMLFile(reader.rows("node"), reader.rows("edge"), reader.directed)


def _check_tags(file: SentFile) -> None:
    """A stretch of 64 KB without a "<" covers one of these pieces, and is a tag or a text that no graph needs."""
    for start in range(0, len(file.data) - LONGEST_TAG, LONGEST_TAG):
        if file.data.find(b"<", start, start + LONGEST_TAG) < 0:
            line = file.data.count(b"\n", 0, start) + 1
            rule = f"a tag or a text must be at most {LONGEST_TAG:,} letters"
            raise FileProblem(file.name, rule, None, "leave long texts out", line=line)
