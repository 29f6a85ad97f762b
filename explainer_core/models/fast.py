"""The zoo network's cheaper way to its own logits: CSR aggregation planned once, and a manual backward."""

from functools import cached_property

from torch import Tensor

from explainer_core.models import gcn_backward
from explainer_core.models.protocol import VJP, PredictionBatch


class FastGNN:
    """One batch that a GNN is asked about many times: the first time costs more, the others less."""

    weighs_nodes = True

    def __init__(self, model, batch: PredictionBatch):
        self.model, self.batch = model, batch

    def logits(self, edge_weight: Tensor | None, x: Tensor | None = None, node_weight: Tensor | None = None) -> Tensor:
        return self.model.run(self.batch, edge_weight, x, node_weight, self._plan)

    @property
    def manual_backward(self) -> bool:
        return self._layer_inputs is not None

    def logits_and_vjp(self, edge_weight: Tensor) -> tuple[Tensor, VJP]:
        assert self._layer_inputs is not None  # manual_backward is asked first
        return gcn_backward.logits_and_vjp(self.model, self.batch.x, self._layer_inputs, edge_weight)

    @cached_property
    def _plan(self):
        b = self.batch
        return self.model.plan(b.edge_index, len(b.x), b.prefixes)

    @cached_property
    def _layer_inputs(self):
        """Of the manual backward; None where there is none, or where CSR makes the recorded one cheaper."""
        b = self.batch
        if not gcn_backward.has_manual_backward(self.model) or self._plan is not None or b.prefixes is None:
            return None
        return self.model.layer_inputs(b.x, b.edge_index, edge_type=b.edge_types, degree=b.degree, prefixes=b.prefixes)
