"""A model run on computation graphs: one row of logits for each prediction."""

from collections.abc import Sequence

from torch import Tensor

from explainer_core.computation.computation_graph import Computation
from explainer_core.models.csr import Routes


def run(
    model,
    computation: Computation,
    task: str,
    edge_weight: Tensor | None = None,
    x: Tensor | None = None,
    routes: Sequence[Routes] | None = None,
    node_weight: Tensor | None = None,
) -> Tensor:
    """Logits of a model on computation graphs: (P, C)."""
    c = computation
    x = c.x if x is None else x
    if task == "graph":
        graphs = {"graph_of": c.node_instance, "num_graphs": c.num_instances, "node_weight": node_weight}
        return model(x, c.edge_index, edge_weight, edge_type=c.edge_types, routes=routes, **graphs)
    settings = {"edge_type": c.edge_types, "degree": c.degree, "prefixes": c.prefixes, "routes": routes}
    if task == "link":
        z = model.embed(x, c.edge_index, edge_weight, **settings)
        return model.decode(z[0::2], z[1::2])
    return model(x, c.edge_index, edge_weight, **settings)
