"""The PyTorch Geometric twin of every shipped network is that network: same logits, and a mask on messages alone."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

import explainer_core as xc
from benchmarks.pyg_peer import PygTwin, explained_by_pyg, pyg_explainer
from explainer_core.datasets.download import is_available
from explainer_core.zoo.pretrained import load_weights

CARDS = [card for card in xc.list_cards() if not xc.DATASETS[card.dataset].models_of]


def inputs_of(card) -> tuple[xc.Graph, dict, dict]:
    """A graph of the card's data, and what our network and its twin want to know beside."""
    info = xc.DATASETS[card.dataset]
    if info.archive and not is_available(info.archive):
        pytest.skip(f"{card.dataset} is not on this machine")
    data = xc.load_dataset(card.dataset)
    graph = data[3] if isinstance(data, xc.GraphSet) else data
    pairs = torch.tensor([[0, 3, 5, 2], [1, 9, 2, 7]])
    ours = {"links": pairs} if card.task == "link" else {}
    theirs = {"edge_label_index": pairs} if card.task == "link" else {}
    return graph, ours | {"edge_type": graph.edge_types}, theirs | {"edge_type": graph.edge_types}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_twin_is_its_network_with_every_mask(card):
    graph, ours, theirs = inputs_of(card)
    model = load_weights(card, device=torch.device("cpu"))
    twin = PygTwin(model).eval()
    some = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.allclose(
            twin(graph.x, graph.edge_index, **theirs), model(graph.x, graph.edge_index, **ours), atol=1e-4
        )
        for mask in (torch.zeros_like(some), some):  # of zeros: the own states are all that is left
            set_masks(twin, mask, graph.edge_index, apply_sigmoid=False)
            masked = twin(graph.x, graph.edge_index, **theirs)
            assert torch.allclose(masked, model(graph.x, graph.edge_index, mask, **ours), atol=1e-4)
            clear_masks(twin)


def test_pyg_explains_a_link_a_molecule_and_its_bond_types():
    friends = xc.load_dataset("les_miserables")
    explainer = pyg_explainer(xc.load_pretrained("les_miserables", "gcn"), 2)
    found = explainer(friends.x, friends.edge_index, edge_label_index=torch.tensor([[0], [1]]))
    assert found.edge_mask.shape == (friends.num_edges,)
    aniline = replace(xc.molecule_from_smiles("Nc1ccccc1"), label=None)
    explainer = pyg_explainer(xc.load_pretrained("mutagenicity", "rgcn"), 2)
    found = explainer(aniline.x, aniline.edge_index, edge_type=aniline.edge_types)
    assert found.edge_mask.shape == (aniline.num_edges,)


@pytest.mark.parametrize(("dataset", "target"), [("karate", xc.Node(5)), ("les_miserables", xc.Link(0, 1))])
def test_pygs_mask_lies_on_the_edges_of_our_explanation(dataset, target):
    graph, model = xc.load_dataset(dataset), xc.load_pretrained(dataset, "gcn")
    frame = xc.explain(model, graph, target, method="proximity")
    (found,) = explained_by_pyg(model, graph, [frame], steps=3)
    assert found.edge_index is frame.edge_index
    assert (found.edge_weight > 0).any()
    assert found.feature_weight.shape == (graph.num_features,)
