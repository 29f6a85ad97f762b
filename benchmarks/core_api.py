"""What the faithfulness benchmark asks of the core that is still being merged; each function ends up as one line.

Where the new core is there it is used, without a switch. Where it is not, the mask stands in for "verified", so that the
benchmark can be run and read. Delete this file once the new core is everywhere: every name says what to call instead.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

import explainer_core as xc

OURS = "verified" if "verified" in xc.METHODS else "gnnexplainer"


def paper_config(**changes) -> xc.ExplainConfig:
    """ExplainConfig.paper(**changes)"""
    return xc.ExplainConfig.paper(**changes) if hasattr(xc.ExplainConfig, "paper") else xc.ExplainConfig(**changes)


def auto_config(seed: int = 0) -> xc.ExplainConfig:
    """ExplainConfig(k_m="auto", seed=seed)"""
    try:
        return xc.ExplainConfig(k_m="auto", seed=seed)
    except ValueError:
        return xc.ExplainConfig(seed=seed)


def exchanged(model, data, explanations: Sequence[xc.Explanation]) -> list[xc.Subgraph]:
    """explainer_core.verifying.exchanged"""
    try:
        from explainer_core.verifying import exchanged as exchange
    except ImportError:
        return [explanation.subgraph() for explanation in explanations]
    return exchange(model, data, explanations)


def is_default(explanation: xc.Explanation) -> bool:
    """explanation.verdict.level == verdict.DEFAULT: the model says the same of no edges at all."""
    verdict = getattr(explanation, "verdict", None)
    return verdict is not None and verdict.level.startswith("default")


def reweighted(explanation: xc.Explanation, size: int, edge_weight: np.ndarray) -> xc.Explanation:
    """replace(explanation, config=..., size=size, edge_weight=edge_weight, table=(), verdict=None)

    The same graph with other weights, cut at so many edges by these weights alone.
    """
    fixed = {"core": (), "table": (), "verdict": None, "size": size}  # what else decides over G_S, by core
    there = {field.name for field in fields(xc.Explanation)}
    config = replace(explanation.config, k_m=size, k_m_unit="edges")
    changes = {name: value for name, value in fixed.items() if name in there}
    return replace(explanation, config=config, edge_weight=edge_weight, **changes)
