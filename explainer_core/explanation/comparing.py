"""Other methods beside an explanation: on the same edges, of the same size, about the same class, ranked by the model's answers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explainer_core.explanation.metrics import Faithfulness, faithfulness
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.verifying import asked_of
from explainer_core.graph import Graph, GraphSet
from explainer_core.models.protocol import Model

DECIMALS = 1  # of a percentage that is shown: figures that look the same rank the same


def on_edges_of(computation: Explanation, other: Explanation) -> Explanation:
    """Another network's weights on the computation graph of the one that is explained: it may be deeper or less deep.

    Of an explanation given as the computation graph nothing stays but the graph and the prediction.
    """
    keys = zip(other.edge_part.tolist(), other.edge_ids.tolist(), strict=True)
    weight = dict(zip(keys, other.edge_weight.tolist(), strict=True))
    wanted = zip(computation.edge_part.tolist(), computation.edge_ids.tolist(), strict=True)
    return replace(
        computation,
        method=other.method,
        explained_class=other.explained_class,
        edge_weight=np.array([weight.get(key, 0.0) for key in wanted]),
        feature_weight=other.feature_weight,
        verdict=None,
        table=(),  # else G_S would still be the one that was searched for
    )


def beside(shown: Explanation, other: Explanation) -> Explanation:
    """Another method's explanation of the size of the one that is shown, and about the same class.

    Attention looks at no class, and in another network: all are judged by the class that is asked about.
    """
    config = replace(other.config, k_m=shown.size, k_m_unit=shown.config.k_m_unit, k_f=shown.config.k_f)
    asked = {"explained_class": shown.explained_class, "predicted_class": shown.predicted_class}
    return replace(other, config=config, size=shown.size, verdict=None, **asked)


def judged_beside(
    model: Model, data: Graph | GraphSet, shown: Sequence[Explanation], others: Sequence[Explanation]
) -> list[Faithfulness]:
    """What the model says of the others' G_S, all in one batch; each stands beside the one at its place."""
    return faithfulness(model, data, [beside(own, other) for own, other in zip(shown, others, strict=True)])


def score(shown: Explanation, figures: Faithfulness) -> float:
    """Sufficiency + necessity of a part of the same graph, from the probabilities as they are shown."""
    asked = asked_of(shown)
    alone, without, full, ceiling = (
        round(100 * share, DECIMALS) / 100 for share in (figures.kept, figures.without, figures.full, asked.ceiling)
    )
    return round(min(1.0, alone / max(ceiling, 1e-12)) + full - without, 6)


def ranks(scores: Sequence[float]) -> list[int]:
    """1 for the best; equals share a rank, and the next one counts them."""
    return [1 + sum(other > score for other in scores) for score in scores]
