"""Every knob of the explainer: its default, its range and its one-line help, in one place."""

from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any

from explainer_core import checks

AUTO = "auto"  # K_M: the smallest size that is nearly as good as any


def knob(default, *, low=None, high=None, choices=None, auto=False, help: str) -> Any:
    """A setting that knows its range, so that the check and the slider read the same numbers.

    `auto` says that the word "auto" may stand in for the number.
    """
    return field(default=default, metadata={"low": low, "high": high, "choices": choices, "auto": auto, "help": help})


@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """The settings of one explanation. The objective they weigh is in methods/gnnexplainer.py."""

    k_m: int | str = knob(
        AUTO,
        low=1,
        high=50,
        auto=True,
        help="K_M: how large the explanation subgraph is; auto: the smallest that is nearly as good as any up to 30",
    )
    k_m_unit: str = knob("nodes", choices=("nodes", "edges"), help="What K_M counts")
    k_f: int = knob(5, low=1, high=50, help="K_F: how many features the explanation keeps")
    connected: bool = knob(True, help="Keep only the part that hangs together around the target")
    refine: bool = knob(
        True, help="Verified: exchange edges of each proposal while the network says that it gets better"
    )

    necessity: float = knob(
        3.0, low=0.0, high=20.0, help="Weight of the prediction getting lost when the kept edges are taken away"
    )
    size: float = knob(0.3, low=0.0, high=5.0, help="Weight of the number of kept edges at the end of the run")
    size_start: float = knob(
        5.0, low=0.0, high=100.0, help="The same at the start, shared by all edges; it rises steadily in between"
    )
    entropy: float = knob(0.0, low=0.0, high=5.0, help="Weight that pushes every edge towards kept or dropped")
    feat_size: float = knob(0.5, low=0.0, high=5.0, help="Weight of the share of kept features")
    feat_entropy: float = knob(0.0, low=0.0, high=5.0, help="Weight that pushes every feature towards kept or dropped")
    laplacian: float = knob(0.0, low=0.0, high=5.0, help="Weight against edges between nodes predicted to differ")

    steps: int = knob(30, low=1, high=2000, help="How many steps the masks are learnt for at most")
    learning_rate: float = knob(0.25, low=1e-4, high=1.0, help="How far one step moves a mask")
    temperature: float = knob(
        7.0, low=0.1, high=20.0, help="Divides the logits, so that a sure prediction still has a gradient"
    )
    start: float = knob(2.0, low=-5.0, high=5.0, help="The logit every edge starts from; above zero means kept")
    seeds: int = knob(1, low=1, high=50, help="How many runs from different starts are averaged")
    seed: int = knob(0, low=0, high=2**31 - 1, help="Decides every random number of the run")

    feature_fill: str = knob(
        "auto",
        choices=("auto", "marginal", "zero"),
        help="What replaces a hidden feature: other nodes' values, zero, or auto: zero for one-hot types, else values",
    )
    features: str = knob(
        "after",
        choices=("after", "joint", "none"),
        help="Features are weighed after the edges, on the kept subgraph; together with them, as in the paper; or not",
    )
    feature_mask: str = knob(
        "shared", choices=("shared", "per_node"), help="One mask for all nodes, or one for each node"
    )
    readout: str = knob(
        "weighed",
        choices=("weighed", "plain"),
        help="Of a whole graph, while its mask is learnt: they leave the readout with their edges, or count as before",
    )
    direction: str = knob(
        "directed", choices=("directed", "symmetric"), help="One mask for each direction of an edge, or one for both"
    )
    max_edges: int = knob(
        200_000, low=1, high=10_000_000, help="A larger neighbourhood is sampled down to this many edges"
    )

    @classmethod
    def paper(cls, **changes) -> "ExplainConfig":
        """The method as published (Ying et al. 2019), for `method="gnnexplainer"`: both masks optimised together, by
        sufficiency alone, with nothing exchanged afterwards.

        Weights of size, Laplacian and features are those of its appendix; where that is silent (entropy, rate, start,
        one mask for both directions) those of the authors' code.
        """
        published = {
            "necessity": 0.0,
            "features": "joint",
            "refine": False,
            "feature_fill": "marginal",
            "direction": "symmetric",
            "readout": "plain",
            "size": 0.005,
            "size_start": 0.0,
            "entropy": 1.0,
            "laplacian": 0.5,
            "feat_size": 0.1,
            "temperature": 1.0,
            "start": 1.0,
            "steps": 100,
            "learning_rate": 0.1,
            "k_m": 6,
        }
        return cls(**published | changes)

    def __post_init__(self):
        for setting in fields(self):
            check_setting(setting, getattr(self, setting.name))

    def to_dict(self) -> dict:
        return asdict(self)


def check_setting(setting: Field, value) -> None:
    """Raises ValueError unless the value is of the knob's type and in its range."""
    name, rule = setting.name, setting.metadata
    try:
        if rule["choices"] is not None:
            checks.one_of(name, value, rule["choices"])
            return
        kind, word = (int, AUTO) if rule["auto"] else (type(setting.default), None)
        checks.setting(name, value, kind, rule["low"], rule["high"], word)
    except checks.InvalidValue as broken:
        raise ValueError(str(broken)) from None


def checked_config(config: ExplainConfig | None) -> ExplainConfig:
    """The settings given, or the usual ones where there are none."""
    if config is None:
        return ExplainConfig()
    if not isinstance(config, ExplainConfig):
        raise checks.InvalidValue("config must be an ExplainConfig, for example ExplainConfig(k_m=6)", config)
    return config
