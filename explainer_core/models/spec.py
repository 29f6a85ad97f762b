"""Everything needed to build a network of the zoo again before its weights are loaded."""

from dataclasses import asdict, dataclass

from explainer_core.checks import InvalidValue, one_of, setting

KINDS = ("gcn", "sage", "gin", "gat", "gated", "rgcn")
TASKS = ("node", "graph", "link")
READOUTS = ("mean", "sum", "max")
JUMPS = ("last", "cat", "max")


@dataclass(frozen=True)
class ModelSpec:
    """Everything needed to build a network again before its weights are loaded."""

    kind: str
    task: str
    in_features: int
    num_classes: int
    hidden: int = 32
    num_layers: int = 3
    jump: str = "last"
    readout: str = "mean"
    heads: int = 4  # of a gat
    normalize: bool = True  # gcn, sage and gat average over neighbours; without it they sum, and so can count
    num_edge_types: int = 0
    unit_length: bool = False  # every layer's output scaled to length one
    batch_norm: bool = False
    dropout: float = 0.0

    def __post_init__(self):
        for field, options in (("kind", KINDS), ("task", TASKS), ("jump", JUMPS), ("readout", READOUTS)):
            one_of(field, getattr(self, field), options)
        for field, high in (
            ("in_features", 100_000),
            ("num_classes", 1000),
            ("hidden", 4096),
            ("num_layers", 20),
            ("heads", 64),
        ):
            value = getattr(self, field)
            if type(value) is not int or not 1 <= value <= high:
                raise InvalidValue(f"{field} must be 1 to {high:,}", value)
        for field in ("normalize", "unit_length", "batch_norm"):
            setting(field, getattr(self, field), bool)
        if setting("dropout", self.dropout, float, 0.0, 1.0) == 1:
            raise ValueError(f"dropout must be 0 up to 1 (got {self.dropout})")
        setting("num_edge_types", self.num_edge_types, int, 0, 1000)
        if self.kind == "rgcn" and not self.num_edge_types:
            raise ValueError(f"a relational network needs 1 to 1,000 edge types (got {self.num_edge_types!r})")

    def to_dict(self) -> dict:
        return asdict(self)
