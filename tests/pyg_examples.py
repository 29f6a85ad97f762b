"""Ordinary PyTorch Geometric networks and data, as people have them: made here, trained for a moment."""

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

CLASSES, WORDS = 4, 64


def planetoid(nodes: int = 300, seed: int = 0) -> Data:
    """Papers that cite mostly their own field, words that most of its papers share, and masks, as Planetoid has them."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (nodes,), generator=generator)
    chance = torch.where(y[:, None] == y[None], 12 / nodes, 1.2 / nodes)
    cites = torch.triu(torch.rand(nodes, nodes, generator=generator) < chance, 1).nonzero().t()
    topic = (torch.arange(WORDS) % CLASSES)[None] == y[:, None]
    x = (torch.rand(nodes, WORDS, generator=generator) < torch.where(topic, 0.12, 0.04)).float()
    parts = torch.randperm(nodes, generator=generator).tensor_split([nodes // 3, nodes // 2])
    masks = {
        f"{name}_mask": torch.zeros(nodes, dtype=torch.bool).index_fill(0, part, True)
        for name, part in zip(("train", "val", "test"), parts, strict=True)
    }
    return Data(x=x, edge_index=torch.cat([cites, cites.flip(0)], 1), y=y, **masks)


def trained_gcn(data: Data, steps: int = 40) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = pyg.GCN(WORDS, 16, 2, CLASSES, dropout=0.5)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(steps):
            optimiser.zero_grad()
            out = model(data.x, data.edge_index)
            nn.functional.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
            optimiser.step()
    return model


def rings(count: int = 40, seed: int = 1) -> list[Data]:
    """Small random trees; every second one has its first and last node joined, which makes a ring."""
    generator, found = torch.Generator().manual_seed(seed), []
    for number in range(count):
        nodes = 6 + int(torch.randint(6, (1,), generator=generator))
        child = torch.arange(1, nodes)
        parent = (torch.rand(nodes - 1, generator=generator) * child).long()
        more = [[0], [nodes - 1]] if number % 2 else [[], []]
        ends = torch.cat([torch.stack([child, parent]), torch.tensor(more, dtype=torch.int64)], 1)
        edges = torch.cat([ends, ends.flip(0)], 1).unique(dim=1)
        kinds = torch.randint(3, (nodes,), generator=generator)
        found.append(Data(x=nn.functional.one_hot(kinds, 3).float(), edge_index=edges, y=torch.tensor([number % 2])))
    return found


class GraphGIN(nn.Module):
    def __init__(self, num_features: int = 3, num_classes: int = 2):
        super().__init__()
        self.nodes, self.head = pyg.GIN(num_features, 16, 3), nn.Linear(16, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(pyg.global_add_pool(self.nodes(x, edge_index), batch))


def trained_gin(graphs: list[Data], steps: int = 60) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model, batch = GraphGIN(), Batch.from_data_list(graphs)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(steps):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimiser.step()
    return model


class LinkGCN(nn.Module):
    """Which pairs are joined, one logit each."""

    def __init__(self):
        super().__init__()
        self.nodes = pyg.GCN(WORDS, 16, 2, 16)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        z = self.nodes(x, edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)
