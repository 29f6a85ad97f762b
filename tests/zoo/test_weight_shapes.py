"""Weights from a file: the sizes they tell of themselves, and the first tensor that does not fit others."""

import pytest
import torch
from safetensors.torch import save

from explainer_core.models import GNN, ModelSpec
from explainer_core.models.spec import KINDS, TASKS
from explainer_core.zoo.pretrained import load_pretrained
from explainer_core.zoo.weight_shapes import MAX_BYTES, network_from, read_tensors, suggested_sizes

SPEC = ModelSpec("gcn", "node", in_features=5, num_classes=3, hidden=8, num_layers=2)


def sent(model: GNN) -> dict[str, torch.Tensor]:
    return read_tensors(save(model.state_dict()))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rest", [{}, {"jump": "cat", "batch_norm": True, "num_layers": 3}])
def test_sizes_are_read_from_the_shapes(kind, task, rest):
    spec = ModelSpec(kind, task, 6, 4, hidden=12, num_edge_types=2 if kind == "rgcn" else 0, **{"num_layers": 2} | rest)
    found = suggested_sizes(sent(GNN(spec)))
    known = spec.to_dict()
    assert {name: known[name] for name in found} | ({"num_classes": 2} if task == "link" else {}) == found
    assert {"kind", "task", "num_layers", "hidden", "jump", "batch_norm"} <= set(found)
    if kind != "gated":  # whose state only has to hold the features
        assert found["in_features"] == 6


def test_weights_come_back_as_the_same_network():
    model = load_pretrained("karate", "gat", device="cpu")
    again = network_from(model.spec, sent(model))
    for name, values in model.state_dict().items():
        assert torch.equal(values, again.state_dict()[name])
    assert not again.training
    assert not any(parameter.requires_grad for parameter in again.parameters())


def test_half_and_double_precision_become_single():
    tensors = {name: values.double() for name, values in GNN(SPEC).state_dict().items()}
    assert all(values.dtype == torch.float32 for values in network_from(SPEC, tensors).parameters())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layers.0.bias": None}, "the tensor 'layers.0.bias' must be float32 of shape 8 for these sizes (got none)"),
        ({"layers.1.linear.weight": torch.zeros(8, 4)}, "'layers.1.linear.weight' must be float32 of shape 8 × 8 for these sizes (got float32 of shape 8 × 4)"),
        ({"extra": torch.zeros(3)}, "the tensor 'extra' must be absent for these sizes (got float32 of shape 3)"),
        ({"layers.0.bias": torch.zeros(8, dtype=torch.int64)}, "(got int64 of shape 8)"),
        ({"layers.0.bias": torch.full((8,), torch.nan)}, "weights must be finite numbers (got others in 'layers.0.bias')"),
    ],
)  # fmt: skip
def test_the_first_tensor_that_does_not_fit_is_named(change, sentence):
    tensors = {name: values for name, values in (GNN(SPEC).state_dict() | change).items() if values is not None}
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the sentence is compared below
        network_from(SPEC, tensors)
    assert sentence in str(error.value)


def test_a_network_of_gigabytes_is_refused_before_it_is_built():
    spec = ModelSpec("gcn", "node", in_features=100_000, num_classes=3, hidden=4096, num_layers=20)
    with pytest.raises(ValueError, match=r"'layers.0.bias' must be float32 of shape 4096 for these sizes \(got .* 8\)"):
        network_from(spec, sent(GNN(SPEC)))


@pytest.mark.parametrize("data", [b"", b"abc", b"\x80\x04\x95", bytes(100), b"\xff" * 100])
def test_what_is_no_safetensors_is_refused(data):
    with pytest.raises(ValueError, match="weights must be a safetensors file"):
        read_tensors(data)


def test_weights_above_the_limit_are_refused():
    with pytest.raises(ValueError, match=r"weights must be at most 20 MB \(got 20.0 MB\)"):
        read_tensors(bytes(MAX_BYTES + 1))


def test_tensors_of_another_program_suggest_nothing():
    assert suggested_sizes({"conv1.lin.weight": torch.zeros(3, 4)}) == {}
    assert suggested_sizes({"layers.0.linear.weight": torch.zeros(3)}) == {}
    assert suggested_sizes({"layers.0.linear.weight": torch.zeros(3, 4), "layers.2.bias": torch.zeros(3)}) == {}
