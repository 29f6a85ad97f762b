"""How the methods do over a data set, as a network's card keeps it: measured once by a benchmark, checked when it is read."""

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from explainer_core import checks

PARTS = ("test", "all")  # of the data set: all where its test part is too small to say anything
MOST_METHODS, MOST_TARGETS, LONGEST = 20, 100_000, 200
NAME = re.compile("[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class MethodFigures:
    """One method's means over the targets. Probabilities are of the predicted class."""

    alone: float  # of G_S alone
    without: float  # of the graph without G_S
    keeps: float  # the share of targets whose G_S alone keeps the class
    score: float  # sufficiency + necessity, which methods are ranked by

    def __post_init__(self):
        for name in ("alone", "without", "keeps", "score"):
            low, high = (-1, 2) if name == "score" else (0, 1)
            checks.setting(f"{name} of a method", getattr(self, name), float, low, high)


@dataclass(frozen=True)
class MethodsCompared:
    """Every method on the same targets, each G_S of the size that the default method finds."""

    targets: int
    part: str  # one of PARTS
    k_m: str  # how the size of a G_S is settled
    k_m_unit: str
    protocol: str  # how a part is judged
    command: str  # that measured it
    full: float  # the mean probability with everything
    methods: dict[str, MethodFigures]

    def __post_init__(self):
        checks.setting("targets", self.targets, int, 1, MOST_TARGETS)
        checks.one_of("part", self.part, PARTS)
        checks.one_of("k_m", self.k_m, ("auto",))
        checks.one_of("k_m_unit", self.k_m_unit, ("nodes", "edges"))
        checks.setting("full", self.full, float, 0, 1)
        for name in ("protocol", "command"):
            text = getattr(self, name)
            if not isinstance(text, str) or len(text) > LONGEST:
                raise checks.InvalidValue(f"{name} must be a text of at most {LONGEST} letters", text)
        if not 1 <= len(self.methods) <= MOST_METHODS:
            raise checks.InvalidValue(f"methods must be 1 to {MOST_METHODS}", len(self.methods))
        for name in self.methods:
            if not NAME.fullmatch(name):
                raise checks.InvalidValue("the name of a method must be small letters, digits and _", name)

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "MethodsCompared":
        """What `to_dict` gave. Everything is checked: a card may come from anywhere."""
        _check_names("the comparison of methods", values, cls)
        checks.typed("methods", values["methods"], dict)
        for figures in values["methods"].values():
            _check_names("a method's figures", figures, MethodFigures)
        checked: dict[str, Any] = dict(values)
        checked["methods"] = {name: MethodFigures(**figures) for name, figures in values["methods"].items()}
        return cls(**checked)


def _check_names(what: str, values: object, kind: type) -> None:
    wanted = {field.name for field in fields(kind)}
    if not isinstance(values, dict) or set(values) != wanted:
        given = sorted(map(str, values)) if isinstance(values, dict) else values
        raise checks.InvalidValue(f"{what} must have {', '.join(sorted(wanted))}", given)
