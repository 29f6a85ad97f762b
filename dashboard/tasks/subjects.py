"""What a request is about, loaded once in each process: data, networks, molecules that were typed, computation graphs."""

from dataclasses import replace
from typing import cast

import explainer_core as xc
from dashboard import catalogue
from dashboard.cache import MB, Cache
from dashboard.schema import BARE_METHOD, Request
from explainer_core import Card, Edited, ExplainConfig, Explanation, Graph, GraphSet, Model
from explainer_core.explanation.answers import Answers

_DATA: Cache[Graph | GraphSet] = Cache(32, 512 * MB)  # all that ship: a class looks at them in turn
_MODELS: Cache[Model] = Cache(32, 256 * MB)
_CARDS: Cache[Card] = Cache(64)
_TYPED: Cache[Graph] = Cache(64)
_EDITED: Cache[Edited] = Cache(8, 128 * MB)
_COMPUTATIONS: Cache[Explanation] = Cache(64)
_ANSWERS: Cache[Answers] = Cache(8, 32 * MB)


def load_data(name: str) -> Graph | GraphSet:
    return _DATA.get_or_create(name, lambda: catalogue.load_data(name))


def load_graph(name: str) -> Graph:
    """The data of a node or link task, which are one graph."""
    return cast(Graph, load_data(name))  # a data set has one task


def load_graphs(name: str) -> GraphSet:
    """The data of a graph task, which are many graphs."""
    return cast(GraphSet, load_data(name))  # a data set has one task


def card_of(dataset: str, model: str) -> Card:
    return _CARDS.get_or_create((dataset, model), lambda: catalogue.card_of(dataset, model))


def network(dataset: str, model: str) -> Model:
    """The trained network. Shared by all visitors: masks are arguments of its forward pass, nothing is stored on it."""
    return _MODELS.get_or_create((dataset, model), lambda: catalogue.load_model(dataset, model))


def subject(request: Request) -> tuple[Graph | GraphSet, xc.Node | xc.WholeGraph | xc.Link]:
    """The data and the target of a request; raises ValueError with one sentence for a SMILES that is no molecule."""
    if request.edits:
        edited = edited_graph(request)
        return edited.graph, edited.target(subject(replace(request, edits=()))[1])
    if request.kind == "smiles":
        text = request.smiles
        return _TYPED.get_or_create(text, lambda: xc.molecule_from_smiles(text)), xc.WholeGraph()
    data = load_data(request.dataset)
    if request.kind == "node":
        return data, xc.Node(request.number)
    return data, xc.Link(*request.ends) if request.kind == "link" else xc.WholeGraph(request.number)


def edited_graph(request: Request) -> Edited:
    """The graph of a request with its edits made; raises ValueError with one sentence for one that cannot be made."""
    plain = Request(request.dataset, request.model, request.kind, request.target)
    key = (plain, request.edits)
    return _EDITED.get_or_create(key, lambda: xc.apply_edits(graph_of(plain), request.edits))


def graph_of(request: Request) -> Graph:
    data = subject(request)[0]
    return data[request.number] if isinstance(data, GraphSet) else data


def computation_graph(request: Request) -> Explanation:
    """The computation graph and the prediction, with nothing optimised: what can be drawn at once."""
    bare = _bare(request)

    def make() -> Explanation:
        data, target = subject(bare)
        return xc.weigh(network(bare.dataset, bare.model), data, target, bare.config, bare.method)

    return _COMPUTATIONS.get_or_create(bare, make)


def keep_answers(request: Request, answers: Answers) -> None:
    """What the network said of parts of the computation graph, for who explains it again in this process."""
    _ANSWERS.put(_bare(request), answers)


def kept_answers(request: Request) -> Answers | None:
    answers = _ANSWERS.get(_bare(request))
    return None if answers is None else answers.copy()  # whoever goes on asking adds to their own


def _bare(request: Request) -> Request:
    """What the computation graph depends on."""
    config = ExplainConfig(max_edges=request.config.max_edges, seed=request.config.seed)  # what sampling depends on
    return replace(request, target_class="predicted", config=config, method=BARE_METHOD)
