"""The fields of a prototype as plain JSON values, and back: everything from a file is checked before it is believed.

What follows from the members is written for the reader, and worked out again when read.
"""

import json
from collections.abc import Sequence

import numpy as np

from explainer_core.checks import all_hold, finite_array, number, whole_number
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
    reference = explanations[whole_number("reference", values["reference"], len(explanations))]
    label = values["label"]
    fields = {name: number(name, values[name], least) for name, least in NUMBERS.items()}
    features, scale = (_matrix(name, values[name], ndim) for name, ndim in (("features", 2), ("feature_scale", 1)))
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
        "a label or none": label is None or whole_number("label", label, len(reference.probabilities)) >= 0,
        "clusters without clusters": not (nested and values["clusters"]),
    }
    all_hold(rules)
    return fields | {
        "label": label,
        "reference": reference.target,
        "members": members,
        "features": features,
        "feature_scale": scale,
    }


def _member(values: dict, explanations: Sequence[Explanation]) -> Member:
    explanation = explanations[whole_number("explanation", values["explanation"], len(explanations))]
    known = set(explanation.nodes.tolist())
    pairs = set(map(tuple, explanation.undirected()[0].tolist()))
    nodes = tuple(None if node is None else whole_number("node", node) for node in values["nodes"])
    edges = tuple((whole_number("edge", a), whole_number("edge", b)) for a, b in values["edges"])
    weights = tuple(number("weight", weight, 0.0) for weight in values["weights"])
    played = [node for node in nodes if node is not None]
    if len(weights) != len(edges) or len(set(edges)) < len(edges) or not set(edges) <= pairs:
        raise ValueError("a member must have edges of its explanation, each once and with a weight")
    if len(set(played)) < len(played) or not set(played) <= known:
        raise ValueError("a member must have nodes of its explanation, each in one role")
    return Member(explanation, nodes, edges, weights)


def _matrix(name: str, value, ndim: int) -> np.ndarray | None:
    return None if value is None else finite_array(name, value, ndim)
