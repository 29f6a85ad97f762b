"""The fields of an explanation as plain JSON values, and back: everything from a file is checked before it is believed."""

from dataclasses import asdict
from typing import Any

import numpy as np

from explainer_core.checks import all_hold, array, floats, shares, whole_number
from explainer_core.config import ExplainConfig
from explainer_core.explanation.verdict import LEVELS, Judged, Verdict
from explainer_core.targets import Link, Node, WholeGraph

TARGET_KINDS = {"node": Node, "graph": WholeGraph, "link": Link}
ARRAYS = {  # type and number of dimensions
    "edge_index": (np.int64, 2),
    "edge_ids": (np.int64, 1),
    "edge_weight": (float, 1),
    "edge_part": (np.int64, 1),
    "nodes": (np.int64, 1),
    "hop": (np.int64, 1),
    "feature_weight": (float, 1),
    "edge_spread": (float, 1),
    "seed_weights": (float, 2),
    "feature_mask": (float, 1),
    "feature_absent": (bool, 1),
}
OPTIONAL = ("feature_weight", "edge_spread", "seed_weights", "feature_mask", "feature_absent")
PER_FEATURE = ("feature_weight", "feature_mask", "feature_absent")
PER_EDGE = ("edge_ids", "edge_weight", "edge_part", "edge_spread", "seed_weights")


def plain_fields(fields: dict) -> dict:
    """The fields as values that JSON has."""
    target = fields["target"]
    kind = next(name for name, cls in TARGET_KINDS.items() if isinstance(target, cls))
    plain = {name: _plain(value) for name, value in fields.items()}
    return plain | {
        "target": {"kind": kind} | asdict(target),
        "config": fields["config"].to_dict(),
        "verdict": None if fields["verdict"] is None else asdict(fields["verdict"]),
        "table": [asdict(judged) for judged in fields["table"]],
    }


def checked_fields(values: dict) -> dict:
    """The fields out of a file, each of its type and all of one size; raises what it trips over."""
    # the first two follow from the rest, the last was written by earlier versions
    values = {name: value for name, value in values.items() if name not in ("edge_score", "protocol", "core")}
    target = dict(values["target"])
    arrays = {
        name: None if values.get(name) is None and name in OPTIONAL else array(name, values[name], kind, ndim)
        for name, (kind, ndim) in ARRAYS.items()
    }
    masked = values["masked_probabilities"]
    fields = values | arrays
    fields |= {
        "target": TARGET_KINDS[target.pop("kind")](**target),
        "config": ExplainConfig(**values["config"]),
        "steps": whole_number("steps", values.get("steps", 0)),
        "probabilities": floats("probabilities", values["probabilities"]),
        "masked_probabilities": None if masked is None else floats("masked_probabilities", masked),
        "history": {str(name): list(floats("history", term)) for name, term in values.get("history", {}).items()},
        "snapshots": tuple(
            (whole_number("step", step), array("snapshots", mask, float, 1)) for step, mask in values["snapshots"]
        ),
        "size": whole_number("size", values.get("size", values["config"].get("k_m"))),
        "verdict": None if values.get("verdict") is None else _verdict(values["verdict"]),
        "table": tuple(_judged(entry) for entry in values.get("table", ())),
    }
    all_hold(_rules(fields))
    return fields


def _rules(fields: dict) -> dict[str, bool]:
    """What must hold between the fields, and whether it does."""
    edge_index, target, num_classes = fields["edge_index"], fields["target"], len(fields["probabilities"])
    sized = [fields[name] for name in PER_EDGE] + [mask for _, mask in fields["snapshots"]]
    asked = [number for number in asdict(target).values() if number is not None or not isinstance(target, WholeGraph)]
    nodes = set(edge_index.flatten().tolist()) | (set() if isinstance(target, WholeGraph) else set(asked))
    classes = [fields["predicted_class"]] + [c for c in (fields["explained_class"],) if c is not None]
    masked = fields["masked_probabilities"]
    return {
        "two rows of edges": len(edge_index) == 2,
        "as many values as edges": all(part is None or part.shape[-1] == edge_index.shape[1] for part in sized),
        "subgraphs of its own edges": {edge for judged in fields["table"] for edge in judged.edges}
        <= set(map(tuple, np.sort(edge_index, axis=0).T.tolist())),
        "as many values as features": len({len(fields[name]) for name in PER_FEATURE if fields[name] is not None}) <= 1,
        "a size of at least 1": fields["size"] >= 1,
        "one hop for each node": len(fields["nodes"]) == len(fields["hop"]),
        "edges and target among the nodes": nodes <= set(fields["nodes"].tolist()),
        "target numbers": all(whole_number("target", number) >= 0 for number in asked),
        "parts 0 and 1": not (fields["edge_part"] > 1).any(),
        "classes it has probabilities for": all(whole_number("class", c) < num_classes for c in classes),
        "probabilities of the same classes": masked is None or len(masked) == num_classes,
        "a method name": isinstance(fields["method"], str),
        "sampled or not": isinstance(fields.get("sampled", False), bool),
    }


def _verdict(values: dict) -> Verdict:
    verdict = Verdict(**values)
    numbers = [verdict.full, verdict.alone, verdict.without, verdict.empty]
    numbers += [] if verdict.agreement is None else [verdict.agreement]
    shares("verdict", numbers)
    if verdict.level not in LEVELS or type(verdict.keeps_class) is not bool or not isinstance(verdict.winner, str):
        raise ValueError(f"verdict must have one of the levels {', '.join(LEVELS)} (got {verdict.level!r:.40})")
    return verdict


def _judged(values: dict) -> Judged:
    edges = tuple((whole_number("edge", a), whole_number("edge", b)) for a, b in values["edges"])
    known: dict[str, Any] = values | {"edges": edges}  # the others are checked below
    judged = Judged(**known)
    shares("table", [judged.alone, judged.without])
    if type(judged.keeps_class) is not bool or not isinstance(judged.origin, str):
        raise ValueError("table must say of each subgraph whether it keeps the class, and where it came from")
    return judged


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
