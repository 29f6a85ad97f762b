"""The fields of a prototype as plain JSON values, and back: everything from a file is checked before it is believed.

What follows from the members is written for the reader, and worked out again when read.
"""

import json
from collections.abc import Sequence

import numpy as np

from explainer_core.explanation.result import Explanation
from explainer_core.prototypes.member import Member

NUMBERS = {"cost": 0.0, "random_cost": 0.0, "share": 0.0}  # the fields that are plain numbers, and the least of each


def plain(prototype, explanations: Sequence[Explanation]) -> dict:
    """One prototype with members that name their explanation by its index in the list."""
    index_of = {id(explanation): i for i, explanation in enumerate(explanations)}
    arrays = ("agreement", "mean", "median", "presence", "features", "feature_scale")
    return {
        "label": prototype.label,
        "reference": index_of[id(prototype.reference_member.explanation)],
        **{name: getattr(prototype, name) for name in NUMBERS},
        **{name: None if (values := getattr(prototype, name)) is None else values.tolist() for name in arrays},
        "members": [
            {
                "explanation": index_of[id(member.explanation)],
                **{name: getattr(member, name) for name in ("nodes", "edges", "weights")},
                **{name: getattr(member, name) for name in ("unaligned", "missing", "extra", "distance")},
            }
            for member in prototype.members
        ],
        "clusters": [plain(cluster, explanations) for cluster in prototype.clusters],
    }


def checked_explanations(values) -> list[Explanation]:
    return [Explanation.from_json(json.dumps(one)) for one in values]


def checked(values: dict, explanations: Sequence[Explanation], *, nested: bool = False) -> dict:
    """The fields out of a file, each of its type and all fitting together; raises what it trips over."""
    members = tuple(_member(one, explanations) for one in values["members"])
    roles = {len(member.nodes) for member in members}
    reference = explanations[_whole("reference", values["reference"], len(explanations))]
    label = values["label"]
    fields = {name: _number(name, values[name], least) for name, least in NUMBERS.items()}
    features, scale = (_array(name, values[name], ndim) for name, ndim in (("features", 2), ("feature_scale", 1)))
    rules = {
        "members with one and the same number of roles": len(roles) == 1,
        "each explanation once": len({id(member.explanation) for member in members}) == len(members),
        "targets in the first roles": all(m.nodes[: len(m.explanation.roots)] == m.explanation.roots for m in members),
        "targets of one kind": len({type(member.target) for member in members}) == 1,
        "its reference among the members": any(member.explanation is reference for member in members),
        "a share of at most 1": fields["share"] <= 1,
        "features for each role": features is None or {len(features)} == roles,
        "one scale for each feature": (
            scale is None if features is None else scale is not None and features.shape[1] == len(scale)
        ),
        "a label or none": label is None or _whole("label", label, len(reference.probabilities)) >= 0,
        "clusters without clusters": not (nested and values["clusters"]),
    }
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"it must have {rule}")
    return fields | {
        "label": label,
        "reference": reference.target,
        "members": members,
        "features": features,
        "feature_scale": scale,
    }


def _member(values: dict, explanations: Sequence[Explanation]) -> Member:
    explanation = explanations[_whole("explanation", values["explanation"], len(explanations))]
    known = set(explanation.nodes.tolist())
    pairs = set(map(tuple, explanation.undirected()[0].tolist()))
    nodes = tuple(None if node is None else _whole("node", node) for node in values["nodes"])
    edges = tuple((_whole("edge", a), _whole("edge", b)) for a, b in values["edges"])
    weights = tuple(_number("weight", weight, 0.0) for weight in values["weights"])
    played = [node for node in nodes if node is not None]
    if len(weights) != len(edges) or len(set(edges)) < len(edges) or not set(edges) <= pairs:
        raise ValueError("a member must have edges of its explanation, each once and with a weight")
    if len(set(played)) < len(played) or not set(played) <= known:
        raise ValueError("a member must have nodes of its explanation, each in one role")
    return Member(explanation, nodes, edges, weights)


def _whole(name: str, value, below: int | None = None) -> int:
    if type(value) is not int or value < 0 or (below is not None and value >= below):
        raise ValueError(
            f"{name} must be a whole number from 0{'' if below is None else f' to {below - 1}'} (got {value!r})"
        )
    return value


def _number(name: str, value, least: float) -> float:
    if type(value) not in (int, float) or not np.isfinite(value) or value < least:
        raise ValueError(f"{name} must be a number from {least:g} (got {value!r})")
    return float(value)


def _array(name: str, value, ndim: int) -> np.ndarray | None:
    if value is None:
        return None
    found = np.array(value)
    if found.ndim != ndim or (found.size and found.dtype.kind not in "iuf") or not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite numbers in {ndim} dimensions (got {found.dtype} {found.shape})")
    return found.astype(float)
