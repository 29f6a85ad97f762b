"""A recorded pass: the network's own numbers under masks it has not seen, or no tape at all."""

import threading

import pytest
import torch
import torch_geometric.nn as pyg
from pyg_networks import CLASSES, FEATURES, GRAPH_NETWORKS, LAYERS, made
from test_layers_of_pyg import node_graph
from torch import nn
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

import explainer_core as xc
from explainer_core.adapters.adapted import AdaptedPath
from explainer_core.adapters.probe import cut_batch, everything, sample_targets
from explainer_core.adapters.tape import record

CPU = torch.device("cpu")
CHOOSES = {"SAGPooling", "TopKPooling"}  # which nodes stay is read from their scores


def mask_of(batch, seed):
    return torch.rand(batch.edge_index.shape[1], generator=torch.Generator().manual_seed(seed)).requires_grad_()


def tape_of(run, *given):
    """What is recorded of a function of tensors."""
    given = [value.requires_grad_() for value in given]
    return record(given, lambda: run(*given))


@pytest.mark.parametrize("name", [*LAYERS, *GRAPH_NETWORKS])
def test_a_repeated_pass_is_the_network_under_any_mask_and_features(name):
    graph, network = node_graph(), made(name)
    model = xc.adapt(network, graph)
    batch = cut_batch(graph, sample_targets(graph, model.task)[:1], model.hops, CPU)[0]
    taped, plain = AdaptedPath(model, batch, repeats=True), AdaptedPath(model, batch)
    for seed in range(4):
        mask, x = mask_of(batch, seed), (batch.x * (seed + 1)).requires_grad_()
        for given in ((mask,), (mask, x)):
            found, expected = taped.logits(*given), plain.logits(*given)
            torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
            gradients = [torch.autograd.grad(logits.square().sum(), given) for logits in (found, expected)]
            torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-6)
    assert model.facts.repeats == any(taped.tapes.values()) == (name not in CHOOSES)


def test_without_gradients_a_repeated_pass_has_none():
    graph = node_graph()
    model = xc.adapt(made("GCNConv"), graph)
    path = model.fast(everything(graph, "node", [xc.Node(0)], CPU))
    with torch.no_grad():
        answers = [path.logits(mask_of(path.batch, 0), path.batch.x) for _ in range(3)]
    assert any(path.tapes.values())
    assert not any(logits.requires_grad for logits in answers)
    assert torch.equal(answers[0], answers[2])


def test_features_may_be_written_into_where_nobody_wants_their_gradient():
    class Writes(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = pyg.GCNConv(FEATURES, CLASSES)

        def forward(self, x, edge_index):
            x[:, 0] = 0.0
            return self.layer(x, edge_index)

    graph = node_graph()
    path = AdaptedPath(xc.adapt(Writes(), graph), everything(graph, "node", [xc.Node(0)], CPU), repeats=True)
    x = torch.rand_like(path.batch.x)
    first, *others = (path.logits(None, x.clone()) for _ in range(3))
    assert all(torch.equal(first, other) for other in others)
    assert not any(path.tapes.values())


def test_a_mask_made_in_inference_mode_is_as_good_as_another():
    graph = node_graph()
    path = xc.adapt(made("GCNConv"), graph).fast(everything(graph, "node", [xc.Node(0)], CPU))
    with torch.inference_mode():
        mask = mask_of(path.batch, 0).detach()
    first, *others = (path.logits(mask) for _ in range(3))
    assert any(path.tapes.values())
    assert all(torch.equal(first, other) for other in others)


def test_a_path_that_outlives_a_training_step_asks_the_trained_network():
    graph, network = node_graph(), pyg.GCNConv(FEATURES, CLASSES)  # its product with the features is worked out once
    model = xc.adapt(network, graph)
    batch = everything(graph, "node", [xc.Node(0)], CPU)
    path = model.fast(batch)
    mask = mask_of(batch, 0)
    for _ in range(3):
        path.logits(mask)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1.0)
    for _ in range(2):
        torch.testing.assert_close(path.logits(mask), AdaptedPath(model, batch).logits(mask))


def test_every_type_of_numbers_has_a_tape_of_its_own():
    class Summed(nn.Module):
        def forward(self, x, edge_index, edge_weight=None):
            edge_weight = x.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight
            return x.new_zeros(x.shape).index_add(0, edge_index[1], x[edge_index[0]] * edge_weight[:, None])

    graph = node_graph()
    path = AdaptedPath(xc.adapt(Summed(), graph), everything(graph, "node", [xc.Node(0)], CPU), repeats=True)
    mask = mask_of(path.batch, 0).detach()
    for _ in range(3):
        assert path.logits(mask, path.batch.x).dtype == torch.float32
    with pytest.raises(RuntimeError, match="scalar type"):  # as the network
        path.logits(mask.double(), path.batch.x)
    assert path.logits(mask.double(), path.batch.x.double()).dtype == torch.float64


class Branching(nn.Module):
    """Goes another way where the states are large."""

    def __init__(self, look):
        super().__init__()
        self.layer, self.look = pyg.GCNConv(FEATURES, CLASSES), look

    def forward(self, x, edge_index):
        h = self.layer(x, edge_index)
        return h if self.look(h.abs().sum()) < 1e9 else -h


LOOKS = {
    "item": lambda value: value.item(),
    "tolist": lambda value: value.tolist(),
    "bool": lambda value: 0.0 if value < 1e9 else 2e9,
    "numpy": lambda value: float(value.detach().numpy()),
    "a detached copy": lambda value: value.detach().clone().item(),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_network_that_reads_values_is_not_recorded(look):
    graph = node_graph()
    model = xc.adapt(Branching(LOOKS[look]), graph)
    path = AdaptedPath(model, everything(graph, "node", [xc.Node(0)], CPU), repeats=True)
    small, large = ([path.logits(None, path.batch.x * scale) for _ in range(3)][-1] for scale in (1.0, 1e12))
    assert not model.facts.repeats
    assert not any(path.tapes.values())
    scale = large.abs().max()  # scores grow with the features, but for the bias, which is lost among them
    assert torch.nn.functional.cosine_similarity(large.flatten(), small.flatten(), dim=0) < 0
    assert scale > 1e9


def test_what_the_mask_does_not_reach_is_worked_out_once():
    calls = []

    class Counted(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return func(*args, **(kwargs or {}))

    weight = torch.randn(3, 3)
    tape, _ = tape_of(lambda mask: (weight @ weight).exp().sum(1) * mask, torch.rand(3))
    assert tape is not None
    mask = torch.rand(3)
    with Counted():
        found = tape.play([mask])
    torch.testing.assert_close(found, (weight @ weight).exp().sum(1) * mask)
    assert calls == ["mul"]


def test_sums_in_place_begin_anew_each_time():
    index = torch.tensor([0, 0, 1])

    def run(mask):
        total = torch.zeros(2)
        view = total[:]  # the same memory under another name
        total += 1.0
        view.index_add_(0, index, mask)
        return total * 2

    tape, answer = tape_of(run, torch.tensor([1.0, 2.0, 3.0]))
    assert tape is not None
    assert answer.tolist() == [8.0, 8.0]
    for _ in range(2):
        assert tape.play([torch.tensor([1.0, 1.0, 5.0])]).tolist() == [6.0, 12.0]


def test_what_is_read_before_it_is_written_into_is_as_it_was():
    def run(mask):
        state = torch.zeros(2)
        before = mask + state
        state += 1.0
        after = mask + state
        state.unsqueeze_(0)
        return before * after

    tape, _ = tape_of(run, torch.rand(2))
    assert tape is not None
    for _ in range(2):
        assert tape.play([torch.tensor([1.0, 2.0])]).tolist() == [2.0, 6.0]


MEMORY = torch.zeros(3)
SCRATCH = {
    "reset": lambda mask: (mask + MEMORY.zero_()) * MEMORY.fill_(2.0),
    "other data": lambda mask: mask * _with_other_data(torch.zeros(3)),
    "set_": lambda mask: mask * torch.zeros(3).set_(mask.detach() * 2),
}


def _with_other_data(state):
    state.data = torch.ones(3)
    return state


@pytest.mark.parametrize("scratch", SCRATCH)
def test_memory_that_is_not_the_pass_s_own_is_not_recorded(scratch):
    assert tape_of(SCRATCH[scratch], torch.rand(3))[0] is None


def test_who_writes_into_what_was_there_before_is_not_recorded():
    memory = torch.zeros(3)
    assert tape_of(lambda mask: memory.add_(mask.detach()) * mask, torch.rand(3))[0] is None


SIZES = {
    "rows that are true": lambda mask: mask * mask[mask > 0].shape[0],
    "nonzero": lambda mask: mask * (mask > 0).nonzero().size(0),
    "masked_select": lambda mask: mask * mask.masked_select(mask > 0).numel(),
    "unique": lambda mask: mask * len((mask > 0).unique()),
    "bincount": lambda mask: mask * len((mask > 0).long().bincount()),
    "repeat_interleave": lambda mask: mask * len(mask.repeat_interleave((mask > 0).long())),
    "a size that is a tensor": lambda mask: mask * len(torch.zeros((mask > 0).sum())),
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes_that_are_read_from_values_are_not_recorded(size):
    assert tape_of(SIZES[size], torch.rand(3))[0] is None


def test_rows_that_are_taken_by_their_numbers_are_recorded():
    tape, _ = tape_of(lambda mask: mask[mask.argsort()[:2]] * 2, torch.tensor([3.0, 1.0, 2.0]))
    assert tape is not None
    assert tape.play([torch.tensor([1.0, 5.0, 2.0])]).tolist() == [2.0, 4.0]


def test_what_a_script_works_out_unseen_is_not_recorded():
    scripted = torch.jit.script(beyond_all_masks)
    assert tape_of(lambda mask: mask * scripted(mask), torch.rand(3))[0] is None


def beyond_all_masks(mask: torch.Tensor):
    return mask > 2


class Doubled(torch.autograd.Function):
    """Twice the value, three times the gradient."""

    @staticmethod
    def forward(ctx, value):
        return value * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


def test_a_gradient_of_ones_own_stays():
    def run(mask):
        return Doubled.apply(mask.exp()) * 1.0

    tape, _ = tape_of(run, torch.rand(3))
    mask = torch.zeros(3, requires_grad=True)
    answer = run(mask) if tape is None else tape.play([mask])
    assert torch.autograd.grad(answer.sum(), mask)[0].tolist() == [3.0, 3.0, 3.0]


def test_gradients_turned_off_on_the_way_stay_off():
    def run(mask):
        with torch.no_grad():
            share = mask / mask.sum()
        return share * mask

    assert tape_of(run, torch.rand(3))[0] is None


def slope_of_cubes(mask):
    """Gradients of its own, where nobody else needs any."""
    with torch.enable_grad():
        here = mask * 1.0 if mask.requires_grad else mask.requires_grad_()
        return torch.autograd.grad((here**3).sum(), here, create_graph=True)[0]


def rounded(mask):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return (torch.eye(3) @ mask).float()


SURROUNDINGS = {
    "gradients on the way": slope_of_cubes,
    "whether there are gradients": lambda mask: mask * 2 if (mask * 1).requires_grad else mask * 3,
    "autocast": rounded,
    "vmap": lambda mask: torch.vmap(torch.exp)(mask),
    "torch.func.grad": lambda mask: torch.func.grad(lambda values: values.exp().sum())(mask),
}


@pytest.mark.parametrize("way", SURROUNDINGS)
def test_what_functions_alone_do_not_repeat_is_not_recorded(way):
    tape, answer = tape_of(SURROUNDINGS[way], torch.rand(3))
    assert tape is None
    assert answer.shape == (3,)
    assert not _get_current_function_mode_stack()
    assert not _get_current_dispatch_mode_stack()


def test_nothing_is_left_after_an_exception_and_other_threads_are_not_recorded():
    seen = []

    def run(mask):
        other = threading.Thread(target=lambda: seen.append(len(_get_current_function_mode_stack())))
        other.start()
        other.join()
        raise RuntimeError("on the way")

    with pytest.raises(RuntimeError, match="on the way"):
        tape_of(run, torch.rand(3))
    assert seen == [0]
    assert not _get_current_function_mode_stack()
    assert not _get_current_dispatch_mode_stack()
    tape, _ = tape_of(lambda mask: mask * 2, torch.rand(3))
    assert tape is not None
    assert tape.play([torch.ones(3)]).tolist() == [2.0, 2.0, 2.0]


def test_nested_arguments_and_several_results_find_their_places():
    def run(mask):
        top, at = (mask * 2).max(dim=0, keepdim=True)
        low, high = torch.cat([mask, top], dim=0).chunk(2)
        return (
            torch.stack([low, high]).sum()
            + mask[at].sum()
            + torch.where(condition=mask > 0.5, input=mask, other=top).sum()
        )

    tape, _ = tape_of(run, torch.rand(5))
    assert tape is not None
    mask = torch.rand(5)
    torch.testing.assert_close(tape.play([mask]), run(mask))


def test_memory_is_freed_on_the_way():
    tape, _ = tape_of(lambda mask: (mask * 2 + 1).exp(), torch.rand(3))
    assert tape is not None
    assert all(len(gone) for *_, gone in tape.steps[:-1])


def test_exchanged_weights_are_seen():
    graph, network = node_graph(), made("GCNConv")
    first = xc.explain(network, graph, xc.Node(1), xc.ExplainConfig(steps=5))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(-1.0)
    second = xc.explain(network, graph, xc.Node(1), xc.ExplainConfig(steps=5))
    assert first.probabilities != second.probabilities
