"""The same explanations on a cuda device as on the processor. Left out of an ordinary run: pytest -m cuda."""

import copy

import numpy as np
import pytest
import torch
from small_networks import case, sharp

from explainer_core.api import explain_many
from explainer_core.config import ExplainConfig
from explainer_core.explanation.judging import Judge
from explainer_core.methods import METHODS
from explainer_core.models import KINDS

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no cuda device here"),
]
TASKS = ("node", "graph", "link")


def assert_close(one, other):
    np.testing.assert_allclose(one.edge_weight, other.edge_weight, atol=1e-3)
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-4)
    if one.feature_weight is not None:
        np.testing.assert_allclose(one.feature_weight, other.feature_weight, atol=1e-3)
    if one.masked_probabilities is not None:
        np.testing.assert_allclose(one.masked_probabilities, other.masked_probabilities, atol=1e-3)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", ["none", "joint"])
def test_masks_are_those_of_the_processor(task, kind, features):
    model, data, targets = case(task, kind, typed=True)
    settings = ExplainConfig(steps=30, features=features, k_m=5)
    cpu, cuda = (
        explain_many(copy.deepcopy(model).to(device), data, targets, settings, "gnnexplainer")
        for device in ("cpu", "cuda")
    )
    for one, other in zip(cpu, cuda, strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_what_it_finds_on_the_processor(task, method):
    model, data, targets = case(task, "gat" if method == "attention" else "gcn")
    settings = ExplainConfig(steps=30, k_m=5)
    sharp(model)
    cpu, cuda = (
        explain_many(copy.deepcopy(model).to(device), data, targets, settings, method) for device in ("cpu", "cuda")
    )
    for one, other in zip(cpu, cuda, strict=True):
        assert_close(one, other)
        assert one.verdict.level == other.verdict.level
        assert one.verdict.alone == pytest.approx(other.verdict.alone, abs=2e-2)  # of equals either may be shown


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_judged_as_on_the_processor(task, kind):
    model, data, targets = case(task, kind, typed=True)
    found = explain_many(model, data, targets, ExplainConfig(), "proximity")
    rows = [(i, np.tri(len(e.pairs), dtype=bool)) for i, e in enumerate(found)]
    cpu, cuda = (Judge(copy.deepcopy(model).to(device), data, found) for device in ("cpu", "cuda"))
    for one, other in zip(cpu.alone(rows) + cpu.without(rows), cuda.alone(rows) + cuda.without(rows), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
