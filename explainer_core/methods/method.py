"""What a method of explanation says of itself, so that nobody else has to know it by name."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, fields

from torch import Tensor

from explainer_core.config import ExplainConfig
from explainer_core.methods.objective import Objective, Step, Weights

ATTENTION, GRADIENTS = "attention", "gradients"
NEEDS = (ATTENTION, GRADIENTS)


@dataclass(frozen=True)
class Method:
    """A method and its description. A new one is a file with a function and a Method, and one line in METHODS.

    Call it with a Objective to get Weights. `about` is a sentence for the page, in words a user knows; `borrowed` is
    what it adds where another network than the one that is explained had to be looked into.
    """

    name: str
    title: str
    about: str
    weigh: Callable[[Objective], Weights] = field(repr=False)
    borrowed: str = ""
    needs: tuple[str, ...] = ()  # of the network, some of NEEDS
    settings: tuple[str, ...] = ()  # the fields of ExplainConfig that change its weights
    stochastic: bool = False  # chance plays a part: several seeds are averaged
    features: bool = True  # whether it says anything of features
    one_by_one: bool = False  # asks the network about every edge in turn: takes long on a large graph
    # Its weights are a mask from 0 to 1, which the network can be run with; features are weighed on G_S afterwards.
    mask: bool = False
    # The same while it is optimised: a Step after the first, then after every so many, and after the last.
    steps: Callable[[Objective, int], Generator[Step, None, None]] | None = field(default=None, repr=False)
    # Masks that are optimised in one batch with its own: the necessity of each, by the name it proposes under, and for which
    # predictions it does, (P,) bool.
    beside: Callable[[Objective], tuple[dict[str, float], Tensor]] | None = field(default=None, repr=False)
    # Other rankings of the edges, (e,) each by name, the same from every start. With them every hard subgraph is searched
    # for by asking the network.
    propose: Callable[[Objective], dict[str, Tensor]] | None = field(default=None, repr=False)

    def __post_init__(self):
        known = {setting.name for setting in fields(ExplainConfig)}
        for kind, given, allowed in (("needs", self.needs, NEEDS), ("settings", self.settings, known)):
            unknown = [name for name in given if name not in allowed]
            if unknown:
                raise ValueError(
                    f"{kind} of the method {self.name!r} must be among {', '.join(sorted(allowed))} (got {unknown[0]!r})"
                )

    def __call__(self, objective: Objective) -> Weights:
        return self.weigh(objective)

    @property
    def learns_in_steps(self) -> bool:
        return self.steps is not None

    @property
    def verifies(self) -> bool:
        """Whether its subgraphs are searched for by asking the network about each."""
        return self.propose is not None

    @property
    def needs_attention(self) -> bool:
        """Whether it explains a network that pays attention only, and so may explain another one than was asked about."""
        return ATTENTION in self.needs

    @property
    def needs_gradients(self) -> bool:
        return GRADIENTS in self.needs
