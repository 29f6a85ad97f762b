"""The plain data that crosses between state, services, view and pages: requests, what is said of them, and the core's own types."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from explainer_core import DEFAULT_METHOD, METHODS, Card, ExplainConfig, Explanation
from explainer_core.checks import InvalidValue, index_in, one_of, some_of
from explainer_core.config import AUTO
from explainer_core.debugging.causes import Cause
from explainer_core.debugging.edits import MOST_CHARACTERS as MOST_EDIT_CHARACTERS
from explainer_core.debugging.edits import (
    AddEdge,
    CutEdge,
    DeleteNode,
    Edit,
    HideFeature,
    SetFeature,
    SetType,
    edits_from_text,
    edits_to_text,
)
from explainer_core.debugging.flip import Flip
from explainer_core.debugging.instances import NO_SPLIT, SPLITS, InstanceFilter, Instances
from explainer_core.debugging.mistakes import Bin, Overview, Share
from explainer_core.debugging.patterns import Group, Pattern, Trait
from explainer_core.debugging.systematic import Systematic
from explainer_core.debugging.two_networks import BOTH_RIGHT, ONLY_FIRST, ONLY_SECOND, OUTCOMES, TwoNetworks, is_chance
from explainer_core.explanation.metrics import Faithfulness
from explainer_core.explanation.shapes import group_of, shape_of
from explainer_core.explanation.trust import Agreement, SizePoint, Trust
from explainer_core.explanation.verdict import CARRIES, DEFAULT, MOSTLY, NOT_ENOUGH, Verdict
from explainer_core.methods.method import GRADIENTS, Method
from explainer_core.zoo.training import Epoch

__all__ = [
    "AUTO",
    "BARE_METHOD",
    "BOTH_RIGHT",
    "CARRIES",
    "CHANCE_METHOD",
    "DEFAULT",
    "LINK_CLASSES",
    "MAIN_METHOD",
    "MASK_METHOD",
    "MOSTLY",
    "MOST_EDIT_CHARACTERS",
    "NOT_ENOUGH",
    "NO_SPLIT",
    "ONLY_FIRST",
    "ONLY_SECOND",
    "OUTCOMES",
    "PAPER",
    "SHOWN_FIRST",
    "SHOWN_WHERE_SMALL",
    "SPLITS",
    "AddEdge",
    "Agreement",
    "Bin",
    "Card",
    "Cause",
    "CutEdge",
    "DeleteNode",
    "Edit",
    "Epoch",
    "ExplainConfig",
    "Explanation",
    "Flip",
    "Group",
    "HideFeature",
    "InstanceFilter",
    "Instances",
    "InvalidValue",
    "Overview",
    "Pattern",
    "Request",
    "Scores",
    "SetFeature",
    "SetType",
    "Share",
    "SizePoint",
    "Systematic",
    "TargetFacts",
    "Trait",
    "Trust",
    "TwoNetworks",
    "Verdict",
    "edits_from_text",
    "edits_to_text",
    "group_of",
    "index_in",
    "is_chance",
    "is_mask",
    "judged",
    "one_of",
    "shape_of",
    "some_of",
]

LINK_CLASSES = ("not joined", "joined")


def _first_method(fits: Callable[[Method], bool]) -> str:
    return next(name for name, method in METHODS.items() if fits(method))


# Methods the page has a use of its own for, each found by what it says of itself.
# The main picture can show the core's own choice, and the mask alone that it starts from.
MAIN_METHOD = DEFAULT_METHOD
MASK_METHOD = _first_method(lambda method: method.mask and not method.verifies)
# Costs next to nothing: for a computation graph and a prediction with no explanation yet.
BARE_METHOD = _first_method(lambda method: not (method.needs or method.settings or method.features))
PAPER = "paper"  # the mask with the settings of the paper, as a method beside the others
# Edges by chance: what every other method is compared with.
CHANCE_METHOD = _first_method(lambda method: method.stochastic and not (method.needs or method.mask))
# Beside the main picture until the user chooses: the mask that it starts from, which is there already, one by gradients, one by
# attention, one by chance, and where it does not take long one that takes edges away.
SHOWN_FIRST = (
    MASK_METHOD,
    _first_method(lambda method: GRADIENTS in method.needs and not method.mask),
    _first_method(lambda method: method.needs_attention),
    CHANCE_METHOD,
)
SHOWN_WHERE_SMALL = _first_method(lambda method: method.one_by_one)


def is_mask(explanation: Explanation) -> bool:
    """Whether its subgraph is the heaviest part of a mask, and was not searched for by asking the network."""
    return not METHODS[explanation.method].verifies


def judged(explanation: Explanation) -> Verdict:
    """The verdict on an explanation that is shown, which always has one."""
    if explanation.verdict is None:
        raise ValueError("what is shown must have been judged by the network (got no verdict)")
    return explanation.verdict


@dataclass(frozen=True)
class Request:
    """One prediction to explain. `target` is a node, a graph, a pair of nodes, or a SMILES, as `kind` says."""

    dataset: str
    model: str
    kind: str  # node, graph, link or smiles
    target: int | tuple[int, int] | str
    target_class: int | str = "predicted"  # or "true", "distribution", or a class number
    config: ExplainConfig = field(default_factory=ExplainConfig)
    method: str = MAIN_METHOD  # what the main picture shows
    edits: tuple[Edit, ...] = ()  # what is changed in the graph before the network is asked

    # `kind` says which of its types `target` has; the type checker cannot follow that from one field to another.

    @property
    def number(self) -> int:
        """The target, where it is a node or a graph."""
        return cast(int, self.target)

    @property
    def ends(self) -> tuple[int, int]:
        """The target, where it is a link."""
        return cast(tuple[int, int], self.target)

    @property
    def smiles(self) -> str:
        """The target, where it is a molecule that was typed."""
        return cast(str, self.target)


@dataclass(frozen=True)
class TargetFacts:
    """What the network says of a target, and what is true."""

    name: str
    class_names: tuple[str, ...]
    probabilities: tuple[float, ...]
    colours: tuple[str, ...]
    predicted: int
    truth: int | None
    explained: int | None  # the class that is asked about; None for the whole distribution

    @property
    def right(self) -> bool | None:
        return None if self.truth is None else self.truth == self.predicted


@dataclass(frozen=True)
class Scores:
    """How good one explanation is; `auc` is None where no ground truth is known."""

    method: str
    seconds: float
    auc: float | None
    judged: Faithfulness
    score: float  # sufficiency + necessity, from the figures as they are shown: what methods are ranked by
